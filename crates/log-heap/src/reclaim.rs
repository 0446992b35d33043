//! Reclamation: which unit is emptied next, and how.
//!
//! 1. Choose the unit whose dead granules, times its age, are worth most for what it costs to move the live ones
//!    (cost-benefit, Rosenblum and Ousterhout 1992).
//! 2. Go through its sectors from the first to the last. One is live if the map leads to it.
//! 3. Write each live one anew, an object without what was set later, and lead the map there.
//!
//! Then nothing in the unit is live, and it is free. It is erased when it is used again.
//!
//! A chain of headers that ends early hides nothing: only the last sector of a unit can have a torn header, and the
//! map does not lead to that one. Where a live sector was not found, the unit is reported as corrupted.

use norn_flash::{EraseUnit, Nor};
use norn_heap::StoreError;

use crate::format::{Entry, Granule, HEADER_BYTES, Header, Owner, SectorKind, Stream, Tails};
use crate::log::Intent;
use crate::medium::Medium;
use crate::object::{Objects, Replacement, Sector, Source};
use crate::space::Reason;
use crate::units::{Role, UnitRows};

/// Units that a call reclaims for the reserve's sake.
const EAGER: u32 = 4;
/// By how many erases a unit may be behind the most worn one before it is reclaimed for that.
const WEAR_SPREAD: u32 = 24;

/// When there may be arrays to take away.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leftover {
    /// Now.
    pub(crate) now: bool,
    /// Once the open transaction is committed, because an array was deleted in it.
    pub(crate) if_committed: bool,
    /// Once it is undone, because an array was created in it.
    pub(crate) if_undone: bool,
}

/// Reclamation, above the objects.
#[derive(Clone, Debug)]
pub(crate) struct Reclamation<D, M> {
    pub(crate) objects: Objects<D, M>,
    pub(crate) leftover: Leftover,
}

impl<D: Nor, M: UnitRows> Reclamation<D, M> {
    pub(crate) const fn new(medium: Medium<D>, rows: M) -> Self {
        let leftover = Leftover { now: false, if_committed: false, if_undone: false };
        Reclamation { objects: Objects::new(medium, rows), leftover }
    }

    /// Reclaims until the reserve is there, or after a few units until there is enough of it for a call.
    ///
    /// # Errors
    /// `Full` when each unit has been tried.
    pub(crate) fn make_room(&mut self) -> Result<(), StoreError<D::Error>> {
        self.recount()?;
        let (mut reclaimed, reserve) = (0, self.reserve());
        // What has notes is moved as it is: within a transaction a second round gains nothing.
        let most = if self.objects.map.space.log.is_open() { self.unit_count() / 2 } else { 2 * self.unit_count() };
        while self.free_count() <= if reclaimed < EAGER { reserve } else { reserve / 2 } {
            if reclaimed > most || !self.reclaim_one()? {
                return Err(StoreError::Full);
            }
            reclaimed += 1;
        }
        Ok(())
    }

    /// Reclaims until so many more granules may be live, and the reserve is there.
    ///
    /// # Errors
    /// `Full` when each unit has been tried.
    pub(crate) fn make_room_for(&mut self, granules: u32) -> Result<(), StoreError<D::Error>> {
        let mut reclaimed = 0;
        loop {
            self.make_room()?;
            let space = &self.objects.map.space;
            if space.log.units.live() + granules <= space.capacity() && self.free_count() > self.reserve() {
                return Ok(());
            }
            if reclaimed > self.unit_count() || !self.reclaim_one()? {
                return Err(StoreError::Full);
            }
            reclaimed += 1;
        }
    }

    /// Counts anew what is live, after a call that found no free unit halfway.
    pub(crate) fn recount(&mut self) -> Result<(), StoreError<D::Error>> {
        if self.objects.map.space.has_lost_count {
            self.objects.map.space.log.units.clear_live();
            self.count_live()?;
            self.objects.map.space.has_lost_count = false;
        }
        Ok(())
    }

    fn reserve(&self) -> u32 {
        self.objects.map.space.reserve()
    }

    pub(crate) fn free_count(&self) -> u32 {
        self.objects.map.space.log.units.free_count()
    }

    fn unit_count(&self) -> u32 {
        u32::from(self.objects.map.space.log.units.geometry().unit_count)
    }

    /// Empties the unit that is worth most. Returns whether there is one.
    pub(crate) fn reclaim_one(&mut self) -> Result<bool, StoreError<D::Error>> {
        let Some(victim) = self.choose()? else { return Ok(false) };
        self.empty(victim)?;
        Ok(true)
    }

