package sampling;

/** The CRC of frames: CCITT's, four bits at a time. */
final class Checksum {
    private static final short[] STEPS = {
        0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50A5, 0x60C6, 0x70E7,
        (short) 0x8108, (short) 0x9129, (short) 0xA14A, (short) 0xB16B,
        (short) 0xC18C, (short) 0xD1AD, (short) 0xE1CE, (short) 0xF1EF
    };

    private Checksum() {
    }

    static short of(byte[] array, short offset, short length) {
        short crc = -1;
        for (short at = offset; at < (short) (offset + length); at++) {
            crc = (short) (crc << 4 ^ STEPS[(crc >> 12 ^ array[at] >> 4) & 15]);
            crc = (short) (crc << 4 ^ STEPS[(crc >> 12 ^ array[at]) & 15]);
        }
        return crc;
    }
}
