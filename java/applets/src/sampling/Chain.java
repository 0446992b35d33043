package sampling;

/** A filter behind another. */
final class Chain implements Filter {
    private final Filter first;
    private final Filter second;

    Chain(Filter first, Filter second) {
        this.first = first;
        this.second = second;
    }

    public short apply(short value) {
        return second.apply(first.apply(value));
    }

    public void reset() {
        first.reset();
        second.reset();
    }
}
