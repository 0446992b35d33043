package javacard.framework;

/** What goes wrong with a transaction. */
public class TransactionException extends CardRuntimeException {
    /** A transaction is begun inside another. */
    public static final short IN_PROGRESS = 1;

    /** No transaction is open. */
    public static final short NOT_IN_PROGRESS = 2;

    /** The transaction has no room for a change; it has been aborted. */
    public static final short BUFFER_FULL = 3;

    /** The card failed. */
    public static final short INTERNAL_FAILURE = 4;

    /** The call is not allowed inside a transaction. */
    public static final short ILLEGAL_USE = 5;

    /**
     * Creates one for the program itself to keep; {@link #throwIt} needs none.
     *
     * @param reason the reason it carries
     */
    public TransactionException(short reason) {
        super(reason);
    }

    /**
     * Throws the runtime's own instance, which no field can keep and which programs nothing on flash.
     *
     * @param reason the reason it carries
     */
    public static native void throwIt(short reason);
}
