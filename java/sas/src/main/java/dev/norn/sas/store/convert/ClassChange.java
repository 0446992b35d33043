package dev.norn.sas.store.convert;

import dev.norn.sas.agent.ClassFiles;
import dev.norn.sas.store.heap.ClassLayout;
import dev.norn.sas.store.memory.Format;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What becomes of the fields of a class whose layout has changed. A field is known by its class and name, or by the old
 * name that {@code Renamed} gives it.
 *
 * @param pairs fields that keep their values
 * @param added fields that begin as zero or null
 * @param removed fields whose values are lost
 * @param unfounded of the added fields, those with an old name that the store does not have either: the old name by the
 *     new one
 */
record ClassChange(ClassLayout before, ClassLayout now, String description, List<Pair> pairs, Set<String> added,
        Set<String> removed, Map<String, String> unfounded) {
    /** A field as it was and as it is. */
    record Pair(String oldName, ClassLayout.Field old, String name, ClassLayout.Field now) {
        boolean isOfOtherType() {
            return !old.descriptor().equals(now.descriptor());
        }
    }

    static ClassChange of(String stored, String current, ClassFiles classes) {
        ClassLayout before = ClassLayout.of(stored);
        ClassLayout now = ClassLayout.of(current);
        Map<String, String> renamed = classes.renamed(now.name());
        List<Pair> pairs = new ArrayList<>();
        Set<String> added = new TreeSet<>();
        Set<String> removed = new TreeSet<>(before.fields().keySet());
        Map<String, String> unfounded = new TreeMap<>();
        now.fields().forEach((name, field) -> {
            String old = before.fields().containsKey(name) ? name : renamed.get(name);
            if (old != null && before.fields().containsKey(old)
                    && !(now.fields().containsKey(old) && !old.equals(name))) {
                pairs.add(new Pair(old, before.fields().get(old), name, field));
                removed.remove(old);
            } else {
                added.add(name);
                if (old != null && !before.fields().containsKey(old)) {
                    unfounded.put(name, old);
                }
            }
        });
        return new ClassChange(before, now, current, pairs, added, removed, unfounded);
    }

    /** What cannot be done for any instance: one line each. */
    List<String> problems(Set<String> dropped) {
        List<String> problems = new ArrayList<>();
        if (now.bytes() > Format.OBJECT_BYTES_MAX) {
            problems.add("instances of " + now.name() + " would take " + now.bytes() + " bytes, more than a page of "
                    + Format.OBJECT_BYTES_MAX);
        }
        for (Pair pair : pairs) {
            boolean isOfOtherKind = pair.old.isReference() != pair.now.isReference()
                    || (pair.old.descriptor().equals("Z") != pair.now.descriptor().equals("Z"));
            if (pair.isOfOtherType() && isOfOtherKind) {
                problems.add("field " + pair.name + " was of type " + pair.old.type() + " and is of type "
                        + pair.now.type()
                        + ": give the new field another name, convert, and let the program fill it");
            }
        }
        // Where no field is lost, the annotation may be of a later change than the store's.
        if (!removed.isEmpty()) {
            unfounded.forEach((name, old) -> problems.add("field " + name + " is said by @Renamed to have been " + old
                    + ", but the store has neither; of the fields that " + now.name() + " no longer has, it has "
                    + String.join(", ", removed) + ": correct the old name, or remove @Renamed if the field is new"));
        }
        for (String name : removed) {
            if (!dropped.contains(name)) {
                String old = name.substring(name.lastIndexOf('.') + 1);
                problems.add("class " + now.name() + " no longer has the field " + name
                        + ": drop it to lose its values (--drop " + name
                        + "), or annotate the field that took its place with @Renamed(\"" + old + "\")");
            }
        }
        return problems;
    }

    /** What was changed, in a line. */
    String describe() {
        List<String> parts = new ArrayList<>();
        added.forEach(name -> parts.add("added " + name));
        removed.forEach(name -> parts.add("dropped " + name));
        pairs.stream().filter(pair -> !pair.name.equals(pair.oldName))
                .forEach(pair -> parts.add(pair.name + " was " + pair.oldName));
        pairs.stream().filter(Pair::isOfOtherType)
                .forEach(pair -> parts.add(pair.name + " is " + pair.now.type() + " instead of " + pair.old.type()));
        return parts.isEmpty() ? "fields have other places" : String.join(", ", parts);
    }
}
