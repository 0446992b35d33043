package java.lang;

/** Thrown where an array of fewer than no elements is made. */
public class NegativeArraySizeException extends RuntimeException {
    /** Creates one without a reason. */
    public NegativeArraySizeException() {
    }
}
