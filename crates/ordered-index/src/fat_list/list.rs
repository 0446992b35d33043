//! The list's state, and what its clients call.
//!
//! A change of the contents is one slot written, which checks itself, or one bit cleared. Everything else (rewriting, splitting,
//! merging and taking out objects, moving blocks) leaves the contents as they are and is done before or after it, so that
//! a call is a loop:
//! 1. find the object whose range has the key;
//! 2. if the object has a free slot, write it, clear the bit of the slot before it, and end;
//! 3. else take one step that makes room, and begin again.
//!
//! Invariants: the value holds nothing that flash does not tell, but for counts and random numbers; each step of the loop gives
//! an object room, gives a pointer pool room, or frees cells, so that the loop ends.

use core::ops::Bound;

use norn_flash::{EraseUnit, Nor};

use crate::error::IndexError;
use crate::fat_list::cells::Survey;
use crate::fat_list::format::LEVELS_MAX;
use crate::fat_list::layout::{Cell, Layout, Settings};
use crate::fat_list::search::{Limit, Node};
use crate::index::{Direction, Entry, Hint, IndexStats, OrderedIndex, Reclaimed};
use crate::medium::Medium;

pub(crate) type Outcome<T, D> = Result<T, IndexError<<D as Nor>::Error>>;

/// Whether flash says that the list was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Session {
    /// It does, and nothing has been changed since.
    Stopped,
    /// It does not: a mount that finds this looks for what a cut left.
    Open,
}

/// What became of pointers that were followed, in searches and steps of cursors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probes {
    /// Soft pointers that were followed.
    pub pointers: u32,
    /// Probes that led on.
    pub successful: u32,
    /// Probes of cells that are free or dead.
    pub null: u32,
    /// Probes of objects on lower levels only.
    pub low: u32,
    /// Probes of objects before the current one, or the current one.
    pub back: u32,
    /// Probes of objects beyond the key.
    pub over: u32,
}

/// A fat list on `device`: a sorted map from keys of `K` bytes to values of `V` bytes.
#[derive(Clone, Debug)]
pub struct FatList<D, const K: usize, const V: usize> {
    pub(crate) medium: Medium<D>,
    pub(crate) layout: Layout,
    pub(crate) head: Cell,
    pub(crate) session: Session,
    /// The block that was filled last, and has free cells if any has.
    pub(crate) roomy: Option<EraseUnit>,
    pub(crate) random: u32,
    /// The level of the next object, drawn once so that a step that is begun again does not change the odds.
    pub(crate) drawn_level: Option<u8>,
    /// Objects that the call at hand may still rewrite for their pointers' sake, before it moves blocks instead.
    pub(crate) rewrites_left: u8,
    pub(crate) reclaims: u8,
    pub(crate) probes: Probes,
}

/// Steps in a call, at most: rewrites and moves for pointers, blocks reclaimed for cells, the object's own, and as many again.
pub(crate) const STEPS_MAX: usize = 8 * LEVELS_MAX;

impl<D: Nor, const K: usize, const V: usize> FatList<D, K, V> {
    /// What the list is made like.
    pub fn settings(&self) -> Settings {
        self.layout.settings
    }

    /// The device.
    pub fn device(&self) -> &D {
        self.medium.device()
    }

    /// The device, for a test or a tool that looks at it. Changing what is on it damages the list.
    pub fn device_mut(&mut self) -> &mut D {
        self.medium.device_mut()
    }

    /// Gives the device back. Without a [`stop`](Self::stop) the next mount takes the list for cut.
    pub fn into_device(self) -> D {
        self.medium.into_device()
    }

    /// What became of the pointers followed so far. The counts start again from 0 at 2³².
    pub fn probes(&self) -> Probes {
        self.probes
    }

    /// Says on flash that nothing is under way, so that the next mount is fast. The list can go on being used.
    ///
    /// Cost: a word programmed; once in some ten stops the head is written anew.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn stop(&mut self) -> Outcome<(), D> {
        if self.session == Session::Stopped {
            return Ok(());
        }
        for _ in 0..STEPS_MAX {
            let marks = self.stop_marks(self.head)?;
            if marks.left >= 2 {
                self.clear_stop_mark(self.head, marks.cleared)?;
                self.session = Session::Stopped;
                return Ok(());
            }
            self.begin();
            match self.rewrite(self.head_node()) {
                // A move gives the head marks as well as a rewrite does.
                Err(IndexError::Full) => self.rotate(self.head.unit)?,
                outcome => outcome?,
            }
        }
        Err(self.damage(self.head, 0, "a head that finds no room"))
    }

    /// Says on flash that the list is being changed, before the first change.
    fn open(&mut self) -> Outcome<(), D> {
        self.begin();
        if self.session == Session::Stopped {
            let marks = self.stop_marks(self.head)?;
            if marks.left == 0 {
                return Err(self.damage(self.head, self.layout.bitmap_offset, "a head without room for a mark"));
            }
            self.clear_stop_mark(self.head, marks.cleared)?;
            self.session = Session::Open;
        }
        Ok(())
    }

    /// Begins a call that may rewrite objects.
    fn begin(&mut self) {
        self.rewrites_left = 2 * self.layout.settings.levels;
    }

    fn endless<T>(&self) -> Outcome<T, D> {
        Err(self.damage(self.head, 0, "a list in which no step makes room"))
    }

    fn is_roomy(&self, survey: &Survey) -> bool {
        // The last slot is kept for a new value of a key that is there, so that updates need no room.
        let slots = u32::from(self.layout.settings.slots);
        u32::from(survey.written) < slots && survey.valid.count_ones() + 1 < slots
    }

    /// A step towards a free slot in `node` for a key that is there.
    fn widen(&mut self, node: Node<K>, survey: &Survey) -> Outcome<(), D> {
        let keys = survey.valid.count_ones();
        let step = match keys > u32::from(self.layout.settings.keys) {
            true => self.split(node, survey),
            false => self.rewrite_or_merge(node, survey),
        };
        match step {
            // A move of the block drops the slots that count no more.
            Err(IndexError::Full) if keys < u32::from(self.layout.settings.slots) => self.rotate(node.cell.unit),
            step => step,
        }
    }

    /// A step towards a free slot for `key`, which is not there.
    fn make_way(&mut self, node: Node<K>, survey: &Survey, key: &[u8; K]) -> Outcome<(), D> {
        if self.layout.settings.is_soft() {
            return self.create(key);
        }
        let keys = survey.valid.count_ones();
        if keys + 1 >= u32::from(self.layout.settings.slots) {
            self.split(node, survey)
        } else {
            self.widen(node, survey)
        }
    }
}

