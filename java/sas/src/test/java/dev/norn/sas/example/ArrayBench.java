package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.util.SasLongArray;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * What arrays of longs cost, in nanoseconds for a call: {@code plain}, run without the agent, or {@code sas DIRECTORY}, with it. Each step is measured as a transaction of its own, and again within one that goes on;
 * {@code field} is a transaction that reads or writes a field of the array's owner instead.
 */
final class ArrayBench {
    static volatile long sink;

    private ArrayBench() {}

    /** Has both. */
    static class Owner {
        long field;
        long[] copied;
        SasLongArray inPlace;
    }

    /** The steps, on one kind of array. */
    private record Steps(String kind, LongSupplier readOne, LongSupplier sum, LongSupplier writeOne, LongSupplier writeAll) {
        void each(Action action) {
            action.run(kind + " read-one", readOne);
            action.run(kind + " sum", sum);
            action.run(kind + " write-one", writeOne);
            action.run(kind + " write-all", writeAll);
        }
    }

    private interface Action {
        void run(String name, LongSupplier step);
    }

    private static Steps ofJavaArray(String kind, int length, java.util.function.Supplier<long[]> array) {
        int middle = length / 2;
        return new Steps(kind, () -> array.get()[middle], () -> {
            long sum = 0;
            for (long element : array.get()) {
                sum += element;
            }
            return sum;
        }, () -> array.get()[middle] = ++sink, () -> {
            long[] all = array.get();
            for (int i = 0; i < all.length; i++) {
                all[i] = all[i] + 1;
            }
            return 0;
        });
    }

    private static Steps ofArrayInPlace(int length, Owner owner) {
        int middle = length / 2;
        return new Steps("in-place", () -> owner.inPlace.get(middle), () -> {
            SasLongArray array = owner.inPlace;
            long sum = 0;
            for (int i = 0; i < length; i++) {
                sum += array.get(i);
            }
            return sum;
        }, () -> {
            owner.inPlace.set(middle, ++sink);
            return 0;
        }, () -> {
            SasLongArray array = owner.inPlace;
            for (int i = 0; i < length; i++) {
                array.set(i, array.get(i) + 1);
            }
            return 0;
        });
    }

    public static void main(String[] arguments) throws Exception {
        int length = Integer.parseInt(arguments[1]);
        long[] temporary = new long[length];
        if (arguments[0].equals("plain")) {
            ofJavaArray("plain", length, () -> temporary).each((name, step) -> report(name, length, step));
            return;
        }
        Path at = Files.createTempDirectory(Path.of(arguments[2]), "bench");
        try (Store store = Store.create(at, Store.Options.defaults().withLogBytes(256 << 20))) {
            Owner owner = Factory.newPermInstance(Owner.class);
            Transaction.run(() -> {
                owner.copied = Factory.newLongArrayNear(length, owner);
                owner.inPlace = Factory.newInstanceNear(SasLongArray.class, owner, length);
            });
            ofJavaArray("temporary-before", length, () -> temporary).each((name, step) -> report(name, length, step));
            Steps fields = new Steps("field", () -> owner.field, () -> owner.field, () -> owner.field = ++sink, () -> owner.field = ++sink);
            for (Steps steps : new Steps[] {fields, ofJavaArray("copied", length, () -> owner.copied), ofArrayInPlace(length, owner)}) {
                steps.each((name, step) -> report("transaction " + name, length, () -> Transaction.call(step::getAsLong)));
                Transaction.run(() -> steps.each((name, step) -> report("within " + name, length, step)));
            }
            ofJavaArray("temporary-after", length, () -> temporary).each((name, step) -> report(name, length, step));
        }
    }

    private static void report(String name, int length, LongSupplier step) {
        long warm = System.nanoTime() + 1_500_000_000L;
        long calls = 0;
        for (; System.nanoTime() < warm; calls++) {
            sink += step.getAsLong();
        }
        int rounds = 41;
        // Some ten milliseconds a round.
        long each = Math.max(1, calls / 150);
        double[] times = new double[rounds];
        for (int round = 0; round < rounds; round++) {
            long start = System.nanoTime();
            for (long i = 0; i < each; i++) {
                sink += step.getAsLong();
            }
            times[round] = (System.nanoTime() - start) / (double) each;
        }
        Arrays.sort(times);
        System.out.printf("%-32s %,10d %.2f ns%n", name, length, times[rounds / 2]);
    }
}
