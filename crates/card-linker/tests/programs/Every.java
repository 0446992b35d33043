package programs;

/** Methods of two ints whose results the JDK says; together they have every bytecode that javac emits for a card. */
public class Every {
    /** Called through an interface. */
    public interface Shape {
        int area();

        int scaled(int by);
    }

    /** An interface below another. */
    public interface Named extends Shape {
        short name();
    }

    /** Leaves the interface's methods open. */
    public abstract static class Base implements Named {
        protected int size;
        private short tag = 3;
        boolean on;
        byte small = (byte) 200;
        Base next;

        Base(int size) {
            this.size = size;
        }

        public int scaled(int by) {
            return area() * by + hidden();
        }

        private int hidden() {
            return tag++;
        }

        int kind() {
            return 1;
        }
    }

    /** A square. */
    public static class Square extends Base {
        Square(int size) {
            super(size);
        }

        public int area() {
            return size * size;
        }

        public short name() {
            return (short) (size + small);
        }

        int kind() {
            return super.kind() + 10;
        }
    }

    /** A square that is more. */
    public static final class Cube extends Square {
        private int depth;

        Cube(int size, int depth) {
            super(size);
            this.depth = depth;
        }

        public int area() {
            return super.area() * depth;
        }

        int kind() {
            return super.kind() + 100;
        }

        public boolean equals(Object other) {
            return other instanceof Cube && ((Cube) other).depth == depth;
        }
    }

    /** An exception of the program's own. */
    public static class Failed extends Exception {
        final int code;

        Failed(int code) {
            this.code = code;
        }
    }

    private static int counter = 1000;
    private static short shorts = 7;
    private static byte bytes = -3;
    private static boolean flag = true;
    private static final short[] TABLE = {1, -2, 300, 4};
    private static final int[] INTS = {70000, -70000};
    private static final boolean[] FLAGS = {true, false, true};
    private static Object kept;

    public static int arithmetic(int a, int b) {
        int sum = a + b - 3 * a;
        sum ^= (a << b) | (b >> 2) & (a >>> b);
        sum += ~a - -b;
        return sum + 70000 - 40000 + 200 + 5 - 1;
    }

    public static int parameters(int a, int b) {
        a = b + 1;
        b = a * 2;
        return a - b;
    }

    public static int divide(int a, int b) {
        return a / b + a % b;
    }

    public static int narrow(int a, int b) {
        byte c = (byte) (a + b);
        short d = (short) (c * a);
        c += 3;
        d--;
        return c + d;
    }

    public static int compare(int a, int b) {
        int result = 0;
        if (a < b) result |= 1;
        if (a <= b) result |= 2;
        if (a > b) result |= 4;
        if (a >= b) result |= 8;
        if (a == b) result |= 16;
        if (a != b) result |= 32;
        if (a < 0) result |= 64;
        if (a <= 0) result |= 128;
        if (a > 0) result |= 256;
        if (a >= 0) result |= 512;
        if (a == 0) result |= 1024;
        if (a != 0) result |= 2048;
        return result;
    }

    public static int references(int a, int b) {
        Object x = a > b ? new Object() : null;
        Object y = a < 0 ? x : kept;
        int result = x == y ? 1 : 2;
        if (x != y) result += 4;
        if (x == null) result += 8;
        if (y != null) result += 16;
        return result + (x != null && x.equals(y) ? 32 : 0);
    }

    public static int dense(int a, int b) {
        switch (a & 7) {
            case 1: return 10;
            case 2: return b;
            case 3: a += 1;
            case 5: return a;
            default: return -1;
        }
    }

    public static int sparse(int a, int b) {
        switch (a) {
            case -2147483648: return 1;
            case -1: return 2;
            case 0: return b;
            case 255: return 3;
            case 70000: return 5;
            default: break;
        }
        return 4;
    }