impl<D: Nor, const K: usize, const V: usize> OrderedIndex<K, V> for FatList<D, K, V> {
    type Device = D;

    fn insert(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        self.open()?;
        for _ in 0..STEPS_MAX {
            let node = self.descend(Limit::AtMost(key))?;
            if node.low.is_none() {
                self.create(if self.layout.settings.is_soft() { key } else { &[0; K] })?;
                continue;
            }
            let survey = self.survey(node.cell)?;
            if self.find(node.cell, &survey, key)?.is_some() {
                return Err(IndexError::KeyExists);
            }
            if self.is_roomy(&survey) || survey.written == 0 {
                return self.write_slot(node.cell, survey.written, key, value);
            }
            self.make_way(node, &survey, key)?;
        }
        self.endless()
    }

    fn update(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        self.open()?;
        for _ in 0..STEPS_MAX {
            let node = self.descend(Limit::AtMost(key))?;
            if node.low.is_none() {
                return Err(IndexError::KeyAbsent);
            }
            let survey = self.survey(node.cell)?;
            let Some(slot) = self.find(node.cell, &survey, key)? else {
                return Err(IndexError::KeyAbsent);
            };
            if survey.written < self.layout.settings.slots {
                self.write_slot(node.cell, survey.written, key, value)?;
                return self.clear_slot(node.cell, slot);
            }
            self.widen(node, &survey)?;
        }
        self.endless()
    }

    fn get(&mut self, key: &[u8; K]) -> Outcome<Option<[u8; V]>, D> {
        let node = self.descend(Limit::AtMost(key))?;
        if node.low.is_none() {
            return Ok(None);
        }
        self.look_up(node.cell, key)
    }

    fn remove(&mut self, key: &[u8; K]) -> Outcome<(), D> {
        self.open()?;
        let node = self.descend(Limit::AtMost(key))?;
        if node.low.is_none() {
            return Err(IndexError::KeyAbsent);
        }
        let survey = self.survey(node.cell)?;
        let Some(slot) = self.find(node.cell, &survey, key)? else {
            return Err(IndexError::KeyAbsent);
        };
        self.clear_slot(node.cell, slot)?;
        if survey.valid.count_ones() == 1 {
            self.take_out_empty(key)?;
        }
        Ok(())
    }

    fn neighbour(
        &mut self,
        bound: Bound<&[u8; K]>,
        direction: Direction,
        hint: &mut Hint,
    ) -> Outcome<Option<Entry<K, V>>, D> {
        match direction {
            Direction::Forwards => self.step_forwards(bound, hint),
            Direction::Backwards => self.step_backwards(bound, hint),
        }
    }

    fn len(&mut self) -> Outcome<u32, D> {
        let (mut keys, mut node) = (0, self.head_node());
        while let Some(next) = self.successor(&node, 0)? {
            keys += self.survey(next.cell)?.valid.count_ones();
            node = next;
        }
        Ok(keys)
    }

    fn stats(&mut self) -> Outcome<IndexStats, D> {
        let mut stats = IndexStats { keys: self.len()?, erases_min: u32::MAX, ..IndexStats::default() };
        for unit in self.layout.units() {
            let erases = self.erase_count(unit)?;
            (stats.erases_min, stats.erases_max) = (stats.erases_min.min(erases), stats.erases_max.max(erases));
            if self.is_spare(unit)? {
                continue;
            }
            let census = self.census(unit)?;
            stats.live += u32::from(census.live);
            stats.dead += u32::from(census.dead);
            stats.free += u32::from(census.free);
        }
        Ok(stats)
    }

    fn reclaim_step(&mut self) -> Outcome<Reclaimed, D> {
        let Some(unit) = self.worthwhile_victim()? else {
            return Ok(Reclaimed::Nothing);
        };
        self.open()?;
        self.shift_poor_objects(unit)?;
        self.rotate(unit)?;
        Ok(Reclaimed::Block)
    }
}
