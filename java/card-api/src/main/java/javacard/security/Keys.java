package javacard.security;

import javacard.framework.JCSystem;

/** Makes the keys that there are. */
final class Keys {
    private Keys() {
    }

    /** A key of a type and a length; NO_SUCH_ALGORITHM for others. */
    static Key build(byte type, short bits) {
        switch (type) {
            case KeyBuilder.TYPE_AES:
            case KeyBuilder.TYPE_AES_TRANSIENT_RESET:
            case KeyBuilder.TYPE_AES_TRANSIENT_DESELECT:
                if (bits != KeyBuilder.LENGTH_AES_128
                        && bits != KeyBuilder.LENGTH_AES_192
                        && bits != KeyBuilder.LENGTH_AES_256) {
                    break;
                }
                Algorithms.require(Algorithms.AES);
                return new StoredAesKey(type, bits, memory(type));
            case KeyBuilder.TYPE_DES:
            case KeyBuilder.TYPE_DES_TRANSIENT_RESET:
            case KeyBuilder.TYPE_DES_TRANSIENT_DESELECT:
                if (bits != KeyBuilder.LENGTH_DES
                        && bits != KeyBuilder.LENGTH_DES3_2KEY
                        && bits != KeyBuilder.LENGTH_DES3_3KEY) {
                    break;
                }
                Algorithms.require(Algorithms.DES);
                return new StoredDesKey(type, bits, memory(type));
            case KeyBuilder.TYPE_HMAC:
            case KeyBuilder.TYPE_HMAC_TRANSIENT_RESET:
            case KeyBuilder.TYPE_HMAC_TRANSIENT_DESELECT:
                if (bits != KeyBuilder.LENGTH_HMAC_SHA_256_BLOCK_64
                        && bits != KeyBuilder.LENGTH_HMAC_SHA_512_BLOCK_128) {
                    break;
                }
                Algorithms.require(
                        bits == KeyBuilder.LENGTH_HMAC_SHA_256_BLOCK_64
                                ? MessageDigest.ALG_SHA_256 : MessageDigest.ALG_SHA_512);
                return new StoredHmacKey(type, bits, memory(type));
            case KeyBuilder.TYPE_RSA_PUBLIC:
                if (isRsa(bits)) {
                    return new StoredRsaPublicKey(type, bits);
                }
                break;
            case KeyBuilder.TYPE_RSA_PRIVATE:
            case KeyBuilder.TYPE_RSA_PRIVATE_TRANSIENT_RESET:
            case KeyBuilder.TYPE_RSA_PRIVATE_TRANSIENT_DESELECT:
                if (isRsa(bits)) {
                    return new StoredRsaPrivateKey(type, bits, memory(type));
                }
                break;
            case KeyBuilder.TYPE_RSA_CRT_PRIVATE:
            case KeyBuilder.TYPE_RSA_CRT_PRIVATE_TRANSIENT_RESET:
            case KeyBuilder.TYPE_RSA_CRT_PRIVATE_TRANSIENT_DESELECT:
                if (isRsa(bits)) {
                    return new StoredRsaCrtKey(type, bits, memory(type));
                }
                break;
            case KeyBuilder.TYPE_EC_FP_PUBLIC:
                return new StoredPublicKey(type, bits, null);
            case KeyBuilder.TYPE_EC_FP_PRIVATE:
            case KeyBuilder.TYPE_EC_FP_PRIVATE_TRANSIENT_RESET:
            case KeyBuilder.TYPE_EC_FP_PRIVATE_TRANSIENT_DESELECT:
                return new StoredPrivateKey(type, bits, memory(type), null);
            default:
                break;
        }
        CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        return null;
    }

    /** A key of a curve whose parameters are another's; NO_SUCH_ALGORITHM for other types. */
    static Key build(byte type, StoredEcKey domain) {
        switch (type) {
            case KeyBuilder.TYPE_EC_FP_PUBLIC:
                return new StoredPublicKey(type, domain.getSize(), domain);
            case KeyBuilder.TYPE_EC_FP_PRIVATE:
            case KeyBuilder.TYPE_EC_FP_PRIVATE_TRANSIENT_RESET:
            case KeyBuilder.TYPE_EC_FP_PRIVATE_TRANSIENT_DESELECT:
                return new StoredPrivateKey(type, domain.getSize(), memory(type), domain);
            default:
                CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
                return null;
        }
    }

    /** Whether there are keys of RSA of so many bits. */
    private static boolean isRsa(short bits) {
        return Algorithms.hasRsa() && bits >= 1024 && bits <= 4096 && bits % 32 == 0;
    }

    private static byte memory(byte type) {
        switch (type) {
            case KeyBuilder.TYPE_AES_TRANSIENT_RESET:
            case KeyBuilder.TYPE_DES_TRANSIENT_RESET:
            case KeyBuilder.TYPE_HMAC_TRANSIENT_RESET:
            case KeyBuilder.TYPE_RSA_PRIVATE_TRANSIENT_RESET:
            case KeyBuilder.TYPE_RSA_CRT_PRIVATE_TRANSIENT_RESET:
            case KeyBuilder.TYPE_EC_FP_PRIVATE_TRANSIENT_RESET:
                return JCSystem.CLEAR_ON_RESET;
            case KeyBuilder.TYPE_AES_TRANSIENT_DESELECT:
            case KeyBuilder.TYPE_DES_TRANSIENT_DESELECT:
            case KeyBuilder.TYPE_HMAC_TRANSIENT_DESELECT:
            case KeyBuilder.TYPE_RSA_PRIVATE_TRANSIENT_DESELECT:
            case KeyBuilder.TYPE_RSA_CRT_PRIVATE_TRANSIENT_DESELECT:
            case KeyBuilder.TYPE_EC_FP_PRIVATE_TRANSIENT_DESELECT:
                return JCSystem.CLEAR_ON_DESELECT;
            default:
                return JCSystem.NOT_A_TRANSIENT_OBJECT;
        }
    }

