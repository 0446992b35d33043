package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three members, of which the followers' syncs do not return, while they answer the leader's heartbeats as ever: so
 * nobody is missed, and no election begins. Needs gcc for what they are loaded with.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HangingDiskTest {
    private static final int CLIENTS = 4;
    private static final int ACKNOWLEDGED = 20;
    /** A leader waits 20 s for a batch. */
    private static final long UNKNOWN_SECONDS_MAX = 60;

    @TempDir
    Path directory;

    @Test
    void aLeaderWhoseFollowersHangStopsLeadingAndTheGroupGoesOnAfterwards() throws Exception {
        Assumptions.assumeTrue(Integer.getInteger("replica.five", 0) > 0, "takes a minute: make test-long");
        try (TestGroup group = new Hanging(directory)) {
            for (String name : group.members.keySet()) {
                group.start(name, CLIENTS);
            }
            String leads = group.awaitOther("");
            List<String> followers = group.members.keySet().stream().filter(name -> !name.equals(leads)).toList();
            group.awaitMore(ACKNOWLEDGED);
            String epoch = epoch(group, leads);

            hang(followers.getFirst());
            group.awaitMore(ACKNOWLEDGED);
            assertEquals(epoch, epoch(group, leads), "the other one is enough");

            hang(followers.getLast());
            long start = System.nanoTime();
            while (group.history.unknown.isEmpty()) {
                assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(UNKNOWN_SECONDS_MAX),
                        "commits wait for ever\n" + group.report());
                Thread.sleep(20);
            }
            long unknownMillis = (System.nanoTime() - start) / 1_000_000;

            for (String name : followers) {
                Files.delete(hangs(name));
            }
            start = System.nanoTime();
            group.awaitMore(ACKNOWLEDGED);
            System.out.println("commits ended in OutcomeUnknown " + unknownMillis + " ms after both hung; counts went "
                    + "on " + (System.nanoTime() - start) / 1_000_000 + " ms after neither did");
            String state = group.stop();
            MemberTest.checkUnknown(group, group.history.check(state));
        }
    }

    private static String epoch(TestGroup group, String name) throws Exception {
        String how = group.children.get(name).ask("how");
        assertFalse(how.contains("opened"), how);
        return how.replaceAll(", record.*", "");
    }

    private Path hangs(String name) {
        return directory.resolve(name + ".hangs");
    }

    private void hang(String name) throws IOException {
        Files.createFile(hangs(name));
    }

    /** Members whose syncs may be made to hang. */
    private static final class Hanging extends TestGroup {
        Hanging(Path directory) throws IOException, InterruptedException {
            super(directory, List.of("a", "b", "c"), 0);
            Process compiler = new ProcessBuilder("gcc", "-shared", "-fPIC", "-O2", "-o", library().toString(),
                    Path.of("src/test/c/hanging_sync.c").toAbsolutePath().toString(), "-ldl").inheritIO().start();
            assertEquals(0, compiler.waitFor());
        }

        private Path library() {
            return directory.resolve("hanging_sync.so");
        }

        @Override
        List<String> prefix(String name) {
            return List.of("env", "LD_PRELOAD=" + library(), "HANG_WHILE=" + directory.resolve(name + ".hangs"));
        }
    }
}
