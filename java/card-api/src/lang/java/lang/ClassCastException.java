package java.lang;

/** Thrown by a cast to a class that the object is none of. */
public class ClassCastException extends RuntimeException {
    /** Creates one without a reason. */
    public ClassCastException() {
    }
}
