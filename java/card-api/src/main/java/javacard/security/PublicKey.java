package javacard.security;

/** A key that everybody may have. */
public interface PublicKey extends Key {
}
