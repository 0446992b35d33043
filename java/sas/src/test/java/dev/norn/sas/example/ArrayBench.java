package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.util.SasLongArray;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * What arrays of longs cost, in nanoseconds for a call: {@code plain}, run without the agent, or {@code sas DIRECTORY},
 * with it. Each step is measured as a transaction of its own, and again within one that continues; {@code field} is a
 * transaction that reads or writes a field of the array's owner instead.
 */
final class ArrayBench {
    static volatile long sink;
    /** What is written, each time another value. */
    static long next;

    private ArrayBench() {}

    /** Has both. */
    static class Owner {
        long field;
        long[] copied;
        SasLongArray inPlace;
    }

    /** The steps, on one kind of array. */
    private record Steps(String kind, LongSupplier readOne, LongSupplier sum, LongSupplier writeOne,
            LongSupplier writeAll) {
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
        }, () -> array.get()[middle] = ++next, () -> {
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
            owner.inPlace.set(middle, ++next);
            return 0;
        }, () -> {
            SasLongArray array = owner.inPlace;
            for (int i = 0; i < length; i++) {
                array.set(i, array.get(i) + 1);
            }
            return 0;
        });
    }

    /** As {@link #ofArrayInPlace}, with a Java array between for many elements at once. */
    private static Steps inBulk(int length, Owner owner) {
        int middle = length / 2;
        long[] part = new long[Math.min(length, 1024)];
        return new Steps("in-bulk", () -> owner.inPlace.get(middle), () -> {
            SasLongArray array = owner.inPlace;
            long sum = 0;
            for (int at = 0; at < length; at += part.length) {
                int count = Math.min(part.length, length - at);
                array.copyTo(at, part, 0, count);
                for (int i = 0; i < count; i++) {
                    sum += part[i];
                }
            }
            return sum;
        }, () -> {
            owner.inPlace.set(middle, ++next);
            return 0;
        }, () -> {
            SasLongArray array = owner.inPlace;
            for (int at = 0; at < length; at += part.length) {
                int count = Math.min(part.length, length - at);
                array.copyTo(at, part, 0, count);
                for (int i = 0; i < count; i++) {
                    part[i] = part[i] + 1;
                }
                array.copyFrom(at, part, 0, count);
            }
            return 0;
        });
    }

    public static void main(String[] arguments) throws Exception {
        int length = Integer.parseInt(arguments[1]);
        long[] temporary = new long[length];
        if (arguments[0].equals("plain")) {
            twice(ofJavaArray("plain", length, () -> temporary)::each, length);
            return;
        }
        Path at = Files.createTempDirectory(Path.of(arguments[2]), "bench");
        try (Store store = Store.create(at, Store.Options.defaults().withLogBytes(256 << 20))) {
            Owner owner = Factory.newPermInstance(Owner.class);
            Transaction.run(() -> {
                owner.copied = Factory.newLongArrayNear(length, owner);
                owner.inPlace = Factory.newInstanceNear(SasLongArray.class, owner, length);
            });
            Steps fields = new Steps("field", () -> owner.field, () -> owner.field, () -> owner.field = ++next,
                    () -> owner.field = ++next);
            Steps[] all = {fields, ofJavaArray("copied", length, () -> owner.copied), ofArrayInPlace(length, owner),
                    inBulk(length, owner)};
            twice(action -> {
                for (Steps steps : all) {
                    steps.each((name, step) -> action.run("transaction " + name,
                            () -> Transaction.call(step::getAsLong)));
                    Transaction.run(() -> steps.each((name, step) -> action.run("within " + name, step)));
                }
            }, length);
            // Of the persistent one's length, and of another.
            long[] other = new long[length + 1];
            twice(action -> {
                ofJavaArray("temporary-same", length, () -> temporary).each(action);
                ofJavaArray("temporary", length, () -> other).each(action);
            }, length);
        }
    }

    /** The first time is for the compiler. */
    private static void twice(Consumer<Action> steps, int length) {
        for (boolean isSaid : new boolean[] {false, true}) {
            steps.accept((name, step) -> {
                double nanos = measure(step);
                if (isSaid) {
                    System.out.printf("%-32s %,10d %.2f ns%n", name, length, nanos);
                }
            });
        }
    }

    private static double measure(LongSupplier step) {
        long warm = System.nanoTime() + 300_000_000L;
        long calls = 0;
        for (; System.nanoTime() < warm; calls++) {
            sink += step.getAsLong();
        }
        int rounds = 101;
        // Some tenths of a millisecond a round, so that most are not interrupted by others.
        long each = Math.max(1, calls / 1500);
        double[] times = new double[rounds];
        for (int round = 0; round < rounds; round++) {
            long start = System.nanoTime();
            for (long i = 0; i < each; i++) {
                sink += step.getAsLong();
            }
            times[round] = (System.nanoTime() - start) / (double) each;
        }
        Arrays.sort(times);
        return times[rounds / 2];
    }
}
