package dev.norn.sas.agent;

import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/** Names and types that transformed classes share with the runtime. */
final class Names {
    static final String PREFIX = "$sas$";
    static final String REFERENCE = "$sas$reference";
    static final String WORD = "$sas$word";
    static final String HOLDER = "$sas$holder";
    static final String IS_WRITABLE = "$sas$isWritable";
    static final String LEAVE = "$sas$leave";
    static final String LOAD = "$sas$load";
    static final String SAVE = "$sas$save";
    static final String BIND = "$sas$bind";
    static final String STORE = "$sas$store";
    static final String SETTLE = "$sas$settle";
    static final String COPY = "$sas$copy";
    static final String DROP = "$sas$drop";
    static final String LAYOUT = "$sas$layout";
    static final String LOOKUP = "$sas$lookup";
    static final String NEW = "$sas$new";

    static final ClassDesc OBJECT = ConstantDescs.CD_Object;
    static final ClassDesc SAS_OBJECT = ClassDesc.of("dev.norn.sas.runtime.SasObject");
    static final ClassDesc THREAD = ClassDesc.of("java.lang.Thread");
    static final ClassDesc NOBODY = ClassDesc.of("dev.norn.sas.runtime.Nobody");
    static final ClassDesc MEMORY = ClassDesc.of("dev.norn.sas.store.memory.Memory");
    static final ClassDesc ACCESS = ClassDesc.of("dev.norn.sas.runtime.Access");
    static final ClassDesc REFERENCES = ClassDesc.of("dev.norn.sas.runtime.References");
    static final ClassDesc PROMOTION = ClassDesc.of("dev.norn.sas.runtime.Promotion");
    static final ClassDesc MONITORS = ClassDesc.of("dev.norn.sas.runtime.Monitors");
    static final ClassDesc STRAY_ARRAYS = ClassDesc.of("dev.norn.sas.runtime.StrayArrays");
    static final ClassDesc REFLECTION = ClassDesc.of("dev.norn.sas.runtime.Reflection");

    /** Of handles; its first parameter, always null, keeps it apart from the program's. */
    static final MethodTypeDesc HANDLE_CONSTRUCTOR =
            MethodTypeDesc.of(ConstantDescs.CD_void, SAS_OBJECT, ConstantDescs.CD_long);

    private Names() {}

    static String getter(String field) {
        return PREFIX + "get$" + field;
    }

    static String putter(String field) {
        return PREFIX + "put$" + field;
    }

    static MethodTypeDesc getterType(ClassDesc declaring, ClassDesc type) {
        return MethodTypeDesc.of(type, declaring);
    }

    static MethodTypeDesc putterType(ClassDesc declaring, ClassDesc type) {
        return MethodTypeDesc.of(ConstantDescs.CD_void, declaring, type);
    }

    /** How the runtime's methods for a primitive type are called. */
    static String word(ClassDesc primitive) {
        String name = primitive.displayName();
        return Character.toUpperCase(name.charAt(0)) + name.substring(1);
    }
}
