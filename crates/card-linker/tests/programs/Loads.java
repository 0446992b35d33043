import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Says of mutants of class files whether the JDK's verifier takes them. Arguments: the originals, the mutants. */
final class Loads extends ClassLoader {
    private final Path originals;
    private final String name;
    private final byte[] mutant;

    private Loads(Path originals, String name, byte[] mutant) {
        super(null);
        this.originals = originals;
        this.name = name;
        this.mutant = mutant;
    }

    @Override
    protected Class<?> findClass(String wanted) throws ClassNotFoundException {
        try {
            Path path = originals.resolve(wanted.replace('.', '/') + ".class");
            byte[] bytes = wanted.equals(name) ? mutant : Files.readAllBytes(path);
            return defineClass(null, bytes, 0, bytes.length);
        } catch (IOException missing) {
            throw new ClassNotFoundException(wanted, missing);
        }
    }

    /** Each mutant's name is its class's, an at sign and a number. */
    public static void main(String[] arguments) throws IOException {
        Path originals = Path.of(arguments[0]);
        try (DirectoryStream<Path> mutants = Files.newDirectoryStream(Path.of(arguments[1]))) {
            for (Path path : mutants) {
                String name = path.getFileName().toString().split("@")[0];
                String verdict = verdict(new Loads(originals, name, Files.readAllBytes(path)));
                System.out.println(path.getFileName() + " " + verdict);
            }
        }
    }

    private static String verdict(Loads loader) {
        try {
            Class.forName(loader.name, true, loader);
            return "taken";
        } catch (ExceptionInInitializerError thrown) {
            return "taken";
        } catch (Throwable refused) {
            return refused.getClass().getSimpleName() + " " + refused.getMessage().replace('\n', ' ');
        }
    }
}
