package dev.norn.sas.example;

/** A register that remembers who wrote it last, and the four before. */
public class Register {
    private long writer;
    private long before;
    private long before2;
    private long before3;
    private long before4;

    Register() {}

    void write(long id) {
        before4 = before3;
        before3 = before2;
        before2 = before;
        before = writer;
        writer = id;
    }

    long writer() {
        return writer;
    }

    /** The last writers, the newest first. */
    long[] writers() {
        return new long[] {writer, before, before2, before3, before4};
    }
}
