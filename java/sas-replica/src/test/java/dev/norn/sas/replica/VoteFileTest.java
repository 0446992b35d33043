package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A vote that was lost. */
class VoteFileTest {
    @TempDir
    Path directory;

    /** Its store may have gone back meanwhile, to the term that is known. */
    @Test
    void aVoteThatIsLostAgainIsInALaterTermAgain() throws Exception {
        UUID group = UUID.randomUUID();
        Path file = Files.createDirectories(directory.resolve(group.toString()).resolve("current"))
                .resolve("raft-meta");
        VoteFile.repair(directory, group, "a", 5);
        assertEquals(false, Files.exists(file), "who has not voted has none");
        for (String term : new String[] {"1000000005", "2000000005"}) {
            Files.writeString(file, "");
            VoteFile.repair(directory, group, "a", 5);
            assertEquals("term=" + term + "\nvotedFor=a\n", Files.readString(file));
            VoteFile.repair(directory, group, "a", 9);
            assertEquals("term=" + term + "\nvotedFor=a\n", Files.readString(file), "it is whole");
        }
    }
}
