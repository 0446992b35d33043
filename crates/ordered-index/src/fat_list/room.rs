//! Room for changes of the structure: in the pools of the objects before the change, and free cells (step 1).
//!
//! An object whose pool is full is rewritten, which takes room in the pools of the objects before it, and so on; or, if
//! all pools that lack room are in one block, that is moved, which gives all of the block's pools room. A call has a
//! [`Budget`] for both. When it is used up, the call moves the block of its own object instead (`shape.rs`).
//!
//! Invariant: moving and rewriting here do not change any object's keys, except for keys that go from an object with
//! few of them to the one before it.

use norn_flash::{EraseUnit, Nor};

use crate::error::{IndexError, Outcome};
use crate::fat_list::format::LEVELS_MAX;
use crate::fat_list::ground::cells::Cells;
use crate::fat_list::ground::cells::slots::{Next, Survey};
use crate::fat_list::ground::medium::Medium;
use crate::fat_list::layout::{Cell, Layout};
use crate::fat_list::replace::{Old, Replacements};
use crate::fat_list::search::{Limit, Node, Path, SkipList};
use crate::fat_list::widths::{Widths, without};

/// How far from an object its predecessors are rewritten so that it can be.
pub(crate) const PROPAGATION_MAX: usize = 8;
/// Cells that a change of the structure takes at most: those of a split.
pub(crate) const CELLS_MAX: u32 = 2;
/// Blocks that a call reclaims at most for cells that it can do without: one for a cell, and one for even wear.
pub(crate) const RECLAIMS_MAX: u8 = 2;
/// Objects that are shifted at most before their block is reclaimed.
pub(crate) const SHIFTS_MAX: u8 = 8;

/// What a structural change may continue with.
pub(crate) enum Readiness {
    /// The objects before the change on each level, on how many levels they have room, and two cells (the second one is
    /// the first if one is enough).
    Ready(Path, u8, [Cell; 2]),
    /// Something was rewritten or moved to make room: look again.
    Moved,
    /// Pools before the change have no room, and what the call may do does not give it to them.
    Starved,
    /// Cells are missing, and the call may not reclaim a further block, or no cell is dead.
    NoCell,
}

/// Levels on which a change sets pointers: it has to on the first `needed` ones, and does on `wished` if it can.
#[derive(Clone, Copy)]
pub(crate) struct Levels {
    pub needed: u8,
    pub wished: u8,
}

impl Levels {
    /// The levels of an object that is replaced.
    pub fn all(levels: u8) -> Self {
        Levels { needed: levels, wished: levels }
    }
}

/// An object that can take further keys, and its first free slot.
type Roomy<W> = (Node<<W as Widths>::Key>, Next<W>);

/// What the current call may still do to make room. When it is used up, the call moves the block of its own object.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Objects that may be rewritten for room in pools; counted when the first one is to be.
    rewrites: Option<u8>,
    /// Blocks that may be reclaimed for cells.
    reclaims: u8,
    /// Blocks that may be moved because all pools that lack room are in them.
    moves: u8,
}

