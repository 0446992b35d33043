package dev.norn.sas.agent;

import static dev.norn.sas.agent.Names.*;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_VarHandle;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.CLASS_INIT_NAME;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import dev.norn.sas.agent.Shapes.Shape;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.ArrayStoreInstruction;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicCallSiteDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;

/**
 * Rewrites a method's instructions: fields, comparisons of references, monitors, stores into arrays, and calls that
 * look at identity or at fields without the compiler's knowledge. Before {@code super()}, a constructor cannot pass
 * {@code this} on, so the object cannot be persistent yet: stores there stay plain. So do stores in a record's
 * constructors, since a record's fields have no accessors for storing.
 */
final class CodeRewriter implements CodeTransform {
    private final Shapes shapes;
    private final Shape shape;
    private final boolean isConstructor;
    /** What becomes of a synchronized method; null for others. */
    private final SynchronizedBody body;
    private final boolean isStaticInitializer;
    /** Final fields are no longer so, but another thread that gets the object through a race is still to see them. */
    private final boolean hasFinalFields;
    private boolean isBeforeSuper;
    private int openNews;

    CodeRewriter(Shapes shapes, Shape shape, MethodModel method) {
        this.shapes = shapes;
        this.shape = shape;
        isConstructor = method.methodName().equalsString(INIT_NAME);
        body = SynchronizedBody.replaces(shape, method) ? new SynchronizedBody() : null;
        isBeforeSuper = isConstructor;
        isStaticInitializer = method.methodName().equalsString(CLASS_INIT_NAME);
        hasFinalFields = isConstructor && shape.isManaged()
                && shape.fields().stream().anyMatch(field -> (field.flags() & ClassFile.ACC_FINAL) != 0);
    }

    @Override
    public void atStart(CodeBuilder code) {
        if (body != null) {
            body.begin(code);
        }
    }

    @Override
    public void atEnd(CodeBuilder code) {
        if (body != null) {
            body.end(code);
        }
    }

    @Override
    public void accept(CodeBuilder code, CodeElement element) {
        if (body != null && element instanceof Instruction) {
            body.goOn();
        }
        switch (element) {
            case FieldInstruction field -> rewriteField(code, field);
            case BranchInstruction branch -> rewriteBranch(code, branch);
            case InvokeInstruction call -> rewriteCall(code, call);
            case InvokeDynamicInstruction call -> rewriteDynamicCall(code, call);
            case MonitorInstruction monitor -> rewriteMonitor(code, monitor);
            // The arrays of a static initializer are new, and its tables would outgrow the method.
            case ArrayStoreInstruction store when !isStaticInitializer -> rewriteArrayStore(code, store);
            case ReturnInstruction end when body != null -> body.leave(code, end);
            case ReturnInstruction end when hasFinalFields -> code.invokestatic(CD_VarHandle, "storeStoreFence",
                    MethodTypeDesc.of(CD_void)).with(end);
            case NewObjectInstruction instruction -> {
                openNews++;
                code.with(instruction);
            }
            default -> code.with(element);
        }
    }

    private void rewriteField(CodeBuilder code, FieldInstruction field) {
        boolean isGet = field.opcode() == Opcode.GETFIELD;
        boolean isPut = field.opcode() == Opcode.PUTFIELD;
        Shape declaring = isGet || isPut ? shapes.declaring(field.owner().asInternalName(), field.name().stringValue(),
                field.type().stringValue()) : null;
        boolean isOwnRecord = isPut && declaring != null && declaring.isRecord();
        if (declaring == null || isBeforeSuper && isPut || isOwnRecord) {
            code.with(field);
            return;
        }
        ClassDesc owner = field.owner().asSymbol();
        ClassDesc its = ClassDesc.ofInternalName(declaring.name());
        if (isGet) {
            code.invokestatic(owner, getter(field.name().stringValue()), getterType(its, field.typeSymbol()));
        } else {
            code.invokestatic(owner, putter(field.name().stringValue()), putterType(its, field.typeSymbol()));
        }
    }

    private static void rewriteBranch(CodeBuilder code, BranchInstruction branch) {
        switch (branch.opcode()) {
            case IF_ACMPEQ -> same(code).ifne(branch.target());
            case IF_ACMPNE -> same(code).ifeq(branch.target());
            default -> code.with(branch);
        }
    }

