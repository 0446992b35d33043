//! Which part a dump is of, by the headers of the store in it.
//!
//! 1. Take every NOR part of the catalogue whose erase units divide the dump, with as many units as that makes, and
//!    test parts for other sizes of units.
//! 2. Keep those for whose geometry a format's headers say they were made.
//! 3. Of these, keep those on which the store mounts, if there are any; else those for which it was made, and on which
//!    it is damaged: program units and limits have to agree, too.
//! 4. Parts that the catalogue has in this size come first, then others of the catalogue, then test parts.
//!
//! A NAND part's dump has its out-of-band areas, so that its length nearly says which part it is of.

use std::ops::Range;

use norn_embedded::{PartContent, recognise_nand, recognise_nor};
use norn_flash::{Collected, MountError, Nand, Nor, NorPart, Recognised, Reprogramming, StatedGeometry, TenantKind};
use norn_flash_sim::{NandSim, NandSpec, NorSim, PartSpec, catalogue, nand_catalogue};
use norn_heap_image::{UNITS_MAX, mount, unit_count, violations};
use norn_nand_ftl::recognition_bytes;
use norn_sensor_log::SensorLog;

use super::failure::DumpFailure;
use super::piece::Piece;
use super::region::Region;

/// The NOR parts that a dump may be of, the likeliest first; none if it holds no store as a whole.
pub fn nor_candidates(piece: &Piece) -> Vec<NorSim> {
    let candidates = specs(piece.bytes.len()).into_iter().map(|spec| NorSim::from_cells(spec, &piece.bytes));
    let judged: Vec<(Suitability, NorSim)> = candidates.filter(fits).map(|part| (suitability(&part), part)).collect();
    let best = judged.iter().map(|&(suitability, _)| suitability).max();
    let mut fitting: Vec<NorSim> =
        judged.into_iter().filter(|(suitability, _)| Some(*suitability) == best).map(|(_, part)| part).collect();
    let is_catalogued = |part: &NorSim| !part.spec().name.starts_with("test-");
    if fitting.iter().any(is_catalogued) {
        fitting.retain(is_catalogued);
    }
    if fitting.iter().any(is_plain) {
        fitting.retain(is_plain);
    }
    fitting
}

/// Whether the catalogue has the part with this number of units.
fn is_plain(part: &NorSim) -> bool {
    !part.spec().name.contains(':')
}

/// Bytes of the largest erase unit of a part that [`specs`] has.
const LARGEST_UNIT_BYTES: usize = 1 << 17;

/// The parts with units that divide a number of bytes.
fn specs(length: usize) -> Vec<PartSpec> {
    let tests = (8..=16).map(|shift| catalogue::test_part(1, 1 << shift));
    let with_length = |spec: PartSpec| {
        let unit_bytes = spec.part.unit_size_bytes as usize;
        let count = u16::try_from(length / unit_bytes).ok()?;
        let divides = length.is_multiple_of(unit_bytes) && (1..=UNITS_MAX).contains(&usize::from(count));
        divides.then(|| spec.with_unit_count(count))
    };
    catalogue::all().into_iter().chain(tests).filter_map(with_length).collect()
}

/// What is recognised on a part. A store that was made for fewer units than the part has is in these alone, where it
/// mounts.
pub fn nor_contents(part: &NorSim) -> Vec<PartContent> {
    let mut found = contents_of(part);
    for content in found.iter_mut().filter(|content| content.entry.is_none()) {
        if let Ok(Some(recognised)) = &content.recognised
            && let Some(range) = range_of(part, recognised)
        {
            content.range = range;
        }
    }
    found
}

fn contents_of(part: &NorSim) -> Vec<PartContent> {
    let mut part = part.clone();
    let mut found = Vec::new();
    // A simulated part whose power is on reads every address that it has.
    let _ = recognise_nor(&mut part, |content| found.push(content));
    found
}

/// The units that a store was made for, of a part with more of them: where it opens and is sound, or else where it
/// mounts. Such is the heap of a card, whose part's last unit is a journal.
fn range_of(part: &NorSim, found: &Recognised) -> Option<Range<u16>> {
    let mounts = |part: &NorSim| suitability(part) == Suitability::Mounts;
    range_where(part, found, opens).or_else(|| range_where(part, found, mounts))
}

/// Ranges that are tried, where the first units of a store have no header.
const STARTS_MAX: usize = 64;

/// The first range that is accepted of those that a store which was made for fewer units than the part has may be in:
/// they have all its headers.
fn range_where(part: &NorSim, found: &Recognised, accepts: impl Fn(&NorSim) -> bool) -> Option<Range<u16>> {
    let (count, length) = (part.part().unit_count, stated_smaller(part, found)?);
    let (first, last) = (heads(part, found).next()?, heads(part, found).next_back()?);
    let starts = (last + 1).saturating_sub(length)..=first.min(count - length);
    let mut ranges = starts.rev().take(STARTS_MAX).map(|start| start..start + length);
    ranges.find(|range| accepts(&part.with_units(range.clone())))
}

