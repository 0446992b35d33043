//! Named NAND parts, each with the source of its figures, and the buses they are read over.

use norn_flash::{BadMark, Column, ColumnAccess, Correction, NandPart, NandTimings};

use crate::catalogue;

/// A NAND part that can be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NandSpec {
    /// Its name, by which [`by_name`] finds it.
    pub name: String,
    /// Its geometry and limits.
    pub part: NandPart,
    /// How long operations take.
    pub timings: NandTimings,
    /// Where the figures are from, and which of them are unverified.
    pub source: &'static str,
}

impl NandSpec {
    /// Bytes of a dump of the whole part: every page with its out-of-band area.
    pub fn dump_bytes(&self) -> u64 {
        u64::from(self.part.page_count()) * u64::from(self.part.register_bytes())
    }
}

/// The bus between a processor and its parts, as in Tables 1 and 2 of the demand-paging paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bus {
    /// 33 MHz, 8 bits wide: a transfer takes 40 ns (Table 1).
    Mhz33Bits8,
    /// 54 MHz, 16 bits wide: a transfer takes 18 ns (Table 2).
    Mhz54Bits16,
}

impl Bus {
    /// Both.
    pub const ALL: [Bus; 2] = [Bus::Mhz33Bits8, Bus::Mhz54Bits16];

    const fn cycle_ns(self) -> u32 {
        match self {
            Bus::Mhz33Bits8 => 40,
            Bus::Mhz54Bits16 => 18,
        }
    }

    const fn width_bytes(self) -> u32 {
        match self {
            Bus::Mhz33Bits8 => 1,
            Bus::Mhz54Bits16 => 2,
        }
    }

    /// Time of a byte over this bus from a device that makes one transfer of at most `width_bytes` in `cycle_ns`: the
    /// slower cycle of the two, and the smaller width.
    pub const fn byte_ns(self, cycle_ns: u32, width_bytes: u32) -> u32 {
        let cycle = if cycle_ns > self.cycle_ns() { cycle_ns } else { self.cycle_ns() };
        let width = if width_bytes < self.width_bytes() { width_bytes } else { self.width_bytes() };
        cycle / width
    }

    /// Time of a byte of the tables' NOR flash, which is as fast as the bus.
    pub const fn nor_byte_ns(self) -> u32 {
        self.byte_ns(0, 2)
    }
}

const SMALL_PAGE_MARK: BadMark = BadMark { column: Column(517), pages: 2 };
const ONE_BIT: Correction = Correction { bits: 1, bytes: 512 };

const fn small_page(block_count: u16, good_blocks_min: u16, endurance_erases: u32) -> NandPart {
    NandPart {
        block_count,
        pages_per_block: 32,
        page_bytes: 512,
        oob_bytes: 16,
        columns: ColumnAccess::Forwards,
        correction: ONE_BIT,
        bad_mark: SMALL_PAGE_MARK,
        good_blocks_min,
        endurance_erases: Some(endurance_erases),
    }
}

const fn large_page(block_count: u16, good_blocks_min: u16, columns: ColumnAccess) -> NandPart {
    NandPart {
        block_count,
        pages_per_block: 64,
        page_bytes: 2048,
        oob_bytes: 64,
        columns,
        correction: ONE_BIT,
        bad_mark: BadMark { column: Column(2048), pages: 2 },
        good_blocks_min,
        endurance_erases: Some(100_000),
    }
}

/// The small-page part of the demand-paging paper: 64 MB, pages of 512 bytes, 8 bits wide.
pub fn k9f1208q0b(bus: Bus) -> NandSpec {
    NandSpec {
        name: name_on("k9f1208q0b", bus),
        part: small_page(4096, 4026, 100_000),
        timings: NandTimings { load_ns: 15_000, byte_ns: bus.byte_ns(50, 1), program_ns: 200_000, erase_ns: 2_000_000 },
        source: "demand paging, CARDIS 2010, Tables 1 and 2: 15 us load, 50 ns a byte on either bus; program 200 us, \
                 erase 2 ms, at least 4,026 good blocks, 100,000 erases, one bit a page to correct (unverified)",
    }
}

/// The large-page part of the demand-paging paper: 256 MB, pages of 2,048 bytes. Table 2 reads it 16 bits wide, which
/// the part of that name is not.
pub fn mt29f2g08(bus: Bus) -> NandSpec {
    NandSpec {
        name: name_on("mt29f2g08", bus),
        part: large_page(2048, 2008, ColumnAccess::Forwards),
        timings: NandTimings { load_ns: 25_000, byte_ns: bus.byte_ns(40, 2), program_ns: 300_000, erase_ns: 2_000_000 },
        source: "demand paging, CARDIS 2010, Tables 1 and 2: 25 us load, 40 or 20 ns a byte, read forwards; program \
                 300 us, erase 2 ms, at least 2,008 good blocks, 100,000 erases, one bit of 512 bytes to correct \
                 (unverified)",
    }
}

