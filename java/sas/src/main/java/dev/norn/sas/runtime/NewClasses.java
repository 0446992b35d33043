package dev.norn.sas.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * Classes that got their numbers from a session's transaction. No other transaction may use them before it is durable.
 */
final class NewClasses {
    private record NewClass(Classes.Info info, int number) {}

    private final List<NewClass> all = new ArrayList<>();
    /**
     * The class whose number was asked for last; null if none was. Where objects are made one after the other, this one
     * test also answers before and after the commit that makes the number known to all, so that compiled code, which is
     * made of what was seen before, stays.
     */
    private Classes.Info asked;
    private int numberOfAsked;

    /** The number that a new object of the class gets. In a transaction. */
    int numberFor(Classes.Info info) {
        if (info != asked) {
            numberOfAsked = info.number();
            asked = info;
        }
        return numberOfAsked;
    }

    void add(Classes.Info info, int number) {
        all.add(new NewClass(info, number));
    }

    int count() {
        return all.size();
    }

    /** The transaction is durable: its numbers are everybody's. */
    void keep() {
        all.clear();
    }

    /** Numbers from this one on were taken back, or may have been. */
    void forget(int first) {
        if (all.size() > first) {
            all.subList(first, all.size()).clear();
            asked = null;
        }
    }

    /** The number that the class got from this transaction; 0 if it got none. */
    int numberOf(Classes.Info info) {
        for (NewClass its : all) {
            if (its.info == info) {
                return its.number;
            }
        }
        return 0;
    }

    /** The class that got this number from this transaction; null if there is none. */
    Classes.Info withNumber(int number) {
        for (NewClass its : all) {
            if (its.number == number) {
                return its.info;
            }
        }
        return null;
    }
}
