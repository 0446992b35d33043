package dev.norn.crash.model;

/**
 * The superclass of many small classes with different fields, which are generated. Each object says by its number which
 * of them it is, so one that became another's is noticed.
 */
public class Kind {
    private final int kind;
    private final long stamp;

    protected Kind(int kind, long stamp) {
        this.kind = kind;
        this.stamp = stamp;
    }

    /** The sum of the subclass's fields, of which each is the stamp. */
    protected long sum() {
        return 0;
    }

    /** Of how many fields it is the sum. */
    protected int count() {
        return 0;
    }

    final String audit(long expected) {
        if (Kinds.of(expected) != kind || Kinds.type(kind) != getClass() || stamp != expected
                || sum() != count() * expected) {
            return expected + " left a " + Kinds.type(Kinds.of(expected)).getSimpleName() + ", and it is a "
                    + getClass().getSimpleName() + " with kind " + kind + ", stamp " + stamp + ", " + count()
                    + " fields with the sum " + sum();
        }
        return null;
    }
}
