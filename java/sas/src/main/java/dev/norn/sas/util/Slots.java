package dev.norn.sas.util;

import dev.norn.sas.Factory;

/**
 * Sixteen references by number: the node of {@link SasList} and {@link SasMap}. Fields instead of an array, because a
 * transaction copies an array whole to read one element, and compares it whole at its end.
 */
final class Slots {
    static final int BITS = 4;
    static final int WIDTH = 1 << BITS;

    private Object slot0;
    private Object slot1;
    private Object slot2;
    private Object slot3;
    private Object slot4;
    private Object slot5;
    private Object slot6;
    private Object slot7;
    private Object slot8;
    private Object slot9;
    private Object slot10;
    private Object slot11;
    private Object slot12;
    private Object slot13;
    private Object slot14;
    private Object slot15;

    Slots() {}

    /** Persistent beside its owner if that is. */
    static Slots near(Object owner) {
        return Factory.isPersistent(owner) ? Factory.newInstanceNear(Slots.class, owner) : new Slots();
    }

    /** @param number from 0, less than {@link #WIDTH} */
    Object get(int number) {
        return switch (number) {
            case 0 -> slot0;
            case 1 -> slot1;
            case 2 -> slot2;
            case 3 -> slot3;
            case 4 -> slot4;
            case 5 -> slot5;
            case 6 -> slot6;
            case 7 -> slot7;
            case 8 -> slot8;
            case 9 -> slot9;
            case 10 -> slot10;
            case 11 -> slot11;
            case 12 -> slot12;
            case 13 -> slot13;
            case 14 -> slot14;
            default -> slot15;
        };
    }

    /** @param number from 0, less than {@link #WIDTH} */
    void set(int number, Object value) {
        switch (number) {
            case 0 -> slot0 = value;
            case 1 -> slot1 = value;
            case 2 -> slot2 = value;
            case 3 -> slot3 = value;
            case 4 -> slot4 = value;
            case 5 -> slot5 = value;
            case 6 -> slot6 = value;
            case 7 -> slot7 = value;
            case 8 -> slot8 = value;
            case 9 -> slot9 = value;
            case 10 -> slot10 = value;
            case 11 -> slot11 = value;
            case 12 -> slot12 = value;
            case 13 -> slot13 = value;
            case 14 -> slot14 = value;
            default -> slot15 = value;
        }
    }
}
