package javacard.security;

/**
 * What the virtual machine computes for this package. Ranges of arrays are checked as those of
 * {@link javacard.framework.Util} are, null and the firewall included; results on flash take part in an open
 * transaction.
 *
 * <p>A key's array is its bytes and one more, of which nothing is read here. A hash's state is 0 in all of its bytes
 * before any data: whether data came (0 or 1); how many bytes came, in eight bytes; the intermediate hash in 32; and
 * the 64 bytes of a block that is not whole; of SHA-384 and SHA-512 twice as many of both. Numbers have the most
 * significant byte first. Curves have numbers; 0 is P-256.
 */
final class Algorithms {
    /** Bytes of a hash's state. */
    static final short STATE_BYTES = 105;

    /** Bytes of that of SHA-384 and SHA-512. */
    static final short WIDE_STATE_BYTES = 201;

    /** Where the state has how many bytes came. */
    static final short STATE_COUNT = 1;

    /** Where it has the intermediate hash. */
    static final short STATE_HASH = 9;

    /** The parameters of a curve: the field's prime. */
    static final byte FIELD = 0;

    /** The coefficient a. */
    static final byte A = 1;

    /** The coefficient b. */
    static final byte B = 2;

    /** The base point, uncompressed. */
    static final byte G = 3;

    /** The order of the base point. */
    static final byte R = 4;

    /** In place of a parameter: none is compared. */
    static final byte NONE = -1;

    /** Added to the mode of a block cipher: DES instead of AES. */
    static final byte WITH_DES = 0x10;

    /** For {@link #require}: AES. */
    static final short AES = 0x100;

    /** DES. */
    static final short DES = 0x101;

    /** A curve. */
    static final short CURVES = 0x102;

    /** Random bytes. */
    static final short RANDOM = 0x103;

    private Algorithms() {
    }

    /**
     * Throws NO_SUCH_ALGORITHM where the card does not compute something: one of the above, or a hash, by an ALG of
     * {@link MessageDigest}.
     */
    static native void require(short what);

    /** Takes data into the state of a hash, one of {@link MessageDigest}. */
    static native void digestUpdate(byte algorithm, byte[] state, byte[] data, short offset, short length);

    /** Writes the hash, makes the state 0 and returns the hash's bytes. */
    static native short digestFinish(byte algorithm, byte[] state, byte[] hash, short offset);

    /**
     * Encrypts or decrypts whole blocks, by {@code Cipher}'s modes. The state has the block before in its first bytes,
     * where blocks are chained, and the key from byte 33 on.
     */
    static native void blocks(
            byte mode,
            byte[] state,
            byte keyBytes,
            boolean isChained,
            byte[] in,
            short inOffset,
            short length,
            byte[] out,
            short outOffset);

    /** Makes an array for a key's bytes, all zero, of which nothing is left on flash once it was deleted. */
    static native byte[] makeKey(short length);

    /**
     * Notes that a key on flash is overwritten, in the open transaction: its old bytes are erased when the command
     * ends.
     */
    static native void noteOldKey();

    /** Fills a range with random bytes. */
    static native void random(byte[] buffer, short offset, short length);

    /** Draws a private key of a curve, and writes it and its public key to the starts of their arrays. */
    static native void generate(byte curve, byte[] secret, byte[] point);

    /** Signs a hash, as a DER sequence, whose bytes are returned; 0 if the key is none of the curve. */
    static native short sign(
            byte curve, byte[] secret, byte[] hash, short hashOffset, short hashLength, byte[] out, short outOffset);

    /** Says whether a DER sequence signs a hash; not, if the key is none of the curve. */
    static native boolean verify(
            byte curve,
            byte[] point,
            byte[] hash,
            short hashOffset,
            short hashLength,
            byte[] signature,
            short signatureOffset,
            short signatureLength);

    /**
     * Multiplies a private key and a public one; writes the product's X coordinate, or all of the uncompressed point,
     * and returns its bytes; 0 if one of them is none of the curve.
     */
    static native short agree(
            byte curve,
            boolean isWhole,
            byte[] secret,
            byte[] point,
            short offset,
            short length,
            byte[] out,
            short outOffset);

    /** Says whether there is RSA. */
    static native boolean hasRsa();

    /**
     * Raises a number of the bytes of the modulus to the power of a key, by modulus and exponent or by prime factors;
     * false for one that is not below the modulus, or a key that is none.
     */
    static native boolean raise(
            boolean isByFactors,
            byte[] key,
            short bytes,
            byte[] in,
            short inOffset,
            short inLength,
            byte[] out,
            short outOffset);

    /**
     * Draws a pair of keys of a modulus of some bytes, with the public exponent that the public key has, or 65,537
     * where that is 0; false where there is none.
     */
    static native boolean generateRsa(boolean isByFactors, byte[] publicKey, byte[] privateKey, short bytes);

    /** Writes a parameter of a curve, and returns its bytes. */
    static native short parameter(byte curve, byte which, byte[] buffer, short offset);

    /**
     * Returns the curves over fields of so many bits that have a parameter, or all of them for {@link #NONE}: bit n is
     * that of curve n.
     */
    static native short curves(short bits, byte which, byte[] buffer, short offset, short length);
}
