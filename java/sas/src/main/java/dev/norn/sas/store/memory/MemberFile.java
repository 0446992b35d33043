package dev.norn.sas.store.memory;

import dev.norn.sas.exception.StorageReadFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The file {@code replica} of a store that is a member of a group. All but the group is null until the member was
 * opened once.
 *
 * @param group which group, the same at all its members
 * @param self the member's name
 * @param members the addresses of all members by their names, as the member was opened last
 * @param log the directory of the group's log, without which the member must not be opened again
 */
public record MemberFile(UUID group, String self, Map<String, String> members, Path log) {
    /** Of a new group. */
    public static MemberFile fresh() {
        return new MemberFile(UUID.randomUUID(), null, null, null);
    }

    /** Null if the store is no member of a group. */
    public static MemberFile read(Path directory) throws IOException {
        Path path = directory.resolve(StoreFiles.REPLICA);
        if (Files.notExists(path)) {
            return null;
        }
        Properties properties = new Properties();
        try (var reader = Files.newBufferedReader(path)) {
            properties.load(reader);
            Map<String, String> members = new TreeMap<>();
            for (String key : properties.stringPropertyNames()) {
                if (key.startsWith("member.")) {
                    members.put(key.substring("member.".length()), properties.getProperty(key));
                }
            }
            String log = properties.getProperty("log");
            return new MemberFile(UUID.fromString(properties.getProperty("group")), properties.getProperty("self"),
                    members.isEmpty() ? null : members, log == null ? null : Path.of(log));
        } catch (IllegalArgumentException | NullPointerException e) {
            throw new StorageReadFailure(path + " is damaged: " + e.getMessage(), e);
        }
    }

    /** Replaces the file at once, and syncs it. */
    public void write(Path directory) throws IOException {
        StringBuilder text = new StringBuilder("group=" + group + "\n");
        if (self != null) {
            text.append("self=").append(self).append("\nlog=").append(escaped(log.toString())).append('\n');
            members.forEach((name, address) -> text.append("member.").append(name).append('=').append(escaped(address))
                    .append('\n'));
        }
        Path fresh = directory.resolve(StoreFiles.REPLICA + ".new");
        Files.writeString(fresh, text);
        StoreFiles.sync(fresh);
        Files.move(fresh, directory.resolve(StoreFiles.REPLICA), StandardCopyOption.ATOMIC_MOVE);
        StoreFiles.sync(directory);
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\");
    }
}
