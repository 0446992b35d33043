package javacard.framework;

/** A secret that its owner shows a few times wrongly at most. */
public interface PIN {
    /**
     * Returns how often a wrong value may still be shown.
     *
     * @return tries left
     */
    byte getTriesRemaining();

    /**
     * Compares a value with the PIN. The try is taken on flash before the comparison, whatever transaction is open.
     *
     * @param pin the value
     * @param offset where it starts
     * @param length its bytes
     * @return whether it is the PIN and tries were left
     */
    boolean check(byte[] pin, short offset, byte length);

    /**
     * Says whether the right value was shown since the last reset.
     *
     * @return whether it was
     */
    boolean isValidated();

    /** Forgets that the right value was shown, and restores the tries if it was. */
    void reset();
}
