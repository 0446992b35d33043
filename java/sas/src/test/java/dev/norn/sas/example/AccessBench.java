package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * What a field access costs: nanoseconds of the median of many rounds. {@code plain}: run without the agent;
 * {@code sas}: with it, temporary and persistent.
 */
final class AccessBench {
    private static int objects;
    private static int rounds;
    static volatile long sink;

    private AccessBench() {}

    /** An object of the usual kinds of fields. */
    static class Node {
        int count;
        long total;
        double price;
        Node next;

        Node(int count) {
            this.count = count;
        }

        long sum() {
            return count + total;
        }

        void update(int by) {
            count += by;
            total += count;
            price = total * 0.5;
        }
    }

    static class SubNode extends Node {
        int more;

        SubNode(int count) {
            super(count);
        }

        @Override
        long sum() {
            return count - more;
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int count : new int[] {1_000, 10_000}) {
            objects = count;
            rounds = 1_000_000 / count;
            measureAll(arguments);
        }
    }

    private static void measureAll(String[] arguments) throws Exception {
        if (arguments[0].equals("plain") || arguments[0].equals("both")) {
            measure(arguments[0].equals("plain") ? "plain" : "temporary", make(false));
        }
        if (arguments[0].equals("sas")) {
            Path at = Files.createTempDirectory(Path.of(arguments[1]), "bench");
            try (Store store = Store.create(at, Store.Options.defaults())) {
                store.close();
            }
            try (Store store = Store.open(at, SubObjects.ADOPT)) {
                Node[] nodes = Transaction.call(() -> make(true));
                Transaction.run(() -> measure("persistent", nodes));
            }
        }
    }

    private static Node[] make(boolean isPersistent) {
        Node[] nodes = new Node[objects];
        for (int i = 0; i < objects; i++) {
            Class<? extends Node> type = i % 2 == 0 ? Node.class : SubNode.class;
            nodes[i] = isPersistent ? Factory.newInstanceIn(type, Store.current().container("main"), i)
                    : i % 2 == 0 ? new Node(i) : new SubNode(i);
        }
        // Side by side for good: creating persistent objects makes garbage, which has the collector put them into
        // another order than plain ones.
        System.gc();
        // In no order, as objects are after a while.
        java.util.Collections.shuffle(Arrays.asList(nodes), new java.util.Random(1));
        for (int i = 0; i < objects; i++) {
            nodes[i].next = nodes[(i + 1) % objects];
        }
        return nodes;
    }

    private static void measure(String what, Node[] nodes) {
        for (int pass = 0; pass < 2; pass++) {
            report(pass, what, "read", () -> {
                long sum = 0;
                for (Node node : nodes) {
                    sum += node.count;
                }
                return sum;
            });
            report(pass, what, "write", () -> {
                for (Node node : nodes) {
                    node.total = node.total + 1;
                }
                return 0;
            });
            report(pass, what, "mixed", () -> {
                for (Node node : nodes) {
                    node.update(1);
                }
                return 0;
            });
            report(pass, what, "polymorphic", () -> {
                long sum = 0;
                for (Node node : nodes) {
                    sum += node.sum();
                }
                return sum;
            });
            report(pass, what, "hop", () -> {
                Node at = nodes[0];
                for (int i = 0; i < objects; i++) {
                    at = at.next;
                }
                return at.count;
            });
        }
    }

    private static void report(int pass, String what, String name, LongSupplier run) {
        double[] times = new double[rounds];
        for (int i = 0; i < 20 * rounds; i++) {
            sink += run.getAsLong();
        }
        for (int i = 0; i < rounds; i++) {
            long start = System.nanoTime();
            for (int repeat = 0; repeat < 10; repeat++) {
                sink += run.getAsLong();
            }
            times[i] = (System.nanoTime() - start) / 10.0 / objects;
        }
        Arrays.sort(times);
        if (pass == 1) {
            System.out.printf("%-11s %-12s %,8d %.3f ns%n", what, name, objects, times[rounds / 2]);
        }
    }
}
