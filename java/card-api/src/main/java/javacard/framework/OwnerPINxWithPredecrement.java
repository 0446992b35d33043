package javacard.framework;

/** A PIN that takes a try when it is told to, ahead of the comparison that it is for. */
public interface OwnerPINxWithPredecrement extends OwnerPINx {
    /**
     * Takes a try for the next {@link #check}, whatever transaction is open.
     *
     * @return tries left
     */
    byte decrementTriesRemaining();

    /**
     * Compares a value with the PIN, for the try that {@link #decrementTriesRemaining} has taken since the last check;
     * without one, it takes one itself.
     *
     * @param pin the value
     * @param offset where it starts
     * @param length its bytes
     * @return whether it is the PIN and there was a try for it
     */
    boolean check(byte[] pin, short offset, byte length)
            throws PINException, ArrayIndexOutOfBoundsException, NullPointerException;
}
