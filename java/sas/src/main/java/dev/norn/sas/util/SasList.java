package dev.norn.sas.util;

import dev.norn.sas.Factory;
import dev.norn.sas.Transactions;
import dev.norn.sas.runtime.ChangeCounts;
import java.util.AbstractList;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.ListIterator;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.Spliterator;
import java.util.Spliterators;

/**
 * A list for persistent objects: a tree of nodes of sixteen by index, so that a transaction locks the few nodes on its
 * way only. Create it with {@link Factory}; without, it is a temporary list like any other.
 *
 * <p>Reading, replacing, and adding at the end cost a node of each level, log<sub>16</sub> of the size; adding and
 * removing elsewhere move the elements that follow. Iterators fail fast: they throw {@link
 * ConcurrentModificationException} after a change that was not theirs.
 */
public final class SasList<E> extends AbstractList<E> implements RandomAccess {
    private static final int BITS = Slots.BITS;
    private static final int WIDTH = Slots.WIDTH;

    private int size;
    private int levels;
    private Slots root;

    public SasList() {}

    /** A list of the elements that another collection has now. */
    public SasList(Collection<? extends E> elements) {
        addAll(elements);
    }

    /** The lowest node for the index, which is in the tree. */
    private Slots leaf(int index) {
        Slots node = root;
        for (int level = levels - 1; level > 0; level--) {
            node = (Slots) node.get(index >>> level * BITS & WIDTH - 1);
        }
        return node;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public E get(int index) {
        return Transactions.within(this, () -> read(index));
    }

    @SuppressWarnings("unchecked")
    private E read(int index) {
        Objects.checkIndex(index, size);
        return (E) leaf(index).get(index & WIDTH - 1);
    }

    @Override
    public E set(int index, E element) {
        return Transactions.within(this, () -> {
            E old = read(index);
            leaf(index).set(index & WIDTH - 1, element);
            return old;
        });
    }

    @Override
    public void add(int index, E element) {
        if (index == size()) {
            Transactions.within(this, () -> append(element));
        } else {
            Transactions.nested(this, () -> insert(index, element));
        }
        changed();
    }

    /** Whole by itself: an element that is refused is so before it counts. */
    private Void append(E element) {
        makeRoom();
        leaf(size).set(size & WIDTH - 1, element);
        size++;
        return null;
    }

    private Void insert(int index, E element) {
        Objects.checkIndex(index, size + 1);
        append(element);
        for (int at = size - 1; at > index; at--) {
            leaf(at).set(at & WIDTH - 1, read(at - 1));
        }
        leaf(index).set(index & WIDTH - 1, element);
        return null;
    }

    /** Makes sure that there is a leaf for one more. */
    private void makeRoom() {
        if (root == null) {
            root = Slots.near(this);
            levels = 1;
        } else if (size == 1L << levels * BITS) {
            Slots above = Slots.near(this);
            above.set(0, root);
            root = above;
            levels++;
        }
        Slots node = root;
        for (int level = levels - 1; level > 0; level--) {
            int slot = size >>> level * BITS & WIDTH - 1;
            if (node.get(slot) == null) {
                node.set(slot, Slots.near(this));
            }
            node = (Slots) node.get(slot);
        }
    }

    @Override
    public E remove(int index) {
        E removed = Transactions.nested(this, () -> {
            E old = read(index);
            for (int at = index; at < size - 1; at++) {
                leaf(at).set(at & WIDTH - 1, read(at + 1));
            }
            leaf(size - 1).set(size - 1 & WIDTH - 1, null);
            size--;
            return old;
        });
        changed();
        return removed;
    }

    @Override
    protected void removeRange(int from, int to) {
        Transactions.nested(this, () -> {
            int gone = to - from;
            for (int at = from; at < size; at++) {
                leaf(at).set(at & WIDTH - 1, at + gone < size ? read(at + gone) : null);
            }
            size -= gone;
            return null;
        });
        changed();
    }

    /** Says that an element came or went: to {@link AbstractList}, and to iterators of all handles. */
    private void changed() {
        modCount++;
        Transactions.changed(this);
    }

    @Override
    public Iterator<E> iterator() {
        return listIterator(0);
    }

    @Override
    public ListIterator<E> listIterator(int index) {
        return new Walk<>(Transactions.running(this), index);
    }

    private ListIterator<E> plainIterator(int index) {
        return super.listIterator(index);
    }

    /** By the iterator, which fails fast. That of {@link AbstractList} compares the handle's number of changes. */
    @Override
    public Spliterator<E> spliterator() {
        return Spliterators.spliterator(this, Spliterator.ORDERED);
    }

    /**
     * Goes from element to element. It compares the number of changes that its thread has made, and the list's size:
     * the number in the handle, which {@link AbstractList} compares, lacks those that other handles made.
     */
    private static final class Walk<E> implements ListIterator<E> {
        private final SasList<E> list;
        private final ListIterator<E> plain;
        private final ChangeCounts.Count changes;
        private long expectedChanges;
        private int size;

        Walk(SasList<E> list, int index) {
            this.list = list;
            plain = list.plainIterator(index);
            changes = Transactions.changes(list);
            expect();
        }

        private void expect() {
            expectedChanges = changes.changes();
            size = list.size();
        }

        private void check() {
            if (changes.changes() != expectedChanges || list.size() != size) {
                throw new ConcurrentModificationException("the list has changed since the iteration began");
            }
        }

        @Override
        public boolean hasNext() {
            return plain.hasNext();
        }

        @Override
        public E next() {
            check();
            return plain.next();
        }

        @Override
        public boolean hasPrevious() {
            return plain.hasPrevious();
        }

        @Override
        public E previous() {
            check();
            return plain.previous();
        }

        @Override
        public int nextIndex() {
            return plain.nextIndex();
        }

        @Override
        public int previousIndex() {
            return plain.previousIndex();
        }

        @Override
        public void remove() {
            check();
            plain.remove();
            expect();
        }

        @Override
        public void set(E element) {
            check();
            plain.set(element);
        }

        @Override
        public void add(E element) {
            check();
            plain.add(element);
            expect();
        }
    }
}
