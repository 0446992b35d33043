package dev.norn.sas;

import dev.norn.sas.exception.ClassChanged;
import dev.norn.sas.exception.ContainerDamaged;
import dev.norn.sas.exception.ContainerException;
import dev.norn.sas.exception.ContainerFull;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.exception.StoreClosed;
import dev.norn.sas.exception.TransactionConflict;
import dev.norn.sas.runtime.Classes;
import dev.norn.sas.runtime.CurrentStore;
import dev.norn.sas.runtime.Nobody;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.runtime.Values;
import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.log.Replication;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.DestroyRecord;
import dev.norn.sas.store.transaction.DestroyRecords;
import dev.norn.sas.store.transaction.Directory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * The store that this JVM is attached to: containers and named roots. Other JVMs may be attached at the same time. A
 * JVM is attached to one store at a time; handles become invalid when it is closed.
 */
public final class Store implements AutoCloseable {
    /** The container that {@link #create} makes, and that {@link Factory#newPermInstance(Class)} uses. */
    public static final String MAIN = "main";
    private static final long LOOK_MILLIS = 5;
    private static volatile Store current;

    private final AttachedStore attached;
    private final SubObjects subObjects;
    /** Null if the store is in no group, or another program connects it. */
    private volatile Member member;

    private Store(AttachedStore attached, SubObjects subObjects) {
        this.attached = attached;
        this.subObjects = subObjects;
    }