/// How many units a store was made for, if the part has more, of the same size.
fn stated_smaller(part: &NorSim, found: &Recognised) -> Option<u16> {
    let NorPart { unit_count, unit_size_bytes, .. } = part.part();
    let stated = found.geometry.filter(|stated| stated.size_bytes == unit_size_bytes && stated.count < unit_count);
    stated.map(|stated| stated.count)
}

/// The units with a head of a store.
fn heads(part: &NorSim, found: &Recognised) -> impl DoubleEndedIterator<Item = u16> {
    let has_head = move |&unit: &u16| recognised(&part.with_units(unit..unit + 1)).any(|head| head.kind == found.kind);
    (0..part.part().unit_count).filter(has_head)
}

/// What is recognised on a part.
pub fn nand_contents(part: &mut NandSim) -> Vec<PartContent> {
    part.freeze_counters();
    let mut found = Vec::new();
    let mut buffer = vec![0; recognition_bytes(&Nand::part(part))];
    // As above.
    let _ = recognise_nand(part, &mut buffer, |content| found.push(content));
    part.thaw_counters();
    found
}

fn recognised(part: &NorSim) -> impl Iterator<Item = Recognised> {
    contents_of(part).into_iter().filter_map(|content| content.recognised.ok().flatten())
}

/// Whether a format's headers say that they are of this part.
fn fits(part: &NorSim) -> bool {
    let geometry = part.part();
    let own = StatedGeometry { count: geometry.unit_count, size_bytes: geometry.unit_size_bytes };
    let is_possible = |found: &Recognised| match found.kind {
        // Words that are programmed once or twice carry TinyStore's structure and an index on an overlay only.
        TenantKind::INDEX => geometry.reprogramming == Reprogramming::Unlimited,
        TenantKind::HEAP if found.what == TINYSTORE => geometry.reprogramming == Reprogramming::Unlimited,
        _ => true,
    };
    recognised(part).any(|found| found.geometry == Some(own) && is_possible(&found))
}

/// What TinyStore's structure is called by those who recognise it.
const TINYSTORE: &str = "an object heap";

/// How well a part suits the store on it, from the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Suitability {
    /// The store was made for another part.
    OtherPart,
    /// It does not mount for another reason.
    Damaged,
    /// It mounts.
    Mounts,
}

fn suitability(part: &NorSim) -> Suitability {
    let is_limited = part.part().reprogramming != Reprogramming::Unlimited;
    let kinds: Vec<TenantKind> = recognised(part).map(|found| found.kind).collect();
    let is_for_other_part = match kinds.first() {
        Some(&TenantKind::INDEX) => match SensorLog::mount(&mut part.clone()) {
            Ok(_) => return Suitability::Mounts,
            Err(error) => matches!(error, MountError::WrongGeometry { .. }),
        },
        Some(&(TenantKind::HEAP | TenantKind::REMAP)) => match mount(&mut part.clone()) {
            // An overlay serves on any part, but is there for those that need it.
            _ if kinds.contains(&TenantKind::REMAP) && !is_limited => true,
            Ok(_) => return Suitability::Mounts,
            Err(failure) => failure.is_of_other_part(),
        },
        _ => true,
    };
    if is_for_other_part { Suitability::OtherPart } else { Suitability::Damaged }
}

/// A dump as a part of this kind, with as many units as the bytes fill. Missing bytes up to the end of a unit, and up
/// to the number of units that the store states, are erased: a file for a programmer may leave them out.
///
/// # Errors
/// When the dump does not start with a unit, or has too many.
pub fn nor_part(piece: &Piece, spec: &PartSpec) -> Result<NorSim, DumpFailure> {
    let unit_bytes = spec.part.unit_size_bytes;
    if piece.bytes.is_empty() || !piece.start.is_multiple_of(unit_bytes.into()) {
        return Err(DumpFailure::NotUnits { found: piece.region(), part: spec.name.clone(), unit_bytes });
    }
    let count =
        unit_count(piece.bytes.len().div_ceil(unit_bytes as usize) as u64).map_err(DumpFailure::TooManyUnits)?;
    let part = with_unit_count(piece, spec, count);
    match stated_unit_count(&part) {
        Some(stated) if stated > count => Ok(with_unit_count(piece, spec, stated)),
        _ => Ok(part),
    }
}

fn with_unit_count(piece: &Piece, spec: &PartSpec, count: u16) -> NorSim {
    let spec = spec.with_unit_count(count);
    let mut bytes = piece.bytes.clone();
    bytes.resize(spec.part.size_bytes() as usize, 0xFF);
    NorSim::from_cells(spec, &bytes)
}

/// The number of units for which the store on a part was made, if its units have the part's size.
fn stated_unit_count(part: &NorSim) -> Option<u16> {
    let size = part.part().unit_size_bytes;
    recognised(part)
        .filter_map(|found| found.geometry)
        .find(|stated| stated.size_bytes == size)
        .map(|stated| stated.count)
}

