//! Moving sectors in one step: new ones are written where nothing leads, with the map nodes above them, and one record
//! of the log then leads to all of them.
//!
//! 1. A mount settles what is in doubt so.
//! 2. Where hardly a unit is free, a unit with few live sectors goes along, or is moved by itself. Ordinary reclamation
//!    moves one sector after the other: a cut leaves both units partly filled, so that a supply which fails again and
//!    again would use up one unit each time. Here a cut leaves the new unit as free as it was.
//! 3. Where none is free, they go to the unit of the next log before that counts, and its head leads to them.
//!
//! ```text
//!  before  root ─▶ node ─▶ leaf a ─▶ object 17          after  root′ ─▶ node′ ─▶ leaf a′ ─▶ object 17′
//!                       └▶ leaf b ─▶ object 20                             └▶ leaf b ─▶ object 20
//! ```

use norn_flash::{EraseUnit, Nor};
use norn_heap::{Listener, StoreError};

use crate::format::{Entry, FANOUT, Granule, Owner, SectorKind, Stream};
use crate::log::Doubt;
use crate::map::Map;
use crate::object::Sector;
use crate::reclaim::Reclamation;
use crate::units::{Role, UnitRows};

/// Owners that move in one step.
const MOVES_MAX: usize = 16;
/// Map nodes that are written anew for them.
const NODES_MAX: usize = 20;

/// A new root, and the nodes that it and those below it replace.
type NewNodes = (Option<Entry>, [Option<Granule>; NODES_MAX]);

/// A unit whose sectors go along with other moves.
pub(crate) struct Joined {
    unit: EraseUnit,
    /// Of them those that were copied for that: its nodes, and what was in doubt, are counted as replaced.
    objects: u32,
}

/// What is left of a unit to look at.
struct Walk {
    at: Granule,
    end: Granule,
}

/// Owners, and where the map is to lead for each.
#[derive(Clone, Copy)]
pub(crate) struct Moves {
    list: [(Owner, Entry); MOVES_MAX],
    len: usize,
}

impl Moves {
    /// None but this one.
    pub(crate) const fn of(owner: Owner, entry: Entry) -> Moves {
        Moves { list: [(owner, entry); MOVES_MAX], len: 1 }
    }

    pub(crate) const NONE: Moves = Moves { len: 0, ..Moves::of(Owner::object(0), Entry::Nowhere(0)) };

    fn all(&self) -> &[(Owner, Entry)] {
        &self.list[..self.len]
    }

    fn position(&self, owner: Owner) -> Option<usize> {
        self.all().iter().position(|&(other, _)| other == owner)
    }

    /// Whether the owner of a sector is led elsewhere.
    fn has_moved(&self, sector: Sector) -> bool {
        self.position(sector.header.owner()).is_some_and(|at| self.list[at].1 != Entry::At(sector.at))
    }

    /// Leads to another place for an owner. Returns whether there is room for that.
    pub(crate) fn set(&mut self, owner: Owner, entry: Entry) -> bool {
        let at = self.position(owner).unwrap_or(self.len);
        let Some(place) = self.list.get_mut(at) else { return false };
        *place = (owner, entry);
        self.len = self.len.max(at + 1);
        true
    }

    /// Takes an owner below a node.
    fn take_below(&mut self, node: Owner) -> Option<(Owner, Entry)> {
        let at = self.all().iter().position(|(owner, _)| owner.level + 1 == node.level && owner.parent() == node)?;
        let taken = self.list[at];
        self.len -= 1;
        let (last, entry) = self.list[self.len];
        self.list[at] = (last, entry);
        Some(taken)
    }

    /// How many map nodes are above all of these owners, up to a level.
    fn nodes(&self, top: u8) -> usize {
        let ancestors = |level: u8| {
            let below = self.all().iter().filter(move |(owner, _)| owner.level < level);
            below.map(move |(owner, _)| owner.ancestor(level))
        };
        (1..=top)
            .map(|level| {
                ancestors(level).enumerate().filter(|&(n, node)| !ancestors(level).take(n).any(|o| o == node)).count()
            })
            .sum()
    }
}

