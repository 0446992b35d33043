package dev.norn.sas.example;

/** A mailbox for one letter, as in any textbook. */
public class Mailbox {
    private String letter;
    private long taken;

    Mailbox() {}

    synchronized void put(String text) throws InterruptedException {
        while (letter != null) {
            wait();
        }
        letter = text;
        notifyAll();
    }

    synchronized String take() throws InterruptedException {
        while (letter == null) {
            wait();
        }
        String text = letter;
        letter = null;
        taken++;
        notifyAll();
        return text;
    }

    /** Null if nothing comes in time. */
    synchronized String poll(long millis) throws InterruptedException {
        if (letter == null) {
            wait(millis);
        }
        return letter;
    }

    long taken() {
        return taken;
    }
}
