package javacard.framework;

/** A PIN whose limits change. */
class ChangeablePin extends OwnerPIN implements OwnerPINx {
    ChangeablePin(byte tryLimit, byte maxPINSize) {
        super(tryLimit, maxPINSize);
    }

    public byte getTryLimit() {
        return limit();
    }

    public void setTryLimit(byte limit) {
        if (limit < 1) {
            PINException.throwIt(PINException.ILLEGAL_VALUE);
        }
        changeLimit(limit);
    }

    public void setTriesRemaining(byte remaining) {
        if (remaining < 0 || remaining > limit()) {
            PINException.throwIt(PINException.ILLEGAL_VALUE);
        }
        giveTries(remaining);
    }
}
