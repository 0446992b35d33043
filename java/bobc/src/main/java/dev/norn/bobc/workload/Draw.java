package dev.norn.bobc.workload;

import java.util.SplittableRandom;

/** Random values as TPC-C asks for (clauses 2.1.6 and 4.3.2), from one seed. */
public final class Draw {
    private static final String[] SYLLABLES = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI",
            "CALLY", "ATION", "EING"};
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    /**
     * The constants C of NURand, for loading and for running; of last names they have to differ by 65 to 119 (clause
     * 2.1.6.1).
     */
    private static final int LOAD_C = 157;
    private static final int RUN_C = 223;

    /** What texts are made of. */
    public enum Letters {
        LATIN(0), GREEK(0x350);

        private final int shift;

        Letters(int shift) {
            this.shift = shift;
        }
    }

    private static Letters letters = Letters.LATIN;

    private final SplittableRandom random;
    private final Scale scale;

    public Draw(long seed, Scale scale) {
        random = new SplittableRandom(seed);
        this.scale = scale;
    }

    /** From now on, all of this JVM's texts are made of these: for what a store takes for them. */
    public static void use(Letters its) {
        letters = its;
    }

    private static String inLetters(String latin) {
        return letters == Letters.LATIN ? latin : latin.chars().collect(StringBuilder::new,
                (text, c) -> text.append((char) (c + letters.shift)), StringBuilder::append).toString();
    }

    /** Uniform, both ends included. */
    public int number(int low, int high) {
        return random.nextInt(low, high + 1);
    }

    public long amount(long low, long high) {
        return random.nextLong(low, high + 1);
    }

    /** Exponential with this mean, cut at ten times the mean (clause 5.2.5.4). */
    public double think(double mean) {
        return Math.min(-Math.log(1 - random.nextDouble()) * mean, 10 * mean);
    }

    public boolean oneIn(int count) {
        return random.nextInt(count) == 0;
    }

    public boolean percent(int of) {
        return random.nextInt(100) < of;
    }

    /** Non-uniform (clause 2.1.6). */
    private int nonUniform(int a, int c, int low, int high) {
        return ((number(0, a) | number(low, high)) + c) % (high - low + 1) + low;
    }

    public int item() {
        return nonUniform(scale.spread(8191), RUN_C, 1, scale.items());
    }

    public int customer() {
        return nonUniform(scale.spread(1023), RUN_C, 1, scale.customers());
    }

    public String lastNameToAskFor() {
        return lastName(nonUniform(scale.lastNames() == 1000 ? 255 : scale.spread(1023) >> 2, RUN_C, 0,
                scale.lastNames() - 1));
    }

    /** The last name of a customer at loading: all of them once, then at random (clause 4.3.3.1). */
    public String lastNameOf(int customer) {
        return lastName(customer <= scale.lastNames() ? customer - 1 : nonUniform(255, LOAD_C, 0, 999));
    }

    public static String lastName(int number) {
        return inLetters(SYLLABLES[number / 100] + SYLLABLES[number / 10 % 10] + SYLLABLES[number % 10]);
    }

    public String text(int low, int high) {
        return text(low, high, LETTERS.length());
    }

    private String text(int low, int high, int letters) {
        char[] chars = new char[number(low, high)];
        for (int i = 0; i < chars.length; i++) {
            chars[i] = LETTERS.charAt(random.nextInt(letters));
        }
        return inLetters(new String(chars));
    }

    public String digits(int length) {
        char[] chars = new char[length];
        for (int i = 0; i < length; i++) {
            chars[i] = (char) ('0' + random.nextInt(10));
        }
        return inLetters(new String(chars));
    }

    /** What items and stocks say of themselves: one in ten says ORIGINAL somewhere. */
    public String data() {
        String text = text(26, 50);
        if (!oneIn(10)) {
            return text;
        }
        int at = number(0, text.length() - 8);
        return text.substring(0, at) + "ORIGINAL" + text.substring(at + 8);
    }

    /** 1 to count, shuffled. */
    public int[] permutation(int count) {
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            int other = random.nextInt(i + 1);
            numbers[i] = numbers[other];
            numbers[other] = i + 1;
        }
        return numbers;
    }
}
