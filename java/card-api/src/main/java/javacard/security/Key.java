package javacard.security;

/** A key. */
public interface Key {
    /**
     * Says whether the key has its value, and all parameters.
     *
     * @return whether it can be used
     */
    boolean isInitialized();

    /** Takes the value and the parameters away. */
    void clearKey();

    /**
     * Returns the type.
     *
     * @return a TYPE of {@link KeyBuilder}
     */
    byte getType();

    /**
     * Returns the size.
     *
     * @return bits
     */
    short getSize();
}
