/**
 * Shows what a store has: to the command {@code sas}, to debuggers by {@code Factory.describe}, and to tests by the
 * checker. Nothing here changes a store.
 *
 * <p>It may depend on the other rooms of the store, and on the runtime, which knows how values are encoded.
 */
package dev.norn.sas.store.inspect;
