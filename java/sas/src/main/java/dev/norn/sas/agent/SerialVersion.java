package dev.norn.sas.agent;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.constant.ConstantDescs;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.List;

/**
 * The version number that serialization gives a class which declares none: a digest of its name and members (Java
 * Object Serialization Specification, section 4.6).
 */
final class SerialVersion {
    static final String FIELD = "serialVersionUID";
    private static final int OF_CLASS = ClassFile.ACC_PUBLIC | ClassFile.ACC_FINAL | ClassFile.ACC_INTERFACE
            | ClassFile.ACC_ABSTRACT;
    private static final int OF_FIELD = ClassFile.ACC_PUBLIC | ClassFile.ACC_PRIVATE | ClassFile.ACC_PROTECTED
            | ClassFile.ACC_STATIC | ClassFile.ACC_FINAL | ClassFile.ACC_VOLATILE | ClassFile.ACC_TRANSIENT;
    private static final int OF_METHOD = ClassFile.ACC_PUBLIC | ClassFile.ACC_PRIVATE | ClassFile.ACC_PROTECTED
            | ClassFile.ACC_STATIC | ClassFile.ACC_FINAL | ClassFile.ACC_SYNCHRONIZED | ClassFile.ACC_NATIVE
            | ClassFile.ACC_ABSTRACT | ClassFile.ACC_STRICT;

    private SerialVersion() {}

    /** The number of a class that is no interface, as its class file says. */
    static long of(ClassModel model) {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            write(model, out);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA").digest(bytes.toByteArray());
            long number = 0;
            for (int i = 7; i >= 0; i--) {
                number = number << 8 | digest[i] & 0xFF;
            }
            return number;
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has it", e);
        }
    }

    private static void write(ClassModel model, DataOutputStream out) throws IOException {
        out.writeUTF(model.thisClass().asInternalName().replace('/', '.'));
        out.writeInt(modifiers(model) & OF_CLASS);
        for (String name : model.interfaces().stream()
                .map(entry -> entry.asInternalName().replace('/', '.')).sorted().toList()) {
            out.writeUTF(name);
        }
        for (FieldModel field : model.fields().stream()
                .sorted(Comparator.comparing(field -> field.fieldName().stringValue())).toList()) {
            int flags = field.flags().flagsMask() & OF_FIELD;
            boolean isHidden = (flags & ClassFile.ACC_PRIVATE) != 0
                    && (flags & (ClassFile.ACC_STATIC | ClassFile.ACC_TRANSIENT)) != 0;
            if (!isHidden) {
                out.writeUTF(field.fieldName().stringValue());
                out.writeInt(flags);
                out.writeUTF(field.fieldType().stringValue());
            }
        }
        if (model.methods().stream()
                .anyMatch(method -> method.methodName().equalsString(ConstantDescs.CLASS_INIT_NAME))) {
            out.writeUTF(ConstantDescs.CLASS_INIT_NAME);
            out.writeInt(ClassFile.ACC_STATIC);
            out.writeUTF("()V");
        }
        writeMethods(visible(model, true), out);
        writeMethods(visible(model, false), out);
    }

    /** A nested class's flags are those of its declaration. */
    private static int modifiers(ClassModel model) {
        int own = model.flags().flagsMask();
        return model.findAttribute(java.lang.classfile.Attributes.innerClasses()).stream()
                .flatMap(inner -> inner.classes().stream())
                .filter(inner -> inner.innerClass().asInternalName().equals(model.thisClass().asInternalName()))
                .map(inner -> inner.flagsMask()).findFirst().orElse(own);
    }

    private static List<MethodModel> visible(ClassModel model, boolean isConstructor) {
        return model.methods().stream()
                .filter(method -> method.methodName().equalsString(ConstantDescs.INIT_NAME) == isConstructor
                        && !method.methodName().equalsString(ConstantDescs.CLASS_INIT_NAME)
                        && (method.flags().flagsMask() & ClassFile.ACC_PRIVATE) == 0)
                .sorted(Comparator.comparing((MethodModel method) -> method.methodName().stringValue())
                        .thenComparing(method -> method.methodType().stringValue()))
                .toList();
    }

    private static void writeMethods(List<MethodModel> methods, DataOutputStream out) throws IOException {
        for (MethodModel method : methods) {
            out.writeUTF(method.methodName().stringValue());
            out.writeInt(method.flags().flagsMask() & OF_METHOD);
            out.writeUTF(method.methodType().stringValue().replace('/', '.'));
        }
    }
}
