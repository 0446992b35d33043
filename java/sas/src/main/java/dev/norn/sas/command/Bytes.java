package dev.norn.sas.command;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;

/** A number of bytes as an argument: {@code 65536}, or with K, M, G or T for powers of 1,024, as {@code 64M}. */
final class Bytes implements CommandLine.ITypeConverter<Long> {
    private static final Pattern NUMBER = Pattern.compile("(-?\\d+)([KMGT]?)");
    private static final int BITS_EACH = 10;

    @Override
    public Long convert(String text) {
        Matcher number = NUMBER.matcher(text.toUpperCase(Locale.ROOT));
        try {
            if (number.matches()) {
                int power = number.group(2).isEmpty() ? 0 : 1 + "KMGT".indexOf(number.group(2));
                return Math.multiplyExact(Long.parseLong(number.group(1)), 1L << BITS_EACH * power);
            }
        } catch (NumberFormatException | ArithmeticException e) {
            // It is beyond what a file may have.
        }
        throw new CommandLine.TypeConversionException("'" + text + "' is not a number of bytes: write 65536, 64M "
                + "or 8G");
    }
}
