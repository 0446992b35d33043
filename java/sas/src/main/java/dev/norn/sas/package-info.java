/**
 * The interface of SAS: a store, its containers and roots, the factory of persistent objects, and transactions. What it
 * throws is in {@code dev.norn.sas.exception}.
 *
 * <p>Programs use this, {@code exception} and {@code util}. It may depend on every room but the command and the
 * collections.
 */
package dev.norn.sas;
