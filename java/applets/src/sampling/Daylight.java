package sampling;

/** Light, as its logarithm; what does not change is kept once in a while. */
public final class Daylight extends Application {
    private final Day day = new Day((short) 96);
    private short last;
    private byte passed;

    private Daylight() {
        super((byte) 2, new Photodiode(), new Average((byte) 4), new Change((short) 40));
    }

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Daylight().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    short samplingTicks() {
        return 8;
    }

    short reportingTicks() {
        return 800;
    }

    boolean keeps(short value) {
        passed++;
        if (day.turns(value, scheduler.now())) {
            passed = 8;
        }
        if (value == last && passed < 8) {
            return false;
        }
        passed = 0;
        last = value;
        return true;
    }

    short extra() {
        return (short) (day.average(true) - day.average(false));
    }
}
