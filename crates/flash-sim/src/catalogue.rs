//! Named parts, each with the source of its figures.
//!
//! A simulated part is never memory-mapped: a read through a pointer could be neither counted nor cut.

use norn_flash::{EepromPart, NorPart, Reprogramming};

use crate::eeprom::EepromSpec;
use crate::spec::{OperationTime, PartSpec, Timings};

const KIB: u32 = 1024;

/// TinyStore's part: 448 KB of NOR in 56 erase units of 8 KB, words of 1, 2 or 4 bytes.
pub fn tinystore() -> PartSpec {
    PartSpec {
        name: "tinystore".to_owned(),
        part: NorPart {
            unit_count: 56,
            unit_size_bytes: 8 * KIB,
            program_unit_bytes: 1,
            reprogramming: Reprogramming::Unlimited,
            mapped: false,
            endurance_erases: Some(100_000),
        },
        word_bytes: 4,
        timings: Timings {
            read: OperationTime::per_word(100),
            program: OperationTime::per_word(30_000),
            erase_ns: 500_000_000,
        },
        source: "TinyStore, LCTES 2006, section 6: 448 KB, 100 ns read, 30 us program, 0.5 s erase, 100,000 erases",
    }
}

/// TinyStore's 448 KB in erase units of another size: 2, 4, 8, 16, 32 or 64 KB.
///
/// # Panics
/// For any other size.
pub fn tinystore_units(unit_size_kib: u32) -> PartSpec {
    assert!(matches!(unit_size_kib, 2 | 4 | 8 | 16 | 32 | 64), "the lab sweeps units of 2 to 64 KB");
    let mut spec = tinystore();
    if unit_size_kib != 8 {
        spec.name = format!("tinystore-{unit_size_kib}k");
        spec.part.unit_size_bytes = unit_size_kib * KIB;
        spec.part.unit_count = (448 / unit_size_kib) as u16;
    }
    spec
}

/// The EEPROM that TinyStore's flash is compared with: 448 KB, words of 1, 2 or 4 bytes.
pub fn tinystore_eeprom() -> EepromSpec {
    EepromSpec {
        name: "tinystore-eeprom".to_owned(),
        part: EepromPart { size_bytes: 448 * KIB, word_bytes: 4, endurance_writes: Some(100_000) },
        read_ns: 100,
        erase_ns: 3_500_000,
        write_ns: 30_000,
        source: "TinyStore, LCTES 2006, section 6.2: 448 KB, 100 ns read, 3.5 ms erase and 30 us write of a word of 1, \
                 2 or 4 bytes, 100,000 erases",
    }
}

/// An EEPROM part of any size with the times of [`tinystore_eeprom`] and no end of life, for tests.
pub fn eeprom_test_part(size_bytes: u32, word_bytes: u8) -> EepromSpec {
    EepromSpec {
        name: format!("test-eeprom-{size_bytes}x{word_bytes}"),
        part: EepromPart { size_bytes, word_bytes, endurance_writes: None },
        source: "made up for tests, with the times of TinyStore's EEPROM",
        ..tinystore_eeprom()
    }
}

/// A serial NOR of the Winbond W25Q family: 1 MB in units of 4 KB, bytes, over 104 MHz SPI.
pub fn w25q() -> PartSpec {
    PartSpec {
        name: "w25q80".to_owned(),
        part: NorPart {
            unit_count: 256,
            unit_size_bytes: 4 * KIB,
            program_unit_bytes: 1,
            reprogramming: Reprogramming::Unlimited,
            mapped: false,
            endurance_erases: Some(100_000),
        },
        word_bytes: 4,
        timings: Timings {
            read: OperationTime { call_ns: 480, word_ns: 0, byte_ns: 77 },
            program: OperationTime { call_ns: 28_000, word_ns: 0, byte_ns: 1_500 },
            erase_ns: 45_000_000,
        },
        source: "W25Q-JV family, typical values: first byte about 30 us, page of 256 about 0.4 ms, 4 KB erase 45 ms \
                 (unverified); read time is command, address and data bits at 104 MHz",
    }
}