    /** The type of a key by algorithm and memory; 0, which is none, for others. */
    static byte type(byte algorithm, byte memory) {
        if (memory < JCSystem.MEMORY_TYPE_PERSISTENT || memory > JCSystem.MEMORY_TYPE_TRANSIENT_DESELECT) {
            return 0;
        }
        boolean isPersistent = memory == JCSystem.MEMORY_TYPE_PERSISTENT;
        boolean isCleared = memory == JCSystem.MEMORY_TYPE_TRANSIENT_RESET;
        switch (algorithm) {
            case KeyBuilder.ALG_TYPE_AES:
                return isPersistent ? KeyBuilder.TYPE_AES
                        : isCleared ? KeyBuilder.TYPE_AES_TRANSIENT_RESET : KeyBuilder.TYPE_AES_TRANSIENT_DESELECT;
            case KeyBuilder.ALG_TYPE_DES:
                return isPersistent ? KeyBuilder.TYPE_DES
                        : isCleared ? KeyBuilder.TYPE_DES_TRANSIENT_RESET : KeyBuilder.TYPE_DES_TRANSIENT_DESELECT;
            case KeyBuilder.ALG_TYPE_HMAC:
                return isPersistent ? KeyBuilder.TYPE_HMAC
                        : isCleared ? KeyBuilder.TYPE_HMAC_TRANSIENT_RESET : KeyBuilder.TYPE_HMAC_TRANSIENT_DESELECT;
            case KeyBuilder.ALG_TYPE_RSA_PUBLIC:
                return isPersistent ? KeyBuilder.TYPE_RSA_PUBLIC : 0;
            case KeyBuilder.ALG_TYPE_RSA_PRIVATE:
                return isPersistent ? KeyBuilder.TYPE_RSA_PRIVATE
                        : isCleared ? KeyBuilder.TYPE_RSA_PRIVATE_TRANSIENT_RESET
                        : KeyBuilder.TYPE_RSA_PRIVATE_TRANSIENT_DESELECT;
            case KeyBuilder.ALG_TYPE_RSA_CRT_PRIVATE:
                return isPersistent ? KeyBuilder.TYPE_RSA_CRT_PRIVATE
                        : isCleared ? KeyBuilder.TYPE_RSA_CRT_PRIVATE_TRANSIENT_RESET
                        : KeyBuilder.TYPE_RSA_CRT_PRIVATE_TRANSIENT_DESELECT;
            case KeyBuilder.ALG_TYPE_EC_FP_PUBLIC:
                return isPersistent ? KeyBuilder.TYPE_EC_FP_PUBLIC : 0;
            case KeyBuilder.ALG_TYPE_EC_FP_PRIVATE:
                return isPersistent ? KeyBuilder.TYPE_EC_FP_PRIVATE
                        : isCleared ? KeyBuilder.TYPE_EC_FP_PRIVATE_TRANSIENT_RESET
                        : KeyBuilder.TYPE_EC_FP_PRIVATE_TRANSIENT_DESELECT;
            default:
                return 0;
        }
    }

    /** Refuses two keys that are no pair. */
    static void checkPair(PublicKey publicKey, PrivateKey privateKey) {
        boolean isPair = publicKey instanceof StoredPublicKey
                ? privateKey instanceof StoredPrivateKey
                : publicKey instanceof StoredRsaPublicKey && privateKey instanceof StoredRsaKey;
        if (!isPair || ((StoredKey) publicKey).getSize() != ((StoredKey) privateKey).getSize()) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
    }

    /** Draws both keys of a pair, whole or not at all. */
    static void generate(PublicKey publicKey, PrivateKey privateKey) {
        boolean isOwn = StoredKey.begin();
        if (publicKey instanceof StoredPublicKey) {
            StoredPublicKey point = (StoredPublicKey) publicKey;
            StoredPrivateKey secret = (StoredPrivateKey) privateKey;
            // Parameters of the public key, as far as they were set, choose the curve.
            byte curve = point.curve();
            secret.overwrite(StoredKey.VALUE);
            Algorithms.generate(curve, secret.value, point.value);
            secret.addParameters(curve);
            secret.add(StoredKey.VALUE);
            point.addParameters(curve);
            point.add(StoredKey.VALUE);
        } else {
            StoredRsaKey open = (StoredRsaKey) publicKey;
            StoredRsaKey secret = (StoredRsaKey) privateKey;
            secret.overwrite((byte) -1);
            if (!Algorithms.generateRsa(secret.isByFactors(), open.value, secret.value, open.modulusBytes())) {
                CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
            }
            secret.addAll();
            open.addAll();
        }
        StoredKey.commit(isOwn);
    }
}
