package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.exception.SASException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The constructor that arguments fit is the same one whether it was searched for or remembered, whatever was asked in
 * between; it gets the arguments as they are, and what it throws comes out.
 */
class ConstructorsTest {
    @TempDir
    Path directory;
    private Store store;

    @BeforeEach
    void open() {
        store = Store.create(directory.resolve("store"), Stores.SMALL);
    }

    @AfterEach
    void close() {
        store.close();
    }

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
            MAKERS.add(caller());
        }

        private Parcel(byte b, short s, char c, int i, long j, float f, double d) {
            by = b + " " + s + " " + c + " " + i + " " + j + " " + f + " " + d;
        }

        Parcel(StringBuilder reason) throws java.io.IOException {
            throw new java.io.IOException(reason.toString());
        }
    }

    abstract static class Vague {}

    /** Who has called the constructor of three arguments. */
    private static final Set<Class<?>> MAKERS = new HashSet<>();

    /** The hidden class whose code runs here. */
    private static Class<?> caller() {
        return StackWalker.getInstance(Set.of(StackWalker.Option.RETAIN_CLASS_REFERENCE,
                StackWalker.Option.SHOW_HIDDEN_FRAMES)).walk(frames -> frames
                .map(StackWalker.StackFrame::getDeclaringClass).filter(Class::isHidden).findFirst()).orElseThrow();
    }

    private String by(Object... arguments) {
        return Factory.newInstanceIn(Parcel.class, store.container(Store.MAIN), arguments).by;
    }

    @Test
    void aPrivateConstructorGetsPrimitives() {
        for (int round = 0; round < 2; round++) {
            assertEquals("-1 2 c -4 5 6.5 7.25", by((byte) -1, (short) 2, 'c', -4, 5L, 6.5f, 7.25));
        }
    }

    @Test
    void whatAConstructorThrowsComesOutAsItIs() {
        for (int round = 0; round < 2; round++) {
            assertEquals("no", assertThrows(java.io.IOException.class, () -> by(new StringBuilder("no"))).getMessage());
        }
        assertThrows(SASException.class, () -> Factory.newInstanceIn(Vague.class, store.container(Store.MAIN)));
    }

    @Test
    void theArgumentsClassesDecideWhateverWasAskedBefore() {
        // More ways than are remembered, asked again and again in different orders.
        Object[][] ways = {{1}, {2L}, {3.5}, {"a"}, {List.of()}, {new ArrayList<>()}, {new StringBuffer("a"), 1},
                {"a", 1}, {"a", null}, {1, 2, 3}, {null, 2, 3}, {1, null, 3}, {"a", "b", "c"}};
        String[] expected = {"int", "Number", "Number", "String", "List", "List", "CharSequence, Object",
                "String, Object", "String, Object", "three", "three", "three", "three"};
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < ways.length; i++) {
                int way = (i * (round % 7 + 1) + round) % ways.length;
                assertEquals(expected[way], by(ways[way]), "way " + way + " in round " + round);
            }
        }
    }

    /** Each pattern of nulls is searched for by itself, and more of them are used in turn than are kept. */
    @Test
    void aConstructorIsCalledByOneClassWhateverItsArgumentsAre() {
        MAKERS.clear();
        Object[] some = {null, 1, "a"};
        for (int round = 0; round < 3; round++) {
            for (int pattern = 0; pattern < 9; pattern++) {
                assertEquals("three", by(some[pattern % 3], some[pattern / 3], null));
            }
        }
        assertEquals(1, MAKERS.size(), "classes that call one constructor: " + MAKERS);
    }

    @Test
    void whatFitsNoneOrSeveralIsRefusedEachTime() {
        for (int round = 0; round < 3; round++) {
            assertThrows(SASException.class, () -> by((Object) null), "null fits a Number, a String and a List");
            assertThrows(SASException.class, () -> by(true));
            assertThrows(SASException.class, this::by);
            assertEquals("String", by("a"));
        }
    }
}
