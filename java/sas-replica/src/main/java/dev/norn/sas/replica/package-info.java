/** Stores that outlive their machine: groups of members that agree on redo records by Raft, over Apache Ratis. */
package dev.norn.sas.replica;
