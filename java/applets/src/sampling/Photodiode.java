package sampling;

/** A photodiode's reading, as a logarithm with a gain that follows the light. */
final class Photodiode extends Sensor {
    private static final short BRIGHT = 900;
    private static final short DARK = 60;

    private byte gain = 3;

    boolean learns() {
        return false;
    }

    short convert(short raw) {
        short value = (short) (Numbers.logarithm(raw << 4) - (gain << 4));
        if (raw > BRIGHT && gain > 0) {
            gain--;
        } else if (raw < DARK && gain < 7) {
            gain++;
        }
        return value;
    }
}
