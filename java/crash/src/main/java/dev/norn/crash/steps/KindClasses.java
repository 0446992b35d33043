package dev.norn.crash.steps;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/**
 * Makes the class files of the subclasses of {@code Kind}: many classes whose first objects are made by threads at the
 * same time, in transactions of which some are undone. The one with number n has n modulo 7 fields, which its
 * constructor fills with the stamp.
 */
final class KindClasses {
    private static final ClassDesc KIND = ClassDesc.of("dev.norn.crash.model.Kind");
    private static final int FIELDS_MAX = 7;

    private KindClasses() {}

    static String name(int kind) {
        return "dev/norn/crash/model/Kind" + kind;
    }

    static byte[] build(int kind) {
        ClassDesc type = ClassDesc.ofInternalName(name(kind));
        int count = kind % FIELDS_MAX;
        return ClassFile.of().build(type, builder -> {
            builder.withSuperclass(KIND).withFlags(ClassFile.ACC_PUBLIC | ClassFile.ACC_FINAL | ClassFile.ACC_SUPER);
            for (int i = 0; i < count; i++) {
                builder.withField("field" + i, CD_long, ClassFile.ACC_PRIVATE);
            }
            builder.withMethodBody("<init>", MethodTypeDesc.of(CD_void, CD_long), ClassFile.ACC_PUBLIC,
                    code -> construct(code, type, kind, count));
            builder.withMethodBody("sum", MethodTypeDesc.of(CD_long), ClassFile.ACC_PROTECTED,
                    code -> sum(code, type, count));
            builder.withMethodBody("count", MethodTypeDesc.of(CD_int), ClassFile.ACC_PROTECTED,
                    code -> code.loadConstant(count).ireturn());
        });
    }

    private static void construct(CodeBuilder code, ClassDesc type, int kind, int count) {
        code.aload(0).loadConstant(kind).lload(1)
                .invokespecial(KIND, "<init>", MethodTypeDesc.of(CD_void, CD_int, CD_long));
        for (int i = 0; i < count; i++) {
            code.aload(0).lload(1).putfield(type, "field" + i, CD_long);
        }
        code.return_();
    }

    private static void sum(CodeBuilder code, ClassDesc type, int count) {
        code.lconst_0();
        for (int i = 0; i < count; i++) {
            code.aload(0).getfield(type, "field" + i, CD_long).ladd();
        }
        code.lreturn();
    }
}
