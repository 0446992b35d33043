package dev.norn.sas;

import dev.norn.sas.runtime.Classes;
import dev.norn.sas.runtime.Nobody;
import dev.norn.sas.runtime.References;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.runtime.Temporaries;
import dev.norn.sas.runtime.Values;
import dev.norn.sas.store.Directory;
import dev.norn.sas.store.Pool;
import dev.norn.sas.store.StoreFiles;
import dev.norn.sas.store.StoreWork;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The store that this JVM is attached to: containers and named roots. Other JVMs may be attached at the same time. A
 * JVM is attached to one store at a time; handles do not outlive it.
 */
public final class Store implements AutoCloseable {
    /** The container that {@link #create} makes, and that {@link Factory#newPermInstance(Class)} uses. */
    public static final String MAIN = "main";
    private static volatile Store current;

    private final Pool pool;
    private final SubObjects subObjects;

    private Store(Pool pool, SubObjects subObjects) {
        this.pool = pool;
        this.subObjects = subObjects;
    }

    /**
     * How a store is made.
     *
     * @param addressBytes address space for all containers; 1 TB at most; costs nothing on disk
     * @param logBytes length of the redo log, which a transaction's changes have to fit
     * @param mainBytes most that the container {@code main} may take
     * @param lockTimeoutMillis how long to wait for a lock before a {@link TransactionConflict}
     * @param pool file of the page pool, for example in {@code /dev/shm}; null for the store's directory
     */
    public record Options(long addressBytes, long logBytes, long mainBytes, long lockTimeoutMillis, String pool) {
        /** 256 GB of addresses, 64 MB of log, 8 GB for {@code main}, 10 s. */
        public static Options defaults() {
            return new Options(256L << 30, 64L << 20, 8L << 30, 10_000, null);
        }

        public Options withLogBytes(long bytes) {
            return new Options(addressBytes, bytes, mainBytes, lockTimeoutMillis, pool);
        }

        public Options withMainBytes(long bytes) {
            return new Options(addressBytes, logBytes, bytes, lockTimeoutMillis, pool);
        }

        public Options withLockTimeoutMillis(long millis) {
            return new Options(addressBytes, logBytes, mainBytes, millis, pool);
        }

        public Options withPool(String file) {
            return new Options(addressBytes, logBytes, mainBytes, lockTimeoutMillis, file);
        }
    }

    /** Makes a store in an empty or new directory, and attaches to it as {@link #open(Path)} does. */
    public static Store create(Path directory, Options options) {
        Path missing = StoreFiles.firstMissing(directory);
        try {
            return createIn(directory, options);
        } catch (RuntimeException e) {
            try {
                StoreFiles.removeEmpty(directory, missing);
            } catch (IOException ignored) {
                e.addSuppressed(ignored);
            }
            throw e;
        }
    }

    private static Store createIn(Path directory, Options options) {
        try {
            Directory.create(directory.toAbsolutePath(), options.addressBytes, options.logBytes, options.lockTimeoutMillis, options.pool);
        } catch (IOException e) {
            throw new StorageWriteFailure("cannot make a store in " + directory + ": " + StoreFiles.reason(e), e);
        }
        try {
            Store store = open(directory);
            Transaction.run(() -> store.createContainer(MAIN, options.mainBytes));
            return store;
        } catch (RuntimeException e) {
            removeIncomplete(directory, e);
            throw e;
        }
    }

    private static void removeIncomplete(Path directory, RuntimeException reason) {
        try {
            if (current != null && current.pool.toString().equals(directory.toAbsolutePath().toString())) {
                current.close();
            }
            Directory.remove(directory.toAbsolutePath());
        } catch (IOException | RuntimeException e) {
            reason.addSuppressed(e);
        }
    }

    /** Attaches to the store with {@link SubObjects#ADOPT}: what a persistent object gets becomes persistent. */
    public static Store open(Path directory) {
        return open(directory, SubObjects.ADOPT);
    }

    /**
     * Attaches to the store. Recovers what a crash left; costs as much as reading all containers if this is the first
     * time since the machine started.
     *
     * @throws StorageReadFailure if it is none, or unreadable
     */
    public static synchronized Store open(Path directory, SubObjects subObjects) {
        if (current != null) {
            throw new SASException("this JVM is attached to " + current + " already: close that store first");
        }
        Store store = new Store(Pool.attach(directory.toAbsolutePath()), subObjects);
        References.begin();
        Nobody.renew();
        current = store;
        return store;
    }