impl<D: Nor, M: UnitRows, L: Listener> Map<D, M, L> {
    /// Writes the nodes above some owners anew, now leading elsewhere, and makes that the map.
    ///
    /// Programs these nodes, and the log's record.
    pub(crate) fn lead_all(&mut self, moves: Moves) -> Result<(), StoreError<D::Error>> {
        let (root, replaced) = self.write_nodes(moves)?;
        if let Some(root) = root {
            self.space.log.set_root(root)?;
        }
        self.remove_nodes(replaced);
        Ok(())
    }

    /// Writes the nodes above some owners anew, now leading elsewhere. Returns the root, to which nothing leads yet,
    /// and the nodes that it replaces.
    pub(crate) fn write_nodes(&mut self, mut moves: Moves) -> Result<NewNodes, StoreError<D::Error>> {
        let (mut replaced, mut count) = ([None; NODES_MAX], 0);
        for level in 1..=self.top() {
            while let Some(&(owner, _)) = moves.all().iter().find(|(owner, _)| owner.level < level) {
                let node = owner.parent();
                let Entry::At(at) = self.lookup(node)? else {
                    // The path ends above the owner: there is nothing to write below.
                    let nowhere = self.lookup(node)?;
                    while moves.take_below(node).is_some() {}
                    moves.set(node, nowhere);
                    continue;
                };
                let mut entries = self.node(at, node)?.entries;
                while let Some((owner, entry)) = moves.take_below(node) {
                    let place = &mut entries[usize::from(owner.index) % FANOUT as usize];
                    let before = core::mem::replace(place, entry);
                    if owner.level == 0 {
                        self.led_away(before, entry)?;
                    }
                }
                moves.set(node, Entry::At(self.write_node(node, &entries, Stream::Updated)?));
                if let Some(place) = replaced.get_mut(count) {
                    (*place, count) = (Some(at), count + 1);
                }
            }
        }
        Ok((moves.all().first().map(|&(_, root)| root), replaced))
    }
}

impl<D: Nor, M: UnitRows, L: Listener> Reclamation<D, M, L> {
    /// Moves the sectors of a unit in one step, into what is open or a free unit. Returns whether there is one whose
    /// sectors fit.
    pub(crate) fn merge(&mut self) -> Result<bool, StoreError<D::Error>> {
        let was_settling = core::mem::replace(&mut self.objects.map.space.is_settling, true);
        let mut moves = Moves::NONE;
        let joined = self.join(&mut moves);
        let led = match joined {
            Ok(Some(joined)) => self.objects.map.lead_all(moves).map(|()| self.give_up(joined)).map(|()| true),
            joined => joined.map(|_| false),
        };
        self.objects.map.space.is_settling = was_settling;
        led
    }

    /// Gives up a unit of which everything has moved.
    pub(crate) fn give_up(&mut self, joined: Joined) {
        self.objects.map.space.log.units.give_up(joined.unit, joined.objects);
    }

    /// Copies the objects of the unit that takes least, and has them and its nodes go along with other moves. Returns
    /// which unit it is.
    pub(crate) fn join(&mut self, moves: &mut Moves) -> Result<Option<Joined>, StoreError<D::Error>> {
        let mut best: Option<(u32, EraseUnit)> = None;
        for unit in self.objects.map.space.log.units.all() {
            let units = &self.objects.map.space.log.units;
            if units.role(unit) == Role::Filled
                && (1..=units.geometry().room() / 2).contains(&units.live_in(unit))
                && let Some(granules) = self.granules_to_join(unit, *moves)?
                && best.is_none_or(|(least, _)| granules < least)
            {
                best = Some((granules, unit));
            }
        }
        best.map(|(_, unit)| self.join_unit(unit, moves)).transpose()
    }

