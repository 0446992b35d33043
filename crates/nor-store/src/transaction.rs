//! Commit and abort: the log's entries since the last of them, walked forwards or backwards.
//!
//! Commit:
//! 1. append the changed roots and `Commit`, the moment of truth; with error detection once more;
//! 2. forwards: close the open words of every `Swap`'s node into the committed version, and free what each `Swap`,
//!    `Release` and `ReleaseTree` names.
//!
//! Abort:
//! 1. backwards: close the open words of every `Swap`'s node as aborted, and free what each `New` names;
//! 2. append `Abort`.
//!
//! Both walks can be repeated after a power cut with the same result: closing and freeing twice is the same as once, and a
//! sector number is not used again before a later entry says so. Invariant: between transactions no word is open, and no
//! sector is live that nothing reaches.

use norn_flash::{EraseUnit, Nor};

use crate::error::StoreError;
use crate::features::Features;
use crate::format::{Entry, SectorPtr};
use crate::log::{Position, Sequence, Slot};
use crate::store::Store;
use crate::tree::Close;

impl<D: Nor, const UNITS: usize, F: Features> Store<D, UNITS, F> {
    /// Whether a transaction has begun to change anything.
    pub fn transaction_is_open(&self) -> bool {
        self.log.open
    }

    /// Makes the open transaction's changes permanent, all at once. Nothing to do when none is open.
    ///
    /// Cost: 2 words programmed (2 more for each tree with a new root), 1 for each changed node word and each freed sector.
    ///
    /// # Errors
    /// `TransactionTooLarge`: abort then. The device's.
    pub fn commit(&mut self) -> Result<(), StoreError<D::Error>> {
        self.expect_answering()?;
        if !self.log.open {
            return Ok(());
        }
        for tree in 0..self.trees.len() {
            if self.trees[tree].open != self.trees[tree].committed {
                self.append_reserved(self.trees[tree].open.entry(tree))?;
            }
        }
        self.append_reserved(Entry::Commit { serial: self.serial })?;
        if self.detects() {
            // One flipped bit must not make a commit that takes effect look like one that was cut.
            self.append_reserved(Entry::Commit { serial: self.serial })?;
        }
        self.apply_commit()?;
        for tree in &mut self.trees {
            tree.committed = tree.open;
        }
        self.close_transaction()
    }

    /// Undoes everything that the open transaction changed. Nothing to do when none is open.
    ///
    /// Cost: 2 words programmed, 1 for each changed node word and each sector allocated.
    ///
    /// # Errors
    /// The device's, and `Corrupted`.
    pub fn abort(&mut self) -> Result<(), StoreError<D::Error>> {
        self.expect_answering()?;
        if !self.log.open {
            return Ok(());
        }
        self.apply_abort()?;
        for tree in &mut self.trees {
            tree.open = tree.committed;
        }
        self.append_reserved(Entry::Abort { serial: self.serial })?;
        self.close_transaction()
    }

    fn close_transaction(&mut self) -> Result<(), StoreError<D::Error>> {
        (self.log.open, self.log.swapped) = (false, None);
        self.log.start = self.log.end();
        if self.log.length() > 1 {
            self.retire_log_units()?;
        }
        Ok(())
    }

    /// Step 2 of a commit.
    pub(crate) fn apply_commit(&mut self) -> Result<(), StoreError<D::Error>> {
        let (start, end) = (self.log.start, self.log.end());
        for sequence in Sequence::range(start.sequence, end.sequence) {
            let unit = self.log_unit(sequence)?;
            for index in self.indices(sequence, start, end) {
                match self.read_log(unit, index)? {
                    Slot::Entry(Entry::Swap { node, freed }) => {
                        self.close_words(node, Close::Commit)?;
                        self.free_both(freed, None)?;
                    }
                    Slot::Entry(Entry::Release { a, b }) => self.free_both(Some(a), b)?,
                    Slot::Entry(Entry::ReleaseTree { node, height }) => self.free_tree(node, height)?,
                    Slot::Torn if self.detects() => return self.damaged_entry(unit, index),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Step 1 of an abort.
    pub(crate) fn apply_abort(&mut self) -> Result<(), StoreError<D::Error>> {
        let (start, end) = (self.log.start, self.log.end());
        for sequence in Sequence::range(start.sequence, end.sequence).rev() {
            let unit = self.log_unit(sequence)?;
            for index in self.indices(sequence, start, end).rev() {
                match self.read_log(unit, index)? {
                    Slot::Entry(Entry::Swap { node, .. }) => self.close_words(node, Close::Abort)?,
                    Slot::Entry(Entry::New { a, b }) => {
                        self.void_or_free(a)?;
                        if let Some(b) = b {
                            self.void_or_free(b)?;
                        }
                    }
                    Slot::Torn if self.detects() => return self.damaged_entry(unit, index),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn damaged_entry(&mut self, unit: EraseUnit, index: u16) -> Result<(), StoreError<D::Error>> {
        self.corrupted(self.entry_address(unit, index), "a damaged log entry")
    }

    /// The indices between `start` and `end` that lie in the log unit with this sequence number.
    fn indices(&self, sequence: Sequence, start: Position, end: Position) -> core::ops::Range<u16> {
        let from = if sequence == start.sequence { start.index } else { 0 };
        let to = if sequence == end.sequence { end.index } else { self.geometry.log_entries };
        from..to
    }

    fn free_both(&mut self, a: Option<SectorPtr>, b: Option<SectorPtr>) -> Result<(), StoreError<D::Error>> {
        for pointer in [a, b].into_iter().flatten() {
            self.free_sector(pointer)?;
        }
        Ok(())
    }
}
