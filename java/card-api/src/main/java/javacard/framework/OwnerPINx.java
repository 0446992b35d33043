package javacard.framework;

/** A PIN whose limits its owner may change. The changes belong to the open transaction, if there is one. */
public interface OwnerPINx extends PIN {
    /**
     * Sets a new value and restores the tries, both or neither.
     *
     * @param pin the value
     * @param offset where it starts
     * @param length its bytes
     * @throws PINException {@link PINException#ILLEGAL_VALUE} for more bytes than the PIN was created for
     */
    void update(byte[] pin, short offset, byte length) throws PINException;

    /**
     * Returns how many wrong values there may be.
     *
     * @return tries of a PIN that was just validated
     */
    byte getTryLimit();

    /**
     * Changes how many wrong values there may be. Tries that are left beyond it are taken; none is given.
     *
     * @param limit wrong values at most, at least 1
     * @throws PINException {@link PINException#ILLEGAL_VALUE} for less than 1
     */
    void setTryLimit(byte limit);

    /**
     * Changes how many tries are left.
     *
     * @param remaining from 0 to the limit
     * @throws PINException {@link PINException#ILLEGAL_VALUE} for others
     */
    void setTriesRemaining(byte remaining);
}
