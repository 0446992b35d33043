package java.lang;

/** What a program may want to catch. */
public class Exception extends Throwable {
    /** Creates one without a reason. */
    public Exception() {
    }
}
