package vault;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Util;
import javacard.security.AESKey;
import javacard.security.CryptoException;
import javacard.security.ECPrivateKey;
import javacard.security.ECPublicKey;
import javacard.security.KeyAgreement;
import javacard.security.KeyBuilder;
import javacard.security.KeyPair;
import javacard.security.MessageDigest;
import javacard.security.RandomData;
import javacard.security.Signature;
import javacardx.crypto.Cipher;

/** Computes, for each instruction, what the test compares with published answers. */
public final class Vault extends Applet {
    private final MessageDigest sha1 = MessageDigest.getInstance(MessageDigest.ALG_SHA, false);
    private final MessageDigest sha256 = MessageDigest.getInstance(MessageDigest.ALG_SHA_256, false);
    private final Cipher ecb = Cipher.getInstance(Cipher.ALG_AES_BLOCK_128_ECB_NOPAD, false);
    private final Cipher cbc = Cipher.getInstance(Cipher.ALG_AES_BLOCK_128_CBC_NOPAD, false);
    private final Cipher padded = Cipher.getInstance(Cipher.ALG_AES_CBC_ISO9797_M2, false);
    private final AESKey key =
            (AESKey) KeyBuilder.buildKey(KeyBuilder.TYPE_AES, KeyBuilder.LENGTH_AES_128, false);
    private final Signature signature = Signature.getInstance(Signature.ALG_ECDSA_SHA_256, false);
    private final KeyPair pair = new KeyPair(KeyPair.ALG_EC_FP, KeyBuilder.LENGTH_EC_FP_256);
    private final KeyPair other = new KeyPair(KeyPair.ALG_EC_FP, KeyBuilder.LENGTH_EC_FP_256);
    private final KeyAgreement agreement = KeyAgreement.getInstance(KeyAgreement.ALG_EC_SVDP_DH_PLAIN, false);
    private final RandomData random = RandomData.getInstance(RandomData.ALG_SECURE_RANDOM);
    private final byte[] kept = JCSystem.makeTransientByteArray((short) 80, JCSystem.CLEAR_ON_RESET);

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Vault().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        short length = apdu.setIncomingAndReceive();
        short data = ISO7816.OFFSET_CDATA;
        short answer = 0;
        switch (buffer[ISO7816.OFFSET_INS]) {
            case 1:
                sha1.update(buffer, data, (short) (length / 3));
                short third = (short) (length / 3);
                answer = sha1.doFinal(buffer, (short) (data + third), (short) (length - third), buffer, (short) 0);
                break;
            case 2:
                answer = sha256.doFinal(buffer, data, length, buffer, (short) 0);
                break;
            case 3:
                key.setKey(buffer, data);
                ecb.init(key, Cipher.MODE_ENCRYPT);
                answer = ecb.doFinal(buffer, (short) (data + 16), (short) 16, buffer, (short) 0);
                ecb.init(key, Cipher.MODE_DECRYPT);
                answer += ecb.doFinal(buffer, (short) 0, (short) 16, buffer, (short) 16);
                break;
            case 4:
                key.setKey(buffer, data);
                cbc.init(key, Cipher.MODE_ENCRYPT, buffer, (short) (data + 16), (short) 16);
                answer = cbc.doFinal(buffer, (short) (data + 32), (short) (length - 32), buffer, (short) 0);
                break;
            case 5:
                pair.genKeyPair();
                signature.init(pair.getPrivate(), Signature.MODE_SIGN);
                short signed = signature.sign(buffer, data, length, kept, (short) 0);
                signature.init(pair.getPublic(), Signature.MODE_VERIFY);
                boolean isRight = signature.verify(buffer, data, length, kept, (short) 0, signed);
                buffer[data]++;
                boolean isWrong = signature.verify(buffer, data, length, kept, (short) 0, signed);
                buffer[0] = (byte) (isRight ? 1 : 0);
                buffer[1] = (byte) (isWrong ? 1 : 0);
                answer = 2;
                break;
            case 6:
                pair.genKeyPair();
                other.genKeyPair();
                short point = ((ECPublicKey) other.getPublic()).getW(kept, (short) 0);
                agreement.init((ECPrivateKey) pair.getPrivate());
                agreement.generateSecret(kept, (short) 0, point, buffer, (short) 0);
                point = ((ECPublicKey) pair.getPublic()).getW(kept, (short) 0);
                agreement.init((ECPrivateKey) other.getPrivate());
                agreement.generateSecret(kept, (short) 0, point, buffer, (short) 32);
                answer = 64;
                break;
            case 7:
                random.generateData(buffer, (short) 0, (short) 100);
                answer = 100;
                break;
            case 8:
                answer = ((ECPublicKey) pair.getPublic()).getW(buffer, (short) 0);
                break;
            case 9:
                try {
                    MessageDigest.getInstance((byte) 99, false);
                } catch (CryptoException e) {
                    Util.setShort(buffer, (short) 0, e.getReason());
                }
                answer = 2;
                break;
            case 10:
                padded.init(key, Cipher.MODE_ENCRYPT);
                short part = (short) (length / 2);
                short done = padded.update(buffer, data, part, kept, (short) 0);
                done += padded.doFinal(buffer, (short) (data + part), (short) (length - part), kept, done);
                buffer[0] = (byte) done;
                padded.init(key, Cipher.MODE_DECRYPT);
                answer = padded.update(kept, (short) 0, (short) (done - 9), buffer, (short) 1);
                answer += padded.doFinal(kept, (short) (done - 9), (short) 9, buffer, (short) (answer + 1));
                answer++;
                break;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
        apdu.setOutgoingAndSend((short) 0, answer);
    }
}
