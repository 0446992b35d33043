//! Reclamation: which unit is emptied next, and how.
//!
//! 1. Choose the unit whose dead granules, times its age, are worth most for what it costs to move the live ones
//!    (cost-benefit, Rosenblum and Ousterhout 1992).
//! 2. Go through its sectors from the first to the last. One is live if the map leads to it.
//! 3. Write each live one anew, an object without what was set later, and lead the map there. Six or more of one leaf
//!    in a row are led to by a new leaf, instead of a record and a change for each.
//!
//! Then nothing in the unit is live, and it is free. It is erased when it is used again.
//!
//! A chain of headers that ends early hides nothing: only the last sector of a unit can have a torn header, and the
//! map does not lead to that one. Where a live sector was not found, the unit is reported as corrupted.

use norn_flash::{EraseUnit, Nor};
use norn_heap::{Listener, StoreError};

use crate::format::{Entry, FANOUT, Granule, HEADER_BYTES, Header, LEVELS_MAX, Owner, SectorKind, Stream};
use crate::log::Intent;
use crate::log_record::Tails;
use crate::medium::Medium;
use crate::object::{Objects, Replacement, Sector, Source};
use crate::space::Reason;
use crate::units::{Role, UnitRows};

/// Units that a call reclaims for the reserve's sake; on a part of few or small units, which mounts that are cut use up
/// sooner, more.
const EAGER: u32 = 1;
const EAGER_ON_SMALL_PARTS: u32 = 4;
/// Granules of a new object for each place of its tail: a small one is as well written anew.
const NEW_PER_PLACE: u32 = 8;
/// Units that are reclaimed for something new while hardly any is free.
const IN_VAIN: u32 = 8;
/// The greatest age of a unit: no part opens so many units in its life.
const AGE_MAX: u32 = 1 << 28;
/// By how many erases a unit may be behind the most worn one before it is reclaimed for that.
const WEAR_SPREAD: u32 = 24;
/// Objects of one leaf for which a new leaf takes no more than a record and a change for each, and the share of a leaf
/// that these use up.
pub(crate) const SIBLINGS_MIN: u32 = 6;

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

/// Objects of one leaf that move together.
struct Siblings {
    leaf: Owner,
    /// Where the leaf is.
    node: Granule,
    entries: [Entry; FANOUT as usize],
    /// How many of the objects are live.
    count: u32,
    first: Granule,
    end: Granule,
}

/// A unit to reclaim.
struct Victim {
    unit: EraseUnit,
    /// Whether it is chosen because it is behind in wear, whatever it frees.
    is_behind: bool,
}

/// Reclamation, above the objects.
#[derive(Clone, Debug)]
pub(crate) struct Reclamation<D, M, L> {
    pub(crate) objects: Objects<D, M, L>,
    pub(crate) leftover: Leftover,
    /// Units that steps ahead of need have reclaimed since the last call that changed something.
    steps: u32,
}

impl<D: Nor, M: UnitRows, L: Listener> Reclamation<D, M, L> {
    pub(crate) const fn new(medium: Medium<D>, rows: M, listener: L) -> Self {
        let leftover = Leftover { now: false, if_committed: false, if_undone: false };
        Reclamation { objects: Objects::new(medium, rows, listener), leftover, steps: 0 }
    }

    /// Reclaims until the reserve is there, or after a few units until there is enough of it for a call. Returns
    /// whether something may have moved.
    ///
    /// # Errors
    /// `Full` when each unit has been tried.
    pub(crate) fn make_room(&mut self) -> Result<bool, StoreError<D::Error>> {
        // What has notes is moved as it is: within a transaction a second round gains nothing.
        let is_open = self.objects.map.space.log.is_open();
        self.make_room_within(if is_open { self.unit_count() / 2 } else { 2 * self.unit_count() })
    }

    /// Makes room for a deletion: as for other calls, or where that is in vain for the nodes that it may write, so that
    /// deletions make room again.
    pub(crate) fn make_room_to_delete(&mut self) -> Result<bool, StoreError<D::Error>> {
        if self.objects.map.space.log.is_open() {
            return self.make_room();
        }
        match self.make_room_within(IN_VAIN) {
            Err(StoreError::Full) => self.make_room_for_nodes().map(|()| true),
            made => made,
        }
    }

    /// The same, with so many units reclaimed at most.
    fn make_room_within(&mut self, most: u32) -> Result<bool, StoreError<D::Error>> {
        self.recount()?;
        self.steps = 0;
        let (mut reclaimed, reserve) = (0, self.reserve());
        while self.free_count() <= if reclaimed < self.eager() { reserve } else { reserve / 2 } {
            if reclaimed > most || self.is_spent() || !self.reclaim_one()? {
                return Err(StoreError::Full);
            }
            reclaimed += 1;
        }
        Ok(reclaimed > 0)
    }

