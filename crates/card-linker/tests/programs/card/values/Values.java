package values;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Util;
import javacardx.framework.math.BCDUtil;
import javacardx.framework.math.BigNumber;
import javacardx.framework.math.ParityBit;
import javacardx.framework.tlv.BERTLV;
import javacardx.framework.tlv.BERTag;
import javacardx.framework.tlv.ConstructedBERTLV;
import javacardx.framework.tlv.ConstructedBERTag;
import javacardx.framework.tlv.PrimitiveBERTLV;
import javacardx.framework.tlv.PrimitiveBERTag;
import javacardx.framework.tlv.TLVException;

/** Large numbers, decimals, parities, and tags, lengths and values, as commands ask for them. */
public final class Values extends Applet {
    private static final short BYTES = 12;
    private static final short FAILED = (short) 0x8000;

    private final BigNumber number = new BigNumber(BYTES);
    private final BigNumber shorter = new BigNumber((short) 4);
    private final BigNumber longer = new BigNumber((short) 16);
    private final byte[] room = JCSystem.makeTransientByteArray((short) 256, JCSystem.CLEAR_ON_DESELECT);
    private short passed;
    private short bit;

    private Values() {
    }

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Values().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        short length = 0;
        if (buffer[ISO7816.OFFSET_INS] < 0x40) {
            length = apdu.setIncomingAndReceive();
            Util.arrayCopyNonAtomic(buffer, ISO7816.OFFSET_CDATA, room, (short) 0, length);
        }
        short answer;
        switch (buffer[ISO7816.OFFSET_INS]) {
            case 1:
                answer = ofNumber(buffer, length);
                break;
            case 2:
                answer = ofDecimals(buffer, length);
                break;
            case 3:
                ParityBit.set(room, (short) 0, length, buffer[ISO7816.OFFSET_P1] == 1);
                answer = Util.arrayCopyNonAtomic(room, (short) 0, buffer, (short) 0, length);
                break;
            case 4:
                answer = ofValue(buffer, length);
                break;
            case 5:
                answer = ofTag(buffer, length);
                break;
            case 0x41:
                answer = objects(buffer);
                break;
            case 0x42:
                answer = arrays(buffer);
                break;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
                return;
        }
        apdu.setOutgoingAndSend((short) 0, answer);
    }

    private short ofNumber(byte[] buffer, short length) {
        byte format = buffer[ISO7816.OFFSET_P2];
        short result;
        try {
            result = operate(buffer[ISO7816.OFFSET_P1], length, format);
        } catch (ArithmeticException refused) {
            result = FAILED;
        } catch (ArrayIndexOutOfBoundsException outside) {
            result = FAILED + 1;
        }
        short at = Util.setShort(buffer, (short) 0, result);
        number.toBytes(buffer, at, BYTES, BigNumber.FORMAT_HEX);
        at += BYTES;
        buffer[at++] = (byte) number.getByteLength(BigNumber.FORMAT_HEX);
        short decimals = number.getByteLength(BigNumber.FORMAT_BCD);
        number.toBytes(buffer, at, (short) (decimals + 1), BigNumber.FORMAT_BCD);
        return (short) (at + decimals + 1);
    }

    private short operate(byte operation, short length, byte format) {
        switch (operation) {
            case 0:
                number.init(room, (short) 0, length, format);
                return 0;
            case 1:
                number.add(room, (short) 0, length, format);
                return 0;
            case 2:
                number.subtract(room, (short) 0, length, format);
                return 0;
            case 3:
                number.multiply(room, (short) 0, length, format);
                return 0;
            case 4:
                number.setMaximum(room, (short) 0, length, format);
                return 0;
            case 5:
                return number.compareTo(room, (short) 0, length, format);
            case 6:
                shorter.init(room, (short) 0, length, format);
                return (short) (number.compareTo(shorter) + 3 * shorter.compareTo(number));
            case 7:
                longer.init(room, (short) 0, length, format);
                return (short) (number.compareTo(longer) + 3 * longer.compareTo(number));
            case 8:
                number.reset();
                return 0;
            case 9:
                number.toBytes(room, (short) 0, (short) (number.getByteLength(format) - 1), format);
                return 0;
            case 10:
                new BigNumber((short) (room[0] * 128 + room[1]));
                return BigNumber.getMaxBytesSupported();
            case 11:
                JCSystem.beginTransaction();
                number.init(room, (short) 0, length, format);
                JCSystem.abortTransaction();
                return 0;
            default:
                number.add(room, (short) 250, length, format);
                return 0;
        }
    }

    private short ofDecimals(byte[] buffer, short length) {
        // Into the same range, and one byte before it.
        short to = buffer[ISO7816.OFFSET_P2];
        Util.arrayCopyNonAtomic(room, (short) 0, room, (short) 1, length);
        short result;
        try {
            switch (buffer[ISO7816.OFFSET_P1]) {
                case 0:
                    result = BCDUtil.convertToHex(room, (short) 1, length, room, to);
                    break;
                case 1:
                    result = BCDUtil.convertToBCD(room, (short) 1, length, room, to);
                    break;
                default:
                    result = (short) (BCDUtil.isBCDFormat(room, (short) 1, length) ? 1 : 0);
                    to = 0;
            }
        } catch (ArithmeticException refused) {
            result = FAILED;
        }
        short at = Util.setShort(buffer, (short) 0, result);
        return result < 0 ? at : Util.arrayCopyNonAtomic(room, to, buffer, at, result);
    }

    private short ofValue(byte[] buffer, short length) {
        boolean isOne = BERTLV.verifyFormat(room, (short) 0, length);
        try {
            BERTLV made = BERTLV.getInstance(room, (short) 0, length);
            short size = made.size();
            short at = Util.setShort(buffer, (short) 0, (short) (isOne ? 1 : 0));
            at = Util.setShort(buffer, at, made.getLength());
            at = Util.setShort(buffer, at, BERTLV.getLength(room, (short) 0));
            short written = made.toBytes(buffer, at);
            JCSystem.requestObjectDeletion();
            return (short) (at + (written == size ? written : 0));
        } catch (TLVException malformed) {
            Util.setShort(buffer, (short) 0, (short) (isOne ? 1 : 0));
            return Util.setShort(buffer, (short) 2, (short) (FAILED + malformed.getReason()));
        } catch (ArrayIndexOutOfBoundsException outside) {
            return Util.setShort(buffer, (short) 0, (short) (FAILED + 0x100));
        }
    }

    private short ofTag(byte[] buffer, short length) {
        boolean isOne = BERTag.verifyFormat(room, (short) 0);
        try {
            BERTag made = BERTag.getInstance(room, (short) 0);
            short at = Util.setShort(buffer, (short) 0, (short) (isOne ? 1 : 0));
            buffer[at++] = made.size();
            buffer[at++] = made.tagClass();
            buffer[at++] = (byte) (made.isConstructed() ? 1 : 0);
            at = Util.setShort(buffer, at, made.tagNumber());
            at += made.toBytes(buffer, at);
            // By the static methods, and in the shortest form.
            buffer[at++] = BERTag.size(room, (short) 0);
            buffer[at++] = BERTag.tagClass(room, (short) 0);
            buffer[at++] = (byte) (BERTag.isConstructed(room, (short) 0) ? 1 : 0);
            at = Util.setShort(buffer, at, BERTag.tagNumber(room, (short) 0));
            at += BERTag.toBytes(made.tagClass(), made.isConstructed(), made.tagNumber(), buffer, at);
            JCSystem.requestObjectDeletion();
            return at;
        } catch (TLVException malformed) {
            short at = Util.setShort(buffer, (short) 0, (short) (isOne ? 1 : 0));
            return Util.setShort(buffer, at, (short) (FAILED + malformed.getReason()));
        }
    }

    /** Notes whether something is as it should be. */
    private void holds(boolean isSo) {
        if (isSo) {
            passed |= (short) (1 << bit);
        }
        bit++;
    }

    /** The reason of what an operation on an empty or a full object throws; 0 for none. */
    private short reason(byte operation, PrimitiveBERTLV simple, ConstructedBERTLV nested) {
        try {
            switch (operation) {
                case 0:
                    simple.size();
                    return 0;
                case 1:
                    nested.getTag();
                    return 0;
                case 2:
                    simple.appendValue(room, (short) 0, (short) 9);
                    return 0;
                case 3:
                    nested.append(simple);
                    return 0;
                case 4:
                    nested.delete(simple, (short) 3);
                    return 0;
                case 5:
                    new PrimitiveBERTag().size();
                    return 0;
                case 6:
                    new PrimitiveBERTag().init((byte) 4, (short) 1);
                    return 0;
                default:
                    new ConstructedBERTLV((short) -1);
                    return 0;
            }
        } catch (TLVException thrown) {
            return thrown.getReason();
        }
    }

    private short objects(byte[] buffer) {
        passed = 0;
        bit = 0;
        for (short at = 0; at < 100; at++) {
            room[at] = (byte) at;
        }
        PrimitiveBERTLV simple = new PrimitiveBERTLV((short) 8);
        ConstructedBERTLV nested = new ConstructedBERTLV((short) 4);
        holds(reason((byte) 0, simple, nested) == TLVException.EMPTY_TLV);
        holds(reason((byte) 1, simple, nested) == TLVException.EMPTY_TLV);
        holds(reason((byte) 5, simple, nested) == TLVException.EMPTY_TAG);
        PrimitiveBERTag tag = new PrimitiveBERTag();
        tag.init(BERTag.BER_TAG_CLASS_MASK_CONTEXT_SPECIFIC, (short) 40);
        holds(simple.init(tag, room, (short) 1, (short) 3) == 6);
        holds(simple.appendValue(room, (short) 9, (short) 2) == 8);
        holds(reason((byte) 2, simple, nested) == TLVException.INSUFFICIENT_STORAGE);
        ConstructedBERTag around = new ConstructedBERTag();
        around.init(BERTag.BER_TAG_CLASS_MASK_APPLICATION, (short) 15);
        holds(nested.init(around, simple) == 10);
        PrimitiveBERTLV other = new PrimitiveBERTLV((short) 2);
        other.init(new byte[] {4, 1, 7}, (short) 0, (short) 3);
        holds(nested.append(other) == 13 && nested.append(simple) == 21);
        holds(nested.find(null) == simple && nested.find(other.getTag()) == other);
        holds(nested.findNext(simple.getTag(), simple, (short) 1) == simple
                && nested.findNext(null, simple, (short) 1) == other
                && nested.findNext(null, simple, (short) 2) == null
                && nested.findNext(null, other, (short) 2) == null);
        nested.append(nested.find(other.getTag()));
        holds(reason((byte) 3, simple, nested) == TLVException.INSUFFICIENT_STORAGE);
        holds(reason((byte) 4, simple, nested) == TLVException.INVALID_PARAM);
        holds(nested.delete(simple, (short) 2) == 16 && nested.delete(other, (short) 1) == 13);
        holds(simple.replaceValue(room, (short) 5, (short) 1) == 4 && nested.size() == 9);
        holds(reason((byte) 6, simple, nested) == TLVException.INVALID_PARAM
                && reason((byte) 7, simple, nested) == TLVException.INVALID_PARAM);
        short at = Util.setShort(buffer, (short) 0, passed);
        at += nested.toBytes(buffer, at);
        at += simple.getValue(buffer, at);
        JCSystem.requestObjectDeletion();
        return at;
    }

    /** What methods on arrays do, in the room. */
    private short arrays(byte[] buffer) {
        passed = 0;
        bit = 0;
        for (short at = 0; at < 200; at++) {
            room[at] = (byte) at;
        }
        room[220] = 0x6F;
        room[221] = (byte) 0x9F;
        room[222] = 0x02;
        // The tag and 124 bytes of what is in the same range, one byte on.
        short size = PrimitiveBERTLV.toBytes(room, (short) 221, room, (short) 1, (short) 124, room, (short) 0);
        holds(size == 127 && room[0] == (byte) 0x9F && room[1] == 2 && room[2] == 124 && room[3] == 1
                && room[126] == 124);
        holds(PrimitiveBERTLV.getValueOffset(room, (short) 0) == 3);
        // What follows is appended; the length takes a byte more.
        size = PrimitiveBERTLV.appendValue(room, (short) 0, room, (short) 127, (short) 9);
        holds(size == 137 && room[2] == (byte) 0x81 && room[3] == (byte) 133 && room[4] == 1 && room[127] == 124
                && room[128] == 127 && room[136] == (byte) 135);
        // A container: empty, then of two.
        room[140] = 0x6F;
        room[141] = 0;
        holds(ConstructedBERTLV.find(room, (short) 140, null, (short) 0) == -1);
        room[200] = 4;
        room[201] = 1;
        room[202] = 9;
        holds(ConstructedBERTLV.append(room, (short) 200, room, (short) 140) == 5);
        room[200] = 5;
        holds(ConstructedBERTLV.append(room, (short) 200, room, (short) 140) == 8);
        room[200] = 4;
        holds(ConstructedBERTLV.append(room, (short) 200, room, (short) 140) == 11);
        holds(ConstructedBERTLV.find(room, (short) 140, room, (short) 200) == 142);
        holds(ConstructedBERTLV.findNext(room, (short) 140, (short) 142, room, (short) 200) == 148
                && ConstructedBERTLV.findNext(room, (short) 140, (short) 142, null, (short) 0) == 145
                && ConstructedBERTLV.findNext(room, (short) 140, (short) 148, null, (short) 0) == -1);
        holds(BERTLV.getTag(room, (short) 0, room, (short) 210) == 2 && room[210] == (byte) 0x9F && room[211] == 2);
        holds(!isThere((short) 143) && isThere((short) 145));
        Util.setShort(buffer, (short) 0, passed);
        return Util.setShort(buffer, (short) 2, bit);
    }

    /** Whether something of the container starts at a place. */
    private boolean isThere(short place) {
        try {
            ConstructedBERTLV.findNext(room, (short) 140, place, null, (short) 0);
            return true;
        } catch (TLVException none) {
            return none.getReason() != TLVException.INVALID_PARAM;
        }
    }
}
