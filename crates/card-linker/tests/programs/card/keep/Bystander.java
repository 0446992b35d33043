package keep;

import javacard.framework.Shareable;

/** A shared interface that no object has. */
public interface Bystander extends Shareable {
    void stand();
}
