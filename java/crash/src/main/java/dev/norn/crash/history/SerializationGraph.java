package dev.norn.crash.history;

import dev.norn.crash.history.Attempt.Fate;
import dev.norn.crash.history.Attempt.Kind;
import dev.norn.crash.history.Attempt.Use;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The direct serialization graph of a history (Adya 1999), with real time: nodes are transactions and moments. An edge
 * says what came before what: a writer before the next writer (ww), a writer before a reader of what it wrote (wr), a
 * reader before the next writer (rw), a transaction before a moment after its end, and a moment before a transaction
 * that began later. Moments are a chain, so real time takes as many edges as there are transactions. A cycle is an
 * anomaly.
 */
final class SerializationGraph {
    private record Node(String name, List<Edge> edges) {}

    private record Edge(Node to, String why) {}

    private final List<Node> nodes = new ArrayList<>();
    private final Map<Long, Node> byId = new HashMap<>();
    private final List<long[]> lists;

    /** @param places of each register, the places of the numbers in its list */
    SerializationGraph(Collection<Attempt> attempts, List<long[]> lists, List<Map<Long, Integer>> places,
            List<Snapshot> snapshots) {
        this.lists = lists;
        List<Interval> intervals = new ArrayList<>();
        for (Attempt its : attempts) {
            boolean isThere = its.fate() == Fate.COMMITTED || java.util.Arrays.stream(its.appends())
                    .anyMatch(register -> places.get(register).containsKey(its.id()));
            if (isThere) {
                byId.put(its.id(), node("transaction " + its.id()));
                intervals.add(new Interval(its.begun(), its.ended(), byId.get(its.id())));
            }
        }
        for (int register = 0; register < lists.size(); register++) {
            long[] ids = lists.get(register);
            for (int i = 1; i < ids.length; i++) {
                edge(byId.get(ids[i - 1]), byId.get(ids[i]), "ww", register);
            }
        }
        for (Attempt its : attempts) {
            its.uses().forEach(use -> addUse(its, use, places.get(use.register())));
        }
        for (Snapshot snapshot : snapshots) {
            Node node = node(snapshot.name());
            intervals.add(new Interval(snapshot.before(), snapshot.after(), node));
            for (int register = 0; register < lists.size(); register++) {
                addRead(node, register, snapshot.ids().get(register).length);
            }
        }
        addTime(intervals);
    }

    private record Interval(long begin, long end, Node node) {}

    private Node node(String name) {
        Node node = new Node(name, new ArrayList<>());
        nodes.add(node);
        return node;
    }

    private static void edge(Node from, Node to, String why, int register) {
        if (from != to) {
            from.edges.add(new Edge(to, why + " of register " + register));
        }
    }

    private void addUse(Attempt its, Use use, Map<Long, Integer> places) {
        // The appends' edges are those of the list.
        if (use.kind() == Kind.READ) {
            addRead(byId.get(its.id()), use.register(), use.length());
        } else if (use.kind() == Kind.READ_OF_LAST) {
            addRead(byId.get(its.id()), use.register(), use.last() == 0 ? 0 : places.get(use.last()) + 1);
        }
    }

    /** A read that saw {@code length} numbers. */
    private void addRead(Node reader, int register, int length) {
        long[] ids = lists.get(register);
        if (length > 0) {
            edge(byId.get(ids[length - 1]), reader, "wr", register);
        }
        if (length < ids.length) {
            edge(reader, byId.get(ids[length]), "rw", register);
        }
    }

    private void addTime(List<Interval> intervals) {
        List<Interval> ended = intervals.stream()
                .filter(its -> its.end != Attempt.UNKNOWN).sorted(Comparator.comparingLong(Interval::end)).toList();
        List<Interval> begun = intervals.stream().sorted(Comparator.comparingLong(Interval::begin)).toList();
        Node moment = null;
        int next = 0;
        for (Interval its : begun) {
            for (; next < ended.size() && ended.get(next).end < its.begin; next++) {
                Node later = node("moment " + ended.get(next).end);
                if (moment != null) {
                    moment.edges.add(new Edge(later, "time"));
                }
                ended.get(next).node.edges.add(new Edge(later, "time"));
                moment = later;
            }
            if (moment != null) {
                moment.edges.add(new Edge(its.node, "time"));
            }
        }
    }

    /**
     * A cycle, for reading; null if there is none. Kahn's algorithm leaves the nodes that are on cycles or after them.
     */
    String cycle() {
        Map<Node, Integer> before = new java.util.IdentityHashMap<>();
        nodes.forEach(node -> node.edges.forEach(edge -> before.merge(edge.to, 1, Integer::sum)));
        ArrayDeque<Node> free = new ArrayDeque<>(nodes.stream().filter(node -> !before.containsKey(node)).toList());
        while (!free.isEmpty()) {
            for (Edge edge : free.poll().edges) {
                if (before.merge(edge.to, -1, Integer::sum) == 0) {
                    before.remove(edge.to);
                    free.add(edge.to);
                }
            }
        }
        return before.isEmpty() ? null : describe(before);
    }

    /** Goes backwards from any node that is left, over nodes that are left, until one comes again. */
    private static String describe(Map<Node, Integer> left) {
        Map<Node, Node> from = new java.util.IdentityHashMap<>();
        Map<Node, String> why = new java.util.IdentityHashMap<>();
        left.keySet().forEach(node -> node.edges.stream().filter(edge -> left.containsKey(edge.to)).forEach(edge -> {
            from.put(edge.to, node);
            why.put(edge.to, edge.why);
        }));
        Node at = left.keySet().iterator().next();
        for (int i = 0; i < left.size(); i++) {
            at = from.get(at);
        }
        ArrayDeque<String> cycle = new ArrayDeque<>(List.of(at.name));
        Node node = at;
        do {
            cycle.addFirst(from.get(node).name + " -(" + why.get(node) + ")-> ");
            node = from.get(node);
        } while (node != at && cycle.size() < 40);
        return String.join("", cycle);
    }
}
