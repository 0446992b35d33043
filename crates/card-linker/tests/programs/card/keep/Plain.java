package keep;

/** An interface that is not shared. */
public interface Plain {
    short plain();
}
