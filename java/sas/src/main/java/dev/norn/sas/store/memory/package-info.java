/**
 * What the processes of a store share: the mapped page pool with every offset and code of it, the files of a store's
 * directory, the attachments, and in shared memory the slots of transactions and the latches.
 *
 * <p>This room knows neither objects nor the log. What a latch guards is put in order by recovery, which is asked
 * through {@link dev.norn.sas.store.memory.Recoverer}. It may depend on the exceptions only.
 */
package dev.norn.sas.store.memory;
