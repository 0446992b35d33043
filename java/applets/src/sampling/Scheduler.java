package sampling;

import javacard.framework.JCSystem;

/** The event manager of event-driven applications: time goes on, timers post, events are handled one after another. */
final class Scheduler {
    final EventQueue queue = new EventQueue();
    final Timers timers = new Timers();
    private final short[] clock = JCSystem.makeTransientShortArray((short) 1, JCSystem.CLEAR_ON_RESET);

    short now() {
        return clock[0];
    }

    void start(byte timer, short period) {
        timers.start(timer, clock[0], period);
    }

    /** So many ticks have passed: what is due is handled. */
    void advance(short ticks) {
        clock[0] += ticks;
        timers.post(queue, clock[0]);
        queue.run();
    }
}
