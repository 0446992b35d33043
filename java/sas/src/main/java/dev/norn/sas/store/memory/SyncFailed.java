package dev.norn.sas.store.memory;

import java.nio.file.FileSystemException;

/**
 * A sync failed: what was written before may be lost, although it can be read, and another sync that succeeds says
 * nothing about it.
 */
public final class SyncFailed extends FileSystemException {
    private static final long serialVersionUID = 1;

    public SyncFailed(FileSystemException cause) {
        super(cause.getFile(), cause.getOtherFile(), cause.getReason());
        initCause(cause);
    }
}
