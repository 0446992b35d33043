package dev.norn.crash;

import dev.norn.crash.Training.Role;
import dev.norn.crash.history.History;
import dev.norn.crash.history.Snapshot;
import dev.norn.crash.program.Assignment;
import dev.norn.crash.program.Assignment.Arm;
import dev.norn.crash.program.Hazard;
import dev.norn.crash.steps.ProgramJar;
import dev.norn.crash.steps.ProgramJar.Variant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * One round: a new store, and some phases. In each, JVMs are started until some run, they run for a while with whatever
 * befalls them, and one, several or all of them are killed. Whenever all are dead, what the store has is compared with
 * what the JVMs said, and then the round does what may be done to a store that no process has attached. All choices
 * follow from the seed; what the machine's scheduler does, does not.
 */
final class Round {
    private static final String ACCEPT_LOSS = "--accept-loss";
    private static final String REPLAY_CUT_OFF = "a replay was cut off";
    private static final int FINDINGS_MAX = 4;
    private static final int FINDING_LENGTH_MAX = 800;
    private static final int BYTES_A_TRANSACTION = 100;
    private static final long LOCK_TIMEOUT_MILLIS = 2000;
    /** How often it looks how far the JVMs are: looking costs them time. */
    private static final int LOOK_MILLIS = 5;

    private final long seed;
    private final Random random;
    private final Set<Hazard> hazards;
    private final Children children;
    private final Inspectors inspectors;
    private final Path directory;
    private final Path journals;
    private final Watchdog watchdog;
    private final List<Child> living = new ArrayList<>();
    private final List<Snapshot> snapshots = new ArrayList<>();
    /** What copies had of which a loss was accepted: the beginnings of the registers' lists. */
    private final List<Snapshot> cuts = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private final long start = System.nanoTime();
    private Path store;
    private Variant variant = Variant.NARROW;
    /** How the last damaged copy was refused. */
    private String refusal;
    private int processes;
    private int copies;

    Round(long seed, Set<Hazard> hazards, Children children, Inspectors inspectors, Path directory,
            int watchdogSeconds) {
        this.seed = seed;
        this.hazards = hazards;
        this.children = children;
        this.inspectors = inspectors;
        this.directory = directory;
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        store = directory.resolve("store");
        journals = directory.resolve("journals");
        watchdog = new Watchdog(watchdogSeconds, children.jcmd(), this::all, store);
    }

    /**
     * What a round came to.
     *
     * @param events what befell its JVMs, each with the seconds from the beginning
     * @param finding what must not be; null if there was nothing
     */
    record Result(long seed, Path directory, long committed, double seconds, List<String> events, String finding) {
        @Override
        public String toString() {
            if (finding == null) {
                return "round %d: %,d transactions, %.1f s: %s"
                        .formatted(seed, committed, seconds, String.join("; ", events));
            }
            return ("round %d FOUND SOMETHING; its files are in %s; again: tools/crash --rounds 1 --seed %d%n"
                    + "  %s%n%s").formatted(seed, directory, seed, String.join("\n  ", events), finding);
        }
    }

    private List<Child> all() {
        List<Child> all = new ArrayList<>(living);
        all.addAll(inspectors.living());
        return all;
    }

    Result run() throws IOException, InterruptedException {
        Files.createDirectories(journals);
        String finding = null;
        try {
            require("create", ask("create", store, hazards.contains(Hazard.FRESH_CLASSES),
                    (1 << 16) << random.nextInt(5), LOCK_TIMEOUT_MILLIS));
            for (int phases = 2 + random.nextInt(3); phases > 0; phases--) {
                phase();
            }
            finish();
        } catch (Finding e) {
            finding = e.getMessage();
            inspectors.close();
        } finally {
            for (Child child : living) {
                child.kill();
            }
        }
        long committed = History.read(journals).committed();
        return new Result(seed, directory, committed, (System.nanoTime() - start) / 1e9, events, finding);
    }

    /** Takes down what befell whom, and when. */
    private void note(String event) {
        events.add("%.1f %s".formatted((System.nanoTime() - start) / 1e9, event));
    }

    private String ask(Object... words) throws IOException, InterruptedException {
        return inspectors.ask(watchdog, variant, words);
    }

    private void require(String what, String answer) {
        if (!answer.startsWith("ok")) {
            throw new Finding(what + ": " + answer);
        }
    }

    private boolean chance(Hazard hazard, int percent) {
        // The choice is made in any case, so that leaving a hazard out changes nothing else.
        return random.nextInt(100) < percent & hazards.contains(hazard);
    }