/// The flash inside nRF52840: 1 MB in pages of 4 KB; a word of 4 bytes may be programmed twice between erases.
pub fn nrf52840() -> PartSpec {
    PartSpec {
        name: "nrf52840".to_owned(),
        part: NorPart {
            unit_count: 256,
            unit_size_bytes: 4 * KIB,
            program_unit_bytes: 4,
            reprogramming: Reprogramming::Times(2),
            mapped: false,
            endurance_erases: Some(10_000),
        },
        word_bytes: 4,
        timings: Timings {
            read: OperationTime::per_word(62),
            program: OperationTime::per_word(41_000),
            erase_ns: 85_000_000,
        },
        source: "nRF52840 product specification, NVMC: 41 us a word, 85 ms a page (unverified), 10,000 erases, two \
                 programs of a word; read as two wait states at 64 MHz (unverified); its further limit of 403 programs \
                 of a 512-byte block is not simulated",
    }
}

fn stm32(name: &str, unit_count: u16, unit_size_bytes: u32, program_unit_bytes: u8, source: &'static str) -> PartSpec {
    PartSpec {
        name: name.to_owned(),
        part: NorPart {
            unit_count,
            unit_size_bytes,
            program_unit_bytes,
            reprogramming: Reprogramming::Once,
            mapped: false,
            endurance_erases: Some(10_000),
        },
        word_bytes: program_unit_bytes,
        timings: Timings {
            read: OperationTime::per_word(50),
            program: OperationTime::per_word(85_000),
            erase_ns: 22_000_000,
        },
        source,
    }
}

/// The flash inside STM32L4: 512 KB in pages of 2 KB; double words of 8 bytes with ECC, programmed once.
pub fn stm32l4() -> PartSpec {
    let source =
        "STM32L4 datasheet: 82 to 91 us a double word, 22 ms a page (unverified), 10,000 erases; ECC: one program";
    stm32("stm32l4", 256, 2 * KIB, 8, source)
}

/// The flash inside STM32U5: 1 MB in pages of 8 KB; quad words of 16 bytes with ECC, programmed once.
pub fn stm32u5() -> PartSpec {
    let source =
        "STM32U5: quad words with ECC, one program, 10,000 erases (unverified); times as STM32L4's (unverified)";
    stm32("stm32u5", 128, 8 * KIB, 16, source)
}

/// The flash inside STM32H7Bx: 2 MB in sectors of 8 KB; flash words of 32 bytes with ECC, programmed once.
pub fn stm32h7b() -> PartSpec {
    let source = "STM32H7A/B: 32-byte flash words with ECC, one program, 10,000 erases (unverified); times as \
                  STM32L4's (unverified)";
    stm32("stm32h7b", 256, 8 * KIB, 32, source)
}

/// The part of the fat lists' evaluation: Samsung K8C1215ETM, 64 MB in blocks of 64 KB, words of 2 bytes.
pub fn k8c1215etm() -> PartSpec {
    PartSpec {
        name: "k8c1215etm".to_owned(),
        part: NorPart {
            unit_count: 1024,
            unit_size_bytes: 64 * KIB,
            program_unit_bytes: 2,
            reprogramming: Reprogramming::Unlimited,
            mapped: false,
            endurance_erases: Some(100_000),
        },
        word_bytes: 2,
        timings: Timings {
            read: OperationTime::per_word(110),
            program: OperationTime::per_word(80_000),
            erase_ns: 600_000_000,
        },
        source: "fat lists, 2011, evaluation: 110 ns read, 80 us program, 0.6 s erase of 32K words, 100,000 erases; \
                 that words may be programmed repeatedly is the paper's assumption",
    }
}

/// A part of any geometry with TinyStore's times and no end of life, for tests: `unit_count` units of
/// `unit_size_bytes`.
pub fn test_part(unit_count: u16, unit_size_bytes: u32) -> PartSpec {
    let mut spec = tinystore();
    spec.name = format!("test-{unit_count}x{unit_size_bytes}");
    spec.part = NorPart { unit_count, unit_size_bytes, endurance_erases: None, ..spec.part };
    spec.source = "made up for tests, with TinyStore's times";
    spec
}

