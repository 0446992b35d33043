package guest;

import javacard.framework.AID;
import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.CardRuntimeException;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Shareable;
import javacard.framework.SystemException;
import javacard.framework.Util;
import javacard.security.RandomData;
import keep.Box;
import keep.Bystander;
import keep.Gate;
import keep.Keeper;
import keep.Oops;
import keep.Plain;

/** Carries out one operation (P1) on one object (P2), and answers how it ended. */
public final class Guest extends Applet implements Gate {
    static final byte DONE = 1;
    static final byte REFUSED = 2;
    static final byte CLASS_CAST = 3;
    static final byte NO = 4;
    static final byte THROWN = 5;
    static final byte SYSTEM = 6;

    static final byte OWN = 0;
    static final byte SIBLING = 1;
    static final byte FOREIGN = 2;
    static final byte FOREIGN_ON_RESET = 3;
    static final byte FOREIGN_ON_DESELECT = 4;
    static final byte APDU_BUFFER = 5;
    static final byte APDU_OBJECT = 6;
    static final byte RUNTIME_EXCEPTION = 7;
    static final byte RUNTIME_AID = 8;

    private static final byte[] KEEPER = {(byte) 0xF0, 0, 0, 0, 8, 0, 1};

    private static Box siblingsBox;
    private static Oops siblingsOops;
    private static boolean[] siblingsFlags;
    private static byte[] siblingsBytes;
    private static short[] siblingsShorts;
    private static int[] siblingsInts;
    private static Object[] siblingsObjects;
    private static Guest sibling;
    private static Object stored;
    private static byte small;

    private final Box box = new Box();
    private final Oops oops = new Oops();
    private final boolean[] flags = new boolean[2];
    private final byte[] bytes = new byte[8];
    private final short[] shorts = new short[2];
    private final int[] ints = new int[2];
    private final Object[] objects = new Object[2];
    private final Object[] inRam = JCSystem.makeTransientObjectArray((short) 1, JCSystem.CLEAR_ON_RESET);
    private final byte[] onDeselect = JCSystem.makeTransientByteArray((short) 1, JCSystem.CLEAR_ON_DESELECT);
    private final RandomData random = RandomData.getInstance(RandomData.ALG_PSEUDO_RANDOM);
    private Object field;
    private Gate gate;

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        Guest made = new Guest();
        if (siblingsBox == null) {
            siblingsBox = made.box;
            siblingsOops = made.oops;
            siblingsFlags = made.flags;
            siblingsBytes = made.bytes;
            siblingsShorts = made.shorts;
            siblingsInts = made.ints;
            siblingsObjects = made.objects;
            sibling = made;
        }
        made.register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {
        byte[] buffer = apdu.getBuffer();
        if (selectingApplet()) {
            if (gate == null) {
                AID keeper = JCSystem.lookupAID(KEEPER, (short) 0, (byte) KEEPER.length);
                gate = (Gate) JCSystem.getAppletShareableInterfaceObject(keeper, (byte) 0);
            }
            return;
        }
        byte answer;
        try {
            answer = carryOut(apdu, buffer[ISO7816.OFFSET_P1], buffer[ISO7816.OFFSET_P2]);
        } catch (SecurityException e) {
            answer = REFUSED;
        } catch (ClassCastException e) {
            answer = CLASS_CAST;
        } catch (Oops e) {
            answer = THROWN;
        } catch (SystemException e) {
            answer = SYSTEM;
        }
        buffer[0] = answer;
        apdu.setOutgoingAndSend((short) 0, (short) 1);
    }

    private byte carryOut(APDU apdu, byte operation, byte subject) {
        switch ((byte) (operation & 0xF0)) {
            case 0x00:
            case 0x10:
                return onBox(box(subject), operation);
            case 0x20:
            case 0x30:
                return onArray(apdu, operation, subject);
            case 0x40:
                return store(operation, object(apdu, subject));
            case 0x50:
                return onAny(operation, object(apdu, subject));
            case 0x60:
                return call(apdu, operation, subject);
            default:
                return natives(apdu, operation, bytes(apdu, subject));
        }
    }

    private Box box(byte subject) {
        return subject == OWN ? box : subject == SIBLING ? siblingsBox : gate.box();
    }

    private byte[] bytes(APDU apdu, byte subject) {
        return subject == OWN ? bytes : subject == SIBLING ? siblingsBytes
                : subject == APDU_BUFFER ? apdu.getBuffer() : gate.bytes((byte) (subject - FOREIGN));
    }

