package dev.norn.sas.example;

import dev.norn.sas.util.SasLongArray;
import java.util.Objects;

/** A link of a chain, with what else may hang on one. */
class Link {
    int number;
    String text;
    Link next;
    Object other;
    Object[] array;
    SasLongArray longs;

    Link(int number, Link next) {
        this.number = number;
        this.next = next;
        text = textOf(number);
    }

    /** Few of a million have one. */
    private static String textOf(int number) {
        return number < 10_000 ? "the text of link " + number : null;
    }

    static Link chain(int length) {
        Link first = null;
        for (int i = length - 1; i >= 0; i--) {
            first = new Link(i, first);
        }
        return first;
    }

    /** Asserts that the chain has these links; returns the last. */
    static Link verify(Link first, int length) {
        Link last = null;
        Link at = first;
        for (int i = 0; i < length; i++) {
            if (at == null || at.number != i || !Objects.equals(at.text, textOf(i))) {
                throw new AssertionError("link " + i + " of " + length + " is "
                        + (at == null ? "not there" : at.number + ", " + at.text));
            }
            last = at;
            at = at.next;
        }
        if (at != null) {
            throw new AssertionError("the chain goes on behind " + length);
        }
        return last;
    }
}
