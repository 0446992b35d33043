package dev.norn.sas.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.norn.sas.exception.SASException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The bytes of every kind of value: stores on disk have them, so they stay as they are. */
class ValuesTest {
    /** Values whose encodings have a fixed length, and their bytes. */
    private static Map<Object, String> fixed() {
        Map<Object, String> all = new LinkedHashMap<>();
        all.put(0x01020304, "4901020304");
        all.put(-2L, "4afffffffffffffffe");
        all.put((byte) -1, "42ff");
        all.put((short) 0x0102, "530102");
        all.put('\u20ac', "4320ac");
        all.put(1.5f, "463fc00000");
        all.put(-0.0, "448000000000000000");
        all.put(new UUID(1, -1), "750000000000000001ffffffffffffffff");
        all.put(Instant.ofEpochSecond(-1, 5), "31ffffffffffffffff00000005");
        all.put(LocalDate.ofEpochDay(258), "3200000102");
        all.put(LocalTime.ofNanoOfDay(7), "330000000000000007");
        all.put(LocalDateTime.of(LocalDate.ofEpochDay(1), LocalTime.ofNanoOfDay(2)), "34000000010000000000000002");
        all.put(Duration.ofSeconds(3, 4), "35000000000000000300000004");
        return all;
    }

    private static Map<Object, String> others() {
        Map<Object, String> all = new LinkedHashMap<>();
        all.put(true, "74");
        all.put(false, "66");
        all.put("", "6c");
        all.put("a\u00ff", "6c61ff");
        all.put("\u20aca", "77ac206100");
        all.put(new BigDecimal("-1.28"), "640000000280");
        all.put(BigInteger.valueOf(256), "690100");
        all.put(TimeUnit.DAYS, "65" + hexOf("java.util.concurrent.TimeUnit#DAYS"));
        all.put(String.class, "63" + hexOf("java.lang.String"));
        all.put(int.class, "63" + hexOf("int"));
        all.put(Period.ofDays(2), "36" + hexOf("P2D"));
        all.put(ZoneId.of("UTC"), "37" + hexOf("UTC"));
        all.put(ZonedDateTime.parse("2026-11-22T20:00Z[UTC]"), "38" + hexOf("2026-11-22T20:00Z[UTC]"));
        all.put(OffsetDateTime.parse("2026-11-22T20:00+01:00"), "39" + hexOf("2026-11-22T20:00+01:00"));
        return all;
    }

    private static String hexOf(String latin) {
        return HexFormat.of().formatHex(latin.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));
    }

    @Test
    void everyKindHasItsBytesAndComesBack() {
        Map<Object, String> all = fixed();
        all.putAll(others());
        all.forEach((value, bytes) -> {
            assertEquals(bytes, HexFormat.of().formatHex(Values.encode(value)), value::toString);
            assertEquals(value, Values.decode(HexFormat.of().parseHex(bytes)));
        });
        assertNull(Values.encode(Year.of(2026)), "no value");
    }

    @Test
    void aValueThatIsCutOffIsDamage() {
        fixed().forEach((value, bytes) -> {
            byte[] whole = HexFormat.of().parseHex(bytes);
            for (int length = 0; length < whole.length; length++) {
                byte[] cut = Arrays.copyOf(whole, length);
                var thrown = assertThrows(SASException.class, () -> Values.decode(cut), value + " cut to " + length);
                assertEquals(true, thrown.getMessage().contains("the store is damaged"), thrown::getMessage);
            }
        });
    }
}
