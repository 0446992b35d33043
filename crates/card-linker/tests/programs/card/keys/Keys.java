package keys;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Util;
import javacard.security.AESKey;
import javacard.security.CryptoException;
import javacard.security.DESKey;
import javacard.security.ECPrivateKey;
import javacard.security.ECPublicKey;
import javacard.security.HMACKey;
import javacard.security.Key;
import javacard.security.KeyBuilder;
import javacard.security.KeyPair;
import javacard.security.RSAPrivateCrtKey;
import javacard.security.RSAPrivateKey;
import javacard.security.RSAPublicKey;
import javacard.security.Signature;
import javacardx.crypto.Cipher;

/** Keys of every kind, which commands set, draw, clear and give up. */
public final class Keys extends Applet {
    private static final byte AES = 0;
    private static final byte DES = 1;
    private static final byte HMAC = 2;
    private static final byte CURVE = 3;
    private static final byte PLAIN = 4;
    private static final byte FACTORS = 5;

    private final Object[] all = new Object[6];
    private final Cipher cipher = Cipher.getInstance(Cipher.ALG_AES_BLOCK_128_ECB_NOPAD, false);
    private final Signature ecdsa = Signature.getInstance(Signature.ALG_ECDSA_SHA_256, false);
    private final Signature rsa = Signature.getInstance(Signature.ALG_RSA_SHA_256_PKCS1, false);
    private final Signature code = Signature.getInstance(Signature.ALG_HMAC_SHA_256, false);
    private final byte[] room = JCSystem.makeTransientByteArray((short) 300, JCSystem.CLEAR_ON_RESET);

    private Keys() {
        make();
    }

    private void make() {
        all[AES] = KeyBuilder.buildKey(KeyBuilder.TYPE_AES, KeyBuilder.LENGTH_AES_128, false);
        all[DES] = KeyBuilder.buildKey(KeyBuilder.TYPE_DES, KeyBuilder.LENGTH_DES3_2KEY, false);
        all[HMAC] = KeyBuilder.buildKey(KeyBuilder.TYPE_HMAC, KeyBuilder.LENGTH_HMAC_SHA_256_BLOCK_64, false);
        all[CURVE] = new KeyPair(KeyPair.ALG_EC_FP, KeyBuilder.LENGTH_EC_FP_256);
        all[PLAIN] = new KeyPair(KeyPair.ALG_RSA, KeyBuilder.LENGTH_RSA_1024);
        all[FACTORS] = new KeyPair(KeyPair.ALG_RSA_CRT, KeyBuilder.LENGTH_RSA_1024);
    }

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Keys().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        byte which = buffer[ISO7816.OFFSET_P1];
        short answer = 0;
        try {
            switch (buffer[ISO7816.OFFSET_INS]) {
                case 1:
                    short length = apdu.setIncomingAndReceive();
                    set(which, buffer[ISO7816.OFFSET_P2], buffer, ISO7816.OFFSET_CDATA, length);
                    break;
                case 2:
                    ((KeyPair) all[which]).genKeyPair();
                    break;
                case 3:
                    secret(which).clearKey();
                    break;
                case 4:
                    all[which] = null;
                    JCSystem.requestObjectDeletion();
                    break;
                case 5:
                    answer = state(which, buffer);
                    break;
                case 6:
                    answer = value(which, buffer[ISO7816.OFFSET_P2], buffer);
                    break;
                case 7:
                    JCSystem.beginTransaction();
                    secret(which).clearKey();
                    JCSystem.abortTransaction();
                    break;
                default:
                    ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
            }
        } catch (CryptoException thrown) {
            ISOException.throwIt((short) (0x6A00 + thrown.getReason()));
        }
        apdu.setOutgoingAndSend((short) 0, answer);
    }

    private Key secret(byte which) {
        return which < CURVE ? (Key) all[which] : ((KeyPair) all[which]).getPrivate();
    }

    private Key open(byte which) {
        return ((KeyPair) all[which]).getPublic();
    }

    private void set(byte which, byte part, byte[] buffer, short at, short length) {
        switch (which) {
            case AES:
                ((AESKey) all[AES]).setKey(buffer, at);
                break;
            case DES:
                ((DESKey) all[DES]).setKey(buffer, at);
                break;
            case HMAC:
                ((HMACKey) all[HMAC]).setKey(buffer, at, length);
                break;
            case CURVE:
                if (part == 0) {
                    ((ECPrivateKey) secret(CURVE)).setS(buffer, at, length);
                } else {
                    ((ECPublicKey) open(CURVE)).setW(buffer, at, length);
                }
                break;
            case PLAIN:
                RSAPrivateKey key = (RSAPrivateKey) secret(PLAIN);
                if (part == 0) {
                    key.setModulus(buffer, at, length);
                } else {
                    key.setExponent(buffer, at, length);
                }
                break;
            default:
                RSAPrivateCrtKey factors = (RSAPrivateCrtKey) secret(FACTORS);
                if (part == 0) {
                    factors.setP(buffer, at, length);
                } else {
                    factors.setDP1(buffer, at, length);
                }
        }
    }

    /** Whether the keys have values, and whether what they do together is whole; nothing where they are given up. */
    private short state(byte which, byte[] buffer) {
        if (all[which] == null) {
            return 0;
        }
        buffer[0] = (byte) (secret(which).isInitialized() ? 1 : 0);
        if (which < CURVE) {
            return 1;
        }
        buffer[1] = (byte) (open(which).isInitialized() ? 1 : 0);
        buffer[2] = 0;
        if (buffer[0] == 1 && buffer[1] == 1) {
            Signature by = which == CURVE ? ecdsa : rsa;
            by.init(secret(which), Signature.MODE_SIGN);
            short length = by.sign(buffer, (short) 0, (short) 2, room, (short) 0);
            by.init(open(which), Signature.MODE_VERIFY);
            buffer[2] = (byte) (by.verify(buffer, (short) 0, (short) 2, room, (short) 0, length) ? 1 : 2);
        }
        return 3;
    }

    /** A number of a key: what the applet may see of its own keys. */
    private short value(byte which, byte part, byte[] buffer) {
        switch (which) {
            case AES:
                return ((AESKey) all[AES]).getKey(buffer, (short) 0);
            case DES:
                return ((DESKey) all[DES]).getKey(buffer, (short) 0);
            case HMAC:
                return ((HMACKey) all[HMAC]).getKey(buffer, (short) 0);
            case CURVE:
                return part == 0 ? ((ECPrivateKey) secret(CURVE)).getS(buffer, (short) 0)
                        : ((ECPublicKey) open(CURVE)).getW(buffer, (short) 0);
            case PLAIN:
                return part == 0 ? ((RSAPublicKey) open(PLAIN)).getModulus(buffer, (short) 0)
                        : ((RSAPrivateKey) secret(PLAIN)).getExponent(buffer, (short) 0);
            default:
                RSAPrivateCrtKey factors = (RSAPrivateCrtKey) secret(FACTORS);
                return part == 0 ? factors.getP(buffer, (short) 0)
                        : part == 1 ? factors.getDP1(buffer, (short) 0) : factors.getPQ(buffer, (short) 0);
        }
    }
}