impl Budget {
    /// What a call begins with.
    pub fn of_call() -> Self {
        Budget { rewrites: None, reclaims: RECLAIMS_MAX, moves: 1 }
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

    /// Moves the block whose erase frees most cells.
    ///
    /// # Errors
    /// `Full` when no cell is dead.
    pub fn reclaim(&mut self) -> Outcome<(), D> {
        let victim = self.list().turnstiles.victim()?;
        self.shift_poor_objects(victim)?;
        self.list().rotate(victim)
    }

    /// Reclaims a block if the call may and a cell is dead; whether it did.
    fn reclaim_within(&mut self, budget: &mut Budget) -> Outcome<bool, D> {
        if budget.reclaims == 0 {
            return Ok(false);
        }
        match self.reclaim() {
            Err(IndexError::Full) => Ok(false),
            outcome => {
                budget.reclaims -= 1;
                outcome.map(|()| true)
            }
        }
    }

    /// A step towards the one cell without which a key has no room: reclaims a block, or where no cell is dead, merges
    /// neighbours.
    ///
    /// # Errors
    /// `Full` when no cell is dead and no neighbours are sparse.
    pub fn find_cell(&mut self) -> Outcome<(), D> {
        match self.reclaim() {
            Err(IndexError::Full) => self.merge_sparse(),
            outcome => outcome,
        }
    }

    /// Step 1: pointers on `levels` are to be set before `low`, by any but `old` itself, and `count` cells to be
    /// written.
    pub fn ready(
        &mut self,
        budget: &mut Budget,
        low: Option<&W::Key>,
        levels: Levels,
        old: Option<Cell>,
        count: usize,
    ) -> Outcome<Readiness, D> {
        // Cells first: no block is moved for pools where the change cannot be made anyway.
        let first = self.list().turnstiles.free_cell(levels.wished - 1, None)?;
        let second = match (first, count) {
            (Some(_), 2..) => self.list().turnstiles.free_cell(levels.wished - 1, first)?,
            _ => first,
        };
        let (Some(first), Some(second)) = (first, second) else {
            let has_reclaimed = self.reclaim_within(budget)?;
            return Ok(if has_reclaimed { Readiness::Moved } else { Readiness::NoCell });
        };
        let path = self.list().path_before(low)?;
        if self.relieve(budget, &path, levels.wished, old)? || self.relieve(budget, &path, levels.needed, old)? {
            return Ok(Readiness::Moved);
        }
        for fitting in (levels.needed..=levels.wished).rev() {
            if self.starved(&path, fitting, old)?.is_none() {
                return Ok(Readiness::Ready(path, fitting, [first, second]));
            }
        }
        Ok(Readiness::Starved)
    }

    /// A step towards room in the pools of `path`, where one lacks it: rewrites an object, or reclaims a block so that
    /// there are cells for that, or moves the block in which all pools are that lack room. Whether there was one that
    /// the call may take.
    fn relieve(&mut self, budget: &mut Budget, path: &Path, levels: u8, old: Option<Cell>) -> Outcome<bool, D> {
        let Some(starved) = self.starved(path, levels, old)? else { return Ok(false) };
        if budget.rewrites.is_none() {
            let free = self.list().turnstiles.outlook()?.free;
            if free <= CELLS_MAX && self.reclaim_within(budget)? {
                return Ok(true);
            }
            let rewrites_max = u32::from(2 * self.layout().settings.levels);
            budget.rewrites = Some(free.saturating_sub(CELLS_MAX).min(rewrites_max) as u8);
        }
        if self.rewrite_before(budget, starved)? {
            return Ok(true);
        }
        let is_in_one = self.is_starved_in_one_block(path, levels, old, starved.unit)?;
        if budget.moves == 0 || !is_in_one {
            return Ok(false);
        }
        budget.moves -= 1;
        self.move_for_pools(budget, starved).map(|()| true)
    }

    /// A step towards room in every pool of `path`, whatever it takes; whether there was one to take.
    pub fn make_pool_room(&mut self, budget: &mut Budget, path: &Path, levels: u8) -> Outcome<bool, D> {
        let Some(starved) = self.starved(path, levels, None)? else { return Ok(false) };
        if !self.relieve(budget, path, levels, None)? {
            self.move_for_pools(budget, starved)?;
        }
        Ok(true)
    }

    /// Moves the block of an object whose pool lacks room. That gives all of the block's pools room and takes none from
    /// others; so that this lasts, the call rewrites no further object.
    pub fn move_for_pools(&mut self, budget: &mut Budget, starved: Cell) -> Outcome<(), D> {
        budget.rewrites = Some(0);
        self.list().rotate(starved.unit)
    }

    /// Whether each pool on `path` that lacks room is in `unit`.
    fn is_starved_in_one_block(
        &mut self,
        path: &Path,
        levels: u8,
        old: Option<Cell>,
        unit: EraseUnit,
    ) -> Outcome<bool, D> {
        for level in 0..levels {
            if path[usize::from(level)].unit != unit && self.is_starved(path, level, levels, old)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// An object on `path` whose pool has no room for setting its pointers.
    pub fn starved(&mut self, path: &Path, levels: u8, old: Option<Cell>) -> Outcome<Option<Cell>, D> {
        for level in 0..levels {
            if self.is_starved(path, level, levels, old)? {
                return Ok(Some(path[usize::from(level)]));
            }
        }
        Ok(None)
    }

    /// A step ahead of need towards pools that have room for taking out any object with one key, which its removal
    /// would empty; whether there was one to take.
    pub fn relieve_ahead(&mut self) -> Outcome<bool, D> {
        let mut node = self.list().head_node();
        let mut path = [node.cell; LEVELS_MAX];
        while let Some(next) = self.list().successor(&node, 0)? {
            if self.cells().survey(next.cell)?.valid.count_ones() == 1
                && let Some(starved) = self.starved(&path, next.level + 1, None)?
            {
                self.list().open()?;
                return self.list().rotate(starved.unit).map(|()| true);
            }
            path[..=usize::from(next.level)].fill(next.cell);
            node = next;
        }
        Ok(false)
    }

    /// Whether the pool of the object before the change on `level` has no room for its pointers on the first `levels`.
    fn is_starved(&mut self, path: &Path, level: u8, levels: u8, old: Option<Cell>) -> Outcome<bool, D> {
        let cell = path[usize::from(level)];
        if Some(cell) == old {
            return Ok(false);
        }
        let kind = self.cells().stamp_regardless(cell)?.kind;
        let own = path[..usize::from(levels)].iter().filter(|&&other| other == cell).count();
        let needed = if self.cells().is_pooled(kind) { own } else { 1 };
        Ok(usize::from(self.cells().pool_room(cell, kind, level)?) < needed)
    }

    /// Rewrites the object `starved`, or one before it whose pool prevents that, if the call may; whether it did.
    pub fn rewrite_before(&mut self, budget: &mut Budget, starved: Cell) -> Outcome<bool, D> {
        let Some(left) = budget.rewrites.and_then(|rewrites| rewrites.checked_sub(1)) else { return Ok(false) };
        let mut focus = starved;
        for _ in 0..PROPAGATION_MAX {
            let Some(node) = self.list().node(focus)? else { break };
            let path = self.list().path_before(node.low.as_ref())?;
            if let Some(next) = self.starved(&path, node.level + 1, Some(focus))? {
                focus = next;
                continue;
            }
            let Some(cell) = self.list().turnstiles.free_cell(node.level, None)? else { break };
            budget.rewrites = Some(left);
            self.replacements.write_left(Old { node, merged: None }, &path, cell, None)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The object before `node`, if it can take the latter's keys, and its first free slot.
    pub fn left_neighbour(&mut self, node: &Node<W::Key>, survey: &Survey<W>) -> Outcome<Option<Roomy<W>>, D> {
        let Some(low) = node.low.filter(|_| W::WITHOUT & without::SHIFTS == 0) else { return Ok(None) };
        let left = self.list().descend(Limit::Below(&low))?;
        if left.low.is_none() {
            return Ok(None);
        }
        let found = self.cells().survey(left.cell)?;
        let takes = self.cells().can_take(&found, survey) || self.joins_calm() && self.cells().can_join(&found, survey);
        Ok(takes.then_some((left, found.next())))
    }

    /// Whether objects that are seldom updated are joined: in a large block as few as are tried free too little for the
    /// words that they take.
    fn joins_calm(&self) -> bool {
        self.layout().cells_per_block <= 2 * u16::from(SHIFTS_MAX)
    }

    /// Before a block is reclaimed: shifts objects with few keys, or that are seldom updated, into those before them
    /// (lazy merging, section 0.5.3), as far as the pools have more than enough room, so that no later step of the call
    /// is short of it.
    pub fn shift_poor_objects(&mut self, unit: EraseUnit) -> Outcome<(), D> {
        let mut left_to_try = SHIFTS_MAX;
        let joins_calm = self.joins_calm();
        for index in 0..self.layout().cells_per_block {
            let Some(node) = self.list().node(Cell { unit, index })?.filter(|node| node.low.is_some()) else {
                continue;
            };
            let survey = self.cells().survey(node.cell)?;
            let may_go = self.cells().is_poor(&survey) || joins_calm && self.cells().is_calm(&survey);
            if !may_go {
                continue;
            }
            let Some(left) = left_to_try.checked_sub(1) else { break };
            left_to_try = left;
            if let Some((left, free)) = self.left_neighbour(&node, &survey)?
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
            let is_pooled = self.cells().is_pooled(stamp.kind);
            let needed = if is_pooled { u16::from(node.level) + u16::from(stamp.level) + 2 } else { 2 };
            if self.cells().pool_room(cell, stamp.kind, level)? < needed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies an object's keys into free slots of the one before it, and takes it out (Figure 11).
    pub fn shift(
        &mut self,
        node: Node<W::Key>,
        survey: &Survey<W>,
        left: Node<W::Key>,
        mut free: Next<W>,
    ) -> Outcome<(), D> {
        for slot in survey.slots() {
            let (key, value) = self.cells().entry(node.cell, slot)?;
            self.cells().write_slot(left.cell, &mut free, &key, &value)?;
        }
        self.replacements.take_out(node.cell)
    }
}
