package javacard.security;

/** A key that both sides have. */
public interface SecretKey extends Key {
}
