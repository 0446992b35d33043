package dev.norn.sas.runtime;

import dev.norn.sas.StorageReadFailure;
import dev.norn.sas.store.Memory;

/**
 * What transformed code calls for a field of a persistent object. With a lock held, an access is two comparisons and one load or store; otherwise the lock is taken
 * first, or, outside transactions, a committed value is read, and each store is a transaction of its own.
 *
 * <p>All take the handle's grant and reference, which the caller has loaded already, and the field's offset in the object, in bytes.
 *
 * <p>Throws {@code ObjectDestroyed} if the object is gone, {@code TransactionConflict} on deadlock, {@code ObjectAccessDenied} for a store into a read-only container,
 * and {@code StorageReadFailure} where the mapping has no storage.
 */
public final class Access {
    private Access() {}

    private static StorageReadFailure unreadable(SasObject handle, InternalError cause) {
        return new StorageReadFailure("no storage for the object at " + Long.toHexString(handle.$sas$reference() & Memory.MASK)
                + ": was the pool cut off?", cause);
    }

    public static boolean getBoolean(Grant grant, SasObject handle, long reference, int offset) {
        if (grant.reader == Thread.currentThread()) {
            try {
                return Memory.getByte((reference & Memory.MASK) + offset) != 0;
            } catch (InternalError e) {
                throw unreadable(handle, e);
            }
        }
        return getBoolean(handle, reference, offset);
    }

    private static boolean getBoolean(SasObject handle, long reference, int offset) {
        if (Session.read(handle)) {
            return Memory.getByte((reference & Memory.MASK) + offset) != 0;
        }
        long word = Session.readCommittedWord(reference, offset, 1);
        return (byte) word != 0;
    }

    public static void putBoolean(Grant grant, SasObject handle, long reference, int offset, boolean value) {
        if (grant.writer == Thread.currentThread() || Session.write(handle)) {
            Memory.putByte((reference & Memory.MASK) + offset, value ? (byte) 1 : (byte) 0);
        } else {
            dev.norn.sas.Transaction.run(() -> putBoolean(Grant.NONE, handle, reference, offset, value));
        }
    }

    public static byte getByte(Grant grant, SasObject handle, long reference, int offset) {
        if (grant.reader == Thread.currentThread()) {
            try {
                return Memory.getByte((reference & Memory.MASK) + offset);
            } catch (InternalError e) {
                throw unreadable(handle, e);
            }
        }
        return getByte(handle, reference, offset);
    }

    private static byte getByte(SasObject handle, long reference, int offset) {
        if (Session.read(handle)) {
            return Memory.getByte((reference & Memory.MASK) + offset);
        }
        long word = Session.readCommittedWord(reference, offset, 1);
        return (byte) word;
    }

    public static void putByte(Grant grant, SasObject handle, long reference, int offset, byte value) {
        if (grant.writer == Thread.currentThread() || Session.write(handle)) {
            Memory.putByte((reference & Memory.MASK) + offset, value);
        } else {
            dev.norn.sas.Transaction.run(() -> putByte(Grant.NONE, handle, reference, offset, value));
        }
    }

    public static short getShort(Grant grant, SasObject handle, long reference, int offset) {
        if (grant.reader == Thread.currentThread()) {
            try {
                return Memory.getShort((reference & Memory.MASK) + offset);
            } catch (InternalError e) {
                throw unreadable(handle, e);
            }
        }
        return getShort(handle, reference, offset);
    }

    private static short getShort(SasObject handle, long reference, int offset) {
        if (Session.read(handle)) {
            return Memory.getShort((reference & Memory.MASK) + offset);
        }
        long word = Session.readCommittedWord(reference, offset, 2);
        return (short) word;
    }

    public static void putShort(Grant grant, SasObject handle, long reference, int offset, short value) {
        if (grant.writer == Thread.currentThread() || Session.write(handle)) {
            Memory.putShort((reference & Memory.MASK) + offset, value);
        } else {
            dev.norn.sas.Transaction.run(() -> putShort(Grant.NONE, handle, reference, offset, value));
        }
    }

    public static char getChar(Grant grant, SasObject handle, long reference, int offset) {
        if (grant.reader == Thread.currentThread()) {
            try {
                return Memory.getChar((reference & Memory.MASK) + offset);
            } catch (InternalError e) {
                throw unreadable(handle, e);
            }
        }
        return getChar(handle, reference, offset);
    }

