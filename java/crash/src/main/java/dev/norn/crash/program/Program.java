package dev.norn.crash.program;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * What a child JVM runs: random transactions of some threads, until {@code stop} comes on its standard input. It ends
 * when its parent does.
 */
public final class Program {
    private Program() {}

    public static void main(String[] arguments) throws Exception {
        Assignment assignment = Assignment.decode(arguments);
        Steps.arm(assignment.arms());
        Attachment attachment = new Attachment(assignment.store());
        List<Worker> workers = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < assignment.threads(); i++) {
            Worker worker = new Worker(assignment, attachment, i);
            workers.add(worker);
            threads.add(Thread.ofPlatform().name("worker " + i).start(worker));
        }
        if (assignment.hazards().contains(Hazard.REOPEN)) {
            Thread.ofPlatform().daemon().name("reopen").start(() -> reopen(attachment, new Random(assignment.seed())));
        }
        System.out.println("ready");
        int word = System.in.read();
        if (word < 0) {
            Steps.writeCounts();
            Runtime.getRuntime().halt(0);
        }
        workers.forEach(Worker::stop);
        for (Thread thread : threads) {
            thread.join();
        }
        synchronized (attachment) {
            attachment.close();
        }
        System.out.println("stopped");
    }

    private static void reopen(Attachment attachment, Random random) {
        for (;;) {
            LockSupport.parkNanos(5_000_000 + random.nextInt(100_000_000));
            synchronized (attachment) {
                attachment.reopen();
            }
        }
    }
}
