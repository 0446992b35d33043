package javacardx.apdu;

/** Marks an applet that takes commands with extended lengths: up to 32,767 bytes of data, and as many of answer. */
public interface ExtendedLength {}
