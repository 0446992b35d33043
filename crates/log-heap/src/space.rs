//! Where new sectors go: one open unit for each stream, and how long tails may be.
//!
//! Objects that are updated, objects that reclamation moves, and map nodes die at different rates. Each kind has an
//! open unit of its own, so that a unit's sectors die at about the same time (hot and cold data apart).
//!
//! Invariants: an open unit was opened since the mount, and every sector in it but the last is complete.

use norn_flash::{EraseUnit, Nor};
use norn_heap::StoreError;

use crate::format::{Geometry, Granule, Stream};
use crate::log::Log;
use crate::medium::Medium;
use crate::units::{Role, UnitRows};

/// Units that hold no live data on a full part, besides the reserve: the log's, and what open units have left.
const OVERHEAD_UNITS: u32 = 3 + 1;
/// Of what a change of the map takes, the tenths that are kept free for each sector. Moving one changes the map, whose
/// nodes are written anew once changes have filled them: without it, moving takes as much as it frees on a part that is
/// full of small objects, and no call finds room any more.
const SHARE_TENTHS: u32 = 3;
/// Units that are kept free for undoing a transaction, or as many as without one.
const RESERVE_TO_UNDO: u32 = 6;
/// Most places of a tail.
const TAIL_MAX: u32 = 26;
/// Places of the tail of an object that was found to be updated often.
const TAIL_FULL: u32 = 16;
/// Most places of the tail of an object that reclamation moves: it was not written anew for long.
const TAIL_MOVED: u32 = 5;
/// Places of the tail of an object that was not updated since it was written.
const TAIL_IDLE: u32 = 2;

/// Why a sector is written, which says how long its tail is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It is new.
    Created,
    /// Its tail, of so many places, was full.
    TailFull(u8),
    /// All of it was replaced; so many places of its tail were used.
    Replaced(u8),
    /// Reclamation moves it; used places and places of its tail.
    Moved(u8, u8),
}

/// The unit that a stream is appended to.
#[derive(Clone, Copy, Debug)]
struct Frontier {
    unit: EraseUnit,
    /// Granules used: a unit has fewer than 65,536.
    at: u16,
}

impl Frontier {
    const fn fits(&self, granules: u32, geometry: &Geometry) -> bool {
        self.at as u32 + granules <= geometry.unit_granules
    }
}

/// Streams with an open unit, by their number.
const STREAMS: [Stream; 3] = [Stream::Updated, Stream::Moved, Stream::Map];
/// Units that are opened ahead of need: one for objects, one for map nodes.
const READY_UNITS: usize = 2;

/// Open units, above the log.
#[derive(Clone, Debug)]
pub(crate) struct Space<D, M> {
    pub(crate) log: Log<D, M>,
    open: [Option<Frontier>; STREAMS.len()],
    /// Units that were opened ahead of need, for any stream.
    ready: [Option<EraseUnit>; READY_UNITS],
    /// The fewest live granules for which a call has found no room since something was deleted. Reclaiming for as many
    /// again would be in vain.
    refused: u32,
    /// Whether a mount settles what was in doubt: then one unit is open, because the mount may be cut again and again.
    pub(crate) is_settling: bool,
    /// Whether the map is of its greatest height: then objects are many and small, and moving a unit's objects takes as
    /// much of map nodes again.
    pub(crate) has_large_map: bool,
}

impl<D: Nor, M: UnitRows> Space<D, M> {
    pub(crate) const fn new(medium: Medium<D>, rows: M) -> Self {
        Space {
            log: Log::new(medium, rows),
            open: [None; STREAMS.len()],
            ready: [None; READY_UNITS],
            refused: u32::MAX,
            is_settling: false,
            has_large_map: false,
        }
    }

    /// Closes all units, as a mount finds them.
    pub(crate) fn close_all(&mut self) {
        self.open = [None; STREAMS.len()];
        self.ready = [None; READY_UNITS];
        self.refused = u32::MAX;
    }

    /// Units that can be used: those that are free, and those that were opened ahead of need.
    pub(crate) fn free_count(&self) -> u32 {
        self.log.units.free_count() + self.ready.iter().flatten().count() as u32
    }

