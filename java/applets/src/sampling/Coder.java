package sampling;

/** Values as Rice codes of their differences, whose parameter suits them. */
final class Coder {
    private static final byte QUOTIENT_MAX = 12;

    private final Bits bits = new Bits();

    /** The parameter whose codes of the differences are short. */
    private static byte parameter(Samples samples) {
        int sum = 0;
        for (short at = 1; at < samples.count(); at++) {
            sum += Numbers.folded(samples.get(at) - samples.get((short) (at - 1)));
        }
        byte parameter = 0;
        int count = samples.count();
        while (count << parameter < sum && parameter < 12) {
            parameter++;
        }
        return parameter;
    }

    private boolean writes(short value, byte parameter) {
        short quotient = (short) ((value & 0xFFFF) >> parameter);
        if (quotient >= QUOTIENT_MAX) {
            if (!bits.fits((short) (QUOTIENT_MAX + 17))) {
                return false;
            }
            bits.unary(QUOTIENT_MAX);
            bits.put(value, (byte) 16);
            return true;
        }
        if (!bits.fits((short) (quotient + 1 + parameter))) {
            return false;
        }
        bits.unary(quotient);
        bits.put(value, parameter);
        return true;
    }

    /** Writes what fits, takes it from the samples, and returns the bytes. */
    short encode(Samples samples, byte[] array, short offset, short room) {
        bits.begin(array, offset, room);
        byte parameter = parameter(samples);
        bits.put(samples.get((short) 0), (byte) 16);
        bits.put(parameter, (byte) 4);
        short at = 1;
        while (at < samples.count()
                && writes(Numbers.folded(samples.get(at) - samples.get((short) (at - 1))), parameter)) {
            at++;
        }
        samples.drop(at);
        return bits.bytes();
    }
}
