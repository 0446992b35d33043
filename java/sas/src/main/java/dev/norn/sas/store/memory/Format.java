package dev.norn.sas.store.memory;

/**
 * Every offset and code of the pool, of containers and of objects; {@code docs/format/sas.md} draws them.
 *
 * <p>The pool is one sparse file that every JVM of a store maps: a control area that is never made durable, and the
 * containers, each in a range of its own. A container's file has the bytes of its range. Words are 64 bits, in the
 * machine's order.
 */
public final class Format {
    public static final long MAGIC = 0x4E4F524E5341_5331L;
    public static final long VERSION = 7;

    // The pool's header, at 0.
    public static final long POOL_MAGIC = 0;
    public static final long POOL_VERSION = 8;
    public static final long POOL_BOOT_HIGH = 16;
    public static final long POOL_BOOT_LOW = 24;
    public static final long POOL_STORE_HIGH = 32;
    public static final long POOL_STORE_LOW = 40;
    public static final long POOL_VALID = 48;
    public static final long POOL_WRITE_FAILED = 56;
    /** What {@link #POOL_WRITE_FAILED} says: it is unknown whether the last writes are durable. */
    public static final long SYNC_FAILED = 1;
    /**
     * What {@link #POOL_WRITE_FAILED} says: the log that the processes write to is no longer the store's. What is in
     * the pool is right.
     */
    public static final long LOG_REMOVED = 2;
    /**
     * What {@link #POOL_WRITE_FAILED} says: the store led a group and does not any more. What is not acknowledged may
     * be undone.
     */
    public static final long LEADERSHIP_LOST = 3;
    public static final long LOG_LATCH = 64;
    public static final long LOG_TAIL = 128;
    public static final long LOG_BASE = 136;
    public static final long LOG_SYNCED = 144;
    public static final long LOG_RING = 152;
    public static final long LOG_IDENTITY_HIGH = 160;
    public static final long LOG_IDENTITY_LOW = 168;
    /** Only who has this latch value appends, who has {@link #CHECKPOINT_LATCH} and needs much room; 0: everybody. */
    public static final long LOG_RESERVED = 176;
    public static final long SYNC_LATCH = 192;
    public static final long CHECKPOINT_LATCH = 200;
    public static final long VERSIONS_LATCH = 208;
    public static final long NEXT_INCARNATION = 320;
    public static final long SYNC_COUNT = 384;
    public static final long COMMIT_COUNT = 392;
    public static final long LOGGED_BYTES = 400;
    public static final long CHECKPOINT_COUNT = 408;
    /** Above every generation of containers whose making was undone: their addresses are given out again. */
    public static final long FIRST_GENERATION = 416;
    /** Which file the lock file is whose attachments use the pool. */
    public static final long POOL_LOCK_DEVICE = 424;
    public static final long POOL_LOCK_INODE = 432;
    /** A bit for each place of {@link #READERS} whose process reads a snapshot: while one is set, versions are kept. */
    public static final long SNAPSHOTS = 448;
    /** The position after the last version, which only grows. */
    public static final long VERSIONS_HEAD = 512;
    /** Bytes of the ring of versions that the pool's file has storage for. */
    public static final long VERSIONS_BACKED = 520;
    /** What the store is in a group of replicas; 0 if it is in none. */
    public static final long REPLICA_ROLE = 528;
    public static final long FOLLOWER = 1;
    public static final long LEADER = 2;
    /** The reference of the object that has the number of the last record. */
    public static final long REPLICA_STATE = 536;
    /** Up to where a leader's records were handed on to the group. */
    public static final long LOG_SHIPPED = 544;
    /** The attachment that replicates. */
    public static final long REPLICA_OWNER = 552;
    /** The owners of the bits of {@link #SNAPSHOTS}; 0 where there is none. */
    public static final long READERS = 576;
    public static final int READERS_MAX = 64;

    // Slots: one for each transaction that runs.
    public static final long SLOTS = 8192;
    public static final int SLOTS_MAX = 48;
    public static final long SLOT_BYTES = 128;
    public static final long SLOT_OWNER = 0;
    public static final long SLOT_STATE = 8;
    public static final long SLOT_TAIL = 16;
    public static final long SLOT_LATCH = 24;
    public static final long SLOT_WAITS_FOR = 32;
    public static final long SLOT_RECORD = 40;
    public static final long SLOT_RECORD_END = 48;
    public static final long SLOT_BACKED = 56;
    public static final long SLOT_TRANSACTION = 64;
    /** Counts the slot's transactions, so that a reader of its undo stream sees whether it is another. */
    public static final long SLOT_COUNT = 72;

    public static final long STATE_FREE = 0;
    public static final long STATE_ACTIVE = 1;
    public static final long STATE_COMMITTING = 2;
    public static final long STATE_COMMITTED = 3;
    public static final long STATE_ABORTING = 4;
    /** All is undone, but not all locks are released: others may have changed what the slot had locked. */
    public static final long STATE_UNDONE = 5;