    /**
     * Makes the store {@code to} from {@code from}, in which the instances of classes that have changed have the layout
     * of the class files that {@code classes} finds; none of these classes is loaded, and this JVM is attached to no
     * store. Programs may go on using {@code from}: the new store has what was committed when the conversion began, and
     * {@code from} is not changed. {@code to} is there when it is complete, and not before.
     *
     * <ul>
     * <li>An added field is zero or null. A removed one has to be named in {@code dropped}, and loses its values.
     * {@link Renamed} says what a field was called before.
     * <li>A number of another primitive type is taken over if the new type has it exactly.
     * <li>A reference of another type is taken over if the object is of that type.
     * <li>Objects stay at their addresses if they take as many units of 16 bytes as before; others move, and what
     * refers to them is changed. Containers, limits, roots and all else stay.
     * </ul>
     *
     * <p>Costs copying the store, two passes over its objects, and 16 bytes of memory for each that moves.
     *
     * @param dropped fields that may be lost, as {@code declaring-class.name}
     * @return what was done, a line for each class
     * @throws ClassChanged that says what cannot be converted, with class, field and address
     * @throws ContainerFull if objects have grown past what their container may take
     * @throws ContainerDamaged if a container of {@code from} is
     */
    public static synchronized List<String> convert(Path from, Path to, ClassLoader classes, java.util.Set<String> dropped) {
        if (current != null) {
            throw new SASException("this JVM is attached to " + current + ": a store is converted while it is attached to none");
        }
        return dev.norn.sas.store.Conversion.run(from.toAbsolutePath(), to.toAbsolutePath(), new dev.norn.sas.agent.ClassFiles(classes), dropped);
    }

    /** The same with the classes of the calling thread, and nothing dropped. */
    public static List<String> convert(Path from, Path to) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        return convert(from, to, loader == null ? ClassLoader.getSystemClassLoader() : loader, java.util.Set.of());
    }

    /**
     * The store that this JVM is attached to.
     *
     * @throws StoreClosed if there is none
     */
    public static Store current() {
        Store store = current;
        if (store == null) {
            throw new StoreClosed("this JVM is attached to no store: Store.open(path) does it");
        }
        return store;
    }

    /** Whether this JVM is attached to a store. */
    public static boolean isOpen() {
        return current != null;
    }

    public Pool pool() {
        return pool;
    }

    public SubObjects subObjects() {
        return subObjects;
    }

    /** Makes a container that holds so many bytes at most, rounded up to pages of 4,096. */
    public Container createContainer(String name, long bytesMax) {
        return Session.get().nested(() -> new Container(StoreWork.createContainer(name, bytesMax)));
    }

    /** @throws ContainerException if there is none of this name */
    public Container container(String name) {
        return Session.get().within(() -> new Container(StoreWork.container(name)));
    }

    /** Names of all containers. */
    public List<String> containers() {
        return Session.get().within(() -> StoreWork.names(Directory.Kind.CONTAINER));
    }

    /**
     * The object with this name; null if there is none.
     *
     * @throws ObjectDestroyed with the name, if the object was destroyed: the name stays until {@link #setRoot} takes
     *     it away or gives it to another
     */
    public <T> T root(String name, Class<T> type) {
        return Session.get().within(() -> type.cast(StoreWork.root(name)));
    }

    /**
     * Names an object; null takes the name away.
     *
     * @throws SASException if it is temporary, an array, or a value as a string is
     */
    public void setRoot(String name, Object object) {
        if (object instanceof SasObject handle) {
            Nobody.requireOpenStore(handle);
        }
        long reference = object instanceof SasObject handle ? handle.$sas$reference() : 0;
        if (object != null && reference == 0) {
            boolean isPart = object.getClass().isArray() || Values.encode(object) != null;
            if (!isPart) {
                Classes.of(object.getClass()).requirePersistable();
            }
            String type = object.getClass().getTypeName();
            throw new SASException("root " + name + (isPart ? " cannot be a " + type + ": values and arrays have no names; name a persistent object that has it in a field"
                    : " would be a temporary " + type + ": create it with Factory.newInstanceIn"));
        }
        Transaction.run(() -> StoreWork.setRoot(name, reference));
    }

    /** Names of all roots. */
    public List<String> roots() {
        return Session.get().within(() -> StoreWork.names(Directory.Kind.ROOT));
    }

    /**
     * Detaches. The calling thread's transaction, if one is open, is undone. From now on, transactions of other threads
     * are refused with {@link StoreClosed}; those that run are waited for. Handles and containers of this store then
     * throw {@link StoreClosed}.
     *
     * @throws SASException that names the thread, if a transaction has not ended after the store's lock timeout: the
     *     store stays open, and can be used and closed again
     */
    @Override
    public synchronized void close() {
        synchronized (Store.class) {
            if (current != this) {
                return;
            }
            if (Session.get().isActive()) {
                Session.get().abort();
            }
            try {
                pool.close();
            } finally {
                if (!pool.isOpen()) {
                    forget();
                }
            }
        }
    }

    private static void forget() {
        current = null;
        Nobody.renew();
        Classes.clear();
        Temporaries.clear();
        dev.norn.sas.runtime.StrayArrays.clear();
    }

    @Override
    public String toString() {
        return pool.toString();
    }
}
