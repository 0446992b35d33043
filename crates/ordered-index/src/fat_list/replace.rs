//! Changes of the list's structure that leave its contents as they are.
//!
//! Replacing an object A (and B behind it) by L (and R behind that):
//! 1. see to it that each pointer that has to be swung has room, and that there are free cells;
//! 2. write and seal R, then L, whose header names A, and B or R: from here on the change is made;
//! 3. on each level, let the last object before A lead to the first of L and R that hooks there, or to what followed A and B;
//! 4. mark A and B dead; settle R, then L.
//!
//! A split waits until the slots are full (delayed split). So does a merge, or it waits until the block is reclaimed (lazy
//! merge): an object with few keys is copied into free slots of the one before it and taken out (shift merge), or two of
//! them are replaced by one.
//!
//! Taking D out: mark it doomed (from here on the change is made), let the last object before it lead to what follows it on each
//! level, mark it dead.
//!
//! | what a cut leaves | cause | recovery |
//! |---|---|---|
//! | a cell that is not sealed | during 2 | mark it dead |
//! | R sealed, not settled, and no L | between R and L | mark R dead |
//! | L sealed, not settled | during 3 or 4 | do 3 and 4 again |
//! | D doomed | while taking D out | take D out again |
//! | keys of a left neighbour beyond its range | while shifting, before D was doomed | clear their bits |
//!
//! Invariants: step 3 asks flash what is to be done, so that doing it twice does no harm; low keys of objects never change, and
//! L has A's, so that searches for the objects before A do not come upon what is half replaced.

use norn_flash::{EraseUnit, Nor};

use crate::error::IndexError;
use crate::fat_list::cells::{Draft, Links, Survey};
use crate::fat_list::format::{Column, Flag, Kind, LEVELS_MAX, Stamp};
use crate::fat_list::layout::Cell;
use crate::fat_list::list::{FatList, Outcome};
use crate::fat_list::search::{Limit, Node, Path};

/// How far from an object its predecessors are rewritten so that it can be, before a block is moved instead.
pub(crate) const PROPAGATION_MAX: usize = 4;

/// What a structural change may go on with.
enum Readiness {
    /// The objects before the change on each level, and two cells (the second one is the first if one is enough).
    Ready(Path, [Cell; 2]),
    /// Something was moved to make room: look again.
    Moved,
}

/// An object that is about to be replaced, and what follows it.
#[derive(Clone, Copy)]
struct Old<const K: usize> {
    node: Node<K>,
    /// The object behind it, if it is replaced, too.
    merged: Option<Node<K>>,
}

impl<D: Nor, const K: usize, const V: usize> FatList<D, K, V> {
    /// The level of the next object.
    fn draw_level(&mut self) -> u8 {
        if let Some(level) = self.drawn_level {
            return level;
        }
        let mut level = 0;
        while level + 1 < self.layout.settings.levels && self.draw() & 3 == 0 {
            level += 1;
        }
        self.drawn_level = Some(level);
        level
    }

    /// A random number (xorshift).
    pub(crate) fn draw(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random >> 8
    }

    /// Step 1: `levels` from 0 on are to be swung before `low`, by any but `old` itself, and `count` cells to be written.
    fn ready(&mut self, low: Option<&[u8; K]>, levels: u8, old: Option<Cell>, count: usize) -> Outcome<Readiness, D> {
        let mut path = [self.head; LEVELS_MAX];
        self.trace(low.map_or(Limit::End, Limit::Below), &mut path)?;
        if let Some(starved) = self.starved(&path, levels, old)? {
            self.make_room(starved)?;
            return Ok(Readiness::Moved);
        }
        let Some(first) = self.free_cell(levels - 1, None)? else {
            return self.reclaim().map(|()| Readiness::Moved);
        };
        let second = match count {
            1 => Some(first),
            _ => self.free_cell(levels - 1, Some(first))?,
        };
        match second {
            Some(second) => Ok(Readiness::Ready(path, [first, second])),
            None => self.reclaim().map(|()| Readiness::Moved),
        }
    }

    /// An object on `path` whose pool has not the room for its pointers to be swung.
    fn starved(&mut self, path: &Path, levels: u8, old: Option<Cell>) -> Outcome<Option<Cell>, D> {
        let path = &path[..usize::from(levels)];
        for (level, &cell) in path.iter().enumerate().filter(|&(_, &cell)| Some(cell) != old) {
            let kind = self.stamp_regardless(cell)?.kind;
            let needed = if kind == Kind::Head { 1 } else { path.iter().filter(|&&other| other == cell).count() };
            if usize::from(self.pool_room(cell, kind, level as u8)?) < needed {
                return Ok(Some(cell));
            }
        }
        Ok(None)
    }

