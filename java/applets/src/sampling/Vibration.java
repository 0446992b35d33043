package sampling;

/** Vibrations, often; only what is far from rest is kept. */
public final class Vibration extends Application {
    private static final short REST = 80;

    private final Spectrum spectrum = new Spectrum();

    private Vibration() {
        super((byte) 3, new Accelerometer(), new Average((byte) 3), new Peak((short) 600));
    }

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Vibration().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    short samplingTicks() {
        return 2;
    }

    short reportingTicks() {
        return 500;
    }

    boolean keeps(short value) {
        boolean isStrong = spectrum.takes(value) && spectrum.strongest() > 0;
        return isStrong || Numbers.magnitude(value) > REST;
    }

    short extra() {
        return spectrum.strongest();
    }
}
