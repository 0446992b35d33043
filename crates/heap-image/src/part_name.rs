//! Names of simulated parts, as commands take them.

use norn_flash_sim::{PartSpec, catalogue};

use crate::part::UNITS_MAX;

/// The part of this name, for an argument.
///
/// # Errors
/// Says which names there are.
pub fn part_by_name(name: &str) -> Result<PartSpec, String> {
    if let Some(geometry) = name.strip_prefix("test-") {
        return test_part(geometry);
    }
    catalogue::by_name(name).ok_or_else(|| {
        let names: Vec<String> = catalogue::all().into_iter().map(|part| part.name).collect();
        format!("no such part; there are {}, and test-UNITSxBYTES", names.join(", "))
    })
}

/// Erase units, and bytes of each, of `UNITSxBYTES`.
fn geometry_of(text: &str) -> Option<(u64, u32)> {
    let (units, bytes) = text.split_once('x')?;
    Some((units.parse().ok()?, bytes.parse().ok()?))
}

/// The test part of this geometry, UNITSxBYTES.
fn test_part(geometry: &str) -> Result<PartSpec, String> {
    let Some((unit_count, unit_size_bytes)) = geometry_of(geometry) else {
        return Err("a test part is named test-UNITSxBYTES, such as test-16x4096".to_owned());
    };
    match u16::try_from(unit_count) {
        Ok(unit_count) if usize::from(unit_count) <= UNITS_MAX => {
            let spec = catalogue::test_part(unit_count, unit_size_bytes);
            spec.part.validate().map_err(|error| format!("such a part cannot exist: {error}"))?;
            Ok(spec)
        }
        _ => Err(format!("a part of {unit_count} erase units: norn handles up to {UNITS_MAX}")),
    }
}
