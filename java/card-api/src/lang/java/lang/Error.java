package java.lang;

/** There for javac, which does not start without it. No method of a card throws it. */
public class Error extends Throwable {
    /** Creates one without a reason. */
    public Error() {
    }
}
