package javacard.framework;

/** Marks interfaces whose methods other contexts may call through the firewall. */
public interface Shareable {
}
