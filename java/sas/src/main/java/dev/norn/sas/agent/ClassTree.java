package dev.norn.sas.agent;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A directory of class files that a build made, transformed in place, so that no agent is needed when they run. What is
 * transformed already stays as it is, so doing it again after some classes were compiled anew is right.
 */
public final class ClassTree {
    private static final int NAMED_MAX = 5;

    private final Path directory;
    private final List<Path> classPath;

    /** @param classPath where the classes that these extend and use are, as directories and jars */
    public ClassTree(Path directory, List<Path> classPath) {
        this.directory = directory;
        this.classPath = classPath;
    }

    /**
     * What was done.
     *
     * @param transformed the number of classes that were changed
     * @param unchanged the number of classes of the packages that were transformed already
     * @param others packages whose classes were left, since they are not among those that were named
     * @param refusals classes whose instances cannot be persistent, and why
     */
    public record Result(int transformed, int unchanged, Set<String> others, Map<String, String> refusals) {
        /** Whether the directory has any class of the packages. */
        public boolean isOfAnyUse() {
            return transformed + unchanged > 0;
        }

        @Override
        public String toString() {
            return (transformed == 1 ? "1 class" : "%,d classes".formatted(transformed)) + " transformed"
                    + (unchanged == 0 ? "" : ", %,d transformed already".formatted(unchanged));
        }

        /** What to say if it was of no use. */
        public String complaint(Path directory, List<String> packages) {
            String wanted = packages.isEmpty() ? "a package that was named (--packages com.acme)"
                    : String.join(" or ", packages);
            String there = String.join(", ", others.stream().limit(NAMED_MAX).toList())
                    + (others.size() > NAMED_MAX ? ", …" : "");
            return "nothing is transformed: no class in " + directory + " is of " + wanted + "; it has "
                    + (others.isEmpty() ? "no classes" : "classes of " + there);
        }
    }

    /**
     * Transforms the classes of these packages and of those below them. Each file is replaced as a whole.
     *
     * @throws IOException if a file cannot be read or written, with its name
     * @throws IllegalArgumentException if a class file is damaged, with its name
     */
    public Result transform(List<String> packages) throws IOException {
        Transformation transformation = new Transformation(packages);
        int count = 0;
        int unchanged = 0;
        Set<String> others = new TreeSet<>();
        Map<String, String> refusals = new TreeMap<>();
        try (URLClassLoader loader = loader()) {
            for (Path file : files()) {
                String name = directory.relativize(file).toString().replace('\\', '/').replaceAll("\\.class$", "");
                if (transformation.includes(name)) {
                    byte[] before = Files.readAllBytes(file);
                    Transformation.Result result = transform(transformation, loader, name, file, before);
                    refusals.putAll(result.refusals());
                    // What has no instances, an interface say, is rewritten each time, to the same.
                    if (result.bytes() != null && !Arrays.equals(before, result.bytes())) {
                        replace(file, result.bytes());
                        count++;
                    } else {
                        unchanged++;
                    }
                } else {
                    others.add(name.contains("/") ? name.substring(0, name.lastIndexOf('/')).replace('/', '.')
                            : "the unnamed package");
                }
            }
        }
        return new Result(count, unchanged, others, refusals);
    }

    private static Transformation.Result transform(Transformation transformation, ClassLoader loader, String name,
            Path file, byte[] bytes) {
        try {
            return transformation.transform(loader, name, bytes);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(file + " cannot be transformed: " + e.getMessage(), e);
        }
    }

    private List<Path> files() throws IOException {
        try (var all = Files.walk(directory)) {
            return all.filter(path -> path.toString().endsWith(".class") && !path.endsWith("module-info.class"))
                    .sorted().toList();
        }
    }

    private static void replace(Path file, byte[] bytes) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.write(fresh, bytes);
        Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    private URLClassLoader loader() throws MalformedURLException {
        List<URL> urls = new ArrayList<>(List.of(directory.toUri().toURL()));
        for (Path path : classPath) {
            urls.add(path.toUri().toURL());
        }
        return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }
}
