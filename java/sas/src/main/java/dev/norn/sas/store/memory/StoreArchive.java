package dev.norn.sas.store.memory;

import dev.norn.sas.exception.StorageReadFailure;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The files of a backup as one file, which a member of a group sends to another. Holes take no room.
 *
 * <pre>
 * magic (32) | for each file: name | size (64) | pieces | -1 (64)          name: length (16) | UTF-8
 *            | empty name                                                  piece: offset (64) | length (32) | bytes
 * </pre>
 */
public final class StoreArchive {
    private static final int MAGIC = 0x53415331;
    private static final long NO_MORE = -1;
    private static final int PIECE_BYTES = 1 << 16;

    private StoreArchive() {}

    /** Writes the files of a directory, and syncs the archive. Costs reading them. */
    public static void write(Path directory, Path archive) throws IOException {
        try (var to = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(archive), PIECE_BYTES));
                var files = Files.list(directory)) {
            to.writeInt(MAGIC);
            for (Path file : files.sorted().toList()) {
                write(file, to);
            }
            to.writeUTF("");
        }
        StoreFiles.sync(archive);
    }

    private static void write(Path file, DataOutputStream to) throws IOException {
        to.writeUTF(file.getFileName().toString());
        try (var its = NativeFile.open(file, StandardOpenOption.READ)) {
            long size = its.size();
            to.writeLong(size);
            ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);
            for (long at = its.nextData(0); at < size; at = its.nextData(at)) {
                int length = StoreFiles.read(its, piece.clear(), at);
                if (length == 0) {
                    throw new IOException(file + " was cut off while it was read");
                }
                to.writeLong(at);
                to.writeInt(length);
                to.write(piece.array(), 0, length);
                at += length;
            }
            to.writeLong(NO_MORE);
        }
    }

    /**
     * Writes the files into a directory, each synced. Files of the same names are replaced.
     *
     * @throws StorageReadFailure if this is no such archive
     */
    public static void extract(Path archive, Path directory) throws IOException {
        try (var from = new DataInputStream(new BufferedInputStream(Files.newInputStream(archive), PIECE_BYTES))) {
            if (from.readInt() != MAGIC) {
                throw new StorageReadFailure(archive + " is no copy of a store", null);
            }
            for (String name = from.readUTF(); !name.isEmpty(); name = from.readUTF()) {
                Path file = directory.resolve(name);
                if (!directory.equals(file.getParent()) || !StoreFiles.isStores(file)) {
                    throw new StorageReadFailure(archive + " has a file " + name + ", which is no store's", null);
                }
                Files.deleteIfExists(file);
                extract(from, file);
            }
        }
        StoreFiles.sync(directory);
    }

    private static void extract(DataInputStream from, Path file) throws IOException {
        long size = from.readLong();
        try (var to = NativeFile.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (long at = from.readLong(); at != NO_MORE; at = from.readLong()) {
                int length = from.readInt();
                if (length <= 0 || length > PIECE_BYTES) {
                    throw new StorageReadFailure("the copy of " + file.getFileName() + " is damaged", null);
                }
                byte[] bytes = new byte[length];
                from.readFully(bytes);
                StoreFiles.write(to, ByteBuffer.wrap(bytes), at);
            }
            if (to.size() < size) {
                StoreFiles.write(to, ByteBuffer.allocate(1), size - 1);
            }
            to.force(true);
        }
    }
}
