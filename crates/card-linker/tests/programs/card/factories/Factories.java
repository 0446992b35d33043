package factories;

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
import javacard.security.ECPublicKey;
import javacard.security.HMACKey;
import javacard.security.InitializedMessageDigest;
import javacard.security.Key;
import javacard.security.KeyAgreement;
import javacard.security.KeyBuilder;
import javacard.security.KeyPair;
import javacard.security.MessageDigest;
import javacard.security.PrivateKey;
import javacard.security.RandomData;
import javacard.security.Signature;
import javacardx.crypto.Cipher;

/**
 * Asks factories for what a command names, and uses what they make: 6A with a reason where the factory refuses, 6B with
 * a reason, or 6C, where what it made does not work. A number of bytes is the data, from 5 on.
 */
public final class Factories extends Applet {
    private static final short DATA = 16;

    /** To sign or encrypt, and to verify or decrypt. */
    private final Key[] ours = new Key[8];
    private final Key[] theirs = new Key[8];
    private short count;
    private byte[] point;
    private final byte[] one = JCSystem.makeTransientByteArray((short) 200, JCSystem.CLEAR_ON_RESET);
    private final byte[] other = JCSystem.makeTransientByteArray((short) 200, JCSystem.CLEAR_ON_RESET);
    private boolean isMade;
    private short refusals;

    private Factories() {
        secret(KeyBuilder.TYPE_AES, KeyBuilder.LENGTH_AES_128);
        secret(KeyBuilder.TYPE_AES, KeyBuilder.LENGTH_AES_192);
        secret(KeyBuilder.TYPE_AES, KeyBuilder.LENGTH_AES_256);
        secret(KeyBuilder.TYPE_DES, KeyBuilder.LENGTH_DES3_3KEY);
        secret(KeyBuilder.TYPE_HMAC, KeyBuilder.LENGTH_HMAC_SHA_256_BLOCK_64);
        pair(KeyPair.ALG_EC_FP, KeyBuilder.LENGTH_EC_FP_256);
        pair(KeyPair.ALG_RSA, KeyBuilder.LENGTH_RSA_1280);
    }

    private void secret(byte type, short bits) {
        try {
            Key key = KeyBuilder.buildKey(type, bits, false);
            set(key);
            ours[count] = key;
            theirs[count] = key;
            count++;
        } catch (CryptoException exception) {
            // The card does not have it.
        }
    }

    private void set(Key key) {
        Util.arrayFillNonAtomic(one, (short) 0, (short) 64, (byte) 0x5A);
        if (key instanceof AESKey) {
            ((AESKey) key).setKey(one, (short) 0);
        } else if (key instanceof DESKey) {
            ((DESKey) key).setKey(one, (short) 0);
        } else if (key instanceof HMACKey) {
            ((HMACKey) key).setKey(one, (short) 0, (short) 20);
        }
    }

