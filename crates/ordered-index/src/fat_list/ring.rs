//! Rings: lists whose keys ascend, as those of a log do, and whose least keys are dropped before the list is full.
//!
//! Objects are written in the order of their keys, block after block, so that the oldest ones share a block. A ring
//! takes the first objects out, with their keys, so early that the oldest block has no live object when the last free
//! cell is written: as soon as there are fewer free cells than live ones in the block that would be reclaimed. Then
//! reclaiming that block copies next to nothing.
//!
//! Taking the first objects out together, so that each level's pointer of the head is set once for all of them:
//! 1. mark them doomed, from the first one on: from here on the change is made;
//! 2. on each level, let the head lead to what follows them;
//! 3. mark them dead.
//!
//! | what a cut leaves | cause | recovery |
//! |---|---|---|
//! | the first objects doomed | during 1 or 2 | do 2 and 3 for them |
//! | doomed objects below the first one that the head leads to | during 3 | mark them dead |
//!
//! Where no cell can be had, and the key belongs into the first object, the least keys of that are removed one by one,
//! as far as they are below the new key.
//!
//! Keys below a given one go in the same way: whole objects first, then those of the object that has keys from it on.
//!
//! Invariants: the object of the key that is inserted is never taken out together with others; keys go from the least
//! one on, as whole objects or one by one, so that a cut leaves a ring that lacks some of its least keys and no others.

use norn_flash::Nor;

use crate::error::{IndexError, Outcome};
use crate::fat_list::format::{Flag, LEVELS_MAX};
use crate::fat_list::ground::cells::Cells;
use crate::fat_list::ground::cells::slots::Survey;
use crate::fat_list::layout::{Cell, Layout};
use crate::fat_list::list::FatListOf;
use crate::fat_list::replace::Replacements;
use crate::fat_list::room::Budget;
use crate::fat_list::search::{Limit, Node};
use crate::fat_list::shape::{STEPS_MAX, Shape};
use crate::fat_list::widths::Widths;

/// Times that one insertion takes first objects out at most: ahead of need, and for each of two cells.
pub(crate) const DROPS_MAX: u8 = 3;
/// Objects that go at a time are this share of a block's cells, or of the part's cells if that is more: the more, the
/// less often is the head rewritten.
const BLOCK_SHARE: u16 = 8;
const PART_SHARE: u32 = 128;

/// Objects that go at a time at most.
pub(crate) fn drop_max(layout: &Layout) -> u16 {
    let of_part = u32::from(layout.cells_per_block) * u32::from(layout.unit_count) / PART_SHARE;
    (layout.cells_per_block / BLOCK_SHARE).max(of_part.try_into().unwrap_or(u16::MAX)).max(1)
}

impl<D: Nor, W: Widths> FatListOf<D, W> {
    /// Adds a key, and drops the least ones where room runs short; returns how many.
    pub(crate) fn insert_entry_in_ring(&mut self, key: &W::Key, value: &W::Value) -> Outcome<u32, D> {
        let (mut budget, mut dropped) = (self.open()?, 0);
        let (mut has_looked, mut has_room_within) = (false, false);
        for _ in 0..STEPS_MAX {
            let Some((node, survey)) = self.write_if_roomy(key, value)? else { return Ok(dropped) };
            if !has_looked && self.is_to_drop()? {
                dropped += self.shape().drop_first(&mut budget, key)?;
                has_looked = true;
                continue;
            }
            has_looked = true;
            // Where keys of the same object went, it has room once they are left out of it.
            let room = match has_room_within && node.low.is_some() {
                true => self.shape().widen(&mut budget, node, &survey),
                false => self.shape().make_room_for_key(&mut budget, node, &survey, (key, value)),
            };
            match room {
                Err(IndexError::Full) => match self.shape().drop_first(&mut budget, key)? {
                    0 => {
                        dropped += self.drop_least(&mut budget, key, value)?;
                        has_room_within = !self.layout().settings.is_soft();
                    }
                    keys => dropped += keys,
                },
                outcome => outcome?,
            }
        }
        self.endless()
    }

