package dev.norn.crash.program;

import dev.norn.crash.model.Register;
import dev.norn.crash.model.Registers;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.command.SasCommand;
import dev.norn.sas.exception.SASException;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A child JVM that does one thing after the other for its parent: each line of its standard input is a task with words
 * between tabs, and each is answered with one line on its standard output, {@code ok}, {@code refused REASON} if the
 * store said with an exception of its own why not, or {@code failed REASON} where no such answer may come.
 */
public final class Inspector {
    private static final PrintStream ANSWERS = System.out;

    private Inspector() {}

    public static void main(String[] arguments) throws IOException {
        Steps.arm(List.of(arguments).stream().map(Assignment.Arm::decode).toList());
        var tasks = new BufferedReader(new InputStreamReader(System.in));
        for (String task = tasks.readLine(); task != null; task = tasks.readLine()) {
            ANSWERS.println(answer(task.split("\t")).replaceAll("\\s+", " "));
        }
        Steps.writeCounts();
        System.exit(0);
    }

    private static String answer(String[] words) {
        try {
            return switch (words[0]) {
                case "create" -> create(Path.of(words[1]), Boolean.parseBoolean(words[2]), Long.parseLong(words[3]),
                        Long.parseLong(words[4]));
                case "snapshot" -> snapshot(Path.of(words[1]), Path.of(words[2]));
                case "sas" -> command(Arrays.copyOfRange(words, 1, words.length));
                case "classes" -> useClasses(Path.of(words[1]));
                case "work" -> work(Path.of(words[1]), Path.of(words[2]));
                case "convert" -> convert(Path.of(words[1]), Path.of(words[2]),
                        words.length < 4 ? Set.of() : Set.of(words[3].split(",")));
                default -> throw new IllegalArgumentException("no task: " + words[0]);
            };
        } catch (SASException e) {
            return "refused " + e.getClass().getSimpleName() + ": " + e.getMessage();
        } catch (Throwable e) {
            StringWriter text = new StringWriter();
            e.printStackTrace(new PrintWriter(text));
            return "failed " + text;
        }
    }

    private static String create(Path directory, boolean hasFreshClasses, long logBytes, long lockTimeoutMillis) {
        Store.Options options = Store.Options.defaults().withLogBytes(logBytes).withLockTimeoutMillis(lockTimeoutMillis)
                .withMainBytes(1L << 30);
        Store.create(directory, options).close();
        try (Store store = Store.open(directory, SubObjects.ADOPT)) {
            Transaction.run(() -> Registers.create(store));
        }
        return hasFreshClasses ? "ok" : useClasses(directory);
    }

    private static String useClasses(Path directory) {
        try (Store store = Store.open(directory, SubObjects.ADOPT)) {
            Transaction.run(() -> Registers.useClasses(store));
        }
        return "ok";
    }

    /** Runs a child's transactions for a moment, so that this JVM learns its classes. */
    private static String work(Path directory, Path journals) throws InterruptedException {
        var assignment = new Assignment(directory, journals, 0, 2, 0, 1, Set.of(), List.of());
        Attachment attachment = new Attachment(directory);
        Worker worker = new Worker(assignment, attachment, 0);
        Thread thread = Thread.ofPlatform().start(worker);
        Thread.sleep(1000);
        worker.stop();
        thread.join();
        attachment.close();
        return "ok";
    }

    /**
     * Writes what all registers have at one moment: a line with the times before and after, and one for each register,
     * with what is not whole, or {@code -}, and the numbers.
     */
    private static String snapshot(Path directory, Path out) throws IOException {
        try (Store store = Store.open(directory, SubObjects.ADOPT)) {
            long before = System.nanoTime();
            List<String> lines =
                    Transaction.call(() -> Arrays.stream(Registers.of(store)).map(Inspector::line).toList());
            List<String> all = new ArrayList<>(List.of(before + " " + System.nanoTime()));
            all.addAll(lines);
            Files.write(out, all);
        }
        return "ok";
    }

    private static String line(Register register) {
        String audit;
        long[] ids = {};
        try {
            ids = register.ids();
            audit = register.audit();
        } catch (SASException | IllegalStateException | IndexOutOfBoundsException | NullPointerException e) {
            audit = e.toString();
        }
        return (audit == null ? "-" : audit.replaceAll("\\s+", "_"))
                + Arrays.stream(ids).mapToObj(id -> " " + id).collect(Collectors.joining());
    }

    private static String command(String... arguments) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        PrintStream errors = System.err;
        System.setOut(new PrintStream(text, true));
        System.setErr(System.out);
        try {
            int status = SasCommand.run(arguments);
            return (status == 0 ? "ok " : "refused status " + status + ": ") + text;
        } finally {
            System.setOut(ANSWERS);
            System.setErr(errors);
        }
    }

    private static String convert(Path from, Path to, Set<String> dropped) {
        Store.convert(from, to, Inspector.class.getClassLoader(), dropped);
        return "ok";
    }
}
