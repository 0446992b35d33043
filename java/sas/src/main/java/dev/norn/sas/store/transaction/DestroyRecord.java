package dev.norn.sas.store.transaction;

import java.time.Instant;

/**
 * That an object was destroyed: what, when, by whom and why. The object's contents are not in it, since they may be
 * what has to be forgotten.
 *
 * @param address where the object was; several objects have been there, one after the other
 * @param generation which of these it was
 * @param type its class, or what kind of array it was
 * @param user the operating system's name for the user whose process destroyed it
 * @param note what the program said; empty if nothing
 */
public record DestroyRecord(Instant time, long address, int generation, String type, String container, String user,
        String process, String thread, String note) {
    /** In one line, with tabs between the parts, in their order. */
    public String line() {
        return String.join("\t", time.toString(), Long.toHexString(address), Integer.toString(generation), type,
                container, user, process, thread, note);
    }
}
