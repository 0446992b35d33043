package dev.norn.sas.agent;

import static dev.norn.sas.agent.Names.*;

import dev.norn.sas.agent.Shapes.Shape;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.ArrayList;
import java.util.List;

/**
 * What a synchronized method of a class with persistent instances becomes: a method without that modifier, whose body
 * is a synchronized block. The modifier would have the JVM enter the monitor of the handle, in which a second thread
 * would wait for the object's lock that the first one's transaction holds.
 *
 * <pre>
 *       monitor = Monitors.enter(this); monitorenter monitor
 *       try { … monitorexit monitor; return … }         the exits and returns are in no range
 *       catch (any) { monitorexit monitor; throw }      which covers itself, as javac's does
 * </pre>
 */
final class SynchronizedBody {
    private record Region(Label start, Label end) {}

    private final List<Region> regions = new ArrayList<>();
    private int monitor;
    private Label start;
    private boolean isEmpty;

    /** Whether the method is one that becomes such. A native one has no body, and stays. */
    static boolean replaces(Shape shape, MethodModel method) {
        return shape.isManaged() && method.flags().has(AccessFlag.SYNCHRONIZED)
                && !method.flags().has(AccessFlag.STATIC) && !method.flags().has(AccessFlag.NATIVE);
    }

    void begin(CodeBuilder code) {
        monitor = code.allocateLocal(TypeKind.REFERENCE);
        code.aload(0).invokestatic(MONITORS, "enter", MethodTypeDesc.of(OBJECT, OBJECT)).dup()
                .astore(monitor).monitorenter();
        open(code);
    }

    /** Says that an instruction follows. */
    void goOn() {
        isEmpty = false;
    }

    private void open(CodeBuilder code) {
        start = code.newBoundLabel();
        isEmpty = true;
    }

    private void close(CodeBuilder code) {
        regions.add(new Region(start, code.newBoundLabel()));
    }

    void leave(CodeBuilder code, ReturnInstruction end) {
        code.aload(monitor).monitorexit();
        close(code);
        code.with(end);
        open(code);
    }

    void end(CodeBuilder code) {
        if (!isEmpty) {
            close(code);
        }
        Label handler = code.newBoundLabel();
        code.aload(monitor).monitorexit();
        regions.add(new Region(handler, code.newBoundLabel()));
        code.athrow();
        regions.forEach(region -> code.exceptionCatchAll(region.start, region.end, handler));
    }
}
