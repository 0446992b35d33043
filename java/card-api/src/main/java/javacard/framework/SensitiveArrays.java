package javacard.framework;

/**
 * Arrays whose integrity is guarded. This card has none of a kind of their own: {@link #isIntegritySensitive} is false
 * for each; {@link #clearArray} clears any.
 */
public class SensitiveArrays {
    private SensitiveArrays() {
    }

    /**
     * Says whether there are such arrays.
     *
     * @return false
     */
    public static boolean isIntegritySensitiveArraysSupported() {
        return false;
    }

    /**
     * Says whether an array is one.
     *
     * @param obj the array
     * @return false
     */
    public static boolean isIntegritySensitive(Object obj) {
        return false;
    }

    /**
     * Makes one: there are none.
     *
     * @param type {@link JCSystem#ARRAY_TYPE_BOOLEAN} to {@link JCSystem#ARRAY_TYPE_OBJECT}
     * @param memory a MEMORY_TYPE of {@link JCSystem}
     * @param length how many elements
     * @return nothing
     * @throws SystemException {@link SystemException#ILLEGAL_USE}
     */
    public static Object makeIntegritySensitiveArray(byte type, byte memory, short length) {
        SystemException.throwIt(SystemException.ILLEGAL_USE);
        return null;
    }

    /**
     * Looks whether an array is as it was written, which it is where it is no such array.
     *
     * @param obj the array
     */
    public static void assertIntegrity(Object obj) {
    }

    /**
     * Sets the elements of an array to zero or null, on flash all or none.
     *
     * @param obj the array
     * @return its elements
     * @throws TransactionException if the open transaction has no room
     */
    public static short clearArray(Object obj) throws TransactionException {
        if (obj instanceof byte[]) {
            return Util.arrayFill((byte[]) obj, (short) 0, (short) ((byte[]) obj).length, (byte) 0);
        }
        boolean isOwn = JCSystem.isTransient(obj) == JCSystem.NOT_A_TRANSIENT_OBJECT
                && JCSystem.getTransactionDepth() == 0;
        if (isOwn) {
            JCSystem.beginTransaction();
        }
        short at = 0;
        if (obj instanceof boolean[]) {
            boolean[] array = (boolean[]) obj;
            for (; at < array.length; at++) {
                array[at] = false;
            }
        } else if (obj instanceof short[]) {
            short[] array = (short[]) obj;
            for (; at < array.length; at++) {
                array[at] = 0;
            }
        } else if (obj instanceof int[]) {
            int[] array = (int[]) obj;
            for (; at < array.length; at++) {
                array[at] = 0;
            }
        } else {
            Object[] array = (Object[]) obj;
            for (; at < array.length; at++) {
                array[at] = null;
            }
        }
        if (isOwn) {
            JCSystem.commitTransaction();
        }
        return at;
    }
}
