package dev.norn.sas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.norn.sas.exception.SASException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The constructor that arguments fit is the same one whether it was searched for or remembered, whatever was asked in
 * between.
 */
class ConstructorsTest {
    /** Remembers which of its constructors ran. */
    static class Parcel {
        final String by;

        Parcel(int number) {
            by = "int";
        }

        Parcel(Number number) {
            by = "Number";
        }

        Parcel(String text) {
            by = "String";
        }

        Parcel(List<?> list) {
            by = "List";
        }

        Parcel(CharSequence text, Object other) {
            by = "CharSequence, Object";
        }

        Parcel(String text, Object other) {
            by = "String, Object";
        }

        Parcel(Object first, Object second, Object third) {
            by = "three";
        }
    }

    private static String by(Object... arguments) throws Exception {
        return Constructors.find(Parcel.class, arguments).newInstance(arguments).by;
    }

    @Test
    void theArgumentsClassesDecideWhateverWasAskedBefore() throws Exception {
        // More ways than are remembered, asked again and again in different orders.
        Object[][] ways = {{1}, {2L}, {3.5}, {"a"}, {List.of()}, {new ArrayList<>()},
                {new StringBuilder("a"), 1}, {"a", 1}, {"a", null},
                {1, 2, 3}, {null, 2, 3}, {1, null, 3}, {"a", "b", "c"}};
        String[] expected = {"int", "Number", "Number", "String", "List", "List",
                "CharSequence, Object", "String, Object", "String, Object", "three", "three", "three", "three"};
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < ways.length; i++) {
                int way = (i * (round % 7 + 1) + round) % ways.length;
                assertEquals(expected[way], by(ways[way]), "way " + way + " in round " + round);
            }
        }
    }

    @Test
    void whatFitsNoneOrSeveralIsRefusedEachTime() throws Exception {
        for (int round = 0; round < 3; round++) {
            assertThrows(SASException.class, () -> by((Object) null), "null fits a Number, a String and a List");
            assertThrows(SASException.class, () -> by(true));
            assertThrows(SASException.class, ConstructorsTest::by);
            assertEquals("String", by("a"));
        }
    }
}
