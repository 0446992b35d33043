package dev.norn.sas.runtime;

import dev.norn.sas.SASException;

/**
 * Monitors of persistent objects: inside a transaction, entering is taking the object's lock for writing, which is held to the end, across processes. Outside transactions,
 * and for waiting, there is none: that is refused.
 */
public final class Monitors {
    private static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new);

    private Monitors() {}

    private static boolean isPersistent(Object object) {
        return object instanceof SasObject handle && handle.$sas$reference() != 0;
    }

    /** The monitor to enter instead of the object's. */
    public static Object enter(Object object) {
        if (!isPersistent(object)) {
            return object;
        }
        enterMethod(object);
        return OWN.get();
    }

    /** The monitor that was entered instead. */
    public static Object exit(Object object) {
        return isPersistent(object) ? OWN.get() : object;
    }

    /** What a synchronized method does first. */
    public static void enterMethod(Object object) {
        if (isPersistent(object) && Session.write((SasObject) object) == null) {
            throw new SASException("synchronized on a persistent " + object.getClass().getName()
                    + " needs a transaction, which then holds the lock to its end");
        }
    }

    private static void refuse(Object object) {
        if (isPersistent(object)) {
            throw new SASException("a persistent " + object.getClass().getName() + " cannot be waited for or notified");
        }
    }

    public static void wait(Object object) throws InterruptedException {
        refuse(object);
        object.wait();
    }

    public static void wait(Object object, long millis) throws InterruptedException {
        refuse(object);
        object.wait(millis);
    }

    public static void notify(Object object) {
        refuse(object);
        object.notify();
    }

    public static void notifyAll(Object object) {
        refuse(object);
        object.notifyAll();
    }
}
