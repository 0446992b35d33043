package purse;

import javacard.framework.Shareable;

/** What a purse tells other applets. */
public interface Debits extends Shareable {
    /**
     * Returns how many debits there were.
     *
     * @return their number, modulo 65,536
     */
    short debits();
}
