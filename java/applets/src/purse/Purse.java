package purse;

import javacard.framework.AID;
import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.OwnerPIN;
import javacard.framework.Shareable;
import javacard.framework.Util;

/**
 * An electronic purse: a balance, a count of debits and a PIN. A debit changes balance and count in one transaction.
 *
 * <p>Commands have class 80. VERIFY is 20 with the PIN, CREDIT 30 and DEBIT 40 with an amount of two bytes, BALANCE 50
 * answers the balance and the count, two bytes each. Other applets get the count as {@link Debits}: like the balance,
 * it is shown to everybody.
 */
public final class Purse extends Applet implements Debits {
    private static final byte CLA = (byte) 0x80;
    private static final byte VERIFY = 0x20;
    private static final byte CREDIT = 0x30;
    private static final byte DEBIT = 0x40;
    private static final byte BALANCE = 0x50;
    private static final byte TRIES = 3;
    private static final byte PIN_BYTES_MAX = 8;
    private static final short BALANCE_MAX = 30000;

    private final OwnerPIN pin;
    private short balance;
    private short debits;

    private Purse(byte[] parameters, short offset, byte length) {
        pin = new OwnerPIN(TRIES, PIN_BYTES_MAX);
        pin.update(parameters, offset, length);
    }

    /**
     * Creates a purse; its parameters are the PIN.
     *
     * @param bArray length and AID, length and control data, length and PIN
     * @param bOffset where they start
     * @param bLength how many they are
     */
    public static void install(byte[] bArray, short bOffset, byte bLength) {
        short control = (short) (bOffset + 1 + bArray[bOffset]);
        short parameters = (short) (control + 1 + bArray[control]);
        Purse purse = new Purse(bArray, (short) (parameters + 1), bArray[parameters]);
        purse.register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public boolean select() {
        return pin.getTriesRemaining() > 0;
    }

    public void deselect() {
        pin.reset();
    }

    public Shareable getShareableInterfaceObject(AID client, byte parameter) {
        return this;
    }

    public short debits() {
        return debits;
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
            case VERIFY:
                verify(apdu, buffer);
                break;
            case CREDIT:
                credit(amount(apdu, buffer));
                break;
            case DEBIT:
                debit(amount(apdu, buffer));
                break;
            case BALANCE:
                answer(apdu, buffer);
                break;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
    }

    private void verify(APDU apdu, byte[] buffer) {
        byte length = (byte) apdu.setIncomingAndReceive();
        if (!pin.check(buffer, ISO7816.OFFSET_CDATA, length)) {
            ISOException.throwIt((short) (0x63C0 | pin.getTriesRemaining()));
        }
    }

    /** The amount in a command's data, which is positive. */
    private short amount(APDU apdu, byte[] buffer) {
        if (!pin.isValidated()) {
            ISOException.throwIt(ISO7816.SW_SECURITY_STATUS_NOT_SATISFIED);
        }
        if (apdu.setIncomingAndReceive() != 2) {
            ISOException.throwIt(ISO7816.SW_WRONG_LENGTH);
        }
        short amount = Util.getShort(buffer, ISO7816.OFFSET_CDATA);
        if (amount <= 0) {
            ISOException.throwIt(ISO7816.SW_WRONG_DATA);
        }
        return amount;
    }

    private void credit(short amount) {
        if (amount > (short) (BALANCE_MAX - balance)) {
            ISOException.throwIt(ISO7816.SW_CONDITIONS_NOT_SATISFIED);
        }
        balance += amount;
    }

    private void debit(short amount) {
        if (amount > balance) {
            ISOException.throwIt(ISO7816.SW_CONDITIONS_NOT_SATISFIED);
        }
        JCSystem.beginTransaction();
        balance -= amount;
        debits++;
        JCSystem.commitTransaction();
    }

    private void answer(APDU apdu, byte[] buffer) {
        Util.setShort(buffer, (short) 0, balance);
        Util.setShort(buffer, (short) 2, debits);
        apdu.setOutgoingAndSend((short) 0, (short) 4);
    }
}
