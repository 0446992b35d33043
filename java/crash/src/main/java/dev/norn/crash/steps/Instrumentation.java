package dev.norn.crash.steps;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Puts a step in front of every call in the store's classes, and after those calls whose end is a place of its own.
 * Numbers the sites as it meets them.
 */
final class Instrumentation {
    private static final ClassDesc STEPS = ClassDesc.of("dev.norn.crash.program.Steps");
    private static final MethodTypeDesc AT = MethodTypeDesc.of(CD_void, CD_int);

    private final ClassFile files;
    private final List<String> sites = new ArrayList<>();

    Instrumentation(ClassLoader loader) {
        files = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(loader)
                .orElse(ClassHierarchyResolver.defaultResolver())));
    }

    /** The steps that were put in, by their numbers: a {@link Site}, and {@code before} or {@code after}. */
    List<String> sites() {
        return sites;
    }

    byte[] instrument(byte[] bytes) {
        ClassModel type = files.parse(bytes);
        Map<String, Integer> ordinals = new HashMap<>();
        return files.transformClass(type, (builder, element) -> {
            if (element instanceof MethodModel method && method.code().isPresent()) {
                builder.transformMethod(method, (methodBuilder, part) -> {
                    if (part instanceof CodeModel code) {
                        String name = name(type, method);
                        methodBuilder.transformCode(code,
                                (codeBuilder, instruction) -> add(codeBuilder, instruction, name, ordinals));
                    } else {
                        methodBuilder.with(part);
                    }
                });
            } else {
                builder.with(element);
            }
        });
    }

    private void add(CodeBuilder code, CodeElement element, String method, Map<String, Integer> ordinals) {
        if (!(element instanceof InvokeInstruction call) || call.name().equalsString("<init>")) {
            code.with(element);
            return;
        }
        String callee = simpleName(call.owner().asInternalName()) + "." + call.name().stringValue();
        Site site = new Site(method, callee, ordinals.merge(method + callee, 1, Integer::sum));
        step(code, site + " before");
        code.with(element);
        step(code, site + " after");
    }

    private void step(CodeBuilder code, String name) {
        code.loadConstant(sites.size()).invokestatic(STEPS, "at", AT);
        sites.add(name);
    }

    private static String name(ClassModel type, MethodModel method) {
        return simpleName(type.thisClass().asInternalName()) + "."
                + method.methodName().stringValue().replaceAll("^lambda\\$(.+)\\$\\d+$", "$1");
    }

    private static String simpleName(String internalName) {
        return internalName.substring(internalName.lastIndexOf('/') + 1);
    }
}