/// A [`test_part`] with program units of `program_unit_bytes` and a limit of programs between erases.
pub fn limited_test_part(
    unit_count: u16,
    unit_size_bytes: u32,
    program_unit_bytes: u8,
    reprogramming: Reprogramming,
) -> PartSpec {
    let mut spec = test_part(unit_count, unit_size_bytes);
    let kind = match reprogramming {
        Reprogramming::Once => "once".to_owned(),
        Reprogramming::Times(times) => format!("times{times}-"),
        Reprogramming::Unlimited => "unlimited".to_owned(),
    };
    spec.name = format!("test-{kind}{program_unit_bytes}-{unit_count}x{unit_size_bytes}");
    spec.part = NorPart { program_unit_bytes, reprogramming, ..spec.part };
    spec.word_bytes = program_unit_bytes.max(4);
    spec
}

/// Every named part, [`test_part`] excepted.
pub fn all() -> Vec<PartSpec> {
    let mut parts = vec![tinystore()];
    parts.extend([2, 4, 16, 32, 64].map(tinystore_units));
    parts.extend([w25q(), nrf52840(), stm32l4(), stm32u5(), stm32h7b(), k8c1215etm()]);
    parts
}

impl PartSpec {
    /// The same kind of part with another number of erase units, by the name that
    /// [`by_name`] finds: `NAME:UNITS`, or the plain name for the catalogue's own number.
    #[must_use]
    pub fn with_unit_count(&self, unit_count: u16) -> PartSpec {
        let mut spec = self.clone();
        if unit_count == spec.part.unit_count {
            return spec;
        }
        spec.part.unit_count = unit_count;
        let kind = spec.name.split(':').next().unwrap_or_default();
        spec.name = match by_name(kind) {
            _ if kind.starts_with("test-") => format!("test-{unit_count}x{}", spec.part.unit_size_bytes),
            Some(known) if known.part.unit_count == unit_count => kind.to_owned(),
            _ => format!("{kind}:{unit_count}"),
        };
        spec
    }
}

/// The part with this name; also `test-UNITSxBYTES`, and `NAME:UNITS` for a named part with another number of erase
/// units.
pub fn by_name(name: &str) -> Option<PartSpec> {
    if let Some((kind, units)) = name.split_once(':') {
        let spec = all().into_iter().find(|spec| spec.name == kind)?.with_unit_count(units.parse().ok()?);
        return (spec.name == name && spec.part.validate().is_ok()).then_some(spec);
    }
    if let Some((units, bytes)) = name.strip_prefix("test-").and_then(|rest| rest.split_once('x')) {
        let spec = test_part(units.parse().ok()?, bytes.parse().ok()?);
        return spec.part.validate().is_ok().then_some(spec);
    }
    all().into_iter().find(|spec| spec.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_possible_and_found_by_its_name() {
        for spec in all().into_iter().chain([test_part(8, 1024)]) {
            assert_eq!(spec.part.validate(), Ok(()), "{}", spec.name);
            assert!(spec.word_bytes.is_power_of_two() && spec.word_bytes >= spec.part.program_unit_bytes);
            assert!(!spec.part.mapped && !spec.source.is_empty());
            assert_eq!(by_name(&spec.name), Some(spec));
        }
        assert_eq!(by_name("test-0x1024"), None);
        assert_eq!(by_name("flux"), None);
    }

    #[test]
    fn a_named_part_has_any_number_of_units() {
        let spec = by_name("stm32l4:32").unwrap();
        assert_eq!((spec.part.unit_count, spec.part.program_unit_bytes, &*spec.name), (32, 8, "stm32l4:32"));
        assert_eq!(spec.with_unit_count(256), stm32l4());
        assert_eq!(spec.with_unit_count(7), by_name("stm32l4:7").unwrap());
        for name in ["stm32l4:256", "stm32l4:0", "stm32l4:032", "stm32l4:x", "flux:3", "test-8x1024:3", "stm32l4:70000"]
        {
            assert_eq!(by_name(name), None, "{name}");
        }
    }

    #[test]
    fn the_eeprom_is_as_large_as_the_flash() {
        assert_eq!(tinystore_eeprom().part.validate(), Ok(()));
        assert_eq!(tinystore_eeprom().part.size_bytes, tinystore().part.size_bytes());
    }

    #[test]
    fn the_lab_sweeps_448_kb() {
        for unit_size_kib in [2, 4, 8, 16, 32, 64] {
            assert_eq!(tinystore_units(unit_size_kib).part.size_bytes(), 448 * KIB);
        }
    }
}
