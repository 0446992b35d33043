package keep;

/** An exception of the keeper's. */
public class Oops extends RuntimeException {}
