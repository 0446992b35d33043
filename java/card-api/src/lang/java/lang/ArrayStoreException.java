package java.lang;

/** Thrown where a reference of the wrong class is stored in an array. */
public class ArrayStoreException extends RuntimeException {
    /** Creates one without a reason. */
    public ArrayStoreException() {
    }
}