    private Object object(APDU apdu, byte subject) {
        switch (subject) {
            case OWN:
                return box;
            case SIBLING:
                return siblingsBox;
            case FOREIGN:
                return gate.box();
            case APDU_BUFFER:
                return apdu.getBuffer();
            case APDU_OBJECT:
                return apdu;
            case RUNTIME_EXCEPTION:
                try {
                    ISOException.throwIt((short) 1);
                } catch (CardRuntimeException e) {
                    return e;
                }
                return null;
            case RUNTIME_AID:
                return JCSystem.getAID();
            case 9:
                return gate.bytes(PERSISTENT);
            case 10:
                return gate.keeper();
            case 11:
                return bytes;
            case 12:
                return this;
            default:
                return sibling;
        }
    }

    private static byte yes(boolean is) {
        return is ? DONE : NO;
    }

    private byte onBox(Box of, byte operation) {
        switch (operation) {
            case 0x01:
                return yes(!of.flag);
            case 0x02:
                return yes(of.small == 0);
            case 0x03:
                return yes(of.number == 0);
            case 0x04:
                return yes(of.wide == 0);
            case 0x05:
                return yes(of.other == null);
            case 0x06:
                of.flag = false;
                return DONE;
            case 0x07:
                of.small = 0;
                return DONE;
            case 0x08:
                of.number = 0;
                return DONE;
            case 0x09:
                of.wide = 0;
                return DONE;
            case 0x0A:
                of.other = null;
                return DONE;
            case 0x0B:
                return yes(of.plain() == 0);
            case 0x0C:
                return yes(((Plain) of).plain() == 0);
            default:
                // A comparison of references asks nobody.
                return yes(of != null);
        }
    }

    private byte onArray(APDU apdu, byte operation, byte subject) {
        byte kind = (byte) (subject - FOREIGN);
        switch (operation) {
            case 0x20:
            case 0x21:
            case 0x22: {
                boolean[] of = subject == OWN ? flags : subject == SIBLING ? siblingsFlags : gate.flags(kind);
                if (operation == 0x20) {
                    return yes(!of[1]);
                }
                if (operation == 0x21) {
                    of[1] = false;
                    return DONE;
                }
                return yes(of.length == 2);
            }
            case 0x23:
                return yes(bytes(apdu, subject)[7] == 0);
            case 0x24:
                bytes(apdu, subject)[7] = 0;
                return DONE;
            case 0x25:
                return yes(bytes(apdu, subject).length >= 8);
            case 0x26:
            case 0x27:
            case 0x28: {
                short[] of = subject == OWN ? shorts : subject == SIBLING ? siblingsShorts : gate.shorts(kind);
                if (operation == 0x26) {
                    return yes(of[1] == 0);
                }
                if (operation == 0x27) {
                    of[1] = 0;
                    return DONE;
                }
                return yes(of.length == 2);
            }
            case 0x29:
            case 0x2A:
            case 0x2B: {
                int[] of = subject == OWN ? ints : subject == SIBLING ? siblingsInts : gate.ints();
                if (operation == 0x29) {
                    return yes(of[1] == 0);
                }
                if (operation == 0x2A) {
                    of[1] = 0;
                    return DONE;
                }
                return yes(of.length == 2);
            }
            default: {
                Object[] of = subject == OWN ? objects : subject == SIBLING ? siblingsObjects : gate.objects(kind);
                if (operation == 0x2C) {
                    return yes(of[1] == null);
                }
                if (operation == 0x2D) {
                    of[1] = null;
                    return DONE;
                }
                if (operation == 0x2E) {
                    return yes(of.length == 2);
                }
                return yes(((Object) of) instanceof Object[]);
            }
        }
    }

    private byte store(byte operation, Object value) {
        switch (operation) {
            case 0x40:
                field = value;
                field = null;
                return DONE;
            case 0x41:
                stored = value;
                stored = null;
                return DONE;
            case 0x42:
                objects[0] = value;
                objects[0] = null;
                return DONE;
            case 0x43:
                inRam[0] = value;
                inRam[0] = null;
                return DONE;
            default:
                // A local variable takes every reference.
                Object local = value;
                return yes(local == value);
        }
    }

    private byte onAny(byte operation, Object of) {
        switch (operation) {
            case 0x50:
                return yes(of instanceof Box);
            case 0x51:
                return yes((Box) of != null);
            case 0x52:
                return yes(of instanceof Plain);
            case 0x53:
                return yes((Plain) of != null);
            case 0x54:
                return yes(of instanceof Gate);
            case 0x55:
                return yes((Gate) of != null);
            case 0x56:
                return yes(of instanceof Bystander);
            case 0x57:
                return yes((Bystander) of != null);
            case 0x58:
                return yes(of instanceof byte[]);
            case 0x59:
                return yes((byte[]) of != null);
            case 0x5A:
                return yes(of instanceof Applet);
            case 0x5B:
                return yes((Applet) of != null);
            case 0x5C:
                return yes(of.equals(of));
            case 0x5D:
                return yes(of instanceof AID);
            case 0x5E:
                return yes((APDU) of != null);
            default:
                return yes((CardRuntimeException) of != null);
        }
    }