    private static char getChar(SasObject handle, long reference, int offset) {
        if (Session.read(handle)) {
            return Memory.getChar((reference & Memory.MASK) + offset);
        }
        long word = Session.readCommittedWord(reference, offset, 2);
        return (char) word;
    }

    public static void putChar(Grant grant, SasObject handle, long reference, int offset, char value) {
        if (grant.writer == Thread.currentThread() || Session.write(handle)) {
            Memory.putChar((reference & Memory.MASK) + offset, value);
        } else {
            dev.norn.sas.Transaction.run(() -> putChar(Grant.NONE, handle, reference, offset, value));
        }
    }

    public static int getInt(Grant grant, SasObject handle, long reference, int offset) {
        if (grant.reader == Thread.currentThread()) {
            try {
                return Memory.getInt((reference & Memory.MASK) + offset);
            } catch (InternalError e) {
                throw unreadable(handle, e);
            }
        }
        return getInt(handle, reference, offset);
    }

    private static int getInt(SasObject handle, long reference, int offset) {
        if (Session.read(handle)) {
            return Memory.getInt((reference & Memory.MASK) + offset);
        }
        long word = Session.readCommittedWord(reference, offset, 4);
        return (int) word;
    }

    public static void putInt(Grant grant, SasObject handle, long reference, int offset, int value) {
        if (grant.writer == Thread.currentThread() || Session.write(handle)) {
            Memory.putInt((reference & Memory.MASK) + offset, value);
        } else {
            dev.norn.sas.Transaction.run(() -> putInt(Grant.NONE, handle, reference, offset, value));
        }
    }

    public static long getLong(Grant grant, SasObject handle, long reference, int offset) {
        if (grant.reader == Thread.currentThread()) {
            try {
                return Memory.getLong((reference & Memory.MASK) + offset);
            } catch (InternalError e) {
                throw unreadable(handle, e);
            }
        }
        return getLong(handle, reference, offset);
    }

    private static long getLong(SasObject handle, long reference, int offset) {
        if (Session.read(handle)) {
            return Memory.getLong((reference & Memory.MASK) + offset);
        }
        long word = Session.readCommittedWord(reference, offset, 8);
        return word;
    }

    public static void putLong(Grant grant, SasObject handle, long reference, int offset, long value) {
        if (grant.writer == Thread.currentThread() || Session.write(handle)) {
            Memory.putLong((reference & Memory.MASK) + offset, value);
        } else {
            dev.norn.sas.Transaction.run(() -> putLong(Grant.NONE, handle, reference, offset, value));
        }
    }

    public static float getFloat(Grant grant, SasObject handle, long reference, int offset) {
        if (grant.reader == Thread.currentThread()) {
            try {
                return Memory.getFloat((reference & Memory.MASK) + offset);
            } catch (InternalError e) {
                throw unreadable(handle, e);
            }
        }
        return getFloat(handle, reference, offset);
    }

    private static float getFloat(SasObject handle, long reference, int offset) {
        if (Session.read(handle)) {
            return Memory.getFloat((reference & Memory.MASK) + offset);
        }
        long word = Session.readCommittedWord(reference, offset, 4);
        return Float.intBitsToFloat((int) word);
    }

    public static void putFloat(Grant grant, SasObject handle, long reference, int offset, float value) {
        if (grant.writer == Thread.currentThread() || Session.write(handle)) {
            Memory.putFloat((reference & Memory.MASK) + offset, value);
        } else {
            dev.norn.sas.Transaction.run(() -> putFloat(Grant.NONE, handle, reference, offset, value));
        }
    }

    public static double getDouble(Grant grant, SasObject handle, long reference, int offset) {
        if (grant.reader == Thread.currentThread()) {
            try {
                return Memory.getDouble((reference & Memory.MASK) + offset);
            } catch (InternalError e) {
                throw unreadable(handle, e);
            }
        }
        return getDouble(handle, reference, offset);
    }

    private static double getDouble(SasObject handle, long reference, int offset) {
        if (Session.read(handle)) {
            return Memory.getDouble((reference & Memory.MASK) + offset);
        }
        long word = Session.readCommittedWord(reference, offset, 8);
        return Double.longBitsToDouble(word);
    }

    public static void putDouble(Grant grant, SasObject handle, long reference, int offset, double value) {
        if (grant.writer == Thread.currentThread() || Session.write(handle)) {
            Memory.putDouble((reference & Memory.MASK) + offset, value);
        } else {
            dev.norn.sas.Transaction.run(() -> putDouble(Grant.NONE, handle, reference, offset, value));
        }
    }
}
