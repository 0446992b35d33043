package client;

import javacard.framework.AID;
import javacard.framework.APDU;
import javacard.framework.APDUException;
import javacard.framework.Applet;
import javacard.framework.CardRuntimeException;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.SystemException;
import javacard.framework.TransactionException;
import javacard.framework.Util;
import javacardx.apdu.ExtendedLength;
import server.Counter;

/** Answers, for each instruction, what the runtime does: bytes that the test expects. */
public final class Client extends Applet implements ExtendedLength {
    private static final byte[] SERVER = {(byte) 0xF0, 0, 0, 0, 3, 0, 1};
    private static final byte YES = 1;
    private static Object kept;
    private static short processed;

    private final byte[] onReset = JCSystem.makeTransientByteArray((short) 2, JCSystem.CLEAR_ON_RESET);
    private final byte[] onDeselect = JCSystem.makeTransientByteArray((short) 5, JCSystem.CLEAR_ON_DESELECT);
    private final boolean[] flags = JCSystem.makeTransientBooleanArray((short) 3, JCSystem.CLEAR_ON_RESET);
    private final short[] shorts = JCSystem.makeTransientShortArray((short) 3, JCSystem.CLEAR_ON_DESELECT);
    private final Object[] objects = JCSystem.makeTransientObjectArray((short) 2, JCSystem.CLEAR_ON_RESET);
    private final byte[] bytes = new byte[4];
    private short value = 5;
    private Object field;

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Client().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void deselect() {
        JCSystem.beginTransaction();
        value = 99;
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        short length = 1;
        switch (buffer[ISO7816.OFFSET_INS]) {
            case 0x01:
                Util.setShort(buffer, (short) 0, counter().count((short) 5));
                length = 2;
                break;
            case 0x02:
                buffer[0] = foreign(buffer);
                break;
            case 0x03:
                buffer[0] = stored(apdu, buffer);
                break;
            case 0x04:
                length = transients(buffer);
                break;
            case 0x05:
                length = transactions(buffer);
                break;
            case 0x06:
                JCSystem.beginTransaction();
                value++;
                ISOException.throwIt((short) 0x6A81);
                break;
            case 0x07:
                length = undone(buffer);
                break;
            case 0x08:
                while (true) {
                    value++;
                    bytes[0] = 0;
                }
            case 0x09:
                recurse(value);
                break;
            case 0x0A:
                throw new ISOException((short) 0x6A82);
            case 0x0B:
                length = aids(buffer);
                break;
            case 0x0C:
                length = counter().caller(buffer);
                break;
            case 0x0D:
                failing(buffer);
                length = 2;
                break;
            case 0x0E:
                for (short i = 0; i < 5; i++) {
                    field = new byte[10];
                }
                JCSystem.requestObjectDeletion();
                break;
            case 0x0F:
                echo(apdu, buffer);
                return;
            case 0x10:
                length = wrong(apdu, buffer);
                break;
            case 0x11:
                Util.setShort(buffer, (short) 0, value);
                length = 2;
                break;
            case 0x12:
                length = ranges(buffer);
                break;
            case 0x13:
                throw new CardRuntimeException((short) 0x6A83);
            case 0x14:
                JCSystem.beginTransaction();
                while (true) {
                    field = new byte[200];
                }
            case 0x15:
                length = globals(buffer);
                break;
            case 0x16:
                length = capacities(buffer);
                break;
            case 0x17:
                processed++;
                buffer[2] = (byte) (apdu.isCommandChainingCLA() ? 1 : 0);
                buffer[3] = APDU.getCLAChannel();
                buffer[4] = (byte) processed;
                Util.setShort(buffer, (short) 0, apdu.setOutgoing());
                apdu.setOutgoingLength((short) 5);
                apdu.sendBytes((short) 0, (short) 5);
                return;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
        apdu.setOutgoingAndSend((short) 0, length);
    }

    private Counter counter() {
        AID server = JCSystem.lookupAID(SERVER, (short) 0, (byte) SERVER.length);
        return (Counter) JCSystem.getAppletShareableInterfaceObject(server, (byte) 1);
    }

    /** One bit for each thing of another context that cannot be used. */
    private byte foreign(byte[] buffer) {
        byte refused = 0;
        Counter counter = counter();
        try {
            buffer[1] = counter.own()[0];
        } catch (SecurityException e) {
            refused |= 1;
        }
        try {
            buffer[1] = (byte) counter.own().length;
        } catch (SecurityException e) {
            refused |= 2;
        }
        try {
            Util.arrayCopy(counter.own(), (short) 0, buffer, (short) 0, (short) 1);
        } catch (SecurityException e) {
            refused |= 4;
        }
        try {
            if (counter instanceof Applet) {
                buffer[1] = 1;
            }
        } catch (SecurityException e) {
            refused |= 8;
        }
        try {
            counter.equals(null);
        } catch (SecurityException e) {
            refused |= 16;
        }
        try {
            counter.caller(bytes);
        } catch (SecurityException e) {
            refused |= 32;
        }
        AID server = JCSystem.lookupAID(SERVER, (short) 0, (byte) SERVER.length);
        if (JCSystem.getAppletShareableInterfaceObject(server, (byte) 2) == null) {
            refused |= 64;
        }
        return refused;
    }

    /** One bit for each temporary object that cannot be kept. */
    private byte stored(APDU apdu, byte[] buffer) {
        byte refused = 0;
        try {
            field = buffer;
        } catch (SecurityException e) {
            refused |= 1;
        }
        try {
            kept = apdu;
        } catch (SecurityException e) {
            refused |= 2;
        }
        try {
            objects[0] = buffer;
        } catch (SecurityException e) {
            refused |= 4;
        }
        try {
            ISOException.throwIt((short) 1);
        } catch (ISOException thrown) {
            try {
                field = thrown;
            } catch (SecurityException e) {
                refused |= 8;
            }
            thrown.setReason((short) 2);
            if (thrown.getReason() == 2) {
                refused |= 16;
            }
        }
        field = JCSystem.getAID();
        return refused;
    }

    /** Arrays that all contexts may use, and one bit for what is refused. */
    private short globals(byte[] buffer) {
        short[] shorts = (short[]) JCSystem.makeGlobalArray(JCSystem.ARRAY_TYPE_SHORT, (short) 3);
        Object[] all = (Object[]) JCSystem.makeGlobalArray(JCSystem.ARRAY_TYPE_OBJECT, (short) 2);
        Util.setShort(buffer, (short) 0, (short) (shorts[0] + shorts[1] + shorts[2]));
        shorts[1] = 0x1233;
        all[1] = bytes;
        buffer[2] = (byte) counter().next(shorts, all);
        Util.setShort(buffer, (short) 3, shorts[0]);
        buffer[5] = JCSystem.isTransient(shorts);
        buffer[6] = 0;
        try {
            field = shorts;
        } catch (SecurityException e) {
            buffer[6] |= 1;
        }
        try {
            all[0] = shorts;
        } catch (SecurityException e) {
            buffer[6] |= 2;
        }
        try {
            counter().next(this.shorts, all);
        } catch (SecurityException e) {
            buffer[6] |= 4;
        }
        try {
            buffer[7] = ((byte[]) all[0])[0];
        } catch (SecurityException e) {
            buffer[6] |= 8;
        }
        try {
            shorts[3] = 1;
        } catch (ArrayIndexOutOfBoundsException e) {
            buffer[6] |= 16;
        }
        for (byte type = 0; type < 7; type++) {
            try {
                Object made = JCSystem.makeGlobalArray(type, type == 6 ? (short) 1 : (short) 2);
                boolean is = type == 1 ? made instanceof boolean[] : type == 2 ? made instanceof byte[]
                        : type == 3 ? made instanceof short[] : type == 4 ? made instanceof int[]
                        : made instanceof Object[];
                buffer[7] = (byte) (is ? buffer[7] + 1 : 99);
            } catch (SystemException e) {
                buffer[7] += 16 * e.getReason();
            }
        }
        try {
            JCSystem.makeGlobalArray(JCSystem.ARRAY_TYPE_BYTE, (short) -1);
        } catch (NegativeArraySizeException e) {
            buffer[6] |= 32;
        }
        short made = 0;
        try {
            while (true) {
                ((byte[]) JCSystem.makeGlobalArray(JCSystem.ARRAY_TYPE_BYTE, (short) 20))[19] = 1;
                made++;
            }
        } catch (SystemException e) {
            buffer[8] = (byte) e.getReason();
        }
        try {
            JCSystem.makeTransientByteArray((short) 20, JCSystem.CLEAR_ON_RESET);
        } catch (SystemException e) {
            buffer[9] = (byte) e.getReason();
        }
        JCSystem.beginTransaction();
        JCSystem.abortTransaction();
        buffer[10] = (byte) shorts[1];
        buffer[11] = (byte) made;
        return 12;
    }

    /** Room for changes, and a static field that takes part in a transaction. */
    private short capacities(byte[] buffer) {
        short most = JCSystem.getMaxCommitCapacity();
        processed = 0;
        JCSystem.beginTransaction();
        short before = JCSystem.getUnusedCommitCapacity();
        processed = 7;
        while (JCSystem.getUnusedCommitCapacity() == before) {
            field = new byte[1000];
        }
        short after = JCSystem.getUnusedCommitCapacity();
        buffer[0] = (byte) processed;
        JCSystem.abortTransaction();
        buffer[1] = (byte) processed;
        buffer[2] = (byte) (most == before && before > after && after > 0 ? 1 : 0);
        Util.setShort(buffer, (short) 3, most);
        return 5;
    }

    /** What transient arrays have, which is raised afterwards. */
    private short transients(byte[] buffer) {
        buffer[0] = onReset[1]++;
        buffer[1] = onDeselect[4]++;
        buffer[2] = (byte) shorts[2]++;
        buffer[3] = (byte) (flags[1] ? 1 : 0);
        flags[1] = true;
        buffer[4] = (byte) (objects[1] == null ? 0 : 1);
        objects[1] = bytes;
        buffer[5] = JCSystem.isTransient(onReset);
        buffer[6] = JCSystem.isTransient(onDeselect);
        buffer[7] = JCSystem.isTransient(bytes);
        buffer[8] = (byte) (objects.length + shorts.length);
        return 9;
    }

    private short transactions(byte[] buffer) {
        buffer[0] = JCSystem.getTransactionDepth();
        JCSystem.beginTransaction();
        buffer[1] = JCSystem.getTransactionDepth();
        try {
            JCSystem.beginTransaction();
        } catch (TransactionException e) {
            buffer[2] = (byte) e.getReason();
        }
        value += 10;
        JCSystem.abortTransaction();
        Util.setShort(buffer, (short) 4, value);
        try {
            JCSystem.commitTransaction();
        } catch (TransactionException e) {
            buffer[3] = (byte) e.getReason();
        }
        JCSystem.beginTransaction();
        value++;
        Util.setShort(bytes, (short) 0, value);
        JCSystem.commitTransaction();
        Util.arrayCopy(bytes, (short) 0, buffer, (short) 6, (short) 2);
        return 8;
    }

    /** What is left of a transaction that is undone. */
    private short undone(byte[] buffer) {
        bytes[0] = 1;
        bytes[3] = 1;
        JCSystem.beginTransaction();
        objects[0] = new byte[3];
        byte[] made = JCSystem.makeTransientByteArray((short) 4, JCSystem.CLEAR_ON_RESET);
        made[0] = 7;
        Util.arrayFillNonAtomic(bytes, (short) 3, (short) 1, (byte) 4);
        bytes[0] = 2;
        JCSystem.abortTransaction();
        buffer[0] = (byte) (objects[0] == null ? YES : 0);
        buffer[1] = bytes[0];
        buffer[2] = bytes[3];
        made = JCSystem.makeTransientByteArray((short) 4, JCSystem.CLEAR_ON_RESET);
        buffer[3] = made[0];
        return 4;
    }

    private short recurse(short depth) {
        return (short) (recurse((short) (depth + 1)) + 1);
    }

    private short aids(byte[] buffer) {
        AID own = JCSystem.getAID();
        AID server = JCSystem.lookupAID(SERVER, (short) 0, (byte) SERVER.length);
        byte[] copy = new byte[7];
        buffer[0] = own.getBytes(copy, (short) 0);
        buffer[1] = (byte) (own.equals(copy, (short) 0, (byte) 7) ? 1 : 0);
        buffer[2] = (byte) (own.partialEquals(copy, (short) 0, (byte) 5) ? 1 : 0);
        buffer[3] = (byte) (own.RIDEquals(server) ? 1 : 0);
        buffer[4] = (byte) (own.equals(new AID(copy, (short) 0, (byte) 7)) ? 1 : 0);
        buffer[5] = server.getPartialBytes((short) 2, buffer, (short) 8, (byte) 0);
        buffer[6] = (byte) (JCSystem.lookupAID(copy, (short) 0, (byte) 6) == null ? 1 : 0);
        buffer[7] = (byte) (JCSystem.getPreviousContextAID() == null ? 1 : 0);
        return 13;
    }

    private void failing(byte[] buffer) {
        try {
            counter().fail((short) 0x1234);
        } catch (ISOException e) {
            Util.setShort(buffer, (short) 0, e.getReason());
        } catch (SecurityException e) {
            Util.setShort(buffer, (short) 0, (short) 77);
        }
    }

    /** Answers the data of a command, however long. */
    private void echo(APDU apdu, byte[] buffer) {
        short received = apdu.setIncomingAndReceive();
        short total = apdu.getIncomingLength();
        short offset = apdu.getOffsetCdata();
        byte[] all = new byte[total];
        short at = 0;
        while (received > 0) {
            Util.arrayCopyNonAtomic(buffer, offset, all, at, received);
            at += received;
            received = apdu.receiveBytes(offset);
        }
        short expected = apdu.setOutgoing();
        apdu.setOutgoingLength(total < expected ? total : expected);
        apdu.sendBytesLong(all, (short) 0, total < expected ? total : expected);
    }

    /** Reasons of what is refused. */
    private short wrong(APDU apdu, byte[] buffer) {
        try {
            apdu.sendBytes((short) 0, (short) 1);
        } catch (APDUException e) {
            buffer[0] = (byte) e.getReason();
        }
        try {
            JCSystem.makeTransientByteArray((short) 1, (byte) 3);
        } catch (SystemException e) {
            buffer[1] = (byte) e.getReason();
        }
        try {
            JCSystem.makeTransientByteArray((short) 10000, JCSystem.CLEAR_ON_RESET);
        } catch (SystemException e) {
            buffer[2] = (byte) e.getReason();
        }
        try {
            JCSystem.makeTransientByteArray((short) -1, JCSystem.CLEAR_ON_RESET);
        } catch (NegativeArraySizeException e) {
            buffer[3] = YES;
        }
        try {
            register();
        } catch (SystemException e) {
            buffer[4] = (byte) e.getReason();
        }
        try {
            Util.arrayCopy(buffer, (short) 0, bytes, (short) 1, (short) 4);
        } catch (ArrayIndexOutOfBoundsException e) {
            buffer[5] = YES;
        }
        try {
            Util.arrayCopy(null, (short) 0, bytes, (short) 0, (short) 4);
        } catch (NullPointerException e) {
            buffer[6] = YES;
        }
        try {
            new AID(bytes, (short) 0, (byte) 4);
        } catch (SystemException e) {
            buffer[7] = (byte) e.getReason();
        }
        return 8;
    }

    private short ranges(byte[] buffer) {
        byte[] flash = new byte[70];
        byte[] ram = JCSystem.makeTransientByteArray((short) 70, JCSystem.CLEAR_ON_DESELECT);
        for (short i = 0; i < 70; i++) {
            flash[i] = (byte) i;
        }
        Util.arrayCopy(flash, (short) 0, ram, (short) 0, (short) 70);
        buffer[0] = Util.arrayCompare(flash, (short) 0, ram, (short) 0, (short) 70);
        Util.arrayCopyNonAtomic(flash, (short) 0, flash, (short) 1, (short) 69);
        Util.arrayCopy(ram, (short) 0, ram, (short) 1, (short) 69);
        buffer[1] = Util.arrayCompare(flash, (short) 0, ram, (short) 0, (short) 70);
        Util.arrayCopy(flash, (short) 1, flash, (short) 0, (short) 69);
        Util.arrayCopyNonAtomic(ram, (short) 1, ram, (short) 0, (short) 69);
        buffer[2] = Util.arrayCompare(flash, (short) 0, ram, (short) 0, (short) 70);
        buffer[3] = flash[69];
        ram[69] = (byte) 200;
        buffer[4] = Util.arrayCompare(flash, (short) 0, ram, (short) 0, (short) 70);
        buffer[5] = Util.arrayCompare(ram, (short) 0, flash, (short) 0, (short) 70);
        Util.arrayCopy(ram, (short) 60, flash, (short) 0, (short) 10);
        buffer[6] = flash[9];
        buffer[7] = (byte) Util.arrayFillNonAtomic(flash, (short) 1, (short) 68, (byte) 3);
        buffer[8] = flash[68];
        Util.setShort(buffer, (short) 9, Util.getShort(flash, (short) 68));
        JCSystem.requestObjectDeletion();
        return 11;
    }
}
