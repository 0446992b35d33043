package dev.norn.sas.runtime;

import dev.norn.sas.exception.ClassChanged;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.TransactionConflict;
import dev.norn.sas.store.heap.ClassLayout;
import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.DestroyRecords;
import dev.norn.sas.store.transaction.Directory;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongFunction;

/**
 * The class dictionary of the attached store: the number of each class, and the check that the class of this JVM has
 * the layout that the store's instances have.
 *
 * <p>A description is text: the class's name, then a line {@code bytes N}, then a line
 * {@code offset descriptor declaring-class.name} for each field.
 */
public final class Classes {
    private static final ClassValue<Info> INFOS = new ClassValue<>() {
        @Override
        protected Info computeValue(Class<?> type) {
            return new Info(type);
        }
    };
    private static volatile Info[] table = new Info[0];
    /** Classes that cannot be persistent, and why. */
    private static final Map<String, String> REFUSED = new ConcurrentHashMap<>();
    /** Classes of which this JVM has used persistent instances of the store that is open. */
    private static final Set<Class<?>> USED = new HashSet<>();

    private Classes() {}

    /** What is known of the class. */
    public static Info of(Class<?> type) {
        return INFOS.get(type);
    }

    /** Says that instances of the class cannot be persistent; what was created before keeps working. */
    public static void refuse(String name, String reason) {
        REFUSED.putIfAbsent(name, reason);
    }

    /**
     * Says that instances of the class, and of those below it, cannot be persistent.
     *
     * @throws SASException if this JVM has used such instances already: they would lose what is stored
     */
    static synchronized void refuse(Class<?> type, String reason) {
        USED.stream().filter(type::isAssignableFrom).findFirst().ifPresent(used -> {
            throw new SASException("instances of " + type.getName() + " cannot be persistent, "
                    + "but this JVM has used persistent ones of " + used.getName() + ": " + reason);
        });
        refuse(type.getName(), reason);
    }

    private static synchronized void use(Info info) {
        info.requirePersistable();
        USED.add(info.type);
    }

    /** The class with this number. */
    static Info byNumber(int number) {
        Info[] all = table;
        Info info = number < all.length ? all[number] : null;
        return info != null ? info : find(number);
    }

    private static Info find(int number) {
        Info own = Session.get().newClasses().withNumber(number);
        if (own != null) {
            return own;
        }
        var store = CurrentStore.get();
        for (DirectoryEntry entry : Directory.classes(store)) {
            if (entry.first() == number) {
                Info info = of(find(entry.name()));
                info.check(entry.text());
                // A reader outside transactions comes here with what a transaction that has not ended stored; it will
                // read again.
                return Directory.isCommitted(store, entry) ? info.know(number) : info;
            }
        }
        throw new SASException("the store has no class of number " + number + ": it is damaged");
    }

