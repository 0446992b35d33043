package dev.norn.sas.agent;

import static dev.norn.sas.agent.Names.*;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.norn.sas.agent.Shapes.Field;
import dev.norn.sas.agent.Shapes.Shape;
import dev.norn.sas.runtime.SasObject;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/**
 * The static accessors that getfield and putfield become. A temporary object's field is used as ever, and so is that of
 * a handle that the running thread holds, which has the object's value. Otherwise the runtime says which handle has.
 *
 * <pre>
 * get(object):        if (object.holder == null or the running thread) return object.field;
 *                     return Access.reading(object).field
 * put(object, value): if (object.holder == null, or the running thread and the handle is writable)
 *                         object.field = value;
 *                     else { Access.writing(object).field = value; Access.written() }
 * get of a reference: the same, but a null field of a handle may be one whose target was not asked for yet; it then
 *                     keeps the target. A field that may hold values as well keeps a target, too, but is compared with
 *                     the word in the store each time
 * put of a reference: always into the store; the field keeps the target
 * </pre>
 */
final class Accessors {
    private static final int VISIBILITY = ClassFile.ACC_PUBLIC | ClassFile.ACC_PROTECTED;

    private static final MethodTypeDesc HANDLE_TO_HANDLE = MethodTypeDesc.of(SAS_OBJECT, SAS_OBJECT);

    private final Shapes shapes;
    private final Shape shape;
    private final ClassDesc type;

    Accessors(Shapes shapes, Shape shape) {
        this.shapes = shapes;
        this.shape = shape;
        type = ClassDesc.ofInternalName(shape.name());
    }

    void build(ClassBuilder builder) {
        for (Field field : shape.fields()) {
            ClassDesc its = ClassDesc.ofDescriptor(field.descriptor());
            // A private field is read by its nest, so the accessor is the package's.
            int flags = field.flags() & VISIBILITY | ClassFile.ACC_STATIC | ClassFile.ACC_SYNTHETIC;
            builder.withMethodBody(getter(field.name()), getterType(type, its), flags,
                    code -> buildGet(named(code), field, its));
            if (!shape.isRecord()) {
                builder.withMethodBody(putter(field.name()), putterType(type, its), flags,
                        code -> buildPut(named(code), field, its));
            }
        }
    }

    /** Names the object in what a NullPointerException says. */
    private CodeBuilder named(CodeBuilder code) {
        return code.localVariable(0, "object", type, code.startLabel(), code.endLabel());
    }

    /** Pushes the holder and the running thread unless the object is temporary. */
    private void pushHolder(CodeBuilder code, int holder, Label temporary) {
        code.aload(0).getfield(type, HOLDER, THREAD).astore(holder).aload(holder).ifnull(temporary);
        code.aload(holder).invokestatic(THREAD, "currentThread", MethodTypeDesc.of(THREAD));
    }

    private void buildGet(CodeBuilder code, Field field, ClassDesc its) {
        if (!its.isPrimitive()) {
            buildReferenceGet(code, field, its);
            return;
        }
        Label plain = code.newLabel();
        Label ask = code.newLabel();
        pushHolder(code, 1, plain);
        code.if_acmpne(ask);
        code.labelBinding(plain).aload(0).getfield(type, field.name(), its).return_(TypeKind.from(its));
        code.labelBinding(ask).aload(0).invokestatic(ACCESS, "reading", HANDLE_TO_HANDLE).checkcast(type);
        code.getfield(type, field.name(), its).return_(TypeKind.from(its));
    }

    private void buildReferenceGet(CodeBuilder code, Field field, ClassDesc its) {
        int holder = 1;
        int target = 2;
        Label plain = code.newLabel();
        Label ask = code.newLabel();
        if (shapes.isManagedType(field.descriptor())) {
            pushHolder(code, holder, plain);
            code.if_acmpne(ask);
            code.aload(0).getfield(type, field.name(), its).astore(target).aload(target).ifnull(ask)
                    .aload(target).areturn();
            code.labelBinding(plain).aload(0).getfield(type, field.name(), its).areturn();
            code.labelBinding(ask);
            buildKeptGet(code, field, its);
        } else {
            pushHolder(code, holder, plain);
            code.if_acmpne(ask);
            code.aload(0).getfield(type, REFERENCE, CD_long).loadConstant(field.offset()).aload(0);
            if (shapes.mayKeep(field.descriptor())) {
                buildComparedGet(code, field, its, ask);
            } else {
                code.invokestatic(REFERENCES, "held", MethodTypeDesc.of(OBJECT, CD_long, CD_int, SAS_OBJECT))
                        .checkcast(its).areturn();
                code.labelBinding(ask).aload(0).loadConstant(field.offset());
                code.invokestatic(REFERENCES, "get", MethodTypeDesc.of(OBJECT, SAS_OBJECT, CD_int))
                        .checkcast(its).areturn();
            }
            code.labelBinding(plain).aload(0).getfield(type, field.name(), its).areturn();
        }
    }

