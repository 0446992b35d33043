package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Store;
import dev.norn.sas.exception.SASException;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two versions of a program's classes, compiled here, as a developer would have them: 10,000 objects that refer to each
 * other through fields, arrays, lists and maps are made by the first, the store is converted, and the second finds
 * every value as a model has it. What cannot be converted is refused with class, field and address, and a conversion
 * that is cut off leaves nothing.
 */
class ConversionTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);
    private static final int OBJECTS = 10_000;

    private static final String MODEL = """
            package shop;
            /** What is to be in object i. */
            final class Model {
                static final int COUNT = Integer.getInteger("shop.count", 10_000);
                static boolean isGone(int i) { return i % 10 == 9; }
                static String name(int i) { return i % 3 == 0 ? "n" + i : "the item of number " + i; }
                static String note(int i) { return "a note on item " + i; }
                static int next(int i) { return i * 7 % COUNT; }
                static int peer(int i, int j) { return (i * 13 + j) % COUNT; }
                static float weight(int i) { return i / 3f; }
                /** Strings of one hash code, so many that a map has them in a tree. */
                static final int LIKES = 32;
                static String like(int number) {
                    return java.util.stream.IntStream.range(0, 5)
                            .mapToObj(bit -> (number >> bit & 1) == 0 ? "Aa" : "BB")
                            .collect(java.util.stream.Collectors.joining());
                }
            }
            """;

    private static final Map<String, String> FIRST = Map.of("Model", MODEL,
            "Color", "package shop; public enum Color { RED, GREEN, BLUE }",
            "Base", "package shop; public abstract class Base { int code; }",
            "Item", """
                    package shop;
                    public class Item extends Base {
                        int number; int stock; float weight; String name; String note; Color color;
                        Item next; Item[] peers; long[] history;
                        java.util.List<Item> parts; Object any; double exact; short tiny;
                        Item(int i) {
                            number = i; code = -i; stock = 3 * i; weight = Model.weight(i); name = Model.name(i);
                            note = Model.note(i); color = Color.values()[i % 3];
                            any = i % 2 == 0 ? "text " + i : new String("b"); exact = i * 2; tiny = (short) i;
                        }
                    }
                    """,
            "Leaf", """
                    package shop;
                    public class Leaf {
                        Item item; int number;
                        Leaf(Item item, int number) { this.item = item; this.number = number; }
                    }
                    """,
            "Catalog", """
                    package shop;
                    import dev.norn.sas.util.*;
                    public class Catalog {
                        SasMap<String, Item> byName; SasMap<Item, Integer> byItem; SasSortedMap<Integer, Item> byNumber;
                        Leaf[] leaves; SasList<Object> mixed; SasLongArray squares;
                        /** Identity hash codes. */
                        SasIntArray codes; SasIntArray leafCodes;
                    }
                    """,
            "Fill", """
                    package shop;
                    import dev.norn.sas.*;
                    import dev.norn.sas.util.*;
                    public class Fill {
                        public static void main(String[] arguments) {
                            try (Store store = Store.open(java.nio.file.Path.of(arguments[0]))) {
                                Container[] containers =
                                        {store.container("main"), store.createContainer("second", 64 << 20)};
                                Catalog catalog = Factory.newInstanceIn(Catalog.class, containers[1]);
                                Item[] items = new Item[Model.COUNT];
                                store.setRoot("catalog", catalog);
                                Transaction.run(() -> {
                                    catalog.byName = Factory.newInstanceNear(SasMap.class, catalog);
                                    catalog.byItem = Factory.newInstanceNear(SasMap.class, catalog);
                                    catalog.byNumber = Factory.newInstanceNear(SasSortedMap.class, catalog);
                                    catalog.mixed = Factory.newInstanceNear(SasList.class, catalog);
                                    catalog.squares = Factory.newInstanceNear(SasLongArray.class, catalog, 2000);
                                    for (int i = 0; i < 2000; i++) catalog.squares.set(i, (long) i * i);
                                    catalog.leaves = Factory.newArrayOfNear(Leaf.class, Model.COUNT, catalog);
                                    catalog.codes = Factory.newInstanceNear(SasIntArray.class, catalog, Model.COUNT);
                                    catalog.leafCodes =
                                            Factory.newInstanceNear(SasIntArray.class, catalog, Model.COUNT);
                                });
                                for (int start = 0; start < Model.COUNT; start += 500) {
                                    int from = start;
                                    Transaction.run(() -> {
                                        for (int i = from; i < Math.min(Model.COUNT, from + 500); i++) {
                                            // Some are asked for their hash codes before they are persistent.
                                            boolean isHashed = i % 3 == 1;
                                            items[i] = isHashed ? new Item(i)
                                                    : Factory.newInstanceIn(Item.class, containers[i % 2], i);
                                            catalog.codes.set(i, items[i].hashCode());
                                            catalog.byName.put(items[i].name, items[i]);
                                            catalog.byItem.put(items[i], i);
                                            catalog.byNumber.put(i, items[i]);
                                            catalog.leaves[i] = isHashed ? new Leaf(items[i], i)
                                                    : Factory.newInstanceNear(Leaf.class, items[i], items[i], i);
                                            catalog.leafCodes.set(i, catalog.leaves[i].hashCode());
                                            if (i % 100 == 0) catalog.mixed.add(items[i]);
                                        }
                                    });
                                }
                                for (int start = 0; start < Model.COUNT; start += 500) {
                                    int from = start;
                                    Transaction.run(() -> {
                                        for (int i = from; i < Math.min(Model.COUNT, from + 500); i++) {
                                            Item item = items[i];
                                            item.next = items[Model.next(i)];
                                            if (i % 5 == 0) {
                                                item.peers = Factory.newArrayOfNear(Item.class, 3, item);
                                                for (int j = 0; j < 3; j++) {
                                                    int peer = Model.peer(i, j);
                                                    item.peers[j] = Model.isGone(peer) ? null : items[peer];
                                                }
                                                item.history = Factory.newLongArrayNear(i % 50, item);
                                                for (int j = 0; j < item.history.length; j++) item.history[j] = i + j;
                                            }
                                            if (i % 50 == 1) {
                                                item.parts = Factory.newInstanceNear(SasList.class, item);
                                                for (int j = 0; j < 3; j++) item.parts.add(items[Model.peer(i, j)]);
                                            }
                                        }
                                    });
                                }
                                Transaction.run(() -> {
                                    for (int i = 0; i < Model.COUNT; i++) if (Model.isGone(i)) {
                                        catalog.byItem.remove(items[i]);
                                    }
                                });
                                Transaction.run(() -> {
                                    for (int i = 0; i < Model.COUNT; i++) if (Model.isGone(i)) {
                                        catalog.byName.remove(items[i].name);
                                        Factory.destroyInstance(items[i]);
                                    }
                                });
                                // Where the destroyed ones were, others are now. Nobody knows them.
                                Transaction.run(() -> {
                                    for (int i = 0; i < Model.COUNT; i++) if (Model.isGone(i)) {
                                        Factory.newInstanceNear(Item.class, items[i - 2], i);
                                    }
                                });
                                @SuppressWarnings({"unchecked", "rawtypes"})
                                java.util.Map<Object, Integer> mixedKeys = (java.util.Map) catalog.byItem;
                                for (int i = 0; i < Model.LIKES; i++) mixedKeys.put(Model.like(i), i);
                                store.setRoot("item 4", items[4]);
                                store.setRoot("item 5", items[5]);
                            }
                        }
                    }
                    """);

    private static final Map<String, String> SECOND = Map.of("Model", MODEL,
            "Color", "package shop; public enum Color { WHITE, RED, GREEN, BLUE }",
            "Base", "package shop; public abstract class Base { long code; boolean active; }",
            "Item", """
                    package shop;
                    import dev.norn.sas.Renamed;
                    public class Item extends Base {
                        int number; @Renamed("stock") long quantity; double weight; String name; Color color;
                        Base next; Base[] peers; long[] history;
                        java.util.List<Item> parts; CharSequence any; int exact; float tiny;
                        String label; Item origin; long[] extra; int rating;
                        Item(int i) { number = i; }
                    }
                    """,
            "Leaf", """
                    package shop;
                    public class Leaf { Item item; @dev.norn.sas.Renamed("number") int index; Leaf() {} }
                    """,
            "Catalog", FIRST.get("Catalog"),
            "Check", """
                    package shop;
                    import dev.norn.sas.*;
                    import dev.norn.sas.exception.*;
                    import dev.norn.sas.util.*;
                    public class Check {
                        static void is(Object expected, Object found, String what, int i) {
                            if (!java.util.Objects.equals(expected, found)) {
                                throw new AssertionError(what + " of item " + i + ": " + found + ", not " + expected);
                            }
                        }
                        static boolean isGone(java.util.function.Supplier<?> use) {
                            try { use.get(); return false; } catch (ObjectDestroyed e) { return true; }
                        }
                        static void check(Item item, int i, Catalog catalog) {
                            is(i, item.number, "number", i); is((long) -i, item.code, "code", i);
                            is(false, item.active, "active", i); is(3L * i, item.quantity, "quantity", i);
                            is((double) Model.weight(i), item.weight, "weight", i);
                            is(Model.name(i), item.name, "name", i);
                            is(Color.values()[1 + i % 3], item.color, "color", i);
                            is(i % 2 == 0 ? "text " + i : "b", item.any, "any", i);
                            is(2 * i, item.exact, "exact", i); is((float) (short) i, item.tiny, "tiny", i);
                            is(null, item.label, "label", i); is(null, item.origin, "origin", i);
                            is(null, item.extra, "extra", i); is(0, item.rating, "rating", i);
                            if (Model.isGone(Model.next(i))) {
                                boolean isNextGone = isGone(() -> { Base next = item.next; return next.code; });
                                is(true, isNextGone, "destroyed next", i);
                            } else {
                                is((long) -Model.next(i), item.next.code, "next", i);
                            }
                            is(i % 5 == 0, item.peers != null, "peers", i);
                            if (i % 5 == 0) {
                                for (int j = 0; j < 3; j++) {
                                    int peer = Model.peer(i, j);
                                    Item expected = Model.isGone(peer) ? null : catalog.byNumber.get(peer);
                                    is(expected, item.peers[j], "peer", i);
                                }
                                is(i % 50, item.history.length, "history", i);
                                for (int j = 0; j < item.history.length; j++) {
                                    is((long) i + j, item.history[j], "history", i);
                                }
                            }
                            is(i % 50 == 1, item.parts != null, "parts", i);
                            for (int j = 0; i % 50 == 1 && j < 3; j++) {
                                int at = j, part = Model.peer(i, j);
                                is(Model.isGone(part), isGone(() -> item.parts.get(at).number), "part", i);
                                if (!Model.isGone(part)) is(part, item.parts.get(j).number, "part", i);
                            }
                            is(catalog.codes.get(i), item.hashCode(), "hash code", i);
                            is(catalog.codes.get(i), System.identityHashCode(item), "identity hash code", i);
                            is(item, catalog.byName.get(Model.name(i)), "place by name", i);
                            is(i, catalog.byItem.get(item), "place by item", i);
                            if (i % 100 == 0) is(item, catalog.mixed.get(i / 100), "place in the list", i);
                        }
                        public static void main(String[] arguments) {
                            try (Store store = Store.open(java.nio.file.Path.of(arguments[0]))) {
                                Catalog catalog = store.root("catalog", Catalog.class);
                                for (int start = 0; start < Model.COUNT; start += 500) {
                                    int from = start;
                                    Transaction.run(() -> {
                                        for (int i = from; i < Math.min(Model.COUNT, from + 500); i++) {
                                            int number = i;
                                            Leaf leaf = catalog.leaves[i];
                                            is(i, leaf.index, "leaf", i);
                                            is(catalog.leafCodes.get(i), leaf.hashCode(), "hash code of the leaf", i);
                                            if (Model.isGone(i)) {
                                                is(true, isGone(() -> leaf.item.number), "destroyed", i);
                                            } else {
                                                check(leaf.item, i, catalog);
                                                is(leaf.item, catalog.byNumber.get(i), "place by number", i);
                                            }
                                        }
                                        int left = Model.COUNT - Model.COUNT / 10;
                                        is(left + Model.LIKES, catalog.byItem.size(), "size", -1);
                                        for (int i = 0; i < 2000; i++) {
                                            is((long) i * i, catalog.squares.get(i), "square", i);
                                        }
                                        is(4, store.root("item 4", Item.class).number, "root", 4);
                                    });
                                }
                                var findings = new dev.norn.sas.store.inspect.Audit(store.attached()).run();
                                if (!findings.isEmpty()) throw new AssertionError(findings.toString());
                                // And it goes on: all of it may be changed.
                                for (int start = 0; start < Model.COUNT; start += 500) {
                                    int from = start;
                                    Transaction.run(() -> {
                                        for (int i = from; i < Math.min(Model.COUNT, from + 500); i++) {
                                            if (Model.isGone(i)) continue;
                                            Item item = catalog.leaves[i].item;
                                            item.label = "a label that is longer than a word " + i; item.rating = i;
                                            is(i, catalog.byItem.remove(item), "removed", i);
                                            if (i % 4 == 0) Factory.destroyInstance(item);
                                        }
                                    });
                                }
                                findings = new dev.norn.sas.store.inspect.Audit(store.attached()).run();
                                if (!findings.isEmpty()) throw new AssertionError(findings.toString());
                                @SuppressWarnings({"unchecked", "rawtypes"})
                                java.util.Map<Object, Integer> mixedKeys = (java.util.Map) catalog.byItem;
                                for (int i = 0; i < Model.LIKES; i++) {
                                    String key = Model.like(i);
                                    is(i, mixedKeys.put(key, -i), "place of one of like keys", i);
                                }
                                for (int i = 0; i < Model.LIKES; i++) {
                                    is(-i, mixedKeys.remove(Model.like(i)), "removed of like keys", i);
                                }
                                is(0, catalog.byItem.size(), "size", -1);
                            }
                            System.out.println("checked");
                        }
                    }
                    """);

    @TempDir
    static Path shared;
    private static Path first;
    private static Path second;
    private static Path filled;

    @TempDir
    Path directory;

    @BeforeAll
    static void fill() throws Exception {
        first = compile("first", FIRST);
        second = compile("second", SECOND);
        filled = shared.resolve("store");
        Store.create(filled, Store.Options.defaults().withMainBytes(64 << 20)).close();
        assertEquals("", program(0, first, "shop.Fill", filled));
    }

    private static Path compile(String name, Map<String, String> sources) throws IOException {
        Path at = Files.createDirectories(shared.resolve(name));
        List<String> arguments = new ArrayList<>(List.of("-d", at.toString(), "-cp", System.getProperty("sas.jar"),
                "-nowarn", "-Xlint:none"));
        for (var source : new TreeMap<>(sources).entrySet()) {
            Path file = at.resolve(source.getKey() + ".java");
            Files.writeString(file, source.getValue());
            arguments.add(file.toString());
        }
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)));
        return at;
    }

    /** The other version with some of its classes changed. */
    private Path compileWith(Map<String, String> base, String... changed) throws IOException {
        Map<String, String> sources = new TreeMap<>(base);
        sources.keySet().removeAll(Set.of("Fill", "Check"));
        for (int i = 0; i < changed.length; i += 2) {
            sources.put(changed[i], changed[i + 1]);
        }
        return compile(directory.getFileName() + "-" + changed[1].hashCode(), sources);
    }

    private static Process start(List<String> arguments) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(java, "-XX:TieredStopAtLevel=1", "-Xmx512m"));
        command.addAll(arguments);
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String output(int status, Process process) throws Exception {
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(status, process.waitFor(), output);
        return output;
    }

    private static String program(int status, Path classes, String main, Path store) throws Exception {
        String jar = System.getProperty("sas.jar");
        return output(status, start(List.of("--enable-native-access=ALL-UNNAMED",
                "-javaagent:" + jar + "=packages=shop", "-cp", classes + ":" + jar, main, store.toString())));
    }

    private static Process startConversion(Path from, Path to, Path classes, String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of("-jar", System.getProperty("sas.jar"), "convert",
                from.toString(), to.toString(), "--class-path", classes.toString()));
        command.addAll(List.of(more));
        return start(command);
    }

    private static String convert(int status, Path from, Path to, Path classes, String... more) throws Exception {
        return output(status, startConversion(from, to, classes, more));
    }

    private static ClassLoader loader(Path classes) throws IOException {
        // Not the classes of this JVM, which has other versions of some.
        return new URLClassLoader(new URL[] {classes.toUri().toURL(),
                Path.of(System.getProperty("sas.jar")).toUri().toURL()}, ClassLoader.getPlatformClassLoader());
    }

    /** What is refused by the interface, for classes of one version; nothing is left. */
    private String refused(Path classes, String... dropped) throws IOException {
        Path to = directory.resolve("refused");
        var thrown =
                assertThrows(SASException.class, () -> Store.convert(filled, to, loader(classes), Set.of(dropped)));
        assertFalse(Files.exists(to) || Files.exists(directory.resolve("refused.new"))
                || Files.exists(directory.resolve("refused.new.lock")));
        return thrown.getMessage();
    }

    @Test
    void everyValueIsThereAfterwards() throws Exception {
        Path to = directory.resolve("converted");
        String message = program(1, second, "shop.Check", filled);
        assertTrue(message.contains("ClassChanged") && message.contains("`sas convert " + filled
                + " NEW --class-path DIRECTORY`"), message);
        assertTrue(message.contains("\n  added: int shop.Leaf.index\n  removed: int shop.Leaf.number\n")
                && !message.contains("shop.Leaf.item"), message);
        byte[] before = Files.readAllBytes(filled.resolve("second.container"));
        String report = convert(0, filled, to, second, "--drop", "shop.Item.note");
        assertTrue(report.contains("shop.Item: %,d instances, %,d of them moved".formatted(OBJECTS, OBJECTS)), report);
        assertTrue(report.contains("dropped shop.Item.note")
                && report.contains("shop.Item.quantity was shop.Item.stock"), report);
        assertTrue(report.contains("shop.Leaf: %,d instances, 0 of them moved".formatted(OBJECTS)), report);
        assertTrue(report.contains(to + " is made; " + filled + " is as it was"), report);
        // The program has destroyed objects that others refer to.
        String check = output(1, start(List.of("-jar", System.getProperty("sas.jar"), "check", to.toString())));
        assertTrue(check.contains(", 0 findings"), check);
        assertEquals("checked\n", program(0, second, "shop.Check", to));
        assertTrue(java.util.Arrays.equals(before, Files.readAllBytes(filled.resolve("second.container"))),
                "the old store is not touched");
        assertTrue(convert(1, filled, to, second, "--drop", "shop.Item.note").contains("exists already"));
        assertTrue(convert(1, to, directory.resolve("again"), second).contains("no class on the class path differs"));
    }

    @Test
    void aConversionThatIsKilledLeavesNothingAndIsDoneAgain() throws Exception {
        Path to = directory.resolve("converted");
        Random random = new Random(SEED);
        int killed = 0;
        for (int round = 0; round < Integer.getInteger("sas.kills", 3); round++) {
            Process process = startConversion(filled, to, second, "--drop", "shop.Item.note");
            // While it copies, when it begins to change the copy, and some time later.
            Path begun = directory.resolve(round == 0 ? "converted.new" : "converted.new/pool");
            while (process.isAlive() && !Files.exists(begun)) {
                Thread.onSpinWait();
            }
            Thread.sleep(round < 2 ? 0 : random.nextLong(150));
            process.destroyForcibly().waitFor();
            if (Files.exists(to)) {
                // It was done before it was killed.
                Files.move(to, directory.resolve("done " + round));
                program(0, second, "shop.Check", directory.resolve("done " + round));
            } else {
                killed++;
            }
        }
        assertTrue(killed > 0, "every conversion was done, seed " + SEED);
        convert(0, filled, to, second, "--drop", "shop.Item.note");
        assertFalse(Files.exists(directory.resolve("converted.new")));
        assertEquals("checked\n", program(0, second, "shop.Check", to));
    }

    @Test
    void aStoreInUseIsConvertedAsOfWhatWasCommitted() throws Exception {
        Path from = directory.resolve("used");
        Path to = directory.resolve("converted");
        try (Store store = Store.create(from, Stores.SMALL)) {
            Account ann = dev.norn.sas.Factory.newInstanceIn(Account.class, store.container("main"), 7, "Ann");
            ann.add(5);
            store.setRoot("ann", ann);
            assertThrows(SASException.class, () -> Store.convert(from, to), "this JVM is attached");
            Path classes = compile("accounts", Map.of("Account", "package dev.norn.sas.example; "
                    + "class Account { int number; long balance; String owner; Account next; long[] more; }"));
            dev.norn.sas.Transaction.begin();
            ann.add(100);
            convert(0, from, to, classes);
            dev.norn.sas.Transaction.commit();
            assertEquals(105, ann.balance());
        }
        String shown = output(0, start(List.of("-jar", System.getProperty("sas.jar"), "show", to.toString(), "ann")));
        assertTrue(shown.contains("balance = 5\n") && shown.contains("Account.more = null")
                && shown.contains("owner = \"Ann\""), shown);
    }

    @Test
    void whatWouldBeLostIsRefused() throws Exception {
        assertTrue(refused(second).contains("class shop.Item no longer has the field shop.Item.note: drop it"));
        assertTrue(refused(second, "shop.Item.note", "shop.Item.nte")
                .contains("no class has lost the field shop.Item.nte"));
        assertTrue(refused(second, "note")
                .contains("no class has lost the field note, which is to be dropped: its full name is shop.Item.note"));
        String leaf = "package shop; public class Leaf { Item item; "
                + "@dev.norn.sas.Renamed(\"numbr\") int index; Leaf() {} }";
        String misspelt = refused(compileWith(FIRST, "Leaf", leaf), "shop.Leaf.number");
        assertTrue(misspelt.contains("field shop.Leaf.index is said by @Renamed to have been shop.Leaf.numbr, "
                + "but the store has neither"), misspelt);
        String item = FIRST.get("Item");
        String narrow = refused(compileWith(FIRST, "Item",
                item.replace("int number;", "byte number;").replace("number = i;", "number = (byte) i;")));
        assertTrue(narrow.matches("(?s)field shop.Item.number of the object at [0-9a-f]+ has 128, "
                + "which is not a value of byte"), narrow);
        String inexact = refused(compileWith(FIRST, "Item",
                item.replace("float weight;", "int weight;").replace("weight = Model.weight(i);", "")));
        assertTrue(inexact.matches("(?s)field shop.Item.weight of the object at [0-9a-f]+ has 0.6666667, "
                + "which is not a value of int"), inexact);
        String other = refused(compileWith(FIRST, "Item", item.replace("Object any;", "Number any;")
                .replace("any = i % 2 == 0 ? \"text \" + i : new String(\"b\");", "")));
        assertTrue(other.matches("(?s)field shop.Item.any of the object at [0-9a-f]+ refers to a java.lang.String, "
                + "which is not a java.lang.Number"), other);
        String array = refused(compileWith(FIRST, "Item", item.replace("Item[] peers;", "Leaf[] peers;")));
        assertTrue(array.contains("shop.Item.peers")
                && array.contains("refers to a [Lshop.Item;, which is not a [Lshop.Leaf;"), array);
        String kind = refused(compileWith(FIRST, "Item",
                item.replace("String name;", "int name;").replace("name = Model.name(i);", "")));
        assertTrue(kind.contains("field shop.Item.name was of type java.lang.String and is of type int"), kind);
        String gone = refused(compileWith(FIRST, "Leaf", "package shop; public interface Leaf { }",
                "Catalog", FIRST.get("Catalog")));
        assertTrue(gone.contains("class shop.Leaf can no longer have persistent instances"), gone);
        assertTrue(refused(first).contains("no class on the class path differs"));
        assertTrue(refused(Files.createDirectory(directory.resolve("empty")))
                .contains("the class path does not have "));
        assertTrue(convert(1, filled, directory.resolve("new"), directory.resolve("nowhere"))
                .contains("which does not exist"));
        assertTrue(convert(1, directory, directory.resolve("new"), second).contains("is not a store"));
        Path missing = Stores.withoutPool(filled, directory.resolve("missing"));
        Files.delete(missing.resolve("second.container"));
        assertTrue(convert(1, missing, directory.resolve("new"), second, "--drop", "shop.Item.note")
                .contains("its file second.container is missing"));
        Files.createDirectories(directory.resolve("photos.new"));
        Files.writeString(directory.resolve("photos.new/holiday.jpg"), "");
        assertTrue(convert(1, filled, directory.resolve("photos"), second)
                .contains("is not what a conversion left: it has holiday.jpg"));
    }

    @Test
    void aContainerThatTheObjectsGrowOutOfIsNamed() throws Exception {
        Path from = directory.resolve("tight");
        try (Store store = Store.create(from, Stores.SMALL)) {
            var tight = store.createContainer("tight", 3 << 12);
            assertThrows(dev.norn.sas.exception.ContainerFull.class, () -> {
                for (;;) {
                    dev.norn.sas.Factory.newInstanceIn(Account.class, tight, 7, "Ann");
                }
            });
        }
        Path classes = compile("grown", Map.of("Account", "package dev.norn.sas.example; "
                + "class Account { int number; long balance; String owner; Account next; long[] more; }"));
        var thrown = assertThrows(dev.norn.sas.exception.ContainerFull.class,
                () -> Store.convert(from, directory.resolve("to"), loader(classes), Set.of()));
        assertTrue(thrown.getMessage().contains("container tight has no room"), thrown.getMessage());
        assertFalse(Files.exists(directory.resolve("to.new")));
    }
}
