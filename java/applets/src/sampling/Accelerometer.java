package sampling;

/** Three axes of 5 bits in a reading: how long their sum is, beside what it is at rest. */
final class Accelerometer extends Sensor {
    boolean learns() {
        return true;
    }

    short convert(short raw) {
        int sum = 0;
        for (byte place = 0; place < 3; place++) {
            int length = (raw >> 5 * place & 31) - 16 << 6;
            sum += length * length;
        }
        return Numbers.root(sum);
    }
}
