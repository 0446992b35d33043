package dev.norn.sas.store.transaction;

/** What becomes of a request to destroy an object, by its container; each is stricter than the one before. */
public enum DestroyRule {
    ALLOWED, RECORDED, FORBIDDEN
}
