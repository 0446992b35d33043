package javacard.security;

import javacard.framework.Util;

/** A key of HMAC: zeros follow its bytes, which change nothing, and then how many they are. */
final class StoredHmacKey extends StoredKey implements HMACKey {
    StoredHmacKey(byte type, short bytes, byte memory) {
        super(type, bytes, (short) (bytes + 1), memory);
    }

    public void setKey(byte[] keyData, short kOff, short kLen) {
        if (kLen <= 0 || kLen > getSize()) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        boolean isOwn = begin();
        overwrite(VALUE);
        Util.arrayCopy(keyData, kOff, value, (short) 0, kLen);
        for (short at = kLen; at < getSize(); at++) {
            value[at] = 0;
        }
        value[getSize()] = (byte) kLen;
        add(VALUE);
        commit(isOwn);
    }

    public byte getKey(byte[] keyData, short kOff) {
        require(VALUE);
        short length = (short) (value[getSize()] & 0xFF);
        Util.arrayCopy(value, (short) 0, keyData, kOff, length);
        return (byte) length;
    }
}