    /// Copies the objects of a unit, and has them and its nodes go along with other moves: there has to be room.
    fn join_unit(&mut self, unit: EraseUnit, moves: &mut Moves) -> Result<Joined, StoreError<D::Error>> {
        let (mut walk, mut objects) = (self.walk(unit)?, 0);
        while let Some(sector) = self.next_live(&mut walk)? {
            if sector.header.kind != SectorKind::Node && !moves.has_moved(sector) {
                moves.set(sector.header.owner(), Entry::At(self.objects.copy(&sector, Stream::Updated)?));
                objects += 1;
            }
        }
        let mut walk = self.walk(unit)?;
        while let Some(sector) = self.next_live(&mut walk)? {
            self.touch(sector, moves)?;
        }
        Ok(Joined { unit, objects })
    }

    /// Writes what is in doubt anew, where no unit is free: into the unit of the next log, before that counts. Its head
    /// leads to the new map, in which nothing is in doubt. A unit with few sectors goes along, and what is live in the
    /// present log's unit if no other can be the third. So neither this nor many mounts that are cut use up a unit.
    ///
    /// # Errors
    /// `Full` where that does not fit.
    pub(crate) fn settle_in_log(&mut self, doubt: Option<&Doubt>) -> Result<(), StoreError<D::Error>> {
        let was_settling = core::mem::replace(&mut self.objects.map.space.is_settling, true);
        let settled = self.take_third().and_then(|third| {
            let written = self.write_beside_log(doubt, third);
            if written.is_err() && third != self.objects.map.space.log.unit() {
                self.objects.map.space.log.units.set_role(third, Role::Filled);
            }
            written
        });
        let space = &mut self.objects.map.space;
        space.is_settling = was_settling;
        if settled.is_err() {
            // What was counted, nothing leads to.
            space.log.units.has_lost_count = true;
            space.log.close_sectors();
        }
        settled
    }

    /// The third unit of the next log: the present one, which has to be empty then, or a free one if that has sectors.
    fn take_third(&mut self) -> Result<EraseUnit, StoreError<D::Error>> {
        let (log, mut third) = (&mut self.objects.map.space.log, None);
        if log.units.live_in(log.unit()) > 0 {
            third = log.units.least_worn_free()?;
        }
        let third = third.unwrap_or(log.unit());
        log.units.set_role(third, Role::Log);
        Ok(third)
    }

    fn write_beside_log(&mut self, doubt: Option<&Doubt>, third: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let old = self.objects.map.space.log.unit();
        self.objects.map.space.open_log()?;
        let (mut moves, replaced) = match doubt {
            Some(doubt) => self.copy_in_doubt(doubt)?,
            None => (Moves::NONE, None),
        };
        let carried = if third != old || self.objects.map.space.log.units.live_in(old) == 0 {
            None
        } else if self.granules_to_join(old, moves)?.is_some() {
            Some(self.join_unit(old, &mut moves)?)
        } else {
            return Err(StoreError::Full);
        };
        let joined = self.join(&mut moves)?;
        let (root, nodes) = self.objects.map.write_nodes(moves)?;
        let root = root.unwrap_or(self.objects.map.space.log.root());
        self.objects.map.space.log.begin_beside_sectors(root, third)?;
        self.objects.map.remove_nodes(nodes);
        self.remove_replaced(replaced);
        [carried, joined].into_iter().flatten().for_each(|joined| self.give_up(joined));
        Ok(())
    }

    /// Has a node written anew, although nothing below it may have moved. Returns whether there is room for that.
    fn touch(&mut self, sector: Sector, moves: &mut Moves) -> Result<bool, StoreError<D::Error>> {
        let owner = sector.header.owner();
        if sector.header.kind != SectorKind::Node || moves.all().iter().any(|(below, _)| below.is_below(owner)) {
            return Ok(true);
        }
        let child = Owner { level: owner.level - 1, index: owner.index << 4 };
        let entry = self.objects.map.lookup(child)?;
        Ok(moves.set(child, entry))
    }

