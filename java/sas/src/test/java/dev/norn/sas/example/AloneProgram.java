package dev.norn.sas.example;

import dev.norn.sas.store.memory.Attachments;
import java.nio.file.Path;

/**
 * What a child JVM runs, {@code DIRECTORY}: exclusive access to a store is taken in each of the last frames of the
 * stack. Says in how many of them there was room for it. Ends with status 1 if a thread keeps the access, or if nobody
 * else can have it afterwards.
 */
final class AloneProgram {
    private static final int FRAMES = 600;
    private static final int ROUNDS = 20;
    private static final long STACK_BYTES = 1 << 19;

    private final Attachments own;
    private final Runnable takes;
    private int tried;
    private int done;
    private int kept;

    private AloneProgram(Attachments own) {
        this.own = own;
        this.takes = () -> own.tryAlone(() -> done++);
    }

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        try (Attachments own = new Attachments(directory); Attachments other = new Attachments(directory)) {
            AloneProgram program = new AloneProgram(own);
            // Most classes are loaded here, where there is room for it.
            program.takes.run();
            program.run();
            int before = program.done;
            other.tryAlone(() -> program.done++);
            if (program.kept > 0 || program.done == before) {
                System.err.println("kept in " + program.kept + " frames; another "
                        + (program.done > before ? "has it afterwards" : "cannot have it"));
                Runtime.getRuntime().halt(1);
            }
            System.out.println(before);
        }
    }

    private void run() throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            Thread thread = new Thread(null, this::descend, "deep", STACK_BYTES);
            thread.start();
            thread.join();
        }
    }

    /** To the end of the stack, and then a try in each frame on the way back. */
    private void descend() {
        try {
            descend();
        } catch (StackOverflowError e) {
            tried = 0;
        }
        if (tried++ < FRAMES) {
            try {
                takes.run();
            } catch (StackOverflowError | LinkageError e) {
                // Expected near the end, where also a class cannot be loaded.
            }
            kept += own.isAlone() ? 1 : 0;
        }
    }
}
