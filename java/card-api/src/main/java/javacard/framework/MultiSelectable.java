package javacard.framework;

/** What an applet implements that may be selected on several channels at once. */
public interface MultiSelectable {
    /**
     * Called in place of {@link Applet#select} where the applet's package is active on another channel.
     *
     * @param appInstAlreadyActive whether that is this very applet
     * @return whether it may be selected
     */
    boolean select(boolean appInstAlreadyActive);

    /**
     * Called in place of {@link Applet#deselect} where the applet's package stays active on another channel.
     *
     * @param appInstStillActive whether that is this very applet
     */
    void deselect(boolean appInstStillActive);
}
