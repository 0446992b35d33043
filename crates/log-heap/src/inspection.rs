//! What tools show of a part: unit heads, sectors, places and records of the log, decoded from bytes of any contents;
//! and of a mounted heap how full it is, and where the value of a field is.

use core::fmt;

use norn_flash::{Address, EraseUnit, Nor};
use norn_heap::{AccessError, Listener, Ref, StoreError};

use crate::format::{
    Change, Class, DIRECTORY, DeltaPart, ENTRY_BYTES, Entry, Geometry, Granule, HEADER_BYTES, Header, Owner, Place,
    SectorKind, Stream, UNIT_HEAD_BYTES, UnitHead,
};
use crate::heap::LogHeapIn;
use crate::log_record::{Record, Tails};
use crate::units::UnitRows;

/// The head of a unit, if `bytes` are one of an image of this geometry.
pub fn decode_unit_head(bytes: &[u8; UNIT_HEAD_BYTES as usize], geometry: &Geometry) -> Option<UnitHead> {
    UnitHead::decode(bytes, geometry)
}

/// The header of a sector, if `bytes` are one that a part of this geometry can have.
pub fn decode_header(bytes: &[u8; HEADER_BYTES as usize], geometry: &Geometry) -> Option<Header> {
    Header::decode(bytes).filter(|header| header.is_possible(geometry))
}

/// The sectors in the bytes of a unit, up to where no whole header follows; of a unit of the log those behind its
/// records.
pub fn sectors<'a>(cells: &'a [u8], unit: EraseUnit, geometry: &Geometry) -> Sectors<'a> {
    let head = cells.first_chunk().and_then(|bytes| decode_unit_head(bytes, geometry));
    let geometry = head.map_or(*geometry, |head| geometry.with_detection(head.detection));
    let next = match head.map(|head| head.stream) {
        None => geometry.unit_granules,
        Some(Stream::Log) => geometry.log_sectors(),
        Some(_) => geometry.head(),
    };
    Sectors { cells, start: geometry.start(unit), next, geometry }
}

/// The sectors of a unit, each with its first granule.
#[derive(Clone, Debug)]
pub struct Sectors<'a> {
    cells: &'a [u8],
    start: Granule,
    next: u32,
    geometry: Geometry,
}

impl Sectors<'_> {
    /// The geometry, with the image's error detection.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }
}

impl Iterator for Sectors<'_> {
    type Item = (Granule, Header);

    fn next(&mut self) -> Option<(Granule, Header)> {
        let number = self.next;
        let bytes = self.cells.get((number * self.geometry.granule_bytes) as usize..)?.first_chunk()?;
        let header = decode_header(bytes, &self.geometry)?;
        self.next = number + header.granules(&self.geometry);
        Some((self.start.offset(number), header))
    }
}

/// What a granule in the tail of an object holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailPlace {
    /// All ones.
    Erased,
    /// No whole place: a program was torn, or the part is damaged.
    Broken,
    /// The first place of a delta of this field.
    First(u8),
    /// A further place of a delta.
    Next,
    /// The first place of a seal of this field.
    Seal(u8),
    /// A void from this place on.
    Void(u8),
}

impl TailPlace {
    /// What a granule holds.
    pub fn decode(granule: &[u8]) -> TailPlace {
        match Place::decode(granule) {
            Place::Erased => TailPlace::Erased,
            Place::Broken => TailPlace::Broken,
            Place::Whole(content) => match DeltaPart::decode(content) {
                None => TailPlace::Broken,
                Some(DeltaPart::First(field)) => TailPlace::First(field),
                Some(DeltaPart::Next) => TailPlace::Next,
                Some(DeltaPart::Seal(field)) => TailPlace::Seal(field),
                Some(DeltaPart::Void(place)) => TailPlace::Void(place),
            },
        }
    }
}

/// What a spare place of a map node holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodePlace {
    /// All ones.
    Erased,
    /// No whole place: a program was torn, or the part is damaged.
    Broken,
    /// The child of this number is there now.
    Change(u32, Entry),
}

impl NodePlace {
    /// What a granule holds.
    pub fn decode(granule: &[u8]) -> NodePlace {
        match Place::decode(granule) {
            Place::Erased => NodePlace::Erased,
            Place::Broken => NodePlace::Broken,
            Place::Whole(content) => {
                let Change { digit, entry } = Change::from_content(content);
                NodePlace::Change(digit, entry)
            }
        }
    }
}

/// An entry of a map node.
pub fn decode_entry(bytes: [u8; ENTRY_BYTES as usize]) -> Entry {
    let [a, b, c] = bytes;
    Entry::from_bits(u32::from_le_bytes([a, b, c, 0]))
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stream::Updated => "updated",
            Stream::Moved => "moved",
            Stream::Map => "map",
            Stream::Log => "log",
        })
    }
}

impl fmt::Display for Header {
    /// What the sector holds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { index, generation, .. } = self;
        match (self.kind, self.class) {
            (SectorKind::Node, _) => write!(f, "map node {index} of level {generation}"),
            (_, Class::Object) if *generation == DIRECTORY => write!(f, "roots, in slot {index}"),
            (_, Class::Object) => write!(f, "object #{index}.{generation}"),
            (_, Class::Array) => write!(f, "array #{index}.{generation}"),
            (_, Class::Split) => write!(f, "array #{index}.{generation} in sections"),
            (_, Class::Section) => write!(f, "section, in slot {index}"),
        }
    }
}

/// What a granule in a unit of the log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPlace {
    /// All ones.
    Erased,
    /// No whole record: a program was torn, or the part is damaged.
    Broken,
    /// A record. It is displayed in words.
    Record(LogRecord),
}

