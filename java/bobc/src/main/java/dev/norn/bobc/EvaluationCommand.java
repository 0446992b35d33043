package dev.norn.bobc;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
@Command(name = "evaluation", description = "x")
final class EvaluationCommand implements Callable<Integer> {
    @Override
    public Integer call() { return 0; }
}