    /// Gives the pool of `starved` room: rewrites it, or an object before it that stands in the way of that, or moves its block.
    ///
    /// Where a rewrite lacks nothing but a cell, the block to reclaim is chosen among all, so that objects which are changed all the
    /// time wander. The call's last rewrite is of `starved` itself: in its place no block is moved.
    fn make_room(&mut self, starved: Cell) -> Outcome<(), D> {
        let mut focus = starved;
        for _ in 0..PROPAGATION_MAX {
            let Some(node) = self.node(focus)? else { break };
            if self.rewrites_left == 0 {
                break;
            }
            let mut path = [self.head; LEVELS_MAX];
            self.trace(node.low.as_ref().map_or(Limit::End, Limit::Below), &mut path)?;
            match self.starved(&path, node.level + 1, Some(focus))? {
                Some(next) if self.rewrites_left > 1 => focus = next,
                Some(_) => break,
                None => {
                    if let Some(cell) = self.free_cell(node.level, None)? {
                        self.rewrites_left -= 1;
                        return self.write_left(Old { node, merged: None }, &path, cell, None);
                    }
                    if self.rewrites_left == 1 {
                        break;
                    }
                    self.rewrites_left = 1;
                    match self.reclaim() {
                        Err(IndexError::Full) => break,
                        outcome => return outcome,
                    }
                }
            }
        }
        // A move gives all of its block's pools room and takes none from others: after one, moves end what is left to do.
        self.rewrites_left = 0;
        self.rotate(starved.unit)
    }

    /// Writes an object anew, with its latest pointers and slots only.
    pub(crate) fn rewrite(&mut self, node: Node<K>) -> Outcome<(), D> {
        match self.ready(node.low.as_ref(), node.level + 1, Some(node.cell), 1)? {
            Readiness::Ready(path, [cell, _]) => self.write_left(Old { node, merged: None }, &path, cell, None),
            Readiness::Moved => Ok(()),
        }
    }

    /// Adds an object without keys whose range begins at `low`.
    pub(crate) fn create(&mut self, low: &[u8; K]) -> Outcome<(), D> {
        let level = self.draw_level();
        let Readiness::Ready(path, [cell, _]) = self.ready(Some(low), level + 1, None, 1)? else {
            return Ok(());
        };
        let stamp = Stamp { level, kind: Kind::Object, settled: false, doomed: false };
        let mut draft = self.draft(cell, stamp, Some(low), Links::default())?;
        for level in 0..=level {
            let column = self.continuation(None, &path, level)?;
            self.draft_pointer(&mut draft, level, column)?;
        }
        self.drawn_level = None;
        self.seal(draft)?;
        self.finish(cell)
    }

    /// Replaces an object by two with half of its keys each (the delayed split, section 0.5.2).
    pub(crate) fn split(&mut self, node: Node<K>, survey: &Survey) -> Outcome<(), D> {
        let level = self.draw_level();
        let levels = 1 + level.max(node.level);
        let Readiness::Ready(path, [right, left]) = self.ready(node.low.as_ref(), levels, Some(node.cell), 2)? else {
            return Ok(());
        };
        let old = Old { node, merged: None };
        let median = self.median(node.cell, survey)?;
        let stamp = Stamp { level, kind: Kind::Right, settled: false, doomed: false };
        let mut draft = self.draft(right, stamp, Some(&median), Links::default())?;
        for level in 0..=level {
            let column = self.continuation(Some(&old), &path, level)?;
            self.draft_pointer(&mut draft, level, column)?;
        }
        self.draft_slots(&mut draft, node.cell, |key| *key >= median)?;
        self.seal(draft)?;
        self.drawn_level = None;
        let right = Right { cell: right, level, low: median };
        self.write_left(old, &path, left, Some(&right))
    }

    /// The key with as many keys of the object below it as from it on.
    fn median(&mut self, cell: Cell, survey: &Survey) -> Outcome<[u8; K], D> {
        let wanted = survey.valid.count_ones() / 2;
        for candidate in survey.slots() {
            let key = self.key_at(cell, candidate)?;
            let mut below = 0;
            for slot in survey.slots() {
                below += u32::from(self.key_at(cell, slot)? < key);
            }
            if below == wanted {
                return Ok(key);
            }
        }
        Err(self.damage(cell, self.layout.slots_offset, "keys that are there twice"))
    }

    /// Rewrites an object whose slots are full, together with a neighbour if both have few keys (section 0.5.3).
    pub(crate) fn rewrite_or_merge(&mut self, node: Node<K>, survey: &Survey) -> Outcome<(), D> {
        let half = u32::from(self.layout.settings.keys) / 2;
        let keys = survey.valid.count_ones();
        if keys >= half {
            return self.rewrite(node);
        }
        if let Some((left, free)) = self.left_neighbour(&node, keys)? {
            let mut path = [self.head; LEVELS_MAX];
            self.trace(node.low.as_ref().map_or(Limit::End, Limit::Below), &mut path)?;
            return match self.starved(&path, node.level + 1, None)? {
                Some(starved) => self.make_room(starved),
                None => self.shift(node, survey, left, free),
            };
        }
        if let Some(right) = self.successor(&node, 0)?
            && self.survey(right.cell)?.valid.count_ones() < half
        {
            return self.merge(node, right);
        }
        self.rewrite(node)
    }

