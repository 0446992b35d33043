package dev.norn.bobc;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** Named numbers, and how they are sent to another JVM or kept in a file: one line, {@code bobc;name=number;…}. */
final class Figures {
    private static final String MARK = "bobc;";

    private final Map<String, Double> numbers = new LinkedHashMap<>();

    Figures with(String name, double number) {
        numbers.put(name, number);
        return this;
    }

    /** @throws IllegalStateException if there is none of that name */
    double get(String name) {
        Double number = numbers.get(name);
        if (number == null) {
            throw new IllegalStateException("the figures have no " + name + ": " + encode());
        }
        return number;
    }

    double getOrElse(String name, double other) {
        return numbers.getOrDefault(name, other);
    }

    /** The names, in the order in which they were given. */
    List<String> names() {
        return List.copyOf(numbers.keySet());
    }

    long whole(String name) {
        return (long) get(name);
    }

    String encode() {
        StringJoiner line = new StringJoiner(";", MARK, "");
        numbers.forEach((name, number) -> line.add(name + "=" + number));
        return line.toString();
    }

    static boolean isEncoded(String line) {
        return line.startsWith(MARK);
    }

    /** @throws IllegalStateException if the line is damaged */
    static Figures decode(String line) {
        Figures figures = new Figures();
        try {
            for (String word : line.substring(MARK.length()).split(";")) {
                int at = word.indexOf('=');
                figures.with(word.substring(0, at), Double.parseDouble(word.substring(at + 1)));
            }
            return figures;
        } catch (RuntimeException e) {
            throw new IllegalStateException("not a line of figures: " + line, e);
        }
    }
}
