package dev.norn.bobc.model;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;

/**
 * A list that only grows, in parts of a fixed length: for stores that write a collection as a whole, and so would write
 * all orders of a district with each new one.
 */
final class PartedList<E> extends AbstractList<E> {
    private static final int PART = 64;

    private final ArrayList<ArrayList<E>> parts = new ArrayList<>();
    private int size;

    @Override
    public E get(int index) {
        return parts.get(index / PART).get(index % PART);
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public boolean add(E element) {
        if (size % PART == 0) {
            parts.add(new ArrayList<>(PART));
        }
        parts.getLast().add(element);
        size++;
        return true;
    }

    /** The objects of its own that the next {@link #add} is going to change. */
    List<Object> changedByAdding() {
        return List.of(this, size % PART == 0 ? parts : parts.getLast());
    }
}
