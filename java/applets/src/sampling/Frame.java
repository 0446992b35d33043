package sampling;

import javacard.framework.JCSystem;
import javacard.framework.Util;
import javacardx.framework.util.intx.JCint;

/** A frame of the network: to, from, kind, number, length, payload, seal, CRC. */
final class Frame {
    static final byte SAMPLES = 1;
    static final byte SUMMARY = 2;
    static final byte ALARM = 3;
    static final short NUMBER = 3;
    private static final short LENGTH = 4;
    static final short PAYLOAD = 5;
    static final short PAYLOAD_MAX = 27;
    /** Seal and CRC. */
    private static final short TRAILER = 6;

    final byte[] bytes =
            JCSystem.makeTransientByteArray((short) (PAYLOAD + PAYLOAD_MAX + TRAILER), JCSystem.CLEAR_ON_RESET);

    void begin(byte from, byte kind) {
        bytes[1] = from;
        bytes[2] = kind;
        bytes[LENGTH] = 0;
    }

    void put(short value) {
        Util.setShort(bytes, (short) (PAYLOAD + bytes[LENGTH]), value);
        grow((short) 2);
    }

    void grow(short more) {
        bytes[LENGTH] += (byte) more;
    }

    /** Addresses, numbers, seals and closes it. */
    void close(byte to, byte number, Seal seal) {
        bytes[0] = to;
        bytes[NUMBER] = number;
        short end = (short) (PAYLOAD + bytes[LENGTH]);
        end = JCint.setInt(bytes, end, seal.of(bytes, (short) 1, (short) (end - 1)));
        Util.setShort(bytes, end, Checksum.of(bytes, (short) 0, end));
    }

    short length() {
        return (short) (PAYLOAD + bytes[LENGTH] + TRAILER);
    }

    void copyFrom(Frame other) {
        Util.arrayCopyNonAtomic(other.bytes, (short) 0, bytes, (short) 0, other.length());
    }
}
