/**
 * A store as a member of a group of replicas, whatever carries records between them. It depends on
 * {@code store.transaction} and what is below that.
 */
package dev.norn.sas.store.replica;
