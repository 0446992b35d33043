package java.lang;

/** What can be thrown. On a card it carries no message and no stack trace. */
public class Throwable extends Object {
    /** Creates one without a reason. */
    public Throwable() {
    }
}
