//! Space: where there is room for a sector, and how room is made.
//!
//! Allocating a sector:
//! 1. find a unit with room (the one being filled, another with a gap, a free one, or one that is reclaimed), and room
//!    in the log: after that only the device can fail;
//! 2. append `New` to the log: from here on an abort or a power cut frees the sector;
//! 3. program the descriptor. The sector's bytes are erased.
//!
//! Invariant: when allocations return `Full`, room for tree nodes remains for what frees more than it takes.

mod filling;
mod reclaim;

use norn_flash::{EraseUnit, Nor};

use super::sector::Sectors;
use crate::entry::Entry;
use crate::error::{MountError, StoreError};
use crate::features::Features;
use crate::format::{Link, LogicalUnit, SECTOR_GRANULES_MAX, SectorKind, SectorPtr};
use crate::geometry::NODES_RESERVED;
use crate::ground::table::UnitRows;

/// Which space an allocation may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// All but the reserve: room for ten tree nodes, two paths through a tree of the largest height, however what is
    /// free comes to be spread over the units. So for what grows.
    Ordinary,
    /// All but room for five tree nodes, where it is now: for a new form of something whose old form the commit frees.
    Replacing,
    /// All: for what frees more than it takes.
    Reserved,
}

/// A sector's size and kind, as wanted.
#[derive(Clone, Copy, Debug)]
pub struct SectorSpec {
    /// Size in bytes, at least 1.
    pub bytes: u32,
    /// What it will hold.
    pub kind: SectorKind,
}

/// Whether a chain's new sector is complete in itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// It stays even if the open transaction is undone: while it is erased it has no meaning.
    Alone,
    /// The open transaction has allocated the rest of the chain, too.
    OfTransaction,
}

/// The unit in which sectors are allocated.
#[derive(Clone, Copy, Debug)]
struct Filling {
    unit: EraseUnit,
    logical: LogicalUnit,
    /// No descriptor below this index is erased.
    scan: u16,
    /// Length of the descriptor array.
    descriptors: u16,
    /// Offset of the lowest sector in granules.
    low: u32,
}

/// What is free, and what can be freed.
#[derive(Clone, Debug)]
pub struct Space<D: Nor, M: UnitRows, F> {
    pub(crate) sectors: Sectors<D, M, F>,
    filling: Option<Filling>,
    random: u32,
}

impl<D: Nor, M: UnitRows, F: Features> Space<D, M, F> {
    pub(crate) fn unused(device: D, rows: M) -> Self {
        Space { sectors: Sectors::unused(device, rows), filling: None, random: 1 }
    }

    /// Forgets everything in RAM, and lets calls reach the device.
    pub(crate) fn restart(&mut self) -> Result<(), MountError<D::Error>> {
        self.sectors.log.restart()?;
        self.sectors.forget();
        self.filling = None;
        Ok(())
    }

    /// Allocates a sector; its bytes are erased. An abort frees it.
    ///
    /// Cost: 3 words programmed, plus a reclamation when no unit has room.
    ///
    /// # Errors
    /// `Full` when even a reclamation makes no room.
    pub fn allocate(&mut self, spec: SectorSpec, room: Room) -> Result<SectorPtr, StoreError<D::Error>> {
        self.make_room(&[spec], room)?;
        self.sectors.log.ensure_room(1)?;
        let a = self.place(spec)?;
        self.sectors.log.append(Entry::New { a: a.pointer, b: None })?;
        self.describe(&a, spec)?;
        Ok(a.pointer)
    }

    /// Allocates two sectors in one unit, with one log entry; as two where no unit has room for both.
    ///
    /// Cost: 4 words programmed, plus a reclamation when no unit has room.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate).
    pub fn allocate_pair(
        &mut self,
        specs: [SectorSpec; 2],
        room: Room,
    ) -> Result<[SectorPtr; 2], StoreError<D::Error>> {
        match self.make_room(&specs, room) {
            Err(StoreError::Full) => {
                return Ok([self.allocate(specs[0], room)?, self.allocate(specs[1], room)?]);
            }
            made => made?,
        };
        self.sectors.log.ensure_room(1)?;
        let (a, b) = (self.place(specs[0])?, self.place(specs[1])?);
        self.sectors.log.append(Entry::New { a: a.pointer, b: Some(b.pointer) })?;
        self.describe(&a, specs[0])?;
        self.describe(&b, specs[1])?;
        Ok([a.pointer, b.pointer])
    }

    /// Allocates a sector and links it after `last`, the last of a chain. It is atomic without a commit, and stays
    /// when an open transaction aborts; or it is part of that transaction, as `last` is, and an abort frees both.
    ///
    /// Cost: 4 words programmed, plus a reclamation when no unit has room.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate).
    pub fn extend_chain(
        &mut self,
        last: SectorPtr,
        spec: SectorSpec,
        extension: Extension,
    ) -> Result<SectorPtr, StoreError<D::Error>> {
        self.make_room(&[spec], Room::Ordinary)?;
        self.sectors.log.ensure_room(1)?;
        let placed = self.place(spec)?;
        self.sectors.log.append_reserved(match extension {
            Extension::OfTransaction => Entry::New { a: placed.pointer, b: None },
            Extension::Alone => Entry::Link { last, new: placed.pointer },
        })?;
        if let Err(error) = self.describe(&placed, spec) {
            if matches!(error, StoreError::Corrupted) && extension == Extension::Alone {
                self.sectors.free(placed.pointer)?;
            }
            return Err(error);
        }
        let sector = self.sectors.get(last)?;
        self.sectors.program(&sector, 0, &Link::encode(placed.pointer).to_le_bytes())?;
        Ok(placed.pointer)
    }