    public static int elements(int a, int b) {
        byte[] bytes = new byte[5];
        short[] shorts = new short[5];
        int[] ints = new int[5];
        boolean[] flags = new boolean[5];
        Object[] objects = new Object[5];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (a + i);
            shorts[i] = (short) (b * i);
            ints[i] = a ^ b + i;
            flags[i] = (a + i) % 2 == 0;
            objects[i] = i == 2 ? ints : (Object) shorts;
            bytes[i] += 3;
            ints[i]++;
        }
        int[] row = (int[]) objects[2];
        int sum = row[1]++ + (row[2] = 5) + row[1];
        for (int i = 0; i < 5; i++) {
            sum = sum * 31 + bytes[i] + shorts[i] + ints[i] + (flags[i] ? 1 : 0);
        }
        return sum;
    }

    public static int bounds(int a, int b) {
        return TABLE[a & 7] + INTS[b & 1] + (FLAGS[a & 3] ? 1 : 0);
    }

    public static int sizes(int a, int b) {
        return new int[(byte) a].length + new Object[b % 100].length;
    }

    public static int nothing(int a, int b) {
        Base base = a > b ? new Square(a) : null;
        return base.size;
    }

    public static int nothingCalled(int a, int b) {
        Shape shape = a > b ? new Square(a) : null;
        return shape.area();
    }

    public static int nothingStored(int a, int b) {
        short[] array = a > b ? new short[3] : null;
        array[2] = (short) a;
        return array[2] + array.length;
    }

    public static int statics(int a, int b) {
        int before = counter + shorts + bytes + (flag ? 1 : 0);
        counter += a;
        shorts += b;
        bytes++;
        flag = a > b;
        kept = flag ? TABLE : null;
        return before + counter++ + shorts-- + (byte) bytes;
    }

    public static int objects(int a, int b) {
        Base[] shapes = {new Square(a), new Cube(a, b), new Cube(b, 2)};
        shapes[0].next = shapes[1];
        shapes[0].next.on = a > b;
        shapes[1].size += 5;
        int sum = shapes[1].size++ + shapes[0].next.size;
        for (Base base : shapes) {
            Shape shape = base;
            sum = sum * 7 + base.area() + shape.area() + shape.scaled(3) + base.kind() + base.name();
            sum += base.next == null ? 1 : base.next.on ? 2 : 3;
            sum += ((Named) shape).name() + base.small--;
        }
        return sum + (shapes[1].equals(shapes[2]) ? 1 : 0) + (shapes[0].equals(shapes[0]) ? 2 : 0);
    }

    private static Object pick(int kind) {
        switch (kind & 7) {
            case 0: return new Square(kind);
            case 1: return new Cube(kind, 2);
            case 2: return new byte[2];
            case 3: return new boolean[2];
            case 4: return new Square[1];
            case 5: return new int[0];
            case 6: return null;
            default: return new short[3];
        }
    }

    public static int types(int a, int b) {
        Object o = pick(a);
        int result = o instanceof Square ? 1 : 0;
        result |= o instanceof Shape ? 2 : 0;
        result |= o instanceof Cube ? 4 : 0;
        result |= o instanceof byte[] ? 8 : 0;
        result |= o instanceof boolean[] ? 16 : 0;
        result |= o instanceof Base[] ? 32 : 0;
        result |= o instanceof Object[] ? 64 : 0;
        result |= o instanceof Object ? 128 : 0;
        result |= o instanceof int[] ? 256 : 0;
        result |= o instanceof Cube[] ? 512 : 0;
        result |= o instanceof Shape[] ? 1024 : 0;
        return result | (o instanceof short[] ? 2048 : 0);
    }

    public static int casts(int a, int b) {
        Object o = pick(a);
        switch (b & 7) {
            case 0: return ((Square) o).size;
            case 1: return ((Shape) o).area();
            case 2: return ((byte[]) o).length;
            case 3: return ((Shape[]) o).length;
            case 4: return ((Object[]) o).length;
            case 5: return ((short[]) o)[1];
            case 6: return ((boolean[]) o)[0] ? 1 : 0;
            default: return ((Cube) o).depth;
        }
    }

    public static int store(int a, int b) {
        Object[] array = a > b ? new Cube[2] : new Shape[2];
        array[b & 1] = pick(a);
        return array[b & 1] == null ? 1 : 2;
    }

    private static int fail(int code) throws Failed {
        if (code > 100) {
            throw new Failed(code);
        }
        if (code < -100) {
            throw new ArithmeticException();
        }
        return 100 / code;
    }

    public static int handlers(int a, int b) {
        int result = 0;
        try {
            result += fail(a);
            try {
                result += fail(b);
            } catch (ArithmeticException e) {
                result += 1000;
            } finally {
                result += 7;
            }
        } catch (Failed e) {
            result += e.code;
        } catch (ArrayIndexOutOfBoundsException | NullPointerException e) {
            result += 5;
        } finally {
            result *= 3;
        }
        return result;
    }

    public static int rethrown(int a, int b) {
        try {
            return divide(a, b);
        } catch (RuntimeException e) {
            if (a > 5) {
                throw e;
            }
            return -5;
        }
    }

    public static int recursion(int a, int b) {
        return depth(a & 15, b);
    }

    private static int depth(int n, int b) {
        return n == 0 ? b : depth(n - 1, b + n) * 3 + n;
    }

    public static int chained(int a, int b) {
        Square square = new Square(a);
        int c = square.size = counter = b;
        int[] row = {1, 2, 3};
        row[c & 1] = row[2] = a;
        row[square.size++ & 1] += a--;
        return row[0] + row[1] * 2 + row[2] + c + square.size + counter;
    }

    public static int inner(final int a, final int b) {
        Shape shape = new Shape() {
            private int calls = a;

            public int area() {
                return calls++ + b;
            }

            public int scaled(int by) {
                return area() * by;
            }
        };
        return shape.scaled(2) + shape.area();
    }

    public static int locals(int a, int b) {
        int b0 = a, b1 = b0, b2 = b1, b3 = b2, b4 = b3, b5 = b4;
        int c = b5++ + ++b4;
        c += 1000;
        c -= 30000;
        new Square(c).area();
        return c + b1 + (b3 = c) + b2;
    }
}
