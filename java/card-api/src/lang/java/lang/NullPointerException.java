package java.lang;

/** Thrown where null is used as an object or array. */
public class NullPointerException extends RuntimeException {
    /** Creates one without a reason. */
    public NullPointerException() {
    }
}
