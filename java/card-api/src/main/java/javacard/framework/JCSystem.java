package javacard.framework;

/** The card: transactions, transient arrays, contexts and memory. */
public final class JCSystem {
    /** An object on flash. */
    public static final byte NOT_A_TRANSIENT_OBJECT = 0;

    /** A transient array that a reset clears. */
    public static final byte CLEAR_ON_RESET = 1;

    /** A transient array that is cleared when its package is active on no channel. */
    public static final byte CLEAR_ON_DESELECT = 2;

    /** Memory on flash. */
    public static final byte MEMORY_TYPE_PERSISTENT = 0;

    /** RAM for arrays that a reset clears. */
    public static final byte MEMORY_TYPE_TRANSIENT_RESET = 1;

    /** RAM for arrays that are cleared on deselection. */
    public static final byte MEMORY_TYPE_TRANSIENT_DESELECT = 2;

    /** An array of booleans, for {@link #makeGlobalArray}. */
    public static final byte ARRAY_TYPE_BOOLEAN = 1;

    /** An array of bytes. */
    public static final byte ARRAY_TYPE_BYTE = 2;

    /** An array of shorts. */
    public static final byte ARRAY_TYPE_SHORT = 3;

    /** An array of ints. */
    public static final byte ARRAY_TYPE_INT = 4;

    /** An array of objects. */
    public static final byte ARRAY_TYPE_OBJECT = 5;

    private JCSystem() {
    }

    /**
     * Says what clears an object.
     *
     * @param theObj the object, or null
     * @return {@link #NOT_A_TRANSIENT_OBJECT}, {@link #CLEAR_ON_RESET} or {@link #CLEAR_ON_DESELECT}
     */
    public static native byte isTransient(Object theObj);

    /**
     * Creates an array whose elements are in RAM.
     *
     * @param length how many
     * @param event {@link #CLEAR_ON_RESET} or {@link #CLEAR_ON_DESELECT}: what sets them back
     * @return the array
     * @throws SystemException {@link SystemException#ILLEGAL_VALUE}, {@link
     *     SystemException#NO_TRANSIENT_SPACE}, {@link SystemException#ILLEGAL_TRANSIENT}
     */
    public static native boolean[] makeTransientBooleanArray(short length, byte event)
            throws NegativeArraySizeException, SystemException;

    /**
     * Creates an array whose elements are in RAM.
     *
     * @param length how many
     * @param event {@link #CLEAR_ON_RESET} or {@link #CLEAR_ON_DESELECT}: what sets them back
     * @return the array
     * @throws SystemException {@link SystemException#ILLEGAL_VALUE}, {@link
     *     SystemException#NO_TRANSIENT_SPACE}, {@link SystemException#ILLEGAL_TRANSIENT}
     */
    public static native byte[] makeTransientByteArray(short length, byte event)
            throws NegativeArraySizeException, SystemException;

    /**
     * Creates an array whose elements are in RAM.
     *
     * @param length how many
     * @param event {@link #CLEAR_ON_RESET} or {@link #CLEAR_ON_DESELECT}: what sets them back
     * @return the array
     * @throws SystemException {@link SystemException#ILLEGAL_VALUE}, {@link
     *     SystemException#NO_TRANSIENT_SPACE}, {@link SystemException#ILLEGAL_TRANSIENT}
     */
    public static native short[] makeTransientShortArray(short length, byte event)
            throws NegativeArraySizeException, SystemException;

    /**
     * Creates an array whose elements are in RAM.
     *
     * @param length how many
     * @param event {@link #CLEAR_ON_RESET} or {@link #CLEAR_ON_DESELECT}: what sets them back
     * @return the array
     * @throws SystemException {@link SystemException#ILLEGAL_VALUE}, {@link
     *     SystemException#NO_TRANSIENT_SPACE}, {@link SystemException#ILLEGAL_TRANSIENT}
     */
    public static native Object[] makeTransientObjectArray(short length, byte event)
            throws NegativeArraySizeException, SystemException;

