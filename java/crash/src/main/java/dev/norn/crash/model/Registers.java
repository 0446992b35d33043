package dev.norn.crash.model;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;

/** The registers of a store, which are named roots. */
public final class Registers {
    private static final Class<?>[] STRUCTURES = {ListRegister.class, MapRegister.class, SortedRegister.class,
            ArrayRegister.class, ChainRegister.class, BlockRegister.class, IdentityRegister.class};
    /** As many as the structures, one in a chain from a root, and two that are spread over another container. */
    public static final int COUNT = STRUCTURES.length + 3;

    /** The one whose map hashes by identity. */
    public static final int IDENTITY = STRUCTURES.length - 1;

    /** As many as it takes that a structure has objects of all of its classes. */
    private static final int APPENDS = 40;

    private Registers() {}

    /** Makes them, empty. */
    public static void create(Store store) {
        Container other = store.createContainer("other", 64 << 20);
        for (int i = 0; i < COUNT; i++) {
            store.setRoot(name(i), create(i, i % 3 == 2 ? other : store.container(Store.MAIN)));
        }
    }

    /** Has the store know all classes, by objects that are used for nothing else. */
    public static void useClasses(Store store) {
        Container main = store.container(Store.MAIN);
        for (int kind = 0; kind < Kinds.COUNT; kind++) {
            Factory.newInstanceIn(Kinds.type(kind), main, 0L);
        }
        for (Class<?> structure : STRUCTURES) {
            Register register = (Register) Factory.newInstanceIn(structure, main);
            for (int i = 0; i < APPENDS; i++) {
                register.append(i, new java.util.Random(i));
            }
            register.hang(2);
        }
    }

    private static Object create(int index, Container container) {
        return index == STRUCTURES.length ? Factory.newInstanceIn(RootRegister.class, container, "newest of " + index)
                : Factory.newInstanceIn(STRUCTURES[index % STRUCTURES.length], container);
    }

    private static String name(int index) {
        return "register " + index;
    }

    /** This thread's handles of them. */
    public static Register[] of(Store store) {
        Register[] registers = new Register[COUNT];
        for (int i = 0; i < COUNT; i++) {
            registers[i] = store.root(name(i), Register.class);
        }
        return registers;
    }
}