    private byte call(APDU apdu, byte operation, byte subject) {
        switch (operation) {
            case 0x60:
                throw subject == OWN ? oops : subject == SIBLING ? siblingsOops : gate.oops();
            case 0x61:
                // The runtime's exception may be thrown again.
                try {
                    throw (CardRuntimeException) object(apdu, RUNTIME_EXCEPTION);
                } catch (ISOException e) {
                    return yes(e.getReason() == 1);
                }
            case 0x62:
                // What another context throws is caught, and is its own all the same.
                try {
                    gate.fail();
                    return NO;
                } catch (Oops e) {
                    throw e;
                }
            case 0x63:
                return yes(gate.keeper().number() == 1);
            case 0x64:
                return yes(gate.box() != null);
            case 0x65: {
                Plain plain = gate.box();
                return yes(plain.plain() == 0);
            }
            case 0x66:
                return yes(gate.first(bytes) == 0);
            case 0x67:
                return yes(gate.first(apdu.getBuffer()) != 0);
            case 0x68:
                return yes(gate.useOwn() == 0);
            case 0x69:
                gate.makeOwn();
                return DONE;
            case 0x6A:
                return yes(gate.callBack(this) == 0);
            case 0x6B:
                return yes(sibling.useOwn() == 0);
            case 0x6C:
                return yes(apdu.getBuffer().length > 0 && APDU.getCurrentAPDU() == apdu);
            default:
                // Static fields and methods of another package.
                small = PERSISTENT;
                return yes(small == 0);
        }
    }

    private byte natives(APDU apdu, byte operation, byte[] of) {
        AID own = JCSystem.getAID();
        switch (operation) {
            case 0x70:
                Util.arrayCopy(of, (short) 0, bytes, (short) 0, (short) 1);
                bytes[0] = 0;
                return DONE;
            case 0x71:
                Util.arrayCopy(bytes, (short) 6, of, (short) 6, (short) 1);
                return DONE;
            case 0x72:
                Util.arrayCopyNonAtomic(bytes, (short) 6, of, (short) 6, (short) 1);
                return DONE;
            case 0x73:
                Util.arrayFillNonAtomic(of, (short) 6, (short) 1, (byte) 0);
                return DONE;
            case 0x74:
                Util.arrayCompare(bytes, (short) 0, of, (short) 0, (short) 1);
                return DONE;
            case 0x75:
                Util.getShort(of, (short) 5);
                return DONE;
            case 0x76:
                Util.setShort(of, (short) 5, (short) 0);
                return DONE;
            case 0x77:
                own.getBytes(of, (short) 0);
                return DONE;
            case 0x78:
                own.equals(of, (short) 0, (byte) 7);
                return DONE;
            case 0x79:
                own.partialEquals(of, (short) 0, (byte) 2);
                return DONE;
            case 0x7A:
                own.getPartialBytes((short) 0, of, (short) 0, (byte) 2);
                return DONE;
            case 0x7B:
                JCSystem.lookupAID(of, (short) 0, (byte) 7);
                return DONE;
            case 0x7C:
                random.generateData(of, (short) 6, (short) 1);
                of[6] = 0;
                return DONE;
            case 0x7D:
                own.equals((Object) of);
                return DONE;
            default:
                return yes(JCSystem.isTransient(of) >= 0);
        }
    }

    public Box box() {
        return box;
    }

    public Oops oops() {
        return oops;
    }

    public Keeper keeper() {
        return null;
    }

    public boolean[] flags(byte kind) {
        return flags;
    }

    public byte[] bytes(byte kind) {
        return bytes;
    }

    public short[] shorts(byte kind) {
        return shorts;
    }

    public int[] ints() {
        return ints;
    }

    public Object[] objects(byte kind) {
        return objects;
    }

    public byte first(byte[] of) {
        return of[0];
    }

    public byte useOwn() {
        return onDeselect[0];
    }

    public void makeOwn() {}

    public byte callBack(Gate gate) {
        return 0;
    }

    public void fail() {}

    public Shareable getShareableInterfaceObject(AID client, byte parameter) {
        return this;
    }
}
