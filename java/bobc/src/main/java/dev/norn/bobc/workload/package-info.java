/**
 * What every store of the benchmark gets to do: how large a warehouse is, random values, and the inputs of
 * transactions. It depends on nothing, so that objects and rows are made from the same values.
 */
package dev.norn.bobc.workload;
