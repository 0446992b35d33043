package dev.norn.sas.util;

import dev.norn.sas.util.SasSortedMap.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/**
 * A treap (Seidel and Aragon, 1996): a search tree in which no node has a higher rank than the one above it. Ranks are
 * random, so the tree is balanced whatever the keys and their hash codes are: looking up, inserting and removing visit
 * some 2 ln n nodes on average. This object is temporary, and belongs to one operation: the owner of the tree takes the
 * {@link #root} over afterwards.
 */
final class Treap<K, V> {
    private final Comparator<? super K> order;
    Node<K, V> root;

    Treap(Node<K, V> root, Comparator<? super K> order) {
        this.root = root;
        this.order = order;
    }

    Node<K, V> find(K key) {
        Node<K, V> at = root;
        while (at != null) {
            int side = order.compare(key, at.key);
            if (side == 0) {
                return at;
            }
            at = side < 0 ? at.left : at.right;
        }
        return null;
    }

    /** All nodes, in no order. */
    List<Node<K, V>> nodes() {
        List<Node<K, V>> found = new ArrayList<>();
        Deque<Node<K, V>> open = new ArrayDeque<>();
        for (Node<K, V> at = root; at != null; at = open.poll()) {
            found.add(at);
            if (at.left != null) {
                open.push(at.left);
            }
            if (at.right != null) {
                open.push(at.right);
            }
        }
        return found;
    }

    /** Goes down to the first node of a lower rank, and splits what is below it at the key. */
    void insert(Node<K, V> node) {
        Node<K, V> parent = null;
        Node<K, V> at = root;
        while (at != null && at.rank >= node.rank) {
            parent = at;
            at = order.compare(node.key, at.key) < 0 ? at.left : at.right;
        }
        if (parent == null) {
            root = node;
        } else if (order.compare(node.key, parent.key) < 0) {
            parent.left = node;
        } else {
            parent.right = node;
        }
        split(node, at);
    }

    private void split(Node<K, V> node, Node<K, V> from) {
        Node<K, V> lower = null;
        Node<K, V> higher = null;
        Node<K, V> at = from;
        while (at != null) {
            if (order.compare(at.key, node.key) < 0) {
                if (lower == null) {
                    node.left = at;
                } else {
                    lower.right = at;
                }
                lower = at;
                at = at.right;
            } else {
                if (higher == null) {
                    node.right = at;
                } else {
                    higher.left = at;
                }
                higher = at;
                at = at.left;
            }
        }
        if (lower != null) {
            lower.right = null;
        }
        if (higher != null) {
            higher.left = null;
        }
    }

    void remove(Node<K, V> node) {
        Node<K, V> parent = null;
        for (Node<K, V> at = root; at != node; at = order.compare(node.key, at.key) < 0 ? at.left : at.right) {
            parent = at;
        }
        Node<K, V> left = node.left;
        Node<K, V> right = node.right;
        Node<K, V> hole = node;
        // The higher of the two sides moves up, again and again.
        while (left != null && right != null) {
            if (left.rank >= right.rank) {
                replace(parent, hole, left);
                parent = left;
                hole = left.right;
                left = left.right;
                if (left == null) {
                    parent.right = right;
                    right = null;
                    hole = null;
                }
            } else {
                replace(parent, hole, right);
                parent = right;
                hole = right.left;
                right = right.left;
                if (right == null) {
                    parent.left = left;
                    left = null;
                    hole = null;
                }
            }
        }
        if (hole != null) {
            replace(parent, hole, left != null ? left : right);
        }
    }

    /** Puts a child in the place of another. */
    private void replace(Node<K, V> parent, Node<K, V> old, Node<K, V> fresh) {
        if (parent == null) {
            root = fresh;
        } else if (parent.left == old) {
            parent.left = fresh;
        } else {
            parent.right = fresh;
        }
    }
}
