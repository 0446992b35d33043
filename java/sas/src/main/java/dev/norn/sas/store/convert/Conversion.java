package dev.norn.sas.store.convert;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.agent.ClassFiles;
import dev.norn.sas.exception.ClassChanged;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.heap.Allocator;
import dev.norn.sas.store.heap.ClassLayout;
import dev.norn.sas.store.heap.ContainerFile;
import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.inspect.Inspection;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.memory.StoreSettings;
import dev.norn.sas.store.memory.TransactionSlot;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.Directory;
import dev.norn.sas.store.transaction.StoreTransaction;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Makes a store in which the instances of changed classes have the layout of the class files.
 *
 * <ol>
 * <li>The store is copied to {@code NEW.new}, as a backup is.
 * <li>Each changed class gets a new number and its new description; what cannot be done for any instance is refused.
 * <li>Each instance with an old number is written anew: in its place if it takes as many granules as before, else
 * beside it.
 * <li>References to those that moved, in fields, arrays and roots, are changed. Their hash codes are those of before.
 * <li>The containers' files are written from the pool and synced, and {@code NEW.new} is renamed to {@code NEW}.
 * </ol>
 *
 * <p>No other process knows the copy, so only changes of the directory are logged: what is cut off is thrown
 * away. Costs a backup, two passes over all objects, and 16 bytes of memory for each object that moves.
 */
public final class Conversion {
    private final AttachedStore store;
    private final ClassFiles classes;
    private final Set<String> dropped;
    /** By old number. */
    private final Map<Integer, ClassChange> changes = new TreeMap<>();
    private final Map<Integer, Integer> newNumbers = new HashMap<>();
    private final Map<Integer, ClassLayout> layouts = new HashMap<>();
    private final Map<Integer, long[]> counts = new HashMap<>();
    private final List<String> report = new ArrayList<>();
    private final Moves moves = new Moves();
    private final List<Range> ranges = new ArrayList<>();
    private TransactionSlot slot;

    private Conversion(AttachedStore store, ClassFiles classes, Set<String> dropped) {
        this.store = store;
        this.classes = classes;
        this.dropped = dropped;
    }

