//! The shape of a list: which objects there are, and which ranges of keys they have.
//!
//! Objects are created, split (section 0.5.2), rewritten, merged (section 0.5.3) and taken out. Each of these is a step
//! of a call: where something had to be moved to make room for it, that was the step, and the call looks again.
//!
//! Where there are no cells for a change, or no room in the pools before it, a move of the object's own block takes its
//! place: it drops slots that count no more, and makes room in the object's own pool, which is all that dividing it
//! takes.
//!
//! A split waits until the slots are full (delayed split). So does a merge, or it waits until the block is reclaimed
//! (lazy merge): an object with few keys is copied into free slots of the one before it and taken out (shift merge), or
//! two of them are replaced by one.

use norn_flash::Nor;

use crate::error::Outcome;
use crate::fat_list::format::{Kind, LEVELS_MAX, Stamp};
use crate::fat_list::ground::cells::draft::Draft;
use crate::fat_list::ground::cells::slots::Survey;
use crate::fat_list::ground::cells::{Cells, Links};
use crate::fat_list::ground::medium::Medium;
use crate::fat_list::layout::{Cell, Layout};
use crate::fat_list::replace::{Old, Right};
use crate::fat_list::room::{Budget, Levels, Readiness, Room};
use crate::fat_list::search::{Limit, Node, SkipList};
use crate::fat_list::widths::Widths;

/// Steps in a call, at most: rewrites and moves for pointers, blocks reclaimed for cells, the object's own, and as many
/// again.
pub(crate) const STEPS_MAX: usize = 8 * LEVELS_MAX;

/// The objects of a list.
#[derive(Clone, Debug)]
pub(crate) struct Shape<D, W: Widths> {
    pub room: Room<D, W>,
}

impl<D: Nor, W: Widths> Shape<D, W> {
    pub fn new(medium: Medium<D>, layout: Layout, widths: W) -> Self {
        Shape { room: Room::new(medium, layout, widths) }
    }

    pub fn list(&mut self) -> &mut SkipList<D, W> {
        &mut self.room.replacements.list
    }

    pub fn cells(&mut self) -> &mut Cells<D, W> {
        self.room.replacements.list.cells()
    }

    pub fn layout(&self) -> &Layout {
        self.room.replacements.list.layout()
    }

    /// Rewrites an object, with its latest pointers and slots only. Where there is no room for that, its block is
    /// moved, which drops the same.
    pub fn rewrite(&mut self, budget: &mut Budget, node: Node<W::Key>) -> Outcome<(), D> {
        let levels = Levels::all(node.level + 1);
        match self.room.ready(budget, node.low.as_ref(), levels, Some(node.cell), 1)? {
            Readiness::Ready(path, _, [cell, _]) => {
                self.room.replacements.write_left(Old { node, merged: None }, &path, cell, None)
            }
            Readiness::Moved => Ok(()),
            Readiness::Starved | Readiness::NoCell => self.list().rotate(node.cell.unit),
        }
    }

    /// Adds an object after `left` without keys, whose range begins at `low`.
    pub fn create(&mut self, budget: &mut Budget, left: Cell, low: &W::Key) -> Outcome<(), D> {
        let levels_max = self.layout().settings.levels;
        let levels = Levels { needed: 1, wished: 1 + self.list().turnstiles.chance.level(levels_max) };
        let Some(draft) = self.draft_after(budget, left, low, levels)? else { return Ok(()) };
        self.list().turnstiles.chance.use_level();
        self.seal_new(draft)
    }

    /// A new object whose range begins at `low`, or `None` after a step towards room for it. What it cannot do without
    /// is a cell, and a pointer of `left`, which leads to it on the lowest level.
    fn draft_after(
        &mut self,
        budget: &mut Budget,
        left: Cell,
        low: &W::Key,
        levels: Levels,
    ) -> Outcome<Option<Draft<W>>, D> {
        let (path, levels, cell) = match self.room.ready(budget, Some(low), levels, None, 1)? {
            Readiness::Ready(path, levels, [cell, _]) => (path, levels, cell),
            Readiness::Moved => return Ok(None),
            Readiness::Starved => return self.list().rotate(left.unit).map(|()| None),
            Readiness::NoCell => return self.room.find_cell().map(|()| None),
        };
        let stamp = Stamp { level: levels - 1, kind: Kind::Object, settled: false, doomed: false };
        let mut draft = self.cells().draft(cell, stamp, Some(low), Links::default())?;
        for level in 0..levels {
            let column = self.room.replacements.continuation(None, &path, level)?;
            self.cells().draft_pointer(&mut draft, level, column)?;
        }
        Ok(Some(draft))
    }

