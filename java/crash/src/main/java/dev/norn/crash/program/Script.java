package dev.norn.crash.program;

import dev.norn.crash.model.Registers;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * What one transaction does; all of it follows from its seed.
 *
 * @param steps what is done with registers, each register once at most
 * @param container before which step a container is made; the number of steps for after all of them, -1 for none
 * @param depth how long a chain is adopted, or 0
 * @param bytes how long an array is made, or 0
 * @param seed of what the appends leave besides numbers
 */
record Script(Ending ending, Way way, List<Step> steps, int container, int depth, int bytes, long seed) {
    enum Ending { COMMIT, ABORT, THROW }

    /** How the transaction is begun and ended. */
    enum Way { RUN, BEGIN_AND_COMMIT, NESTED }

    enum Use { READ, APPEND, APPEND_AND_TAKE_BACK }

    record Step(int register, Use use) {}

    private static final int DEPTH_MAX = 5000;
    /** Some pages at most times, and now and then more than the shortest log has room for. */
    private static final int BYTES_BITS_MAX = 18;

    /** One of so many that commit makes a container: it stays. */
    private static final int CONTAINER_KEPT = 400;
    /** One of so many that are undone: nothing stays, and what may be lost is the directory. */
    private static final int CONTAINER_UNDONE = 3;

    static Script of(long seed, Set<Hazard> hazards) {
        Random random = new Random(seed);
        Ending ending = random.nextInt(8) > 1 ? Ending.COMMIT : random.nextBoolean() ? Ending.ABORT : Ending.THROW;
        Way way = Way.values()[random.nextInt(3)];
        List<Step> steps = new ArrayList<>();
        int at = random.nextInt(Registers.COUNT);
        for (int left = 1 + random.nextInt(3); left > 0; left--) {
            int use = random.nextInt(8);
            boolean isTakenBack = use == 7 && hazards.contains(Hazard.SAVEPOINTS);
            steps.add(new Step(at, isTakenBack ? Use.APPEND_AND_TAKE_BACK : use > 2 ? Use.APPEND : Use.READ));
            at = (at + 1 + random.nextInt(2)) % Registers.COUNT;
        }
        if (!hazards.contains(Hazard.IDENTITY)) {
            steps.removeIf(step -> step.register == Registers.IDENTITY);
        }
        int chance = ending == Ending.COMMIT ? CONTAINER_KEPT : CONTAINER_UNDONE;
        int container = random.nextInt(chance) == 0 ? random.nextInt(steps.size() + 1) : -1;
        int depth = hazards.contains(Hazard.DEEP) && random.nextInt(150) == 0 ? 1 + random.nextInt(DEPTH_MAX) : 0;
        int bytes = random.nextInt(12) == 0 ? 1 + random.nextInt(1 << 4 + random.nextInt(BYTES_BITS_MAX - 4)) : 0;
        return new Script(ending, way, steps, container, depth, bytes, random.nextLong());
    }

    /** The registers that have the transaction's number when it is committed, for the journal. */
    String appends() {
        return String.join(",",
                steps.stream().filter(step -> step.use == Use.APPEND).map(step -> "" + step.register).toList());
    }
}