    /// Opens a unit ahead of need, if one is missing and a free one is left after that. Returns whether it was so.
    ///
    /// Cost: an erase.
    pub(crate) fn open_ahead(&mut self) -> Result<bool, StoreError<D::Error>> {
        let Some(number) = self.ready.iter().position(Option::is_none) else { return Ok(false) };
        let units = &mut self.log.units;
        let unit = if units.free_count() > 1 { units.least_worn_free()? } else { None };
        let Some(unit) = unit else { return Ok(false) };
        units.open(unit, Stream::Updated)?;
        units.set_role(unit, Role::Open);
        self.ready[number] = Some(unit);
        Ok(true)
    }

    /// Granules that can be allocated without an erase, and so that no call finds too few units.
    pub(crate) fn ready_granules(&self) -> u32 {
        let room = self.log.units.geometry().room();
        let left = |stream: Stream| self.frontier(stream as usize).map_or(0, |open| self.left_in(open));
        let (objects, nodes) = (left(Stream::Updated), left(Stream::Map));
        let before_reclaiming = self.free_count().saturating_sub(self.reserve());
        let ready = self.ready.iter().flatten().count() as u32;
        // Whichever of the two fills up first takes the first unit, and may take the second.
        match ready.min(before_reclaiming.saturating_sub(1)) {
            _ if before_reclaiming == 0 => 0,
            0 => objects.min(nodes),
            1 => (objects + nodes).min(objects.min(nodes) + room),
            _ => objects.min(nodes) + room,
        }
    }

    /// Closes open units that no map node fits into, so that they can be reclaimed.
    pub(crate) fn close_full(&mut self) {
        let node = self.log.units.geometry().node_granules();
        for stream in 0..self.open.len() {
            if self.open[stream].is_some_and(|open| self.left_in(open) < node) {
                self.close(stream);
            }
        }
    }

    /// Erases the unit of the next log, and has sectors go there.
    pub(crate) fn open_log(&mut self) -> Result<(), StoreError<D::Error>> {
        let unit = self.log.open_for_sectors()?;
        let at = self.log.units.geometry().log_sectors() as u16;
        self.close(Stream::Updated as usize);
        self.open[Stream::Updated as usize] = Some(Frontier { unit, at });
        Ok(())
    }

    /// Where a stream is appended to. A log's unit takes sectors no longer than the log says.
    fn frontier(&self, stream: usize) -> Option<Frontier> {
        self.open[stream].filter(|open| self.is_open(open.unit) || self.log.sectors() == Some(open.unit))
    }

    fn is_open(&self, unit: EraseUnit) -> bool {
        self.log.units.role(unit) == Role::Open
    }

    fn close(&mut self, stream: usize) {
        if let Some(open) = self.open[stream].take().filter(|open| self.is_open(open.unit)) {
            self.log.units.set_role(open.unit, Role::Filled);
        }
    }

    fn left_in(&self, open: Frontier) -> u32 {
        self.log.units.geometry().unit_granules - u32::from(open.at)
    }

    /// Room for a sector, which counts as live from here on. Opens a unit if need be: one erase.
    ///
    /// # Errors
    /// `Full` when there is no free unit, although a reserve of them is kept before a call begins.
    pub(crate) fn allocate(&mut self, stream: Stream, granules: u32) -> Result<Granule, StoreError<D::Error>> {
        let geometry = self.log.units.geometry();
        let stream = self.stream_for(stream, granules);
        let frontier = match self.frontier(stream).filter(|frontier| frontier.fits(granules, &geometry)) {
            Some(frontier) => frontier,
            None => self.open(stream)?,
        };
        let sector = geometry.start(frontier.unit).offset(frontier.at.into());
        self.open[stream] = Some(Frontier { at: frontier.at + granules as u16, ..frontier });
        self.log.units.add_live(sector, granules);
        Ok(sector)
    }

    /// The stream that takes a sector of `stream`: another one while a mount settles, and where hardly a unit is free,
    /// because each of many mounts was cut after it had opened one.
    fn stream_for(&self, stream: Stream, granules: u32) -> usize {
        let geometry = self.log.units.geometry();
        let fits = |stream: &usize| self.frontier(*stream).is_some_and(|frontier| frontier.fits(granules, &geometry));
        let is_short = self.free_count() <= geometry.reserve() / 2;
        if is_short || self.is_settling {
            let open = (0..self.open.len()).find(fits);
            return [stream as usize].into_iter().find(fits).or(open).unwrap_or(Stream::Updated as usize);
        }
        stream as usize
    }

    /// Granules that are left in the open unit with most of them.
    pub(crate) fn largest_open(&self) -> u32 {
        (0..STREAMS.len()).filter_map(|stream| self.frontier(stream)).map(|open| self.left_in(open)).max().unwrap_or(0)
    }