    /** What {@link dev.norn.sas.Store#convert} does; no store is attached. */
    public static List<String> run(Path from, Path to, ClassFiles classes, Set<String> dropped) {
        Path fresh = to.resolveSibling(to.getFileName() + ".new");
        Path lock = to.resolveSibling(to.getFileName() + ".new.lock");
        try (var file = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                        StandardOpenOption.DELETE_ON_CLOSE);
                var held = file.tryLock()) {
            if (held == null) {
                throw new SASException("another process makes " + to + " right now");
            }
            if (Files.exists(to)) {
                throw new SASException(to + " exists already: a converted store needs a new directory");
            }
            remove(fresh);
            copy(from, fresh);
            try {
                List<String> report = convert(fresh, classes, dropped);
                for (String name : List.of("pool", "lock", "redo.log")) {
                    Files.deleteIfExists(fresh.resolve(name));
                }
                StoreSettings.read(fresh).withLog(null).write(fresh);
                StoreFiles.sync(fresh);
                Files.move(fresh, to, StandardCopyOption.ATOMIC_MOVE);
                StoreFiles.sync(to.getParent());
                return report;
            } catch (RuntimeException | IOException e) {
                remove(fresh);
                throw e;
            }
        } catch (IOException e) {
            throw new StorageWriteFailure("cannot make the store " + to + ": " + StoreFiles.reason(e), e);
        }
    }

    private static void copy(Path from, Path fresh) throws IOException {
        AttachedStore store = AttachedStore.attach(from);
        try {
            store.backup(fresh);
        } finally {
            store.close();
        }
    }

    private static List<String> convert(Path fresh, ClassFiles classes, Set<String> dropped) throws IOException {
        AttachedStore store = AttachedStore.attach(fresh);
        try {
            return new Conversion(store, classes, dropped).convert();
        } finally {
            store.close();
        }
    }

    /** Removes what a conversion that was cut off left; nothing else. */
    private static void remove(Path fresh) throws IOException {
        if (!Files.exists(fresh)) {
            return;
        }
        Path other = StoreFiles.findOther(fresh);
        if (other != null) {
            throw new SASException(fresh + " is in the way, and is not what a conversion left: it has "
                    + other.getFileName());
        }
        StoreFiles.remove(fresh);
        Files.delete(fresh);
    }

    private List<String> convert() throws IOException {
        for (DirectoryEntry entry : Directory.containers(store)) {
            Range range = Directory.range(store, entry);
            range.check();
            ranges.add(range);
        }
        ranges.sort(java.util.Comparator.comparingLong(range -> range.base));
        plan();
        transact(transaction -> changes.forEach((number, change) -> newNumbers.put(number,
                Directory.addClass(transaction, change.description()))));
        newNumbers.forEach((old, number) -> layouts.put(number, changes.get(old).now()));
        convertObjects();
        for (Range range : ranges) {
            // The container of the directory was changed by transactions only, and closing the pool replays them.
            if (range.id != 0) {
                ContainerFile.save(store.pages(), range, store.directory().resolve(range.name + ".container"));
            }
        }
        changes.forEach((number, change) -> report.add("%s: %,d instances, %,d of them moved; %s"
                .formatted(change.now().name(), counts.get(number)[0], counts.get(number)[1], change.describe())));
        return report;
    }

    private void transact(Consumer<StoreTransaction> action) {
        StoreTransaction transaction = new StoreTransaction(store);
        transaction.begin();
        try {
            action.accept(transaction);
            transaction.commit();
        } finally {
            if (transaction.isActive()) {
                transaction.abort();
            }
        }
    }

    private void convertObjects() {
        slot = store.slots().claim();
        try {
            long[] used = ranges.stream().mapToLong(Range::pagesUsed).toArray();
            for (int i = 0; i < used.length; i++) {
                forEachObject(ranges.get(i), used[i], this::convert);
            }
            transact(transaction -> {
                follow(transaction);
                changes.keySet().forEach(number -> Directory.removeClass(transaction, number));
            });
        } finally {
            store.slots().release(slot);
        }
    }

    interface Visitor {
        void visit(Range range, long offset, long header);
    }

    private static void forEachObject(Range range, long pages, Visitor visitor) {
        for (long page = 0; page < pages; page++) {
            for (int granule = 0; granule < GRANULES; granule++) {
                long offset = range.pageOffset(page) + (long) granule * GRANULE_BYTES;
                if (range.startsAt(offset)) {
                    visitor.visit(range, offset, Memory.getLong(offset));
                }
            }
        }
    }

    /** Compares the dictionary with the class files. */
    private void plan() {
        List<String> problems = new ArrayList<>();
        Set<String> unknown = new TreeSet<>(dropped);
        Set<String> removed = new TreeSet<>();
        List<String> missing = new ArrayList<>();
        for (DirectoryEntry entry : Directory.classes(store)) {
            int number = (int) entry.first();
            layouts.put(number, ClassLayout.of(entry.text()));
            counts.put(number, new long[2]);
            String current = classes.layout(entry.name());
            if (current == null && classes.has(entry.name())) {
                problems.add("class " + entry.name() + " can no longer have persistent instances: "
                        + "it is an interface or an enum, or extends a class with fields that cannot");
            } else if (current == null) {
                missing.add(entry.name());
            } else if (!current.equals(entry.text())) {
                ClassChange change = ClassChange.of(entry.text(), current, classes);
                changes.put(number, change);
                problems.addAll(change.problems(dropped));
                removed.addAll(change.removed());
            }
        }
        unknown.removeAll(removed);
        unknown.forEach(name -> problems.add("no class has lost the field " + name + ", which is to be "
                + "dropped" + removed.stream().filter(full -> full.endsWith("." + name))
                .reduce((a, b) -> a + " or " + b).map(full -> ": its full name is " + full).orElse("")));
        if (problems.isEmpty() && changes.isEmpty()) {
            problems.add("no class on the class path differs from the store's"
                    + (missing.isEmpty() ? "" : "; the class path does not have " + String.join(", ", missing)));
        }
        if (!problems.isEmpty()) {
            throw new ClassChanged("the store is not converted:\n  "
                    + String.join("\n  ", problems.stream().distinct().toList()));
        }
        missing.forEach(name -> report.add(name + ": copied unchanged, because the class path does not have it"));
    }

    private void convert(Range range, long offset, long header) {
        ClassChange change = changes.get(classOf(header));
        if (change == null) {
            return;
        }
        if (granulesOf(header)
                != granules(isHashed(header) ? change.before().bytesHashed() : change.before().bytes())) {
            throw new ClassChanged("the object at " + Long.toHexString(offset) + " has elements after its fields, "
                    + "and the fields of " + change.before().name() + " have changed");
        }
        counts.get(classOf(header))[0]++;
        int number = newNumbers.get(classOf(header));
        ByteBuffer old = ByteBuffer.wrap(Memory.bytes(offset, granulesOf(header) * GRANULE_BYTES))
                .order(ByteOrder.LITTLE_ENDIAN);
        boolean stays = granulesOf(header)
                == granules(isHashed(header) ? change.now().bytesHashed() : change.now().bytes());
        // An object that moves keeps the hash code of its old address.
        int length = granules(stays && !isHashed(header) ? change.now().bytes() : change.now().bytesHashed())
                * GRANULE_BYTES;
        if (length > OBJECT_BYTES_MAX) {
            throw new ClassChanged("the object at " + Long.toHexString(offset) + " would take " + length
                    + " bytes with its hash code, more than a page of " + OBJECT_BYTES_MAX + ": give "
                    + change.now().name() + " fewer fields");
        }
        ByteBuffer content = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        for (ClassChange.Pair pair : change.pairs()) {
            transfer(offset, pair, old, content);
        }
        for (String name : change.removed()) {
            ClassLayout.Field field = change.before().fields().get(name);
            if (field.isReference()) {
                discardValue(old.getLong(field.offset()));
            }
        }
        long at = offset;
        if (stays) {
            Memory.putLong(at, header(generationOf(header), number, granulesOf(header)) | header & HASHED);
        } else {
            Allocator.discard(range, offset);
            slot.begin(slot.index);
            long fresh = store.allocator().allocate(slot, range, number, length, offset);
            moves.add(reference(offset, generationOf(header)), fresh);
            counts.get(classOf(header))[1]++;
            at = offsetOf(fresh);
            Memory.putLong(at, Memory.getLong(at) | HASHED);
        }
        if (isHashed(Memory.getLong(at))) {
            content.putInt(length - HASH_BYTES, isHashed(header) ? old.getInt(old.capacity() - HASH_BYTES)
                    : hashOfAddress(reference(offset, generationOf(header))));
        }
        Memory.putLong(at + OBJECT_LOCK, 0);
        Memory.copyIn(content.array(), OBJECT_HEADER_BYTES, at + OBJECT_HEADER_BYTES, length - OBJECT_HEADER_BYTES);
    }

    private void discardValue(long word) {
        if ((word & TAG_MASK) == TAG_VALUE) {
            Allocator.discard(store.ranges().of(offsetOf(word)), offsetOf(word));
        }
    }

    private void transfer(long object, ClassChange.Pair pair, ByteBuffer old, ByteBuffer content) {
        int from = pair.old().offset();
        int to = pair.now().offset();
        if (pair.now().isReference()) {
            long word = old.getLong(from);
            if (pair.isOfOtherType()) {
                requireFits(object, pair, word);
            }
            content.putLong(to, word);
            return;
        }
        Number value = read(old, from, pair.old().descriptor());
        write(content, to, pair.now().descriptor(), value);
        if (pair.isOfOtherType() && !isSame(value, read(content, to, pair.now().descriptor()))) {
            throw new ClassChanged("field " + pair.name() + " of the object at " + Long.toHexString(object) + " has "
                    + value + ", which is not a value of " + pair.now().type());
        }
    }

    private static Number read(ByteBuffer from, int at, String descriptor) {
        return switch (descriptor.charAt(0)) {
            case 'Z', 'B' -> from.get(at);
            case 'S' -> from.getShort(at);
            case 'C' -> (int) from.getChar(at);
            case 'I' -> from.getInt(at);
            case 'J' -> from.getLong(at);
            case 'F' -> from.getFloat(at);
            default -> from.getDouble(at);
        };
    }

    private static void write(ByteBuffer to, int at, String descriptor, Number value) {
        switch (descriptor.charAt(0)) {
            case 'Z', 'B' -> to.put(at, value.byteValue());
            case 'S' -> to.putShort(at, value.shortValue());
            case 'C' -> to.putChar(at, (char) value.intValue());
            case 'I' -> to.putInt(at, value.intValue());
            case 'J' -> to.putLong(at, value.longValue());
            case 'F' -> to.putFloat(at, value.floatValue());
            default -> to.putDouble(at, value.doubleValue());
        }
    }

    /** Whether they are one number: to the last digit, and with the sign of a zero. */
    private static boolean isSame(Number a, Number b) {
        double x = a.doubleValue();
        double y = b.doubleValue();
        if (!Double.isFinite(x) || !Double.isFinite(y) || x == 0 && y == 0) {
            return Double.compare(x, y) == 0;
        }
        return decimal(a).compareTo(decimal(b)) == 0;
    }

    private static BigDecimal decimal(Number number) {
        return number instanceof Float || number instanceof Double ? new BigDecimal(number.doubleValue())
                : BigDecimal.valueOf(number.longValue());
    }

    /** What a temporary reference or a dangling one leads to throws, whatever the field's type. */
    private void requireFits(long object, ClassChange.Pair pair, long word) {
        int tag = (int) word & TAG_MASK;
        if (word == 0 || tag == TAG_TEMPORARY || tag == TAG_OBJECT && !store.isObject(word) && moves.find(word) == 0) {
            return;
        }
        String target = tag == TAG_OBJECT ? objectClass(moves.find(word) == 0 ? word : moves.find(word))
                : Inspection.valueClass(word);
        if (!isAssignable(target, pair.now().className())) {
            throw new ClassChanged("field " + pair.name() + " of the object at " + Long.toHexString(object)
                    + " refers to a " + target + ", which is not a " + pair.now().className());
        }
    }

    private String objectClass(long reference) {
        long at = offsetOf(reference);
        int number = classOf(Memory.getLong(at));
        if (number == CLASS_ARRAY) {
            String component = Inspection.arrayComponent(at);
            return component.startsWith("[") ? "[" + component : "[L" + component + ";";
        }
        return isArray(number) ? "[" + PRIMITIVES.charAt(number - CLASS_ARRAY - 1) : layouts.get(number).name();
    }

    private boolean isAssignable(String name, String wanted) {
        if (name.equals(wanted) || wanted.equals("java.lang.Object")) {
            return true;
        }
        if (name.startsWith("[")) {
            boolean areOfReferences = name.matches("\\[+L.*;") && wanted.matches("\\[+L.*;");
            return wanted.equals("java.lang.Cloneable") || wanted.equals("java.io.Serializable")
                    || areOfReferences && isAssignable(
                            name.substring(2, name.length() - 1), wanted.substring(2, wanted.length() - 1));
        }
        return !wanted.startsWith("[") && classes.isBelow(name, wanted);
    }

    /** Lets fields, arrays and roots refer to where objects are now. */
    private void follow(StoreTransaction transaction) {
        if (moves.isEmpty()) {
            return;
        }
        Map<Integer, int[]> references = new HashMap<>();
        layouts.forEach((number, layout) -> references.put(number, layout.references()));
        for (Range range : ranges) {
            forEachObject(range, range.pagesUsed(), (its, offset, header) -> {
                if (classOf(header) == CLASS_ARRAY) {
                    int length = Memory.getInt(offset + ARRAY_LENGTH);
                    for (long word = offset + ARRAY_HEADER_BYTES;
                            word <= offset + ARRAY_HEADER_BYTES + 8L * length; word += 8) {
                        follow(word);
                    }
                } else if (classOf(header) >= CLASS_USER) {
                    for (int field : references.get(classOf(header))) {
                        follow(offset + field);
                    }
                }
            });
        }
        for (DirectoryEntry entry : Directory.list(transaction, DirectoryEntry.Kind.ROOT)) {
            long moved = moves.find(entry.first());
            if (moved != 0) {
                Directory.setRoot(transaction, entry.name(), moved);
            }
        }
    }

    private void follow(long at) {
        long word = Memory.getLong(at);
        long moved = word != 0 && (word & TAG_MASK) == TAG_OBJECT ? moves.find(word) : 0;
        if (moved != 0) {
            Memory.putLong(at, moved);
        }
    }

    /** Where objects have gone: references of before, in the order of their places, and of now. */
    private static final class Moves {
        private long[] before = new long[1024];
        private long[] now = new long[1024];
        private int size;

        void add(long old, long fresh) {
            if (size == before.length) {
                before = Arrays.copyOf(before, 2 * size);
                now = Arrays.copyOf(now, 2 * size);
            }
            before[size] = old;
            now[size++] = fresh;
        }

        boolean isEmpty() {
            return size == 0;
        }

        /** The new reference; 0 if the object has not moved. */
        long find(long old) {
            int low = 0;
            int high = size - 1;
            while (low <= high) {
                int middle = low + high >>> 1;
                long at = offsetOf(before[middle]);
                if (at == offsetOf(old)) {
                    return before[middle] == old ? now[middle] : 0;
                }
                if (at < offsetOf(old)) {
                    low = middle + 1;
                } else {
                    high = middle - 1;
                }
            }
            return 0;
        }
    }
}