    /// The granules that all of a unit and the nodes above it take, along with other moves; `None` where that does not
    /// fit, or where a note leads to something in the unit.
    fn granules_to_join(&mut self, unit: EraseUnit, mut moves: Moves) -> Result<Option<u32>, StoreError<D::Error>> {
        let units = &self.objects.map.space.log.units;
        let (geometry, live) = (units.geometry(), units.live_in(unit));
        let (mut walk, mut found, mut granules) = (self.walk(unit)?, 0, 0);
        while let Some(sector) = self.next_live(&mut walk)? {
            found += sector.header.granules(&geometry);
            let has_room = if sector.header.kind == SectorKind::Node {
                self.touch(sector, &mut moves)?
            } else {
                granules += if moves.has_moved(sector) { 0 } else { sector.header.granules(&geometry) };
                let (owner, entry) = (sector.header.owner(), Entry::At(sector.at));
                let note = self.objects.map.space.log.note_of(owner.index)?;
                note.is_none_or(|note| note.before != Some(entry)) && moves.set(owner, entry)
            };
            if !has_room {
                return Ok(None);
            }
        }
        let nodes = moves.nodes(self.objects.map.top());
        let granules = granules + nodes as u32 * geometry.node_granules();
        let space = &self.objects.map.space;
        let room = space.largest_open().max(if space.free_count() > 0 { geometry.room() } else { 0 });
        Ok((found == live && nodes <= NODES_MAX && granules <= room).then_some(granules))
    }

    fn walk(&mut self, unit: EraseUnit) -> Result<Walk, StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        Ok(Walk { at: self.first_sector(unit)?, end: geometry.start(unit).offset(geometry.unit_granules) })
    }

    /// The next sector that the map leads to. A walk and no visitor: the stack of a call through a pointer has no bound
    /// that a tool can find.
    fn next_live(&mut self, walk: &mut Walk) -> Result<Option<Sector>, StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        while let Some(header) = self.next_header(walk.at, walk.end)? {
            let at = walk.at;
            walk.at = at.offset(header.granules(&geometry));
            if self.objects.map.lookup(header.owner())? == Entry::At(at) {
                return Ok(Some(Sector { at, header }));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    //! Proves that whoever points to what is merged hears of it: calls hardly ever merge, mounts forget all pointers.
    use std::vec::Vec;

    use norn_flash_sim::{NorSim, catalogue};
    use norn_heap::{Layout, Listener, Ref};

    use crate::LogHeap;

    #[derive(Default)]
    struct Heard(Vec<Ref>);

    impl Listener for Heard {
        fn invalidated(&mut self, reference: Ref) {
            self.0.push(reference);
        }

        fn all_invalidated(&mut self) {}
    }

    #[test]
    fn merging_ends_the_pointers_to_what_it_moves() {
        let device = NorSim::new(catalogue::test_part(24, 2048));
        let mut heap: LogHeap<_, 24, Heard> = LogHeap::format_with(device, Heard::default()).unwrap();
        let mut objects: Vec<Ref> = (0..60).map(|_| heap.create(Layout::uniform(50, 2)).unwrap()).collect();
        objects.drain(..15).for_each(|object| heap.delete(object).unwrap());
        let places: Vec<_> = objects.iter().map(|&object| heap.field_pointer(object, 0).unwrap()).collect();
        heap.listener_mut().0.clear();
        assert_eq!(heap.reclamation().merge(), Ok(true));
        let mut heard = core::mem::take(&mut heap.listener_mut().0);
        let mut moved: Vec<Ref> = Vec::new();
        for (&object, place) in objects.iter().zip(places) {
            moved.extend((heap.field_pointer(object, 0) != Ok(place)).then_some(object));
        }
        heard.sort();
        assert!(!moved.is_empty() && moved == heard, "{moved:?} moved, the listener heard of {heard:?}");
    }
}
