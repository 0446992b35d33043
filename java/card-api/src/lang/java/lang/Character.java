package java.lang;

/** There for javac, which looks for it where a conditional expression has references. No program can name it. */
final class Character {
}
