package java.lang;

/** The class above every class and array. */
public class Object {
    /** Creates an object whose fields hold zero, false or null. */
    public Object() {
    }

    /**
     * Says whether another reference leads to the same object, where a class does not say otherwise.
     *
     * @param other a reference, or null
     * @return whether it equals this object
     */
    public boolean equals(Object other) {
        return this == other;
    }
}
