package dev.norn.sas.store;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A class's description in the class dictionary, taken apart.
 *
 * @param name the class's name
 * @param bytes length of an instance, header included
 * @param fields by {@code declaring-class.name}
 */
record Layout(String name, int bytes, Map<String, Field> fields) {
    /** Where a field is in an instance, and its descriptor. */
    record Field(int offset, String descriptor) {
        boolean isReference() {
            return descriptor.length() > 1;
        }

        /** The type as the language writes it. */
        String type() {
            return isReference() ? className() : java.lang.constant.ClassDesc.ofDescriptor(descriptor).displayName();
        }

        /** Of a reference, the class's name, as {@link Class#getName} has it. */
        String className() {
            return (descriptor.startsWith("L") ? descriptor.substring(1, descriptor.length() - 1) : descriptor).replace('/', '.');
        }
    }

    static Layout of(String description) {
        String[] lines = description.split("\n");
        Map<String, Field> fields = new LinkedHashMap<>();
        for (int i = 2; i < lines.length; i++) {
            String[] words = lines[i].split(" ");
            fields.put(words[2], new Field(Integer.parseInt(words[0]), words[1]));
        }
        return new Layout(lines[0], Integer.parseInt(lines[1].split(" ")[1]), fields);
    }

    /** Where instances have references. */
    int[] references() {
        return fields.values().stream().filter(Field::isReference).mapToInt(Field::offset).toArray();
    }
}
