package javacard.framework;

/** What an applet implements that is told of its deletion. */
public interface AppletEvent {
    /** Called before the applet is deleted, outside a transaction; what it throws does not hinder that. */
    void uninstall();
}
