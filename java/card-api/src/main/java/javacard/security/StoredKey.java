package javacard.security;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/** A key in an array on flash or in RAM: its bytes, then what of it is set, so that both are cleared together. */
abstract class StoredKey implements Key {
    /** The value is set. */
    static final byte VALUE = 1;

    final byte[] value;
    /** A secret on flash: what was overwritten is erased there. */
    private final boolean isErased;
    private final byte type;
    private final short bits;

    /** The memory is a kind of transient array, or {@link JCSystem#NOT_A_TRANSIENT_OBJECT}. */
    StoredKey(byte type, short bits, short bytes, byte memory) {
        this.type = type;
        this.bits = bits;
        short length = (short) (bytes + 1);
        isErased = memory == JCSystem.NOT_A_TRANSIENT_OBJECT && !(this instanceof PublicKey);
        if (isErased) {
            value = Algorithms.makeKey(length);
        } else if (memory == JCSystem.NOT_A_TRANSIENT_OBJECT) {
            value = new byte[length];
        } else {
            value = JCSystem.makeTransientByteArray(length, memory);
        }
    }

    /** Before a change in the open transaction, which overwrites something if that is set. */
    final void overwrite(byte flags) {
        if (isErased && (value[bytes()] & flags) != 0) {
            Algorithms.noteOldKey();
        }
    }

    public byte getType() {
        return type;
    }

    public short getSize() {
        return bits;
    }

    public boolean isInitialized() {
        return has(VALUE);
    }

    public void clearKey() {
        boolean isOwn = begin();
        overwrite((byte) -1);
        Util.arrayFill(value, (short) 0, (short) value.length, (byte) 0);
        commit(isOwn);
    }

    final short bytes() {
        return (short) (value.length - 1);
    }

    final boolean has(byte flags) {
        return (value[bytes()] & flags) == flags;
    }

    final void add(byte flags) {
        if (!has(flags)) {
            value[bytes()] |= flags;
        }
    }

    final void require(byte flags) {
        if (!has(flags)) {
            CryptoException.throwIt(CryptoException.UNINITIALIZED_KEY);
        }
    }

    /** Sets the bytes to a number, with zeros before it or without those it has; whole or not at all. */
    final void set(byte[] from, short offset, short length) {
        Util.arrayCompare(from, offset, from, offset, length);
        while (length > bytes() && from[offset] == 0) {
            offset++;
            length--;
        }
        if (length > bytes()) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        short zeros = (short) (bytes() - length);
        boolean isOwn = begin();
        overwrite(VALUE);
        for (short at = 0; at < zeros; at++) {
            value[at] = 0;
        }
        Util.arrayCopy(from, offset, value, zeros, length);
        add(VALUE);
        commit(isOwn);
    }

    final short get(byte[] to, short offset) {
        require(VALUE);
        Util.arrayCopy(value, (short) 0, to, offset, bytes());
        return bytes();
    }

    /** Begins a transaction, if none is open: what is written until {@link #commit} is there whole or not at all. */
    static boolean begin() {
        if (JCSystem.getTransactionDepth() != 0) {
            return false;
        }
        JCSystem.beginTransaction();
        return true;
    }

    static void commit(boolean isOwn) {
        if (isOwn) {
            JCSystem.commitTransaction();
        }
    }
}
