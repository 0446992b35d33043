package dev.norn.sas.agent;

import static dev.norn.sas.agent.Names.*;
import static java.lang.constant.ConstantDescs.CD_MethodHandles_Lookup;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import dev.norn.sas.agent.Shapes.Field;
import dev.norn.sas.agent.Shapes.Shape;
import dev.norn.sas.runtime.SasObject;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.Interfaces;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.classfile.attribute.ConstantValueAttribute;
import java.lang.classfile.attribute.ExceptionsAttribute;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Rewrites one class: its code, so that fields are reached through accessors, and, where its instances may be
 * persistent, what makes them handles. The root of a hierarchy gets the hidden fields and, where it inherits those of
 * Object, equality, hash code and text by address.
 */
final class ClassRewriter {
    private static final int PUBLIC = ClassFile.ACC_PUBLIC | ClassFile.ACC_SYNTHETIC;
    private static final int HIDDEN = ClassFile.ACC_PUBLIC | ClassFile.ACC_SYNTHETIC | ClassFile.ACC_TRANSIENT;
    private static final MethodTypeDesc EQUALS = MethodTypeDesc.of(CD_boolean, OBJECT);
    private static final MethodTypeDesc HASH_CODE = MethodTypeDesc.of(CD_int);
    private static final MethodTypeDesc CLONE = MethodTypeDesc.of(OBJECT);
    private static final MethodTypeDesc TO_STRING = MethodTypeDesc.of(CD_String);

    private static final ClassDesc CLONE_NOT_SUPPORTED = ClassDesc.of("java.lang.CloneNotSupportedException");

    /** A method of this length may grow beyond the 65,535 bytes that a method may have. */
    private static final int LARGE_BYTES = 16_000;
    /** Optional dependencies that are not there: the verifier will not ask for them either, unless they are used. */
    private static final ClassHierarchyResolver NOT_THERE =
            name -> ClassHierarchyResolver.ClassHierarchyInfo.ofClass(OBJECT);

    private final Shapes shapes;
    private final int codeBytesMax;
    private final Map<String, String> refusals = new TreeMap<>();
    private final ClassModel model;
    private final Shape shape;
    private final ClassDesc type;
    private final ClassDesc above;

    private ClassRewriter(Shapes shapes, ClassModel model, Shape shape, int codeBytesMax) {
        this.shapes = shapes;
        this.codeBytesMax = codeBytesMax;
        this.model = model;
        this.shape = shape;
        type = ClassDesc.ofInternalName(shape.name());
        above = shape.superName().isEmpty() ? OBJECT : ClassDesc.ofInternalName(shape.superName());
    }

