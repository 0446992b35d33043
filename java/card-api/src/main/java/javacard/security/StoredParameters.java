package javacard.security;

import javacard.framework.JCSystem;

/** The parameters of a curve, which keys share. */
final class StoredParameters extends StoredEcKey {
    StoredParameters(short bits) {
        super(KeyBuilder.ALG_TYPE_EC_FP_PARAMETERS, bits, (short) 0, JCSystem.NOT_A_TRANSIENT_OBJECT, null);
    }

    public boolean isInitialized() {
        return hasParameters();
    }
}