    // Counts of notifications, by a hash of the object's offset.
    public static final long NOTICES = 64 << 10;
    public static final int NOTICES_BITS = 12;

    // Up to where the log has to be durable before any caller gets an object's values, by a hash of the object's
    // offset.
    public static final long UNSYNCED = 128 << 10;
    public static final int UNSYNCED_BITS = 12;

    // The newest version of the objects with a hash, by its position in the ring of versions.
    public static final long CHAINS = 512 << 10;
    public static final int CHAINS_BITS = 16;
    /** Up to here, the control area is backed from the beginning. */
    public static final long CONTROL_BYTES = 1 << 20;

    public static final long UNDO = 1L << 30;
    public static final long UNDO_BYTES = 256L << 20;

    // Undo entries: a word with kind and length, a word with the offset, then the content.
    public static final int ENTRY_LOCK = 1;
    public static final int ENTRY_IMAGE = 2;
    public static final int ENTRY_ALLOCATION = 3;
    public static final int ENTRY_FREE = 4;
    public static final int ENTRY_RANGE = 5;
    public static final int ENTRY_CONTAINER = 6;
    public static final int ENTRY_HEADER_BYTES = 16;

    // A ring of versions, which snapshots read: what objects and values were before a commit changed or freed them.
    public static final long VERSIONS = 13L << 30;
    public static final long VERSIONS_BYTES = 256L << 20;
    public static final int VERSION_BEFORE = 0;
    public static final int VERSION_REFERENCE = 8;
    public static final int VERSION_UNTIL = 16;
    public static final int VERSION_LENGTH = 24;
    public static final int VERSION_AT = 32;
    public static final int VERSION_HEADER_BYTES = 40;

    // Containers.
    public static final long CONTAINERS = 16L << 30;
    public static final int CONTAINER_ALIGNMENT_BITS = 30;
    public static final int PAGE_BYTES = 4096;
    public static final int PAGE_BITS = 12;
    public static final int GRANULE_BYTES = 16;
    public static final int GRANULES = PAGE_BYTES / GRANULE_BYTES;
    public static final long CONTAINER_MAGIC = 0;
    public static final long CONTAINER_ID = 8;
    public static final long CONTAINER_PAGES_MAX = 16;
    public static final long CONTAINER_STORE_HIGH = 24;
    public static final long CONTAINER_STORE_LOW = 32;
    public static final long CONTAINER_HEADER_CHECK = 40;
    public static final long CONTAINER_PAGES_USED = 64;
    public static final long CONTAINER_GROW_LATCH = 72;
    public static final long CONTAINER_PAGES_BACKED = 80;
    public static final long CONTAINER_DAMAGED_PAGE = 88;
    /** What {@link #CONTAINER_DAMAGED_PAGE} says of a container whose file is missing. */
    public static final long FILE_MISSING = -1;

    // Page descriptors: where objects start, and the page's generation.
    public static final long DESCRIPTOR_BYTES = 64;
    public static final long DESCRIPTOR_LATCH = 32;
    public static final long DESCRIPTOR_GENERATION = 40;
    public static final long DESCRIPTOR_SPAN = 44;
    public static final long DESCRIPTOR_PAGE_CHECK = 48;
    public static final long DESCRIPTOR_CHECK = 56;
    // What a descriptor has in the pool, in the place of the page's check: from which granule on all are free, and the
    // fewest granules for which no room is left.
    public static final long DESCRIPTOR_FREE_END = 48;
    public static final long DESCRIPTOR_LACKS = 52;
    /** What {@link #DESCRIPTOR_SPAN} says of a page that an object of an earlier page covers. */
    public static final int SPAN_INTERIOR = 1;

    // Objects: generation, class and length in the first word; the lock in the second.
    public static final int GENERATION_BITS = 24;
    public static final long GENERATION_MASK = (1L << GENERATION_BITS) - 1;
    /**
     * The generation of a page that has given out all: nothing is allocated there any more, so that no generation is
     * ever given out twice.
     */
    public static final int RETIRED = 1 << GENERATION_BITS;
    public static final int CLASS_SHIFT = 24;
    public static final int LENGTH_SHIFT = 40;
    public static final long LENGTH_MASK = (1L << 23) - 1;
    /** Of objects, which have fewer granules than values may have bytes. */
    private static final int OBJECT_LENGTH_MASK = (1 << 22) - 1;
    /** In an object's first word: its identity hash code is not made of its address, but is in its last four bytes. */
    public static final long HASHED = 1L << 62;
    public static final int HASH_BYTES = 4;
    public static final long DESTROYED = 1L << 63;
    public static final long OBJECT_LOCK = 8;
    /** In an object's lock word: somebody holds it exclusively. The slots that hold it have the lowest bits. */
    public static final long LOCK_EXCLUSIVE = 1L << 63;
    public static final long LOCK_HOLDERS = (1L << SLOTS_MAX) - 1;
    public static final int OBJECT_HEADER_BYTES = 16;
    public static final int VALUE_HEADER_BYTES = 8;
    public static final long ARRAY_LENGTH = 16;
    /** In a replica's object: the number of the last record. */
    public static final int REPLICA_NUMBER = 16;
    /** The epoch of the leader whose records come now. */
    public static final int REPLICA_EPOCH = 24;
    /** How many epochs have ended; then the last ones, each with the number of its last record. */
    public static final int REPLICA_ENDED = 32;
    public static final int REPLICA_ENDS = 40;
    public static final int REPLICA_ENDS_MAX = 32;
    public static final int REPLICA_BYTES = REPLICA_ENDS + 16 * REPLICA_ENDS_MAX;
    public static final int ARRAY_HEADER_BYTES = 24;

