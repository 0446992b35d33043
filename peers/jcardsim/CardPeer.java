import com.licel.jcardsim.base.Simulator;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import javacard.framework.AID;
import javacard.framework.Applet;

/**
 * Sends the commands of a script to applets in jCardSim, and prints the answers as {@code norn card apdu} does.
 *
 * <p>Arguments: the script, whose lines are as {@code norn card apdu --script} takes them, and for each applet
 * {@code JAR,CLASS,AID,PARAMETERS}; jars that only others need have no comma.
 */
public final class CardPeer {
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private CardPeer() {
    }

    public static void main(String[] arguments) throws Exception {
        // jCardSim prints of its own.
        PrintStream out = System.out;
        System.setOut(System.err);
        List<URL> jars = new ArrayList<>();
        for (int number = 1; number < arguments.length; number++) {
            jars.add(new File(arguments[number].split(",")[0]).toURI().toURL());
        }
        ClassLoader loader = new URLClassLoader(jars.toArray(new URL[0]), CardPeer.class.getClassLoader());
        Simulator card = new Simulator();
        for (int number = 1; number < arguments.length; number++) {
            String[] words = arguments[number].split(",", -1);
            if (words.length > 1) {
                install(card, loader, words[1], HEX.parseHex(words[2]), HEX.parseHex(words[3]));
            }
        }
        StringBuilder answers = new StringBuilder();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String command = line.split("[=#]")[0].replace(" ", "");
            if (command.equals("reset")) {
                card.reset();
                answers.append("-- reset\n");
            } else if (!command.isEmpty()) {
                answers.append("> ").append(command).append("\n< ").append(text(card, command)).append('\n');
            }
        }
        out.print(answers);
    }

    private static String text(Simulator card, String command) {
        byte[] answer = card.transmitCommand(HEX.parseHex(command));
        String digits = HEX.formatHex(answer);
        String data = digits.substring(0, digits.length() - 4);
        return (data.isEmpty() ? "" : data + " ") + digits.substring(digits.length() - 4);
    }

    private static void install(Simulator card, ClassLoader loader, String name, byte[] aid, byte[] parameters)
            throws Exception {
        Class<? extends Applet> applet = loader.loadClass(name).asSubclass(Applet.class);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.write(aid.length);
        bytes.write(aid);
        bytes.write(0);
        bytes.write(parameters.length);
        bytes.write(parameters);
        card.installApplet(new AID(aid, (short) 0, (byte) aid.length), applet, bytes.toByteArray(), (short) 0,
                (byte) bytes.size());
    }
}
