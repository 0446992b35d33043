package attempts;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Util;

/**
 * Counts attempts, which stay, of changes, which may be undone. An attempt has a number of two bytes. It opens a
 * transaction, notes the number outside of it, writes the number into all cells within it, and commits.
 *
 * <p>Commands have class 80. COMMIT is 10 and ABORT 11, with a number; an ABORT undoes the transaction at its end. SHOW
 * is 20, and answers the number that was noted, and that of each cell.
 */
public final class Attempts extends Applet {
    private static final byte CLA = (byte) 0x80;
    private static final byte COMMIT = 0x10;
    private static final byte ABORT = 0x11;
    private static final byte SHOW = 0x20;
    private static final short NUMBER_BYTES = 2;
    private static final short CELLS = 16;

    private final byte[] noted = new byte[NUMBER_BYTES];
    private final short[] cells = new short[CELLS];

    private Attempts() {
    }

    /**
     * Creates an instance, which takes no parameters.
     *
     * @param bArray length and AID
     * @param bOffset where they start
     * @param bLength how many they are
     */
    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Attempts().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        if (buffer[ISO7816.OFFSET_CLA] != CLA) {
            ISOException.throwIt(ISO7816.SW_CLA_NOT_SUPPORTED);
        }
        switch (buffer[ISO7816.OFFSET_INS]) {
            case COMMIT:
                attempt(apdu, buffer);
                JCSystem.commitTransaction();
                break;
            case ABORT:
                attempt(apdu, buffer);
                JCSystem.abortTransaction();
                break;
            case SHOW:
                show(apdu, buffer);
                break;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
    }

    private void attempt(APDU apdu, byte[] buffer) {
        if (apdu.setIncomingAndReceive() != NUMBER_BYTES) {
            ISOException.throwIt(ISO7816.SW_WRONG_LENGTH);
        }
        short number = Util.getShort(buffer, ISO7816.OFFSET_CDATA);
        JCSystem.beginTransaction();
        Util.arrayCopyNonAtomic(buffer, ISO7816.OFFSET_CDATA, noted, (short) 0, NUMBER_BYTES);
        for (short at = 0; at < CELLS; at++) {
            cells[at] = number;
        }
    }

    private void show(APDU apdu, byte[] buffer) {
        short end = Util.arrayCopyNonAtomic(noted, (short) 0, buffer, (short) 0, NUMBER_BYTES);
        for (short at = 0; at < CELLS; at++) {
            end = Util.setShort(buffer, end, cells[at]);
        }
        apdu.setOutgoingAndSend((short) 0, end);
    }
}
