package javacard.security;

/**
 * What the virtual machine computes for this package. Ranges of arrays are checked as those of
 * {@link javacard.framework.Util} are, null and the firewall included; results on flash take part in an open
 * transaction.
 *
 * <p>A key's array is its bytes and one more, of which nothing is read here. A hash's state is 105 bytes, and 0 in all
 * of them before any data: whether data came (0 or 1); how many bytes came, in eight bytes; the intermediate hash in
 * 32, of which SHA-1 takes the first 20; and the 64 bytes of a block that is not whole. Numbers have the most
 * significant byte first.
 */
final class Algorithms {
    /** Bytes of a hash's state. */
    static final short STATE_BYTES = 105;

    /** Where the state has how many bytes came. */
    static final short STATE_COUNT = 1;

    /** Where it has the intermediate hash. */
    static final short STATE_HASH = 9;

    /** The parameters of P-256: the field's prime. */
    static final byte FIELD = 0;

    /** The coefficient a. */
    static final byte A = 1;

    /** The coefficient b. */
    static final byte B = 2;

    /** The base point, uncompressed. */
    static final byte G = 3;

    /** The order of the base point. */
    static final byte R = 4;

    private Algorithms() {
    }

    /** Takes data into the state of {@code MessageDigest.ALG_SHA} or {@code ALG_SHA_256}. */
    static native void digestUpdate(byte algorithm, byte[] state, byte[] data, short offset, short length);

    /** Writes the hash, makes the state 0 and returns the hash's bytes. */
    static native short digestFinish(byte algorithm, byte[] state, byte[] hash, short offset);

    /** Fills a range with random bytes. */
    static native void random(byte[] buffer, short offset, short length);

    /** Draws a private key of P-256, 32 bytes, and writes its public key, 65 bytes, to the starts of their arrays. */
    static native void generate(byte[] secret, byte[] point);

    /** Signs a hash, as a DER sequence, whose bytes are returned; 0 if the key is none of the curve. */
    static native short sign(
            byte[] secret, byte[] hash, short hashOffset, short hashLength, byte[] out, short outOffset);

    /** Says whether a DER sequence signs a hash; not, if the key is none of the curve. */
    static native boolean verify(
            byte[] point,
            byte[] hash,
            short hashOffset,
            short hashLength,
            byte[] signature,
            short signatureOffset,
            short signatureLength);

    /** Writes the X coordinate of the product, 32 bytes, and returns 32; 0 if key or point are none of the curve. */
    static native short agree(byte[] secret, byte[] point, short offset, short length, byte[] out, short outOffset);

    /** Copies a parameter of P-256 and returns its bytes. */
    static native short parameter(byte which, byte[] buffer, short offset);

    /** Says whether a number, leading zeros aside, or a point is a parameter of P-256. */
    static native boolean isParameter(byte which, byte[] buffer, short offset, short length);
}
