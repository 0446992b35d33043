package dev.norn.libraries;

import com.google.common.collect.testing.ListTestSuiteBuilder;
import com.google.common.collect.testing.MapTestSuiteBuilder;
import com.google.common.collect.testing.SampleElements;
import com.google.common.collect.testing.SortedMapTestSuiteBuilder;
import com.google.common.collect.testing.TestMapGenerator;
import com.google.common.collect.testing.TestStringListGenerator;
import com.google.common.collect.testing.TestStringMapGenerator;
import com.google.common.collect.testing.TestStringSortedMapGenerator;
import com.google.common.collect.testing.features.CollectionFeature;
import com.google.common.collect.testing.features.CollectionSize;
import com.google.common.collect.testing.features.Feature;
import com.google.common.collect.testing.features.ListFeature;
import com.google.common.collect.testing.features.MapFeature;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.inspect.Audit;
import dev.norn.sas.util.SasList;
import dev.norn.sas.util.SasMap;
import dev.norn.sas.util.SasSortedMap;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import junit.extensions.TestDecorator;
import junit.extensions.TestSetup;
import junit.framework.Test;
import junit.framework.TestResult;
import junit.framework.TestSuite;
import org.junit.runner.RunWith;
import org.junit.runners.AllTests;

/**
 * Guava's published suites for the collections of {@code java.util}, over those of SAS: temporary ones, persistent ones
 * of which each call is a transaction, and persistent ones that a test uses in one transaction. The persistent ones
 * have several elements, with {@code -Dlibraries.whole=true} none and one, too.
 */
@RunWith(AllTests.class)
public final class SasSuites {
    private static final List<Feature<?>> MAP = List.of(MapFeature.GENERAL_PURPOSE, MapFeature.ALLOWS_NULL_VALUES,
            MapFeature.FAILS_FAST_ON_CONCURRENT_MODIFICATION, CollectionFeature.SUPPORTS_ITERATOR_REMOVE);

    private static final int OTHERS = 16;
    private static final CollectionSize SAMPLE = Boolean.getBoolean("libraries.whole") ? CollectionSize.ANY
            : CollectionSize.SEVERAL;

    private SasSuites() {}

    /** The suites make collections to see what they are, so a store is open while they are put together, too. */
    public static Test suite() {
        OpenStore store = new OpenStore(new TestSuite());
        store.setUp();
        try {
            return new OpenStore(collections());
        } finally {
            store.tearDown();
        }
    }

    private static TestSuite collections() {
        TestSuite all = new TestSuite("SAS");
        all.addTest(collections("temporary", CollectionSize.ANY, SasList::new, SasMap::new, SasSortedMap::new));
        all.addTest(collections("persistent", SAMPLE, SasSuites::newList, SasSuites::newMap, SasSuites::newSortedMap));
        all.addTest(inTransactions(collections("in a transaction", SAMPLE, SasSuites::newList, SasSuites::newMap,
                SasSuites::newSortedMap)));
        return all;
    }

    @SuppressWarnings("unchecked")
    private static <T> T make(Class<?> type) {
        return (T) Factory.newInstanceIn(type, Store.current().container(Store.MAIN));
    }

    private static SasList<String> newList() {
        return make(SasList.class);
    }

    private static <K, V> SasMap<K, V> newMap() {
        return make(SasMap.class);
    }

    private static SasSortedMap<String, String> newSortedMap() {
        return make(SasSortedMap.class);
    }

    private static TestSuite collections(String name, CollectionSize size, Supplier<List<String>> list,
            Supplier<Map<?, ?>> map, Supplier<SortedMap<String, String>> sorted) {
        TestSuite suite = new TestSuite(name);
        suite.addTest(list(name, size, list));
        suite.addTest(map(name + " SasMap", size, strings(map)));
        suite.addTest(map(name + " SasMap of equal hash codes", size, likes(map)));
        suite.addTest(sortedMap(name, size, sorted));
        return suite;
    }

    private static TestSuite list(String name, CollectionSize size, Supplier<List<String>> list) {
        return ListTestSuiteBuilder.using(new TestStringListGenerator() {
            @Override
            protected List<String> create(String[] elements) {
                List<String> made = list.get();
                made.addAll(Arrays.asList(elements));
                return made;
            }
        }).named(name + " SasList")
                .withFeatures(size, ListFeature.GENERAL_PURPOSE, CollectionFeature.ALLOWS_NULL_VALUES,
                        CollectionFeature.FAILS_FAST_ON_CONCURRENT_MODIFICATION).createTestSuite();
    }

