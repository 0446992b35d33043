/**
 * What the store throws at a program: every exception is a {@link dev.norn.sas.exception.SASException}. Every room of
 * SAS may throw them, so they depend on nothing.
 */
package dev.norn.sas.exception;