    private void phase() throws IOException, InterruptedException {
        List<Child> started = new ArrayList<>();
        for (int wanted = 1 + random.nextInt(3); living.size() < wanted;) {
            Child child = start();
            started.add(child);
            living.add(child);
        }
        for (Child child : started) {
            awaitReady(child);
        }
        for (int left = 1 + random.nextInt(3); left > 0; left--) {
            awaitWork(20 + random.nextInt(400), 10 + random.nextInt(150));
            befall();
        }
        kill();
        awaitProgress();
        if (living.isEmpty()) {
            whenAllAreDead();
        }
    }

    private Child start() throws IOException {
        int process = ++processes;
        int threads = 1 + random.nextInt(4);
        List<Arm> arms = chance(Hazard.STEPS, 60) ? children.arms(Role.WORK, seed * 7 + process, random) : List.of();
        Assignment assignment = new Assignment(store, journals, process, threads, 0, seed, hazards, arms);
        arms.forEach(arm -> note("jvm " + process + ": " + children.describe(arm)));
        return children.start("jvm " + process, variant, Children.PROGRAM, assignment.encode(),
                directory.resolve("jvm-" + process + ".err"));
    }

    private void awaitReady(Child child) throws IOException, InterruptedException {
        String line = child.line(watchdog);
        if (line == null) {
            buryKilled(child);
        } else if (!line.equals("ready")) {
            throw new Finding(child.name() + " said " + line);
        }
    }

    /** A JVM that has ended has to have been killed at a step. */
    private void buryKilled(Child child) throws IOException, InterruptedException {
        int status = child.exit();
        if (status != 128 + 9 || child.reached() == null) {
            throw new Finding(child.name() + " ended by itself with status " + status + ": " + child.errors());
        }
        note(child.name() + " killed at its step");
        living.remove(child);
    }

    private void buryAllKilled() throws IOException, InterruptedException {
        for (Child child : List.copyOf(living)) {
            if (!child.isAlive()) {
                buryKilled(child);
            }
        }
    }

    private void befall() throws IOException, InterruptedException {
        buryAllKilled();
        if (chance(Hazard.FREEZE, 15) && !living.isEmpty()) {
            freeze(living.get(random.nextInt(living.size())));
        }
        if (chance(Hazard.BACKUP, 25)) {
            backup();
        }
    }

    /**
     * Waits until this number of transactions has ended or this time has passed; ten times as long if no transaction
     * ended.
     */
    private void awaitWork(int transactions, int millis) throws IOException, InterruptedException {
        long start = Trees.bytes(journals);
        long target = start + transactions * BYTES_A_TRANSACTION;
        long bytes = start;
        for (int waited = 0; waited < 10 * millis && bytes < target && (waited < millis || bytes == start);
                waited += LOOK_MILLIS) {
            Thread.sleep(LOOK_MILLIS);
            bytes = Trees.bytes(journals);
        }
    }

    private void freeze(Child child) throws IOException, InterruptedException {
        int millis = 50 + random.nextInt(600);
        note(child.name() + " frozen for " + millis + " ms");
        child.signal("STOP");
        try {
            Thread.sleep(millis);
        } finally {
            child.signal("CONT");
        }
    }

    /** A backup beside running JVMs is what a transaction would read within that time. */
    private void backup() throws IOException, InterruptedException {
        Path copy = directory.resolve("backup-" + ++copies);
        note("backup " + copies);
        if (chance(Hazard.STEPS, 30)) {
            killAt(Role.BACKUP, variant, copy, "sas", "backup", store, copy);
            return;
        }
        long before = System.nanoTime();
        require("sas backup", ask("sas", "backup", store, copy));
        long after = System.nanoTime();
        Path out = directory.resolve("backup-" + copies + ".ids");
        require("opening backup " + copies, ask("snapshot", copy, out));
        Snapshot snapshot = Snapshot.read("backup " + copies, out).at(before, after);
        if (!snapshot.complaints().isEmpty()) {
            throw new Finding(String.join("; ", snapshot.complaints()));
        }
        snapshots.add(snapshot);
        Trees.delete(copy);
    }

