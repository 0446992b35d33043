package dev.norn.sas.agent;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A directory of class files that a build made, transformed in place, so that no agent is needed when they run. What is transformed already stays as it is, so doing it again after
 * some classes were compiled anew is right.
 */
public final class ClassTree {
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
     * @param refusals classes whose instances cannot be persistent, and why
     */
    public record Result(int transformed, Map<String, String> refusals) {}

    /**
     * Transforms the classes of these packages and of those below them. Each file is replaced as a whole.
     *
     * @throws IOException if a file cannot be read or written, with its name
     * @throws IllegalArgumentException if a class file is damaged, with its name
     */
    public Result transform(List<String> packages) throws IOException {
        Transformation transformation = new Transformation(packages);
        int count = 0;
        Map<String, String> refusals = new TreeMap<>();
        try (URLClassLoader loader = loader()) {
            for (Path file : files()) {
                String name = directory.relativize(file).toString().replace('\\', '/').replaceAll("\\.class$", "");
                if (transformation.includes(name)) {
                    Transformation.Result result = transform(transformation, loader, name, file);
                    refusals.putAll(result.refusals());
                    if (result.bytes() != null) {
                        replace(file, result.bytes());
                        count++;
                    }
                }
            }
        }
        return new Result(count, refusals);
    }

    private static Transformation.Result transform(Transformation transformation, ClassLoader loader, String name, Path file) throws IOException {
        try {
            return transformation.transform(loader, name, Files.readAllBytes(file));
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(file + " cannot be transformed: " + e.getMessage(), e);
        }
    }

    private List<Path> files() throws IOException {
        try (var all = Files.walk(directory)) {
            return all.filter(path -> path.toString().endsWith(".class") && !path.endsWith("module-info.class")).sorted().toList();
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
