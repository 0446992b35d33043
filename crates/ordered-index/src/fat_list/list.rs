//! The list's state, and what its clients call, for all widths of keys and values.
//!
//! A change of the contents is one slot written, which checks itself, or one bit cleared. Everything else (rewriting,
//! splitting, merging and taking out objects, moving blocks) leaves the contents as they are and is done before or
//! after it, so that a call is a loop:
//! 1. find the object whose range has the key;
//! 2. if the object has a free slot, write it, clear the bit of the slot before it, and end;
//! 3. else take one step that makes room, and begin again.
//!
//! Invariants: all state in RAM can be rebuilt from flash, except counts and random numbers; each step of the loop
//! gives an object room, gives a pointer pool room, or frees cells, so that the loop ends.

use core::ops::Bound;

use norn_flash::{Nor, Violation};

use crate::error::{IndexError, MountError, Outcome};
use crate::fat_list::format::LEVELS_MAX;
use crate::fat_list::ground::cells::Cells;
use crate::fat_list::ground::cells::slots::Survey;
use crate::fat_list::ground::medium::Medium;
use crate::fat_list::ground::turnstile::Turnstiles;
use crate::fat_list::layout::{Layout, Settings};
use crate::fat_list::room::{Budget, CELLS_MAX};
use crate::fat_list::search::{Limit, Node, Probes, Session, SkipList};
use crate::fat_list::shape::{STEPS_MAX, Shape};
use crate::fat_list::widths::{EntryOf, Widths, without};
use crate::index::{IndexStats, Reclaimed};
use crate::step::{Direction, Hint};

/// A fat list on `device`, a sorted map from keys to values of the widths `W`: [`FatList`](crate::FatList) where they
/// are known when a program is compiled, [`ByteFatList`](crate::ByteFatList) where they are not.
#[derive(Clone, Debug)]
pub struct FatListOf<D, W: Widths> {
    shape: Shape<D, W>,
}

/// An object without a free slot, or the head, before the first object, and which of its slots are in use.
type Crowded<W> = (Node<<W as Widths>::Key>, Survey<W>);

impl<D: Nor, W: Widths> FatListOf<D, W> {
    /// A list that is not mounted yet.
    pub(crate) fn unmounted(medium: Medium<D>, widths: W, settings: Settings) -> Result<Self, MountError<D::Error>> {
        let (key_bytes, value_bytes) = (widths.key_bytes(), widths.value_bytes());
        let widths = match W::VARIES && widths.log_bytes() == 0 {
            true => widths.with_log_bytes(Layout::log_bytes(medium.part(), settings, key_bytes, value_bytes)),
            false => widths,
        };
        let log_bytes = W::VARIES.then(|| widths.log_bytes());
        let layout = Layout::of(medium.part(), settings, key_bytes, value_bytes, log_bytes);
        Ok(FatListOf { shape: Shape::new(medium, layout.map_err(MountError::Unsuitable)?, widths) })
    }

    pub(crate) fn widths(&self) -> &W {
        self.cells_ref().widths()
    }

    pub(crate) fn cells_ref(&self) -> &Cells<D, W> {
        &self.shape.room.replacements.list.turnstiles.blocks.cells
    }

    pub(crate) fn shape(&mut self) -> &mut Shape<D, W> {
        &mut self.shape
    }

    pub(crate) fn skip_list(&mut self) -> &mut SkipList<D, W> {
        self.shape.list()
    }

    pub(crate) fn turnstiles(&mut self) -> &mut Turnstiles<D, W> {
        &mut self.shape.list().turnstiles
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.shape.layout()
    }

    /// What the list is made like.
    pub fn settings(&self) -> Settings {
        self.layout().settings
    }

    /// The device.
    pub fn device(&self) -> &D {
        self.shape.room.replacements.list.turnstiles.blocks.cells.device()
    }

    /// The device, for a test or a tool that looks at it. Changing what is on it damages the list.
    pub fn device_mut(&mut self) -> &mut D {
        self.shape.cells().device_mut()
    }

    /// Gives the device back. Without a [`stop`](Self::stop) the next mount takes the list for cut.
    pub fn into_device(self) -> D {
        self.shape.room.replacements.list.turnstiles.blocks.cells.into_device()
    }

