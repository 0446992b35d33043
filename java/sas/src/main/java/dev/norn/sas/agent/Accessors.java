package dev.norn.sas.agent;

import static dev.norn.sas.agent.Names.*;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.norn.sas.agent.Shapes.Field;
import dev.norn.sas.agent.Shapes.Shape;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/**
 * The static accessors that getfield and putfield become. A temporary object's field is used as ever; a persistent object's is in the store.
 *
 * <pre>
 * get(object):        grant = object.grant; if (grant == null) return object.field; return Access.get(grant, object, object.reference, offset)
 * get of a reference: the same, and object.field keeps the last handle, which is good as long as its reference is the word in the store
 * </pre>
 */
final class Accessors {
    private static final int VISIBILITY = ClassFile.ACC_PUBLIC | ClassFile.ACC_PROTECTED;

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
            builder.withMethodBody(getter(field.name()), getterType(type, its), flags, code -> buildGet(code, field, its));
            if (!shape.isRecord()) {
                builder.withMethodBody(putter(field.name()), putterType(type, its), flags, code -> buildPut(code, field, its));
            }
        }
    }

    private boolean isCached(Field field) {
        return !shape.isRecord() && shapes.isManagedType(field.descriptor());
    }

    /** Pushes what every accessor of the runtime takes: grant, handle, reference, offset. */
    private void pushHandle(CodeBuilder code, int grant, Field field) {
        code.aload(grant).aload(0).aload(0).getfield(type, REFERENCE, CD_long).loadConstant(field.offset());
    }

    private void buildGet(CodeBuilder code, Field field, ClassDesc its) {
        TypeKind kind = TypeKind.from(its);
        int grant = 1;
        var persistent = code.newLabel();
        code.aload(0).getfield(type, GRANT, GRANT_TYPE).astore(grant).aload(grant).ifnonnull(persistent);
        code.aload(0).getfield(type, field.name(), its).return_(kind);
        code.labelBinding(persistent);
        pushHandle(code, grant, field);
        if (its.isPrimitive()) {
            code.invokestatic(ACCESS, "get" + word(its), MethodTypeDesc.of(its, GRANT_TYPE, SAS_OBJECT, CD_long, CD_int)).return_(kind);
        } else if (isCached(field)) {
            buildCachedGet(code, field, its);
        } else {
            code.invokestatic(REFERENCES, "get", MethodTypeDesc.of(OBJECT, GRANT_TYPE, SAS_OBJECT, CD_long, CD_int)).checkcast(its).areturn();
        }
    }

    private void buildCachedGet(CodeBuilder code, Field field, ClassDesc its) {
        int word = 2;
        int target = 4;
        var miss = code.newLabel();
        code.invokestatic(ACCESS, "getLong", MethodTypeDesc.of(CD_long, GRANT_TYPE, SAS_OBJECT, CD_long, CD_int)).lstore(word);
        code.aload(0).getfield(type, field.name(), its).astore(target).aload(target).ifnull(miss);
        code.aload(target).getfield(its, REFERENCE, CD_long).lload(word).lcmp().ifne(miss).aload(target).areturn();
        code.labelBinding(miss);
        code.lload(word).aload(0).loadConstant(field.offset());
        code.invokestatic(REFERENCES, "load", MethodTypeDesc.of(OBJECT, CD_long, SAS_OBJECT, CD_int)).checkcast(its).astore(target);
        code.aload(0).aload(target);
        putCached(code, field, its);
        code.aload(target).areturn();
    }

    /** With the object and a target on the stack: keeps the target if it is a handle. */
    private void putCached(CodeBuilder code, Field field, ClassDesc its) {
        code.invokestatic(REFERENCES, "cacheable", MethodTypeDesc.of(OBJECT, OBJECT)).checkcast(its).putfield(type, field.name(), its);
    }

    private void buildPut(CodeBuilder code, Field field, ClassDesc its) {
        TypeKind kind = TypeKind.from(its);
        int value = 1;
        int grant = value + kind.slotSize();
        var persistent = code.newLabel();
        code.aload(0).getfield(type, GRANT, GRANT_TYPE).astore(grant).aload(grant).ifnonnull(persistent);
        code.aload(0).loadLocal(kind, value).putfield(type, field.name(), its).return_();
        code.labelBinding(persistent);
        pushHandle(code, grant, field);
        code.loadLocal(kind, value);
        if (its.isPrimitive()) {
            code.invokestatic(ACCESS, "put" + word(its), MethodTypeDesc.of(CD_void, GRANT_TYPE, SAS_OBJECT, CD_long, CD_int, its));
        } else {
            code.invokestatic(REFERENCES, "put", MethodTypeDesc.of(CD_void, GRANT_TYPE, SAS_OBJECT, CD_long, CD_int, OBJECT));
            if (isCached(field)) {
                code.aload(0).aload(value);
                putCached(code, field, its);
            }
        }
        code.return_();
    }
}