/// Where in a dump a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// All of it, and it opens and is sound.
    Opens(Region),
    /// Somewhere around this unit, the first with a header, and in this many bytes.
    Around(u64, u64),
}

/// A store in a part of a dump: what it is, and where, as far as its headers show.
pub fn store_within(piece: &Piece) -> Option<(Recognised, Within)> {
    specs(piece.bytes.len()).into_iter().find_map(|spec| within(&NorSim::from_cells(spec, &piece.bytes), piece.start))
}

fn within(part: &NorSim, base: u64) -> Option<(Recognised, Within)> {
    let found = recognised(part).find(|found| stated_smaller(part, found).is_some())?;
    let bytes = |units: u16| u64::from(units) * u64::from(part.part().unit_size_bytes);
    let place = match range_where(part, &found, opens) {
        Some(range) => Within::Opens(Region { start: base + bytes(range.start), end: base + bytes(range.end) }),
        None => Within::Around(base + bytes(heads(part, &found).next()?), bytes(stated_smaller(part, &found)?)),
    };
    Some((found, place))
}

/// Whether the store on a part opens and is sound, on this part or on another one with such units.
fn opens(part: &NorSim) -> bool {
    let (geometry, cells) = (part.part(), part.cells());
    specs(cells.len())
        .into_iter()
        .filter(|spec| spec.part.unit_size_bytes == geometry.unit_size_bytes)
        .map(|spec| NorSim::from_cells(spec, &cells))
        .any(|mut part| fits(&part) && suitability(&part) == Suitability::Mounts && is_sound(&mut part))
}

/// Whether a store that mounts has no violations.
fn is_sound(part: &mut NorSim) -> bool {
    if recognised(part).next().is_some_and(|found| found.kind != TenantKind::INDEX) {
        return mount(part).is_ok_and(|mut heap| violations(&mut heap).is_ok_and(|found| found.is_empty()));
    }
    SensorLog::mount(part).is_ok_and(|mut log| {
        let mut found: Collected = Collected::default();
        log.index().audit(&mut found).is_ok() && found.violations.is_empty()
    })
}

/// The store of which a dump has only the first bytes: what it is, and bytes of all of it.
pub fn store_cut_short(piece: &Piece) -> Option<(Recognised, u64)> {
    let mut bytes = piece.bytes.clone();
    bytes.resize(bytes.len().next_multiple_of(LARGEST_UNIT_BYTES), 0xFF);
    specs(bytes.len()).into_iter().find_map(|spec| {
        let size = spec.part.unit_size_bytes;
        let whole = |found: &Recognised| {
            let stated = found.geometry.filter(|stated| stated.size_bytes == size)?;
            Some(u64::from(stated.count) * u64::from(size)).filter(|&whole| whole > piece.bytes.len() as u64)
        };
        recognised(&NorSim::from_cells(spec, &bytes)).find_map(|found| Some((found, whole(&found)?)))
    })
}

/// The store on NAND of which a dump has only the first blocks, and the parts that it may be of.
pub fn nand_store_cut_short(piece: &Piece) -> Option<(Recognised, Vec<NandSpec>)> {
    let length = piece.bytes.len() as u64;
    let mut found = None;
    let mut specs = nand_catalogue::all();
    specs.retain(|spec| {
        spec.dump_bytes() > length && {
            let start = recognised_at_start(spec, &piece.bytes);
            found = found.or(start);
            start.is_some()
        }
    });
    // Some parts differ in the bus only.
    specs.sort_by_key(NandSpec::dump_bytes);
    specs.dedup_by_key(|spec| spec.dump_bytes());
    Some((found?, specs))
}

/// The store of a dump, as far as the blocks that it has show.
fn recognised_at_start(spec: &NandSpec, bytes: &[u8]) -> Option<Recognised> {
    let mut start = spec.clone();
    let block_bytes = spec.dump_bytes() / u64::from(spec.part.block_count);
    start.part.block_count = (bytes.len() as u64).div_ceil(block_bytes).max(1) as u16;
    start.part.good_blocks_min = start.part.good_blocks_min.min(start.part.block_count);
    let mut bytes = bytes.to_vec();
    bytes.resize(start.dump_bytes() as usize, 0xFF);
    let contents = nand_contents(&mut NandSim::from_cells(start, &bytes));
    contents.into_iter().find_map(|content| content.recognised.ok().flatten())
}

/// The NAND parts that a dump may be of.
pub fn nand_candidates(bytes: &[u8]) -> Vec<NandSim> {
    let specs = nand_catalogue::all().into_iter().filter(|spec| spec.dump_bytes() == bytes.len() as u64);
    let candidates = specs.map(|spec| NandSim::from_cells(spec, bytes));
    candidates.filter_map(|mut part| (!nand_contents(&mut part).is_empty()).then_some(part)).collect()
}
