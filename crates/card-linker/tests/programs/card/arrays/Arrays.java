package arrays;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.SensitiveArrays;
import javacard.framework.SystemException;
import javacard.framework.Util;
import javacard.security.AESKey;
import javacard.security.CryptoException;
import javacard.security.ECKey;
import javacard.security.ECPrivateKey;
import javacard.security.ECPublicKey;
import javacard.security.HMACKey;
import javacard.security.InitializedMessageDigest;
import javacard.security.Key;
import javacard.security.KeyBuilder;
import javacard.security.KeyPair;
import javacard.security.MessageDigest;
import javacard.security.RandomData;
import javacard.security.Signature;
import javacardx.apdu.util.APDUUtil;
import javacardx.crypto.Cipher;
import javacardx.framework.util.ArrayLogic;
import javacardx.framework.util.UtilException;
import javacardx.framework.util.intx.JCint;

/** Arrays of all types under ArrayLogic and SensitiveArrays; objects of one use; curves that keys share. */
public final class Arrays extends Applet {
    private final Object[] all = new Object[8];

    private Arrays() {
        all[0] = new byte[24];
        all[1] = JCSystem.makeTransientByteArray((short) 24, JCSystem.CLEAR_ON_RESET);
        all[2] = new short[12];
        all[3] = JCSystem.makeTransientShortArray((short) 12, JCSystem.CLEAR_ON_RESET);
        all[4] = new int[6];
        all[5] = JCint.makeTransientIntArray((short) 6, JCSystem.CLEAR_ON_RESET);
        all[7] = new boolean[24];
    }

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Arrays().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        byte p1 = buffer[ISO7816.OFFSET_P1];
        short length = 2;
        switch (buffer[ISO7816.OFFSET_INS]) {
            case 0x01:
                apdu.setIncomingAndReceive();
                write(all[p1], buffer);
                return;
            case 0x02:
                length = read(all[p1], buffer);
                break;
            case 0x03:
                apdu.setIncomingAndReceive();
                Util.setShort(buffer, (short) 0, operate(p1, buffer));
                break;
            case 0x04:
                length = once(buffer);
                break;
            case 0x05:
                length = sharedCurve(buffer);
                break;
            case 0x06:
                buffer[0] = APDUUtil.getCLAChannel(p1);
                buffer[1] = (byte) ((APDUUtil.isSecureMessagingCLA(p1) ? 1 : 0)
                        | (APDUUtil.isCommandChainingCLA(p1) ? 2 : 0)
                        | (APDUUtil.isISOInterindustryCLA(p1) ? 4 : 0)
                        | (APDUUtil.isValidCLA(p1) ? 8 : 0));
                break;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
        apdu.setOutgoingAndSend((short) 0, length);
    }

    private static void write(Object array, byte[] buffer) {
        short at = ISO7816.OFFSET_CDATA;
        for (short element = 0; element < 24; element++) {
            if (array instanceof byte[]) {
                ((byte[]) array)[element] = buffer[at++];
            } else if (array instanceof short[] && element < 12) {
                ((short[]) array)[element] = Util.getShort(buffer, at);
                at += 2;
            } else if (array instanceof int[] && element < 6) {
                ((int[]) array)[element] = JCint.getInt(buffer, at);
                at += 4;
            }
        }
    }

    private static short read(Object array, byte[] buffer) {
        short at = 0;
        for (short element = 0; element < 24; element++) {
            if (array instanceof byte[]) {
                buffer[at++] = ((byte[]) array)[element];
            } else if (array instanceof short[] && element < 12) {
                at = Util.setShort(buffer, at, ((short[]) array)[element]);
            } else if (array instanceof int[] && element < 6) {
                at = JCint.setInt(buffer, at, ((int[]) array)[element]);
            }
        }
        return at;
    }

