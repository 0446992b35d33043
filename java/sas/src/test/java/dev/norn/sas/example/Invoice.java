package dev.norn.sas.example;

/** What one thread makes the first of, while another does. */
class Invoice {
    private final long total;
    private Object line;

    Invoice(long total) {
        this.total = total;
    }

    long total() {
        return total;
    }

    Object line() {
        return line;
    }

    void setLine(Object its) {
        line = its;
    }

    /** A class of as many bytes. */
    static class Reminder {
        private long days = 1;
        private Object of;
    }
}
