//! The shape of a list: which objects there are, and which ranges of keys they have.
//!
//! Objects are created, split (section 0.5.2), rewritten, merged (section 0.5.3) and taken out. Each of these is a step
//! of a call: where something had to be moved to make room for it, that was the step, and the call looks again.
//!
//! A split waits until the slots are full (delayed split). So does a merge, or it waits until the block is reclaimed
//! (lazy merge): an object with few keys is copied into free slots of the one before it and taken out (shift merge), or
//! two of them are replaced by one.

use norn_flash::Nor;

use crate::error::{IndexError, Outcome};
use crate::fat_list::format::{Kind, LEVELS_MAX, Stamp};
use crate::fat_list::ground::cells::slots::Survey;
use crate::fat_list::ground::cells::{Cells, Links};
use crate::fat_list::ground::medium::Medium;
use crate::fat_list::layout::{Cell, Layout};
use crate::fat_list::replace::{Old, Right};
use crate::fat_list::room::{Readiness, Rewrites, Room};
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

    /// Rewrites an object, with its latest pointers and slots only.
    pub fn rewrite(&mut self, rewrites: &mut Rewrites, node: Node<W::Key>) -> Outcome<(), D> {
        match self.room.ready(rewrites, node.low.as_ref(), node.level + 1, Some(node.cell), 1)? {
            Readiness::Ready(path, [cell, _]) => {
                self.room.replacements.write_left(Old { node, merged: None }, &path, cell, None)
            }
            Readiness::Moved => Ok(()),
        }
    }

    /// Adds an object without keys whose range begins at `low`.
    pub fn create(&mut self, rewrites: &mut Rewrites, low: &W::Key) -> Outcome<(), D> {
        let levels_max = self.layout().settings.levels;
        let level = self.list().turnstiles.chance.level(levels_max);
        let Readiness::Ready(path, [cell, _]) = self.room.ready(rewrites, Some(low), level + 1, None, 1)? else {
            return Ok(());
        };
        let stamp = Stamp { level, kind: Kind::Object, settled: false, doomed: false };
        let mut draft = self.cells().draft(cell, stamp, Some(low), Links::default())?;
        for level in 0..=level {
            let column = self.room.replacements.continuation(None, &path, level)?;
            self.cells().draft_pointer(&mut draft, level, column)?;
        }
        self.list().turnstiles.chance.use_level();
        self.cells().seal(draft)?;
        self.room.replacements.finish(cell)
    }

    /// Replaces an object by two with half of its keys each (the delayed split, section 0.5.2).
    fn split(&mut self, rewrites: &mut Rewrites, node: Node<W::Key>, survey: &Survey) -> Outcome<(), D> {
        let levels_max = self.layout().settings.levels;
        let level = self.list().turnstiles.chance.level(levels_max);
        let levels = 1 + level.max(node.level);
        let Readiness::Ready(path, [right, left]) =
            self.room.ready(rewrites, node.low.as_ref(), levels, Some(node.cell), 2)?
        else {
            return Ok(());
        };
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
        self.room.replacements.write_left(old, &path, left, Some(&right))
    }

    /// The key with as many keys of the object below it as from it on.
    fn median(&mut self, cell: Cell, survey: &Survey) -> Outcome<W::Key, D> {
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

    /// Rewrites an object whose slots are full, together with a neighbour if both have few keys (section 0.5.3).
    fn rewrite_or_merge(&mut self, rewrites: &mut Rewrites, node: Node<W::Key>, survey: &Survey) -> Outcome<(), D> {
        let half = u32::from(self.layout().settings.keys) / 2;
        let keys = survey.valid.count_ones();
        if keys >= half {
            return self.rewrite(rewrites, node);
        }
        if let Some((left, free)) = self.room.left_neighbour(&node, keys)? {
            let path = self.list().path_before(node.low.as_ref())?;
            return match self.room.starved(&path, node.level + 1, None)? {
                Some(starved) => self.room.make_room(rewrites, starved),
                None => self.room.shift(node, survey, left, free),
            };
        }
        if let Some(right) = self.list().successor(&node, 0)?
            && self.cells().survey(right.cell)?.valid.count_ones() < half
        {
            return self.merge(rewrites, node, right);
        }
        self.rewrite(rewrites, node)
    }

    /// Replaces two neighbours by one (Figure 10).
    fn merge(&mut self, rewrites: &mut Rewrites, node: Node<W::Key>, right: Node<W::Key>) -> Outcome<(), D> {
        let levels = 1 + node.level.max(right.level);
        let Readiness::Ready(path, [cell, _]) =
            self.room.ready(rewrites, node.low.as_ref(), levels, Some(node.cell), 1)?
        else {
            return Ok(());
        };
        self.room.replacements.write_left(Old { node, merged: Some(right) }, &path, cell, None)
    }

    /// A step towards a free slot in `node` for a key that is there.
    pub fn widen(&mut self, rewrites: &mut Rewrites, node: Node<W::Key>, survey: &Survey) -> Outcome<(), D> {
        let keys = survey.valid.count_ones();
        let step = match keys > u32::from(self.layout().settings.keys) {
            true => self.split(rewrites, node, survey),
            false => self.rewrite_or_merge(rewrites, node, survey),
        };
        match step {
            // A move of the block drops the slots that count no more.
            Err(IndexError::Full) if keys < u32::from(self.layout().settings.slots) => {
                self.list().rotate(node.cell.unit)
            }
            step => step,
        }
    }

    /// A step towards a free slot for `key`, which is not there, in `node`, or in a first object after the head.
    pub fn make_room_for_key(
        &mut self,
        rewrites: &mut Rewrites,
        node: Node<W::Key>,
        survey: &Survey,
        key: &W::Key,
    ) -> Outcome<(), D> {
        if self.layout().settings.is_soft() {
            return self.create(rewrites, key);
        }
        if node.low.is_none() {
            let least = self.cells().widths().zero_key();
            return self.create(rewrites, &least);
        }
        let keys = survey.valid.count_ones();
        let is_full = keys + 1 >= u32::from(self.layout().settings.slots);
        let is_rich = is_full || keys > u32::from(self.layout().settings.keys);
        if is_rich && self.continues_run(&node, survey, key)? {
            self.create(rewrites, key)
        } else if is_full {
            self.split(rewrites, node, survey)
        } else {
            self.widen(rewrites, node, survey)
        }
    }

    /// Whether `key` continues a run of ascending keys: it is above all keys of `node`, and `node` is the last object,
    /// or its keys came in ascending order. A split would leave objects behind the run that are half full for ever.
    fn continues_run(&mut self, node: &Node<W::Key>, survey: &Survey, key: &W::Key) -> Outcome<bool, D> {
        let (mut greatest, mut ascends) = (None, true);
        for slot in survey.slots() {
            let found = Some(self.cells().key_at(node.cell, slot)?);
            ascends &= greatest < found;
            greatest = greatest.max(found);
        }
        Ok(greatest < Some(*key) && (ascends || self.list().successor(node, 0)?.is_none()))
    }

    /// Takes out the object in whose range `key` is, if it has no keys.
    pub fn take_out_empty(&mut self, rewrites: &mut Rewrites, key: &W::Key) -> Outcome<(), D> {
        for _ in 0..STEPS_MAX {
            let node = self.list().descend(Limit::AtMost(key))?;
            let Some(low) = node.low else { return Ok(()) };
            if self.cells().survey(node.cell)?.valid != 0 {
                return Ok(());
            }
            let path = self.list().path_before(Some(&low))?;
            match self.room.starved(&path, node.level + 1, None)? {
                Some(starved) => self.room.make_room(rewrites, starved)?,
                None => return self.room.replacements.take_out(node.cell),
            }
        }
        self.list().head_damage("a list in which no step makes room")
    }
}
