package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;

/**
 * What a child JVM runs, {@code STORE}: transactions in each of the last frames of the stack. Ends with status 1 if one
 * of them fails in another way than by the stack's end, or waits for ever; says how many were committed to the root
 * ann.
 */
final class DeepStackProgram {
    private static final int FRAMES = 400;
    private static final int ROUNDS = 3;
    private static final long TIMEOUT_MILLIS = 60_000;

    private final Account ann;
    private Throwable failure;
    private int tried;

    private DeepStackProgram(Store store) {
        ann = store.root("ann", Account.class);
    }

    public static void main(String[] arguments) throws Exception {
        try (Store store = Store.open(Path.of(arguments[0]))) {
            DeepStackProgram program = new DeepStackProgram(store);
            for (int round = 0; round < ROUNDS; round++) {
                program.runRound();
            }
            System.out.println(program.ann.balance());
        }
    }

    private void runRound() throws Exception {
        Thread thread = new Thread(null, this::descend, "deep", 1 << 20);
        long before = ann.balance();
        thread.start();
        thread.join(TIMEOUT_MILLIS);
        if (thread.isAlive() || failure != null || tried < FRAMES || ann.balance() < before + FRAMES) {
            System.err.println(thread.isAlive() ? java.util.Arrays.toString(thread.getStackTrace())
                    : failure + " after " + tried + " frames");
            Runtime.getRuntime().halt(1);
        }
    }

    private void descend() {
        try {
            // Most classes are loaded here, where there is room for it.
            change();
            Transaction.begin();
            ann.add(1);
            Transaction.abort();
            tryWhereTheStackEnds();
        } catch (Throwable e) {
            failure = e;
        }
    }

    /** Descends to the end of the stack, and then tries a transaction in each frame on the way back. */
    private void tryWhereTheStackEnds() {
        try {
            tryWhereTheStackEnds();
        } catch (StackOverflowError e) {
            tried = 0;
        }
        if (tried++ < FRAMES) {
            change();
        }
    }

    private void change() {
        Transaction.run(() -> {
            ann.add(1);
            Account carl = Factory.newInstanceNear(Account.class, ann, 3, "somebody with a long name");
            Factory.newLongArrayNear(1000, carl);
            Factory.destroyInstance(carl);
        });
    }
}
