package dev.norn.sas.store.log;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.norn.sas.Store;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.NativeFile;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.FaultyLog;
import java.lang.reflect.Field;

/** What a replay does with a container's file. */
public final class ReplayedFile {
    private ReplayedFile() {}

    /**
     * Replays one operation, which changes nothing, into the file of an object's container.
     *
     * @return what was done with the file: for each write whether it was one of descriptors, and null for each sync
     */
    public static java.util.List<Boolean> replayInto(Store store, Object object) throws Exception {
        AttachedStore attached = store.attached();
        long offset = Format.offsetOf(((SasObject) object).$sas$reference());
        Range range = attached.containerOf(((SasObject) object).$sas$reference());
        FaultyLog file = new FaultyLog(
                NativeFile.open(attached.pages().directory.resolve(range.name + ".container"), READ, WRITE));
        try (Replay replay = new Replay(attached.pages())) {
            Field channel = null;
            for (Object its : files(replay)) {
                channel = its.getClass().getDeclaredField("channel");
                channel.setAccessible(true);
                Field itsRange = its.getClass().getDeclaredField("range");
                itsRange.setAccessible(true);
                if (((Range) itsRange.get(its)).base == range.base) {
                    channel.set(its, file);
                }
            }
            java.nio.ByteBuffer operation = java.nio.ByteBuffer.allocate(24).order(java.nio.ByteOrder.LITTLE_ENDIAN);
            Replay.begin(operation, Replay.RANGE, offset + Format.OBJECT_HEADER_BYTES, 8);
            replay.apply(operation.putLong(Memory.getLong(offset + Format.OBJECT_HEADER_BYTES)).flip());
            replay.finish();
        }
        java.util.List<Boolean> done = new java.util.ArrayList<>();
        long objects = range.pageOffset(0) - range.base;
        file.trace().forEach(place -> done.add(place < 0 ? null : Boolean.valueOf(place < objects)));
        return done;
    }

    private static java.util.Collection<?> files(Replay replay) throws ReflectiveOperationException {
        Field files = Replay.class.getDeclaredField("files");
        files.setAccessible(true);
        return ((java.util.Map<?, ?>) files.get(replay)).values();
    }
}
