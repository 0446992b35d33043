package sampling;

/** Temperatures, seldom and smooth; each is kept. */
public final class Climate extends Application {
    private final Trend trend = new Trend();

    private Climate() {
        super((byte) 1, new Thermistor(), new Chain(new Median(), new LowPass((byte) 2)),
                new Threshold((short) 300, (short) 10));
    }

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Climate().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    short samplingTicks() {
        return 20;
    }

    short reportingTicks() {
        return 600;
    }

    boolean keeps(short value) {
        trend.add(value);
        return true;
    }

    short extra() {
        return trend.forecast((short) 8);
    }
}
