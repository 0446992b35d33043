package java.lang;

/** Thrown by a division by zero. */
public class ArithmeticException extends RuntimeException {
    /** Creates one without a reason. */
    public ArithmeticException() {
    }
}