/// The part of the real-time collector's paper: 16 MB, pages of 512 bytes. Its times are measured on a prototype with
/// the transfers in them, so that transfers take no further time here.
pub fn k9f2808() -> NandSpec {
    NandSpec {
        name: "k9f2808".to_owned(),
        part: small_page(1024, 1004, 1_000_000),
        timings: NandTimings { load_ns: 348_000, byte_ns: 0, program_ns: 919_000, erase_ns: 1_881_000 },
        source: "real-time garbage collection, TECS 2004, Table I: read 348 us, write 919 us, erase 1,881 us, measured \
                 with transfers; blocks of 16 KB, 1,000,000 erases; at least 1,004 good blocks, one bit a page to \
                 correct (unverified)",
    }
}

/// A part of 1 GB: pages of 2,048 bytes, any column by a command, over a bus of its own speed.
pub fn k9k8g08() -> NandSpec {
    NandSpec {
        name: "k9k8g08".to_owned(),
        part: large_page(8192, 8032, ColumnAccess::Anywhere),
        timings: NandTimings { load_ns: 25_000, byte_ns: 25, program_ns: 200_000, erase_ns: 1_500_000 },
        source: "K9K8G08U0A, typical values: 25 us load, 25 ns a byte, 200 us program, 1.5 ms erase, at least 8,032 \
                 good blocks, 100,000 erases, one bit of 512 bytes to correct (all unverified)",
    }
}

/// A small part for tests, with the times of K9F1208Q0B and no end of life: `block_count` blocks of `pages_per_block`
/// pages of `page_bytes` and a 32nd of that, at least 16, out of band.
pub fn test_part(block_count: u16, pages_per_block: u16, page_bytes: u16) -> NandSpec {
    let oob_bytes = (page_bytes / 32).max(16);
    NandSpec {
        name: format!("nandtest-{block_count}x{pages_per_block}x{page_bytes}"),
        part: NandPart {
            block_count,
            pages_per_block,
            page_bytes,
            oob_bytes,
            correction: Correction { bits: 1, bytes: page_bytes.clamp(1, 512) },
            bad_mark: BadMark { column: Column(page_bytes.saturating_add(5)), pages: pages_per_block.min(2) },
            good_blocks_min: 1,
            endurance_erases: None,
            ..small_page(1, 1, 1)
        },
        source: "made up for tests, with the times of K9F1208Q0B",
        ..k9f1208q0b(Bus::Mhz33Bits8)
    }
}

fn name_on(part: &str, bus: Bus) -> String {
    match bus {
        Bus::Mhz33Bits8 => part.to_owned(),
        Bus::Mhz54Bits16 => format!("{part}-54mhz"),
    }
}

/// Every named part, [`test_part`] excepted.
pub fn all() -> Vec<NandSpec> {
    let mut parts: Vec<NandSpec> = Bus::ALL.into_iter().flat_map(|bus| [k9f1208q0b(bus), mt29f2g08(bus)]).collect();
    parts.extend([k9f2808(), k9k8g08()]);
    parts
}

/// The part of this name, for the argument of a command.
///
/// # Errors
/// Says which names there are.
pub fn named(name: &str) -> Result<NandSpec, String> {
    by_name(name).ok_or_else(|| {
        let names: Vec<String> = all().into_iter().map(|part| part.name).collect();
        let wrong = match catalogue::by_name(name) {
            Some(_) => format!("{name} is a NOR part, for heaps, logs and cards, and this takes a NAND part"),
            None => "no such NAND part".to_owned(),
        };
        format!("{wrong}; there are {}, and nandtest-BLOCKSxPAGESxBYTES", names.join(", "))
    })
}

/// The part with this name; also `nandtest-BLOCKSxPAGESxBYTES`.
pub fn by_name(name: &str) -> Option<NandSpec> {
    if let Some(rest) = name.strip_prefix("nandtest-") {
        let mut numbers = rest.split('x').map(|number| number.parse::<u16>().ok());
        let spec = test_part(numbers.next()??, numbers.next()??, numbers.next()??);
        return (spec.name == name && spec.part.validate().is_ok()).then_some(spec);
    }
    all().into_iter().find(|spec| spec.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_possible_and_found_by_its_name() {
        for spec in all().into_iter().chain([test_part(8, 4, 512), test_part(1, 1, 1)]) {
            assert_eq!(spec.part.validate(), Ok(()), "{}", spec.name);
            assert!(!spec.source.is_empty());
            assert_eq!(by_name(&spec.name), Some(spec));
        }
        assert!(named("w25q80").unwrap_err().starts_with("w25q80 is a NOR part, for heaps, logs and cards"));
        assert!(named("flux").unwrap_err().starts_with("no such NAND part; there are k9f1208q0b"));
        for name in
            ["nandtest-0x1x512", "nandtest-1x1x500", "nandtest-1x1x512x1", "nandtest-1x1", "nandtest-1x1x65535", "flux"]
        {
            assert_eq!(by_name(name), None, "{name}");
        }
    }

    #[test]
    fn sizes_are_those_of_the_data_sheets() {
        let mib = |spec: NandSpec| spec.part.size_bytes() >> 20;
        let sizes = [k9f1208q0b(Bus::Mhz33Bits8), mt29f2g08(Bus::Mhz33Bits8), k9f2808(), k9k8g08()].map(mib);
        assert_eq!(sizes, [64, 256, 16, 1024]);
        assert_eq!(k9f2808().part.block_bytes(), 16 * 1024);
    }
}
