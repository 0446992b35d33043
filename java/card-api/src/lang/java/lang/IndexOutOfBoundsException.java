package java.lang;

/** Thrown for an index outside what it selects from. */
public class IndexOutOfBoundsException extends RuntimeException {
    /** Creates one without a reason. */
    public IndexOutOfBoundsException() {
    }
}
