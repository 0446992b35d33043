package javacard.framework;

/** An exception of an applet's own. */
public class UserException extends CardException {
    /**
     * Creates one for the program itself to keep; {@link #throwIt} needs none.
     *
     * @param reason the reason it carries
     */
    public UserException(short reason) {
        super(reason);
    }

    /**
     * Throws the runtime's own instance, which no field can keep and which programs nothing on flash.
     *
     * @param reason the reason it carries
     */
    public static native void throwIt(short reason) throws UserException;
}
