/**
 * Containers and the objects in them: allocation, pages with their descriptors and generations, the containers' files,
 * and the directory as it can be read without a lock.
 *
 * <p>It may depend on {@code store.memory}. It knows no transaction; an allocation publishes its undo entry in the slot
 * that it is given.
 */
package dev.norn.sas.store.heap;
