package javacard.security;

import javacard.framework.Util;

/** A key of RSA: numbers of the same length, one after the other, and which of them were set. */
abstract class StoredRsaKey extends StoredKey {
    private final byte parts;

    StoredRsaKey(byte type, short bits, short bytes, byte parts, byte memory) {
        super(type, bits, bytes, memory);
        this.parts = parts;
    }

    /** Bytes of the modulus. */
    final short modulusBytes() {
        return (short) (getSize() / 8);
    }

    private short partBytes() {
        return (short) (bytes() / parts);
    }

    public boolean isInitialized() {
        return has((byte) ((1 << parts) - 1));
    }

    final void requireAll() {
        require((byte) ((1 << parts) - 1));
    }

    final void addAll() {
        add((byte) ((1 << parts) - 1));
    }

    /** Sets a number, with zeros before it. */
    final void setPart(byte part, byte[] from, short offset, short length) {
        Util.arrayCompare(from, offset, from, offset, length);
        short room = partBytes();
        while (length > room && from[offset] == 0) {
            offset++;
            length--;
        }
        if (length <= 0 || length > room) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        short start = (short) (part * room);
        short zeros = (short) (room - length);
        boolean isOwn = begin();
        overwrite((byte) (1 << part));
        for (short at = 0; at < zeros; at++) {
            value[(short) (start + at)] = 0;
        }
        Util.arrayCopy(from, offset, value, (short) (start + zeros), length);
        add((byte) (1 << part));
        commit(isOwn);
    }

    /** Copies a number, all of it. */
    final short getPart(byte part, byte[] to, short offset) {
        require((byte) (1 << part));
        short length = partBytes();
        Util.arrayCopy(value, (short) (part * length), to, offset, length);
        return length;
    }

    /** Copies a number without the zeros before it. */
    final short getShortPart(byte part, byte[] to, short offset) {
        require((byte) (1 << part));
        short length = partBytes();
        short start = (short) (part * length);
        while (length > 1 && value[start] == 0) {
            start++;
            length--;
        }
        Util.arrayCopy(value, start, to, offset, length);
        return length;
    }

    /** Whether the key is a private one by its prime factors. */
    abstract boolean isByFactors();

    /** Raises a number of the modulus' bytes; false for one that is not below the modulus. */
    final boolean raises(byte[] in, short inOffset, byte[] out, short outOffset) {
        short bytes = modulusBytes();
        return Algorithms.raise(isByFactors(), value, bytes, in, inOffset, bytes, out, outOffset);
    }

    /** Raises a number of the modulus' bytes. */
    final void raise(byte[] in, short inOffset, byte[] out, short outOffset) {
        if (!raises(in, inOffset, out, outOffset)) {
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        }
    }
}
