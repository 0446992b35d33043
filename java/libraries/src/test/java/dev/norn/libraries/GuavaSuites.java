package dev.norn.libraries;

import com.google.common.collect.HashBiMap;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.LinkedHashMultiset;
import com.google.common.collect.TreeMultiset;
import com.google.common.collect.testing.ListTestSuiteBuilder;
import com.google.common.collect.testing.TestStringListGenerator;
import com.google.common.collect.testing.features.CollectionFeature;
import com.google.common.collect.testing.features.CollectionSize;
import com.google.common.collect.testing.features.Feature;
import com.google.common.collect.testing.features.MapFeature;
import com.google.common.collect.testing.google.BiMapTestSuiteBuilder;
import com.google.common.collect.testing.google.MultisetTestSuiteBuilder;
import com.google.common.collect.testing.google.TestStringBiMapGenerator;
import com.google.common.collect.testing.google.TestStringMultisetGenerator;
import java.util.Arrays;
import java.util.List;
import java.util.Map.Entry;
import junit.framework.TestSuite;
import org.junit.runner.RunWith;
import org.junit.runners.AllTests;

/**
 * Guava's published suites for collections, over Guava's own collections, transformed: of several elements, with {@code
 * -Dlibraries.whole=true} of none and one, too.
 */
@RunWith(AllTests.class)
public final class GuavaSuites {
    private static final CollectionSize SAMPLE = Boolean.getBoolean("libraries.whole") ? CollectionSize.ANY
            : CollectionSize.SEVERAL;

    private GuavaSuites() {}

    public static TestSuite suite() {
        TestSuite suite = new TestSuite("Guava");
        suite.addTest(ListTestSuiteBuilder.using(new TestStringListGenerator() {
            @Override
            protected List<String> create(String[] elements) {
                return ImmutableList.copyOf(elements);
            }
        }).named("ImmutableList").withFeatures(SAMPLE, CollectionFeature.SERIALIZABLE,
                CollectionFeature.ALLOWS_NULL_QUERIES, CollectionFeature.KNOWN_ORDER).createTestSuite());
        suite.addTest(BiMapTestSuiteBuilder.using(new TestStringBiMapGenerator() {
            @Override
            protected com.google.common.collect.BiMap<String, String> create(Entry<String, String>[] entries) {
                HashBiMap<String, String> map = HashBiMap.create();
                Arrays.stream(entries).forEach(entry -> map.put(entry.getKey(), entry.getValue()));
                return map;
            }
        }).named("HashBiMap").withFeatures(features(CollectionFeature.SERIALIZABLE, CollectionFeature.KNOWN_ORDER,
                MapFeature.ALLOWS_NULL_KEYS, MapFeature.ALLOWS_NULL_VALUES, MapFeature.ALLOWS_ANY_NULL_QUERIES,
                MapFeature.GENERAL_PURPOSE, CollectionFeature.SUPPORTS_ITERATOR_REMOVE,
                MapFeature.FAILS_FAST_ON_CONCURRENT_MODIFICATION)).createTestSuite());
        suite.addTest(MultisetTestSuiteBuilder.using(new TestStringMultisetGenerator() {
            @Override
            protected com.google.common.collect.Multiset<String> create(String[] elements) {
                return LinkedHashMultiset.create(Arrays.asList(elements));
            }
        }).named("LinkedHashMultiset").withFeatures(features(CollectionFeature.KNOWN_ORDER,
                CollectionFeature.FAILS_FAST_ON_CONCURRENT_MODIFICATION, CollectionFeature.ALLOWS_NULL_VALUES,
                CollectionFeature.GENERAL_PURPOSE, CollectionFeature.SERIALIZABLE)).createTestSuite());
        suite.addTest(MultisetTestSuiteBuilder.using(new TestStringMultisetGenerator() {
            @Override
            protected com.google.common.collect.Multiset<String> create(String[] elements) {
                return TreeMultiset.create(Arrays.asList(elements));
            }

            @Override
            public List<String> order(List<String> insertionOrder) {
                return com.google.common.collect.Ordering.natural().sortedCopy(insertionOrder);
            }
        }).named("TreeMultiset").withFeatures(features(CollectionFeature.KNOWN_ORDER, CollectionFeature.GENERAL_PURPOSE,
                CollectionFeature.SERIALIZABLE, CollectionFeature.ALLOWS_NULL_QUERIES)).createTestSuite());
        return suite;
    }

    static Feature<?>[] features(Feature<?>... more) {
        return java.util.stream.Stream.concat(java.util.stream.Stream.of(SAMPLE), Arrays.stream(more))
                .toArray(Feature[]::new);
    }
}
