package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.fail;

import dev.norn.sas.Group;
import dev.norn.sas.MemberStatus;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.replica.TestGroup.Child;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A group whose log is cut off again and again, under load: a member that was away for long, and one that has lost its
 * disk, get copies of the store; members come and go. Nothing that was acknowledged is lost.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MembershipTest {
    private static final long LOG_BYTES = 64 << 10;
    /** At each member; many fill the log sooner. */
    private static final int CLIENTS = 6;
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(120);

    @TempDir
    Path directory;

    private TestGroup found() throws IOException {
        return new TestGroup(directory, List.of("a", "b", "c"), 1000) {
            @Override
            long groupLogBytes() {
                return LOG_BYTES;
            }
        };
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void await(String what, TestGroup group, Condition condition) throws Exception {
        long end = System.nanoTime() + WAIT_NANOS;
        while (!condition.holds()) {
            if (System.nanoTime() > end) {
                fail(what + "\n" + group.report());
            }
            Thread.sleep(20);
        }
    }

    /** Names of a member's segments: walking through the files would stumble over one that is being deleted. */
    private List<String> segments(String name) throws IOException {
        Path log = directory.resolve(name).resolve("store.raft");
        List<String> all = new ArrayList<>();
        try (DirectoryStream<Path> groups = Files.newDirectoryStream(log)) {
            for (Path group : groups) {
                for (String file : group.resolve("current").toFile().list()) {
                    if (file.matches("log_(inprogress_[0-9]+|[0-9]+-[0-9]+)")) {
                        all.add(file);
                    }
                }
            }
        }
        return all;
    }

    /** The index of the first entry that a member has. */
    private long firstIndex(String name) throws IOException {
        return segments(name).stream().mapToLong(file -> Long.parseLong(file.replaceAll("[^0-9]*([0-9]+).*", "$1")))
                .min().orElse(0);
    }

    /** The index of the last entry of segments that are complete. */
    private long lastIndex(String name) throws IOException {
        return segments(name).stream().filter(file -> file.contains("-"))
                .mapToLong(file -> Long.parseLong(file.substring(file.indexOf('-') + 1))).max().orElse(0);
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> files = Files.walk(tree)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private void awaitCut(TestGroup group, String name, long index) throws Exception {
        await("the log of " + name + " is not cut off behind " + index, group, () -> firstIndex(name) > index);
    }

    @Test
    void membersThatWereAwayOrHaveLostTheirDisksGetCopies() throws Exception {
        try (TestGroup group = found()) {
            for (String name : group.members.keySet()) {
                group.start(name, CLIENTS);
            }
            String leads = group.awaitOther("");
            String away = leads.equals("c") ? "b" : "c";
            group.children.get(away).process.destroyForcibly().waitFor();
            long last = lastIndex(away);
            awaitCut(group, leads, last + 1);
            long start = System.nanoTime();
            awaitCaughtUp(group, group.start(away, CLIENTS), leads);
            System.out.println("a member that was away for longer than the log reaches has caught up after "
                    + millisSince(start) + " ms");

            group.children.remove(away).process.destroyForcibly().waitFor();
            delete(directory.resolve(away));
            replace(group, leads, away, "d");
            for (String name : group.members.keySet()) {
                awaitCut(group, name, 0);
            }
            group.history.check(group.stop());
            System.out.println(group.history.acknowledgements() + " counts acknowledged");
        }
    }

    private static long millisSince(long nanos) {
        return (System.nanoTime() - nanos) / 1_000_000;
    }

    /** Asked while it is not there yet: it may get a copy of the store, and be opened again, before it answers. */
    private static void awaitCaughtUp(TestGroup group, Child child, String leader) throws Exception {
        child.ask("describe " + group.children.get(leader).ask("number"));
    }

    /** Under load: the member that is gone is removed, and another one joins. */
    private void replace(TestGroup group, String leads, String gone, String fresh) throws Exception {
        Path store = directory.resolve(leads).resolve("store");
        Map<String, String> before = new TreeMap<>(group.members);
        Group.remove(store, before, gone);
        group.members.remove(gone);
        assertEquals(group.members.keySet(), names(store, before));
        assertThrows(SASException.class, () -> Group.remove(store, before, gone));

        group.members.put(fresh, group.address(fresh));
        Path its = directory.resolve(fresh).resolve("store");
        long start = System.nanoTime();
        Group.join(its, new Group(fresh, group.members));
        long joined = millisSince(start);
        assertEquals(group.members.keySet(), names(store, before));
        awaitCaughtUp(group, group.start(fresh, CLIENTS), leads);
        System.out.println("a new member had its copy of the store after " + joined + " ms, and had caught up after "
                + millisSince(start) + " ms");
        assertThrows(SASException.class, () -> Group.join(its, new Group(fresh, group.members)));
        assertFalse(Files.exists(directory.resolve("e")));
        // It counts: with it and one other, there is a majority.
        String third = group.members.keySet().stream().filter(name -> !name.equals(leads) && !name.equals(fresh))
                .findFirst().orElseThrow();
        group.children.remove(third).process.destroyForcibly().waitFor();
        long acknowledged = group.history.acknowledgements();
        await("no commit with the new member alone", group,
                () -> group.history.acknowledgements() > acknowledged + 20);
    }

    private static Set<String> names(Path store, Map<String, String> members) {
        return new TreeSet<>(Group.status(store, members, Duration.ofSeconds(30)).stream().map(MemberStatus::name)
                .toList());
    }
}
