package costs;

/** Something that is done through an interface. */
public interface Step {
    short once();
}
