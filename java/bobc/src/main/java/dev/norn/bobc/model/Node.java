package dev.norn.bobc.model;

/**
 * What {@code bobc load} makes many of: a number, and three references to objects of its kind that were made before;
 * null where there was none.
 */
public final class Node {
    private final int number;
    private final Node first;
    private final Node second;
    private final Node third;

    public Node(int number, Node first, Node second, Node third) {
        this.number = number;
        this.first = first;
        this.second = second;
        this.third = third;
    }

    public int number() {
        return number;
    }

    /** The sum of the numbers that it refers to. */
    public long targets() {
        return numberOf(first) + numberOf(second) + numberOf(third);
    }

    private static long numberOf(Node node) {
        return node == null ? 0 : node.number;
    }
}
