package programs;

/** Methods that a test finds in the class file by their constants, and breaks. */
class Broken extends Below {
    static int shared;
    int field;
    private final int fixed;

    Broken() {
        fixed = 1001;
    }

    static int sum(int a) {
        return a + 1002;
    }

    static int branch(int a) {
        if (a > 1003) {
            return 1;
        }
        return 2;
    }

    static int readShared() {
        return shared + 1004;
    }

    int readField() {
        return field + 1005;
    }

    void write(int a) {
        field = a + 1006;
    }

    static int call() {
        return sum(1007);
    }

    static int caught(int a) {
        int i = a;
        try {
            i = 1008 / a;
            i = i + 1;
        } catch (RuntimeException e) {
            return i;
        }
        return i;
    }

    static Object make() {
        int i = 1009;
        return new Broken();
    }

    static Object cast(Object a) {
        int i = 1010;
        return (Below) a;
    }

    static void fail(RuntimeException e) {
        int i = 1011;
        throw e;
    }

    static int[] array() {
        int i = 1012;
        return new int[i];
    }

    static int element(byte[] a) {
        return a[0] + 1013;
    }

    short open() {
        return (short) (below + 1014);
    }
}

/** A class above, whose shape a test changes. */
class Below {
    int below;

    Below() {
    }

    short open() {
        return 1;
    }
}
