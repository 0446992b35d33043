package dev.norn.crash.model;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.util.SasByteArray;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;

/**
 * A list of the transactions that wrote it, oldest first. An append changes several objects, and each of them repeats
 * what the others say, so that half of an append is noticed by {@link #audit}. Each subclass keeps the list in another
 * structure. All methods except {@link #last} are called in a transaction.
 */
public abstract class Register {
    private int length;
    private long last;
    private long check;
    /** What the append {@link #decorator} left besides its number. */
    private String text;
    private Kind item;
    private long decorator;
    /** A chain that is adopted as a whole. */
    private Link chain;
    private int chainLength;
    /** Bytes of which each follows from the number of who made them. */
    private SasByteArray bytes;
    private long bytesMaker;

    /** Adds a number to the structure, at the end. */
    abstract void put(int index, long id);

    /** All numbers of the structure, and an exception if it is not whole. */
    abstract long[] all();

    public final void append(long id, Random random) {
        put(length, id);
        length++;
        last = id;
        check = mix(check, id);
        if (random.nextInt(3) == 0) {
            decorate(id, random);
        }
    }

    private void decorate(long id, Random random) {
        if (item != null && random.nextInt(4) != 0) {
            Kind old = item;
            item = null;
            Factory.destroyInstance(old);
        }
        int kind = Kinds.of(id);
        item = switch (random.nextInt(3)) {
            case 0 -> Kinds.make(kind, id);
            case 1 -> (Kind) Factory.newInstanceNear(Kinds.type(kind), this, id);
            default -> (Kind) Factory.newInstanceIn(Kinds.type(kind),
                    Store.current().container(aContainer(random)), id);
        };
        decorator = id;
        text = textOf(id);
    }

    /** Gives the register a chain of new objects, and destroys the one that it had. */
    public final void hang(int count) {
        for (Link at = chain; at != null;) {
            Link older = at.older();
            Factory.destroyInstance(at);
            at = older;
        }
        Link fresh = null;
        for (int i = 0; i < count; i++) {
            fresh = new Link(i, fresh);
        }
        chain = fresh;
        chainLength = count;
    }

    /** Gives the register an array of bytes in the place of the one that it had. */
    public final void fill(long id, int count) {
        if (bytes != null) {
            Factory.destroyInstance(bytes);
        }
        bytes = Factory.newInstanceNear(SasByteArray.class, this, bytesOf(id, count));
        bytesMaker = id;
    }

    private static byte[] bytesOf(long id, int count) {
        byte[] all = new byte[count];
        new Random(id).nextBytes(all);
        return all;
    }

    private static String aContainer(Random random) {
        var names = Store.current().containers().stream().filter(name -> !name.equals("system")).sorted().toList();
        return names.get(random.nextInt(names.size()));
    }

    private static String textOf(long id) {
        return ("text of " + id + " ").repeat(1 + (int) Math.floorMod(id, 7L));
    }

    private static long mix(long check, long id) {
        return (check ^ id) * 0x9E3779B97F4A7C15L + Long.rotateLeft(check, 17);
    }

    public final int length() {
        return length;
    }

    /** The newest number. May be called outside transactions. */
    public final long last() {
        return last;
    }

    /** All numbers, oldest first. */
    public final long[] ids() {
        return all();
    }

    /** Says what is not whole; null if nothing is. */
    public final String audit() {
        long[] ids = all();
        long expected = 0;
        for (long id : ids) {
            expected = mix(expected, id);
        }
        if (ids.length != length || expected != check || (length > 0 && ids[length - 1] != last)) {
            return "the list " + (ids.length == 0 ? "" : "to " + ids[ids.length - 1] + " ") + "has " + ids.length
                    + " numbers, the register counts " + length + " to " + last
                    + (expected == check ? "" : "; their check is wrong");
        }
        if (bytes != null && !Arrays.equals(bytes.toArray(), bytesOf(bytesMaker, bytes.length()))) {
            return "the " + bytes.length() + " bytes of " + bytesMaker + " are not those that it made";
        }
        int left = chainLength;
        for (Link at = chain; at != null; at = at.older()) {
            if (at.id() != --left) {
                return "the element " + left + " of the chain says " + at.id();
            }
        }
        if (left != 0) {
            return "the chain ends " + left + " elements early";
        }
        if (decorator == 0) {
            return item == null && text == null ? null : "nobody left " + item + " and " + text;
        }
        if (!Objects.equals(text, textOf(decorator))) {
            return decorator + " left the text " + text;
        }
        return item == null ? decorator + " left no item" : item.audit(decorator);
    }
}
