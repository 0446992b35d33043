package java.lang;

/** Thrown by the firewall: the object belongs to a context that does not share it. */
public class SecurityException extends RuntimeException {
    /** Creates one without a reason. */
    public SecurityException() {
    }
}