    private static CodeBuilder same(CodeBuilder code) {
        return code.invokestatic(REFERENCES, "same", MethodTypeDesc.of(CD_boolean, OBJECT, OBJECT));
    }

    private void rewriteCall(CodeBuilder code, InvokeInstruction call) {
        String owner = call.owner().asInternalName();
        String name = call.name().stringValue();
        boolean isSpecial = call.opcode() == Opcode.INVOKESPECIAL;
        if (isSpecial && name.equals(INIT_NAME)) {
            code.with(call);
            if (openNews > 0) {
                openNews--;
            } else {
                isBeforeSuper = false;
            }
        } else if (isSpecial && shape.isRoot() && isClone(name, call.typeSymbol())) {
            copy(code.dup().with(call).swap()).checkcast(call.typeSymbol().returnType());
        } else if (isSpecial && owner.equals("java/lang/Object")) {
            rewriteObjectCall(code, call, name);
        } else if (owner.equals("java/lang/System") && name.equals("identityHashCode")) {
            code.invokestatic(REFERENCES, "identityHashCode", MethodTypeDesc.of(CD_int, OBJECT));
        } else if (isMonitorCall(name, call.typeSymbol())) {
            code.invokestatic(MONITORS, name, call.typeSymbol().insertParameterTypes(0, OBJECT));
        } else if (isUpdater(owner, name)) {
            checkAndCall(code, call, "checkUpdater", ConstantDescs.CD_Class, ConstantDescs.CD_String);
        } else if (isFieldAccess(owner, name)) {
            checkAndCall(code, call, "checkField", ClassDesc.of("java.lang.reflect.Field"), OBJECT);
        } else if (owner.endsWith("/misc/Unsafe") && name.equals("objectFieldOffset")
                && call.typeSymbol().parameterCount() == 1) {
            code.dup().invokestatic(REFLECTION, "checkOffset",
                    MethodTypeDesc.of(CD_void, ClassDesc.of("java.lang.reflect.Field"))).with(call);
        } else if (isReflective(owner, name)) {
            boolean isStatic = call.opcode() == Opcode.INVOKESTATIC;
            code.invokestatic(REFLECTION, name,
                    isStatic ? call.typeSymbol() : call.typeSymbol().insertParameterTypes(0, call.owner().asSymbol()));
        } else {
            code.with(call);
        }
    }

    /** The classes below the root get their copies from there. */
    private static boolean isClone(String name, MethodTypeDesc type) {
        return name.equals("clone") && type.parameterCount() == 0 && !type.returnType().isPrimitive();
    }

    /** With what the superclass made, and the object, on the stack: a copy of the object. */
    static CodeBuilder copy(CodeBuilder code) {
        return code.invokestatic(REFERENCES, "cloned", MethodTypeDesc.of(OBJECT, OBJECT, OBJECT));
    }

    private static boolean isMonitorCall(String name, MethodTypeDesc type) {
        return (name.equals("wait")
                && (type.descriptorString().equals("()V") || type.descriptorString().equals("(J)V")))
                || (name.equals("notify") || name.equals("notifyAll")) && type.descriptorString().equals("()V");
    }

    private static boolean isUpdater(String owner, String name) {
        return owner.matches("java/util/concurrent/atomic/Atomic(Integer|Long|Reference)FieldUpdater")
                && name.equals("newUpdater");
    }

    private static boolean isFieldAccess(String owner, String name) {
        return owner.equals("java/lang/reflect/Field")
                && name.matches("(get|set)(|Boolean|Byte|Short|Char|Int|Long|Float|Double)");
    }

