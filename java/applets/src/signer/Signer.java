package signer;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.OwnerPIN;
import javacard.security.ECPublicKey;
import javacard.security.KeyBuilder;
import javacard.security.KeyPair;
import javacard.security.Signature;

/**
 * Signs with a key that never leaves the card: ECDSA of SHA-256 over P-256.
 *
 * <p>Commands have class 80. VERIFY is 20 with the PIN. GENERATE, 40, draws a new key, after the PIN. PUBLIC KEY, 50,
 * answers its point, 65 bytes. SIGN, 60, answers the signature of the command's data, after the PIN.
 */
public final class Signer extends Applet {
    private static final byte CLA = (byte) 0x80;
    private static final byte VERIFY = 0x20;
    private static final byte GENERATE = 0x40;
    private static final byte PUBLIC_KEY = 0x50;
    private static final byte SIGN = 0x60;
    private static final byte TRIES = 3;
    private static final byte PIN_BYTES_MAX = 8;

    private final OwnerPIN pin;
    private final KeyPair keys;
    private final Signature signature;

    private Signer(byte[] parameters, short offset, byte length) {
        pin = new OwnerPIN(TRIES, PIN_BYTES_MAX);
        pin.update(parameters, offset, length);
        keys = new KeyPair(KeyPair.ALG_EC_FP, KeyBuilder.LENGTH_EC_FP_256);
        signature = Signature.getInstance(Signature.ALG_ECDSA_SHA_256, false);
    }

    /**
     * Creates one without a key; its parameters are the PIN.
     *
     * @param bArray length and AID, length and control data, length and PIN
     * @param bOffset where they start
     * @param bLength how many they are
     */
    public static void install(byte[] bArray, short bOffset, byte bLength) {
        short control = (short) (bOffset + 1 + bArray[bOffset]);
        short parameters = (short) (control + 1 + bArray[control]);
        Signer signer = new Signer(bArray, (short) (parameters + 1), bArray[parameters]);
        signer.register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public boolean select() {
        return pin.getTriesRemaining() > 0;
    }

    public void deselect() {
        pin.reset();
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
            case GENERATE:
                requirePin();
                keys.genKeyPair();
                break;
            case PUBLIC_KEY:
                requireKey();
                apdu.setOutgoingAndSend((short) 0, ((ECPublicKey) keys.getPublic()).getW(buffer, (short) 0));
                break;
            case SIGN:
                sign(apdu, buffer);
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

    private void sign(APDU apdu, byte[] buffer) {
        requirePin();
        requireKey();
        short length = apdu.setIncomingAndReceive();
        signature.init(keys.getPrivate(), Signature.MODE_SIGN);
        short bytes = signature.sign(buffer, ISO7816.OFFSET_CDATA, length, buffer, (short) 0);
        apdu.setOutgoingAndSend((short) 0, bytes);
    }

    private void requirePin() {
        if (!pin.isValidated()) {
            ISOException.throwIt(ISO7816.SW_SECURITY_STATUS_NOT_SATISFIED);
        }
    }

    private void requireKey() {
        if (!keys.getPrivate().isInitialized()) {
            ISOException.throwIt(ISO7816.SW_CONDITIONS_NOT_SATISFIED);
        }
    }
}
