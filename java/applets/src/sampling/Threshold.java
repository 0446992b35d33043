package sampling;

/** Finds where values rise above a limit, and again after they fell well below it. */
final class Threshold extends Detector {
    private final short limit;
    private final short distance;
    private boolean isAbove;

    Threshold(short limit, short distance) {
        this.limit = limit;
        this.distance = distance;
    }

    boolean finds(short value) {
        if (isAbove) {
            if (value < (short) (limit - distance)) {
                isAbove = false;
            }
            return false;
        }
        if (value < limit) {
            return false;
        }
        isAbove = true;
        return true;
    }
}
