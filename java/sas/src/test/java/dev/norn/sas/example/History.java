package dev.norn.sas.example;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A checker of strict serializability. Every write of a register reads it first, so the history of a register is one
 * chain of writers, and the order of transactions follows: writers in the order of the chain, a reader after the writer
 * whose value it saw and before the next one, and a transaction that ended before another began before that one. That
 * order has to have no circle. Transactions that were cut off by a kill may be in a chain or not; those that were said
 * to be committed have to be.
 */
final class History {
    private record Use(int register, long saw, boolean isWrite) {}

    private record Done(long id, long invoked, long ended, List<Use> uses) {}

    private final Map<Long, Long> invoked = new HashMap<>();
    private final Map<Long, Done> done = new HashMap<>();
    /** Of each register, the writer that follows each writer. */
    private final List<Map<Long, Long>> next = new ArrayList<>();
    private final List<String> findings = new ArrayList<>();

    History(int registers) {
        for (int i = 0; i < registers; i++) {
            next.add(new HashMap<>());
        }
    }

    /** Takes a line of {@link HistoryProgram}. The last line of a killed JVM may be cut off, within a number too. */
    void add(String line) {
        if (!line.endsWith(HistoryProgram.END)) {
            return;
        }
        String[] words = line.substring(0, line.length() - HistoryProgram.END.length()).split(" ");
        if (words[0].equals("invoke") && words.length == 3) {
            invoked.put(Long.parseLong(words[1]), Long.parseLong(words[2]));
        } else if (words[0].equals("done") && words.length > 3) {
            long id = Long.parseLong(words[1]);
            List<Use> uses = new ArrayList<>();
            for (int i = 4; i < words.length; i++) {
                String[] parts = words[i].split(":");
                int register = Integer.parseInt(parts[0]);
                long[] writers = Arrays.stream(parts[1].split(",")).mapToLong(Long::parseLong).toArray();
                boolean isWrite = parts[2].equals("w");
                uses.add(new Use(register, writers[0], isWrite));
                addChain(register, writers);
                if (isWrite) {
                    link(register, writers[0], id);
                }
            }
            done.put(id, new Done(id, Long.parseLong(words[2]), Long.parseLong(words[3]), uses));
        }
    }

    /** What a register said at some moment: its last writers, the newest first. */
    void addChain(int register, long[] writers) {
        for (int i = 0; i + 1 < writers.length && writers[i] != 0; i++) {
            link(register, writers[i + 1], writers[i]);
        }
    }

    private void link(int register, long before, long writer) {
        Long other = next.get(register).putIfAbsent(before, writer);
        if (other != null && other != writer) {
            findings.add("register " + register + ": both " + other + " and " + writer + " wrote behind " + before);
        }
    }

    int transactions() {
        return done.size();
    }

    /** What is wrong; empty if nothing is. */
    List<String> check() {
        for (int register = 0; register < next.size(); register++) {
            checkChain(register);
        }
        if (findings.isEmpty()) {
            checkOrder();
        }
        return findings;
    }

    private void checkChain(int register) {
        Map<Long, Long> places = new HashMap<>();
        for (Long at = 0L; at != null; at = next.get(register).get(at)) {
            if (places.put(at, (long) places.size()) != null) {
                findings.add("register " + register + ": " + at + " wrote twice");
                return;
            }
            if (at != 0 && !invoked.containsKey(at)) {
                findings.add("register " + register + ": nobody began " + at);
            }
        }
        for (Done one : done.values()) {
            for (Use use : one.uses) {
                if (use.register == register && !places.containsKey(use.isWrite ? one.id : use.saw)) {
                    findings.add("register " + register + ": " + one.id + (use.isWrite ? " is committed and lost"
                            : " saw " + use.saw + ", which was never committed"));
                }
            }
        }
    }

    /** Kahn's algorithm over transactions and moments. */
    private void checkOrder() {
        Map<String, List<String>> behind = new HashMap<>();
        Map<String, Integer> waitsFor = new HashMap<>();
        TreeMap<Long, List<Done>> ends = new TreeMap<>();
        done.values().forEach(one -> ends.computeIfAbsent(one.ended, key -> new ArrayList<>()).add(one));
        String last = null;
        for (var moment : ends.entrySet()) {
            String name = "moment " + moment.getKey();
            moment.getValue().forEach(one -> edge(behind, waitsFor, "" + one.id, name));
            if (last != null) {
                edge(behind, waitsFor, last, name);
            }
            last = name;
        }
        for (Map.Entry<Long, Long> begun : invoked.entrySet()) {
            Long before = ends.lowerKey(begun.getValue());
            if (before != null) {
                edge(behind, waitsFor, "moment " + before, "" + begun.getKey());
            }
        }
        next.forEach(chain -> chain.forEach((before, writer) -> edge(behind, waitsFor, "" + before, "" + writer)));
        for (Done one : done.values()) {
            for (Use use : one.uses) {
                Long overwriter = next.get(use.register).get(use.saw);
                if (!use.isWrite) {
                    edge(behind, waitsFor, "" + use.saw, "" + one.id);
                }
                if (overwriter != null && overwriter != one.id) {
                    edge(behind, waitsFor, "" + one.id, "" + overwriter);
                }
            }
        }
        ArrayDeque<String> free =
                new ArrayDeque<>(behind.keySet().stream().filter(node -> !waitsFor.containsKey(node)).toList());
        while (!free.isEmpty()) {
            for (String node : behind.getOrDefault(free.poll(), List.of())) {
                if (waitsFor.merge(node, -1, Integer::sum) == 0) {
                    waitsFor.remove(node);
                    free.add(node);
                }
            }
        }
        if (!waitsFor.isEmpty()) {
            findings.add("no order of the transactions explains what they saw: " + circle(behind, waitsFor.keySet())
                    + ", and round again");
        }
    }

    /** A circle among the nodes that are left: each of them is after another one. */
    private String circle(Map<String, List<String>> behind, Set<String> left) {
        Map<String, String> before = new HashMap<>();
        left.forEach(node -> behind.getOrDefault(node, List.of()).forEach(next -> before.put(next, node)));
        String at = left.iterator().next();
        for (int i = 0; i < left.size(); i++) {
            at = before.get(at);
        }
        ArrayDeque<String> circle = new ArrayDeque<>();
        for (String node = at; circle.isEmpty() || !node.equals(at); node = before.get(node)) {
            circle.addFirst(node.startsWith("moment") ? node : node + " " + uses(Long.parseLong(node)));
        }
        return String.join(" before ", circle.stream().limit(40).toList());
    }

    private String uses(long id) {
        Done its = done.get(id);
        return its == null ? "(cut off)" : "(from " + its.invoked + " to " + its.ended + ", " + its.uses + ")";
    }

    private static void edge(Map<String, List<String>> behind, Map<String, Integer> waitsFor, String from, String to) {
        behind.computeIfAbsent(from, key -> new ArrayList<>()).add(to);
        waitsFor.merge(to, 1, Integer::sum);
    }
}
