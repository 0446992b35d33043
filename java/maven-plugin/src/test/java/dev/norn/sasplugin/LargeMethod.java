package dev.norn.sasplugin;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/** A class with a method of almost as many bytes as a method may have. */
final class LargeMethod {
    private LargeMethod() {}

    /** A class with a field and a method with {@code stores} stores into an array, of seven bytes each. */
    static byte[] classFile(String name, int stores) {
        ClassDesc type = ClassDesc.of(name);
        return ClassFile.of().build(type, builder -> builder
                .withField("number", ConstantDescs.CD_int, ClassFile.ACC_PRIVATE)
                .withMethodBody("<init>", ConstantDescs.MTD_void, ClassFile.ACC_PUBLIC, code -> code.aload(0)
                        .invokespecial(ConstantDescs.CD_Object, "<init>", ConstantDescs.MTD_void).return_())
                .withMethodBody("fill", MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int.arrayType()),
                        ClassFile.ACC_PUBLIC, code -> {
                    for (int i = 0; i < stores; i++) {
                        code.aload(1).iconst_0().aload(0).getfield(type, "number", ConstantDescs.CD_int).iastore();
                    }
                    code.return_();
                }));
    }
}