    /**
     * A backup or a conversion that is killed at a step of it leaves no store, or a whole one; and one that still gets
     * through is a whole one, too.
     */
    private void killAt(Role role, Variant its, Path copy, Object... task) throws IOException, InterruptedException {
        List<Arm> arms = children.arms(role, 0, random);
        arms.forEach(arm -> note(role + ": " + children.describe(arm)));
        Child child = children.start(role.toString(), its, Children.INSPECTOR, arms.stream().map(Arm::encode).toList(),
                directory.resolve(role + "-" + copies + ".err"));
        living.add(child);
        child.say(String.join("\t", List.of(task).stream().map(Object::toString).toList()) + "\n");
        String answer = child.line(watchdog);
        if (answer == null) {
            buryKilled(child);
        } else {
            living.remove(child);
            child.kill();
            require(role.toString(), answer);
        }
        Path out = directory.resolve(role + "-" + copies + ".ids");
        String opened = inspectors.ask(watchdog, its, "snapshot", copy, out);
        if (opened.startsWith("refused ")) {
            note("refused");
        } else {
            require("opening what a " + role + " left", opened);
            require("what a " + role + " left", Snapshot.read(role.toString(), out).complaints());
        }
        if (answer != null && !opened.startsWith("ok")) {
            throw new Finding("a " + role + " said ok, and left what is " + opened);
        }
        Trees.delete(copy);
    }

    private void kill() throws IOException, InterruptedException {
        buryAllKilled();
        int count = random.nextInt(3) == 0 ? living.size() : random.nextInt(living.size() + 1);
        for (; count > 0; count--) {
            Child child = living.remove(random.nextInt(living.size()));
            note(child.name() + " killed");
            child.kill();
        }
    }

    /** Every thread of those that live comes to the end of a transaction. */
    private void awaitProgress() throws IOException, InterruptedException {
        for (Child child : List.copyOf(living)) {
            try (var files = Files.newDirectoryStream(journals,
                    child.name().substring("jvm ".length()) + ".*.journal")) {
                for (Path file : files) {
                    awaitGrowth(child, file);
                }
            }
        }
        buryAllKilled();
    }

    private void awaitGrowth(Child child, Path file) throws IOException, InterruptedException {
        long before = Files.size(file);
        long deadline = System.nanoTime() + watchdog.seconds() * 1_000_000_000L;
        while (child.isAlive() && Files.size(file) == before) {
            if (System.nanoTime() > deadline) {
                throw watchdog.bark(child.name() + " has come to no end of a transaction in " + file.getFileName());
            }
            Thread.sleep(1);
        }
    }

    private void whenAllAreDead() throws IOException, InterruptedException {
        if (chance(Hazard.DAMAGE, 50)) {
            damageLog();
        }
        if (chance(Hazard.DISCARD, 40)) {
            discard();
        }
        verify();
        if (chance(Hazard.DAMAGE, 25)) {
            damageContainer();
        }
        if (chance(Hazard.CONVERSION, 15)) {
            convert();
        }
    }

    private void discard() throws IOException {
        note("pool discarded");
        Files.deleteIfExists(store.resolve("pool"));
    }

    /**
     * A copy of the durable files whose log is damaged: it is refused, or complete. Only what was acknowledged last may
     * be missing without a message: transactions after whose acknowledgement no other began to write, since no later
     * record says that theirs are durable.
     */
    private void damageLog() throws IOException, InterruptedException {
        Path copy = copy();
        Damage damage = Damage.ofLog(copy, random);
        Snapshot snapshot = openDamaged(copy, damage);
        if (snapshot != null) {
            require(damage, History.read(journals).withoutTail().check(snapshot, List.of()));
            require(damage + ": sas check", ask("sas", "check", copy));
        } else if (refusal.contains(ACCEPT_LOSS)) {
            acceptLoss(copy, damage);
        }
        Trees.delete(copy);
    }

    /**
     * What is before the damage is whole transactions, and the damaged log is kept. If the containers' files have a
     * part of what follows the damage, because a replay of it was cut off, the command says so, and everything that was
     * committed may be there, in part.
     */
    private void acceptLoss(Path copy, Damage damage) throws IOException, InterruptedException {
        String what = "accepting the loss of " + damage;
        String said = ask("sas", "recover", ACCEPT_LOSS, copy);
        require(what, said);
        requireKept(copy, what);
        if (said.contains(REPLAY_CUT_OFF)) {
            note("loss accepted, said to leave parts of transactions");
            return;
        }
        Path out = directory.resolve(copy.getFileName() + ".ids");
        require(what, ask("snapshot", copy, out));
        Snapshot snapshot = Snapshot.read("what is left after " + damage, out);
        require(what, History.read(journals).checkCut(snapshot));
        require(what + ": sas check", ask("sas", "check", copy));
        cuts.add(snapshot);
        note("loss accepted");
    }