    /// Reclaims until so many more granules may be live, in so many new sectors, and the reserve is there. Returns
    /// whether something may have moved.
    ///
    /// # Errors
    /// `Full` when each unit has been tried, or where moving takes more than it frees: what is kept for calls that have
    /// to find room is not spent. Without more ado where there was no room for as much before.
    pub(crate) fn make_room_for(&mut self, granules: u32, sectors: u32) -> Result<bool, StoreError<D::Error>> {
        self.recount()?;
        let (mut reclaimed, mut in_vain) = (0, 0);
        loop {
            let space = &self.objects.map.space;
            let is_short = self.free_count() <= self.reserve() / 2;
            // What a transaction replaces is no more than an update; what is created leaves the reserve as it is.
            let is_tried = space.log.is_open() && reclaimed >= self.eager() && !is_short;
            let is_free = self.free_count() > self.reserve() || is_tried;
            let needed = space.needed(granules, sectors);
            if space.has_capacity(needed) && is_free {
                return Ok(reclaimed > 0);
            }
            in_vain = if is_short { in_vain + 1 } else { 0 };
            let is_in_vain = in_vain > IN_VAIN || reclaimed > 2 * self.unit_count() || self.is_spent();
            let is_in_vain = is_in_vain || space.was_refused(needed);
            if is_in_vain || !self.reclaim_one()? {
                self.objects.map.space.refuse(needed);
                return Err(StoreError::Full);
            }
            reclaimed += 1;
        }
    }

    /// Whether the open transaction has used what it may: the last units are for a mount that undoes it.
    fn is_spent(&self) -> bool {
        let space = &self.objects.map.space;
        space.log.has_notes() && !space.is_settling && space.free_count() <= space.reserve() / 4
    }

    /// Counts anew what is live, after a call that found no free unit halfway.
    pub(crate) fn recount(&mut self) -> Result<(), StoreError<D::Error>> {
        if self.objects.map.space.log.units.has_lost_count {
            self.objects.map.space.log.units.clear_live();
            self.count_live()?;
            self.objects.map.space.log.units.has_lost_count = false;
        }
        Ok(())
    }

    pub(crate) fn reserve(&self) -> u32 {
        self.objects.map.space.reserve()
    }

    fn eager(&self) -> u32 {
        if self.objects.map.space.log.units.geometry().is_roomy() { EAGER } else { EAGER_ON_SMALL_PARTS }
    }

    pub(crate) fn free_count(&self) -> u32 {
        self.objects.map.space.free_count()
    }

    fn unit_count(&self) -> u32 {
        u32::from(self.objects.map.space.log.units.geometry().unit_count)
    }

    /// Does what the next calls would have to do: begins a log, opens a unit, reclaims one. Returns whether there was
    /// something to do.
    pub(crate) fn step(&mut self, least_bytes: u32) -> Result<bool, StoreError<D::Error>> {
        self.recount()?;
        if self.objects.map.space.log.turn_ahead()? || self.objects.map.space.open_ahead()? {
            return Ok(true);
        }
        let Some(victim) = self.choose()? else { return Ok(false) };
        let units = &self.objects.map.space.log.units;
        let geometry = units.geometry();
        let frees = geometry.room() - units.live_in(victim.unit);
        // On a full part moving may take as much as it frees: that would not come to an end.
        let is_last = self.steps > u32::from(geometry.unit_count);
        if is_last || frees < least_bytes.div_ceil(geometry.granule_bytes) && !victim.is_behind {
            return Ok(false);
        }
        self.steps += 1;
        self.empty_or_merge(victim.unit)?;
        Ok(true)
    }

    /// Empties the unit that is worth most. Returns whether there is one.
    pub(crate) fn reclaim_one(&mut self) -> Result<bool, StoreError<D::Error>> {
        if self.objects.map.space.log.is_short_of(0) && self.objects.map.space.log.fits_beside_sectors()? {
            self.settle_in_log(None)?;
        }
        let Some(victim) = self.choose()? else { return Ok(false) };
        self.empty_or_merge(victim.unit)?;
        Ok(true)
    }

    /// Empties a unit; where hardly a unit is free, and what is open may not hold it, in its place one that can be
    /// moved in one step, or if there is none, takes the unit of the next log to move to.
    fn empty_or_merge(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let space = &self.objects.map.space;
        let nodes = LEVELS_MAX as u32 * space.log.units.geometry().node_granules();
        let fits = 2 * space.log.units.live_in(unit) + nodes <= space.largest_open();
        if space.free_count() <= 1 && !fits {
            if self.merge()? {
                return Ok(());
            }
            let log = &mut self.objects.map.space.log;
            if log.is_short_of(1) && log.sectors().is_none() && log.fits_beside_sectors()? {
                return self.settle_in_log(None);
            }
        }
        self.empty(unit)
    }

