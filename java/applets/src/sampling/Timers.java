package sampling;

import javacard.framework.JCSystem;

/** Timers that post an event each time that their period is over. Times go round after 65,536 ticks. */
final class Timers {
    private static final byte ROOM = 6;

    private final short[] due = JCSystem.makeTransientShortArray(ROOM, JCSystem.CLEAR_ON_RESET);
    private final short[] periods = JCSystem.makeTransientShortArray(ROOM, JCSystem.CLEAR_ON_RESET);
    private final byte[] events = new byte[ROOM];
    private final Handler[] targets = new Handler[ROOM];
    private byte count;

    /** Adds a timer that does not run, and returns its number. */
    byte add(Handler target, byte event) {
        targets[count] = target;
        events[count] = event;
        count++;
        return (byte) (count - 1);
    }

    void start(byte timer, short now, short period) {
        periods[timer] = period;
        due[timer] = (short) (now + period);
    }

    void stop(byte timer) {
        periods[timer] = 0;
    }

    private boolean isDue(byte timer, short now) {
        return periods[timer] != 0 && (short) (now - due[timer]) >= 0;
    }

    /** Posts what is due, each timer once. */
    void post(EventQueue queue, short now) {
        for (byte timer = 0; timer < count; timer++) {
            if (isDue(timer, now)) {
                queue.post(targets[timer], events[timer], (short) (now - due[timer]));
                due[timer] = (short) (due[timer] + periods[timer]);
                if (isDue(timer, now)) {
                    start(timer, now, periods[timer]);
                }
            }
        }
    }
}
