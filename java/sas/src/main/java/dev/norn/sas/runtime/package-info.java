/**
 * What transformed classes call: handles of persistent objects, values, arrays, monitors, and the transaction of each
 * thread.
 *
 * <p>It may depend on {@code store.transaction} and the rooms below that. The agent and the interface of SAS are above
 * it: the agent names its classes in the code that it generates.
 */
package dev.norn.sas.runtime;
