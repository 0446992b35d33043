package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.ClassType;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.util.SasList;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Objects as text: toString by address, and the line that describes an object, which never waits, also in a JVM whose
 * other threads a debugger has suspended.
 */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DescribeTest {
    private static final String ACCOUNT = "dev.norn.sas.example.Account@";

    @TempDir
    Path directory;
    private Store store;
    private Account ann;
    private Account bob;

    /** Has its own text; what is below has that. */
    static class Named {
        final String name = "somebody";

        @Override
        public String toString() {
            return "named " + name;
        }
    }

    static class Renamed extends Named {
        String inherited() {
            return super.toString();
        }
    }

    static class Unnamed {
        String inherited() {
            return super.toString();
        }

        @Override
        public String toString() {
            return "nobody";
        }
    }

    @BeforeEach
    void open() {
        store = Store.create(directory.resolve("store"), Stores.SMALL);
        ann = Factory.newInstanceIn(Account.class, store.container("main"), 0, null);
        bob = Factory.newInstanceNear(Account.class, ann, 2, "bob, whose name is longer than a word");
        store.setRoot("ann", ann);
        store.setRoot("bob", bob);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static String address(Object object) {
        return object.toString().substring(object.toString().indexOf('@') + 1);
    }

    @Test
    void aTextIsTheAddress() {
        Account again = store.root("ann", Account.class);
        assertEquals(ann.toString(), again.toString());
        assertNotEquals(ann.toString(), bob.toString());
        assertTrue(ann.toString().startsWith(ACCOUNT), ann.toString());
        String before = ann.toString();
        store.close();
        assertEquals(before, ann.toString());
        store = Store.open(directory.resolve("store"));
        assertEquals(before, store.root("ann", Account.class).toString());
        Account temporary = new Account(1, "eve");
        assertEquals(ACCOUNT + Integer.toHexString(System.identityHashCode(temporary)), temporary.toString());
    }

    @Test
    void aClassesOwnTextStays() {
        SasList<String> list = Factory.newInstanceNear(SasList.class, ann);
        list.add("one");
        assertEquals("[one]", list.toString(), "the text of a class that is not transformed");
        assertEquals("named somebody", Factory.newPermInstance(Named.class).toString());
        assertEquals("named somebody", Factory.newPermInstance(Renamed.class).toString());
        assertEquals("named somebody", Factory.newPermInstance(Renamed.class).inherited());
        Unnamed unnamed = Factory.newPermInstance(Unnamed.class);
        assertEquals("nobody", unnamed.toString());
        assertTrue(unnamed.inherited().startsWith(Unnamed.class.getName() + "@"));
        assertEquals(unnamed.inherited(), unnamed.inherited());
        Unnamed temporary = new Unnamed();
        assertEquals(Unnamed.class.getName() + "@" + Integer.toHexString(temporary.hashCode()), temporary.inherited());
    }

    @Test
    void aLineHasCommittedValuesAndTheTransactionsOwn() {
        String head = ann + " in main {";
        assertEquals(head + "next=null, owner=null, balance=0, number=0}", sorted(Factory.describe(ann)));
        Transaction.begin();
        ann.add(70);
        ann.rename("ann");
        ann.link(bob);
        String own = head + "next=" + bob + ", owner=\"ann\", balance=70, number=0}";
        assertEquals(own, sorted(Factory.describe(ann)));
        assertEquals(own, sorted(Factory.describe(store.root("ann", Account.class))));
        Transaction.abort();
        assertEquals(head + "next=null, owner=null, balance=0, number=0}", sorted(Factory.describe(ann)));
        assertTrue(Factory.describe(bob).contains("owner=\"bob, whose name is longer than a word\""),
                Factory.describe(bob));
    }

    /** The fields lie in the order of their widths, then of their names. */
    private static String sorted(String line) {
        int start = line.indexOf('{') + 1;
        List<String> fields = new ArrayList<>(List.of(line.substring(start, line.length() - 1).split(", ")));
        List<String> order = List.of("next", "owner", "balance", "number");
        fields.sort(Comparator.comparingInt(field -> order.indexOf(field.split("=")[0])));
        return line.substring(0, start) + String.join(", ", fields) + "}";
    }

    @Test
    void everyKindOfFieldIsShown() {
        store.close();
        store = Store.open(directory.resolve("store"), SubObjects.TEMPORARY);
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        shelf.flag = true;
        shelf.letter = 'x';
        shelf.wide = -2.5;
        shelf.text = "t".repeat(500);
        shelf.price = new BigDecimal("12345678901234567890.12");
        shelf.any = Factory.newLongArrayNear(7, shelf);
        shelf.color = Shelf.Color.GREEN;
        shelf.random = new java.util.Random(1);
        String line = Factory.describe(shelf);
        for (String field : List.of("flag=true", "letter='x'", "wide=-2.5", "text=\"ttt", "ttt\"…",
                "price=12345678901234567890.12", "any=long[7]@", "random=temporary",
                "color=dev.norn.sas.example.Shelf$Color#GREEN")) {
            assertTrue(line.contains(field), field + " in " + line);
        }
        Shelf temporary = new Shelf();
        temporary.color = Shelf.Color.GREEN;
        temporary.random = new java.util.Random(1);
        line = Factory.describe(temporary);
        for (String field : List.of(", temporary {", "random=java.util.Random@",
                "color=dev.norn.sas.example.Shelf$Color#GREEN", "text=\"set by")) {
            assertTrue(line.contains(field), field + " in " + line);
        }
        assertTrue(Factory.describe(shelf.any).matches("long\\[]@[0-9a-f]+, copy of the array at [0-9a-f]+"),
                Factory.describe(shelf.any));
        assertEquals("null", Factory.describe(null));
        assertEquals("\"text\", a value", Factory.describe("text"));
    }

    @Test
    void whatIsNotThereIsSaid() {
        ann.link(bob);
        Factory.destroyInstance(bob);
        assertEquals(bob + " in main, destroyed", Factory.describe(bob));
        assertTrue(Factory.describe(ann).contains("next=destroyed@" + address(bob)), Factory.describe(ann));
        store.close();
        assertEquals(ann + ", its store is closed", Factory.describe(ann));
        Store.create(directory.resolve("other"), Stores.SMALL).close();
        store = Store.open(directory.resolve("other"));
        assertEquals(ann + ", its store is closed", Factory.describe(ann), "another one is open");
    }

    @Test
    void aDamagedContainerIsSaid() throws Exception {
        Account eve = Factory.newInstanceIn(Account.class, store.createContainer("other", 1 << 20), 3, "eve");
        ann.link(eve);
        store.close();
        Path copy = Stores.withoutPool(directory.resolve("store"), directory.resolve("copy"));
        Files.delete(copy.resolve("other.container"));
        Files.createDirectory(copy.resolve("other.container"));
        store = Store.open(copy);
        String line = Factory.describe(store.root("ann", Account.class));
        assertTrue(line.contains("next=damaged@" + address(eve)), line);
    }

    @Test
    void whatAnotherTransactionChangesIsShownAtOnce() throws Exception {
        CountDownLatch changed = new CountDownLatch(1);
        CountDownLatch seen = new CountDownLatch(1);
        Thread other = Thread.ofPlatform().start(() -> {
            Transaction.begin();
            ann.link(bob);
            changed.countDown();
            WaitTest.unchecked(() -> {
                seen.await();
                return null;
            });
            Transaction.abort();
        });
        changed.await();
        String line = Factory.describe(ann);
        String within = Transaction.call(() -> Factory.describe(ann));
        seen.countDown();
        other.join();
        assertTrue(line.startsWith(ann + " in main, being changed {"), line);
        assertEquals(line, within);
        assertTrue(Factory.describe(ann).contains("next=null"), Factory.describe(ann));
    }

    /** As IDEs do: all threads are suspended, and only one runs to find the text. */
    @Test
    void aDebuggerThatSuspendedTheOtherThreadsSeesObjects() throws Exception {
        store.close();
        VirtualMachine machine = launch();
        try {
            List<String> lines = lines(machine);
            assertTrue(lines.get(0).startsWith(ann + " in main {") && lines.get(0).contains("balance=5"), lines.get(0));
            assertTrue(lines.get(1).startsWith(bob + " in main, being changed {") && lines.get(1).contains("next="
                    + ann), lines.get(1));
        } finally {
            machine.exit(0);
        }
        store = Store.open(directory.resolve("store"));
        assertEquals(0, store.root("ann", Account.class).balance());
    }

    private VirtualMachine launch() throws Exception {
        var connector = Bootstrap.virtualMachineManager().defaultConnector();
        var arguments = connector.defaultArguments();
        arguments.get("home").setValue(System.getProperty("java.home"));
        arguments.get("options").setValue("-Xmx256m -XX:TieredStopAtLevel=1 "
                + "--enable-native-access=ALL-UNNAMED \"-javaagent:" + System.getProperty("sas.jar")
                + "=packages=dev.norn.sas.example\" -cp \"" + System.getProperty("java.class.path") + "\"");
        arguments.get("main").setValue(DescribeProgram.class.getName() + " " + directory.resolve("store"));
        return connector.launch(arguments);
    }

    private static List<String> lines(VirtualMachine machine) throws Exception {
        var prepared = machine.eventRequestManager().createClassPrepareRequest();
        prepared.addClassFilter(DescribeProgram.class.getName());
        prepared.enable();
        for (;;) {
            var events = machine.eventQueue().remove();
            for (var event : events) {
                if (event instanceof ClassPrepareEvent its) {
                    machine.eventRequestManager().createBreakpointRequest(its.referenceType().methodsByName("stop")
                            .getFirst().location()).enable();
                } else if (event instanceof BreakpointEvent its) {
                    return describe(machine, its.thread());
                }
            }
            events.resume();
        }
    }

    private static List<String> describe(VirtualMachine machine, ThreadReference thread) throws Exception {
        var factory = (ClassType) machine.classesByName(Factory.class.getName()).getFirst();
        var method = factory.methodsByName("describe").getFirst();
        List<String> lines = new ArrayList<>();
        for (int argument = 0; argument < 2; argument++) {
            var value = thread.frame(0).getArgumentValues().get(argument);
            var line = factory.invokeMethod(thread, method, List.of(value), ObjectReference.INVOKE_SINGLE_THREADED);
            lines.add(((com.sun.jdi.StringReference) line).value());
        }
        return lines;
    }
}
