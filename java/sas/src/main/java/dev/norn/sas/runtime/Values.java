package dev.norn.sas.runtime;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.memory.Format;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.UUID;

/**
 * Values: immutable objects of the JDK that are stored by what they are, not by identity. A code byte, then the
 * content. Up to {@link #INLINE_MAX} bytes fit the reference word; Latin-1 strings take a byte for a character.
 */
public final class Values {
    /** The longest encoding that fits a reference word. */
    static final int INLINE_MAX = 7;
    private static final int LENGTH_SHIFT = 4;

    private Values() {}

    /** The encoding; null if objects of this class are no values. */
    public static byte[] encode(Object value) {
        return switch (value) {
            case String text -> encodeText(text);
            case Integer n -> begin('I', 4).putInt(n).array();
            case Long n -> begin('J', 8).putLong(n).array();
            case Boolean b -> new byte[] {(byte) (b ? 't' : 'f')};
            case Byte n -> new byte[] {'B', n};
            case Short n -> begin('S', 2).putShort(n).array();
            case Character c -> begin('C', 2).putChar(c).array();
            case Float n -> begin('F', 4).putFloat(n).array();
            case Double n -> begin('D', 8).putDouble(n).array();
            case BigDecimal n -> {
                byte[] unscaled = n.unscaledValue().toByteArray();
                yield begin('d', 4 + unscaled.length).putInt(n.scale()).put(unscaled).array();
            }
            case BigInteger n -> bytes('i', n.toByteArray());
            case UUID id -> begin('u', 16).putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits())
                    .array();
            case Enum<?> constant -> text('e', constant.getDeclaringClass().getName() + "#" + constant.name());
            case Class<?> type -> text('c', type.getName());
            default -> encodeTime(value);
        };
    }

    /** The encoding of a constant of this name. */
    static byte[] encodeConstant(String name) {
        return text('s', name);
    }

    private static byte[] encodeText(String text) {
        // One pass over characters that all fit a byte, or UTF-16.
        byte[] latin = new byte[text.length() + 1];
        latin[0] = 'l';
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c > 0xFF) {
                byte[] wide = new byte[2 * text.length() + 1];
                wide[0] = 'w';
                byte[] units = text.getBytes(StandardCharsets.UTF_16LE);
                if (units.length != 2 * text.length()) {
                    throw new AssertionError("UTF-16 has two bytes for a unit");
                }
                for (int unit = 0; unit < text.length(); unit++) {
                    wide[1 + 2 * unit] = (byte) text.charAt(unit);
                    wide[2 + 2 * unit] = (byte) (text.charAt(unit) >> 8);
                }
                return wide;
            }
            latin[i + 1] = (byte) c;
        }
        return latin;
    }

    private static byte[] encodeTime(Object value) {
        return switch (value) {
            case Instant t -> begin('1', 12).putLong(t.getEpochSecond()).putInt(t.getNano()).array();
            case LocalDate t -> begin('2', 4).putInt(Math.toIntExact(t.toEpochDay())).array();
            case LocalTime t -> begin('3', 8).putLong(t.toNanoOfDay()).array();
            case LocalDateTime t -> begin('4', 12).putInt(Math.toIntExact(t.toLocalDate().toEpochDay()))
                    .putLong(t.toLocalTime().toNanoOfDay()).array();
            case Duration t -> begin('5', 12).putLong(t.getSeconds()).putInt(t.getNano()).array();
            case Period t -> text('6', t.toString());
            case ZoneId t -> text('7', t.getId());
            case ZonedDateTime t -> text('8', t.toString());
            case OffsetDateTime t -> text('9', t.toString());
            default -> null;
        };
    }

    private static byte[] text(char code, String text) {
        return bytes(code, text.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] bytes(char code, byte[] content) {
        return begin(code, content.length).put(content).array();
    }

    /** An encoding with this number of bytes after its code, which are still to be filled in. */
    private static ByteBuffer begin(char code, int length) {
        return ByteBuffer.allocate(1 + length).put((byte) code);
    }

    /** The word that holds a short encoding. */
    static long inline(byte[] bytes) {
        long word = Format.TAG_INLINE | (long) bytes.length << LENGTH_SHIFT;
        for (int i = 0; i < bytes.length; i++) {
            word |= (bytes[i] & 0xFFL) << 8 * (i + 1);
        }
        return word;
    }

    static Object decodeInline(long word) {
        byte[] bytes = new byte[(int) word >>> LENGTH_SHIFT & 7];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (word >>> 8 * (i + 1));
        }
        return decode(bytes);
    }

    /** The value that was encoded so. */
    public static Object decode(byte[] bytes) {
        if (bytes.length == 0) {
            throw new SASException("an empty value: the store is damaged");
        }
        char code = (char) bytes[0];
        switch (code) {
            case 'l':
                return new String(bytes, 1, bytes.length - 1, StandardCharsets.ISO_8859_1);
            case 'w':
                char[] units = new char[bytes.length / 2];
                for (int i = 0; i < units.length; i++) {
                    units[i] = (char) (bytes[1 + 2 * i] & 0xFF | bytes[2 + 2 * i] << 8);
                }
                return new String(units);
            default:
                try {
                    return decode(code, ByteBuffer.wrap(bytes, 1, bytes.length - 1));
                } catch (BufferUnderflowException e) {
                    throw new SASException("a value of code " + code + " is cut off: the store is damaged", e);
                }
        }
    }

    private static Object decode(char code, ByteBuffer in) {
        return switch (code) {
            case 'I' -> in.getInt();
            case 'J' -> in.getLong();
            case 't' -> Boolean.TRUE;
            case 'f' -> Boolean.FALSE;
            case 'B' -> in.get();
            case 'S' -> in.getShort();
            case 'C' -> in.getChar();
            case 'F' -> in.getFloat();
            case 'D' -> in.getDouble();
            case 'd' -> {
                int scale = in.getInt();
                yield new BigDecimal(new BigInteger(rest(in)), scale);
            }
            case 'i' -> new BigInteger(rest(in));
            case 'u' -> new UUID(in.getLong(), in.getLong());
            case 'e' -> constant(text(in));
            case 's' -> Constants.named(text(in));
            case 'c' -> type(text(in));
            case '1' -> Instant.ofEpochSecond(in.getLong(), in.getInt());
            case '2' -> LocalDate.ofEpochDay(in.getInt());
            case '3' -> LocalTime.ofNanoOfDay(in.getLong());
            case '4' -> LocalDateTime.of(LocalDate.ofEpochDay(in.getInt()), LocalTime.ofNanoOfDay(in.getLong()));
            case '5' -> Duration.ofSeconds(in.getLong(), in.getInt());
            case '6' -> Period.parse(text(in));
            case '7' -> ZoneId.of(text(in));
            case '8' -> ZonedDateTime.parse(text(in));
            case '9' -> OffsetDateTime.parse(text(in));
            default -> throw new SASException("a value of unknown code " + (int) code
                    + ": the store is damaged, or newer");
        };
    }

    private static Class<?> type(String name) {
        Class<?> primitive = Class.forPrimitiveName(name);
        return primitive != null ? primitive : Classes.find(name);
    }

    private static String text(ByteBuffer in) {
        return new String(rest(in), StandardCharsets.UTF_8);
    }

    private static byte[] rest(ByteBuffer in) {
        byte[] bytes = new byte[in.remaining()];
        in.get(bytes);
        return bytes;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object constant(String text) {
        int end = text.indexOf('#');
        try {
            return Enum.valueOf((Class<? extends Enum>) Classes.find(text.substring(0, end)), text.substring(end + 1));
        } catch (IllegalArgumentException e) {
            throw new dev.norn.sas.exception.ClassChanged("the store has the constant " + text
                    + ", which its class no longer has", e);
        }
    }
}
