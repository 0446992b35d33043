package javacard.security;

/** A key that one side keeps. */
public interface PrivateKey extends Key {
}
