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
}
