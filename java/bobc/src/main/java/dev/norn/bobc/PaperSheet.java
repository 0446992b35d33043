package dev.norn.bobc;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The paper's spreadsheet (section 3.1), computed again: what the company and a full warehouse take with each size of
 * references, from TPC-C's cardinalities and rows (clauses 1.2.1 and 1.3.1) and the layout of objects in JDK 1.0.2.
 *
 * <pre>
 * object   handle | numbers | references          a handle has 8 bytes, and 16 if references have 16
 * string   handle | reference, 8 | handle | 2 bytes a character of the field's greatest length
 * date     handle | 56
 * </pre>
 *
 * <p>A two-level store has each object's numbers and characters, a key of 32 bytes for it, and 48 bytes for a
 * reference; a date is an object there, too. MB are millions of bytes.
 */
final class PaperSheet {
    private static final int STRING_NUMBERS = 8;
    private static final int DATE_NUMBERS = 56;
    private static final int LONG = 8;
    private static final int KEY = 32;
    private static final int FAT_REFERENCE = 48;

    /**
     * @param rowBytes in a table; an address is a part of its owner's row
     * @param characters of all its texts, at their greatest lengths
     * @param dates of each; an order's line has one when it is delivered, which seven of ten are
     * @param references to other objects, its places in lists among them
     * @param numberBytes of its other fields
     */
    private record Entity(String name, long count, int rowBytes, int texts, int characters, double dates,
            int references, int numberBytes) {}

    private static final List<Entity> ENTITIES = List.of(
            new Entity("item", 100_000, 82, 2, 74, 0, 1, 12),
            new Entity("stock", 100_000, 306, 11, 290, 0, 2, 16),
            new Entity("customer", 30_000, 655, 6, 552, 1, 5, 40),
            new Entity("address", 30_011, 0, 5, 71, 0, 0, 0),
            new Entity("order", 30_000, 24, 0, 0, 1, 3, 16),
            new Entity("order line", 300_000, 54, 1, 24, 0.7, 3, 16),
            new Entity("new order", 9_000, 8, 0, 0, 0, 2, 0),
            new Entity("history", 30_000, 46, 1, 24, 1, 2, 8),
            new Entity("district", 10, 95, 1, 10, 0, 4, 20),
            new Entity("warehouse", 1, 89, 1, 10, 0, 2, 16));

    /** A row of the sheet, ours and the paper's, in MB. */
    record Row(String name, double computed, double published) {}

    private PaperSheet() {}

    private static double sum(ToDoubleFunction<Entity> each) {
        return ENTITIES.stream().mapToDouble(entity -> entity.count * each.applyAsDouble(entity)).sum();
    }

    private static double tables() {
        return sum(Entity::rowBytes);
    }

    private static double objects(int reference, int handle) {
        int text = reference + handle + reference + STRING_NUMBERS + handle;
        return sum(entity -> handle + entity.numberBytes + entity.references * reference + entity.texts * text
                + 2.0 * entity.characters + entity.dates * (reference + handle + DATE_NUMBERS));
    }

    private static double twoLevels() {
        return sum(entity -> KEY + entity.numberBytes + entity.references * FAT_REFERENCE + 2.0 * entity.characters
                + entity.dates * (FAT_REFERENCE + KEY + LONG));
    }

    static List<Row> rows() {
        return List.of(new Row("tables (base)", tables() / 1e6, 77),
                new Row("objects, 32-bit references", objects(4, 8) / 1e6, 245),
                new Row("objects, 64-bit references", objects(8, 8) / 1e6, 267),
                new Row("objects, 128-bit references", objects(16, 16) / 1e6, 350),
                new Row("two levels: keys of 32 bytes, references of 48", twoLevels() / 1e6, 267),
                new Row("saved by ASCII", sum(Entity::characters) / 1e6, 62),
                new Row("saved by a date as a long", sum(entity -> entity.dates * (4 + 8 + DATE_NUMBERS - LONG)) / 1e6,
                        18));
    }

    private static double below(double less, double more) {
        return 100 * (1 - less / more);
    }

    static List<String> lines() {
        List<Row> rows = rows();
        List<String> lines = new ArrayList<>(List.of("the paper's sheet, full warehouse:", "",
                "| | MB, computed | published |", "|---|---|---|"));
        rows.forEach(row -> lines.add("| %s | %.1f | %.0f |".formatted(row.name, row.computed, row.published)));
        Row wide = rows.get(3);
        Row two = rows.get(4);
        lines.add("");
        lines.add("two levels take %.0f%% less than 128-bit references (published totals: %.0f%%; the paper's \"31%% "
                .formatted(below(two.computed, wide.computed), below(two.published, wide.published))
                + "less\" is how much more 128-bit references take than two levels)");
        return lines;
    }
}
