package programs;

/** Every class here has something that a card lacks; a mark says in which line of its code, where it has any. */
class Refused {
    static class Floats {
        static int run(int a) {
            return (int) (a * 1.5f); // here
        }
    }

    static class Doubles {
        static boolean run(int a) {
            return a > 0 && (double) a > 1.5; // here
        }
    }

    static class Longs {
        static int run(int a) {
            return (int) ((long) a * a >> 32); // here
        }
    }

    static class LongField {
        long field;
    }

    static class LongParameter {
        abstract static class Hidden {
            abstract void run(long a);
        }
    }

    static class Chars {
        static int run(int a) {
            return (char) a; // here
        }
    }

    static class CharArrays {
        static Object run(int a) {
            return new char[a]; // here
        }
    }

    static class Strings {
        static Object run() {
            return "text"; // here
        }
    }

    static class Concatenation {
        static Object run(Object a) {
            return a + "text"; // here
        }
    }

    static class Lambdas {
        interface Action {
            void run();
        }

        static Action make() {
            return () -> { }; // here
        }
    }

    static class Synchronized {
        static void run(Object lock) {
            synchronized (lock) { // here
                lock.equals(lock);
            }
        }
    }

    static class SynchronizedMethod {
        synchronized void run() {
        }
    }

    static class Matrix {
        static Object run() {
            return new int[3][]; // here
        }
    }

    static class Grid {
        static Object run() {
            return new byte[3][4]; // here
        }
    }

    static class MatrixField {
        byte[][] field;
    }

    enum Colour {
        RED
    }

    static class Asserts {
        static void run(int a) {
            assert a > 0; // here
        }
    }

    interface Defaults {
        default int run() {
            return 1;
        }
    }

    static class Output {
        static void run() {
            System.gc(); // here
        }
    }

    static class Boxes {
        static Object run(int a) {
            return Integer.valueOf(a); // here
        }
    }

    static class Reflection {
        static Object run() {
            return Refused.class; // here
        }
    }

    static class Threads extends Thread {
    }

    static class Text {
        static final String NAME = "text";
    }
}