/// A record of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRecord {
    record: Record,
    granule_bytes: u32,
}

impl LogPlace {
    /// What a granule holds.
    ///
    /// # Panics
    /// If it has fewer than four bytes, or more than 32.
    pub fn decode(granule: &[u8]) -> LogPlace {
        match Place::decode(granule) {
            Place::Erased => LogPlace::Erased,
            Place::Broken => LogPlace::Broken,
            Place::Whole(content) => Record::from_content(content).map_or(LogPlace::Broken, |record| {
                LogPlace::Record(LogRecord { record, granule_bytes: granule.len() as u32 })
            }),
        }
    }
}

impl LogRecord {
    /// Its kind.
    pub fn name(&self) -> &'static str {
        match self.record {
            Record::Rewrite(_) => "Rewrite",
            Record::Append(_) => "Append",
            Record::Root(_) => "Root",
            Record::Next(_) => "Next",
            Record::Found(_) => "Found",
            Record::End => "End",
            Record::Quiet => "Quiet",
            Record::Tails(Tails::Named) => "Tails named",
            Record::Tails(Tails::Any) => "Tails any",
            Record::Tails(Tails::From(_)) => "Tails from",
            Record::Note(..) => "Note",
            Record::Replace(..) => "Replace",
            Record::Before(_) => "Before",
            Record::Done => "Done",
            Record::From(_) => "From",
        }
    }

    /// What it says, in order: numbers with their names. An `address` is in bytes from the part's start.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, u32)> + use<> {
        let address = |granule: Granule| Some(("address", granule.0 * self.granule_bytes));
        let entry = |entry| match entry {
            Entry::At(granule) => address(granule),
            Entry::Nowhere(generation) => Some(("generation", generation.into())),
        };
        let fields = match self.record {
            Record::Rewrite(Owner { level: 0, index }) => [Some(("slot", index.into())), None],
            Record::Rewrite(Owner { level, index }) => {
                [Some(("map node", index.into())), Some(("level", level.into()))]
            }
            Record::Append(slot) => [Some(("slot", slot.into())), None],
            Record::Root(at) | Record::Found(at) | Record::Before(at) => [entry(at), None],
            Record::Next(unit) => [Some(("unit", unit.0.into())), None],
            Record::Tails(Tails::From(leaf)) => [Some(("leaf", leaf.into())), None],
            Record::Note(slot, used) | Record::Replace(slot, used) => {
                [Some(("slot", slot.into())), Some(("places used", used.into()))]
            }
            Record::From(granule) => [address(granule), None],
            Record::End | Record::Quiet | Record::Done | Record::Tails(Tails::Named | Tails::Any) => [None, None],
        };
        fields.into_iter().flatten()
    }
}

impl fmt::Display for LogRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        for (number, (name, value)) in self.fields().enumerate() {
            f.write_str(if number == 0 { ": " } else { ", " })?;
            match name {
                "address" => write!(f, "{value:#08x}")?,
                name => write!(f, "{name} {value}")?,
            }
        }
        Ok(())
    }
}

impl<D: Nor, M: UnitRows, L: Listener> LogHeapIn<D, M, L> {
    /// Bytes of all sectors that are in use: objects with their tails, and map nodes. Cost: RAM only.
    pub fn live_bytes(&self) -> u64 {
        let units = &self.log().units;
        u64::from(units.live()) * u64::from(units.geometry().granule_bytes)
    }

    /// Bytes of the sectors in use in one unit. Cost: RAM only.
    ///
    /// # Panics
    /// If the part has no such unit.
    pub fn live_bytes_in(&self, unit: EraseUnit) -> u32 {
        let units = &self.log().units;
        units.live_in(unit) * units.geometry().granule_bytes
    }

    /// Units that hold nothing that is in use. Cost: RAM only.
    pub fn free_units(&self) -> u32 {
        self.log().units.free_count()
    }

    /// Whether the map leads to the sector of `owner` at `sector`.
    ///
    /// Cost: a look-up.
    ///
    /// # Errors
    /// The store's.
    pub fn leads_to(&mut self, owner: Owner, sector: Granule) -> Result<bool, StoreError<D::Error>> {
        self.expect_running()?;
        Ok(self.reclamation().objects.map.lookup(owner)? == Entry::At(sector))
    }

    /// Where the value of a field or an element is.
    ///
    /// Cost: as of reading it.
    ///
    /// # Errors
    /// `Stale`, `OutOfRange`; the store's.
    pub fn place_of_value(&mut self, reference: Ref, index: usize) -> Result<ValuePlace, AccessError<D::Error>> {
        self.expect_access()?;
        let found = self.find(reference)?;
        let (sector, index) = match found.header.class {
            Class::Object => (found, index),
            _ => self.sector_with(reference, index)?,
        };
        let (field, extent) = self.field(&sector, index)?;
        let delta = self.reclamation().objects.tail(&sector, Some(field))?.last_wanted();
        let granule_bytes = self.log().units.geometry().granule_bytes;
        let address = |granule: Granule| Address(granule.0 * granule_bytes);
        let objects = &self.reclamation().objects;
        let delta = delta.map(|number| address(objects.place_at(&sector, number)));
        let first = address(sector.at);
        Ok(ValuePlace { sector: first, value: first.offset(extent.at), width: extent.width, delta })
    }
}

/// Where the value of a field or an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValuePlace {
    /// The first byte of the sector.
    pub sector: Address,
    /// Where it was when the sector was written.
    pub value: Address,
    /// Its bytes.
    pub width: u32,
    /// The delta in the sector's tail that has it now, if one has.
    pub delta: Option<Address>,
}
