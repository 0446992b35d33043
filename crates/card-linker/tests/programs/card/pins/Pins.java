package pins;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.OwnerPIN;
import javacard.framework.OwnerPINBuilder;
import javacard.framework.OwnerPINx;
import javacard.framework.OwnerPINxWithPredecrement;
import javacard.framework.PIN;
import javacard.framework.PINException;
import javacard.framework.Util;
import javacardx.framework.util.intx.JCint;

/** Makes a PIN of the kind that P1 says, and does with it what a command says. P2 of 1 aborts what a command does. */
public final class Pins extends Applet {
    private static final byte[] FIRST = {1, 2, 3, 4};
    private static final byte[] SECOND = {5, 6, 7, 8};

    private PIN pin;
    private final byte[] filled = new byte[71];

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Pins().register();
    }

    public void process(APDU apdu) {
        byte[] buffer = apdu.getBuffer();
        if (selectingApplet()) {
            buffer[0] = reSelectingApplet() ? (byte) 1 : 0;
            apdu.setOutgoingAndSend((short) 0, (short) 1);
            return;
        }
        byte p1 = buffer[ISO7816.OFFSET_P1];
        boolean isAborted = buffer[ISO7816.OFFSET_P2] == 1;
        if (isAborted) {
            JCSystem.beginTransaction();
        }
        try {
            run(apdu, buffer, p1);
        } catch (PINException exception) {
            ISOException.throwIt((short) (0x6A00 + exception.getReason()));
        }
        if (isAborted) {
            JCSystem.abortTransaction();
        }
    }

    private void run(APDU apdu, byte[] buffer, byte p1) {
        switch (buffer[ISO7816.OFFSET_INS]) {
            case 1:
                pin = OwnerPINBuilder.buildOwnerPIN((byte) 3, (byte) 8, p1);
                update(FIRST);
                break;
            case 2:
                if (!pin.check(buffer, ISO7816.OFFSET_CDATA, (byte) apdu.setIncomingAndReceive())) {
                    ISOException.throwIt((short) (0x63C0 | pin.getTriesRemaining()));
                }
                break;
            case 3:
                for (byte times = 0; times < p1; times++) {
                    update(SECOND);
                }
                break;
            case 4:
                ((OwnerPINx) pin).setTryLimit(p1);
                break;
            case 5:
                ((OwnerPINx) pin).setTriesRemaining(p1);
                break;
            case 6:
                buffer[0] = ((OwnerPINxWithPredecrement) pin).decrementTriesRemaining();
                apdu.setOutgoingAndSend((short) 0, (short) 1);
                break;
            case 7:
                buffer[0] = pin.getTriesRemaining();
                buffer[1] = pin.isValidated() ? (byte) 1 : 0;
                buffer[2] = pin instanceof OwnerPINx ? ((OwnerPINx) pin).getTryLimit() : 0;
                apdu.setOutgoingAndSend((short) 0, (short) 3);
                break;
            case 8:
                pin.reset();
                break;
            case 9:
                short[] free = new short[2];
                JCSystem.getAvailableMemory(free, (short) 0, p1);
                Util.setShort(buffer, (short) 0, free[0]);
                Util.setShort(buffer, (short) 2, free[1]);
                apdu.setOutgoingAndSend((short) 0, (short) 4);
                break;
            case 10:
                fill(apdu, buffer, p1);
                break;
            case 11:
                int[] ints = JCint.makeTransientIntArray((short) 3, JCSystem.CLEAR_ON_RESET);
                ints[2] = JCint.makeInt((short) 0x8001, (short) 0xFEDC);
                short end = JCint.setInt(filled, (short) 3, ints[2] - 1);
                buffer[0] = (byte) end;
                JCint.setInt(buffer, (short) 1, JCint.getInt(filled, (short) 3));
                apdu.setOutgoingAndSend((short) 0, (short) 5);
                break;
            case 12:
                ((OwnerPIN) pin).update(buffer, ISO7816.OFFSET_CDATA, (byte) apdu.setIncomingAndReceive());
                break;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
    }

    /** Fills from 1 to 1 before the end; answers where it ended, and the first two and the last two. */
    private void fill(APDU apdu, byte[] buffer, byte value) {
        short last = (short) (filled.length - 1);
        buffer[0] = (byte) Util.arrayFill(filled, (short) 1, (short) (last - 1), value);
        for (short at = 2; at < last; at++) {
            if (filled[at] != value) {
                ISOException.throwIt((short) 0x6A80);
            }
        }
        buffer[1] = filled[0];
        buffer[2] = filled[1];
        buffer[3] = filled[(short) (last - 1)];
        buffer[4] = filled[last];
        apdu.setOutgoingAndSend((short) 0, (short) 5);
    }

    private void update(byte[] value) {
        if (pin instanceof OwnerPIN) {
            ((OwnerPIN) pin).update(value, (short) 0, (byte) 4);
        } else {
            ((OwnerPINx) pin).update(value, (short) 0, (byte) 4);
        }
    }
}
