package many;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.AppletEvent;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.MultiSelectable;

/** Counts how it is selected, deselected and uninstalled. */
public final class Many extends Applet implements MultiSelectable, AppletEvent {
    private static byte uninstalled;

    /** Calls of select, deselect, and of those for several channels, with their last argument. */
    private final byte[] calls = new byte[6];
    private final byte[] transients = JCSystem.makeTransientByteArray((short) 1, JCSystem.CLEAR_ON_DESELECT);
    private byte refusal;

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Many().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public boolean select() {
        byte how = refusal;
        refusal = 0;
        if (how == 2) {
            ISOException.throwIt((short) 0x6A80);
        }
        calls[0]++;
        return how == 0;
    }

    public void deselect() {
        calls[1]++;
    }

    public boolean select(boolean appInstAlreadyActive) {
        calls[2]++;
        calls[3] = (byte) (appInstAlreadyActive ? 1 : 0);
        return true;
    }

    public void deselect(boolean appInstStillActive) {
        calls[4]++;
        calls[5] = (byte) (appInstStillActive ? 1 : 0);
    }

    public void uninstall() {
        uninstalled++;
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        if (buffer[ISO7816.OFFSET_INS] == 1) {
            refusal = buffer[ISO7816.OFFSET_P1];
            return;
        }
        for (short i = 0; i < calls.length; i++) {
            buffer[i] = calls[i];
            calls[i] = 0;
        }
        buffer[6] = APDU.getCLAChannel();
        buffer[7] = transients[0]++;
        buffer[8] = uninstalled;
        apdu.setOutgoingAndSend((short) 0, (short) 9);
    }
}
