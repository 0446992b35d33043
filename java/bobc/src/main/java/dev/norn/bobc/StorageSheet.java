package dev.norn.bobc;

import dev.norn.sas.Store;
import dev.norn.sas.store.Census;
import java.util.Map;

/** What a warehouse takes, by class, beside the paper's sheet (section 3.1). MB are millions of bytes. */
final class StorageSheet {
    private static final String PAPER = "paper, full warehouse: 77 MB as tables, 245 at 32-bit references, 267 at 64-bit, 350 at 128-bit; bar at 64 bits: 185";
    /** Of each page, what its descriptor takes. */
    private static final double PAGE_WITH_DESCRIPTOR = (4096 + 64) / 4096.0;

    private StorageSheet() {}

    static void print(Store store, long pageBytes, Scale scale) {
        Map<String, Census.Share> shares = Census.of(store.pool(), Store.MAIN);
        long count = 0;
        long bytes = 0;
        System.out.println("| class | instances | bytes | bytes each |");
        System.out.println("|---|---|---|---|");
        for (var entry : shares.entrySet()) {
            Census.Share share = entry.getValue();
            System.out.printf("| %s | %,d | %,d | %.1f |%n", entry.getKey(), share.count(), share.bytes(), (double) share.bytes() / share.count());
            count += share.count();
            bytes += share.bytes();
        }
        System.out.printf("| together | %,d | %,d | %.1f |%n", count, bytes, (double) bytes / count);
        System.out.printf("%ncompany and one warehouse, %s: %.1f MB of objects and values, %.1f MB of pages with their descriptors%n", scale, bytes / 1e6,
                pageBytes * PAGE_WITH_DESCRIPTOR / 1e6);
        System.out.println(PAPER);
    }
}
