package sampling;

import javacard.framework.JCSystem;

/** Events that wait, in a ring in RAM; the oldest is lost where a further one has no room. */
final class EventQueue {
    private static final byte ROOM = 8;

    private final byte[] kinds = JCSystem.makeTransientByteArray(ROOM, JCSystem.CLEAR_ON_RESET);
    private final short[] values = JCSystem.makeTransientShortArray(ROOM, JCSystem.CLEAR_ON_RESET);
    private final Object[] targets = JCSystem.makeTransientObjectArray(ROOM, JCSystem.CLEAR_ON_RESET);
    /** First place, how many wait, and how many were lost. */
    private final short[] state = JCSystem.makeTransientShortArray((short) 3, JCSystem.CLEAR_ON_RESET);

    void post(Handler target, byte kind, short value) {
        if (state[1] == ROOM) {
            drop();
            state[2]++;
        }
        byte place = (byte) ((state[0] + state[1]) % ROOM);
        kinds[place] = kind;
        values[place] = value;
        targets[place] = target;
        state[1]++;
    }

    private void drop() {
        targets[state[0]] = null;
        state[0] = (short) ((state[0] + 1) % ROOM);
        state[1]--;
    }

    short lost() {
        return state[2];
    }

    /** Handles what waits, and what that posts. */
    void run() {
        while (state[1] != 0) {
            Handler target = (Handler) targets[state[0]];
            byte kind = kinds[state[0]];
            short value = values[state[0]];
            drop();
            target.handle(kind, value);
        }
    }
}
