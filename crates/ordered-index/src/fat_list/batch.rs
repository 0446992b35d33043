//! Batches: several changes that happen together or not at all.
//!
//! A batch is written down in a cell of its own before any of its changes is made:
//! 1. make sure that there is room for all of its changes;
//! 2. write the cell, a slot for each change, and seal it: from here on the batch has happened;
//! 3. make the changes one after the other, as the calls for single keys do;
//! 4. mark the cell dead.
//!
//! | what a cut leaves | cause | recovery |
//! |---|---|---|
//! | a cell that is not sealed | during 2 | mark it dead: the batch has not happened |
//! | a sealed one | during 3 or 4 | after everything else, do 3 and 4 again |
//!
//! Invariants: a batch has each key once, so that making a change again leaves the contents as they are; the cells that
//! are free or dead are twice as many as the keys that are left to put, so that none of them finds the list full. (A
//! key divides its object, and splits what is left, at most; whatever else is written or moved leaves the sum as it
//! is.)

use norn_flash::Nor;

use crate::error::{IndexError, Outcome};
use crate::fat_list::format::Column;
use crate::fat_list::ground::cells::Cells;
use crate::fat_list::ground::cells::slots::Survey;
use crate::fat_list::layout::Cell;
use crate::fat_list::list::FatListOf;
use crate::fat_list::widths::Widths;

/// One change of a batch, which keeps the order: of several changes of a key the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<Key, Value> {
    /// Adds the key or changes its value, whichever it takes.
    Put(Key, Value),
    /// Takes the key away, if it is there.
    Remove(Key),
}

impl<Key, Value> Change<Key, Value> {
    /// The key that changes.
    pub fn key(&self) -> &Key {
        match self {
            Change::Put(key, _) | Change::Remove(key) => key,
        }
    }
}

/// Objects that a list may have more after a key was put.
pub(crate) const OBJECTS_OF_A_PUT: u32 = 2;

/// A change of a list with the widths `W`.
pub(crate) type ChangeOf<W> = Change<<W as Widths>::Key, <W as Widths>::Value>;

impl<D: Nor, W: Widths> FatListOf<D, W> {
    /// Changes that a batch may have: as many as an object has slots.
    pub fn changes_max(&self) -> usize {
        self.layout().settings.slots.into()
    }

    /// What a change takes in the cell of a batch.
    pub(crate) fn size_of_change(&self, change: &ChangeOf<W>) -> u32 {
        match change {
            Change::Put(_, value) => self.cells_ref().size_of(value),
            Change::Remove(_) => self.cells_ref().size_of(&self.widths().zero_value()),
        }
    }

    /// Whether changes that take so much fit into a cell, where values vary; else their number says it.
    pub(crate) fn has_room_in_batch(&self, size: u32) -> bool {
        !W::VARIES || self.cells_ref().has_next(&Survey::nothing(), size)
    }

    /// Makes the `count` changes that `change_at` returns.
    pub(crate) fn apply_changes(&mut self, count: usize, change_at: impl Fn(usize) -> ChangeOf<W>) -> Outcome<(), D> {
        assert!(count <= self.changes_max(), "a batch of {count} changes, where {} fit", self.changes_max());
        let is_last = |at: usize| !(at + 1..count).any(|later| change_at(later).key() == change_at(at).key());
        let changes = (0..count).filter(|&at| is_last(at)).map(&change_at);
        if count == 0 {
            return self.skip_list().cells().expect_running();
        }
        self.open()?;
        let puts = changes.clone().filter(|change| matches!(change, Change::Put(..))).count();
        let cell = self.cell_for_batch(puts as u32)?;
        self.skip_list().cells().write_batch(cell, changes)?;
        let column = self.layout().column_of(cell);
        self.finish_batch(column)
    }

    /// Step 1: a cell for the batch itself, and twice as many besides, free or dead, as it has keys to put.
    ///
    /// # Errors
    /// `Full` when there are fewer, and no neighbours are sparse, which does not happen below
    /// [`FatListOf::guaranteed_keys_with_batch`].
    fn cell_for_batch(&mut self, puts: u32) -> Outcome<Cell, D> {
        loop {
            let outlook = self.turnstiles().outlook()?;
            if outlook.free + outlook.dead <= OBJECTS_OF_A_PUT * puts {
                self.shape().room.merge_sparse()?;
            } else if let Some(cell) = self.turnstiles().free_cell(0, None)? {
                return Ok(cell);
            } else {
                self.shape().room.reclaim()?;
            }
        }
    }

    /// Steps 3 and 4 for the batch in `column`. A move may take it to another block, but not to another column.
    pub(crate) fn finish_batch(&mut self, column: Column) -> Outcome<(), D> {
        let cell = self.batch_in(column)?;
        for slot in 0..self.skip_list().cells().survey(cell)?.written {
            let cell = self.batch_in(column)?;
            match self.skip_list().cells().change(cell, slot)? {
                Change::Put(key, value) if self.look_up(&key)? != Some(value) => self.put_entry(&key, &value)?,
                Change::Put(..) => {}
                Change::Remove(key) => match self.remove_entry(&key) {
                    Err(IndexError::KeyAbsent) => {}
                    outcome => outcome?,
                },
            }
        }
        let cell = self.batch_in(column)?;
        self.skip_list().cells().bury_batch(cell)
    }

    fn batch_in(&mut self, column: Column) -> Outcome<Cell, D> {
        let cells: &mut Cells<D, W> = self.skip_list().cells();
        cells.batch_in(column)
    }

    /// Adds a key or changes its value, whichever it takes.
    pub(crate) fn put_entry(&mut self, key: &W::Key, value: &W::Value) -> Outcome<(), D> {
        match self.update_entry(key, value) {
            Err(IndexError::KeyAbsent) => self.insert_entry(key, value),
            outcome => outcome,
        }
    }
}