    /// What the last call that failed with `Corrupted` found, and where.
    pub fn corruption(&self) -> Option<Violation> {
        self.shape.room.replacements.list.turnstiles.blocks.cells.corruption()
    }

    /// The outcome of the pointers followed so far. The counts start again from 0 at 2³².
    pub fn probes(&self) -> Probes {
        self.shape.room.replacements.list.probes()
    }

    /// Says on flash that nothing is under way, so that the next mount is fast. The list can still be used.
    ///
    /// Cost: a word programmed, and the number of keys if it is known and has changed; the head is rewritten once per
    /// `slots / 2` stops, or when its room for pointers is used up.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn stop(&mut self) -> Outcome<(), D> {
        let mut budget = Budget::of_call();
        for _ in 0..STEPS_MAX {
            if self.skip_list().stop()? == Session::Stopped {
                return Ok(());
            }
            // A move gives the head marks as well as a rewrite does.
            let node = self.skip_list().head_node();
            self.shape.rewrite(&mut budget, node)?;
        }
        self.shape.list().head_damage("a head that finds no room")
    }

    /// Says on flash that the list is being changed, before the first change.
    pub(crate) fn open(&mut self) -> Outcome<Budget, D> {
        self.skip_list().open()?;
        Ok(Budget::of_call())
    }

    pub(crate) fn endless<T>(&mut self) -> Outcome<T, D> {
        self.shape.list().head_damage("a list in which no step makes room")
    }

    /// Adds a key.
    pub(crate) fn insert_entry(&mut self, key: &W::Key, value: &W::Value) -> Outcome<(), D> {
        let mut budget = self.open()?;
        for _ in 0..STEPS_MAX {
            let Some((node, survey)) = self.write_if_roomy(key, value)? else { return Ok(()) };
            self.shape.make_room_for_key(&mut budget, node, &survey, (key, value))?;
        }
        self.endless()
    }

    /// Writes a new key into its object if that has a free slot; else returns the object, which may be the head.
    pub(crate) fn write_if_roomy(&mut self, key: &W::Key, value: &W::Value) -> Outcome<Option<Crowded<W>>, D> {
        let node = self.skip_list().descend(Limit::AtMost(key))?;
        if node.low.is_none() {
            return Ok(Some((node, Survey::nothing())));
        }
        let survey = self.shape.cells().survey(node.cell)?;
        if self.shape.cells().find(node.cell, &survey, key)?.is_some() {
            return Err(IndexError::KeyExists);
        }
        let cells = self.shape.cells();
        // A reserve is kept for a new value of a key that is there, so that updates need no room.
        let size = cells.size_of(value);
        if cells.has_next(&survey, size) && cells.may_grow(&survey, size) || survey.written == 0 {
            self.shape.cells().write_slot(node.cell, &mut survey.next(), key, value)?;
            self.skip_list().count_added();
            return Ok(None);
        }
        Ok(Some((node, survey)))
    }

    /// Changes the value of a key.
    pub(crate) fn update_entry(&mut self, key: &W::Key, value: &W::Value) -> Outcome<(), D> {
        let mut budget = self.open()?;
        for _ in 0..STEPS_MAX {
            let node = self.skip_list().descend(Limit::AtMost(key))?;
            if node.low.is_none() {
                return Err(IndexError::KeyAbsent);
            }
            let survey = self.shape.cells().survey(node.cell)?;
            let Some(slot) = self.shape.cells().find(node.cell, &survey, key)? else {
                return Err(IndexError::KeyAbsent);
            };
            let cells = self.shape.cells();
            let size = cells.size_of(value);
            if W::VARIES && !cells.may_replace_at(node.cell, &survey, slot, size)? {
                self.shape.spread(&mut budget, node, &survey)?;
            } else if cells.has_next(&survey, size) {
                self.shape.cells().write_slot(node.cell, &mut survey.next(), key, value)?;
                return self.shape.cells().clear_slot(node.cell, slot);
            } else {
                self.shape.widen(&mut budget, node, &survey)?;
            }
        }
        self.endless()
    }

    /// The value of a key.
    pub(crate) fn look_up(&mut self, key: &W::Key) -> Outcome<Option<W::Value>, D> {
        let node = self.skip_list().descend(Limit::AtMost(key))?;
        if node.low.is_none() {
            return Ok(None);
        }
        self.shape.cells().look_up(node.cell, key)
    }

    /// Takes a key away.
    pub(crate) fn remove_entry(&mut self, key: &W::Key) -> Outcome<(), D> {
        let mut budget = self.open()?;
        let node = self.skip_list().descend(Limit::AtMost(key))?;
        if node.low.is_none() {
            return Err(IndexError::KeyAbsent);
        }
        let survey = self.shape.cells().survey(node.cell)?;
        let Some(slot) = self.shape.cells().find(node.cell, &survey, key)? else {
            return Err(IndexError::KeyAbsent);
        };
        self.shape.cells().clear_slot(node.cell, slot)?;
        self.skip_list().count_removed(1);
        if survey.valid.count_ones() == 1 {
            self.shape.take_out_empty(&mut budget, key)?;
        } else if W::WITHOUT & without::LAZY_MERGES != 0 {
            let survey = self.shape.cells().survey(node.cell)?;
            self.shape.merge_if_poor(&mut budget, node, &survey)?;
        }
        Ok(())
    }

    /// The entry next to `bound`.
    pub(crate) fn step(
        &mut self,
        bound: Bound<&W::Key>,
        direction: Direction,
        hint: &mut Hint,
    ) -> Outcome<Option<EntryOf<W>>, D> {
        self.skip_list().step(bound, direction, hint)
    }

    /// Counts what the list holds.
    pub(crate) fn count_all(&mut self) -> Outcome<IndexStats, D> {
        let mut stats = IndexStats { keys: self.count_each_key()?, erases_min: u32::MAX, ..IndexStats::default() };
        for unit in self.layout().units() {
            let erases = self.turnstiles().blocks.erase_count(unit)?;
            (stats.erases_min, stats.erases_max) = (stats.erases_min.min(erases), stats.erases_max.max(erases));
            if self.turnstiles().blocks.is_spare(unit)? {
                continue;
            }
            let counts = self.turnstiles().cell_counts(unit)?;
            stats.live += u32::from(counts.live);
            stats.dead += u32::from(counts.dead);
            stats.free += u32::from(counts.free);
        }
        Ok(stats)
    }

    /// Takes a step towards a state in which the next change moves one block at most.
    pub(crate) fn reclaim_ahead(&mut self) -> Outcome<Reclaimed, D> {
        let has_stepped =
            self.reclaim_ahead_for_cells()? || self.rewrite_head_ahead()? || self.shape.room.relieve_ahead()?;
        Ok(if has_stepped { Reclaimed::Block } else { Reclaimed::Nothing })
    }

    /// Reclaims a block if that frees much, or if few cells are free; if a block of cells is not left, merges
    /// neighbours.
    fn reclaim_ahead_for_cells(&mut self) -> Outcome<bool, D> {
        if let Some(unit) = self.turnstiles().worthwhile_victim()? {
            self.open()?;
            self.shape.room.shift_poor_objects(unit)?;
            return self.skip_list().rotate(unit).map(|()| true);
        }
        let (outlook, layout) = (self.turnstiles().outlook()?, self.layout());
        let is_short = outlook.free < CELLS_MAX + u32::from(layout.settings.levels);
        let is_sparse = outlook.free + outlook.dead < u32::from(layout.cells_per_block);
        let step = match (is_short && outlook.dead > 0, is_sparse) {
            (true, _) => self.open().and_then(|_| self.shape.room.reclaim()),
            (_, true) => self.open().and_then(|_| self.shape.room.merge_sparse()),
            _ => return Ok(false),
        };
        match step {
            Err(IndexError::Full) => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }

    /// Gives the head's pointers room, if a level has none.
    fn rewrite_head_ahead(&mut self) -> Outcome<bool, D> {
        let (head, levels) = (self.skip_list().head_node(), self.layout().settings.levels);
        let is_starved = self.shape.room.starved(&[head.cell; LEVELS_MAX], levels, None)?.is_some();
        if is_starved {
            let mut budget = self.open()?;
            self.shape.rewrite(&mut budget, head)?;
        }
        Ok(is_starved)
    }
}
