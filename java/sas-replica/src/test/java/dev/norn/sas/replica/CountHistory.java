package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What clients of members have said of their counts and reads. Every count that was acknowledged has to be there, once;
 * and the history has to be linearizable.
 *
 * <p>Each count adds one to a total, and returns it. So there is one order only in which counts can have taken effect,
 * that of their totals, and a read of total n comes after count n and before the next. The history is linearizable if
 * no operation in this order had ended before one that precedes it began. All members are processes of one machine,
 * whose {@code System.nanoTime} is the same clock.
 */
final class CountHistory {
    /** @param total that it has seen, the count itself included */
    record Operation(long total, String kind, long start, long end, String line) {}

    private final AtomicLong reads = new AtomicLong();
    /** The highest count of each client that was acknowledged. */
    final Map<String, Long> acknowledged = new ConcurrentHashMap<>();
    private final Set<Long> totals = ConcurrentHashMap.newKeySet();
    private final List<Operation> operations = Collections.synchronizedList(new ArrayList<>());
    private final List<String> wrong = new CopyOnWriteArrayList<>();
    /** Client, count, epoch, number. */
    final List<String[]> unknown = new CopyOnWriteArrayList<>();
    /** Who has acknowledged a count last. */
    final AtomicReference<String> leader = new AtomicReference<>("");

    /** Takes a line of a member, if it is about a count. */
    boolean take(String member, String line) {
        String[] words = line.split(" ");
        switch (words[0]) {
            case "ack" -> {
                acknowledge(member, words, line);
                add(words[3], "count", words[4], words[5], member + ": " + line);
            }
            case "read" -> {
                add(words[1], "read", words[2], words[3], member + ": " + line);
                reads.incrementAndGet();
            }
            case "unknown" -> unknown.add(new String[] {words[1], words[2], words[3], words[4]});
            default -> {
                return false;
            }
        }
        return true;
    }

    private void add(String total, String kind, String start, String end, String line) {
        operations.add(new Operation(Long.parseLong(total), kind, Long.parseLong(start), Long.parseLong(end), line));
    }

    private void acknowledge(String member, String[] words, String line) {
        Long before = acknowledged.put(words[1], Long.parseLong(words[2]));
        if (Long.parseLong(words[2]) != (before == null ? 0 : before) + 1) {
            wrong.add(line + " after " + before);
        }
        if (!totals.add(Long.parseLong(words[3]))) {
            wrong.add(line + ": this total was acknowledged before");
        }
        leader.set(member);
    }

    /** How long ago a count was acknowledged last. */
    String last() {
        synchronized (operations) {
            long end = operations.stream().filter(one -> one.kind.equals("count")).mapToLong(Operation::end).max()
                    .orElse(Long.MIN_VALUE);
            return end == Long.MIN_VALUE ? "no count was acknowledged" : leader.get() + " has acknowledged a count "
                    + (System.nanoTime() - end) / 1_000_000 + " ms ago";
        }
    }

    long reads() {
        return reads.get();
    }

    long acknowledgements() {
        return acknowledged.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Two operations that cannot be put in an order; null if all can. */
    static String findViolation(List<Operation> all) {
        all.sort(Comparator.comparingLong(Operation::total).thenComparing(Operation::kind)
                .thenComparing(Operation::start));
        Operation latest = null;
        for (Operation one : all) {
            if (latest != null && one.end < latest.start) {
                return one.line + "\nhad ended before this began, which takes effect earlier:\n" + latest.line;
            }
            latest = latest == null || one.start > latest.start ? one : latest;
        }
        return null;
    }

    /** Holds the state that all members have in the end against what was said. Returns the counts of each client. */
    Map<String, Long> check(String state) {
        assertEquals(List.of(), wrong);
        assertEquals(null, findViolation(new ArrayList<>(operations)));
        Map<String, Long> counts = new LinkedHashMap<>();
        for (String entry : state.substring(state.indexOf('{') + 1, state.length() - 1).split(", ")) {
            counts.put(entry.split("=")[0], Long.parseLong(entry.split("=")[1]));
        }
        long sum = counts.values().stream().mapToLong(Long::longValue).sum();
        assertEquals(sum, Long.parseLong(state.split(" ")[0]), "the total");
        Set<String> clients = new HashSet<>(counts.keySet());
        clients.addAll(acknowledged.keySet());
        for (String client : clients) {
            long acks = acknowledged.getOrDefault(client, 0L);
            long has = counts.getOrDefault(client, 0L);
            assertTrue(has == acks || has == acks + 1, client + " has " + has + ", and " + acks + " were acknowledged");
        }
        return counts;
    }
}
