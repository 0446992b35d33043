package dev.norn.sas.runtime;

/** What a transaction does, with a result. */
@FunctionalInterface
public interface Body<T, X extends Exception> {
    T run() throws X;
}
