package java.lang;

/** What a method may throw without saying so. */
public class RuntimeException extends Exception {
    /** Creates one without a reason. */
    public RuntimeException() {
    }
}
