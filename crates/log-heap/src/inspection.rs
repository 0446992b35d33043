//! What tools show of a part: unit heads, sectors and records of the log, decoded from bytes of any contents; and how
//! full a mounted heap is.

use core::fmt;

use norn_flash::{EraseUnit, Nor};
use norn_heap::{Listener, StoreError};

use crate::format::{Entry, Geometry, Granule, HEADER_BYTES, Header, Owner, Place, UNIT_HEAD_BYTES, UnitHead};
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
    fn write_entry(&self, f: &mut fmt::Formatter<'_>, name: &str, entry: Entry) -> fmt::Result {
        match entry {
            Entry::At(granule) => self.write_granule(f, name, granule),
            Entry::Nowhere(generation) => write!(f, "{name}: nowhere, generation {generation}"),
        }
    }

    fn write_granule(&self, f: &mut fmt::Formatter<'_>, name: &str, granule: Granule) -> fmt::Result {
        write!(f, "{name}: {:#08x}", u64::from(granule.0) * u64::from(self.granule_bytes))
    }
}

impl fmt::Display for LogRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.record {
            Record::Rewrite(Owner { level: 0, index }) => write!(f, "Rewrite: slot {index}"),
            Record::Rewrite(Owner { level, index }) => write!(f, "Rewrite: map node {index} of level {level}"),
            Record::Append(slot) => write!(f, "Append: slot {slot}"),
            Record::Root(entry) => self.write_entry(f, "Root", entry),
            Record::Next(unit) => write!(f, "Next: {unit}"),
            Record::Found(entry) => self.write_entry(f, "Found", entry),
            Record::End => f.write_str("End"),
            Record::Quiet => f.write_str("Quiet"),
            Record::Tails(Tails::Named) => f.write_str("Tails: named"),
            Record::Tails(Tails::Any) => f.write_str("Tails: any"),
            Record::Tails(Tails::From(leaf)) => write!(f, "Tails: from leaf {leaf}"),
            Record::Note(slot, used) => write!(f, "Note: slot {slot}, places used {used}"),
            Record::Replace(slot, used) => write!(f, "Replace: slot {slot}, places used {used}"),
            Record::Before(entry) => self.write_entry(f, "Before", entry),
            Record::Done => f.write_str("Done"),
            Record::From(granule) => self.write_granule(f, "From", granule),
        }
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
}
