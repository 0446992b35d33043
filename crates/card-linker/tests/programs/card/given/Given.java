package given;

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
import javacard.security.ECPrivateKey;
import javacard.security.HMACKey;
import javacard.security.Key;
import javacard.security.KeyBuilder;
import javacard.security.MessageDigest;
import javacard.security.RSAPrivateCrtKey;
import javacard.security.RSAPrivateKey;
import javacard.security.RSAPublicKey;
import javacard.security.Signature;
import javacardx.crypto.Cipher;

/**
 * Keys and algorithms in slots, which commands make, set and use: P1 is the slot. An instruction with 40 added is
 * carried out in a transaction that is aborted.
 */
public final class Given extends Applet {
    private static final byte ABORTED = 0x40;
    private static final short ROOM = 520;

    private final Key[] keys = new Key[4];
    private final Object[] all = new Object[24];
    private final byte[] stored = new byte[64];
    private final byte[] room = JCSystem.makeTransientByteArray(ROOM, JCSystem.CLEAR_ON_RESET);

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Given().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        short length = apdu.setIncomingAndReceive();
        byte instruction = buffer[ISO7816.OFFSET_INS];
        boolean isAborted = (instruction & ABORTED) != 0;
        if (isAborted) {
            JCSystem.beginTransaction();
        }
        short answer = 0;
        try {
            answer = run((byte) (instruction & ~ABORTED), buffer, length);
        } catch (CryptoException exception) {
            ISOException.throwIt((short) (0x6A00 + exception.getReason()));
        }
        if (isAborted) {
            JCSystem.abortTransaction();
        }
        apdu.setOutgoing();
        apdu.setOutgoingLength(answer);
        apdu.sendBytesLong(room, (short) 0, answer);
    }

    private short run(byte instruction, byte[] buffer, short length) {
        byte slot = buffer[ISO7816.OFFSET_P1];
        byte second = buffer[ISO7816.OFFSET_P2];
        short data = ISO7816.OFFSET_CDATA;
        switch (instruction) {
            case 1:
                keys[slot] = KeyBuilder.buildKey(second, Util.getShort(buffer, data), false);
                JCSystem.requestObjectDeletion();
                return 0;
            case 2:
                // A value of 256 bytes is in the room.
                if (length == 0) {
                    setKey(keys[slot], second, room, (short) 0, (short) 256);
                } else {
                    setKey(keys[slot], second, buffer, data, length);
                }
                return 0;
            case 3:
                all[slot] = null;
                all[slot] = made(second, buffer[data], buffer[(short) (data + 1)]);
                JCSystem.requestObjectDeletion();
                return 0;
            case 4:
                init(all[slot], keys[buffer[data]], second, buffer, (short) (data + 1), (short) (length - 1));
                return 0;
            case 5:
                return update(all[slot], buffer, data, length, second == 0 ? room : stored);
            case 6:
                return finish(all[slot], buffer, data, length);
            case 7:
                // Whether the room has a signature, as long as P2 says, 0 for 256.
                short bytes = second == 0 ? 256 : (short) (second & 0xFF);
                boolean isRight = ((Signature) all[slot]).verify(buffer, data, length, room, (short) 0, bytes);
                room[0] = isRight ? (byte) 1 : 0;
                return 1;
            case 8:
                // Fills the room, from P1 times 128 on.
                Util.arrayCopyNonAtomic(buffer, data, room, (short) (slot * 128), length);
                return 0;
            case 9:
                // The object in the slot signs a hash of the data.
                return ((Signature) all[slot]).signPreComputedHash(buffer, data, length, room, (short) 0);
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
                return 0;
        }
    }

    private static Object made(byte kind, byte algorithm, byte padding) {
        switch (kind) {
            case 0:
                return MessageDigest.getInstance(algorithm, false);
            case 1:
                return Signature.getInstance(algorithm, false);
            case 2:
                return Cipher.getInstance(algorithm, false);
            case 3:
                return Checksum.getInstance(algorithm, false);
            default:
                return Cipher.getInstance(algorithm, padding, false);
        }
    }

    private static void setKey(Key key, byte part, byte[] from, short offset, short length) {
        if (key instanceof AESKey) {
            ((AESKey) key).setKey(from, offset);
        } else if (key instanceof DESKey) {
            ((DESKey) key).setKey(from, offset);
        } else if (key instanceof HMACKey) {
            ((HMACKey) key).setKey(from, offset, length);
        } else if (key instanceof RSAPublicKey) {
            if (part == 0) {
                ((RSAPublicKey) key).setModulus(from, offset, length);
            } else {
                ((RSAPublicKey) key).setExponent(from, offset, length);
            }
        } else if (key instanceof RSAPrivateKey) {
            if (part == 0) {
                ((RSAPrivateKey) key).setModulus(from, offset, length);
            } else {
                ((RSAPrivateKey) key).setExponent(from, offset, length);
            }
        } else if (key instanceof ECPrivateKey) {
            ((ECPrivateKey) key).setS(from, offset, part == 0 ? length : 0);
        } else {
            setFactor((RSAPrivateCrtKey) key, part, from, offset, length);
        }
    }

    private static void setFactor(RSAPrivateCrtKey key, byte part, byte[] from, short offset, short length) {
        switch (part) {
            case 0:
                key.setP(from, offset, length);
                return;
            case 1:
                key.setQ(from, offset, length);
                return;
            case 2:
                key.setDP1(from, offset, length);
                return;
            case 3:
                key.setDQ1(from, offset, length);
                return;
            default:
                key.setPQ(from, offset, length);
        }
    }

    private static void init(Object object, Key key, byte mode, byte[] vector, short offset, short length) {
        if (object instanceof Signature) {
            if (length == 0) {
                ((Signature) object).init(key, mode);
            } else {
                ((Signature) object).init(key, mode, vector, offset, length);
            }
        } else if (object instanceof Cipher) {
            if (length == 0) {
                ((Cipher) object).init(key, mode);
            } else {
                ((Cipher) object).init(key, mode, vector, offset, length);
            }
        } else {
            ((Checksum) object).init(vector, offset, length);
        }
    }

    private static short update(Object object, byte[] data, short offset, short length, byte[] out) {
        if (object instanceof MessageDigest) {
            ((MessageDigest) object).update(data, offset, length);
        } else if (object instanceof Signature) {
            ((Signature) object).update(data, offset, length);
        } else if (object instanceof Checksum) {
            ((Checksum) object).update(data, offset, length);
        } else {
            return ((Cipher) object).update(data, offset, length, out, (short) 0);
        }
        return 0;
    }

    private short finish(Object object, byte[] data, short offset, short length) {
        if (object instanceof MessageDigest) {
            return ((MessageDigest) object).doFinal(data, offset, length, room, (short) 0);
        }
        if (object instanceof Signature) {
            return ((Signature) object).sign(data, offset, length, room, (short) 0);
        }
        if (object instanceof Checksum) {
            return ((Checksum) object).doFinal(data, offset, length, room, (short) 0);
        }
        return ((Cipher) object).doFinal(data, offset, length, room, (short) 0);
    }
}
