package dev.norn.sas.runtime;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.memory.Format;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
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

    private interface Writer {
        void write(DataOutputStream out) throws IOException;
    }

    /** The encoding; null if objects of this class are no values. */
    public static byte[] encode(Object value) {
        return switch (value) {
            case String text -> encodeText(text);
            case Integer n -> bytes('I', out -> out.writeInt(n));
            case Long n -> bytes('J', out -> out.writeLong(n));
            case Boolean b -> new byte[] {(byte) (b ? 't' : 'f')};
            case Byte n -> new byte[] {'B', n};
            case Short n -> bytes('S', out -> out.writeShort(n));
            case Character c -> bytes('C', out -> out.writeChar(c));
            case Float n -> bytes('F', out -> out.writeFloat(n));
            case Double n -> bytes('D', out -> out.writeDouble(n));
            case BigDecimal n -> bytes('d', out -> {
                out.writeInt(n.scale());
                out.write(n.unscaledValue().toByteArray());
            });
            case BigInteger n -> bytes('i', out -> out.write(n.toByteArray()));
            case UUID id -> bytes('u', out -> {
                out.writeLong(id.getMostSignificantBits());
                out.writeLong(id.getLeastSignificantBits());
            });
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
            case Instant t -> bytes('1', out -> {
                out.writeLong(t.getEpochSecond());
                out.writeInt(t.getNano());
            });
            case LocalDate t -> bytes('2', out -> out.writeInt(Math.toIntExact(t.toEpochDay())));
            case LocalTime t -> bytes('3', out -> out.writeLong(t.toNanoOfDay()));
            case LocalDateTime t -> bytes('4', out -> {
                out.writeInt(Math.toIntExact(t.toLocalDate().toEpochDay()));
                out.writeLong(t.toLocalTime().toNanoOfDay());
            });
            case Duration t -> bytes('5', out -> {
                out.writeLong(t.getSeconds());
                out.writeInt(t.getNano());
            });
            case Period t -> text('6', t.toString());
            case ZoneId t -> text('7', t.getId());
            case ZonedDateTime t -> text('8', t.toString());
            case OffsetDateTime t -> text('9', t.toString());
            default -> null;
        };
    }

    private static byte[] text(char code, String text) {
        byte[] utf = text.getBytes(StandardCharsets.UTF_8);
        byte[] bytes = new byte[utf.length + 1];
        bytes[0] = (byte) code;
        System.arraycopy(utf, 0, bytes, 1, utf.length);
        return bytes;
    }

    private static byte[] bytes(char code, Writer writer) {
        var bytes = new ByteArrayOutputStream(16);
        bytes.write(code);
        try {
            writer.write(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return bytes.toByteArray();
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
                    return decode(code, new DataInputStream(new ByteArrayInputStream(bytes, 1, bytes.length - 1)));
                } catch (IOException e) {
                    throw new SASException("a value of code " + code + " is cut off: the store is damaged", e);
                }
        }
    }

    private static Object decode(char code, DataInputStream in) throws IOException {
        return switch (code) {
            case 'I' -> in.readInt();
            case 'J' -> in.readLong();
            case 't' -> Boolean.TRUE;
            case 'f' -> Boolean.FALSE;
            case 'B' -> in.readByte();
            case 'S' -> in.readShort();
            case 'C' -> in.readChar();
            case 'F' -> in.readFloat();
            case 'D' -> in.readDouble();
            case 'd' -> {
                int scale = in.readInt();
                yield new BigDecimal(new BigInteger(in.readAllBytes()), scale);
            }
            case 'i' -> new BigInteger(in.readAllBytes());
            case 'u' -> new UUID(in.readLong(), in.readLong());
            case 'e' -> constant(text(in));
            case 's' -> Constants.named(text(in));
            case 'c' -> type(text(in));
            case '1' -> Instant.ofEpochSecond(in.readLong(), in.readInt());
            case '2' -> LocalDate.ofEpochDay(in.readInt());
            case '3' -> LocalTime.ofNanoOfDay(in.readLong());
            case '4' -> LocalDateTime.of(LocalDate.ofEpochDay(in.readInt()), LocalTime.ofNanoOfDay(in.readLong()));
            case '5' -> Duration.ofSeconds(in.readLong(), in.readInt());
            case '6' -> Period.parse(text(in));
            case '7' -> ZoneId.of(text(in));
            case '8' -> ZonedDateTime.parse(text(in));
            case '9' -> OffsetDateTime.parse(text(in));
            default -> throw new SASException("a value of unknown code " + (int) code + ": the store is damaged, or newer");
        };
    }

    private static Class<?> type(String name) {
        Class<?> primitive = Class.forPrimitiveName(name);
        return primitive != null ? primitive : Classes.find(name);
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object constant(String text) {
        int end = text.indexOf('#');
        try {
            return Enum.valueOf((Class<? extends Enum>) Classes.find(text.substring(0, end)), text.substring(end + 1));
        } catch (IllegalArgumentException e) {
            throw new dev.norn.sas.exception.ClassChanged("the store has the constant " + text + ", which its class no longer has", e);
        }
    }
}
