package javacard.security;

/** The algorithms of signatures that are named by hash, cipher and padding. */
final class SignatureNames {
    /** No algorithm has this number. */
    private static final byte NONE = 0;
    /** {@code Cipher}'s paddings. */
    static final byte PAD_NOPAD = 1;
    static final byte PAD_ISO9797_M1 = 2;
    static final byte PAD_ISO9797_M2 = 3;
    static final byte PAD_ISO9797_1_M1_ALG3 = 4;
    static final byte PAD_ISO9797_1_M2_ALG3 = 5;
    static final byte PAD_PKCS5 = 6;

    private SignatureNames() {
    }

    static byte algorithm(byte digest, byte cipher, byte padding) {
        switch (cipher) {
            case Signature.SIG_CIPHER_ECDSA:
                return padding == EcdsaSignature.PAD_NULL ? ecdsa(digest) : NONE;
            case Signature.SIG_CIPHER_RSA:
                return rsa(digest, padding);
            case Signature.SIG_CIPHER_HMAC:
                return padding == EcdsaSignature.PAD_NULL ? hmac(digest) : NONE;
            case Signature.SIG_CIPHER_AES_MAC128:
                return digest == MessageDigest.ALG_NULL && padding == PAD_NOPAD
                        ? Signature.ALG_AES_MAC_128_NOPAD : NONE;
            case Signature.SIG_CIPHER_AES_CMAC128:
                return digest == MessageDigest.ALG_NULL && isOfCmac(padding) ? Signature.ALG_AES_CMAC_128 : NONE;
            case Signature.SIG_CIPHER_DES_MAC4:
            case Signature.SIG_CIPHER_DES_MAC8:
                byte four = digest == MessageDigest.ALG_NULL ? des(padding) : NONE;
                return four == NONE || cipher == Signature.SIG_CIPHER_DES_MAC4 ? four : (byte) (four + 1);
            default:
                return NONE;
        }
    }

    /** CMAC pads by itself, as method 2 does: applets name its padding in three ways. */
    private static boolean isOfCmac(byte padding) {
        return padding == EcdsaSignature.PAD_NULL || padding == PAD_NOPAD || padding == PAD_ISO9797_M2;
    }

    private static byte ecdsa(byte digest) {
        switch (digest) {
            case MessageDigest.ALG_SHA:
                return Signature.ALG_ECDSA_SHA;
            case MessageDigest.ALG_SHA_224:
                return Signature.ALG_ECDSA_SHA_224;
            case MessageDigest.ALG_SHA_256:
                return Signature.ALG_ECDSA_SHA_256;
            case MessageDigest.ALG_SHA_384:
                return Signature.ALG_ECDSA_SHA_384;
            case MessageDigest.ALG_SHA_512:
                return Signature.ALG_ECDSA_SHA_512;
            default:
                return NONE;
        }
    }

    private static byte rsa(byte digest, byte padding) {
        if (padding != RsaSignature.PAD_PKCS1 && padding != RsaSignature.PAD_PKCS1_PSS) {
            return NONE;
        }
        boolean isSalted = padding == RsaSignature.PAD_PKCS1_PSS;
        switch (digest) {
            case MessageDigest.ALG_SHA:
                return isSalted ? Signature.ALG_RSA_SHA_PKCS1_PSS : Signature.ALG_RSA_SHA_PKCS1;
            case MessageDigest.ALG_SHA_224:
                return isSalted ? Signature.ALG_RSA_SHA_224_PKCS1_PSS : Signature.ALG_RSA_SHA_224_PKCS1;
            case MessageDigest.ALG_SHA_256:
                return isSalted ? Signature.ALG_RSA_SHA_256_PKCS1_PSS : Signature.ALG_RSA_SHA_256_PKCS1;
            case MessageDigest.ALG_SHA_384:
                return isSalted ? Signature.ALG_RSA_SHA_384_PKCS1_PSS : Signature.ALG_RSA_SHA_384_PKCS1;
            case MessageDigest.ALG_SHA_512:
                return isSalted ? Signature.ALG_RSA_SHA_512_PKCS1_PSS : Signature.ALG_RSA_SHA_512_PKCS1;
            default:
                return NONE;
        }
    }

    private static byte hmac(byte digest) {
        switch (digest) {
            case MessageDigest.ALG_SHA:
                return Signature.ALG_HMAC_SHA1;
            case MessageDigest.ALG_SHA_256:
                return Signature.ALG_HMAC_SHA_256;
            case MessageDigest.ALG_SHA_384:
                return Signature.ALG_HMAC_SHA_384;
            case MessageDigest.ALG_SHA_512:
                return Signature.ALG_HMAC_SHA_512;
            default:
                return NONE;
        }
    }

    /** The code of 4 bytes; that of 8 is the next number. */
    private static byte des(byte padding) {
        switch (padding) {
            case PAD_NOPAD:
                return Signature.ALG_DES_MAC4_NOPAD;
            case PAD_ISO9797_M1:
                return Signature.ALG_DES_MAC4_ISO9797_M1;
            case PAD_ISO9797_M2:
                return Signature.ALG_DES_MAC4_ISO9797_M2;
            case PAD_ISO9797_1_M1_ALG3:
                return Signature.ALG_DES_MAC4_ISO9797_1_M1_ALG3;
            case PAD_ISO9797_1_M2_ALG3:
                return Signature.ALG_DES_MAC4_ISO9797_1_M2_ALG3;
            case PAD_PKCS5:
                return Signature.ALG_DES_MAC4_PKCS5;
            default:
                return NONE;
        }
    }
}