    public static final int CLASS_VALUE = 1;
    public static final int CLASS_DIRECTORY = 2;
    public static final int CLASS_ENTRY = 3;
    /** A record that an object was destroyed. */
    public static final int CLASS_DESTROYED = 4;
    /** What a replica knows of its group. */
    public static final int CLASS_REPLICA = 5;
    /** Arrays of references; the primitive ones follow in the order of {@link #PRIMITIVES}. */
    public static final int CLASS_ARRAY = 8;
    public static final String PRIMITIVES = "ZBSCIJFD";
    /** The first number of a user's class. */
    public static final int CLASS_USER = 64;

    // Reference words: a tag, the offset, and 24 bits of generation.
    public static final int TAG_MASK = 15;
    public static final int TAG_OBJECT = 0;
    public static final int TAG_TEMPORARY = 1;
    public static final int TAG_INLINE = 2;
    public static final int TAG_VALUE = 3;
    public static final int GENERATION_SHIFT = 40;

    /** The largest object with fields, header included: it has to fit a page. */
    public static final int OBJECT_BYTES_MAX = PAGE_BYTES;

    private Format() {}

    public static long slotHead(int slot) {
        return SLOTS + slot * SLOT_BYTES;
    }

    public static long undo(int slot) {
        return UNDO + slot * UNDO_BYTES;
    }

    /** The first word of an object. */
    public static long header(int generation, int classNumber, int length) {
        return (generation & GENERATION_MASK) | (long) classNumber << CLASS_SHIFT | (long) length << LENGTH_SHIFT;
    }

    public static int classOf(long header) {
        return (int) (header >>> CLASS_SHIFT) & 0xFFFF;
    }

    public static int generationOf(long header) {
        return (int) (header & GENERATION_MASK);
    }

    public static boolean isDestroyed(long header) {
        return header < 0;
    }

    /** Bytes of a value. */
    public static int lengthOf(long header) {
        return (int) (header >>> LENGTH_SHIFT & LENGTH_MASK);
    }

    /** Granules that the object with this header takes. */
    public static int granulesOf(long header) {
        int length = lengthOf(header);
        return classOf(header) == CLASS_VALUE ? granules(VALUE_HEADER_BYTES + length) : length & OBJECT_LENGTH_MASK;
    }

    /** Whether the object has an identity hash code of its own. */
    public static boolean isHashed(long header) {
        return (header & HASHED) != 0;
    }

    /** Where the hash code of such an object with this header is. */
    public static long hashPlace(long offset, long header) {
        return offset + (long) granulesOf(header) * GRANULE_BYTES - HASH_BYTES;
    }

    public static int granules(long bytes) {
        return (int) ((bytes + GRANULE_BYTES - 1) / GRANULE_BYTES);
    }

    /** The reference to the object at {@code offset} with this generation. */
    public static long reference(long offset, int generation) {
        return offset | (long) generation << GENERATION_SHIFT;
    }

    /** The identity hash code of an object with this reference that has none of its own: the same in every JVM. */
    public static int hashOfAddress(long reference) {
        return Long.hashCode(reference * 0x9E3779B97F4A7C15L);
    }

    public static long offsetOf(long reference) {
        return reference & Memory.MASK & ~TAG_MASK;
    }

    public static int generationOfReference(long reference) {
        return (int) (reference >>> GENERATION_SHIFT);
    }

    public static int elementBytes(int arrayClass) {
        return switch (arrayClass - CLASS_ARRAY) {
            case 0, 6, 8 -> 8;
            case 1, 2 -> 1;
            case 3, 4 -> 2;
            case 5, 7 -> 4;
            default -> throw new IllegalArgumentException("no class of arrays: " + arrayClass);
        };
    }

    public static boolean isArray(int classNumber) {
        return classNumber >= CLASS_ARRAY && classNumber <= CLASS_ARRAY + PRIMITIVES.length();
    }
}
