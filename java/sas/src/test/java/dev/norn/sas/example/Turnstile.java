package dev.norn.sas.example;

import java.util.function.Supplier;

/** Synchronized methods with every way out. */
public class Turnstile {
    private long passed;
    /** Something beside it. */
    Object beside;

    Turnstile() {}

    synchronized long pass() {
        return ++passed;
    }

    synchronized double pass(long count, Object[] ways) {
        if (count == 0) {
            return 0;
        }
        for (Object way : ways) {
            if (way instanceof String text && text.isEmpty()) {
                return passed;
            }
            try {
                passed += Long.parseLong(String.valueOf(way));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("no way " + way, e);
            } finally {
                count--;
            }
        }
        return count;
    }

    synchronized <T> T during(Supplier<T> action) {
        return action.get();
    }

    synchronized void never() {
        throw new UnsupportedOperationException();
    }

    <T> T duringBlock(Supplier<T> action) {
        synchronized (this) {
            return action.get();
        }
    }

    /** Whether the calling thread has this Java object's own monitor, whichever code calls this. */
    static boolean isHeld(Object object) {
        return Thread.holdsLock(object);
    }

    long passed() {
        return passed;
    }
}
