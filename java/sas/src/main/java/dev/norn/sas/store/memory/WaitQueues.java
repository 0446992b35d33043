package dev.norn.sas.store.memory;

import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads of this JVM that wait for the same thing in shared memory, in the order in which they came. Only the first
 * looks at the shared memory again and again; the others are parked, virtual threads without their carriers, and wake
 * now and then for what else ends their wait. So each thing is watched by one thread of a process at most.
 *
 * <p>A thread that joins a queue leaves it again, also after an exception: a thread that stayed would keep all later
 * ones from being the first.
 */
public final class WaitQueues {
    /** The key of the threads that wait for a slot. Objects have their offsets as keys. */
    public static final long SLOTS = -1;
    /** The key of the threads that wait for a sync of the log. */
    public static final long SYNC = -2;
    /** The key of the thread that sends a leader's records to its group. */
    public static final long SHIP = -3;
    /** Room on the stack for joining, so that leaving has it, too. */
    private static final int FRAMES = 8;

    private final ConcurrentHashMap<Long, Queue<Thread>> queues = new ConcurrentHashMap<>();

    /** Queues the calling thread up. */
    public Queue<Thread> join(long key) {
        StackRoom.require(FRAMES);
        return queues.compute(key, (same, queue) -> {
            Queue<Thread> its = queue == null ? new ConcurrentLinkedQueue<>() : queue;
            its.add(Thread.currentThread());
            return its;
        });
    }

    /** Takes the calling thread out, wherever it is, and wakes the one that is the first then. */
    public void leave(long key) {
        queues.compute(key, (same, queue) -> {
            queue.remove(Thread.currentThread());
            return queue.isEmpty() ? null : queue;
        });
        wakeFirst(key);
    }

    public static boolean isFirst(Queue<Thread> queue) {
        return queue.peek() == Thread.currentThread();
    }

    /** Lets the first look now. Costs a look into a table if no thread waits. */
    public void wakeFirst(long key) {
        Queue<Thread> queue = queues.get(key);
        if (queue != null) {
            LockSupport.unpark(queue.peek());
        }
    }

    /** Lets all look whether their wait is over. */
    public void wakeAll(long key) {
        Queue<Thread> queue = queues.get(key);
        if (queue != null) {
            queue.forEach(LockSupport::unpark);
        }
    }
}
