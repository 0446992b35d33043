package dev.norn.sas.command;

import dev.norn.sas.Store;
import picocli.CommandLine;

/**
 * What {@code --version} prints of the commands {@code sas} and {@code bobc}: the version of norn-sas.jar, by its
 * manifest.
 */
public final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
        String version = Store.class.getPackage().getImplementationVersion();
        String named = version == null ? "of no version: its classes are not in norn-sas.jar" : version;
        return new String[] {"Norn SAS " + named + ", Java " + Runtime.version()};
    }
}
