package sampling;

/** A sensor: what a converter reads becomes a value in a unit, with an offset that is learnt at rest. */
abstract class Sensor {
    private static final byte LEARNING = 16;

    private short offset;
    private byte learnt;
    private int sum;

    /** The value of a reading, without the offset. */
    abstract short convert(short raw);

    /** Whether the sensor's first values are its zero. */
    abstract boolean learns();

    final short sample(short raw) {
        short value = convert(raw);
        if (learns() && learnt < LEARNING) {
            sum += value;
            learnt++;
            if (learnt == LEARNING) {
                offset = (short) (sum / LEARNING);
            }
        }
        return Numbers.clamped(value - offset, (short) -16000, (short) 16000);
    }

    final boolean isReady() {
        return !learns() || learnt == LEARNING;
    }
}
