package keep;

import javacard.framework.AID;
import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.JCSystem;
import javacard.framework.Shareable;

/** Gives its objects away. */
public final class Keeper extends Applet implements Gate {
    private final Box box = new Box();
    private final Oops oops = new Oops();
    private final int[] ints = new int[2];
    private final boolean[] flags = new boolean[2];
    private final byte[] bytes = new byte[8];
    private final short[] shorts = new short[2];
    private final Object[] objects = new Object[2];
    private final boolean[] flagsOnReset = JCSystem.makeTransientBooleanArray((short) 2, JCSystem.CLEAR_ON_RESET);
    private final byte[] bytesOnReset = JCSystem.makeTransientByteArray((short) 8, JCSystem.CLEAR_ON_RESET);
    private final short[] shortsOnReset = JCSystem.makeTransientShortArray((short) 2, JCSystem.CLEAR_ON_RESET);
    private final Object[] objectsOnReset = JCSystem.makeTransientObjectArray((short) 2, JCSystem.CLEAR_ON_RESET);
    private final boolean[] flagsOnDeselect = JCSystem.makeTransientBooleanArray((short) 2, JCSystem.CLEAR_ON_DESELECT);
    private final byte[] bytesOnDeselect = JCSystem.makeTransientByteArray((short) 8, JCSystem.CLEAR_ON_DESELECT);
    private final short[] shortsOnDeselect = JCSystem.makeTransientShortArray((short) 2, JCSystem.CLEAR_ON_DESELECT);
    private final Object[] objectsOnDeselect = JCSystem.makeTransientObjectArray((short) 2, JCSystem.CLEAR_ON_DESELECT);

    public static void install(byte[] bArray, short bOffset, byte bLength) {
        new Keeper().register(bArray, (short) (bOffset + 1), bArray[bOffset]);
    }

    public void process(APDU apdu) {}

    public Shareable getShareableInterfaceObject(AID client, byte parameter) {
        return this;
    }

    public short number() {
        return 1;
    }

    public Box box() {
        return box;
    }

    public Oops oops() {
        return oops;
    }

    public Keeper keeper() {
        return this;
    }

    public boolean[] flags(byte kind) {
        return kind == PERSISTENT ? flags : kind == ON_RESET ? flagsOnReset : flagsOnDeselect;
    }

    public byte[] bytes(byte kind) {
        return kind == PERSISTENT ? bytes : kind == ON_RESET ? bytesOnReset : bytesOnDeselect;
    }

    public short[] shorts(byte kind) {
        return kind == PERSISTENT ? shorts : kind == ON_RESET ? shortsOnReset : shortsOnDeselect;
    }

    public int[] ints() {
        return ints;
    }

    public Object[] objects(byte kind) {
        return kind == PERSISTENT ? objects : kind == ON_RESET ? objectsOnReset : objectsOnDeselect;
    }

    public byte first(byte[] of) {
        return of[0];
    }

    public byte useOwn() {
        return bytesOnDeselect[0];
    }

    public void makeOwn() {
        JCSystem.makeTransientByteArray((short) 1, JCSystem.CLEAR_ON_DESELECT);
    }

    public byte callBack(Gate gate) {
        return gate.useOwn();
    }

    public void fail() {
        throw oops;
    }
}
