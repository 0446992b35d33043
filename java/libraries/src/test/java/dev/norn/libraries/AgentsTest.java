package dev.norn.libraries;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;
import static org.mockito.Mockito.when;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.commons.collections4.bag.TreeBag;
import org.apache.commons.lang3.mutable.MutableInt;
import org.apache.commons.lang3.mutable.MutableObject;
import org.apache.commons.lang3.tuple.ImmutablePair;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Beside another agent that changes the same classes, before it and after it on the command line, both do what they do
 * alone.
 */
class AgentsTest {
    enum Order { BEFORE, BEHIND }

    @TempDir
    Path directory;

    private void run(Order order, String other, Class<?> program) throws Exception {
        Path log = directory.resolve("log");
        String own = Workload.agent();
        int exit = new Jvm().with(order == Order.BEFORE ? own : other, order == Order.BEFORE ? other : own)
                .run(log, program, directory.resolve("store"));
        String said = Files.readString(log);
        assertEquals(0, exit, said);
        assertTrue(said.endsWith("done\n") && !said.contains("cannot be transformed"), said);
    }

    @ParameterizedTest
    @EnumSource
    void jacocoCountsWhatIsTransformed(Order order) throws Exception {
        Path counts = directory.resolve("jacoco.exec");
        run(order, "-javaagent:" + Jvm.jar("org.jacoco.agent", "-runtime.jar") + "=destfile=" + counts
                + ",includes=org.apache.commons.*", Workload.class);
        String names = Files.readString(counts, StandardCharsets.ISO_8859_1);
        for (Class<?> type : new Class<?>[] {MutableInt.class, ImmutablePair.class,
                org.apache.commons.collections4.list.TreeList.class}) {
            assertTrue(names.contains(type.getName().replace('.', '/')), type.getName());
        }
    }

    @ParameterizedTest
    @EnumSource
    void mockitoMocksWhatIsTransformed(Order order) throws Exception {
        run(order, "-javaagent:" + Jvm.jar("mockito-core", ".jar"), Mocks.class);
    }

    /** Mocks and spies of transformed classes, final ones too, beside persistent instances of them. */
    static final class Mocks {
        public static void main(String[] arguments) {
            beforeAnyStore();
            Workload.run(Path.of(arguments[0]));
            try (Store store = Store.open(Path.of(arguments[0]))) {
                MutableInt number = store.root("number", MutableInt.class);
                MutableInt mocked = mock(MutableInt.class);
                when(mocked.intValue()).thenReturn(77);
                assertEquals(77, mocked.intValue());
                assertEquals(8, number.intValue());
                // Comparisons of references ask an object whether it is persistent, which is no use that a mock counts.
                TreeBag<Object> bag = new TreeBag<>((a, b) -> a == b ? 0 : 1);
                bag.add(mocked);
                assertTrue(bag.contains(mocked));
                assertTrue(!new MutableObject<>(number).equals(new MutableObject<>(7)));
                verify(mocked).intValue();
                verifyNoMoreInteractions(mocked);
                MutableInt spied = spy(Factory.newInstanceIn(MutableInt.class, store.container("main"), 3));
                assertNotNull(spied);
                number.increment();
                assertEquals(9, number.intValue());
            }
            System.out.println("done");
        }

        private static void beforeAnyStore() {
            MutableInt spied = spy(new MutableInt(5));
            spied.increment();
            assertEquals(6, spied.intValue());
            verify(spied).increment();
            ImmutablePair<?, ?> pair = mock(ImmutablePair.class);
            when(pair.getLeft()).thenReturn(null);
            assertEquals(null, pair.getLeft());
        }
    }
}
