package sampling;

/** What makes one value of values. */
interface Filter {
    short apply(short value);

    void reset();
}