    /// The object before `node`, if it can take `keys` more, and its first free slot.
    fn left_neighbour(&mut self, node: &Node<K>, keys: u32) -> Outcome<Option<(Node<K>, u8)>, D> {
        let Some(low) = node.low else { return Ok(None) };
        let left = self.descend(Limit::Below(&low))?;
        if left.low.is_none() {
            return Ok(None);
        }
        let found = self.survey(left.cell)?;
        let room = u32::from(self.layout.settings.slots - found.written);
        let fits = room > keys && found.valid.count_ones() + keys <= u32::from(self.layout.settings.keys);
        Ok(fits.then_some((left, found.written)))
    }

    /// Before a block is reclaimed: shifts its objects with few keys into those before them (lazy merging, section 0.5.3), as far
    /// as the pools have more than enough room, so that no later step of the call is short of it.
    pub(crate) fn shift_poor_objects(&mut self, unit: EraseUnit) -> Outcome<(), D> {
        let half = u32::from(self.layout.settings.keys) / 2;
        for index in 0..self.layout.cells_per_block {
            let Some(node) = self.node(Cell { unit, index })?.filter(|node| node.low.is_some()) else { continue };
            let survey = self.survey(node.cell)?;
            let keys = survey.valid.count_ones();
            if keys >= half {
                continue;
            }
            if let Some((left, free)) = self.left_neighbour(&node, keys)?
                && self.has_ample_room(&node)?
            {
                self.shift(node, &survey, left, free)?;
            }
        }
        Ok(())
    }