    /// Frees up to two sectors when the open transaction commits. Cost: 2 words programmed, and 1 a sector at the
    /// commit.
    ///
    /// # Errors
    /// The device's, and `TransactionTooLarge`.
    pub fn release(&mut self, a: SectorPtr, b: Option<SectorPtr>) -> Result<(), StoreError<D::Error>> {
        self.sectors.log.append(Entry::Release { a, b })
    }

    /// Frees a chain of at most 256 sectors, linked by their first word, when the open transaction commits. Cost: 2
    /// words programmed, and 1 a sector at the commit.
    ///
    /// # Errors
    /// The device's, and `TransactionTooLarge`.
    pub fn release_chain(&mut self, head: SectorPtr) -> Result<(), StoreError<D::Error>> {
        self.sectors.log.append(Entry::ReleaseTree { node: head, height: 0 })
    }

    /// Largest sector that can be allocated, in bytes. A function of its own: everybody asks.
    #[inline(never)]
    pub fn sector_bytes_max(&self) -> u32 {
        self.sectors.geometry().sector_bytes_max()
    }

    /// Bytes that live sectors and all descriptors take. Cost: RAM only.
    pub fn used_bytes(&self) -> u64 {
        let (geometry, table) = (self.sectors.geometry(), self.sectors.table());
        let live = |unit: EraseUnit| {
            geometry.body_granules().saturating_sub(table.gap_granules(unit) + table.obsolete_granules(unit))
        };
        table.data().map(|unit| u64::from(live(unit) * geometry.granule_bytes)).sum()
    }

    /// Bytes that allocations may still take at most, in how many pieces ever. Cost: RAM only.
    pub fn room_bytes(&self) -> u64 {
        u64::from(self.room_granules()) * u64::from(self.sectors.geometry().granule_bytes)
    }

    /// How many sixteenths of the part that is, rounded down, but at most `most`. Cost: RAM only.
    pub fn room_sixteenths(&self, most: u32) -> u32 {
        let geometry = self.sectors.geometry();
        let (room, part) = (self.room_granules(), geometry.unit_granules * u32::from(geometry.part.unit_count));
        (1..=most).take_while(|sixteenths| 16 * room >= sixteenths * part).count() as u32
    }

    fn room_granules(&self) -> u32 {
        let table = self.sectors.table();
        let room = |unit| table.gap_granules(unit) + table.obsolete_granules(unit);
        self.spare_units() * self.sectors.geometry().body_granules() + table.data().map(room).sum::<u32>()
    }

    /// Bytes that can be allocated before a unit has to be reclaimed, in how many pieces ever. Cost: RAM only.
    pub fn ready_bytes(&self) -> u64 {
        let (geometry, table) = (self.sectors.geometry(), self.sectors.table());
        let gaps: u32 = table.data().map(|unit| table.gap_granules(unit)).sum();
        u64::from(self.spare_units() * geometry.body_granules() + gaps) * u64::from(geometry.granule_bytes)
    }

    /// Free units beyond those that must stay free.
    fn spare_units(&self) -> u32 {
        self.sectors.table().available().saturating_sub(self.sectors.log.free_floor())
    }

    /// Makes the unit being filled have room for `specs`.
    fn make_room(&mut self, specs: &[SectorSpec], room: Room) -> Result<(), StoreError<D::Error>> {
        let (mut need, mut largest) = (0, 0);
        for spec in specs {
            let granules = self.sectors.geometry().granules(spec.bytes);
            (need, largest) = (need + granules, largest.max(granules));
        }
        let sectors = specs.len() as u32;
        let low = self.sectors.geometry().low_granules(sectors);
        if largest > SECTOR_GRANULES_MAX
            || low + need > self.sectors.geometry().unit_granules
            || !self.leaves_reserve(need + sectors, room)
        {
            return Err(StoreError::Full);
        }
        if self.filled_unit_fits(need, sectors)? {
            return Ok(());
        }
        let descriptors = low - self.sectors.geometry().low_granules(0);
        if let Some(unit) = self.unit_with_gap(need + descriptors) {
            self.start_filling(unit)?;
            if self.filled_unit_fits(need, sectors)? {
                return Ok(());
            }
        }
        if self.sectors.table().available() > self.sectors.log.free_floor() {
            let unit = self.sectors.log.take_free_unit()?;
            return self.start_data_unit(unit);
        }
        self.reclaim_for(need, sectors)
    }

    /// The unit with the largest gap, if the gap has at least `granules` granules.
    fn unit_with_gap(&self, granules: u32) -> Option<EraseUnit> {
        let table = self.sectors.table();
        let (mut found, mut largest) = (None, granules);
        for unit in table.data() {
            let gap = table.gap_granules(unit);
            if gap >= largest {
                (found, largest) = (Some(unit), gap);
            }
        }
        found
    }

    /// Whether the reserve remains once `granules` are taken, wherever that is.
    fn leaves_reserve(&self, granules: u32, room: Room) -> bool {
        let (geometry, table) = (self.sectors.geometry(), self.sectors.table());
        let node = geometry.node_granules(self.sectors.detection());
        let (body, spare_units) = (geometry.body_granules(), self.spare_units());
        let (mut units, mut free, mut nodes) = (spare_units, spare_units * body, spare_units * (body / node));
        for unit in table.data() {
            let room = table.gap_granules(unit) + table.obsolete_granules(unit);
            (units, free, nodes) = (units + 1, free + room, nodes + room / node);
        }
        match room {
            // Each unit may come to have a little less free than a node takes, and the rest is still enough for ten.
            Room::Ordinary => {
                let holes = self.sectors.counts().holes_to_come();
                free >= granules + units * (node - 1) + NODES_RESERVED * node + holes
            }
            Room::Replacing => nodes >= NODES_RESERVED / 2 + granules.div_ceil(node),
            Room::Reserved => true,
        }
    }
}
