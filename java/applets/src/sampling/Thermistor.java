package sampling;

/** A thermistor's reading of 10 bits in tenths of a degree, between the places of a table. */
final class Thermistor extends Sensor {
    private static final short[] TENTHS = {1200, 850, 640, 500, 390, 300, 220, 140, 60, -30, -130, -260, -400};
    private static final short STEP = 80;

    boolean learns() {
        return false;
    }

    short convert(short raw) {
        short reading = Numbers.clamped(raw, (short) 0, (short) (STEP * (TENTHS.length - 1) - 1));
        short place = (short) (reading / STEP);
        short left = (short) (reading % STEP);
        short difference = (short) (TENTHS[(short) (place + 1)] - TENTHS[place]);
        return (short) (TENTHS[place] + difference * left / STEP);
    }
}
