/** The command {@code sas}. Everything else may be used here, and nothing else depends on it. */
package dev.norn.sas.command;
