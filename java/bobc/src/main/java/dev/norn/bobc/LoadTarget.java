package dev.norn.bobc;

/**
 * Something that is filled with numbered objects of three references each. Objects are added in the order of their
 * numbers, from 0, between {@link #begin} and {@link #commit}.
 */
interface LoadTarget extends AutoCloseable {
    /** What stands for a reference to no object. */
    int NONE = -1;

    void begin() throws Exception;

    /**
     * Adds the object of the next number, which refers to objects of these numbers that were added before, or to {@link
     * #NONE}.
     */
    void add(int number, int first, int second, int third) throws Exception;

    /** Returns when it is durable. */
    void commit() throws Exception;

    /**
     * The sum over all objects of their numbers and of those that they refer to, and how many there are. Read from
     * where they are kept.
     */
    Sums sums() throws Exception;

    /**
     * @param objects how many there are
     * @param numbers the sum of their numbers
     * @param targets the sum of the numbers that they refer to
     */
    record Sums(long objects, long numbers, long targets) {
        static final Sums NOTHING = new Sums(0, 0, 0);

        Sums plus(long number, long more) {
            return new Sums(objects + 1, numbers + number, targets + more);
        }
    }
}
