package dev.norn.sas.example;

import dev.norn.sas.util.SasMap;

/** Objects of several lengths that have Object's hash code, and a table of the program's own over such codes. */
class Badge {
    int number;

    Badge(int number) {
        this.number = number;
    }

    static class Full extends Badge {
        int second;
        long third;

        Full(int number) {
            super(number);
        }
    }

    /** Leaves no room after its fields. */
    static class Long extends Full {
        Object fourth = "a text";

        Long(int number) {
            super(number);
        }
    }

    static Badge of(int number) {
        return switch (number % 3) {
            case 0 -> new Badge(number);
            case 1 -> new Full(number);
            default -> new Long(number);
        };
    }

    /** A hash table with open addressing. */
    static class Table {
        final Badge[] places = new Badge[512];

        boolean add(Badge badge) {
            int at = place(badge);
            boolean isNew = places[at] == null;
            places[at] = badge;
            return isNew;
        }

        boolean has(Badge badge) {
            return places[place(badge)] != null;
        }

        private int place(Badge badge) {
            int at = System.identityHashCode(badge) & places.length - 1;
            while (places[at] != null && places[at] != badge) {
                at = at + 1 & places.length - 1;
            }
            return at;
        }
    }

    static class Desk {
        final Table table = new Table();
        final SasMap<Badge, Integer> numbers = new SasMap<>();
        final int[] codes = new int[100];
        final Badge[] badges = new Badge[100];

        /** Asserts that each badge has its code, and its places; counts the badges. */
        int verify() {
            int count = 0;
            for (int i = 0; i < badges.length; i++) {
                Badge badge = badges[i];
                if (badge == null) {
                    continue;
                }
                count++;
                boolean isWhole = badge.number == i && badge.hashCode() == codes[i]
                        && System.identityHashCode(badge) == codes[i] && table.has(badge)
                        && java.util.Objects.equals(numbers.get(badge), i);
                if (!isWhole) {
                    throw new AssertionError("badge " + i + " has number " + badge.number + " and hash code "
                            + badge.hashCode() + ", which was " + codes[i] + ", place " + numbers.get(badge)
                            + ", and is " + (table.has(badge) ? "" : "not ") + "in the table");
                }
            }
            return count;
        }
    }
}
