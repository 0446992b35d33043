package javacardx.apdu;

/** What an applet implements to be sent commands with extended length; others answer them with 6700. */
public interface ExtendedLength {
}
