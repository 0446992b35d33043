package tag;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Util;

/**
 * A tag that phones read and write: type 4 of the NFC Forum, version 2.0, with one NDEF file of 256 bytes.
 *
 * <p>SELECT (00 A4 00 0C) takes the capability container, E103, or the file, E104; READ BINARY (00 B0) reads and UPDATE
 * BINARY (00 D6) writes it from the offset of P1 and P2 on. Installation may give a first message as parameters.
 */
public final class Tag extends Applet {
    private static final byte INS_READ_BINARY = (byte) 0xB0;
    private static final byte INS_UPDATE_BINARY = (byte) 0xD6;
    private static final byte BY_FILE = 0x00;
    private static final byte WITHOUT_ANSWER = 0x0C;
    private static final short CAPABILITIES = (short) 0xE103;
    private static final short MESSAGE = (short) 0xE104;
    private static final short NOTHING = 0;
    private static final short MESSAGE_BYTES = 256;

    /** 15 bytes, version 2.0, 255 and 240 bytes a command, then the file: E104, 256 bytes, open to read and write. */
    private static final byte[] CONTAINER = {
        0x00, 0x0F, 0x20, 0x00, (byte) 0xFF, 0x00, (byte) 0xF0, 0x04, 0x06, (byte) 0xE1, 0x04, 0x01, 0x00, 0x00, 0x00
    };

    private final byte[] message;
    private final short[] selected;

    private Tag(byte[] parameters, short offset, short length) {
        message = new byte[MESSAGE_BYTES];
        Util.setShort(message, (short) 0, length);
        Util.arrayCopy(parameters, offset, message, (short) 2, length);
        selected = JCSystem.makeTransientShortArray((short) 1, JCSystem.CLEAR_ON_DESELECT);
    }

    /**
     * Creates a tag; its parameters are its first message, which may be empty.
     *
     * @param bArray length and AID, length and control data, length and message
     * @param bOffset where they start
     * @param bLength how many they are
     */
    public static void install(byte[] bArray, short bOffset, byte bLength) {
        short control = (short) (bOffset + 1 + bArray[bOffset]);
        short parameters = (short) (control + 1 + bArray[control]);
        Tag tag = new Tag(bArray, (short) (parameters + 1), (short) (bArray[parameters] & 0xFF));
        tag.register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        byte[] buffer = apdu.getBuffer();
        if (selectingApplet()) {
            selected[0] = NOTHING;
            return;
        }
        if (buffer[ISO7816.OFFSET_CLA] != ISO7816.CLA_ISO7816) {
            ISOException.throwIt(ISO7816.SW_CLA_NOT_SUPPORTED);
        }
        switch (buffer[ISO7816.OFFSET_INS]) {
            case ISO7816.INS_SELECT:
                select(apdu, buffer);
                break;
            case INS_READ_BINARY:
                read(apdu, buffer);
                break;
            case INS_UPDATE_BINARY:
                update(apdu, buffer);
                break;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
    }

    private void select(APDU apdu, byte[] buffer) {
        if (buffer[ISO7816.OFFSET_P1] != BY_FILE || buffer[ISO7816.OFFSET_P2] != WITHOUT_ANSWER) {
            ISOException.throwIt(ISO7816.SW_INCORRECT_P1P2);
        }
        if (apdu.setIncomingAndReceive() != 2) {
            ISOException.throwIt(ISO7816.SW_WRONG_LENGTH);
        }
        short file = Util.getShort(buffer, ISO7816.OFFSET_CDATA);
        if (file != CAPABILITIES && file != MESSAGE) {
            ISOException.throwIt(ISO7816.SW_FILE_NOT_FOUND);
        }
        selected[0] = file;
    }

    private void read(APDU apdu, byte[] buffer) {
        byte[] file = file();
        short offset = Util.getShort(buffer, ISO7816.OFFSET_P1);
        if (offset < 0 || offset > (short) file.length) {
            ISOException.throwIt(ISO7816.SW_WRONG_P1P2);
        }
        short length = apdu.setOutgoing();
        short left = (short) (file.length - offset);
        if (length > left) {
            length = left;
        }
        apdu.setOutgoingLength(length);
        apdu.sendBytesLong(file, offset, length);
    }

    private void update(APDU apdu, byte[] buffer) {
        byte[] file = file();
        if (file == CONTAINER) {
            ISOException.throwIt(ISO7816.SW_SECURITY_STATUS_NOT_SATISFIED);
        }
        short offset = Util.getShort(buffer, ISO7816.OFFSET_P1);
        short length = apdu.setIncomingAndReceive();
        if (offset < 0 || offset > (short) (file.length - length)) {
            ISOException.throwIt(ISO7816.SW_WRONG_P1P2);
        }
        Util.arrayCopy(buffer, ISO7816.OFFSET_CDATA, file, offset, length);
    }

    private byte[] file() {
        switch (selected[0]) {
            case CAPABILITIES:
                return CONTAINER;
            case MESSAGE:
                return message;
            default:
                ISOException.throwIt(ISO7816.SW_CONDITIONS_NOT_SATISFIED);
                return null;
        }
    }
}
