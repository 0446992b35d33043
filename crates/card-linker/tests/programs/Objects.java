package programs;

/** What is called through an interface. */
interface Greeter {
    byte LIMIT = 7;

    short greet(byte[] name, short length);
}

/** Objects, arrays, calls, exceptions and inner classes, as javac compiles them. */
public class Objects implements Greeter {
    /** A class with state of its own, above another. */
    public abstract static class Base {
        protected short count;
        protected Object held;

        protected Base(short count) {
            this.count = count;
        }

        abstract short weight();

        public boolean equals(Object other) {
            return other instanceof Base && ((Base) other).count == count;
        }
    }

    static final class Leaf extends Base {
        private final byte[] data;

        Leaf(boolean big) {
            super(big ? (short) 10 : (short) 2);
            data = new byte[big ? 64 : 8];
        }

        short weight() {
            return (short) (count + data.length);
        }

        public boolean equals(Object other) {
            return super.equals(other) && ((Leaf) other).data.length == data.length;
        }
    }

    /** An exception of the program's own. */
    public static class Refused extends Exception {
        final short reason;

        Refused(short reason) {
            this.reason = reason;
        }
    }

    private class Inner {
        private int value = secret;

        private int twice() {
            return value * 2 + secret++;
        }
    }

    private int secret;
    private Base[] leaves;
    private Object[] things;
    private final short[] numbers = {1, 2, 300};
    private final boolean[] flags = new boolean[3];
    private final int[] ints = new int[LIMIT];

    public Objects() {
        leaves = new Base[] {new Leaf(true), new Leaf(false)};
        things = leaves;
        flags[1] = true;
    }

    public short greet(byte[] name, short length) {
        short sum = 0;
        for (Base leaf : leaves) {
            sum += leaf == null ? 0 : leaf.weight();
        }
        return (short) (sum + length + numbers[2] + ints.length);
    }

    public short nested(final short given) {
        Greeter greeter = new Greeter() {
            private short calls = given;

            public short greet(byte[] name, short length) {
                calls += given;
                return (short) (calls + secret);
            }
        };
        return choose(greeter, given > 3).greet(null, (short) 1);
    }

    private Greeter choose(Greeter one, boolean first) {
        return first ? one : this;
    }

    public int inner() {
        Inner inner = new Inner();
        return inner.twice() + inner.value;
    }

    static short refuse(short reason) throws Refused {
        if (reason != 0) {
            throw new Refused(reason > 5 ? reason : (short) -1);
        }
        return reason;
    }

    short attempts(Object[] array, int index) {
        short result = 0;
        try {
            result = refuse((short) index);
            array[index] = new Leaf(index > 2);
        } catch (Refused refused) {
            result = refused.reason;
        } catch (ArrayIndexOutOfBoundsException | NullPointerException e) {
            result = 99;
        } finally {
            secret += result;
        }
        try {
            Leaf leaf = (Leaf) array[0];
            byte[] bytes = (byte[]) (Object) leaf.data;
            return (short) (bytes.length + leaf.count);
        } catch (RuntimeException e) {
            if (result > 3) {
                throw e;
            }
            return -1;
        }
    }

    Object pick(int kind) {
        Object[] made = new Object[4];
        made[0] = kind > 1 ? (Object) new Leaf(kind == 2) : numbers;
        made[1] = made;
        made[2] = this;
        things[0] = leaves[numbers[0]];
        numbers[(short) (kind & 1)]++;
        return made[kind] == null ? things : made[kind];
    }

    int chained() {
        int a;
        int b = a = secret = 5;
        ints[0] = ints[1] = b;
        int[] row = ints;
        row[secret++] += a--;
        return row[2]++ + b;
    }
}
