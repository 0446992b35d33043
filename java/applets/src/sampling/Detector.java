package sampling;

/** What looks for values that are worth a report at once. */
abstract class Detector {
    private short found;

    /** Looks at the next value. */
    final boolean looks(short value) {
        if (!finds(value)) {
            return false;
        }
        found++;
        return true;
    }

    final short found() {
        return found;
    }

    abstract boolean finds(short value);
}
