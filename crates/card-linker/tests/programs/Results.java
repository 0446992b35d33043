import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;

/** Prints what each public static method of two ints returns or throws. Arguments: classes, a colon, ints. */
final class Results {
    private Results() {
    }

    public static void main(String[] arguments) throws ReflectiveOperationException {
        int colon = Arrays.asList(arguments).indexOf(":");
        int[] values = Arrays.stream(arguments).skip(colon + 1).mapToInt(Integer::parseInt).toArray();
        StringBuilder out = new StringBuilder();
        for (String name : Arrays.copyOf(arguments, colon)) {
            Method[] methods = Class.forName(name).getDeclaredMethods();
            Arrays.sort(methods, Comparator.comparing(Method::getName));
            for (int a : values) {
                for (int b : values) {
                    for (Method method : methods) {
                        boolean isAsked = Modifier.isPublic(method.getModifiers());
                        if (isAsked && Arrays.equals(method.getParameterTypes(), new Class<?>[] {int.class, int.class})) {
                            line(out, method, a, b);
                        }
                    }
                }
            }
        }
        System.out.print(out);
    }

    private static void line(StringBuilder out, Method method, int a, int b) throws IllegalAccessException {
        out.append(method.getDeclaringClass().getName()).append(' ').append(method.getName());
        out.append(' ').append(a).append(' ').append(b).append(' ');
        try {
            out.append(method.invoke(null, a, b));
        } catch (InvocationTargetException thrown) {
            out.append(thrown.getCause().getClass().getName());
        }
        out.append('\n');
    }
}