    private static void requireKept(Path copy, String what) throws IOException {
        try (var kept = Files.newDirectoryStream(copy, "redo.lost-*")) {
            if (!kept.iterator().hasNext()) {
                throw new Finding(what + ": the damaged log was not kept");
            }
        }
    }

    /** A copy of the files, with an empty log, in which a container is damaged: it is refused, or complete. */
    private void damageContainer() throws IOException, InterruptedException {
        Path copy = copy();
        Damage damage = Damage.ofContainer(copy, random);
        Snapshot snapshot = openDamaged(copy, damage);
        if (snapshot != null) {
            require(damage, History.read(journals).check(snapshot, snapshots));
        }
        Trees.delete(copy);
    }

    private Path copy() throws IOException {
        Path copy = directory.resolve("copy-" + ++copies);
        Trees.copy(store, copy, file -> !file.endsWith("pool"));
        return copy;
    }

    /** What the copy has; null if it is refused with the name of the file. */
    private Snapshot openDamaged(Path copy, Damage damage) throws IOException, InterruptedException {
        note("copy with " + damage);
        Path out = directory.resolve(copy.getFileName() + ".ids");
        String answer = ask("snapshot", copy, out);
        Snapshot snapshot = answer.startsWith("ok") ? Snapshot.read("copy with " + damage, out) : null;
        boolean isRefused = answer.startsWith("refused ") && answer.contains(damage.name())
                || snapshot != null && snapshot.complaints().stream().anyMatch(
                        complaint -> complaint.contains("ContainerDamaged") && complaint.contains(damage.name()));
        if (isRefused) {
            note("refused");
            refusal = answer;
            return null;
        }
        require("opening a copy with " + damage, answer);
        return snapshot;
    }

    private void require(Object what, List<String> findings) {
        if (!findings.isEmpty()) {
            throw new Finding(what + ", " + findings.size() + ": "
                    + String.join("\n", findings.stream().limit(FINDINGS_MAX)
                            .map(text -> text.substring(0, Math.min(text.length(), FINDING_LENGTH_MAX))).toList()));
        }
    }

    private void convert() throws IOException, InterruptedException {
        String classes = ask("sas", "ls", store);
        require("sas ls", classes);
        List<String> changed = ProgramJar.changed().stream().filter(type -> classes.contains(type + " ")).toList();
        if (changed.isEmpty()) {
            return;
        }
        Path converted = directory.resolve("converted");
        Object[] task = {"convert", store, converted, variant == Variant.NARROW ? "" : ProgramJar.added(changed)};
        note("converted to " + variant.other());
        if (chance(Hazard.STEPS, 50)) {
            killAt(Role.CONVERSION, variant.other(), converted, task);
            Trees.delete(converted);
        }
        require("convert", inspectors.ask(watchdog, variant.other(), task));
        Trees.delete(store);
        Files.move(converted, store);
        variant = variant.other();
        verify();
    }

    private void finish() throws IOException, InterruptedException {
        buryAllKilled();
        for (Child child : List.copyOf(living)) {
            stop(child);
        }
        verify();
        if (hazards.contains(Hazard.DISCARD)) {
            discard();
            verify();
        }
    }

    private void stop(Child child) throws IOException, InterruptedException {
        try {
            child.say("stop\n");
        } catch (IOException e) {
            // It has ended; the next line says so.
        }
        String line = child.line(watchdog);
        if (line == null) {
            buryKilled(child);
        } else {
            int status = child.exit();
            living.remove(child);
            if (!line.equals("stopped") || status != 0) {
                throw new Finding(child.name() + " said " + line + " and ended with status " + status
                        + ": " + child.errors());
            }
        }
    }

    /** Compares what the store has with what the JVMs said. No other process uses it. */
    private void verify() throws IOException, InterruptedException {
        Path out = directory.resolve("snapshot-" + ++copies + ".ids");
        require("opening the store", ask("snapshot", store, out));
        Snapshot snapshot = Snapshot.read("snapshot " + copies, out);
        History history = History.read(journals);
        require("transactions that failed", history.failures());
        require("what the store has", history.check(snapshot, snapshots));
        require("what was left of a damaged copy", History.checkPrefixes(cuts, snapshot));
        cuts.clear();
        snapshots.add(snapshot);
        require("sas check", ask("sas", "check", store));
    }
}
