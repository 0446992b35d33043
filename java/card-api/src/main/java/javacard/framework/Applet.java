package javacard.framework;

/** What every applet extends. A class of it has a method {@code install} as declared here. */
public abstract class Applet {
    /** Called by the subclass's constructor. */
    protected Applet() {
    }

    /**
     * Creates the applet's instance, which has to register itself. The array is the runtime's, and cannot be kept.
     *
     * @param bArray length and AID, length and control data, length and parameters
     * @param bOffset where they start
     * @param bLength how many they are, at most 127
     * @throws ISOException {@link ISO7816#SW_FUNC_NOT_SUPPORTED}, where a subclass has no such method
     */
    public static void install(byte[] bArray, short bOffset, byte bLength) throws ISOException {
        ISOException.throwIt(ISO7816.SW_FUNC_NOT_SUPPORTED);
    }

    /**
     * Carries out a command that is for this applet.
     *
     * @param apdu the command
     * @throws ISOException the status word that answers it, if not 9000
     */
    public abstract void process(APDU apdu) throws ISOException;

    /**
     * Called when the applet is being selected.
     *
     * @return whether it may be
     */
    public boolean select() {
        return true;
    }

    /** Called when another applet is about to be selected; a reset calls it not. */
    public void deselect() {
    }

    /**
     * Called where another applet asks for an object to share.
     *
     * @param clientAID the other's AID
     * @param parameter what the other says
     * @return an object of a shareable interface, or null
     */
    public Shareable getShareableInterfaceObject(AID clientAID, byte parameter) {
        return null;
    }

    /**
     * Makes the instance selectable under the AID in the parameters of its installation.
     *
     * @throws SystemException {@link SystemException#ILLEGAL_AID}, if it was registered already
     */
    protected final native void register() throws SystemException;

    /**
     * Makes the instance selectable under an AID, whose owner is that of the package's AID.
     *
     * @param bArray where the AID is
     * @param bOffset where it starts
     * @param bLength its bytes
     * @throws SystemException {@link SystemException#ILLEGAL_VALUE}, {@link SystemException#ILLEGAL_AID}
     */
    protected final native void register(byte[] bArray, short bOffset, byte bLength) throws SystemException;

    /**
     * Says whether the command is the one that selected this applet.
     *
     * @return whether it is
     */
    protected final native boolean selectingApplet();

    /**
     * Says whether the command selects this applet where it was selected already.
     *
     * @return whether it does
     */
    protected final native boolean reSelectingApplet();
}
