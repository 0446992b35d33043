package server;

import javacard.framework.Shareable;

public interface Counter extends Shareable {
    short count(short by);

    byte[] own();

    short caller(byte[] buffer);

    short next(short[] values, Object[] objects);

    void fail(short reason);
}
