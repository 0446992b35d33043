package dev.norn.bobc;

import dev.norn.bobc.workload.Scale;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.inspect.ClassCounts;
import dev.norn.sas.util.SasList;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What a warehouse takes, by class, beside the paper's sheet (section 3.1). MB are millions of bytes. */
record StorageSheet(Map<String, ClassCounts.Share> shares, long pageBytes, Scale scale) {
    /** Of each page, what its descriptor takes. */
    private static final double PAGE_WITH_DESCRIPTOR = (4096 + 64) / 4096.0;
    private static final int DATES = 1000;
    private static final String MODEL = "dev.norn.bobc.model.";

    static StorageSheet of(Store store, long pageBytes, Scale scale) {
        return new StorageSheet(ClassCounts.of(store.attached(), Store.MAIN), pageBytes, scale);
    }

    /** What a time takes as an object: measured on instants in a list, their places in the list not counted. */
    static double bytesOfADate(Store store) {
        ClassCounts.Share before = values(store);
        Transaction.run(() -> {
            SasList<Instant> list = Factory.newPermInstance(SasList.class);
            for (int i = 0; i < DATES; i++) {
                list.add(Instant.ofEpochMilli(876_000_000_123L + i));
            }
        });
        ClassCounts.Share after = values(store);
        if (after.count() - before.count() != DATES) {
            throw new IllegalStateException(DATES + " instants became " + (after.count() - before.count()) + " values");
        }
        return (double) (after.bytes() - before.bytes()) / DATES;
    }

    private static ClassCounts.Share values(Store store) {
        return ClassCounts.of(store.attached(), Store.MAIN).get("values");
    }

    private long count() {
        return shares.values().stream().mapToLong(ClassCounts.Share::count).sum();
    }

    private long bytes() {
        return shares.values().stream().mapToLong(ClassCounts.Share::bytes).sum();
    }

    private long count(String name) {
        return shares.get(MODEL + name).count();
    }

    List<String> lines() {
        List<String> lines =
                new ArrayList<>(List.of("| class | instances | bytes | bytes each |", "|---|---|---|---|"));
        shares.forEach((name, share) -> lines.add("| %s | %,d | %,d | %.1f |"
                .formatted(name, share.count(), share.bytes(), (double) share.bytes() / share.count())));
        lines.add("| together | %,d | %,d | %.1f |".formatted(count(), bytes(), (double) bytes() / count()));
        lines.add("");
        lines.add("company and one warehouse, %s: %.1f MB of objects and values, ".formatted(scale, bytes() / 1e6)
                + "%.1f MB of pages with their descriptors".formatted(pageBytes * PAGE_WITH_DESCRIPTOR / 1e6));
        lines.add("bar at 64 bits, full warehouse: 185 MB");
        lines.add("");
        lines.addAll(PaperSheet.lines());
        return lines;
    }

    /**
     * {@code dates} is how many fields hold a time: of customers, payments and orders one each, and of every delivered
     * line.
     */
    Figures figures() {
        ClassCounts.Share values = shares.get("values");
        double delivered = (double) (scale.customers() - scale.newOrders()) / scale.customers();
        double dates = count("Customer") + count("History") + count("Order") + count("OrderLine") * delivered;
        return new Figures().with("objects", count()).with("object_bytes", bytes())
                .with("page_bytes", pageBytes * PAGE_WITH_DESCRIPTOR).with("values", values.count())
                .with("value_bytes", values.bytes()).with("dates", Math.round(dates));
    }
}
