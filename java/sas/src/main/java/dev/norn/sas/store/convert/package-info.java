/**
 * Makes a store for classes that have changed from one with the old layouts.
 *
 * <p>It may depend on the other rooms of the store, on {@code store.inspect} for names of values, and on the agent,
 * which reads class files.
 */
package dev.norn.sas.store.convert;
