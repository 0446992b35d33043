//! Names of simulated parts, as commands take them.

use norn_flash_sim::{PartSpec, catalogue, nand_catalogue};

use crate::part::UNITS_MAX;

/// The part of this name, for an argument: one of the catalogue, `NAME:UNITS` with another number of erase units, or
/// `test-UNITSxBYTES`.
///
/// # Errors
/// Says which names there are, or what about the part cannot be.
pub fn part_by_name(name: &str) -> Result<PartSpec, String> {
    if let Some(geometry) = name.strip_prefix("test-") {
        return test_part(geometry);
    }
    let (kind, units) = name.split_once(':').map_or((name, None), |(kind, units)| (kind, Some(units)));
    let spec = catalogue::by_name(kind).ok_or_else(|| {
        let names: Vec<String> = catalogue::all().into_iter().map(|part| part.name).collect();
        let wrong = match nand_catalogue::by_name(name) {
            Some(_) => format!("{name} is a NAND part, for block devices and programs, and this takes a NOR part"),
            None => "no such part".to_owned(),
        };
        format!("{wrong}; there are {}, NAME:UNITS of each, and test-UNITSxBYTES", names.join(", "))
    })?;
    match units {
        None => Ok(spec),
        Some(units) => {
            let units = units.parse().map_err(|_| format!("{units:?} is not a number of erase units"))?;
            possible(spec.with_unit_count(unit_count(units)?))
        }
    }
}

/// The test part of this geometry, UNITSxBYTES.
fn test_part(geometry: &str) -> Result<PartSpec, String> {
    let numbers = geometry.split_once('x').and_then(|(units, bytes)| Some((units.parse().ok()?, bytes.parse().ok()?)));
    let (units, bytes) = numbers.ok_or("a test part is named test-UNITSxBYTES, such as test-16x4096")?;
    possible(catalogue::test_part(unit_count(units)?, bytes))
}

/// A number of erase units that every format can have.
///
/// # Errors
/// Says what to do where there are more.
pub fn unit_count(units: u64) -> Result<u16, String> {
    let count = u16::try_from(units).ok().filter(|&count| usize::from(count) <= UNITS_MAX);
    count.ok_or_else(|| {
        format!(
            "{units} erase units: a store has up to {UNITS_MAX}. Take a region of the part with fewer units, or larger \
             units: many parts also erase 32 or 64 KB at once"
        )
    })
}

fn possible(spec: PartSpec) -> Result<PartSpec, String> {
    spec.part.validate().map_err(|error| format!("such a part cannot exist: {error}"))?;
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_parts_or_say_why_not() {
        let largest = part_by_name(&format!("w25q80:{UNITS_MAX}")).unwrap();
        assert_eq!((usize::from(largest.part.unit_count), largest.part.unit_size_bytes), (UNITS_MAX, 4096));
        assert_eq!(part_by_name("stm32l4:256").unwrap().name, "stm32l4");
        assert_eq!(part_by_name("test-12x4096").unwrap().name, "test-12x4096");
        for (name, said) in [
            ("w25q80:4096", "4096 erase units: a store has up to 4080. Take a region"),
            ("test-70000x4096", "70000 erase units: a store has up to 4080"),
            ("w25q80:many", "\"many\" is not a number of erase units"),
            ("w25q80:0", "such a part cannot exist"),
            ("test-0x4096", "such a part cannot exist"),
            ("test-16", "a test part is named test-UNITSxBYTES"),
            ("w26q80:16", "no such part; there are tinystore,"),
            ("k9f2808", "k9f2808 is a NAND part, for block devices and programs, and this takes a NOR part; there are"),
        ] {
            let why = part_by_name(name).unwrap_err();
            assert!(why.contains(said), "{name}: {why}");
        }
    }
}
