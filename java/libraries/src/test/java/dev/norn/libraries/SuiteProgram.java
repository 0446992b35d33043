package dev.norn.libraries;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * What child JVMs run: {@code JAR OUT INCLUDED EXCLUDED}, the tests of a library's own suite whose classes match one
 * expression and not the other. Each test's outcome becomes a line: its unique id, a tab, {@code SUCCESSFUL},
 * {@code FAILED} or {@code ABORTED}, a tab, and the first line of what it threw.
 */
final class SuiteProgram {
    private SuiteProgram() {}

    public static void main(String[] arguments) throws IOException {
        // Suites of JUnit 3 style name their classes in many ways, so what is a test is for the engines to find.
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClasspathRoots(Set.of(Path.of(arguments[0]))))
                .filters(ClassNameFilter.includeClassNamePatterns(arguments[2]),
                        ClassNameFilter.excludeClassNamePatterns(arguments[3])).build();
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(Path.of(arguments[1])))) {
            LauncherFactory.create().execute(request, new Lines(out));
        }
        // Some suites do not end their threads.
        System.exit(0);
    }

    private record Lines(PrintWriter out) implements TestExecutionListener {
        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            boolean isFailedContainer = test.isContainer() && result.getStatus() == TestExecutionResult.Status.FAILED;
            if (test.isTest() || isFailedContainer) {
                String thrown = result.getThrowable().map(Throwable::toString).orElse("").lines()
                        .findFirst().orElse("");
                synchronized (this) {
                    out.println(test.getUniqueId().replace('\t', ' ').replace('\n', ' ') + "\t"
                            + result.getStatus() + "\t" + thrown);
                }
                result.getThrowable()
                        .filter(ignored -> Boolean.getBoolean("libraries.trace")).ifPresent(Throwable::printStackTrace);
            }
        }
    }
}