    /// Whether every pool before `node` has room for its pointers to be swung, and once more for all of its own.
    fn has_ample_room(&mut self, node: &Node<K>) -> Outcome<bool, D> {
        let mut path = [self.head; LEVELS_MAX];
        self.trace(node.low.as_ref().map_or(Limit::End, Limit::Below), &mut path)?;
        for level in 0..=node.level {
            let cell = path[usize::from(level)];
            let stamp = self.stamp_regardless(cell)?;
            let needed = if stamp.kind == Kind::Head { 2 } else { u16::from(node.level) + u16::from(stamp.level) + 2 };
            if self.pool_room(cell, stamp.kind, level)? < needed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies an object's keys into free slots of the one before it, and takes it out (Figure 11).
    fn shift(&mut self, node: Node<K>, survey: &Survey, left: Node<K>, free: u8) -> Outcome<(), D> {
        for (slot, to) in survey.slots().zip(free..) {
            let (key, value) = self.entry(node.cell, slot)?;
            self.write_slot(left.cell, to, &key, &value)?;
        }
        self.take_out(node.cell)
    }

    /// Replaces two neighbours by one (Figure 10).
    fn merge(&mut self, node: Node<K>, right: Node<K>) -> Outcome<(), D> {
        let levels = 1 + node.level.max(right.level);
        let Readiness::Ready(path, [cell, _]) = self.ready(node.low.as_ref(), levels, Some(node.cell), 1)? else {
            return Ok(());
        };
        self.write_left(Old { node, merged: Some(right) }, &path, cell, None)
    }

    /// Takes out the object in whose range `key` is, if it has no keys.
    pub(crate) fn take_out_empty(&mut self, key: &[u8; K]) -> Outcome<(), D> {
        for _ in 0..super::list::STEPS_MAX {
            let node = self.descend(Limit::AtMost(key))?;
            let Some(low) = node.low else { return Ok(()) };
            if self.survey(node.cell)?.valid != 0 {
                return Ok(());
            }
            let mut path = [self.head; LEVELS_MAX];
            self.trace(Limit::Below(&low), &mut path)?;
            match self.starved(&path, node.level + 1, None)? {
                Some(starved) => self.make_room(starved)?,
                None => return self.take_out(node.cell),
            }
        }
        Err(self.damage(self.head, 0, "a list in which no step makes room"))
    }

    fn take_out(&mut self, cell: Cell) -> Outcome<(), D> {
        self.set_flag(cell, Flag::Doomed)?;
        self.finish_taking_out(cell)
    }

    /// Where the pointer of `level` behind `old`, or from the object before it, leads.
    fn continuation(&mut self, old: Option<&Old<K>>, path: &Path, level: u8) -> Outcome<Column, D> {
        let merged = old.and_then(|old| old.merged).filter(|node| node.level >= level);
        let node = merged.or_else(|| old.map(|old| old.node).filter(|node| node.level >= level));
        match node {
            Some(node) => self.pointer(node.cell, node.kind(), level),
            None => {
                let before = path[usize::from(level)];
                let kind = self.stamp_regardless(before)?.kind;
                self.pointer(before, kind, level)
            }
        }
    }

    /// Step 2 for L, and 3 and 4: L takes the level and the low key of `old`.
    fn write_left(&mut self, old: Old<K>, path: &Path, cell: Cell, right: Option<&Right<K>>) -> Outcome<(), D> {
        let Old { node, merged } = old;
        let kind = match (node.low, merged) {
            (None, _) => Kind::Head,
            (_, Some(_)) => Kind::Merged,
            _ => Kind::Object,
        };
        let stamp = Stamp { level: node.level, kind, settled: false, doomed: false };
        let partner = merged.map(|node| node.cell).or(right.map(|right| right.cell));
        let mut draft = self.draft(cell, stamp, node.low.as_ref(), Links { replaces: Some(node.cell), partner })?;
        self.draft_left_pointers(&mut draft, &old, path, right)?;
        if kind != Kind::Head {
            self.draft_slots(&mut draft, node.cell, |key| right.is_none_or(|right| *key < right.low))?;
        }
        if let Some(merged) = merged {
            self.draft_slots(&mut draft, merged.cell, |_| true)?;
        }
        self.seal(draft)?;
        self.finish(cell)
    }

    fn draft_left_pointers(
        &mut self,
        draft: &mut Draft,
        old: &Old<K>,
        path: &Path,
        right: Option<&Right<K>>,
    ) -> Outcome<(), D> {
        for level in 0..=draft.level {
            let column = match right {
                Some(right) if level <= right.level => self.layout.column_of(right.cell),
                _ if draft.kind == Kind::Head && self.successor(&old.node, level)?.is_none() => {
                    self.layout.column_of(draft.cell)
                }
                _ => self.continuation(Some(old), path, level)?,
            };
            self.draft_pointer(draft, level, column)?;
        }
        Ok(())
    }

    /// Steps 3 and 4 for the object in `left`, as its header says.
    pub(crate) fn finish(&mut self, left: Cell) -> Outcome<(), D> {
        let links = self.links(left)?;
        let stamp = self.stamp_regardless(left)?;
        let is_merge = stamp.kind == Kind::Merged;
        let right = links.partner.filter(|_| !is_merge);
        let merged = links.partner.filter(|_| is_merge);
        let low = if stamp.kind == Kind::Head { None } else { Some(self.low(left)?) };
        let mut path = [self.head; LEVELS_MAX];
        self.trace(low.as_ref().map_or(Limit::End, Limit::Below), &mut path)?;
        for level in 0..self.layout.settings.levels {
            let before = path[usize::from(level)];
            if Some(before) == links.replaces {
                continue; // The old head, on a level without objects.
            }
            let mut column = None;
            for (cell, is_new) in [(Some(left), true), (right, true), (merged, false), (links.replaces, false)] {
                let Some(cell) = cell else { continue };
                let found = self.stamp_regardless(cell)?;
                if found.level >= level {
                    column =
                        Some(if is_new { self.layout.column_of(cell) } else { self.pointer(cell, found.kind, level)? });
                    break;
                }
            }
            let Some(column) = column else { break };
            self.lead(before, level, column)?;
        }
        for old in [links.replaces, merged].into_iter().flatten() {
            self.set_flag(old, Flag::Dead)?;
        }
        if stamp.kind == Kind::Head {
            self.head = left;
        }
        for new in [right, Some(left)].into_iter().flatten() {
            self.set_flag(new, Flag::Settled)?;
        }
        Ok(())
    }

    /// Lets every object before the doomed one in `cell` lead to what follows it, and marks it dead.
    pub(crate) fn finish_taking_out(&mut self, cell: Cell) -> Outcome<(), D> {
        let Some(Node { low: Some(low), level, .. }) = self.node(cell)? else {
            return Err(self.damage(cell, 0, "a doomed cell that is no object"));
        };
        let mut path = [self.head; LEVELS_MAX];
        self.trace(Limit::Below(&low), &mut path)?;
        for level in 0..=level {
            let column = self.pointer(cell, Kind::Object, level)?;
            self.lead(path[usize::from(level)], level, column)?;
        }
        self.set_flag(cell, Flag::Dead)
    }

    /// Lets `before` lead to `column`, if it does not yet.
    fn lead(&mut self, before: Cell, level: u8, column: Column) -> Outcome<(), D> {
        let kind = self.stamp_regardless(before)?.kind;
        if self.pointer(before, kind, level)? == column {
            return Ok(());
        }
        self.swing(before, kind, level, column)
    }
}

/// The right half of a split.
struct Right<const K: usize> {
    cell: Cell,
    level: u8,
    low: [u8; K],
}