    fn seal_new(&mut self, draft: Draft<W>) -> Outcome<(), D> {
        self.cells().seal(draft)?;
        self.room.replacements.finish(draft.cell)
    }

    /// Replaces an object by two with half of its keys each (the delayed split, section 0.5.2); whether it could, or
    /// took a step towards it.
    fn split(&mut self, budget: &mut Budget, node: Node<W::Key>, survey: &Survey<W>) -> Outcome<bool, D> {
        let levels_max = self.layout().settings.levels;
        let level = self.list().turnstiles.chance.level(levels_max);
        let levels = Levels { needed: 1 + node.level, wished: 1 + level.max(node.level) };
        let (path, fitting, [right, left]) =
            match self.room.ready(budget, node.low.as_ref(), levels, Some(node.cell), 2)? {
                Readiness::Ready(path, fitting, cells) => (path, fitting, cells),
                Readiness::Moved => return Ok(true),
                Readiness::Starved | Readiness::NoCell => return Ok(false),
            };
        let level = level.min(fitting - 1);
        let old = Old { node, merged: None };
        let median = self.median(node.cell, survey)?;
        let stamp = Stamp { level, kind: Kind::Right, settled: false, doomed: false };
        let mut draft = self.cells().draft(right, stamp, Some(&median), Links::default())?;
        for level in 0..=level {
            let column = self.room.replacements.continuation(Some(&old), &path, level)?;
            self.cells().draft_pointer(&mut draft, level, column)?;
        }
        self.cells().draft_slots(&mut draft, node.cell, |key| *key >= median)?;
        self.cells().seal(draft)?;
        self.list().turnstiles.chance.use_level();
        let right = Right { cell: right, level, low: median };
        self.room.replacements.write_left(old, &path, left, Some(&right)).map(|()| true)
    }

    /// Gives the upper half of an object's keys to a new object after it. That takes one cell and one pointer of the
    /// object itself, where a split takes two cells, and pointers of every object before it: what a call falls back on.
    /// A cut leaves keys in `node` that are beyond its range, as a shift does.
    fn divide(&mut self, budget: &mut Budget, node: Node<W::Key>, survey: &Survey<W>) -> Outcome<(), D> {
        let median = self.median(node.cell, survey)?;
        let Some(mut draft) = self.draft_after(budget, node.cell, &median, Levels::all(1))? else { return Ok(()) };
        self.cells().draft_slots(&mut draft, node.cell, |key| *key >= median)?;
        self.seal_new(draft)?;
        for slot in survey.slots() {
            if self.cells().key_at(node.cell, slot)? >= median {
                self.cells().clear_slot(node.cell, slot)?;
            }
        }
        Ok(())
    }

    /// The key with as many keys of the object below it as from it on; where values vary, with bytes nearest to that.
    fn median(&mut self, cell: Cell, survey: &Survey<W>) -> Outcome<W::Key, D> {
        if W::VARIES {
            return self.median_by_bytes(cell, survey);
        }
        let wanted = survey.valid.count_ones() / 2;
        for candidate in survey.slots() {
            let key = self.cells().key_at(cell, candidate)?;
            let mut below = 0;
            for slot in survey.slots() {
                below += u32::from(self.cells().key_at(cell, slot)? < key);
            }
            if below == wanted {
                return Ok(key);
            }
        }
        let offset = self.layout().slots_offset();
        Err(self.cells().damage(cell, offset, "keys that are there twice"))
    }