    /**
     * The settings of a new store.
     *
     * @param addressBytes address space for all containers; 1 TB at most; costs nothing on disk
     * @param logBytes length of the redo log, which a transaction's changes have to fit
     * @param mainBytes maximum size of the container {@code main}, in bytes
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

    /** Creates a store in an empty or new directory, and attaches to it as {@link #open(Path)} does. */
    public static Store create(Path directory, Options options) {
        Objects.requireNonNull(options, "the options are null");
        Path missing = StoreFiles.firstMissing(Objects.requireNonNull(directory, "the directory is null"));
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
            Directory.create(directory.toAbsolutePath(), options.addressBytes, options.logBytes,
                    options.lockTimeoutMillis, options.pool);
        } catch (IOException e) {
            throw new StorageWriteFailure("cannot make a store in " + directory + ": " + StoreFiles.reason(e), e);
        }
        try {
            Store store = attach(directory, SubObjects.ADOPT, AttachedStore::attach);
            Transaction.run(() -> store.createContainer(MAIN, options.mainBytes));
            return store;
        } catch (RuntimeException e) {
            removeIncomplete(directory, e);
            throw e;
        }
    }

    private static void removeIncomplete(Path directory, RuntimeException reason) {
        try {
            if (current != null && current.attached.toString().equals(directory.toAbsolutePath().toString())) {
                current.close();
            }
            Directory.remove(directory.toAbsolutePath());
        } catch (IOException | RuntimeException e) {
            reason.addSuppressed(e);
        }
    }

    /**
     * Attaches to the store with {@link SubObjects#ADOPT}: an object becomes persistent when a persistent object refers
     * to it.
     */
    public static Store open(Path directory) {
        return open(directory, SubObjects.ADOPT);
    }

    /**
     * Attaches to the store, and recovers after a crash. The first call since the machine started costs as much as
     * reading all containers.
     *
     * @throws StorageReadFailure if the directory is not a store, or cannot be read
     */
    public static Store open(Path directory, SubObjects subObjects) {
        Objects.requireNonNull(subObjects, "the mode for sub-objects is null");
        requireComplete(Objects.requireNonNull(directory, "the directory is null"));
        return attach(directory, subObjects, AttachedStore::attach);
    }

    /**
     * Attaches to the store as a member of a group: {@link #member} says whether it leads. Other programs of this
     * machine attach with {@link #open(Path)} meanwhile. What was not acknowledged when the store was last used is
     * undone: the group has what is. Costs as much as reading all containers.
     *
     * @throws StorageReadFailure if the store is no member of a group, its part of the group's log is missing, or other
     *     programs use it
     */
    public static Store open(Path directory, Group group) {
        Objects.requireNonNull(group, "the group is null");
        Group its = Group.complete(directory, group);
        Store store = openReplica(directory, Group.received(directory, its));
        try {
            store.member = Group.connect(store, directory, its);
            return store;
        } catch (IOException e) {
            store.close();
            throw new StorageReadFailure("cannot connect the member " + group.self() + " to its group: "
                    + StoreFiles.reason(e), e);
        } catch (RuntimeException | Error e) {
            store.close();
            throw e;
        }
    }

    /**
     * This JVM as a member of a group.
     *
     * @throws SASException if it is none
     */
    public Member member() {
        if (member == null) {
            throw new SASException("this JVM is no member of a group: Store.open(path, group) makes it one");
        }
        return member;
    }

    /**
     * Whether transactions commit here: always, unless the store is a member of a group that another one leads, or
     * takes no more changes. Any program that uses the store may ask; costs a few loads from shared memory.
     */
    public boolean isLeading() {
        return current() == this && Replication.takesChanges(attached.pages());
    }

    /**
     * Waits until transactions commit here; returns whether they do, or false after so long.
     *
     * @throws dev.norn.sas.exception.NotLeader if the store has to be closed and opened again before it can lead
     */
    public boolean awaitLeading(Duration wait) throws InterruptedException {
        long start = System.nanoTime();
        while (!isLeading()) {
            Replication.requireMayLead(attached.pages());
            if (System.nanoTime() - start >= wait.toNanos()) {
                return false;
            }
            Thread.sleep(LOOK_MILLIS);
        }
        return true;
    }

    /**
     * Attaches to the store of a member of a group of replicas, as a follower, which
     * {@link dev.norn.sas.store.replica.ReplicaStore#of} connects with the group. What was not acknowledged when it was
     * last used is undone: the group has what is.
     */
    public static Store openReplica(Path directory) {
        return openReplica(directory, null);
    }

    /** The same with files that another member has sent, in the place of the store's; null if there are none. */
    private static Store openReplica(Path directory, Path archive) {
        requireComplete(Objects.requireNonNull(directory, "the directory is null"));
        return attach(directory, SubObjects.ADOPT, its -> AttachedStore.attachReplica(its, archive));
    }

    private static void requireComplete(Path directory) {
        try {
            StoreFiles.requireComplete(directory.toAbsolutePath());
        } catch (IOException e) {
            throw new StorageReadFailure("cannot open the store " + directory + ": " + StoreFiles.reason(e), e);
        }
    }

    private static synchronized Store attach(Path directory, SubObjects subObjects,
            Function<Path, AttachedStore> how) {
        if (current != null) {
            throw new SASException("this JVM is attached to " + current + " already: close that store first");
        }
        Store store = new Store(how.apply(directory.toAbsolutePath()), subObjects);
        CurrentStore.open(store.attached, subObjects.targets());
        current = store;
        return store;
    }

    /**
     * Creates the store {@code to} from {@code from}. Instances of changed classes get the layout of the class files
     * that {@code classes} finds; none of these classes is loaded. This JVM must not be attached to a store. Programs
     * may continue to use {@code from}, which is not changed: the new store has all transactions that were committed
     * when the conversion began. {@code to} appears only when it is complete.
     *
     * <ul>
     * <li>An added field is zero or null. A removed field has to be named in {@code dropped}, and its values are lost.
     * {@link Renamed} gives the earlier name of a field.
     * <li>A number is converted to another primitive type if the new type represents it exactly.
     * <li>A reference of another type is kept if the object has that type.
     * <li>Objects stay at their addresses if they take as many units of 16 bytes as before. Others move, and references
     * to them are changed. Containers, limits, roots and everything else stay.
     * </ul>
     *
     * <p>Cost: a copy of the store, two passes over its objects, and 16 bytes of memory for each object that moves.
     *
     * @param dropped fields that may be lost, as {@code declaring-class.name}
     * @return what was done, a line for each class
     * @throws ClassChanged that names what cannot be converted, with class, field and address
     * @throws ContainerFull if objects have grown beyond the limit of their container
     * @throws ContainerDamaged if a container of {@code from} is damaged
     */
    public static synchronized List<String> convert(Path from, Path to, ClassLoader classes,
            java.util.Set<String> dropped) {
        if (current != null) {
            throw new SASException("this JVM is attached to " + current + ": a store is converted while there is none");
        }
        requireComplete(from);
        return dev.norn.sas.store.convert.Conversion.run(from.toAbsolutePath(), to.toAbsolutePath(),
                new dev.norn.sas.agent.ClassFiles(classes), dropped);
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

    public AttachedStore attached() {
        return attached;
    }

    public SubObjects subObjects() {
        return subObjects;
    }

    /** Creates a container of at most this size, rounded up to pages of 4,096 bytes. */
    public Container createContainer(String name, long bytesMax) {
        Objects.requireNonNull(name, "the container's name is null");
        return Session.get().nested(() -> new Container(StoreWork.createContainer(name, bytesMax)));
    }

    /** @throws ContainerException if there is none of this name */
    public Container container(String name) {
        Objects.requireNonNull(name, "the container's name is null");
        return Session.get().within(() -> new Container(StoreWork.container(name)));
    }

    /** Names of all containers. */
    public List<String> containers() {
        return Session.get().within(() -> StoreWork.names(DirectoryEntry.Kind.CONTAINER));
    }

    /**
     * The object with this name; null if there is none.
     *
     * @throws ObjectDestroyed with the name, if the object was destroyed: the name stays until {@link #setRoot} removes
     *     it or gives it to another object
     */
    public <T> T root(String name, Class<T> type) {
        Objects.requireNonNull(name, "the root's name is null");
        Objects.requireNonNull(type, "the root's class is null");
        Object root = Session.get().within(() -> StoreWork.root(name));
        if (root != null && !type.isInstance(root)) {
            throw new ClassCastException("the root " + name + " is a " + root.getClass().getName() + ", not a "
                    + type.getTypeName());
        }
        return type.cast(root);
    }

    /**
     * Names an object; null removes the name.
     *
     * @throws SASException if it is temporary, an array, or a value such as a string
     */
    public void setRoot(String name, Object object) {
        Objects.requireNonNull(name, "the root's name is null");
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
            throw new SASException("root " + name + (isPart
                    ? " cannot be a " + type + ": values and arrays have no names; name a persistent object that has "
                            + "it in a field"
                    : " would be a temporary " + type + ": create it with Factory.newInstanceIn"));
        }
        Transaction.run(() -> StoreWork.setRoot(name, reference));
    }

    /** Names of all roots. */
    public List<String> roots() {
        return Session.get().within(() -> StoreWork.names(DirectoryEntry.Kind.ROOT));
    }

    /** What containers have recorded of destroyed objects ({@link Container#recordDestroys}), the oldest first. */
    public List<DestroyRecord> destroys() {
        return Session.get().within(() -> DestroyRecords.list(Session.get().transaction()));
    }

    /**
     * Detaches. The calling thread's transaction, if one is open, is undone. From now on, transactions of other threads
     * are refused with {@link StoreClosed}; running ones are waited for. Handles and containers of this store then
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
            leave();
            try {
                attached.close();
            } finally {
                if (!attached.isOpen()) {
                    forget();
                }
            }
        }
    }

    private void leave() {
        if (member != null) {
            try {
                member.close();
            } catch (IOException e) {
                throw new StorageWriteFailure("cannot leave the group of " + this + ": " + StoreFiles.reason(e), e);
            }
        }
    }

    private static void forget() {
        current = null;
        CurrentStore.forget();
    }

    @Override
    public String toString() {
        return attached.toString();
    }
}
