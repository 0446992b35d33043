package dev.norn.crash.program;

import dev.norn.crash.model.Register;
import dev.norn.crash.model.Registers;
import dev.norn.crash.program.Script.Ending;
import dev.norn.crash.program.Script.Step;
import dev.norn.crash.program.Script.Use;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.TransactionConflict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** A thread of a child JVM: random transactions until it is stopped. */
final class Worker implements Runnable {
    /** What an aborted transaction is aborted with. */
    private static final class Planned extends RuntimeException {
        private Planned() {
            super("planned", null, false, false);
        }
    }

    private static final int FRAMES_MAX = 12;
    private static final long CONTAINER_BYTES = 4 << 20;
    /** One of so many nested runs that are taken back makes a container. */
    private static final int CONTAINER_TAKEN_BACK = 4;
    private static final Planned PLANNED = new Planned();

    private final Assignment assignment;
    private final Attachment attachment;
    private final Journal journal;
    private final long first;
    private volatile boolean isStopped;

    Worker(Assignment assignment, Attachment attachment, int thread) {
        this.assignment = assignment;
        this.attachment = attachment;
        first = (assignment.process() * 100L + thread + 1) * 10_000_000;
        journal = new Journal(assignment.journals().resolve(assignment.process() + "." + thread + ".journal"));
    }

    /** The number of its first transaction; the others follow. */
    long first() {
        return first;
    }

    void stop() {
        isStopped = true;
    }

    @Override
    public void run() {
        for (long id = first; !isStopped; id++) {
            attempt(id);
            if (assignment.pauseMillis() > 0) {
                LockSupport.parkNanos(assignment.pauseMillis() * 1_000_000L);
            }
        }
    }

    /**
     * Does the transaction of this number, whose end may be of any kind, and writes into the side file what is known of
     * it.
     */
    void attempt(long id) {
        Script script = Script.of(assignment.seed() * 0x9E3779B97F4A7C15L + id, assignment.hazards());
        if (script.steps().isEmpty()) {
            return;
        }
        journal.write("begin", id, script.appends());
        try {
            journal.write("commit", id, perform(script, id));
        } catch (Planned e) {
            journal.write("undone", id, "planned");
        } catch (TransactionConflict e) {
            journal.write("undone", id, "conflict");
        } catch (Throwable e) {
            if (!attachment.hasClosed(e) && !Steps.hasThrown(e)) {
                journal.write("failed", id, text(e));
            }
        }
    }

    private static String text(Throwable e) {
        String frames = Arrays.stream(e.getStackTrace())
                .limit(FRAMES_MAX).map(frame -> " at " + frame).collect(Collectors.joining());
        return (e + frames + (e.getCause() == null ? "" : " because of " + e.getCause())).replaceAll("\\s+", " ");
    }

    /** Does it, and returns what it used. */
    private String perform(Script script, long id) {
        Attachment.Use use = attachment.use();
        if (script.steps().size() == 1 && script.steps().getFirst().use() == Script.Use.READ
                && script.way() == Script.Way.RUN && script.ending() == Ending.COMMIT) {
            int register = script.steps().getFirst().register();
            return register + ":0:" + use.registers()[register].last() + ":l";
        }
        List<String> uses = new ArrayList<>();
        switch (script.way()) {
            case RUN -> Transaction.run(() -> body(script, id, use, uses));
            case NESTED -> Transaction.run(() -> Transaction.run(() -> body(script, id, use, uses)));
            case BEGIN_AND_COMMIT -> begin(script, id, use, uses);
        }
        return String.join(" ", uses);
    }

    private void begin(Script script, long id, Attachment.Use use, List<String> uses) {
        Transaction.begin();
        try {
            body(script, id, use, uses);
            Transaction.commit();
        } catch (Throwable e) {
            // A commit that fails has undone everything.
            if (Transaction.isActive()) {
                Transaction.abort();
            }
            throw e;
        }
    }

    private void body(Script script, long id, Attachment.Use use, List<String> uses) {
        uses.clear();
        Random random = new Random(script.seed());
        for (int i = 0; i <= script.steps().size(); i++) {
            if (i == script.container()) {
                use.store().createContainer("container-" + id, CONTAINER_BYTES);
            }
            if (i < script.steps().size()) {
                take(script, script.steps().get(i), id, use, uses, random);
            }
        }
        if (script.ending() != Ending.COMMIT) {
            throw PLANNED;
        }
    }

    private void take(Script script, Step step, long id, Attachment.Use use, List<String> uses, Random random) {
        Register register = use.registers()[step.register()];
        if (step.use() == Use.APPEND_AND_TAKE_BACK) {
            takeBack(use.store(), register, id, random);
        }
        int length = register.length();
        uses.add(step.register() + ":" + length + ":" + register.last() + ":"
                + (step.use() == Use.APPEND ? "a" : "r"));
        if (step.use() == Use.APPEND) {
            register.append(id, random);
            if (script.bytes() > 0) {
                register.fill(id, script.bytes());
            }
            if (script.depth() > 0) {
                register.hang(script.depth());
            }
        }
    }

    /** A nested run that throws takes back exactly what it did. */
    private void takeBack(Store store, Register register, long id, Random random) {
        try {
            Transaction.run(() -> {
                register.append(-id, random);
                if (random.nextInt(CONTAINER_TAKEN_BACK) == 0) {
                    store.createContainer("taken-back-" + id, CONTAINER_BYTES);
                }
                throw PLANNED;
            });
        } catch (Planned e) {
            // As planned.
        }
    }
}