    /** The data: array, first element, elements, other array, its first element; the last four are a value to find. */
    private short operate(byte what, byte[] buffer) {
        Object array = all[buffer[5]];
        short first = Util.getShort(buffer, (short) 6);
        short count = Util.getShort(buffer, (short) 8);
        Object other = all[buffer[10]];
        short start = Util.getShort(buffer, (short) 11);
        boolean isUndone = (what & 0x40) != 0;
        if (isUndone) {
            JCSystem.beginTransaction();
        }
        short result = 0;
        try {
            switch (what & 0x0F) {
                case 1:
                    result = ArrayLogic.arrayCopyRepack(array, first, count, other, start);
                    break;
                case 2:
                    result = ArrayLogic.arrayCopyRepackNonAtomic(array, first, count, other, start);
                    break;
                case 3:
                    result = ArrayLogic.arrayFillGeneric(array, first, count, other, start);
                    break;
                case 4:
                    result = ArrayLogic.arrayFillGenericNonAtomic(array, first, count, other, start);
                    break;
                case 5:
                    result = ArrayLogic.arrayCompareGeneric(array, first, other, start, count);
                    break;
                case 6:
                    result = ArrayLogic.arrayFindGeneric(array, first, buffer, (short) 13);
                    break;
                default:
                    result = SensitiveArrays.clearArray(array);
                    break;
            }
        } catch (ArrayIndexOutOfBoundsException e) {
            result = (short) 0x8001;
        } catch (NullPointerException e) {
            result = (short) 0x8002;
        } catch (UtilException e) {
            result = (short) (0x8010 | e.getReason());
        }
        if (isUndone) {
            JCSystem.abortTransaction();
        }
        return result;
    }

    /** Objects of one use beside those that stay: a bit for each that is as it should be. */
    private short once(byte[] buffer) {
        short good = 0;
        byte[] one = JCSystem.makeTransientByteArray((short) 64, JCSystem.CLEAR_ON_RESET);
        byte[] other = JCSystem.makeTransientByteArray((short) 64, JCSystem.CLEAR_ON_RESET);
        MessageDigest kept = MessageDigest.getInstance(MessageDigest.ALG_SHA_256, false);
        MessageDigest.OneShot digest = MessageDigest.OneShot.open(MessageDigest.ALG_SHA_256);
        good |= digest.doFinal(buffer, (short) 0, (short) 100, one, (short) 0) == digest.getLength() ? 1 : 0;
        kept.doFinal(buffer, (short) 0, (short) 100, other, (short) 0);
        good |= Util.arrayCompare(one, (short) 0, other, (short) 0, (short) 32) == 0 ? 2 : 0;
        try {
            digest.update(buffer, (short) 0, (short) 1);
        } catch (CryptoException e) {
            good |= e.getReason() == CryptoException.ILLEGAL_USE ? 4 : 0;
        }
        digest.close();
        digest.close();
        try {
            digest.getAlgorithm();
        } catch (CryptoException e) {
            good |= e.getReason() == CryptoException.ILLEGAL_USE ? 8 : 0;
        }
        InitializedMessageDigest.OneShot begun = InitializedMessageDigest.OneShot.open(MessageDigest.ALG_SHA);
        good |= begun.doFinal(buffer, (short) 0, (short) 0, one, (short) 0) == 20 ? 16 : 0;
        begun.close();
        RandomData.OneShot random = RandomData.OneShot.open(RandomData.ALG_KEYGENERATION);
        good |= random.nextBytes(one, (short) 0, (short) 16) == 16 ? 32 : 0;
        random.close();
        AESKey key = (AESKey) KeyBuilder.buildKey(KeyBuilder.TYPE_AES, KeyBuilder.LENGTH_AES_128, false);
        key.setKey(one, (short) 0);
        Cipher.OneShot cipher = Cipher.OneShot.open(Cipher.CIPHER_AES_ECB, Cipher.PAD_NOPAD);
        cipher.init(key, Cipher.MODE_ENCRYPT);
        cipher.doFinal(buffer, (short) 0, (short) 32, one, (short) 0);
        cipher.close();
        Cipher back = Cipher.getInstance(Cipher.ALG_AES_BLOCK_128_ECB_NOPAD, false);
        back.init(key, Cipher.MODE_DECRYPT);
        back.doFinal(one, (short) 0, (short) 32, other, (short) 0);
        good |= Util.arrayCompare(buffer, (short) 0, other, (short) 0, (short) 32) == 0 ? 64 : 0;
        HMACKey mac = (HMACKey) KeyBuilder.buildKey(
                KeyBuilder.TYPE_HMAC, KeyBuilder.LENGTH_HMAC_SHA_256_BLOCK_64, false);
        mac.setKey(other, (short) 0, (short) 32);
        Signature.OneShot signature = Signature.OneShot.open(
                MessageDigest.ALG_SHA_256, Signature.SIG_CIPHER_HMAC, Cipher.PAD_NULL);
        signature.init(mac, Signature.MODE_SIGN);
        short bytes = signature.sign(buffer, (short) 0, (short) 50, one, (short) 0);
        signature.close();
        Signature verifier = Signature.getInstance(Signature.ALG_HMAC_SHA_256, false);
        verifier.init(mac, Signature.MODE_VERIFY);
        good |= verifier.verify(buffer, (short) 0, (short) 50, one, (short) 0, bytes) ? 128 : 0;
        try {
            SensitiveArrays.makeIntegritySensitiveArray(JCSystem.ARRAY_TYPE_BYTE, (byte) 0, (short) 4);
        } catch (SystemException e) {
            good |= e.getReason() == SystemException.ILLEGAL_USE ? 256 : 0;
        }
        SensitiveArrays.assertIntegrity(one);
        if (!SensitiveArrays.isIntegritySensitiveArraysSupported() && !SensitiveArrays.isIntegritySensitive(one)) {
            good |= 512;
        }
        Util.setShort(buffer, (short) 0, good);
        return 2;
    }

