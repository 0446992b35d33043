package sampling;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/** Sends a frame until it is acknowledged, with pauses that grow, while its share of the air lasts. */
final class Radio implements Handler {
    private static final byte RETRY = 1;
    private static final byte REFILL = 2;
    private static final byte TRIES = 4;
    private static final short BUDGET_MAX = 400;
    private static final short REFILL_TICKS = 200;

    private final Scheduler scheduler;
    final byte address;
    private final Frame current = new Frame();
    private final Noise noise = new Noise();
    final Routes routes = new Routes();
    private final Seal seal;
    private final byte retry;
    private final byte refill;
    /** Whether a frame waits, tries, the next number, whether it is to go out now. */
    private final byte[] state = JCSystem.makeTransientByteArray((short) 4, JCSystem.CLEAR_ON_RESET);
    private final short[] budget = JCSystem.makeTransientShortArray((short) 1, JCSystem.CLEAR_ON_RESET);

    Radio(Scheduler scheduler, byte address) {
        this.scheduler = scheduler;
        this.address = address;
        seal = new Seal(address);
        retry = scheduler.timers.add(this, RETRY);
        refill = scheduler.timers.add(this, REFILL);
    }

    void powerUp() {
        budget[0] = BUDGET_MAX;
        scheduler.start(refill, REFILL_TICKS);
    }

    boolean isIdle() {
        return state[0] == 0;
    }

    /** Takes a frame; false where another one waits. */
    boolean sends(Frame frame) {
        if (!isIdle() && frame.bytes[2] != Frame.ALARM) {
            return false;
        }
        current.copyFrom(frame);
        state[0] = 1;
        state[1] = 0;
        state[2]++;
        transmit();
        return true;
    }

    private void transmit() {
        current.close(routes.best(), state[2], seal);
        if (budget[0] >= current.length()) {
            budget[0] -= current.length();
            state[3] = 1;
        }
        short range = (short) (8 << state[1]);
        scheduler.start(retry, (short) (range + noise.below(range)));
    }

    /** All frames up to a number have arrived. */
    void acknowledged(byte number) {
        if (!isIdle() && (byte) (number - current.bytes[Frame.NUMBER]) >= 0) {
            state[0] = 0;
            scheduler.timers.stop(retry);
        }
    }

    public void handle(byte event, short value) {
        if (event == REFILL) {
            budget[0] = Numbers.clamped(budget[0] + 60, (short) 0, BUDGET_MAX);
            routes.age();
        } else if (!isIdle()) {
            routes.failed(current.bytes[0]);
            state[1]++;
            if (state[1] == TRIES) {
                state[0] = 0;
                scheduler.timers.stop(retry);
            } else {
                transmit();
            }
        }
    }

    /** What goes out now; returns its bytes. */
    short take(byte[] buffer, short offset) {
        if (state[3] == 0) {
            return 0;
        }
        state[3] = 0;
        Util.arrayCopyNonAtomic(current.bytes, (short) 0, buffer, offset, current.length());
        return current.length();
    }
}
