package server;

import javacard.framework.AID;
import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Shareable;

public final class Server extends Applet implements Counter {
    private short total;
    private final byte[] own = {1, 2, 3};
    private final byte[] scratch;

    private Server() {
        scratch = JCSystem.makeTransientByteArray((short) 3, JCSystem.CLEAR_ON_DESELECT);
        scratch[0] = 9;
    }

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Server().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        buffer[0] = (byte) total;
        buffer[1] = scratch[0]++;
        apdu.setOutgoingAndSend((short) 0, (short) 2);
    }

    public Shareable getShareableInterfaceObject(AID client, byte parameter) {
        return parameter == 1 && client != null ? this : null;
    }

    public short count(short by) {
        total += by;
        return total;
    }

    public byte[] own() {
        return own;
    }

    public short caller(byte[] buffer) {
        return JCSystem.getPreviousContextAID().getBytes(buffer, (short) 0);
    }

    /** Sets the first to one more than the second. */
    public short next(short[] values, Object[] objects) {
        values[0] = (short) (values[1] + 1);
        objects[0] = own;
        return objects[1] == null ? (short) 0 : (short) values.length;
    }

    public void fail(short reason) {
        scratch[0] = 1;
        ISOException.throwIt(reason);
    }
}
