package costs;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Util;

/**
 * For each instruction, does one thing as often as P1 and P2 say; instruction 0 does nothing as often. Instruction 11
 * adds up what fields show in a transaction, after its abort, and after a commit.
 */
public final class Costs extends Applet implements Step {
    private static short kept = 3;
    private short field = 5;
    private short changed;
    private byte flag;
    private Costs self;
    private Step step;
    private final byte[] bytes = new byte[40];
    private final short[] ram = JCSystem.makeTransientShortArray((short) 8, JCSystem.CLEAR_ON_RESET);

    private Costs() {
        self = this;
        step = this;
        bytes[7] = 7;
        ram[3] = 9;
    }

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Costs().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public short once() {
        return 1;
    }

    static short plain() {
        return 2;
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        short count = Util.getShort(buffer, ISO7816.OFFSET_P1);
        short sum = 0;
        Costs other = self;
        Step stepper = step;
        byte[] array = bytes;
        short[] fast = ram;
        switch (buffer[ISO7816.OFFSET_INS]) {
            case 0:
                for (short i = 0; i < count; i++) {
                    sum += 4;
                }
                break;
            case 1:
                for (short i = 0; i < count; i++) {
                    sum += other.field;
                }
                break;
            case 2:
                for (short i = 0; i < count; i++) {
                    sum += kept;
                }
                break;
            case 3:
                for (short i = 0; i < count; i++) {
                    sum += array[7];
                }
                break;
            case 4:
                for (short i = 0; i < count; i++) {
                    sum += fast[3];
                }
                break;
            case 5:
                for (short i = 0; i < count; i++) {
                    sum += plain();
                }
                break;
            case 6:
                for (short i = 0; i < count; i++) {
                    sum += other.once();
                }
                break;
            case 7:
                for (short i = 0; i < count; i++) {
                    sum += stepper.once();
                }
                break;
            case 8:
                for (short i = 0; i < count; i++) {
                    other.changed = i;
                }
                break;
            case 9:
                for (short i = 0; i < count; i++) {
                    array[7] = (byte) i;
                }
                break;
            case 10:
                for (short i = 0; i < count; i++) {
                    fast[3] = i;
                }
                break;
            case 11:
                short before = (short) (other.changed + kept);
                JCSystem.beginTransaction();
                other.changed += 1000;
                kept += 100;
                sum = (short) (other.changed + kept - before);
                JCSystem.abortTransaction();
                sum += (short) (other.changed + kept - before);
                other.changed++;
                JCSystem.beginTransaction();
                kept++;
                JCSystem.commitTransaction();
                sum += (short) (other.changed + kept - before);
                kept--;
                break;
            case 12:
                // The first of the data, which nobody has asked for.
                sum = buffer[ISO7816.OFFSET_CDATA];
                break;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
        Util.setShort(buffer, (short) 0, sum);
        apdu.setOutgoingAndSend((short) 0, (short) 2);
    }
}
