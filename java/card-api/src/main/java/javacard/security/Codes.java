package javacard.security;

/** Codes that prove keys. */
final class Codes {
    private Codes() {
    }

    /** Whether two codes are the same, in a time that does not depend on where they differ. */
    static boolean areSame(byte[] one, short offset, byte[] other, short otherOffset, short length) {
        byte difference = 0;
        for (short at = 0; at < length; at++) {
            difference |= (byte) (one[(short) (offset + at)] ^ other[(short) (otherOffset + at)]);
        }
        return difference == 0;
    }
}
