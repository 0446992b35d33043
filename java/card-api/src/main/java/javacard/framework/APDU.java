package javacard.framework;

/** A command and its answer, in a buffer that belongs to the runtime and cannot be kept. */
public final class APDU {
    /** Only the header has come. */
    public static final byte STATE_INITIAL = 0;

    /** Some data have come. */
    public static final byte STATE_PARTIAL_INCOMING = 1;

    /** All data have come. */
    public static final byte STATE_FULL_INCOMING = 2;

    /** The direction is outward; no length is announced. */
    public static final byte STATE_OUTGOING = 3;

    /** The length of the answer is announced. */
    public static final byte STATE_OUTGOING_LENGTH_KNOWN = 4;

    /** Some of the answer is sent. */
    public static final byte STATE_PARTIAL_OUTGOING = 5;

    /** The answer is sent. */
    public static final byte STATE_FULL_OUTGOING = 6;

    /** Under T=0 another command came in place of GET RESPONSE. */
    public static final byte STATE_ERROR_NO_T0_GETRESPONSE = (byte) -1;

    /** Under T=1 the reader aborted. */
    public static final byte STATE_ERROR_T1_IFD_ABORT = (byte) -2;

    /** The reader cannot be reached. */
    public static final byte STATE_ERROR_IO = (byte) -3;

    /** Under T=0 another command came in place of the repeated one. */
    public static final byte STATE_ERROR_NO_T0_REISSUE = (byte) -4;

    /** The bits of {@link #getProtocol} that name the medium. */
    public static final byte PROTOCOL_MEDIA_MASK = (byte) 0xF0;

    /** The bits of {@link #getProtocol} that name the protocol. */
    public static final byte PROTOCOL_TYPE_MASK = (byte) 0x0F;

    /** T=0. */
    public static final byte PROTOCOL_T0 = 0;

    /** T=1. */
    public static final byte PROTOCOL_T1 = 1;

    /** Contacts. */
    public static final byte PROTOCOL_MEDIA_DEFAULT = 0;

    /** Contactless, type A. */
    public static final byte PROTOCOL_MEDIA_CONTACTLESS_TYPE_A = (byte) 0x80;

    /** Contactless, type B. */
    public static final byte PROTOCOL_MEDIA_CONTACTLESS_TYPE_B = (byte) 0x90;

    /** Contactless, type F. */
    public static final byte PROTOCOL_MEDIA_CONTACTLESS_TYPE_F = (byte) 0xB0;

    /** The APDU gate of a host controller; its number is that of type F, as in the specification. */
    public static final byte PROTOCOL_MEDIA_HCI_APDU_GATE = (byte) 0xB0;

    /** USB. */
    public static final byte PROTOCOL_MEDIA_USB = (byte) 0xA0;

    private APDU() {
    }

    /**
     * Returns the buffer.
     *
     * @return 261 bytes: the header, then the data that have come
     */
    public native byte[] getBuffer();

    /**
     * Returns how much the protocol receives at a time.
     *
     * @return bytes
     */
    public static native short getInBlockSize();

    /**
     * Returns how much the protocol sends at a time.
     *
     * @return bytes
     */
    public static native short getOutBlockSize();

    /**
     * Returns medium and protocol.
     *
     * @return a medium and a type, as named above
     */
    public static native byte getProtocol();

    /**
     * Returns the node address under T=1.
     *
     * @return the address; 0 under T=0
     */
    public native byte getNAD();

    /**
     * Turns the direction outward.
     *
     * @return the length that the reader expects: 256 for 00
     * @throws APDUException {@link APDUException#ILLEGAL_USE}
     */
    public native short setOutgoing() throws APDUException, ISOException;

    /**
     * As {@link #setOutgoing}, without chains of blocks.
     *
     * @return the length that the reader expects
     * @throws APDUException {@link APDUException#ILLEGAL_USE}
     */
    public native short setOutgoingNoChaining() throws APDUException, ISOException;

    /**
     * Announces the length of the answer.
     *
     * @param len bytes
     * @throws APDUException {@link APDUException#BAD_LENGTH}, {@link APDUException#ILLEGAL_USE}
     */
    public native void setOutgoingLength(short len) throws APDUException;

    /**
     * Receives more of the data.
     *
     * @param bOff where they go in the buffer
     * @return how many came; 0 after the last
     * @throws APDUException {@link APDUException#BUFFER_BOUNDS}, {@link APDUException#ILLEGAL_USE}
     */
    public native short receiveBytes(short bOff) throws APDUException;

    /**
     * Receives the data, as far as the buffer holds them.
     *
     * @return how many came
     * @throws APDUException {@link APDUException#ILLEGAL_USE}
     */
    public native short setIncomingAndReceive() throws APDUException;

    /**
     * Sends a range of the buffer.
     *
     * @param bOff where it starts
     * @param len its bytes
     * @throws APDUException {@link APDUException#BUFFER_BOUNDS}, {@link APDUException#ILLEGAL_USE}
     */
    public native void sendBytes(short bOff, short len) throws APDUException;

    /**
     * Sends a range of an array, through the buffer.
     *
     * @param outData the array
     * @param bOff where the range starts
     * @param len its bytes
     * @throws APDUException {@link APDUException#ILLEGAL_USE}
     */
    public native void sendBytesLong(byte[] outData, short bOff, short len) throws APDUException, SecurityException;

    /**
     * Sends a range of the buffer as the whole answer.
     *
     * @param bOff where it starts
     * @param len its bytes, at most 256
     * @throws APDUException {@link APDUException#BUFFER_BOUNDS}, {@link APDUException#ILLEGAL_USE}
     */
    public native void setOutgoingAndSend(short bOff, short len) throws APDUException;

    /**
     * Returns how far the command is.
     *
     * @return a state, as named above
     */
    public native byte getCurrentState();

    /**
     * Returns the command that is being carried out.
     *
     * @return the command
     */
    public static native APDU getCurrentAPDU() throws SecurityException;

    /**
     * Returns its buffer.
     *
     * @return the buffer
     */
    public static native byte[] getCurrentAPDUBuffer() throws SecurityException;

    /**
     * Returns the channel that the class byte names.
     *
     * @return 0 to 19
     */
    public static native byte getCLAChannel();

    /**
     * Asks the reader for more time.
     *
     * @throws APDUException {@link APDUException#ILLEGAL_USE}
     */
    public static native void waitExtension() throws APDUException;

    /**
     * Says whether more commands of a chain follow.
     *
     * @return whether the class byte says so
     */
    public native boolean isCommandChainingCLA();

    /**
     * Says whether the command is under secure messaging.
     *
     * @return whether the class byte says so
     */
    public native boolean isSecureMessagingCLA();

    /**
     * Says whether the class byte is one of ISO/IEC 7816-4.
     *
     * @return whether it is
     */
    public native boolean isISOInterindustryCLA();

    /**
     * Says whether the class byte is valid.
     *
     * @return false for FF
     */
    public native boolean isValidCLA();

    /**
     * Returns the length of the data.
     *
     * @return bytes, 0 to 32767
     */
    public native short getIncomingLength();

    /**
     * Returns where the data are in the buffer.
     *
     * @return 5, or 7 for an extended command
     */
    public native short getOffsetCdata();
}