    /// Where a full ring has nothing to drop but the object of `key`: drops the least keys in it, those below `key`, as
    /// far as it takes; returns how many.
    ///
    /// # Errors
    /// `BelowRing` if they are not enough; `Full` where there is no object.
    fn drop_least(&mut self, budget: &mut Budget, key: &W::Key, value: &W::Value) -> Outcome<u32, D> {
        let (mut dropped, head) = (0, self.skip_list().head_node());
        let node = self.skip_list().descend(Limit::AtMost(key))?;
        if node.low.is_none() {
            let is_empty = self.skip_list().successor(&head, 0)?.is_none();
            return Err(if is_empty { IndexError::Full } else { IndexError::BelowRing });
        }
        let cells = self.skip_list().cells();
        let (mut survey, size) = (cells.survey(node.cell)?, cells.size_of(value));
        while dropped == 0 || !cells.may_grow(&survey, size) {
            let (least, freed) = cells.least_below(node.cell, &survey, key)?;
            let Some(slot) = least.filter(|_| cells.may_replace(&survey, freed, size)) else {
                return Err(IndexError::BelowRing);
            };
            cells.clear_slot(node.cell, slot)?;
            dropped += 1;
            survey = cells.survey(node.cell)?;
        }
        self.skip_list().count_removed(dropped);
        if survey.valid == 0 {
            self.shape().take_out_empty(budget, key)?;
        }
        Ok(dropped)
    }

    /// Takes the first objects out whose keys are all below `key`, as many as go at a time; if there are none, the keys
    /// below it in the first object. Returns how many keys these were.
    pub(crate) fn remove_entries_below(&mut self, key: &W::Key) -> Outcome<u32, D> {
        let mut budget = self.open()?;
        let whole = self.shape().drop_first(&mut budget, key)?;
        let node = self.skip_list().descend(Limit::AtMost(key))?;
        if whole > 0 || node.low.is_none() {
            return Ok(whole);
        }
        let mut removed = 0;
        loop {
            let cells = self.skip_list().cells();
            let survey = cells.survey(node.cell)?;
            let (least, _) = cells.least_below(node.cell, &survey, key)?;
            let Some(slot) = least else { return Ok(removed) };
            cells.clear_slot(node.cell, slot)?;
            self.skip_list().count_removed(1);
            removed += 1;
            if survey.valid.count_ones() == 1 {
                return self.shape().take_out_empty(&mut budget, key).map(|()| removed);
            }
        }
    }

    /// Whether reclaiming a block would copy more objects than there are free cells.
    fn is_to_drop(&mut self) -> Outcome<bool, D> {
        let outlook = self.turnstiles().outlook()?;
        Ok(outlook.copies.is_some_and(|copies| u32::from(copies) > outlook.free))
    }
}

impl<D: Nor, W: Widths> Cells<D, W> {
    /// The slot with the object's least key, if that is below `key`, and what all keys below it take.
    fn least_below(&mut self, cell: Cell, survey: &Survey<W>, key: &W::Key) -> Outcome<(Option<u8>, u32), D> {
        let (mut least, mut taken) = (None::<(W::Key, u8)>, 0);
        for slot in survey.slots() {
            let found = self.key_at(cell, slot)?;
            if found < *key {
                least = Some(least.map_or((found, slot), |least| least.min((found, slot))));
                taken += if W::VARIES { self.size_at(cell, slot)? } else { 1 };
            }
        }
        Ok((least.map(|(_, slot)| slot), taken))
    }
}

impl<D: Nor, W: Widths> Shape<D, W> {
    /// Takes some of the first objects out, up to that in whose range `key` is; returns how many keys they had.
    fn drop_first(&mut self, budget: &mut Budget, key: &W::Key) -> Outcome<u32, D> {
        let (most, levels) = (drop_max(self.layout()), self.layout().settings.levels);
        for _ in 0..STEPS_MAX {
            let (path, head) = ([self.list().head(); LEVELS_MAX], self.list().head_node());
            match self.room.starved(&path, levels, None)? {
                Some(_) => self.rewrite(budget, head)?,
                None => return self.room.replacements.drop_first(key, most),
            }
        }
        self.list().head_damage("a head that finds no room")
    }
}

