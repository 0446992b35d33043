package server;

import javacard.framework.Shareable;

public interface Counter extends Shareable {
    short count(short by);

    byte[] own();

    short caller(byte[] buffer);

    void fail(short reason);
}
