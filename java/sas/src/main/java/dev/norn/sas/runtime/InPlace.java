package dev.norn.sas.runtime;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.StoreTransaction;
import java.util.Arrays;
import java.util.function.LongFunction;

/**
 * An array whose elements are used in place, in the mapping. They follow its only field, the length. The handle of a
 * persistent one has no copy of them; a temporary one has a Java array. A transaction locks the array like any object,
 * but keeps the images of the blocks only that it is about to change: {@code $sas$kept} has a bit for each of them,
 * from the first change after a savepoint, or after the beginning, until the next one, or until the transaction leaves
 * its handles.
 *
 * <pre>
 *  0  header (16) | length (32) | 0 (32)
 * 24  elements
 * </pre>
 *
 * <p>Implemented by {@code SasArray}, whose handles the agent makes.
 */
public interface InPlace {
    long LENGTH = OBJECT_HEADER_BYTES;
    long ELEMENTS = LENGTH + 8;
    /** Of blocks: 256 bytes, as an entry of the undo stream has 16 bytes besides. No element is in two. */
    int BLOCK_BITS = 8;

    /**
     * Blocks whose images are kept since the transaction's last savepoint, or need none; null if none was changed
     * since.
     */
    long[] $sas$kept();

    void $sas$kept(long[] blocks);

    /** Of the persistent form, in bytes. */
    long $sas$bytes();

    /** Writes length and elements of the temporary array to this offset. */
    void $sas$write(long offset);

    /** The elements of a temporary array, as a Java array; null if it is none. */
    Object $sas$elements();

    void $sas$elements(Object elements);

    /** Where the array is if the running transaction may read it, and locks it for that; 0 outside transactions. */
    static long reading(SasObject array) {
        if (array.$sas$holder() == Thread.currentThread()) {
            return offsetOf(array.$sas$reference());
        }
        return Session.read(array) == null ? 0 : SnapshotReads.place(Session.get(), array.$sas$reference());
    }

    /** The length of the array at this offset. */
    static int length(long at) {
        return Memory.getInt(at + LENGTH);
    }

    /** Reads committed elements outside transactions; again, if a writer came between. */
    static <T> T committed(SasObject array, LongFunction<T> reading) {
        return Committed.read(array.$sas$reference(), () -> reading.apply(offsetOf(array.$sas$reference())));
    }

    /** Whether the block with the byte at this distance from the array's beginning is among these. */
    static boolean has(long[] blocks, long distance) {
        int block = (int) (distance >>> BLOCK_BITS);
        return (blocks[block >>> 6] >>> block & 1) != 0;
    }

    /** Locks the array for writing, and keeps the images of what is about to change. In a transaction. */
    static void keep(SasObject array, long distance, long bytes) {
        Session session = Session.get();
        InPlace its = (InPlace) Session.write(array);
        long at = offsetOf(array.$sas$reference());
        if (its.$sas$kept() == null) {
            // Of a small one, the lock has kept an image as a whole.
            session.changing().add(its, blocks(its.$sas$bytes(), StoreTransaction.isTouched(at) ? 0 : -1));
        }
        long end = distance + bytes;
        for (long from = distance & -1L << BLOCK_BITS; from < end; from += 1L << BLOCK_BITS) {
            if (!has(its.$sas$kept(), from)) {
                from = keepRun(session, its, at, from, end);
            }
        }
    }

    /**
     * Keeps blocks up to one that is kept already; returns where the last one is. Those that the undo stream has images
     * of, from before the last savepoint, are kept in memory, the others in the stream.
     */
    private static long keepRun(Session session, InPlace its, long at, long first, long end) {
        long[] kept = its.$sas$kept();
        long[] logged = session.changing().of(its);
        boolean isLogged = has(logged, first);
        long last = first;
        for (long next = first + (1L << BLOCK_BITS); next < end && !has(kept, next) && has(logged, next) == isLogged;
                next += 1L << BLOCK_BITS) {
            last = next;
        }
        // The header is the lock's and the heap's: neither to be restored nor logged with the elements.
        long from = Math.max(first, ELEMENTS);
        long wholeWords = its.$sas$bytes() + 7 & ~7L;
        int length = (int) (Math.min(last + (1L << BLOCK_BITS), wholeWords) - from);
        if (isLogged) {
            session.transaction().keepRange(at + from, length);
        } else {
            session.transaction().touch(at + from, length);
        }
        for (int block = (int) (first >>> BLOCK_BITS); block <= last >>> BLOCK_BITS; block++) {
            kept[block >>> 6] |= 1L << block;
            logged[block >>> 6] |= 1L << block;
        }
        return last;
    }

    /** As many bits as the array has blocks. */
    static long[] blocks(long bytes, long each) {
        long[] blocks = new long[(int) (bytes >>> BLOCK_BITS >>> 6) + 1];
        Arrays.fill(blocks, each);
        return blocks;
    }
}