impl<D: Nor, W: Widths> Replacements<D, W> {
    fn drop_first(&mut self, key: &W::Key, most: u16) -> Outcome<u32, D> {
        let (mut node, mut keys) = (self.list.head_node(), 0);
        let known = self.list.keys.take();
        for _ in 0..most {
            let Some(next) = self.list.successor(&node, 0)? else { break };
            let end = self.list.successor(&next, 0)?.and_then(|after| after.low);
            if end.is_none_or(|end| *key < end) {
                break;
            }
            keys += self.list.cells().survey(next.cell)?.valid.count_ones();
            self.list.cells().set_flag(next.cell, Flag::Doomed)?;
            node = next;
        }
        if keys > 0 {
            let (head, kept) = (self.list.head_node(), self.first_kept()?);
            let doomed = self.list.successor(&head, 0)?;
            self.lead_past_doomed()?;
            self.bury(doomed, kept)?;
        }
        self.list.keys = known;
        self.list.count_removed(keys);
        Ok(keys)
    }

    /// The low key of the first object that is not doomed; `None` if there is none. The head's pointer may have a
    /// doomed object as a buddy even when it leads past it: from there the way goes on through those after it.
    fn first_kept(&mut self) -> Outcome<Option<W::Key>, D> {
        let mut node = self.list.head_node();
        while let Some(next) = self.list.successor(&node, 0)? {
            if !self.is_doomed(next.cell)? {
                return Ok(next.low);
            }
            node = next;
        }
        Ok(None)
    }

    fn is_doomed(&mut self, cell: Cell) -> Outcome<bool, D> {
        Ok(self.list.cells().live(cell)?.is_some_and(|stamp| stamp.doomed))
    }

    /// Step 2.
    fn lead_past_doomed(&mut self) -> Outcome<(), D> {
        let head = self.list.head_node();
        for level in 0..self.list.layout().settings.levels {
            let mut node = head;
            while let Some(next) = self.list.successor(&node, level)?
                && self.is_doomed(next.cell)?
            {
                node = next;
            }
            let column = self.list.cells().pointer(node.cell, node.kind(), level)?;
            self.link_before(head.cell, level, column)?;
        }
        Ok(())
    }

    /// Step 3: from the object `doomed` to that before `kept`. In this order, so that after a cut each object that is
    /// left leads to the next one.
    fn bury(&mut self, mut doomed: Option<Node<W::Key>>, kept: Option<W::Key>) -> Outcome<(), D> {
        while let Some(node) = doomed.filter(|node| kept.is_none() || node.low < kept) {
            doomed = self.list.successor(&node, 0)?;
            self.list.cells().set_flag(node.cell, Flag::Dead)?;
        }
        Ok(())
    }

    /// Completes what a cut left of objects that are doomed: at the list's beginning as many as there are, elsewhere
    /// one.
    pub fn recover_doomed(&mut self) -> Outcome<(), D> {
        let kept = self.first_kept()?;
        self.lead_past_doomed()?;
        let (units, cells) = (self.list.layout().units(), self.list.layout().cells_per_block);
        let (mut first, mut inner) = (None::<Node<W::Key>>, None);
        for unit in units {
            if self.list.turnstiles.blocks.is_spare(unit)? {
                continue;
            }
            for cell in (0..cells).map(|index| Cell { unit, index }) {
                if !self.is_doomed(cell)? {
                    continue;
                }
                let node = self.list.node(cell)?.filter(|node| node.low.is_some());
                let is_inner = node.is_none_or(|node| kept.is_some() && node.low >= kept);
                if is_inner && inner.replace(cell).is_some() {
                    return Err(self.list.cells().damage(cell, 0, "a second object that is being taken out"));
                }
                first = [first, node.filter(|_| !is_inner)].into_iter().flatten().min_by_key(|node| node.low);
            }
        }
        self.bury(first, kept)?;
        let Some(inner) = inner else { return Ok(()) };
        if !self.has_handed_over(inner)? {
            return Err(self.list.cells().damage(inner, 0, "an object with keys of its own that is being taken out"));
        }
        self.finish_taking_out(inner)
    }

    /// Whether the object before the doomed one in `cell` has all of its keys.
    fn has_handed_over(&mut self, cell: Cell) -> Outcome<bool, D> {
        let survey = self.list.cells().survey(cell)?;
        let Some(low) = self.list.node(cell)?.and_then(|node| node.low) else { return Ok(false) };
        let left = self.list.descend(Limit::Below(&low))?;
        if left.low.is_none() {
            return Ok(survey.valid == 0);
        }
        let found = self.list.cells().survey(left.cell)?;
        for slot in survey.slots() {
            let key = self.list.cells().key_at(cell, slot)?;
            if self.list.cells().find(left.cell, &found, &key)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