    /** Keys that share parameters: a bit for each thing that is as it should be. */
    private short sharedCurve(byte[] buffer) {
        short good = 0;
        KeyPair pair = new KeyPair(KeyPair.ALG_EC_FP, KeyBuilder.LENGTH_EC_FP_256);
        pair.genKeyPair();
        Key domain = KeyBuilder.buildKey(
                KeyBuilder.ALG_TYPE_EC_FP_PARAMETERS, JCSystem.MEMORY_TYPE_PERSISTENT, (short) 256, false);
        ECPublicKey open = (ECPublicKey) KeyBuilder.buildKeyWithSharedDomain(
                KeyBuilder.ALG_TYPE_EC_FP_PUBLIC, JCSystem.MEMORY_TYPE_PERSISTENT, domain, false);
        ECPrivateKey secret = (ECPrivateKey) KeyBuilder.buildKeyWithSharedDomain(
                KeyBuilder.ALG_TYPE_EC_FP_PRIVATE, JCSystem.MEMORY_TYPE_TRANSIENT_RESET, open, false);
        good |= !domain.isInitialized() && !open.isInitialized() && secret.getSize() == 256 ? 1 : 0;
        try {
            secret.getG(buffer, (short) 0);
        } catch (CryptoException e) {
            good |= e.getReason() == CryptoException.UNINITIALIZED_KEY ? 2 : 0;
        }
        secret.copyDomainParametersFrom((ECKey) pair.getPublic());
        good |= domain.isInitialized() && ((ECKey) domain).getK() == 1 ? 4 : 0;
        good |= open.getG(buffer, (short) 0) == 65 && !open.isInitialized() ? 8 : 0;
        new KeyPair(open, secret).genKeyPair();
        good |= open.isInitialized() && secret.isInitialized() ? 16 : 0;
        Signature signature = Signature.getInstance(Signature.ALG_ECDSA_SHA_256, false);
        signature.init(secret, Signature.MODE_SIGN);
        short bytes = signature.sign(buffer, (short) 0, (short) 30, buffer, (short) 100);
        signature.init(open, Signature.MODE_VERIFY);
        good |= signature.verify(buffer, (short) 0, (short) 30, buffer, (short) 100, bytes) ? 32 : 0;
        secret.clearKey();
        good |= !secret.isInitialized() && open.isInitialized() ? 64 : 0;
        domain.clearKey();
        good |= !open.isInitialized() ? 128 : 0;
        try {
            KeyBuilder.buildKeyWithSharedDomain(
                    KeyBuilder.ALG_TYPE_AES, JCSystem.MEMORY_TYPE_PERSISTENT, domain, false);
        } catch (CryptoException e) {
            good |= e.getReason() == CryptoException.NO_SUCH_ALGORITHM ? 256 : 0;
        }
        try {
            KeyBuilder.buildKeyWithSharedDomain(
                    KeyBuilder.ALG_TYPE_EC_FP_PUBLIC, JCSystem.MEMORY_TYPE_PERSISTENT, null, false);
        } catch (CryptoException e) {
            good |= e.getReason() == CryptoException.ILLEGAL_VALUE ? 512 : 0;
        }
        JCSystem.requestObjectDeletion();
        Util.setShort(buffer, (short) 0, good);
        return 2;
    }
}