    /**
     * Creates an array in RAM that every applet may use. No field and no element can keep it; it is gone when the
     * runtime's call of the applet ends.
     *
     * @param type {@link #ARRAY_TYPE_BOOLEAN} to {@link #ARRAY_TYPE_OBJECT}
     * @param length how many elements, which are zero or null
     * @return the array
     * @throws SystemException {@link SystemException#ILLEGAL_VALUE}, {@link
     *     SystemException#NO_TRANSIENT_SPACE}
     */
    public static native Object makeGlobalArray(byte type, short length)
            throws NegativeArraySizeException, SystemException;

    /**
     * Returns the version of the specification.
     *
     * @return 0x0300 with the minor version in the low byte: 0x0305
     */
    public static native short getVersion();

    /**
     * Returns the AID of the applet that owns the running context.
     *
     * @return the AID; null before it is registered
     */
    public static native AID getAID();

    /**
     * Finds the runtime's object for an AID.
     *
     * @param buffer where the AID is
     * @param offset where it starts
     * @param length its bytes
     * @return the object; null where no such applet is there
     */
    public static native AID lookupAID(byte[] buffer, short offset, byte length);

    /**
     * Opens a transaction.
     *
     * @throws TransactionException {@link TransactionException#IN_PROGRESS}
     */
    public static native void beginTransaction() throws TransactionException;

    /**
     * Takes back what was changed since the transaction was opened.
     *
     * @throws TransactionException {@link TransactionException#NOT_IN_PROGRESS}
     */
    public static native void abortTransaction() throws TransactionException;

    /**
     * Makes the changes of the transaction, all of them.
     *
     * @throws TransactionException {@link TransactionException#NOT_IN_PROGRESS}
     */
    public static native void commitTransaction() throws TransactionException;

    /**
     * Says whether a transaction is open.
     *
     * @return 1 if one is, else 0
     */
    public static native byte getTransactionDepth();

    /**
     * Returns the room for changes that the open transaction has left.
     *
     * @return bytes, at most 32767
     */
    public static native short getUnusedCommitCapacity();

    /**
     * Returns the room for changes that a transaction has.
     *
     * @return bytes, at most 32767
     */
    public static native short getMaxCommitCapacity();

    /**
     * Returns the AID of the applet that called into the running context.
     *
     * @return the AID; null where the runtime did
     */
    public static native AID getPreviousContextAID();

    /**
     * Returns how much memory of a type is left.
     *
     * @param memoryType one of the types above
     * @return bytes, at most 32767
     * @throws SystemException {@link SystemException#ILLEGAL_VALUE}
     */
    public static native short getAvailableMemory(byte memoryType) throws SystemException;

    /**
     * Returns how much memory of a type is left, in 32 bits.
     *
     * @param buffer where the bytes' number goes, the more significant half first
     * @param offset the first of two elements
     * @param memoryType one of the types above
     * @throws SystemException {@link SystemException#ILLEGAL_VALUE}
     */
    public static final void getAvailableMemory(short[] buffer, short offset, byte memoryType)
            throws SystemException, NullPointerException, ArrayIndexOutOfBoundsException {
        int free = memoryType == MEMORY_TYPE_PERSISTENT ? freeBytes() : getAvailableMemory(memoryType);
        buffer[(short) (offset + 1)] = (short) free;
        buffer[offset] = (short) (free >> 16);
    }

    private static native int freeBytes();

    /**
     * Asks another applet for an object to share.
     *
     * @param serverAID the other's AID
     * @param parameter what the other is told
     * @return the object, or null
     */
    public static native Shareable getAppletShareableInterfaceObject(AID serverAID, byte parameter);

    /**
     * Says whether unreachable objects can be deleted.
     *
     * @return true
     */
    public static native boolean isObjectDeletionSupported();

    /** Has unreachable objects deleted after this command. */
    public static native void requestObjectDeletion() throws SystemException;

    /**
     * Returns the channel of the running command.
     *
     * @return 0 to 3
     */
    public static native byte getAssignedChannel();

    /**
     * Says whether an applet is selected on any channel.
     *
     * @param theApplet its AID
     * @return whether it is
     */
    public static native boolean isAppletActive(AID theApplet);
}
