package java.lang;

/** Thrown for an index outside an array. */
public class ArrayIndexOutOfBoundsException extends IndexOutOfBoundsException {
    /** Creates one without a reason. */
    public ArrayIndexOutOfBoundsException() {
    }
}
