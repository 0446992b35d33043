package keep;

import javacard.framework.Shareable;

/** What another context asks for; it is given the objects themselves. */
public interface Gate extends Shareable {
    byte PERSISTENT = 0;
    byte ON_RESET = 1;
    byte ON_DESELECT = 2;

    Box box();

    Oops oops();

    Keeper keeper();

    boolean[] flags(byte kind);

    byte[] bytes(byte kind);

    short[] shorts(byte kind);

    int[] ints();

    Object[] objects(byte kind);

    /** Reads an array of its caller's. */
    byte first(byte[] of);

    /** Uses an array that its own deselection clears. */
    byte useOwn();

    /** Makes such an array. */
    void makeOwn();

    /** Calls back, in the caller's context. */
    byte callBack(Gate gate);

    void fail();
}
