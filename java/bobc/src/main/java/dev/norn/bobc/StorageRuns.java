package dev.norn.bobc;

import dev.norn.bobc.workload.Draw;
import dev.norn.bobc.workload.Scale;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The storage sheet (section 3.1), with the paper's variations as far as the model lets one measure them. */
final class StorageRuns {
    private static final List<PeerKind> FILES =
            List.of(PeerKind.SQLITE, PeerKind.LMDB, PeerKind.H2, PeerKind.ECLIPSESTORE);

    private StorageRuns() {}

    private static String mb(double bytes) {
        return "%,.1f".formatted(bytes / 1e6);
    }

    static void write(Evaluation evaluation) throws IOException, InterruptedException {
        Scale scale = evaluation.of(Scale.FULL, Scale.HUNDREDTH);
        Map<Draw.Letters, Figures> sheets = new LinkedHashMap<>();
        for (Draw.Letters letters : Draw.Letters.values()) {
            evaluation.figures("storage-" + letters, "sheet " + scale + " " + letters,
                    () -> BobcCommand.Storage.sheet(scale, evaluation.memory, letters, line -> {}))
                    .ifPresent(figures -> sheets.put(letters, figures));
        }
        evaluation.say("\n## Storage\n\nThe company and one warehouse, " + scale + ". MB are millions of bytes.\n");
        List<String> csv = new ArrayList<>();
        Map<String, Double> bars = new LinkedHashMap<>();
        Figures latin = sheets.get(Draw.Letters.LATIN);
        if (latin != null) {
            sheet(evaluation, latin, Optional.ofNullable(sheets.get(Draw.Letters.GREEK)), csv, bars);
        }
        files(evaluation, scale, csv, bars);
        evaluation.csv("storage", "what,bytes", csv);
        if (!bars.isEmpty()) {
            if (scale == Scale.FULL) {
                bars.put("paper: tables", 77e6);
                bars.put("paper: 64-bit references", 267e6);
                bars.put("paper: 128-bit references", 350e6);
            }
            evaluation.plot("storage", "What a warehouse takes",
                    Plots.bars("The company and a warehouse", "MB", Plots.Axis.LINEAR, List.copyOf(bars.keySet()),
                            Map.of(scale.toString(), bars.values().stream().map(bytes -> bytes / 1e6).toList())));
        }
    }

    private static void sheet(Evaluation evaluation, Figures latin, Optional<Figures> greek, List<String> csv,
            Map<String, Double> bars) {
        double pages = latin.get("page_bytes");
        double dates = latin.get("dates") * latin.get("date_bytes");
        evaluation.say("| | MB | paper, 64-bit references |\n|---|---|---|");
        evaluation.say("| %,d objects and values | %s | |"
                .formatted(latin.whole("objects"), mb(latin.get("object_bytes"))));
        evaluation.say("| of these %,d values, strings with few exceptions | %s | |"
                .formatted(latin.whole("values"), mb(latin.get("value_bytes"))));
        evaluation.say("| pages with their descriptors | " + mb(pages)
                + " | 267 with Unicode and dates as objects; 187 without (−62, −18) |");
        csv.add("objects," + latin.get("object_bytes"));
        csv.add("pages," + pages);
        bars.put("SAS: ASCII, dates as long", pages);
        if (greek.isPresent()) {
            double wide = greek.get().get("page_bytes");
            evaluation.say("| the same, all texts in Greek: two bytes a character | %s: %s more | 62 |"
                    .formatted(mb(wide), mb(wide - pages)));
            evaluation.say("| the same with dates as objects | %s | 267 |".formatted(mb(wide + dates)));
            csv.add("pages_wide," + wide);
            bars.put("SAS: UTF-16, dates as long", wide);
            bars.put("SAS: UTF-16, dates as objects", wide + dates);
        }
        evaluation.say("| dates as objects instead of long: %,d of %.0f bytes | %s more | 18 |"
                .formatted(latin.whole("dates"), latin.get("date_bytes"), mb(dates)));
        csv.add("dates," + dates);
        evaluation.say("\nThe strings' variation is measured: a store keeps Latin-1 in a byte a character and other "
                + "texts in two, so a population of Greek texts is what Unicode costs. The dates' is the size of a "
                + "stored instant, measured on 1,000 of them, times the number of date fields; a reference takes the "
                + "place of the number. At 32 bits there is nothing to measure, and 128-bit references are not built.");
        if (evaluation.length == Evaluation.Length.FULL) {
            evaluation.bar("a full warehouse at 64-bit references", "at most 185 MB", mb(pages) + " MB",
                    pages <= 185e6 ? "met" : "missed");
            evaluation.bar("the same", "goal 130 MB", mb(pages) + " MB", pages <= 130e6 ? "met" : "missed");
        }
    }

    private static void files(Evaluation evaluation, Scale scale, List<String> csv, Map<String, Double> bars)
            throws IOException, InterruptedException {
        evaluation.say("\nThe same data as other stores' files, after they were filled and closed, "
                + "indexes included:\n\n| | MB | paper |\n|---|---|---|");
        for (PeerKind kind : FILES) {
            evaluation.figures("storage-" + kind, "populate " + kind + " " + scale,
                    () -> populate(kind, scale, evaluation.memory)).ifPresent(figures -> {
                double bytes = figures.get("file_bytes");
                evaluation.say("| %s | %s | %s |".formatted(kind.title, mb(bytes),
                        kind == PeerKind.SQLITE || kind == PeerKind.H2 ? "77 as tables" : ""));
                csv.add(kind + "," + bytes);
                bars.put(kind.title.replaceAll(",.*", ""), bytes);
            });
        }
    }

    private static Figures populate(PeerKind kind, Scale scale, Path at) throws IOException, InterruptedException {
        try (Scratch scratch = new Scratch(at); Jvm jvm = new Jvm(kind, null, List.of(),
                List.of("populate", kind.toString(), scratch.path.toString(), "--scale=" + scale), List.of())) {
            return jvm.figures(line -> {});
        }
    }
}
