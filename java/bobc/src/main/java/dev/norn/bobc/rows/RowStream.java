package dev.norn.bobc.rows;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Fields of a row as bytes, one after the other: numbers big-endian, a string as its length (two bytes) and a byte for
 * each Latin-1 character. Reading and writing go through the same method of the row, so that they cannot differ.
 */
public interface RowStream {
    /** Writes the value, or ignores it; what was written, or read. */
    int pass(int value);

    long pass(long value);

    String pass(String value);

    /** Into the buffer, which has to have room. */
    record Writer(ByteBuffer to) implements RowStream {
        @Override
        public int pass(int value) {
            to.putInt(value);
            return value;
        }

        @Override
        public long pass(long value) {
            to.putLong(value);
            return value;
        }

        @Override
        public String pass(String value) {
            byte[] bytes = value.getBytes(StandardCharsets.ISO_8859_1);
            to.putShort((short) bytes.length).put(bytes);
            return value;
        }
    }

    /** From the buffer. */
    record Reader(ByteBuffer from) implements RowStream {
        @Override
        public int pass(int value) {
            return from.getInt();
        }

        @Override
        public long pass(long value) {
            return from.getLong();
        }

        @Override
        public String pass(String value) {
            byte[] bytes = new byte[from.getShort()];
            from.get(bytes);
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }
}
