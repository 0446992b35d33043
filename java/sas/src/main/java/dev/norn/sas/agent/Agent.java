package dev.norn.sas.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;

/**
 * The agent: {@code -javaagent:norn-sas.jar=packages=com.acme,org.example}. Classes of these packages, and of packages below them, are transformed when they are loaded, so that
 * their instances may be persistent.
 */
public final class Agent {
    private static final String OWN = "dev/norn/sas/";
    private static final String COLLECTIONS = "dev/norn/sas/util/";
    private static final String EXAMPLES = "dev/norn/sas/example/";

    private Agent() {}

    /** @throws IllegalArgumentException if the argument is not of the form {@code packages=…} */
    public static void premain(String argument, Instrumentation instrumentation) {
        List<String> packages = new ArrayList<>(List.of(COLLECTIONS));
        if (argument != null && !argument.isEmpty()) {
            if (!argument.startsWith("packages=")) {
                throw new IllegalArgumentException("-javaagent:norn-sas.jar takes packages=NAME,NAME…, not " + argument);
            }
            for (String name : argument.substring("packages=".length()).split("[,:]")) {
                packages.add(name.replace('.', '/') + "/");
            }
        }
        instrumentation.addTransformer(new Transformer(packages));
    }

    /** The same for {@code java -jar norn-sas.jar}, where only the collections are transformed. */
    public static void agentmain(String argument, Instrumentation instrumentation) {
        premain(argument, instrumentation);
    }

    private record Transformer(List<String> packages) implements ClassFileTransformer {
        @Override
        public byte[] transform(Module module, ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
            if (name == null || loader == null || redefined != null || !isOurs(name)) {
                return null;
            }
            try {
                return ClassRewriter.rewrite(new Shapes(loader, this::isOurs), name, bytes);
            } catch (Throwable e) {
                // The JVM drops what a transformer throws, and would load the class as it is.
                System.err.println("sas: " + name.replace('/', '.') + " cannot be transformed, so its instances cannot be persistent: " + e);
                if (Boolean.getBoolean("sas.trace")) {
                    e.printStackTrace();
                }
                return null;
            }
        }

        private boolean isOurs(String name) {
            if (name.startsWith(OWN) && !name.startsWith(COLLECTIONS) && !name.startsWith(EXAMPLES)) {
                return false;
            }
            return packages.stream().anyMatch(name::startsWith);
        }
    }
}