    /** The class of this name, as the calling thread sees it. */
    public static Class<?> find(String name) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        try {
            return Class.forName(name, true, loader == null ? ClassLoader.getSystemClassLoader() : loader);
        } catch (ClassNotFoundException e) {
            throw new ClassChanged("the store has instances of " + name + ", which is not on the class path", e);
        }
    }

    /**
     * Destroys an object or array with its values: all of it, or nothing if something is thrown. In a transaction. The
     * container's rule says whether that is possible, and recorded with the note.
     */
    public static void destroy(long reference, String note) {
        Session session = Session.get();
        var transaction = session.transaction();
        transaction.lockExclusive(reference);
        long mark = transaction.mark();
        try {
            DestroyRecords.precede(transaction, reference, note);
            freeValues(transaction, Format.offsetOf(reference));
            transaction.destroy(reference);
        } catch (Throwable e) {
            session.takeBackSteps(mark, e);
            throw e;
        }
        session.forget(reference);
    }

    private static void freeValues(dev.norn.sas.store.transaction.StoreTransaction transaction, long at) {
        int number = Format.classOf(Memory.getLong(at));
        if (number == Format.CLASS_ARRAY) {
            int length = Memory.getInt(at + Format.ARRAY_LENGTH);
            for (long word = at + Format.ARRAY_HEADER_BYTES;
                    word <= at + Format.ARRAY_HEADER_BYTES + 8L * length; word += 8) {
                freeValue(transaction, Memory.getLong(word));
            }
        } else if (number >= Format.CLASS_USER) {
            for (int offset : byNumber(number).references) {
                freeValue(transaction, Memory.getLong(at + offset));
            }
        }
    }

    private static void freeValue(dev.norn.sas.store.transaction.StoreTransaction transaction, long word) {
        if ((word & Format.TAG_MASK) == Format.TAG_VALUE) {
            transaction.freeValue(word);
        }
    }

    /** Forgets the numbers, when the store is closed. */
    public static synchronized void clear() {
        for (Info info : table) {
            if (info != null) {
                info.number = 0;
            }
        }
        table = new Info[0];
        USED.clear();
    }

    /** The packages of the agent of this JVM, null without one. */
    private static volatile List<String> agentPackages;

    /** Says which packages' classes the agent transforms. */
    public static void agent(List<String> packages) {
        agentPackages = packages;
    }

    /** Why the class has not become what it has to be. */
    static String notTransformed(Class<?> type) {
        List<String> packages = agentPackages;
        String how = "name its package in -javaagent:norn-sas.jar=packages=…, "
                + "or transform it when it is built (`sas transform`, the Maven plugin)";
        if (type.getClassLoader() == null || type.getModule() == Object.class.getModule()) {
            return "it is a class of the JDK";
        }
        if (type.isHidden()) {
            return "it is a lambda expression, or of another class without a class file";
        }
        if (type.isInterface()) {
            return "it is an interface: name a class that implements it";
        }
        if (type.isEnum()) {
            return "its constants are values: use them as they are";
        }
        if (packages == null) {
            return "it is not transformed, and no agent runs in this JVM: " + how;
        }
        if (packages.stream().noneMatch(name -> type.getName().startsWith(name + "."))) {
            return "it is not among the agent's packages, " + packages + ": " + how;
        }
        return "it extends " + type.getSuperclass().getName() + ", which "
                + (type.getSuperclass().getClassLoader() == null
                        ? "is a class of the JDK with fields or without an open constructor"
                        : "is not among the agent's packages, " + packages + ", and has fields or no open constructor: "
                                + "name its package, too");
    }

    /** A class whose instances may be persistent, or the reason why not. */
    public static final class Info {
        private final Class<?> type;
        private final String description;
        private final ClassLayout layout;
        /** Where instances have references, in bytes. */
        private final int[] references;
        private LongFunction<Object> creator;
        private MethodHandle binder;
        private volatile int number;

        private Info(Class<?> type) {
            this.type = type;
            description = isTransformed(type) ? describe(type) : null;
            layout = description == null ? new ClassLayout(type.getName(), 0, Map.of()) : ClassLayout.of(description);
            references = layout.references();
        }

        private static boolean isTransformed(Class<?> type) {
            return SasObject.class.isAssignableFrom(type) && !type.isInterface();
        }

        private static String describe(Class<?> type) {
            try {
                return (String) lookup(type)
                        .findStatic(type, "$sas$layout", MethodType.methodType(String.class)).invoke();
            } catch (Throwable e) {
                throw new SASException("class " + type.getName() + " was not transformed by the agent", e);
            }
        }

        private static MethodHandles.Lookup lookup(Class<?> type) throws Throwable {
            var method = type.getDeclaredMethod("$sas$lookup");
            method.setAccessible(true);
            return (MethodHandles.Lookup) method.invoke(null);
        }

        /**
         * Says of a temporary object that its identity hash code has to be kept; returns the word that it has then,
         * which is a handle's if it has become one meanwhile.
         */
        long markHashed(SasObject object) {
            compareAndBind(object, 0, SasObject.HASHED | SasObject.OWN);
            return object.$sas$word();
        }

        /**
         * Changes the reference word, unless another thread has changed it; whether it did. Costs an atomic
         * instruction.
         */
        boolean compareAndBind(SasObject object, long expected, long word) {
            try {
                MethodHandle known = binder;
                if (known == null) {
                    binder = known = newBinder();
                }
                return (boolean) known.invokeExact(object, expected, word);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new SASException("class " + type.getName() + " was not transformed as a whole", e);
            }
        }

        private MethodHandle newBinder() throws Throwable {
            Class<?> root = type;
            while (SasObject.class.isAssignableFrom(root.getSuperclass())) {
                root = root.getSuperclass();
            }
            return lookup(root).findVarHandle(root, "$sas$reference", long.class)
                    .toMethodHandle(VarHandle.AccessMode.COMPARE_AND_SET)
                    .asType(MethodType.methodType(boolean.class, SasObject.class, long.class, long.class));
        }

        /** A static method that the agent has added. */
        MethodHandle accessor(String name, MethodType its) throws IllegalAccessException {
            try {
                return lookup(type).findStatic(type, name, its);
            } catch (Throwable e) {
                throw (IllegalAccessException) new IllegalAccessException(type.getName() + " has no " + name
                        + ": it was not transformed as a whole").initCause(e);
            }
        }

        /** An instance's length in bytes, header included. */
        int bytes() {
            return layout.bytes();
        }

        /** The same of one that has a hash code of its own. */
        int bytesHashed() {
            return layout.bytesHashed();
        }

        /** A line of the description for each field. */
        public java.util.List<String> fieldLines() {
            return description.lines().skip(2).toList();
        }

        String fieldAt(int offset) {
            return layout.fields().entrySet().stream().filter(field -> field.getValue().offset() == offset)
                    .map(Map.Entry::getKey).findFirst().orElse("at offset " + offset);
        }

        /** @throws SASException that says why not */
        public void requirePersistable() {
            if (description == null) {
                throw new SASException("instances of " + type.getName() + " cannot be persistent: "
                        + (SasObject.class.isAssignableFrom(type) ? "it is an interface" : notTransformed(type)));
            }
            for (Class<?> at = REFUSED.isEmpty() ? null : type; at != null; at = at.getSuperclass()) {
                String reason = REFUSED.get(at.getName());
                if (reason != null) {
                    throw new SASException("instances of " + type.getName() + " cannot be persistent: " + reason);
                }
            }
            if (bytes() > Format.OBJECT_BYTES_MAX) {
                throw new SASException("instances of " + type.getName() + " would take " + bytes()
                        + " bytes, more than a page of " + Format.OBJECT_BYTES_MAX);
            }
        }

        /**
         * The class's number in the store; it gets one with its first persistent instance. Until the transaction that
         * made the number is durable, it alone knows it: others wait for the transaction's end, as for any object that
         * it has changed. In a transaction.
         */
        int number() {
            int known = number;
            if (known != 0) {
                return known;
            }
            Session session = Session.get();
            int own = session.newClasses().numberOf(this);
            if (own != 0) {
                return own;
            }
            try {
                DirectoryEntry entry =
                        Directory.findLasting(session.transaction(), DirectoryEntry.Kind.CLASS, type.getName());
                if (entry == null) {
                    use(this);
                    return session.addClass(this, description);
                }
                check(entry.text());
                return know((int) entry.first()).number;
            } catch (TransactionConflict e) {
                session.wants(this);
                throw e;
            }
        }

        private Info know(int its) {
            synchronized (Classes.class) {
                number = its;
                Info[] all = table.length > its ? table.clone() : java.util.Arrays.copyOf(table, its + 16);
                all[its] = this;
                table = all;
            }
            return this;
        }

        /** @throws ClassChanged that says what differs, if the store's instances have another layout */
        private void check(String stored) {
            use(this);
            if (stored.equals(description)) {
                return;
            }
            var differences = ClassLayout.differences(stored, description);
            throw new ClassChanged("class " + type.getName() + " has changed since the store got instances of it:\n  "
                    + (differences.isEmpty() ? "the order of the fields" : String.join("\n  ", differences))
                    + "\n`sas convert " + CurrentStore.get() + " NEW --class-path DIRECTORY` makes a store, NEW, "
                    + "whose instances have the layout of the classes in DIRECTORY. A field that was renamed needs "
                    + "@Renamed(\"old name\") in the class, one that was removed needs --drop com.acme.Customer.note");
        }

        /** A handle of the object; no constructor of the program runs. */
        SasObject newHandle(long word) {
            LongFunction<Object> known = creator;
            if (known == null) {
                creator = known = newCreator();
            }
            Object handle = known.apply(word);
            // Handles may reach other threads through fields without synchronization; one without its holder would be
            // taken for a temporary object.
            VarHandle.storeStoreFence();
            return (SasObject) handle;
        }

        /** Code that calls a constructor of the class. */
        public Maker newMaker(java.lang.reflect.Constructor<?> constructor) {
            try {
                return Maker.of(lookup(type), constructor);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new SASException("cannot call constructors of " + type.getName(), e);
            }
        }

        /** A temporary object with fields of zeros; no constructor of the program runs. */
        SasObject newTemporary() {
            SasObject object = newHandle(0);
            object.$sas$holder(null);
            return object;
        }

        @SuppressWarnings("unchecked")
        private LongFunction<Object> newCreator() {
            try {
                MethodHandles.Lookup lookup = lookup(type);
                MethodHandle create =
                        lookup.findStatic(type, "$sas$new", MethodType.methodType(Object.class, long.class));
                return (LongFunction<Object>) LambdaMetafactory.metafactory(lookup, "apply",
                        MethodType.methodType(LongFunction.class), MethodType.methodType(Object.class, long.class),
                        create, MethodType.methodType(Object.class, long.class))
                        .getTarget().invoke();
            } catch (Throwable e) {
                throw new SASException("cannot make handles of " + type.getName(), e);
            }
        }
    }
}
