package sampling;

/** Finds values that are far from the last one that was found. */
final class Change extends Detector {
    private final short distance;
    private short reference;

    Change(short distance) {
        this.distance = distance;
    }

    boolean finds(short value) {
        if (Numbers.magnitude(value - reference) < distance) {
            return false;
        }
        reference = value;
        return true;
    }
}
