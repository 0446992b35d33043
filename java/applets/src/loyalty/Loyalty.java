package loyalty;

import javacard.framework.AID;
import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Util;
import purse.Debits;

/**
 * Points for the debits of a purse, one each: it asks the purse for their count, and keeps how many it has counted.
 *
 * <p>Commands have class 80. POINTS is 10, answers the points in two bytes, and counts before; REDEEM is 20, with an
 * amount of two bytes that is taken from the points.
 */
public final class Loyalty extends Applet {
    private static final byte CLA = (byte) 0x80;
    private static final byte POINTS = 0x10;
    private static final byte REDEEM = 0x20;
    private static final short POINTS_MAX = 30000;

    private final byte[] purse;
    private short points;
    private short counted;

    private Loyalty(byte[] parameters, short offset, byte length) {
        purse = new byte[length];
        Util.arrayCopy(parameters, offset, purse, (short) 0, length);
    }

    /**
     * Creates one; its parameters are the purse's AID.
     *
     * @param bArray length and AID, length and control data, length and the purse's AID
     * @param bOffset where they start
     * @param bLength how many they are
     */
    public static void install(byte[] bArray, short bOffset, byte bLength) {
        short control = (short) (bOffset + 1 + bArray[bOffset]);
        short parameters = (short) (control + 1 + bArray[control]);
        Loyalty loyalty = new Loyalty(bArray, (short) (parameters + 1), bArray[parameters]);
        loyalty.register(bArray, (short) (bOffset + 1), bArray[bOffset]);
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
            case POINTS:
                count();
                Util.setShort(buffer, (short) 0, points);
                apdu.setOutgoingAndSend((short) 0, (short) 2);
                break;
            case REDEEM:
                redeem(apdu, buffer);
                break;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
    }

    /** Asks for the purse each time: a reference that is kept would keep the purse from being deleted. */
    private short debits() {
        AID name = JCSystem.lookupAID(purse, (short) 0, (byte) purse.length);
        if (name == null) {
            ISOException.throwIt(ISO7816.SW_CONDITIONS_NOT_SATISFIED);
        }
        Debits shared = (Debits) JCSystem.getAppletShareableInterfaceObject(name, (byte) 0);
        if (shared == null) {
            ISOException.throwIt(ISO7816.SW_CONDITIONS_NOT_SATISFIED);
        }
        return shared.debits();
    }

    private void count() {
        short now = debits();
        short fresh = (short) (now - counted);
        if (fresh == 0) {
            return;
        }
        JCSystem.beginTransaction();
        // A purse that was made anew counts from 0.
        if (fresh > 0) {
            points = fresh > (short) (POINTS_MAX - points) ? POINTS_MAX : (short) (points + fresh);
        }
        counted = now;
        JCSystem.commitTransaction();
    }

    private void redeem(APDU apdu, byte[] buffer) {
        if (apdu.setIncomingAndReceive() != 2) {
            ISOException.throwIt(ISO7816.SW_WRONG_LENGTH);
        }
        short amount = Util.getShort(buffer, ISO7816.OFFSET_CDATA);
        if (amount <= 0) {
            ISOException.throwIt(ISO7816.SW_WRONG_DATA);
        }
        count();
        if (amount > points) {
            ISOException.throwIt(ISO7816.SW_CONDITIONS_NOT_SATISFIED);
        }
        points -= amount;
    }
}