    fn median_by_bytes(&mut self, cell: Cell, survey: &Survey<W>) -> Outcome<W::Key, D> {
        let mut best = None;
        for candidate in survey.slots() {
            let (key, mut below) = (self.cells().key_at(cell, candidate)?, 0);
            for slot in survey.slots() {
                if self.cells().key_at(cell, slot)? < key {
                    below += self.cells().size_at(cell, slot)?;
                }
            }
            let distance = (2 * below).abs_diff(survey.load());
            if below > 0 && best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, key));
            }
        }
        match best {
            Some((_, key)) => Ok(key),
            None => {
                let offset = self.layout().slots_offset();
                Err(self.cells().damage(cell, offset, "keys that are there twice"))
            }
        }
    }

    /// Rewrites an object whose slots are full, together with a neighbour if both have few keys (section 0.5.3) and
    /// there is room for that.
    fn rewrite_or_merge(&mut self, budget: &mut Budget, node: Node<W::Key>, survey: &Survey<W>) -> Outcome<(), D> {
        match self.merge_if_poor(budget, node, survey)? {
            true => Ok(()),
            false => self.rewrite(budget, node),
        }
    }

    /// Merges an object that has few keys with a neighbour if that takes them and there is room for that; whether it
    /// did, or took a step towards it.
    pub fn merge_if_poor(&mut self, budget: &mut Budget, node: Node<W::Key>, survey: &Survey<W>) -> Outcome<bool, D> {
        if !self.cells().is_poor(survey) {
            return Ok(false);
        }
        if let Some((left, free)) = self.room.left_neighbour(&node, survey)? {
            let path = self.list().path_before(node.low.as_ref())?;
            if self.room.starved(&path, node.level + 1, None)?.is_none() {
                return self.room.shift(node, survey, left, free).map(|()| true);
            }
        } else if let Some(right) = self.list().successor(&node, 0)? {
            let after = self.cells().survey(right.cell)?;
            if self.cells().is_poor(&after) {
                return self.merge(budget, node, right).map(|()| true);
            }
        }
        Ok(false)
    }

    /// Replaces two neighbours by one (Figure 10), or rewrites the first one only.
    fn merge(&mut self, budget: &mut Budget, node: Node<W::Key>, right: Node<W::Key>) -> Outcome<(), D> {
        let levels = Levels { needed: 1 + node.level, wished: 1 + node.level.max(right.level) };
        match self.room.ready(budget, node.low.as_ref(), levels, Some(node.cell), 1)? {
            Readiness::Ready(path, fitting, [cell, _]) => {
                let merged = Some(right).filter(|_| fitting == levels.wished);
                self.room.replacements.write_left(Old { node, merged }, &path, cell, None)
            }
            Readiness::Moved => Ok(()),
            Readiness::Starved | Readiness::NoCell => self.list().rotate(node.cell.unit),
        }
    }

    /// A step towards a free slot in `node` for a key that is there.
    pub fn widen(&mut self, budget: &mut Budget, node: Node<W::Key>, survey: &Survey<W>) -> Outcome<(), D> {
        if !self.cells().is_rich(survey) {
            return self.rewrite_or_merge(budget, node, survey);
        }
        match self.split(budget, node, survey)? {
            true => Ok(()),
            // A move of the block drops the slots that count no more.
            false => self.list().rotate(node.cell.unit),
        }
    }

    /// A step towards a free slot for `key`, which is not there, in `node`, or in a first object after the head.
    pub fn make_room_for_key(
        &mut self,
        budget: &mut Budget,
        node: Node<W::Key>,
        survey: &Survey<W>,
        (key, value): (&W::Key, &W::Value),
    ) -> Outcome<(), D> {
        if self.layout().settings.is_soft() {
            return self.create(budget, node.cell, key);
        }
        if node.low.is_none() {
            let least = self.cells().widths().zero_key();
            return self.create(budget, node.cell, &least);
        }
        let cells = self.cells();
        let is_full = !cells.may_grow(survey, cells.size_of(value));
        if (is_full || cells.is_rich(survey)) && self.continues_run(&node, survey, key)? {
            return self.create(budget, node.cell, key);
        }
        if !is_full {
            return self.widen(budget, node, survey);
        }
        self.spread(budget, node, survey)
    }

    /// A step towards an object with half of the keys of `node`, which are too many.
    pub fn spread(&mut self, budget: &mut Budget, node: Node<W::Key>, survey: &Survey<W>) -> Outcome<(), D> {
        match self.split(budget, node, survey)? {
            true => Ok(()),
            false => self.divide(budget, node, survey),
        }
    }

    /// Whether `key` continues a run of ascending keys: it is above all keys of `node`, and `node` is the last object,
    /// or its keys came in ascending order. A split would leave objects behind the run that are half full for ever.
    fn continues_run(&mut self, node: &Node<W::Key>, survey: &Survey<W>, key: &W::Key) -> Outcome<bool, D> {
        let (mut greatest, mut ascends) = (None, true);
        for slot in survey.slots() {
            let found = Some(self.cells().key_at(node.cell, slot)?);
            ascends &= greatest < found;
            greatest = greatest.max(found);
        }
        Ok(greatest < Some(*key) && (ascends || self.list().successor(node, 0)?.is_none()))
    }

    /// Takes out the object in whose range `key` is, if it has no keys.
    pub fn take_out_empty(&mut self, budget: &mut Budget, key: &W::Key) -> Outcome<(), D> {
        for _ in 0..STEPS_MAX {
            let node = self.list().descend(Limit::AtMost(key))?;
            let Some(low) = node.low else { return Ok(()) };
            if self.cells().survey(node.cell)?.valid != 0 {
                return Ok(());
            }
            let path = self.list().path_before(Some(&low))?;
            if !self.room.make_pool_room(budget, &path, node.level + 1)? {
                return self.room.replacements.take_out(node.cell);
            }
        }
        self.list().head_damage("a list in which no step makes room")
    }
}
