/**
 * The redo log: records in a ring, their syncs, checkpoints, and the replay into the containers' files.
 *
 * <p>It may depend on {@code store.memory} and {@code store.heap}. It does not know what a record is the work of.
 */
package dev.norn.sas.store.log;
