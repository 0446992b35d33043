package pending;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.Util;

/** Has what an installation of another applet changes, and tells what it is. */
public final class Keeper extends Applet {
    static final short ANSWER = 9;

    static Keeper keeper;
    static final short[] numbers = {1, 2};
    static byte count = 0;

    final byte[] bytes = {1, 2, 3, 4};
    Object named = bytes;
    short field = 5;

    private Keeper() {
        keeper = this;
        register();
    }

    public static void install(byte[] parameters, short offset, byte length) {
        new Keeper();
    }

    public void process(APDU apdu) {
        byte[] buffer = apdu.getBuffer();
        if (selectingApplet()) {
            return;
        }
        if (buffer[ISO7816.OFFSET_INS] != 1) {
            ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
        buffer[0] = count;
        Util.setShort(buffer, (short) 1, numbers[1]);
        Util.setShort(buffer, (short) 3, field);
        Util.arrayCopy(bytes, (short) 0, buffer, (short) 5, (short) 3);
        buffer[8] = named == bytes ? (byte) 1 : 0;
        apdu.setOutgoingAndSend((short) 0, ANSWER);
    }
}