    fn open(&mut self, stream: usize) -> Result<Frontier, StoreError<D::Error>> {
        let unit = match self.ready.iter_mut().find_map(Option::take) {
            Some(unit) => unit,
            None => self.open_free(stream)?,
        };
        self.close(stream);
        self.log.units.set_role(unit, Role::Open);
        Ok(Frontier { unit, at: self.log.units.geometry().head() as u16 })
    }

    fn open_free(&mut self, stream: usize) -> Result<EraseUnit, StoreError<D::Error>> {
        let unit = self.log.units.expect_free()?;
        self.log.units.open(unit, STREAMS[stream])?;
        Ok(unit)
    }

    /// Live granules that the part may hold.
    pub(crate) fn capacity(&self) -> u32 {
        self.capacity_beside(self.reserve() + u32::from(self.log.notes.units))
    }

    /// Live granules that the part may hold when no transaction is open, and what is live are few objects.
    pub(crate) fn capacity_max(&self) -> u32 {
        self.capacity_beside(self.log.units.geometry().reserve())
    }

    fn capacity_beside(&self, units: u32) -> u32 {
        let geometry = self.log.units.geometry();
        geometry.room() * (u32::from(geometry.unit_count) - OVERHEAD_UNITS).saturating_sub(units)
    }

    /// Whether so many granules may be live.
    pub(crate) fn has_capacity(&self, needed: u32) -> bool {
        needed <= self.capacity()
    }

    /// Granules that are live with so many more, and the share for moves of sectors that are new. What replaces others
    /// is not new.
    pub(crate) fn needed(&self, granules: u32, sectors: u32) -> u32 {
        let (geometry, units) = (self.log.units.geometry(), &self.log.units);
        let moves = match sectors {
            0 => 0,
            new => {
                let nodes = (units.sectors() + new) * geometry.node_granules();
                nodes * SHARE_TENTHS / (10 * (u32::from(geometry.spares()) + 1))
            }
        };
        units.live() + granules + moves
    }

    /// Remembers that there was no room for so many live granules. A transaction needs more room than other calls.
    pub(crate) fn refuse(&mut self, needed: u32) {
        if !self.log.is_open() {
            self.refused = self.refused.min(needed);
        }
    }

    /// What was deleted may make room for what was refused.
    pub(crate) fn refuse_none(&mut self) {
        self.refused = u32::MAX;
    }

    pub(crate) fn was_refused(&self, needed: u32) -> bool {
        !self.log.is_open() && needed >= self.refused
    }

    /// Units that a call finds free: within a transaction more, for undoing it. Few notes take no unit of the log.
    pub(crate) fn reserve(&self) -> u32 {
        let (geometry, notes) = (self.log.units.geometry(), &self.log.notes);
        let reserve = geometry.reserve() * if self.has_large_map { 3 } else { 2 } / 2;
        let has_few = notes.units == 0 && u32::from(notes.here) < geometry.room() / 8;
        if !notes.is_open || self.is_settling || has_few && geometry.has_large_units() {
            reserve
        } else {
            reserve + reserve.min(RESERVE_TO_UNDO)
        }
    }

    /// Places that the tail of a new sector gets. They follow what was used of the old one, and get fewer as the part
    /// fills up: all that was wanted up to 80% of the capacity, nothing from 95% on.
    pub(crate) fn tail(&self, reason: Reason) -> u8 {
        self.tail_beside(reason, 0)
    }

    /// The same once so many more granules are live.
    pub(crate) fn tail_beside(&self, reason: Reason, more: u32) -> u8 {
        let (wanted, most) = match reason {
            Reason::Created => (TAIL_IDLE, TAIL_MAX),
            Reason::TailFull(places) => (TAIL_FULL.max(2 * u32::from(places)), TAIL_MAX),
            Reason::Replaced(used) => (2 * u32::from(used), TAIL_MAX),
            // What is moved does not grow: it has to fit where it was.
            Reason::Moved(used, places) => (TAIL_IDLE.max(2 * u32::from(used)), u32::from(places).min(TAIL_MOVED)),
        };
        let twentieth = (self.capacity() / 20).max(1);
        let free = (19 * twentieth).saturating_sub(self.log.units.live() + more).min(3 * twentieth);
        (wanted.min(TAIL_MAX) * free / (3 * twentieth)).min(most) as u8
    }
}