    private void pair(byte algorithm, short bits) {
        try {
            KeyPair pair = new KeyPair(algorithm, bits);
            pair.genKeyPair();
            ours[count] = pair.getPrivate();
            theirs[count] = pair.getPublic();
            count++;
            if (algorithm == KeyPair.ALG_EC_FP) {
                point = new byte[65];
                ((ECPublicKey) pair.getPublic()).getW(point, (short) 0);
            }
        } catch (CryptoException exception) {
            // The card does not have it.
        }
    }

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Factories().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        apdu.setIncomingAndReceive();
        isMade = false;
        boolean isRight = false;
        try {
            isRight = use(buffer);
        } catch (CryptoException exception) {
            ISOException.throwIt((short) ((isMade ? 0x6B00 : 0x6A00) + exception.getReason()));
        } finally {
            // What a factory refuses may leave an object without its fields.
            refusals++;
            if (isMade || (refusals & 0x1F) == 0) {
                JCSystem.requestObjectDeletion();
            }
        }
        if (!isRight) {
            ISOException.throwIt((short) 0x6C01);
        }
    }

    private boolean use(byte[] buffer) {
        byte first = buffer[5];
        byte second = buffer[6];
        byte third = buffer[7];
        switch (buffer[ISO7816.OFFSET_INS]) {
            case 1:
                return digests(MessageDigest.getInstance(first, false));
            case 2:
                InitializedMessageDigest digest = MessageDigest.getInitializedMessageDigestInstance(first, false);
                return digests(digest);
            case 3:
                return signs(Signature.getInstance(first, false));
            case 4:
                return signs(Signature.getInstance(first, second, third, false));
            case 5:
                return encrypts(Cipher.getInstance(first, false));
            case 6:
                return encrypts(Cipher.getInstance(first, second, false));
            case 7:
                return agrees(KeyAgreement.getInstance(first, false));
            case 8:
                return sums(Checksum.getInstance(first, false));
            case 9:
                return draws(RandomData.getInstance(first));
            case 10:
                return holds(KeyBuilder.buildKey(first, Util.getShort(buffer, (short) 6), false), first,
                        Util.getShort(buffer, (short) 6));
            default:
                KeyPair pair = new KeyPair(first, Util.getShort(buffer, (short) 6));
                isMade = true;
                pair.genKeyPair();
                return pair.getPrivate().isInitialized() && pair.getPublic().isInitialized();
        }
    }

    private boolean digests(MessageDigest digest) {
        isMade = true;
        short length = digest.doFinal(one, (short) 0, DATA, other, (short) 0);
        return length == digest.getLength();
    }

    private boolean signs(Signature signature) {
        isMade = true;
        for (short key = 0; key < count; key++) {
            try {
                signature.init(ours[key], Signature.MODE_SIGN);
            } catch (CryptoException exception) {
                if (exception.getReason() != CryptoException.ILLEGAL_VALUE) {
                    throw exception;
                }
                continue;
            }
            short length = signature.sign(one, (short) 0, DATA, other, (short) 0);
            signature.init(theirs[key], Signature.MODE_VERIFY);
            return signature.verify(one, (short) 0, DATA, other, (short) 0, length);
        }
        return false;
    }

    private boolean encrypts(Cipher cipher) {
        isMade = true;
        for (short key = 0; key < count; key++) {
            try {
                cipher.init(theirs[key], Cipher.MODE_ENCRYPT);
            } catch (CryptoException exception) {
                if (exception.getReason() != CryptoException.ILLEGAL_VALUE) {
                    throw exception;
                }
                continue;
            }
            // A number of RSA is below the modulus and has its bytes.
            boolean isNumber = cipher.getCipherAlgorithm() == Cipher.CIPHER_RSA
                    && cipher.getPaddingAlgorithm() == Cipher.PAD_NOPAD;
            short bytes = isNumber ? (short) 160 : DATA;
            Util.arrayFillNonAtomic(one, (short) 0, bytes, (byte) 0x11);
            short length = cipher.doFinal(one, (short) 0, bytes, other, (short) 0);
            cipher.init(ours[key], Cipher.MODE_DECRYPT);
            short back = cipher.doFinal(other, (short) 0, length, other, (short) 0);
            return back >= bytes && Util.arrayCompare(one, (short) 0, other, (short) 0, bytes) == 0;
        }
        return false;
    }

    private boolean agrees(KeyAgreement agreement) {
        isMade = true;
        for (short key = 0; key < count; key++) {
            if (ours[key].getType() == KeyBuilder.TYPE_EC_FP_PRIVATE) {
                agreement.init((PrivateKey) ours[key]);
                return agreement.generateSecret(point, (short) 0, (short) 65, other, (short) 0) >= 20;
            }
        }
        return false;
    }

    private boolean sums(Checksum checksum) {
        isMade = true;
        return checksum.doFinal(one, (short) 0, DATA, other, (short) 0) >= 2;
    }

    private boolean draws(RandomData random) {
        isMade = true;
        Util.arrayFillNonAtomic(one, (short) 0, DATA, (byte) 0);
        Util.arrayFillNonAtomic(other, (short) 0, DATA, (byte) 0);
        random.nextBytes(other, (short) 0, DATA);
        return Util.arrayCompare(one, (short) 0, other, (short) 0, DATA) != 0;
    }

    private boolean holds(Key key, byte type, short bits) {
        isMade = true;
        boolean isSecret = key instanceof AESKey || key instanceof DESKey || key instanceof HMACKey;
        set(key);
        return key.isInitialized() == isSecret && key.getType() == type && key.getSize() == bits;
    }
}
