package dev.norn.sas.store.heap;

import dev.norn.sas.store.memory.Format;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A class's description in the class dictionary, taken apart.
 *
 * @param name the class's name
 * @param bytes length of an instance, header included
 * @param fields by {@code declaring-class.name}
 */
public record ClassLayout(String name, int bytes, Map<String, Field> fields) {
    /** Where a field is in an instance, and its descriptor. */
    public record Field(int offset, String descriptor) {
        public boolean isReference() {
            return descriptor.length() > 1;
        }

        private int end() {
            return offset + switch (descriptor.charAt(0)) {
                case 'Z', 'B' -> 1;
                case 'S', 'C' -> 2;
                case 'I', 'F' -> 4;
                default -> 8;
            };
        }

        /** The type as the language writes it. */
        public String type() {
            int dimensions = descriptor.lastIndexOf('[') + 1;
            if (dimensions > 0) {
                return new Field(0, descriptor.substring(dimensions)).type() + "[]".repeat(dimensions);
            }
            return isReference() ? className() : java.lang.constant.ClassDesc.ofDescriptor(descriptor).displayName();
        }

        /** Of a reference, the class's name, as {@link Class#getName} has it. */
        public String className() {
            return (descriptor.startsWith("L") ? descriptor.substring(1, descriptor.length() - 1) : descriptor)
                    .replace('/', '.');
        }
    }

    public static ClassLayout of(String description) {
        String[] lines = description.split("\n");
        Map<String, Field> fields = new LinkedHashMap<>();
        for (int i = 2; i < lines.length; i++) {
            String[] words = lines[i].split(" ");
            fields.put(words[2], new Field(Integer.parseInt(words[0]), words[1]));
        }
        return new ClassLayout(lines[0], Integer.parseInt(lines[1].split(" ")[1]), fields);
    }

    /**
     * How the fields of a class differ from those that the store's instances have, one line each; none if only their
     * places do.
     */
    public static List<String> differences(String stored, String current) {
        Map<String, Field> before = of(stored).fields;
        Map<String, Field> now = of(current).fields;
        List<String> lines = new ArrayList<>();
        now.forEach((name, field) -> {
            Field old = before.get(name);
            if (old == null) {
                lines.add("added: " + field.type() + " " + name);
            } else if (!old.descriptor.equals(field.descriptor)) {
                lines.add("of another type: " + field.type() + " " + name + ", in the store " + old.type());
            }
        });
        before.forEach((name, field) -> {
            if (!now.containsKey(name)) {
                lines.add("removed: " + field.type() + " " + name);
            }
        });
        return lines;
    }

    /** Length of an instance that has a hash code of its own after its fields. */
    public int bytesHashed() {
        int end = fields.values().stream().mapToInt(Field::end).max().orElse(Format.OBJECT_HEADER_BYTES);
        return end + Format.HASH_BYTES <= bytes ? bytes : bytes + Format.GRANULE_BYTES;
    }

    /** Where instances have references. */
    public int[] references() {
        return fields.values().stream().filter(Field::isReference).mapToInt(Field::offset).toArray();
    }
}