    /// The closed unit with the best ratio of benefit and cost; one that is behind in wear; where hardly a unit is
    /// free, that with the fewest live granules. Reads the head of each.
    fn choose(&mut self) -> Result<Option<Victim>, StoreError<D::Error>> {
        let is_short = self.free_count() <= self.reserve() / 2;
        if is_short {
            self.objects.map.space.close_full();
        }
        let units = &mut self.objects.map.space.log.units;
        let (room, newest) = (units.geometry().room(), units.newest());
        let mut erases_max = 0;
        // The benefit and cost of the best unit: the ratio is compared without a division.
        let mut best: Option<(u64, u64, EraseUnit)> = None;
        let mut least_worn: Option<(u32, EraseUnit)> = None;
        for unit in units.all() {
            let live = units.live_in(unit);
            let Some(head) = units.head(unit)? else { continue };
            erases_max = erases_max.max(head.erases);
            if units.role(unit) != Role::Filled || live == 0 || live > room {
                continue;
            }
            let age = if is_short { 0 } else { newest.saturating_sub(head.sequence).min(AGE_MAX) };
            let (benefit, cost) = (u64::from(room - live) * u64::from(age + 1), u64::from(live + room / 64));
            if best.is_none_or(|(most, its_cost, _)| benefit * its_cost > most * cost) {
                best = Some((benefit, cost, unit));
            }
            if least_worn.is_none_or(|(erases, _)| head.erases < erases) {
                least_worn = Some((head.erases, unit));
            }
        }
        let behind = least_worn.filter(|(erases, _)| !is_short && erases + WEAR_SPREAD < erases_max);
        Ok(match behind {
            Some((_, unit)) => Some(Victim { unit, is_behind: true }),
            None => best.map(|(_, _, unit)| Victim { unit, is_behind: false }),
        })
    }

    /// Moves every live sector out of a unit.
    fn empty(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        let end = geometry.start(unit).offset(geometry.unit_granules);
        let mut at = self.first_sector(unit)?;
        while self.objects.map.space.log.units.live_in(unit) > 0 {
            let Some(header) = self.next_header(at, end)? else {
                return Err(self.objects.map.medium().corrupted(at, "a live sector that its unit does not show"));
            };
            at = match self.siblings(Sector { at, header }, end)? {
                Some(siblings) => self.move_siblings(siblings)?,
                None => {
                    self.move_if_live(Sector { at, header })?;
                    at.offset(header.granules(&geometry))
                }
            };
        }
        Ok(())
    }

    /// Where the sectors of a unit begin. Reads its head.
    pub(crate) fn first_sector(&mut self, unit: EraseUnit) -> Result<Granule, StoreError<D::Error>> {
        let units = &mut self.objects.map.space.log.units;
        let geometry = units.geometry();
        let is_log = units.head(unit)?.is_some_and(|head| head.stream == Stream::Log);
        Ok(geometry.start(unit).offset(if is_log { geometry.log_sectors() } else { geometry.head() }))
    }

    /// Moves a sector, if the map or a note leads to it.
    fn move_if_live(&mut self, sector: Sector) -> Result<(), StoreError<D::Error>> {
        let (owner, at) = (sector.header.owner(), sector.at);
        let note = if owner.level == 0 { self.objects.map.space.log.note_of(owner.index)? } else { None };
        let is_there = self.objects.map.lookup(owner)? == Entry::At(at);
        match note {
            Some(note) if is_there || note.before == Some(Entry::At(at)) => self.move_noted(sector, note),
            None if is_there => self.move_sector(sector, owner),
            _ => Ok(()),
        }
    }

