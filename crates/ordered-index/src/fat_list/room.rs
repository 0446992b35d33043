//! Room for changes of the structure: in the pools of the objects before the change, and free cells (step 1).
//!
//! An object whose pool is full is rewritten, which takes room in the pools of the objects before it, and so on; or its
//! block is moved, which gives all of the block's pools room.
//!
//! Invariant: moving and rewriting here do not change any object's keys, except for keys that go from an object with
//! few of them to the one before it.

use norn_flash::{EraseUnit, Nor};

use crate::error::{IndexError, Outcome};
use crate::fat_list::format::Kind;
use crate::fat_list::ground::cells::Cells;
use crate::fat_list::ground::cells::slots::Survey;
use crate::fat_list::ground::medium::Medium;
use crate::fat_list::layout::{Cell, Layout};
use crate::fat_list::replace::{Old, Replacements};
use crate::fat_list::search::{Limit, Node, Path, SkipList};
use crate::fat_list::widths::Widths;

/// How far from an object its predecessors are rewritten so that it can be, before a block is moved instead.
pub(crate) const PROPAGATION_MAX: usize = 4;

/// What a structural change may continue with.
pub(crate) enum Readiness {
    /// The objects before the change on each level, and two cells (the second one is the first if one is enough).
    Ready(Path, [Cell; 2]),
    /// Something was moved to make room: look again.
    Moved,
}

/// An object that can take further keys, and its first free slot.
type Roomy<W> = (Node<<W as Widths>::Key>, u8);

/// Objects that the current call may still rewrite for room in pools, before it moves blocks instead.
#[derive(Debug)]
pub(crate) struct Rewrites(u8);

impl Rewrites {
    /// What a call on a list with `levels` levels begins with.
    pub fn of_call(levels: u8) -> Self {
        Rewrites(2 * levels)
    }
}

/// Replacements, and the room that they take.
#[derive(Clone, Debug)]
pub(crate) struct Room<D, W: Widths> {
    pub replacements: Replacements<D, W>,
}

impl<D: Nor, W: Widths> Room<D, W> {
    pub fn new(medium: Medium<D>, layout: Layout, widths: W) -> Self {
        Room { replacements: Replacements::new(medium, layout, widths) }
    }

    pub fn list(&mut self) -> &mut SkipList<D, W> {
        &mut self.replacements.list
    }

    pub fn cells(&mut self) -> &mut Cells<D, W> {
        self.replacements.list.cells()
    }

    pub fn layout(&self) -> &Layout {
        self.replacements.list.layout()
    }

    /// Moves the block whose erase frees most cells; where no cell is dead, takes a step towards one that is.
    ///
    /// # Errors
    /// `Full` when no cell is dead and no neighbours are sparse.
    fn reclaim(&mut self) -> Outcome<(), D> {
        let victim = match self.list().turnstiles.victim() {
            Err(IndexError::Full) => return self.merge_sparse(),
            victim => victim?,
        };
        self.shift_poor_objects(victim)?;
        self.list().rotate(victim)
    }

    /// Step 1: `levels` from 0 on are to be set before `low`, by any but `old` itself, and `count` cells to be written.
    pub fn ready(
        &mut self,
        rewrites: &mut Rewrites,
        low: Option<&W::Key>,
        levels: u8,
        old: Option<Cell>,
        count: usize,
    ) -> Outcome<Readiness, D> {
        let path = self.list().path_before(low)?;
        if let Some(starved) = self.starved(&path, levels, old)? {
            self.make_room(rewrites, starved)?;
            return Ok(Readiness::Moved);
        }
        let Some(first) = self.list().turnstiles.free_cell(levels - 1, None)? else {
            return self.reclaim().map(|()| Readiness::Moved);
        };
        let second = match count {
            1 => Some(first),
            _ => self.list().turnstiles.free_cell(levels - 1, Some(first))?,
        };
        match second {
            Some(second) => Ok(Readiness::Ready(path, [first, second])),
            None => self.reclaim().map(|()| Readiness::Moved),
        }
    }