    /**
     * With the arguments of References.held on the stack, but for the target that the field keeps: finds the target,
     * without a new handle if it is that one, and keeps it.
     */
    private void buildComparedGet(CodeBuilder code, Field field, ClassDesc its, Label ask) {
        int kept = 1;
        int target = 2;
        Label found = code.newLabel();
        Label same = code.newLabel();
        code.aload(0).getfield(type, field.name(), its).dup().astore(kept);
        code.invokestatic(REFERENCES, "held", MethodTypeDesc.of(OBJECT, CD_long, CD_int, SAS_OBJECT, OBJECT))
                .goto_(found);
        code.labelBinding(ask).aload(0).getfield(type, field.name(), its).astore(kept);
        code.aload(0).loadConstant(field.offset()).aload(kept)
                .invokestatic(REFERENCES, "get", MethodTypeDesc.of(OBJECT, SAS_OBJECT, CD_int, OBJECT));
        code.labelBinding(found).checkcast(its).astore(target).aload(target).aload(kept).if_acmpeq(same);
        // Outside transactions nothing is kept, because no event would make the handle give it up.
        code.aload(0).getfield(type, HOLDER, THREAD).invokestatic(THREAD, "currentThread", MethodTypeDesc.of(THREAD))
                .if_acmpne(same).aload(0).aload(target);
        putKept(code, field, its);
        code.labelBinding(same).aload(target).areturn();
    }

    /** Finds the target, and keeps it in the field of the handle that the transaction holds. */
    private void buildKeptGet(CodeBuilder code, Field field, ClassDesc its) {
        int held = 1;
        int target = 2;
        Label outside = code.newLabel();
        Label miss = code.newLabel();
        code.aload(0).invokestatic(REFERENCES, "holding", HANDLE_TO_HANDLE).checkcast(type).astore(held)
                .aload(held).ifnull(outside);
        code.aload(held).getfield(type, field.name(), its).astore(target).aload(target).ifnull(miss)
                .aload(target).areturn();
        code.labelBinding(miss).aload(held).loadConstant(field.offset());
        code.invokestatic(REFERENCES, "get", MethodTypeDesc.of(OBJECT, SAS_OBJECT, CD_int))
                .checkcast(its).astore(target);
        code.aload(held).aload(target);
        putKept(code, field, its);
        code.aload(target).areturn();
        code.labelBinding(outside).aload(0).loadConstant(field.offset()).aload(0).getfield(type, field.name(), its);
        code.invokestatic(REFERENCES, "committed", MethodTypeDesc.of(OBJECT, SAS_OBJECT, CD_int, OBJECT))
                .checkcast(its).areturn();
    }

    /** With the handle and a target on the stack: keeps the target if it is a handle. */
    private void putKept(CodeBuilder code, Field field, ClassDesc its) {
        code.invokestatic(REFERENCES, "cacheable", MethodTypeDesc.of(OBJECT, OBJECT)).checkcast(its)
                .putfield(type, field.name(), its);
    }

    private void buildPut(CodeBuilder code, Field field, ClassDesc its) {
        if (!its.isPrimitive()) {
            buildReferencePut(code, field, its);
            return;
        }
        TypeKind kind = TypeKind.from(its);
        int value = 1;
        Label plain = code.newLabel();
        Label ask = code.newLabel();
        pushHolder(code, value + kind.slotSize(), plain);
        code.if_acmpne(ask);
        pushIsWritable(code).ifeq(ask);
        code.labelBinding(plain).aload(0).loadLocal(kind, value).putfield(type, field.name(), its).return_();
        code.labelBinding(ask).aload(0).invokestatic(ACCESS, "writing", HANDLE_TO_HANDLE).checkcast(type);
        code.loadLocal(kind, value).putfield(type, field.name(), its);
        code.invokestatic(ACCESS, "written", MethodTypeDesc.of(CD_void)).return_();
    }

    /** Pushes a number that is not 0 if the holder may store into the fields. */
    private CodeBuilder pushIsWritable(CodeBuilder code) {
        return code.aload(0).getfield(type, REFERENCE, CD_long).loadConstant(SasObject.WRITABLE).land().l2i();
    }

    private void buildReferencePut(CodeBuilder code, Field field, ClassDesc its) {
        int value = 1;
        int holder = 2;
        Label plain = code.newLabel();
        Label ask = code.newLabel();
        pushHolder(code, holder, plain);
        code.if_acmpne(ask);
        pushIsWritable(code).ifeq(ask);
        code.aload(0).getfield(type, REFERENCE, CD_long).loadConstant(field.offset()).aload(0).aload(value);
        code.invokestatic(REFERENCES, "putHeld", MethodTypeDesc.of(CD_void, CD_long, CD_int, SAS_OBJECT, OBJECT));
        if (shapes.mayKeep(field.descriptor())) {
            code.aload(0).aload(value);
            putKept(code, field, its);
        }
        code.return_();
        code.labelBinding(ask);
        buildAskedPut(code, field, its);
        code.labelBinding(plain).aload(0).aload(value).putfield(type, field.name(), its).return_();
    }

    /** The runtime says which handle may keep the target. */
    private void buildAskedPut(CodeBuilder code, Field field, ClassDesc its) {
        int value = 1;
        int held = 2;
        Label end = code.newLabel();
        code.aload(0).loadConstant(field.offset()).aload(value);
        code.invokestatic(REFERENCES, "put", MethodTypeDesc.of(SAS_OBJECT, SAS_OBJECT, CD_int, OBJECT));
        if (shapes.mayKeep(field.descriptor())) {
            code.checkcast(type).astore(held).aload(held).ifnull(end).aload(held).aload(value);
            putKept(code, field, its);
            code.labelBinding(end);
        } else {
            code.pop();
        }
        code.return_();
    }
}
