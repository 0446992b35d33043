package dev.norn.sas.example;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.util.SasLongArray;
import java.nio.file.Path;

/**
 * What a child JVM runs: {@code STORE} changes of the array, one after the other, for ever, and says which are
 * committed.
 */
final class ArrayProgram {
    static final int LENGTH = 100_000;

    private ArrayProgram() {}

    public static void main(String[] arguments) throws Exception {
        Store store = Store.open(Path.of(arguments[0]));
        SasLongArray array = store.root("array", SasLongArray.class);
        for (;;) {
            long number = array.get(0) + 1;
            Transaction.run(() -> change(array, number));
            System.out.println(number);
        }
    }

    /** The first element counts the changes; each sets some others, near each other and far. */
    private static void change(SasLongArray array, long number) {
        array.set(0, number);
        change(number, array::set);
    }

    interface Setter {
        void set(int index, long value);
    }

    static void change(long number, Setter setter) {
        for (int i = 0; i < 20; i++) {
            setter.set(1 + (int) ((number * 7919 + i * (i % 3 == 0 ? 1 : 4973)) % (LENGTH - 1)), number * 100 + i);
        }
    }
}
