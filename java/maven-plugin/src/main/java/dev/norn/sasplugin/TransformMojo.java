package dev.norn.sasplugin;

import dev.norn.sas.agent.ClassTree;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;

/**
 * Transforms the classes that were compiled, so that their instances may be persistent without an agent. The program
 * still needs norn-sas.jar on its class path.
 */
@Mojo(name = "transform", defaultPhase = LifecyclePhase.PROCESS_CLASSES,
        requiresDependencyResolution = ResolutionScope.COMPILE, threadSafe = true)
public final class TransformMojo extends AbstractMojo {
    /** Packages whose classes are transformed, and those below them. */
    @Parameter(property = "sas.packages", required = true)
    private List<String> packages;

    /** Where the class files are. */
    @Parameter(defaultValue = "${project.build.outputDirectory}", required = true)
    private File classesDirectory;

    /** Where the classes that these extend and use are. */
    @Parameter(defaultValue = "${project.compileClasspathElements}", readonly = true, required = true)
    private List<String> classPath;

    /**
     * @throws MojoFailureException if a class cannot have persistent instances because a method of it is too large
     * @throws MojoExecutionException if a class file cannot be read, transformed or written
     */
    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        if (!classesDirectory.isDirectory()) {
            getLog().info("no classes in " + classesDirectory);
            return;
        }
        try {
            ClassTree.Result result = new ClassTree(classesDirectory.toPath(),
                    classPath.stream().map(Path::of).toList()).transform(packages);
            if (result.isOfAnyUse()) {
                getLog().info(result + " in " + classesDirectory);
            } else {
                getLog().warn(result.complaint(classesDirectory.toPath(), packages));
            }
            if (!result.refusals().isEmpty()) {
                throw new MojoFailureException("instances of these cannot be persistent: " + result.refusals());
            }
        } catch (IOException | IllegalArgumentException e) {
            throw new MojoExecutionException("cannot transform the classes in "
                    + classesDirectory + ": " + e.getMessage(), e);
        }
    }
}
