package algorithms;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Util;
import javacard.security.AESKey;
import javacard.security.Checksum;
import javacard.security.CryptoException;
import javacard.security.DESKey;
import javacard.security.ECKey;
import javacard.security.ECPrivateKey;
import javacard.security.ECPublicKey;
import javacard.security.HMACKey;
import javacard.security.Key;
import javacard.security.KeyAgreement;
import javacard.security.KeyBuilder;
import javacard.security.KeyPair;
import javacard.security.MessageDigest;
import javacard.security.RSAPublicKey;
import javacard.security.Signature;
import javacardx.crypto.Cipher;

/**
 * Makes whatever algorithm P1 names, and computes. The data are a length and a key, a length and an initial vector, and
 * what is computed of, in two pieces of which P2 says how long the first is.
 */
public final class Algorithms extends Applet {
    private MessageDigest digest;
    private Signature signature;
    private Cipher cipher;
    private Checksum checksum;
    private KeyAgreement agreement;
    private KeyPair pair;
    private byte[] kept;

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Algorithms().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        short end = (short) (apdu.setIncomingAndReceive() + ISO7816.OFFSET_CDATA);
        try {
            short answer = compute(buffer, end);
            apdu.setOutgoingAndSend((short) 0, answer);
        } catch (CryptoException exception) {
            ISOException.throwIt((short) (0x6A00 + exception.getReason()));
        } finally {
            if (JCSystem.isObjectDeletionSupported()) {
                JCSystem.requestObjectDeletion();
            }
        }
    }

    private short compute(byte[] buffer, short end) {
        if (buffer[ISO7816.OFFSET_INS] > 7) {
            return curves(buffer, end);
        }
        byte algorithm = buffer[ISO7816.OFFSET_P1];
        short key = ISO7816.OFFSET_CDATA + 1;
        short keyBytes = (short) (buffer[ISO7816.OFFSET_CDATA] & 0xFF);
        short vector = (short) (key + keyBytes + 1);
        short vectorBytes = buffer[(short) (vector - 1)];
        short data = (short) (vector + vectorBytes);
        short first = (short) (buffer[ISO7816.OFFSET_P2] & 0xFF);
        short rest = (short) (end - data - first);
        short second = (short) (data + first);
        switch (buffer[ISO7816.OFFSET_INS]) {
            case 1:
                digest = MessageDigest.getInstance(algorithm, false);
                digest.update(buffer, data, first);
                return digest.doFinal(buffer, second, rest, buffer, (short) 0);
            case 2:
                return code(algorithm, aes(buffer, key, keyBytes), buffer, vector, vectorBytes, data, first, rest);
            case 3:
                return code(algorithm, des(buffer, key, keyBytes), buffer, vector, vectorBytes, data, first, rest);
            case 4:
                return code(algorithm, hmac(buffer, key, keyBytes), buffer, vector, vectorBytes, data, first, rest);
            case 5:
                return cipher(algorithm, aes(buffer, key, keyBytes), buffer, vector, vectorBytes, data, first, rest);
            case 6:
                return cipher(algorithm, des(buffer, key, keyBytes), buffer, vector, vectorBytes, data, first, rest);
            case 7:
                checksum = Checksum.getInstance(algorithm, false);
                checksum.update(buffer, data, first);
                return checksum.doFinal(buffer, second, rest, buffer, (short) 0);
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
                return 0;
        }
    }

    private Key aes(byte[] buffer, short offset, short bytes) {
        AESKey key = (AESKey) KeyBuilder.buildKey(KeyBuilder.TYPE_AES, (short) (8 * bytes), false);
        key.setKey(buffer, offset);
        return key;
    }

    private Key des(byte[] buffer, short offset, short bytes) {
        DESKey key = (DESKey) KeyBuilder.buildKey(KeyBuilder.TYPE_DES_TRANSIENT_RESET, (short) (8 * bytes), false);
        key.setKey(buffer, offset);
        return key;
    }

    private Key hmac(byte[] buffer, short offset, short bytes) {
        short length = bytes > 64
                ? KeyBuilder.LENGTH_HMAC_SHA_512_BLOCK_128 : KeyBuilder.LENGTH_HMAC_SHA_256_BLOCK_64;
        HMACKey key = (HMACKey) KeyBuilder.buildKey(KeyBuilder.TYPE_HMAC, length, false);
        key.setKey(buffer, offset, bytes);
        return key;
    }

    /** A code, which verification takes, and not with a bit changed. */
    private short code(
            byte algorithm,
            Key key,
            byte[] buffer,
            short vector,
            short vectorBytes,
            short data,
            short first,
            short rest) {
        signature = Signature.getInstance(algorithm, false);
        byte[] answer = JCSystem.makeTransientByteArray((short) 64, JCSystem.CLEAR_ON_RESET);
        short second = (short) (data + first);
        init(key, Signature.MODE_SIGN, buffer, vector, vectorBytes);
        signature.update(buffer, data, first);
        short length = signature.sign(buffer, second, rest, answer, (short) 0);
        if (length != signature.getLength()) {
            ISOException.throwIt((short) 0x6A81);
        }
        for (byte wrong = 0; wrong < 2; wrong++) {
            init(key, Signature.MODE_VERIFY, buffer, vector, vectorBytes);
            signature.update(buffer, data, first);
            answer[0] ^= wrong;
            boolean isRight = signature.verify(buffer, second, rest, answer, (short) 0, length);
            if (isRight != (wrong == 0)) {
                ISOException.throwIt((short) 0x6A82);
            }
            answer[0] ^= wrong;
        }
        return Util.arrayCopy(answer, (short) 0, buffer, (short) 0, length);
    }

    private void init(Key key, byte mode, byte[] buffer, short vector, short vectorBytes) {
        if (vectorBytes == 0) {
            signature.init(key, mode);
        } else {
            signature.init(key, mode, buffer, vector, vectorBytes);
        }
    }

    /** What is encrypted, which decryption brings back. */
    private short cipher(
            byte algorithm,
            Key key,
            byte[] buffer,
            short vector,
            short vectorBytes,
            short data,
            short first,
            short rest) {
        cipher = Cipher.getInstance(algorithm, false);
        byte[] answer = JCSystem.makeTransientByteArray((short) 160, JCSystem.CLEAR_ON_RESET);
        byte[] back = JCSystem.makeTransientByteArray((short) 160, JCSystem.CLEAR_ON_RESET);
        short length = 0;
        short brought = 0;
        for (byte way = 0; way < 2; way++) {
            byte mode = way == 0 ? Cipher.MODE_ENCRYPT : Cipher.MODE_DECRYPT;
            if (vectorBytes == 0) {
                cipher.init(key, mode);
            } else {
                cipher.init(key, mode, buffer, vector, vectorBytes);
            }
            if (way == 0) {
                length = cipher.update(buffer, data, first, answer, (short) 0);
                length += cipher.doFinal(buffer, (short) (data + first), rest, answer, length);
            } else {
                short part = (short) (length / 3);
                brought = cipher.update(answer, (short) 0, part, back, (short) 0);
                brought += cipher.doFinal(answer, part, (short) (length - part), back, brought);
            }
        }
        // Zeros as padding stay.
        short whole = (short) (first + rest);
        if (brought < whole || Util.arrayCompare(buffer, data, back, (short) 0, whole) != 0) {
            ISOException.throwIt((short) 0x6A82);
        }
        return Util.arrayCopy(answer, (short) 0, buffer, (short) 0, length);
    }

    private short curves(byte[] buffer, short end) {
        short bits = Util.getShort(buffer, ISO7816.OFFSET_P1);
        short data = ISO7816.OFFSET_CDATA;
        switch (buffer[ISO7816.OFFSET_INS]) {
            case 16:
            case 17:
            case 18:
            case 19:
                return rsa(buffer, data, (short) (end - data));
            case 8:
                // A new pair; its public key.
                pair = new KeyPair(KeyPair.ALG_EC_FP, bits);
                if (end > data) {
                    ((ECPublicKey) pair.getPublic()).setFieldFP(buffer, data, (short) (end - data));
                }
                pair.genKeyPair();
                return ((ECPublicKey) pair.getPublic()).getW(buffer, (short) 0);
            case 9:
                // A signature of the data, by the algorithm of P1.
                signature = Signature.getInstance(buffer[ISO7816.OFFSET_P1], false);
                signature.init(pair.getPrivate(), Signature.MODE_SIGN);
                byte[] signed = JCSystem.makeTransientByteArray((short) 140, JCSystem.CLEAR_ON_RESET);
                short length = signature.sign(buffer, data, (short) (end - data), signed, (short) 0);
                signature.init(pair.getPublic(), Signature.MODE_VERIFY);
                boolean isRight = signature.verify(buffer, data, (short) (end - data), signed, (short) 0, length);
                if (!isRight || length > signature.getLength()) {
                    ISOException.throwIt((short) 0x6A82);
                }
                return Util.arrayCopy(signed, (short) 0, buffer, (short) 0, length);
            case 10:
                // A secret with the data's point, by the algorithm of P1.
                agreement = KeyAgreement.getInstance(buffer[ISO7816.OFFSET_P1], false);
                agreement.init(pair.getPrivate());
                byte[] secret = JCSystem.makeTransientByteArray((short) 133, JCSystem.CLEAR_ON_RESET);
                short bytes = agreement.generateSecret(buffer, data, (short) (end - data), secret, (short) 0);
                return Util.arrayCopy(secret, (short) 0, buffer, (short) 0, bytes);
            case 11:
                // The private key, for the other side.
                return ((ECPrivateKey) pair.getPrivate()).getS(buffer, (short) 0);
            case 12:
                // A parameter of the pair's curve, by P1.
                return parameter((ECKey) pair.getPrivate(), buffer);
            case 14:
                // Keeps the data in RAM, in a new array.
                kept = JCSystem.makeTransientByteArray((short) (end - data), JCSystem.CLEAR_ON_RESET);
                Util.arrayCopy(buffer, data, kept, (short) 0, (short) (end - data));
                return 0;
            case 15:
                return Util.arrayCopy(kept, (short) 0, buffer, (short) 0, (short) kept.length);
            case 13:
                // The base point by another curve's field: refused.
                ECPublicKey key =
                        (ECPublicKey) KeyBuilder.buildKey(KeyBuilder.TYPE_EC_FP_PUBLIC, bits, false);
                key.setFieldFP(buffer, data, (short) ((bits + 7) / 8));
                short point = (short) (data + (bits + 7) / 8);
                key.setG(buffer, point, (short) (end - point));
                return 0;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
                return 0;
        }
    }

    private short rsa(byte[] buffer, short data, short bytes) {
        byte first = buffer[ISO7816.OFFSET_P1];
        byte second = buffer[ISO7816.OFFSET_P2];
        switch (buffer[ISO7816.OFFSET_INS]) {
            case 16:
                // A new pair, of P2 times 64 bits; its modulus.
                pair = new KeyPair(first, (short) (second * 64));
                pair.genKeyPair();
                short length = ((RSAPublicKey) pair.getPublic()).getModulus(buffer, (short) 0);
                short exponent = ((RSAPublicKey) pair.getPublic()).getExponent(buffer, length);
                if (exponent != 3 || buffer[length] != 1 || buffer[(short) (length + 2)] != 1) {
                    ISOException.throwIt((short) 0x6A83);
                }
                return length;
            case 17:
                return signedByRsa(first, buffer, data, bytes);
            case 18:
                // What the other side has encrypted, by cipher and padding.
                cipher = Cipher.getInstance(Cipher.CIPHER_RSA, second, false);
                cipher.init(pair.getPrivate(), Cipher.MODE_DECRYPT);
                return cipher.doFinal(buffer, data, bytes, buffer, (short) 0);
            default:
                // There and back, by the public key first, or by the private one.
                byte[] there = JCSystem.makeTransientByteArray((short) 256, JCSystem.CLEAR_ON_RESET);
                byte[] back = JCSystem.makeTransientByteArray((short) 256, JCSystem.CLEAR_ON_RESET);
                cipher = Cipher.getInstance(Cipher.CIPHER_RSA, second, false);
                Key one = first == 0 ? (Key) pair.getPublic() : (Key) pair.getPrivate();
                Key other = first == 0 ? (Key) pair.getPrivate() : (Key) pair.getPublic();
                cipher.init(one, Cipher.MODE_ENCRYPT);
                short part = (short) (bytes / 2);
                cipher.update(buffer, data, part, there, (short) 0);
                short written = cipher.doFinal(buffer, (short) (data + part), (short) (bytes - part), there, (short) 0);
                cipher.init(other, Cipher.MODE_DECRYPT);
                short came = cipher.doFinal(there, (short) 0, written, back, (short) 0);
                if (came != bytes || Util.arrayCompare(buffer, data, back, (short) 0, bytes) != 0) {
                    ISOException.throwIt((short) 0x6A82);
                }
                return Util.arrayCopy(there, (short) 0, buffer, (short) 0, written);
        }
    }

    /** A signature, which verification takes, and neither of other data nor another one of these. */
    private short signedByRsa(byte algorithm, byte[] buffer, short data, short bytes) {
        signature = Signature.getInstance(algorithm, false);
        byte[] signed = JCSystem.makeTransientByteArray((short) 256, JCSystem.CLEAR_ON_RESET);
        signature.init(pair.getPrivate(), Signature.MODE_SIGN);
        short length = signature.sign(buffer, data, bytes, signed, (short) 0);
        signature.init(pair.getPublic(), Signature.MODE_VERIFY);
        boolean isRight = signature.verify(buffer, data, bytes, signed, (short) 0, length);
        buffer[data] ^= 1;
        boolean isOther = signature.verify(buffer, data, bytes, signed, (short) 0, length);
        buffer[data] ^= 1;
        signed[(short) (length - 2)] ^= 1;
        boolean isChanged = signature.verify(buffer, data, bytes, signed, (short) 0, length);
        signed[(short) (length - 2)] ^= 1;
        boolean isShort = signature.verify(buffer, data, bytes, signed, (short) 0, (short) (length - 1));
        if (!isRight || isOther || isChanged || isShort) {
            ISOException.throwIt((short) 0x6A82);
        }
        return Util.arrayCopy(signed, (short) 0, buffer, (short) 0, length);
    }

    private short parameter(ECKey key, byte[] buffer) {
        switch (buffer[ISO7816.OFFSET_P1]) {
            case 0:
                return key.getField(buffer, (short) 0);
            case 1:
                return key.getA(buffer, (short) 0);
            case 2:
                return key.getB(buffer, (short) 0);
            case 3:
                return key.getG(buffer, (short) 0);
            default:
                return key.getR(buffer, (short) 0);
        }
    }
}
