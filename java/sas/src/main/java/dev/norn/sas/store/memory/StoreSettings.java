package dev.norn.sas.store.memory;

import dev.norn.sas.exception.StorageReadFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/** How a store is set up, from {@code store.properties}. */
public record StoreSettings(int format, UUID store, long addressBytes, long logBytes, long lockTimeoutMillis,
        String pool, UUID log) {
    /** Of a new store. */
    public static final int FORMAT_FIRST = 1;
    /** Of a store with a container that records or forbids destroys: programs that would ignore that refuse it. */
    public static final int FORMAT_DESTROYS = 2;

    /** The same in another format. */
    public StoreSettings withFormat(int number) {
        return new StoreSettings(number, store, addressBytes, logBytes, lockTimeoutMillis, pool, log);
    }

    /** The same with the pool in this file; null for the store's directory. */
    public StoreSettings withPool(String path) {
        return new StoreSettings(format, store, addressBytes, logBytes, lockTimeoutMillis, path, log);
    }

    /** The same with this log; null where none was made yet. */
    public StoreSettings withLog(UUID identity) {
        return new StoreSettings(format, store, addressBytes, logBytes, lockTimeoutMillis, pool, identity);
    }

    public static StoreSettings read(Path directory) throws IOException {
        var properties = new java.util.Properties();
        Path path = directory.resolve("store.properties");
        if (!Files.exists(path)) {
            throw new StorageReadFailure(directory
                    + " is not a store: it has no store.properties; `sas create` makes one");
        }
        try (var reader = Files.newBufferedReader(path)) {
            properties.load(reader);
        }
        try {
            int format = Integer.parseInt(properties.getProperty("format"));
            if (format < FORMAT_FIRST || format > FORMAT_DESTROYS) {
                throw new StorageReadFailure(path + ": format " + format + " is not 1 or 2; a newer version of SAS "
                        + "may read it");
            }
            return new StoreSettings(format, UUID.fromString(properties.getProperty("store")),
                    Long.parseLong(properties.getProperty("address-bytes")),
                    Long.parseLong(properties.getProperty("log-bytes")),
                    Long.parseLong(properties.getProperty("lock-timeout-millis")), properties.getProperty("pool"),
                    properties.getProperty("log") == null ? null : UUID.fromString(properties.getProperty("log")));
        } catch (IllegalArgumentException | NullPointerException e) {
            throw new StorageReadFailure(path + " is damaged: " + e.getMessage(), e);
        }
    }

    public void write(Path directory) throws IOException {
        String text = "format=" + format + "\nstore=" + store + "\naddress-bytes=" + addressBytes + "\nlog-bytes="
                + logBytes + "\nlock-timeout-millis=" + lockTimeoutMillis + "\n"
                + (pool == null ? "" : "pool=" + pool.replace("\\", "\\\\") + "\n")
                + (log == null ? "" : "log=" + log + "\n");
        Path fresh = directory.resolve("store.properties.new");
        Files.writeString(fresh, text);
        StoreFiles.sync(fresh);
        Files.move(fresh, directory.resolve("store.properties"), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        StoreFiles.sync(directory);
    }
}