    /**
     * These methods look at their caller, so the call stays where it is. A check of its first two arguments, or of the
     * first and the last, precedes it.
     */
    private static void checkAndCall(CodeBuilder code, InvokeInstruction call, String check,
            ClassDesc first, ClassDesc second) {
        MethodTypeDesc type = call.typeSymbol();
        boolean isTriple = type.parameterCount() + (call.opcode() == Opcode.INVOKESTATIC ? 0 : 1) == 3;
        TypeKind kind = isTriple ? TypeKind.from(type.parameterType(type.parameterCount() - 1)) : TypeKind.REFERENCE;
        int last = isTriple ? code.allocateLocal(kind) : 0;
        MethodTypeDesc checkType = MethodTypeDesc.of(CD_void, first, second);
        if (!isTriple) {
            code.dup2().invokestatic(REFLECTION, check, checkType);
        } else if (call.opcode() == Opcode.INVOKESTATIC) {
            code.storeLocal(kind, last).swap().dup().loadLocal(kind, last).invokestatic(REFLECTION, check, checkType)
                    .swap().loadLocal(kind, last);
        } else {
            code.storeLocal(kind, last).dup2().invokestatic(REFLECTION, check, checkType).loadLocal(kind, last);
        }
        code.with(call);
    }

    private static boolean isReflective(String owner, String name) {
        return switch (owner) {
            case "java/lang/invoke/MethodHandles$Lookup" -> name.equals("findVarHandle") || name.equals("findGetter")
                    || name.equals("findSetter")
                    || name.startsWith("unreflect") && !name.equals("unreflect")
                            && !name.equals("unreflectSpecial") && !name.equals("unreflectConstructor");
            case "java/lang/invoke/ConstantBootstraps" -> name.equals("fieldVarHandle");
            case "java/io/ObjectOutputStream" -> name.equals("writeObject") || name.equals("writeUnshared");
            default -> false;
        };
    }

    private static void rewriteObjectCall(CodeBuilder code, InvokeInstruction call, String name) {
        switch (name) {
            case "hashCode" -> code.invokestatic(REFERENCES, "identityHashCode", MethodTypeDesc.of(CD_int, OBJECT));
            case "equals" -> same(code);
            case "toString" -> code.invokestatic(REFERENCES, "text", MethodTypeDesc.of(CD_String, OBJECT));
            default -> code.with(call);
        }
    }

    /** A record's generated methods get their fields through the accessors. */
    private void rewriteDynamicCall(CodeBuilder code, InvokeDynamicInstruction call) {
        boolean isRecordMethod = call.bootstrapMethod().owner().descriptorString()
                .equals("Ljava/lang/runtime/ObjectMethods;");
        if (!isRecordMethod || !shape.isManaged()) {
            code.with(call);
            return;
        }
        ConstantDesc[] arguments = call.bootstrapArgs().toArray(ConstantDesc[]::new);
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] instanceof DirectMethodHandleDesc handle
                    && handle.kind() == DirectMethodHandleDesc.Kind.GETTER) {
                arguments[i] = MethodHandleDesc.ofMethod(DirectMethodHandleDesc.Kind.STATIC, handle.owner(),
                        getter(handle.methodName()), getterType(handle.owner(), handle.invocationType().returnType()));
            }
        }
        code.invokedynamic(DynamicCallSiteDesc.of(call.bootstrapMethod(), call.name().stringValue(),
                call.typeSymbol(), arguments));
    }

    /**
     * The monitor of a persistent object is its lock in the store; a monitor of the thread's own keeps the code's
     * structure.
     */
    private static void rewriteMonitor(CodeBuilder code, MonitorInstruction monitor) {
        String name = monitor.opcode() == Opcode.MONITORENTER ? "enter" : "exit";
        code.invokestatic(MONITORS, name, MethodTypeDesc.of(OBJECT, OBJECT)).with(monitor);
    }

    private static void rewriteArrayStore(CodeBuilder code, ArrayStoreInstruction store) {
        TypeKind kind = store.typeKind();
        switch (kind) {
            case BYTE, BOOLEAN -> code.invokestatic(STRAY_ARRAYS, "storeByte",
                    MethodTypeDesc.of(CD_void, OBJECT, CD_int, CD_int));
            case REFERENCE -> code.invokestatic(STRAY_ARRAYS, "storeObject",
                    MethodTypeDesc.of(CD_void, OBJECT.arrayType(), CD_int, OBJECT));
            default -> {
                ClassDesc element = kind.upperBound();
                code.invokestatic(STRAY_ARRAYS, "store" + word(element),
                        MethodTypeDesc.of(CD_void, element.arrayType(), CD_int, element));
            }
        }
    }

    @Override
    public String toString() {
        return shape.name() + (isConstructor ? " constructor" : " method");
    }
}
