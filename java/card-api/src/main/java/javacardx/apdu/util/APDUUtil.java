package javacardx.apdu.util;

/** What the first byte of a command says, as in ISO 7816-4. */
public class APDUUtil {
    private static final byte PROPRIETARY = (byte) 0x80;
    private static final byte FURTHER = 0x40;
    private static final byte CHAINING = 0x10;

    private APDUUtil() {
    }

    /**
     * Returns the channel.
     *
     * @param CLAbyte the byte
     * @return 0 to 3, and 4 to 19 for the further bytes of the industry
     */
    public static byte getCLAChannel(byte CLAbyte) {
        return (byte) (isFurther(CLAbyte) ? 4 + (CLAbyte & 0x0F) : CLAbyte & 3);
    }

    /**
     * Says whether the command is protected by secure messaging.
     *
     * @param CLAbyte the byte
     * @return whether it is
     */
    public static boolean isSecureMessagingCLA(byte CLAbyte) {
        return (CLAbyte & (isFurther(CLAbyte) ? 0x20 : 0x0C)) != 0;
    }

    /**
     * Says whether more commands of a chain follow.
     *
     * @param CLAbyte the byte
     * @return whether they do
     */
    public static boolean isCommandChainingCLA(byte CLAbyte) {
        return (CLAbyte & CHAINING) != 0;
    }

    /**
     * Says whether the byte is the industry's, and no maker's own.
     *
     * @param CLAbyte the byte
     * @return whether its highest bit is 0
     */
    public static boolean isISOInterindustryCLA(byte CLAbyte) {
        return (CLAbyte & PROPRIETARY) == 0;
    }

    /**
     * Says whether a command may have the byte.
     *
     * @param CLAbyte the byte
     * @return not for FF, and not for 20 to 3F, which are kept for later
     */
    public static boolean isValidCLA(byte CLAbyte) {
        return CLAbyte != (byte) 0xFF && (CLAbyte & 0xE0) != 0x20;
    }

    private static boolean isFurther(byte CLAbyte) {
        return (CLAbyte & FURTHER) != 0;
    }
}
