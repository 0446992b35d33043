package dev.norn.crash;

import dev.norn.crash.program.Hazard;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code crash}: runs rounds of the crash harness. Ends with 1 if one of them finds something. */
@Command(name = "crash", mixinStandardHelpOptions = true, description = "Kills JVMs that share a store, and compares "
        + "the store's contents with what they reported.")
public final class CrashCommand implements Callable<Integer> {
    @Option(names = "--rounds", description = "how many rounds (default: ${DEFAULT-VALUE})", defaultValue = "30")
    private int rounds;
    @Option(names = "--seed",
            description = "seed of the first round; the next have the next numbers (default: ${DEFAULT-VALUE})",
            defaultValue = "1")
    private long seed;
    @Option(names = "--without", split = ",", description = "hazards to leave out, of those of --only")
    private List<Hazard> without = List.of();
    @Option(names = "--only", split = ",",
            description = "the only hazards, besides kills, of ${COMPLETION-CANDIDATES} (in either case)")
    private List<Hazard> only;
    @Option(names = "--steps", split = ",", description = "kill or pause working JVMs only at steps whose names "
            + "begin like this, for example RedoLog.append>Latch; rounds print the names")
    private List<String> steps = List.of();
    @Option(names = "--watchdog", description = "seconds after which a call counts as waiting forever (default: "
            + "${DEFAULT-VALUE})", defaultValue = "40")
    private int watchdogSeconds;
    @Option(names = "--lanes", description = "rounds at the same time (default: ${DEFAULT-VALUE})", defaultValue = "2")
    private int lanes;
    @Option(names = "--keep-going", description = "continue after a round that finds something")
    private boolean keepsGoing;
    @Option(names = "--throw", description = "instead of rounds, throw an exception at every point inside every "
            + "latched section")
    private boolean isThrowing;
    @Option(names = "--quiet", description = "print nothing about rounds that find nothing")
    private boolean isQuiet;

    private static final int THROWS_AT_EACH = 3;

    private CrashCommand() {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new CrashCommand()).setCaseInsensitiveEnumValuesAllowed(true).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Children children = Children.prepare();
        children.limitSteps(steps);
        if (isThrowing) {
            Throwing.Result result = Throwing.run(children, THROWS_AT_EACH, watchdogSeconds);
            System.out.println(result);
            return result.findings().isEmpty() ? 0 : 1;
        }
        Set<Hazard> hazards = only != null ? EnumSet.copyOf(only) : EnumSet.allOf(Hazard.class);
        hazards.removeAll(without);
        Campaign campaign = new Campaign(rounds, seed, Math.min(lanes, rounds), !keepsGoing, hazards, watchdogSeconds);
        Campaign.Result result = campaign.run(children, round -> {
            if (!isQuiet || round.finding() != null) {
                System.out.println(round);
            }
        });
        System.out.println(result);
        return result.failed().isEmpty() ? 0 : 1;
    }
}
