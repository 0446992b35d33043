/**
 * Transactions on an attached store: strict two-phase locks, undo, savepoints and commits; recovery of what the dead
 * left; the changes of the directory; attaching to a store, checkpoints in the background and backups.
 *
 * <p>It may depend on {@code store.memory}, {@code store.heap} and {@code store.log}. It knows objects by their
 * references and bytes, and no class of the program.
 */
package dev.norn.sas.store.transaction;
