package dev.norn.sas.agent;

import dev.norn.sas.runtime.Classes;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.List;

/**
 * The agent: {@code -javaagent:norn-sas.jar=packages=com.acme,org.example}. Classes of these packages, and of packages
 * below them, are transformed when they are loaded, so that their instances may be persistent. Other agents may precede
 * and follow it on the command line.
 */
public final class Agent {
    private static final int ARGUMENT_STATUS = 2;

    private Agent() {}

    /**
     * Ends the JVM with status 2 and a message if the argument is not of the form {@code packages=…}. An exception
     * would abort it, with a trace of the JVM's own code.
     */
    public static void premain(String argument, Instrumentation instrumentation) {
        try {
            agentmain(argument, instrumentation);
        } catch (IllegalArgumentException e) {
            System.err.println("sas: " + e.getMessage());
            System.exit(ARGUMENT_STATUS);
        }
    }

    /**
     * The same in a JVM that runs: {@code java -jar norn-sas.jar}, where only the collections are transformed, does
     * this.
     *
     * @throws IllegalArgumentException if the argument is not of the form {@code packages=…}
     */
    public static void agentmain(String argument, Instrumentation instrumentation) {
        List<String> packages = argument == null || argument.isEmpty() ? List.of() : packages(argument);
        Classes.agent(packages);
        instrumentation.addTransformer(new Transformer(new Transformation(packages)));
    }

    private static List<String> packages(String argument) {
        if (!argument.startsWith("packages=")) {
            throw new IllegalArgumentException("-javaagent:norn-sas.jar takes packages=NAME,NAME…, not " + argument);
        }
        List<String> packages = List.of(argument.substring("packages=".length()).split("[,:]"));
        try {
            packages.forEach(PackageName::require);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("-javaagent:norn-sas.jar=" + argument + ": " + e.getMessage(), e);
        }
        return packages;
    }

    private record Transformer(Transformation transformation) implements ClassFileTransformer {
        /**
         * Also what a debugger brings in the place of a loaded class is transformed: otherwise it would lack methods,
         * which the JVM refuses.
         */
        @Override
        public byte[] transform(Module module, ClassLoader loader, String name, Class<?> redefined,
                ProtectionDomain domain, byte[] bytes) {
            if (name == null || loader == null || !Transformation.mayInclude(name)) {
                return null;
            }
            try {
                if (!transformation.includes(name)) {
                    warn(name.replace('/', '.'), transformation.fieldUsed(loader, bytes));
                    return null;
                }
                Transformation.Result result = transformation.transform(loader, name, bytes);
                result.refusals().forEach((refused, reason) -> {
                    System.err.println("sas: instances of " + refused + " cannot be persistent: " + reason);
                    Classes.refuse(refused, reason);
                });
                return result.bytes();
            } catch (Throwable e) {
                // The JVM drops what a transformer throws, and would load the class as it is, while others call what it
                // lacks.
                System.err.println("sas: " + name.replace('/', '.') + " cannot be transformed: " + e);
                if (Boolean.getBoolean("sas.trace")) {
                    e.printStackTrace();
                }
                return null;
            }
        }

        private static void warn(String name, String field) {
            if (field != null) {
                System.err.println("sas: " + name + " uses the field " + field + " directly, but is not transformed: "
                        + "it would not read a persistent object's values, and its stores would be lost. "
                        + "Add its package to -javaagent:norn-sas.jar=packages=…");
            }
        }
    }
}