    /// The closed unit with the best ratio of benefit and cost; one that is behind in wear; where hardly a unit is
    /// free, that with the fewest live granules. Reads the head of each.
    fn choose(&mut self) -> Result<Option<EraseUnit>, StoreError<D::Error>> {
        let is_short = self.free_count() <= 1;
        let units = &mut self.objects.map.space.log.units;
        let (room, newest) = (units.geometry().room(), units.newest());
        let mut erases_max = 0;
        let mut best: Option<(u64, EraseUnit)> = None;
        let mut least_worn: Option<(u32, EraseUnit)> = None;
        for unit in units.all() {
            let live = units.live_in(unit);
            let Some(head) = units.head(unit)? else { continue };
            erases_max = erases_max.max(head.erases);
            if units.role(unit) != Role::Filled || live == 0 || live > room {
                continue;
            }
            let age = if is_short { 1 } else { u64::from(newest.saturating_sub(head.sequence)) + 1 };
            let worth = u64::from(room - live) * age * 0x1_0000 / u64::from(live + room / 64);
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, unit));
            }
            if least_worn.is_none_or(|(erases, _)| head.erases < erases) {
                least_worn = Some((head.erases, unit));
            }
        }
        let is_behind = |(erases, _): &(u32, EraseUnit)| !is_short && erases + WEAR_SPREAD < erases_max;
        Ok(least_worn.filter(is_behind).or(best.map(|(_, unit)| (0, unit))).map(|(_, unit)| unit))
    }

    /// Moves every live sector out of a unit.
    fn empty(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        let end = geometry.start(unit).offset(geometry.unit_granules);
        let mut at = geometry.start(unit).offset(geometry.head());
        while self.objects.map.space.log.units.live_in(unit) > 0 {
            let Some(header) = self.next_header(at, end)? else {
                return Err(self.objects.map.medium().corrupted(at, "a live sector that its unit does not show"));
            };
            let (owner, sector) = (header.owner(), Sector { at, header });
            let note = if owner.level == 0 { self.objects.map.space.log.note_of(owner.index)? } else { None };
            let is_there = self.objects.map.lookup(owner)? == Entry::At(at);
            match note {
                Some(note) if is_there || note.before == Some(Entry::At(at)) => self.move_noted(sector, note)?,
                None if is_there => self.move_sector(sector, owner)?,
                _ => {}
            }
            at = at.offset(header.granules(&geometry));
        }
        Ok(())
    }

    fn next_header(&mut self, at: Granule, end: Granule) -> Result<Option<Header>, StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        if at.offset(geometry.granules(HEADER_BYTES)) > end {
            return Ok(None);
        }
        let mut bytes = [0; HEADER_BYTES as usize];
        self.objects.map.medium().read(at, 0, &mut bytes)?;
        Ok(Header::decode(&bytes).filter(|header| header.is_possible(&geometry)))
    }

    pub(crate) fn move_sector(&mut self, sector: Sector, owner: Owner) -> Result<(), StoreError<D::Error>> {
        self.objects.map.space.log.intend(Intent::Rewrite(owner))?;
        let moved = match sector.header.kind {
            SectorKind::Node => self.copy_node(sector.at, owner)?,
            _ => self.copy_object(sector)?,
        };
        self.lead_to(owner, Entry::At(moved), Some(sector))
    }

    fn copy_node(&mut self, at: Granule, owner: Owner) -> Result<Granule, StoreError<D::Error>> {
        let node = self.objects.map.node(at, owner)?;
        self.objects.map.write_node(owner, &node.entries, Stream::Map)
    }

    fn copy_object(&mut self, sector: Sector) -> Result<Granule, StoreError<D::Error>> {
        // What a sweep has not settled may read differently the next time, and what it has settled has to stay so.
        if matches!(self.objects.map.space.log.tails(), Tails::From(_)) {
            return self.objects.copy(&sector, Stream::Moved);
        }
        let used = self.objects.tail(&sector, None)?.used;
        self.rewrite(sector, Reason::Moved(used, sector.header.tail), None, Stream::Moved)
    }

    /// Writes an object anew; the map does not lead there yet.
    pub(crate) fn rewrite(
        &mut self,
        sector: Sector,
        reason: Reason,
        replacement: Option<Replacement<'_>>,
        stream: Stream,
    ) -> Result<Granule, StoreError<D::Error>> {
        let tail = self.tail_of(&sector.header, reason);
        self.objects.write(Header { tail, ..sector.header }, Source::Old(sector), replacement, stream)
    }

    /// The tail that a sector gets, as far as it fits into a unit.
    pub(crate) fn tail_of(&self, header: &Header, reason: Reason) -> u8 {
        let geometry = self.objects.map.space.log.units.geometry();
        let most = geometry.room().saturating_sub(header.bare_granules(&geometry));
        u32::from(self.objects.map.space.tail(reason)).min(most) as u8
    }

    /// Leads the map to where an owner is now, and gives its old sector up.
    pub(crate) fn lead_to(
        &mut self,
        owner: Owner,
        entry: Entry,
        old: Option<Sector>,
    ) -> Result<(), StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        self.objects.map.set(owner, entry)?;
        if let Some(old) = old {
            self.objects.map.space.log.units.remove_live(old.at, old.header.granules(&geometry));
        }
        Ok(())
    }
}
