package programs;

/** Ints, shorts, bytes and booleans, and every way to branch on them. */
public class Arithmetic {
    public static final byte STEP = 3;
    static int total;
    static short small;
    static boolean on;
    private static final byte[] TABLE = {1, 2, -3};

    public static int all(int a, int b) {
        int sum = a + b - 3 * a;
        sum = b == 0 ? sum : sum / b + sum % b;
        sum ^= (a << 3) | (b >> 2) & (a >>> 5);
        sum += ~a - -b;
        sum += 70000 + 40000 + 200 + 5 - 1;
        total = sum;
        return sum;
    }

    public static short narrow(short a, byte b) {
        byte c = (byte) (a + b);
        short d = (short) (c * a);
        c += STEP;
        d--;
        small = d;
        return (short) (c + d);
    }

    static boolean compare(int a, int b, Object x, Object y) {
        boolean result = a < b || a <= 3 && b > 5 || a >= 7 || a == b || a != 9;
        if (a == 0 || a != 1 && b < 0 || b >= 0 && a > 0 && b <= 0) {
            result = !result;
        }
        if (x == y || x != null && y == null) {
            return result ^ on;
        }
        return result;
    }

    static int dense(int key) {
        switch (key) {
            case 1: return 10;
            case 2: return 20;
            case 3: key += 1;
            case 5: return key;
            default: return -1;
        }
    }

    static int sparse(int key) {
        switch (key) {
            case -100000: return 1;
            case 0: return 2;
            case 1000: return 3;
            default: break;
        }
        return 4;
    }

    static int loops(byte[] bytes, short[] shorts, int[] ints, boolean[] flags) {
        int sum = 0;
        for (short i = 0; i < bytes.length; i++) {
            sum += bytes[i];
            bytes[i] = (byte) sum;
            if (flags[i]) {
                continue;
            }
            flags[i] = true;
            shorts[i] += 2;
            ints[i]++;
        }
        do {
            sum -= 1000;
        } while (sum > 0);
        outer:
        while (true) {
            for (int value : TABLE) {
                sum += value;
                if (sum > 100) {
                    break outer;
                }
            }
        }
        return sum;
    }

    static int manyLocals(int a) {
        int b0 = a, b1 = b0, b2 = b1, b3 = b2, b4 = b3, b5 = b4, b6 = b5, b7 = b6, b8 = b7, b9 = b8;
        int c = b9++ + ++b8;
        c += 1000;
        return c + b9 + (b7 = c);
    }
}
