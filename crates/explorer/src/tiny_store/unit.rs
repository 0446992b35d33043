//! A unit of a heap with TinyStore's structure in areas.
//!
//! Descriptors say which sectors are in use, so that an image is shown alike before and after a mount.

use norn_flash::Address;
use norn_nor_store::SectorKind;
use norn_nor_store::format::{DESCRIPTOR_BYTES, HEADER_BYTES};
use norn_nor_store::inspection::{DescriptorSays, Purpose, RawSector, RawUnit, SectorState};

use super::entry_text::{entry_text, kind_name};
use crate::anatomy::{Area, ERASED, HEAD, Kind, State, UNKNOWN};

pub const DESCRIPTOR: Kind = Kind::new(b'd', "descriptor", "sector descriptor");
pub const LEAF: Kind = Kind::new(b'o', "leaf", "descriptor of an object, or a name");
pub const RECORD: Kind = Kind::new(b'r', "record", "record");
pub const NODE: Kind = Kind::new(b'n', "node", "tree node");
pub const OPAQUE: Kind = Kind::new(b'q', "opaque", "header or deltas");
pub const ENTRY: Kind = Kind::new(b'l', "log", "log entry");
const SCRATCH: Kind = Kind::new(b's', "scratch", "scratch bits");
/// Kinds of areas.
pub const KINDS: &[Kind] = &[HEAD, DESCRIPTOR, LEAF, RECORD, NODE, OPAQUE, ENTRY, SCRATCH, UNKNOWN, ERASED];

/// The areas of a unit with an identity, without gaps.
pub fn areas(unit: &RawUnit<&[u8]>, cells: &[u8]) -> Vec<Area> {
    let head = format!("head: {}", unit.purpose().name());
    let mut areas = vec![area(unit.start(), HEADER_BYTES, HEAD, State::Live, head)];
    match unit.purpose() {
        Purpose::Log(_) => areas.extend(unit.log().map(|place| match place.entry {
            Some(entry) => area(place.address, 8, ENTRY, State::Live, entry_text(&entry).to_string()),
            None => area(place.address, 8, UNKNOWN, State::Obsolete, "torn or void place of the log".to_owned()),
        })),
        Purpose::Data(_) => areas.extend(of_data(unit, cells)),
        _ => {}
    }
    let known = areas.last().map_or(0, |last| last.at.0 + last.bytes - unit.start().0);
    let rest = cells.get(known as usize..).unwrap_or_default();
    let used = rest.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last as u32 + 1);
    let from = unit.start().offset(known);
    let (kind, text) = match unit.purpose() {
        Purpose::Scratch => (SCRATCH, "scratch bits"),
        _ => (UNKNOWN, "no whole entry or sector"),
    };
    if used > 0 {
        areas.push(area(from, used, kind, State::Live, text.to_owned()));
    }
    if rest.len() as u32 > used {
        areas.push(area(from.offset(used), rest.len() as u32 - used, ERASED, State::Live, "erased".to_owned()));
    }
    areas
}

/// Descriptors, the gap, and sectors up to the unit's end.
fn of_data(unit: &RawUnit<&[u8]>, cells: &[u8]) -> Vec<Area> {
    let (mut areas, mut sectors) = (Vec::new(), Vec::<Area>::new());
    for place in unit.descriptors() {
        let number = place.number;
        let (kind, state, text) = match place.says {
            DescriptorSays::Erased => (DESCRIPTOR, State::Obsolete, format!("descriptor {number}: erased")),
            DescriptorSays::Void => (UNKNOWN, State::Obsolete, format!("descriptor {number}: torn")),
            DescriptorSays::Sector(sector) => {
                let state = state_of(&sector);
                let name = kind_name(sector.kind);
                sectors.push(area(
                    unit.start().offset(sector.offset),
                    sector.bytes,
                    kind_of(sector.kind),
                    state,
                    format!("{name}, sector {number}"),
                ));
                (
                    DESCRIPTOR,
                    state,
                    format!("descriptor {number}: {name}, {} bytes at {:#x}", sector.bytes, sector.offset),
                )
            }
        };
        areas.push(area(place.address, DESCRIPTOR_BYTES, kind, state, text));
    }
    let end = unit.start().0 + cells.len() as u32;
    sectors.sort_by_key(|sector| sector.at);
    let mut next = areas.last().map_or(unit.start().0 + HEADER_BYTES, |last| last.at.0 + last.bytes);
    for sector in sectors {
        // A damaged descriptor may name a place outside of the unit, or in another sector.
        if sector.at.0 < next || sector.at.0 + sector.bytes > end || sector.bytes == 0 {
            continue;
        }
        if sector.at.0 > next {
            let bytes = &cells[(next - unit.start().0) as usize..(sector.at.0 - unit.start().0) as usize];
            let (kind, text) = match bytes.iter().all(|&byte| byte == 0xFF) {
                true => (ERASED, "erased"),
                false => (UNKNOWN, "no sector"),
            };
            areas.push(area(Address(next), sector.at.0 - next, kind, State::Live, text.to_owned()));
        }
        next = sector.at.0 + sector.bytes;
        areas.push(sector);
    }
    areas
}

/// Whether a sector is in use.
fn state_of(sector: &RawSector) -> State {
    match sector.state {
        SectorState::Live => State::Live,
        SectorState::Obsolete => State::Obsolete,
    }
}

fn kind_of(kind: SectorKind) -> Kind {
    match kind {
        SectorKind::Leaf => LEAF,
        SectorKind::Record => RECORD,
        SectorKind::Node => NODE,
        SectorKind::Opaque => OPAQUE,
    }
}

fn area(at: Address, bytes: u32, kind: Kind, state: State, text: String) -> Area {
    Area { at, bytes, kind, state, text }
}
