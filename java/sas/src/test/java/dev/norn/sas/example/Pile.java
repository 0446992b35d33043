package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.util.SasLongArray;
import java.util.Arrays;
import java.util.Random;

/** Objects of all forms, which random steps change, and a description of all that they have. */
public class Pile {
    /** As many references take more than a page. */
    static final int CRATES = 600;
    private static final int NUMBERS = 2000;

    private final Crate[] crates = new Crate[CRATES];
    private final SasLongArray sums;
    private int steps;

    Pile() {
        sums = new SasLongArray(NUMBERS);
    }

    /** Some values, a Java array, and an array in place. */
    static class Crate {
        private String text;
        private long weight;
        private int[] marks;
        private SasLongArray numbers;
        private Crate below;

        Crate(String text, int marks) {
            this.text = text;
            this.marks = new int[marks];
        }

        String describe() {
            return text + " " + weight + " " + Arrays.hashCode(marks) + " "
                    + (numbers == null ? "-" : Arrays.hashCode(numbers.toArray()) + "/" + numbers.get(3)) + " "
                    + (below == null ? "-" : below.text);
        }
    }

    private static String text(Random random) {
        return "crate " + "abcdefgh".repeat(random.nextInt(random.nextInt(8) == 0 ? 2000 : 6)) + random.nextInt();
    }

    /** Changes something. In a transaction. */
    void step(Random random) {
        steps++;
        int at = random.nextInt(40);
        Crate crate = crates[at];
        if (crate == null) {
            Crate made = new Crate(text(random), random.nextInt(8) == 0 ? 3000 : 5);
            if (random.nextInt(3) == 0) {
                made.numbers = new SasLongArray(random.nextInt(2) == 0 ? 10 : NUMBERS);
            }
            crates[at] = made;
            return;
        }
        switch (random.nextInt(9)) {
            case 0 -> crate.text = text(random);
            case 1, 2 -> crate.weight += random.nextInt(100);
            case 3 -> crate.marks[random.nextInt(crate.marks.length)]++;
            case 4 -> {
                if (crate.numbers != null) {
                    crate.numbers.set(random.nextInt(crate.numbers.length()), random.nextLong());
                }
            }
            case 5 -> sums.fill(random.nextInt(500), 500 + random.nextInt(1000), random.nextInt());
            case 6 -> crate.below = crates[random.nextInt(40)];
            case 7 -> crates[at] = null;
            default -> {
                // What was made in this transaction becomes persistent at its end.
                if (Factory.isPersistent(crate)) {
                    destroy(at, crate);
                }
            }
        }
    }

    private void destroy(int at, Crate crate) {
        for (Crate other : crates) {
            if (other != null && other.below == crate) {
                other.below = null;
            }
        }
        crates[at] = null;
        Factory.destroyInstance(crate.marks);
        if (crate.numbers != null) {
            Factory.destroyInstance(crate.numbers);
        }
        Factory.destroyInstance(crate);
    }

    /** All of it, in a line for each crate. */
    String describe() {
        StringBuilder all = new StringBuilder("after " + steps + " steps, " + Arrays.hashCode(sums.toArray()) + "\n");
        for (int i = 0; i < CRATES; i++) {
            if (crates[i] != null) {
                all.append(i).append(' ').append(crates[i].describe()).append('\n');
            }
        }
        return all.toString();
    }

    int steps() {
        return steps;
    }

    /** The weight of one, whatever the others have. */
    String describe(int at) {
        return crates[at] == null ? "none" : crates[at].describe();
    }
}