    private static TestSuite map(String name, CollectionSize size, TestMapGenerator<?, ?> generator) {
        return MapTestSuiteBuilder.using(generator).named(name).withFeatures(MAP).withFeatures(size)
                .withFeatures(MapFeature.ALLOWS_NULL_KEYS, MapFeature.ALLOWS_ANY_NULL_QUERIES).createTestSuite();
    }

    private static TestMapGenerator<String, String> strings(Supplier<Map<?, ?>> map) {
        return new TestStringMapGenerator() {
            @Override
            protected Map<String, String> create(Map.Entry<String, String>[] entries) {
                return filled(map.get(), entries);
            }
        };
    }

    @SuppressWarnings("unchecked")
    private static <K, V> Map<K, V> filled(Map<?, ?> made, Map.Entry<K, V>[] entries) {
        for (Map.Entry<K, V> entry : entries) {
            ((Map<K, V>) made).put(entry.getKey(), entry.getValue());
        }
        return (Map<K, V>) made;
    }

    /** Keys with one hash code, in a map that had more of them, so that it has them in a tree. */
    private static TestMapGenerator<String, String> likes(Supplier<Map<?, ?>> map) {
        return new TestStringMapGenerator() {
            @Override
            @SuppressWarnings("unchecked")
            protected Map<String, String> create(Map.Entry<String, String>[] entries) {
                Map<String, String> made = (Map<String, String>) map.get();
                IntStream.range(0, 12).forEach(i -> made.put(oneOfLikes(OTHERS + i), "goes"));
                filled(made, entries);
                IntStream.range(0, 12).forEach(i -> made.remove(oneOfLikes(OTHERS + i)));
                return made;
            }

            @Override
            public SampleElements<Map.Entry<String, String>> samples() {
                return new SampleElements<>(Map.entry(oneOfLikes(0), "January"), Map.entry(oneOfLikes(1), "February"),
                        Map.entry(oneOfLikes(2), "March"), Map.entry(oneOfLikes(3), "April"),
                        Map.entry(oneOfLikes(4), "May"));
            }
        };
    }

    /** Strings of one hash code, by number from 0, less than 32. */
    private static String oneOfLikes(int number) {
        return IntStream.range(0, 5).mapToObj(bit -> (number >> bit & 1) == 0 ? "Aa" : "BB")
                .collect(Collectors.joining());
    }

    private static TestSuite sortedMap(String name, CollectionSize size, Supplier<SortedMap<String, String>> sorted) {
        return SortedMapTestSuiteBuilder.using(new TestStringSortedMapGenerator() {
            @Override
            protected SortedMap<String, String> create(Map.Entry<String, String>[] entries) {
                return (SortedMap<String, String>) filled(sorted.get(), entries);
            }

            @Override
            public Iterable<Map.Entry<String, String>> order(List<Map.Entry<String, String>> insertionOrder) {
                insertionOrder.sort(Map.Entry.comparingByKey(Comparator.naturalOrder()));
                return insertionOrder;
            }
        }).named(name + " SasSortedMap").withFeatures(MAP).withFeatures(size)
                .withFeatures(CollectionFeature.KNOWN_ORDER).createTestSuite();
    }

    /** The suite's tests, each in a transaction that is undone at the end. */
    private static TestSuite inTransactions(TestSuite suite) {
        TestSuite wrapped = new TestSuite(suite.getName());
        for (Test test : Collections.list(suite.tests())) {
            wrapped.addTest(test instanceof TestSuite below ? inTransactions(below) : new InTransaction(test));
        }
        return wrapped;
    }

    private static final class InTransaction extends TestDecorator {
        InTransaction(Test test) {
            super(test);
        }

        @Override
        public void run(TestResult result) {
            Transaction.begin();
            try {
                super.run(result);
            } finally {
                Transaction.abort();
            }
        }
    }

    /** Keeps a store open while the tests run. */
    private static final class OpenStore extends TestSetup {
        private Path directory;
        private Store store;

        OpenStore(Test test) {
            super(test);
        }

        @Override
        protected void setUp() {
            try {
                directory = Files.createTempDirectory("sas-suites");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            store = Store.create(directory.resolve("store"), Store.Options.defaults());
        }

        @Override
        protected void tearDown() {
            List<String> findings = new Audit(store.attached()).run();
            store.close();
            try (var files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            assertEquals(List.of(), findings);
        }
    }
}