    /// An object on `path` whose pool has no room for setting its pointers.
    pub fn starved(&mut self, path: &Path, levels: u8, old: Option<Cell>) -> Outcome<Option<Cell>, D> {
        let path = &path[..usize::from(levels)];
        for (level, &cell) in path.iter().enumerate().filter(|&(_, &cell)| Some(cell) != old) {
            let kind = self.cells().stamp_regardless(cell)?.kind;
            let needed = if kind == Kind::Head { 1 } else { path.iter().filter(|&&other| other == cell).count() };
            if usize::from(self.cells().pool_room(cell, kind, level as u8)?) < needed {
                return Ok(Some(cell));
            }
        }
        Ok(None)
    }

    /// Gives the pool of `starved` room: rewrites it, or an object before it whose pool prevents that, or moves its
    /// block.
    ///
    /// Where a rewrite lacks nothing but a cell, the block to reclaim is chosen among all, so that objects which are
    /// changed all the time wander. The call's last rewrite is of `starved` itself: in its place no block is moved.
    pub fn make_room(&mut self, rewrites: &mut Rewrites, starved: Cell) -> Outcome<(), D> {
        let mut focus = starved;
        for _ in 0..PROPAGATION_MAX {
            let Some(node) = self.list().node(focus)? else { break };
            if rewrites.0 == 0 {
                break;
            }
            let path = self.list().path_before(node.low.as_ref())?;
            match self.starved(&path, node.level + 1, Some(focus))? {
                Some(next) if rewrites.0 > 1 => focus = next,
                Some(_) => break,
                None => {
                    if let Some(cell) = self.list().turnstiles.free_cell(node.level, None)? {
                        rewrites.0 -= 1;
                        return self.replacements.write_left(Old { node, merged: None }, &path, cell, None);
                    }
                    if rewrites.0 == 1 {
                        break;
                    }
                    rewrites.0 = 1;
                    match self.reclaim() {
                        Err(IndexError::Full) => break,
                        outcome => return outcome,
                    }
                }
            }
        }
        // A move gives all of its block's pools room and takes none from others: after one, moves end what is left to
        // do.
        rewrites.0 = 0;
        self.list().rotate(starved.unit)
    }

    /// The object before `node`, if it can take `keys` more, and its first free slot.
    pub fn left_neighbour(&mut self, node: &Node<W::Key>, keys: u32) -> Outcome<Option<Roomy<W>>, D> {
        let Some(low) = node.low else { return Ok(None) };
        let left = self.list().descend(Limit::Below(&low))?;
        if left.low.is_none() {
            return Ok(None);
        }
        let found = self.cells().survey(left.cell)?;
        let room = u32::from(self.layout().settings.slots - found.written);
        let fits = room > keys && found.valid.count_ones() + keys <= u32::from(self.layout().settings.keys);
        Ok(fits.then_some((left, found.written)))
    }

    /// Before a block is reclaimed: shifts its objects with few keys into those before them (lazy merging, section
    /// 0.5.3), as far as the pools have more than enough room, so that no later step of the call is short of it.
    pub fn shift_poor_objects(&mut self, unit: EraseUnit) -> Outcome<(), D> {
        let half = u32::from(self.layout().settings.keys) / 2;
        for index in 0..self.layout().cells_per_block {
            let Some(node) = self.list().node(Cell { unit, index })?.filter(|node| node.low.is_some()) else {
                continue;
            };
            let survey = self.cells().survey(node.cell)?;
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

    /// Whether every pool before `node` has room for setting its pointers, and once more for all of its own.
    fn has_ample_room(&mut self, node: &Node<W::Key>) -> Outcome<bool, D> {
        let path = self.list().path_before(node.low.as_ref())?;
        for level in 0..=node.level {
            let cell = path[usize::from(level)];
            let stamp = self.cells().stamp_regardless(cell)?;
            let needed = if stamp.kind == Kind::Head { 2 } else { u16::from(node.level) + u16::from(stamp.level) + 2 };
            if self.cells().pool_room(cell, stamp.kind, level)? < needed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies an object's keys into free slots of the one before it, and takes it out (Figure 11).
    pub fn shift(&mut self, node: Node<W::Key>, survey: &Survey, left: Node<W::Key>, free: u8) -> Outcome<(), D> {
        for (slot, to) in survey.slots().zip(free..) {
            let (key, value) = self.cells().entry(node.cell, slot)?;
            self.cells().write_slot(left.cell, to, &key, &value)?;
        }
        self.replacements.take_out(node.cell)
    }
}
