package dev.norn.sas.example;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.UUID;

/** Fields of every kind. */
public class Shelf implements Cloneable {
    enum Color { RED, GREEN }

    record Point(int x, String name, Point next) {}

    boolean flag;
    byte tiny;
    short small;
    char letter;
    int number;
    long large;
    float single;
    double wide;
    String text;
    Integer boxed;
    Object any;
    BigDecimal price;
    Instant moment;
    LocalDate day;
    UUID id;
    Color color;
    Point point;
    int[] numbers;
    char[] letters;
    boolean[] flags;
    Shelf[] shelves;
    String[] names;
    /** Of a class whose instances cannot be persistent. */
    java.util.Random random;

    Shelf() {
        this("set by a constructor");
    }

    Shelf(String text) {
        this.text = text;
        large = Long.MIN_VALUE;
    }

    @Override
    public Shelf clone() {
        try {
            return (Shelf) super.clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    synchronized int increase() {
        synchronized (this) {
            return ++number;
        }
    }
}
