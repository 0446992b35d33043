package dev.norn.sas.agent;

import java.util.regex.Pattern;

/** A package whose classes are to be transformed, as a person writes its name. */
final class PackageName {
    private static final Pattern NAME = Pattern.compile("[\\p{L}_$][\\p{L}\\p{N}_$]*(\\.[\\p{L}_$][\\p{L}\\p{N}_$]*)*");
    private static final Pattern OF_THE_JDK = Pattern.compile("(java|jdk|sun)(\\..*)?");

    private PackageName() {}

    /** @throws IllegalArgumentException that says what is wrong with the name */
    static void require(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("'" + name + "' is not a package name: write com.acme; several names "
                    + "are separated by commas; "
                    + "subpackages are included");
        }
        if (OF_THE_JDK.matcher(name).matches()) {
            throw new IllegalArgumentException("classes of " + name
                    + " belong to the JDK and are not transformed: name the packages of your own classes");
        }
        if (!Transformation.mayInclude(name.replace('.', '/') + "/")) {
            throw new IllegalArgumentException("classes of " + name
                    + " belong to SAS itself and are not transformed: name the packages of your own classes");
        }
    }
}