    /// The objects of one leaf in a row that begins with this sector, dead ones between them passed over, if they are
    /// so many that a new leaf costs less than a change for each.
    ///
    /// Reads the headers in the row, and the leaf.
    fn siblings(&mut self, first: Sector, end: Granule) -> Result<Option<Siblings>, StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        if first.header.kind == SectorKind::Node || self.objects.map.space.log.is_open() {
            return Ok(None);
        }
        let leaf = first.header.owner().ancestor(1);
        let (mut at, mut headers) = (first.at, 0);
        while let Some(header) = self.next_header(at, end)? {
            if header.kind == SectorKind::Node || header.owner().ancestor(1) != leaf {
                break;
            }
            at = at.offset(header.granules(&geometry));
            headers += 1;
        }
        let siblings = if headers < SIBLINGS_MIN { None } else { self.siblings_until(leaf, first.at, at)? };
        Ok(siblings.filter(|siblings| siblings.count >= SIBLINGS_MIN))
    }

    fn siblings_until(
        &mut self,
        leaf: Owner,
        first: Granule,
        end: Granule,
    ) -> Result<Option<Siblings>, StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        let Entry::At(node) = self.objects.map.lookup(leaf)? else { return Ok(None) };
        let entries = self.objects.map.node(node, leaf)?.entries;
        let (mut at, mut count, mut last) = (first, 0, first);
        while let Some(header) = self.next_header(at, end)? {
            let is_live = entries[usize::from(header.index) % FANOUT as usize] == Entry::At(at);
            at = at.offset(header.granules(&geometry));
            if is_live {
                (count, last) = (count + 1, at);
            }
        }
        // What follows may be torn, and read differently the next time.
        let end = last;
        Ok(Some(Siblings { leaf, node, entries, count, first, end }))
    }

    /// Moves objects of one leaf, and leads the map to all of them with a new leaf. Returns where they ended.
    fn move_siblings(&mut self, siblings: Siblings) -> Result<Granule, StoreError<D::Error>> {
        let Siblings { leaf, node, entries, first, end, .. } = siblings;
        let geometry = self.objects.map.space.log.units.geometry();
        self.objects.map.space.log.intend(Intent::Rewrite(leaf))?;
        let mut moved = entries;
        let mut at = first;
        while at < end {
            let header = self.objects.map.stated_header(at)?;
            let entry = &mut moved[usize::from(header.index) % FANOUT as usize];
            if *entry == Entry::At(at) {
                *entry = Entry::At(self.copy_object(Sector { at, header })?);
            }
            at = at.offset(header.granules(&geometry));
        }
        self.replace_leaf(leaf, node, &entries, &moved)?;
        Ok(end)
    }

    /// Writes a leaf anew with other entries, and gives up the objects that it led to before.
    pub(crate) fn replace_leaf(
        &mut self,
        leaf: Owner,
        node: Granule,
        old: &[Entry; FANOUT as usize],
        new: &[Entry; FANOUT as usize],
    ) -> Result<(), StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        self.objects.map.space.log.intend(Intent::Rewrite(leaf))?;
        let header = self.objects.map.stated_header(node)?;
        let written = self.objects.map.write_node(leaf, new, Stream::Map)?;
        self.lead_to(leaf, Entry::At(written), Some(Sector { at: node, header }))?;
        for (old, new) in old.iter().zip(new).filter(|(old, new)| old != new) {
            if matches!(new, Entry::Nowhere(_)) {
                self.objects.map.space.refuse_none();
            }
            if let Entry::At(at) = *old {
                let header = self.objects.map.stated_header(at)?;
                self.objects.map.invalidate(&header);
                self.objects.map.space.log.units.remove_live(at, header.granules(&geometry));
            }
        }
        Ok(())
    }

    /// Makes sure that the nodes which a deletion may write find room. Deletions make units cheap to reclaim: one is
    /// reclaimed as soon as what is open has room for all that moving it may write, and not before.
    pub(crate) fn make_room_for_nodes(&mut self) -> Result<(), StoreError<D::Error>> {
        self.recount()?;
        let nodes = LEVELS_MAX as u32 * self.objects.map.space.log.units.geometry().node_granules();
        for _ in 0..2 * self.unit_count() {
            let space = &self.objects.map.space;
            let room = space.log.units.geometry().room();
            let left = space.largest_open() + self.free_count() * room;
            let is_cheap = self.least_live().is_some_and(|live| live <= room / 2 && 2 * live + nodes <= left);
            if self.free_count() > 1 || !is_cheap && left >= nodes {
                return Ok(());
            }
            if !self.reclaim_one()? {
                break;
            }
        }
        Err(StoreError::Full)
    }

    /// The fewest live granules of a unit that can be reclaimed.
    fn least_live(&self) -> Option<u32> {
        let units = &self.objects.map.space.log.units;
        let filled = units.all().filter(|&unit| units.role(unit) == Role::Filled && units.live_in(unit) > 0);
        filled.map(|unit| units.live_in(unit)).min()
    }

    pub(crate) fn next_header(&mut self, at: Granule, end: Granule) -> Result<Option<Header>, StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        if at.offset(geometry.granules(HEADER_BYTES)) > end {
            return Ok(None);
        }
        self.objects.map.find_header(at)
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
        // What is damaged stays so, that it is noticed when it is read.
        if !self.objects.is_intact(&sector)? {
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
        let bare = header.bare_granules(&geometry);
        let most = geometry.room().saturating_sub(bare);
        let most = if reason == Reason::Created { most.min(bare / NEW_PER_PLACE) } else { most };
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
        if matches!(entry, Entry::Nowhere(_)) {
            self.objects.map.space.refuse_none();
        }
        Ok(())
    }
}