    /** The transformed class file, unless it is one already. */
    static Transformation.Result rewrite(Shapes shapes, byte[] bytes) {
        ClassHierarchyResolver resolver = ClassHierarchyResolver.ofResourceParsing(shapes.loader)
                .orElse(ClassHierarchyResolver.defaultResolver()).orElse(NOT_THERE).cached();
        ClassFile file = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(resolver));
        ClassModel model = file.parse(bytes);
        Shape shape = shapes.add(model);
        if (model.methods().stream().anyMatch(method -> method.methodName().equalsString(LAYOUT))) {
            return new Transformation.Result(null, Map.of());
        }
        try {
            ClassRewriter rewriter = new ClassRewriter(shapes, model, shape, Integer.MAX_VALUE);
            return new Transformation.Result(file.build(model.thisClass().asSymbol(), rewriter::build), Map.of());
        } catch (IllegalArgumentException e) {
            ClassRewriter rewriter = new ClassRewriter(shapes, model, shape, LARGE_BYTES);
            byte[] rewritten = file.build(model.thisClass().asSymbol(), rewriter::build);
            if (rewriter.refusals.isEmpty()) {
                throw e;
            }
            return new Transformation.Result(rewritten, rewriter.refusals);
        }
    }

    private void build(ClassBuilder builder) {
        for (ClassElement element : model) {
            switch (element) {
                case MethodModel method -> copyMethod(builder, method);
                case FieldModel field when shape.isManaged() && !field.flags().has(AccessFlag.STATIC) ->
                    copyField(builder, field);
                case Interfaces interfaces when shape.isManaged() && shape.isRoot() ->
                        addInterface(builder, interfaces);
                default -> builder.with(element);
            }
        }
        if (shape.isManaged()) {
            new Accessors(shapes, shape).build(builder);
            if (shape.isRoot()) {
                if (model.interfaces().isEmpty()) {
                    builder.withInterfaceSymbols(SAS_OBJECT);
                }
                buildRoot(builder);
            }
            buildHandle(builder);
            keepSerialForm(builder);
        }
    }

    /** The number that serialization derives from members, which are more now, is that of the class as it was. */
    private void keepSerialForm(ClassBuilder builder) {
        boolean isDeclared = model.fields().stream()
                .anyMatch(field -> field.fieldName().equalsString(SerialVersion.FIELD));
        if (!isDeclared && !shape.isRecord() && shapes.isBelow(shape.name(), "java/io/Serializable")) {
            builder.withField(SerialVersion.FIELD, CD_long, field -> field
                    .withFlags(ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC | ClassFile.ACC_FINAL
                            | ClassFile.ACC_SYNTHETIC)
                    .with(ConstantValueAttribute.of(SerialVersion.of(model))));
        }
    }

    private static void addInterface(ClassBuilder builder, Interfaces interfaces) {
        List<ClassDesc> all = new ArrayList<>(interfaces.interfaces().stream().map(entry -> entry.asSymbol()).toList());
        all.add(SAS_OBJECT);
        builder.withInterfaceSymbols(all);
    }

    /** A handle's fields change with what it holds, so no field is final. */
    private static void copyField(ClassBuilder builder, FieldModel field) {
        builder.transformField(field, (fields, element) -> {
            if (element instanceof java.lang.classfile.AccessFlags flags) {
                fields.withFlags(flags.flagsMask() & ~ClassFile.ACC_FINAL);
            } else {
                fields.with(element);
            }
        });
    }

    private void copyMethod(ClassBuilder builder, MethodModel method) {
        if (method.findAttribute(Attributes.code()).map(CodeAttribute::codeLength).orElse(0) > codeBytesMax) {
            leave(method);
            builder.with(method);
            return;
        }
        builder.transformMethod(method, (methods, element) -> {
            if (element instanceof CodeModel code) {
                CodeRewriter rewriter = new CodeRewriter(shapes, shape, method);
                methods.transformCode(code, rewriter);
            } else if (element instanceof java.lang.classfile.AccessFlags flags
                    && SynchronizedBody.replaces(shape, method)) {
                methods.withFlags(flags.flagsMask() & ~ClassFile.ACC_SYNCHRONIZED);
            } else {
                methods.with(element);
            }
        });
    }

    /**
     * Leaves a method as it is. It sees plain fields, so classes whose fields it uses cannot have persistent instances.
     */
    private void leave(MethodModel method) {
        String reason = "method " + method.methodName().stringValue() + " of " + shape.name().replace('/', '.')
                + " uses its fields, and is too large to be transformed";
        for (CodeElement element : method.code().orElseThrow()) {
            if (element instanceof FieldInstruction field
                    && (field.opcode() == Opcode.GETFIELD || field.opcode() == Opcode.PUTFIELD)) {
                Shape declaring = shapes.declaring(field.owner().asInternalName(), field.name().stringValue(),
                        field.type().stringValue());
                if (declaring != null) {
                    refusals.put(declaring.name().replace('/', '.'), reason);
                }
            }
        }
        refusals.putIfAbsent(shape.name().replace('/', '.'),
                "its method " + method.methodName().stringValue() + " is too large to be transformed");
    }

    private boolean declares(String name, MethodTypeDesc descriptor) {
        return model.methods().stream().anyMatch(method -> method.methodName().equalsString(name)
                && method.methodTypeSymbol().equals(descriptor));
    }

    private void buildRoot(ClassBuilder builder) {
        builder.withField(REFERENCE, CD_long, HIDDEN);
        builder.withField(HOLDER, THREAD, HIDDEN);
        builder.withMethodBody(REFERENCE, MethodTypeDesc.of(CD_long), PUBLIC,
                code -> pushWithout(code, SasObject.MARKS).lreturn());
        builder.withMethodBody(WORD, MethodTypeDesc.of(CD_long), PUBLIC,
                code -> code.aload(0).getfield(type, REFERENCE, CD_long).lreturn());
        builder.withMethodBody(IS_WRITABLE, MethodTypeDesc.of(CD_boolean), PUBLIC, code -> code.aload(0).getfield(type,
                REFERENCE, CD_long).l2i().loadConstant((int) SasObject.WRITABLE).iand().ireturn());
        builder.withMethodBody(HOLDER, MethodTypeDesc.of(THREAD), PUBLIC,
                code -> code.aload(0).getfield(type, HOLDER, THREAD).areturn());
        builder.withMethodBody(HOLDER, MethodTypeDesc.of(CD_void, THREAD), PUBLIC,
                code -> code.aload(0).aload(1).putfield(type, HOLDER, THREAD).return_());
        builder.withMethodBody(BIND, MethodTypeDesc.of(CD_void, CD_long), PUBLIC,
                code -> code.aload(0).lload(1).putfield(type, REFERENCE, CD_long).return_());
        builder.withMethodBody(LEAVE, MethodTypeDesc.of(CD_void, THREAD, THREAD), PUBLIC, this::buildLeave);
        boolean isInheritedFinal = (shape.cloneFlags() & ClassFile.ACC_FINAL) != 0;
        if (!declares("clone", CLONE) && !isInheritedFinal) {
            // An inherited clone would make a second handle of the object, for any caller.
            int visibility = shape.cloneFlags() & (ClassFile.ACC_PUBLIC | ClassFile.ACC_PROTECTED)
                    | ClassFile.ACC_SYNTHETIC;
            builder.withMethod("clone", CLONE, visibility,
                    method -> method.with(ExceptionsAttribute.ofSymbols(CLONE_NOT_SUPPORTED)).withCode(code ->
                            CodeRewriter.copy(code.aload(0).invokespecial(above, "clone", CLONE).aload(0)).areturn()));
        }
        if (shape.inheritsText() && !declares("toString", TO_STRING)) {
            builder.withMethodBody("toString", TO_STRING, PUBLIC, code -> code.aload(0).invokestatic(REFERENCES, "text",
                    MethodTypeDesc.of(CD_String, OBJECT)).areturn());
        }
        if (shape.inheritsIdentity() && !declares("equals", EQUALS)) {
            builder.withMethodBody("equals", EQUALS, PUBLIC, code -> code.aload(0).aload(1).invokestatic(REFERENCES,
                    "same", MethodTypeDesc.of(CD_boolean, OBJECT, OBJECT)).ireturn());
        }
        if (shape.inheritsIdentity() && !declares("hashCode", HASH_CODE)) {
            builder.withMethodBody("hashCode", HASH_CODE, PUBLIC, code -> code.aload(0).invokestatic(REFERENCES,
                    "identityHashCode", MethodTypeDesc.of(CD_int, OBJECT)).ireturn());
        }
    }

    /** Pushes the reference word without some of its marks. */
    private CodeBuilder pushWithout(CodeBuilder code, long marks) {
        return code.aload(0).getfield(type, REFERENCE, CD_long).loadConstant(~marks).land();
    }

    private void buildLeave(CodeBuilder code) {
        Label end = code.newLabel();
        code.aload(0).getfield(type, HOLDER, THREAD).aload(1).if_acmpne(end);
        code.aload(0);
        pushWithout(code, SasObject.WRITABLE).putfield(type, REFERENCE, CD_long);
        code.aload(0).aload(2).putfield(type, HOLDER, THREAD);
        code.labelBinding(end).return_();
    }

    private void buildHandle(ClassBuilder builder) {
        builder.withMethodBody(INIT_NAME, HANDLE_CONSTRUCTOR, PUBLIC, code -> {
            if (shape.isRoot()) {
                code.aload(0).invokespecial(above, INIT_NAME, MethodTypeDesc.of(CD_void));
                code.aload(0).lload(2).putfield(type, REFERENCE, CD_long);
                code.aload(0).invokestatic(NOBODY, "get", MethodTypeDesc.of(THREAD)).putfield(type, HOLDER, THREAD);
            } else {
                code.aload(0).aload(1).lload(2).invokespecial(above, INIT_NAME, HANDLE_CONSTRUCTOR);
            }
            code.return_();
        });
        int hidden = ClassFile.ACC_STATIC | ClassFile.ACC_SYNTHETIC;
        if ((shape.flags() & ClassFile.ACC_ABSTRACT) == 0) {
            builder.withMethodBody(NEW, MethodTypeDesc.of(OBJECT, CD_long), hidden, code -> code.new_(type).dup()
                    .aconst_null().lload(0).invokespecial(type, INIT_NAME, HANDLE_CONSTRUCTOR).areturn());
        }
        builder.withMethodBody(LAYOUT, MethodTypeDesc.of(CD_String), hidden,
                code -> code.loadConstant(shapes.layout(shape)).areturn());
        builder.withMethodBody(LOOKUP, MethodTypeDesc.of(CD_MethodHandles_Lookup), hidden, code -> code.invokestatic(
                ClassDesc.ofInternalName("java/lang/invoke/MethodHandles"), "lookup",
                MethodTypeDesc.of(CD_MethodHandles_Lookup)).areturn());
        builder.withMethodBody(LOAD, MethodTypeDesc.of(CD_void, CD_long), PUBLIC, this::buildLoad);
        builder.withMethodBody(SAVE, MethodTypeDesc.of(CD_void, CD_long), PUBLIC, this::buildSave);
        builder.withMethodBody(STORE, MethodTypeDesc.of(CD_void), PUBLIC, this::buildStore);
        builder.withMethodBody(SETTLE, MethodTypeDesc.of(CD_void), PUBLIC, this::buildSettle);
        builder.withMethodBody(COPY, MethodTypeDesc.of(CD_void, SAS_OBJECT), PUBLIC, this::buildCopy);
        builder.withMethodBody(DROP, MethodTypeDesc.of(CD_void), PUBLIC, this::buildDrop);
    }

    /** With the object's offset in the second local variable: pushes the address of a field. */
    private static CodeBuilder pushAddress(CodeBuilder code, Field field) {
        return code.lload(1).loadConstant((long) field.offset()).ladd();
    }

    private void buildLoad(CodeBuilder code) {
        if (!shape.isRoot()) {
            code.aload(0).lload(1).invokespecial(above, LOAD, MethodTypeDesc.of(CD_void, CD_long));
        }
        for (Field field : shape.fields()) {
            ClassDesc its = ClassDesc.ofDescriptor(field.descriptor());
            if (its.isPrimitive()) {
                pushAddress(code.aload(0), field)
                        .invokestatic(MEMORY, "get" + word(its), MethodTypeDesc.of(its, CD_long));
                code.putfield(type, field.name(), its);
            } else if (shapes.isManagedType(field.descriptor())) {
                // Stored only if it changes: a store into an old handle is dear for the collector.
                Label current = code.newLabel();
                pushAddress(code.aload(0).getfield(type, field.name(), its), field);
                code.invokestatic(REFERENCES, "isCurrent", MethodTypeDesc.of(CD_boolean, OBJECT, CD_long))
                        .ifne(current);
                code.aload(0).aconst_null().putfield(type, field.name(), its).labelBinding(current);
            }
        }
        code.return_();
    }

    private void buildSave(CodeBuilder code) {
        if (!shape.isRoot()) {
            code.aload(0).lload(1).invokespecial(above, SAVE, MethodTypeDesc.of(CD_void, CD_long));
        }
        for (Field field : shape.fields()) {
            ClassDesc its = ClassDesc.ofDescriptor(field.descriptor());
            if (its.isPrimitive()) {
                pushAddress(code, field).aload(0).getfield(type, field.name(), its);
                code.invokestatic(MEMORY, "put" + word(its), MethodTypeDesc.of(CD_void, CD_long, its));
            }
        }
        code.return_();
    }

    private void buildStore(CodeBuilder code) {
        if (!shape.isRoot()) {
            code.aload(0).invokespecial(above, STORE, MethodTypeDesc.of(CD_void));
        }
        for (Field field : shape.fields()) {
            if (field.isReference()) {
                code.aload(0).loadConstant(field.offset()).aload(0)
                        .getfield(type, field.name(), ClassDesc.ofDescriptor(field.descriptor()));
                code.invokestatic(PROMOTION, "store", MethodTypeDesc.of(CD_void, SAS_OBJECT, CD_int, OBJECT));
            }
        }
        code.return_();
    }

    private void buildSettle(CodeBuilder code) {
        if (!shape.isRoot()) {
            code.aload(0).invokespecial(above, SETTLE, MethodTypeDesc.of(CD_void));
        }
        for (Field field : shape.fields()) {
            ClassDesc its = ClassDesc.ofDescriptor(field.descriptor());
            if (shapes.mayKeep(field.descriptor())) {
                code.aload(0).aload(0).getfield(type, field.name(), its)
                        .invokestatic(REFERENCES, "cacheable", MethodTypeDesc.of(OBJECT, OBJECT));
                code.checkcast(its).putfield(type, field.name(), its);
            } else if (field.isReference()) {
                code.aload(0).aconst_null().putfield(type, field.name(), its);
            }
        }
        code.return_();
    }

    private void buildCopy(CodeBuilder code) {
        if (!shape.isRoot()) {
            code.aload(0).aload(1).invokespecial(above, COPY, MethodTypeDesc.of(CD_void, SAS_OBJECT));
        }
        for (Field field : shape.fields()) {
            ClassDesc its = ClassDesc.ofDescriptor(field.descriptor());
            code.aload(0).aload(1).checkcast(type).invokestatic(type, getter(field.name()), getterType(type, its));
            code.putfield(type, field.name(), its);
        }
        code.return_();
    }

    private void buildDrop(CodeBuilder code) {
        if (!shape.isRoot()) {
            code.aload(0).invokespecial(above, DROP, MethodTypeDesc.of(CD_void));
        }
        for (Field field : shape.fields()) {
            if (shapes.mayKeep(field.descriptor())) {
                code.aload(0).aconst_null().putfield(type, field.name(), ClassDesc.ofDescriptor(field.descriptor()));
            }
        }
        code.return_();
    }
}
