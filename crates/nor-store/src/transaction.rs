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
//! Both walks can be repeated after a power cut with the same result: closing and freeing twice is the same as once,
//! and a sector number is not used again before a later entry says so. Invariant: between transactions no word is open,
//! and no sector is live that nothing reaches.

use norn_flash::Nor;

use crate::entry::{Entry, EntryState};
use crate::error::{MountFault, StoreError};
use crate::features::Features;
use crate::format::{Close, Link, SectorPtr};
use crate::ground::log::Sequence;
use crate::ground::log::replay::{LastTransaction, Replay};
use crate::ground::table::UnitRows;
use crate::store::StoreIn;

impl<D: Nor, M: UnitRows, F: Features> StoreIn<D, M, F> {
    /// Whether a transaction has begun to change anything.
    pub fn transaction_is_open(&self) -> bool {
        self.log().is_open()
    }

    /// Makes the open transaction's changes permanent, all at once. Nothing to do when none is open.
    ///
    /// Cost: 2 words programmed (2 more for each tree with a new root), 1 for each changed node word and each freed
    /// sector.
    ///
    /// # Errors
    /// `TransactionTooLarge`: abort then. The device's.
    pub fn commit(&mut self) -> Result<(), StoreError<D::Error>> {
        self.log().units.medium.expect_answering()?;
        if !self.log().is_open() {
            return Ok(());
        }
        self.log_mut().append_commit()?;
        self.apply_commit()?;
        self.close(Close::Commit)
    }

    /// Undoes everything that the open transaction changed. Nothing to do when none is open.
    ///
    /// Cost: 2 words programmed, 1 for each changed node word and each sector allocated.
    ///
    /// # Errors
    /// The device's, and `Corrupted`.
    pub fn abort(&mut self) -> Result<(), StoreError<D::Error>> {
        self.log().units.medium.expect_answering()?;
        if !self.log().is_open() {
            return Ok(());
        }
        self.apply_abort()?;
        self.close(Close::Abort)
    }

    fn close(&mut self, close: Close) -> Result<(), StoreError<D::Error>> {
        self.versions().forget();
        self.log_mut().close(close)
    }

    /// Step 2 of a commit.
    fn apply_commit(&mut self) -> Result<(), StoreError<D::Error>> {
        let (start, end) = (self.log().start(), self.log().end());
        for sequence in Sequence::range(start.sequence, end.sequence) {
            let unit = self.log_mut().unit_with(sequence)?;
            for index in self.log().indices(sequence, start, end) {
                match self.log_mut().read(unit, index)? {
                    EntryState::Whole(Entry::Swap { node, freed }) => {
                        self.versions().close(node, Close::Commit)?;
                        self.free_both(freed, None)?;
                    }
                    EntryState::Whole(Entry::Release { a, b }) => self.free_both(Some(a), b)?,
                    EntryState::Whole(Entry::ReleaseTree { node, height }) => self.trees().free(node, height)?,
                    EntryState::Torn if self.sectors().detects() => return self.log_mut().damaged_entry(unit, index),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Step 1 of an abort.
    fn apply_abort(&mut self) -> Result<(), StoreError<D::Error>> {
        let (start, end) = (self.log().start(), self.log().end());
        for sequence in Sequence::range(start.sequence, end.sequence).rev() {
            let unit = self.log_mut().unit_with(sequence)?;
            for index in self.log().indices(sequence, start, end).rev() {
                match self.log_mut().read(unit, index)? {
                    EntryState::Whole(Entry::Swap { node, .. }) => self.versions().close(node, Close::Abort)?,
                    EntryState::Whole(Entry::New { a, b }) => {
                        self.sectors().void_or_free(a)?;
                        if let Some(b) = b {
                            self.sectors().void_or_free(b)?;
                        }
                    }
                    EntryState::Torn if self.sectors().detects() => return self.log_mut().damaged_entry(unit, index),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn free_both(&mut self, a: Option<SectorPtr>, b: Option<SectorPtr>) -> Result<(), StoreError<D::Error>> {
        for pointer in [a, b].into_iter().flatten() {
            self.sectors().free(pointer)?;
        }
        Ok(())
    }

    /// Redoes the last commit, or repairs the last link, when it is the log's last entry; or undoes the open
    /// transaction (step 5 of mounting).
    pub(crate) fn settle_transaction(&mut self, replay: &Replay) -> Result<(), MountFault<D::Error>> {
        self.versions().forget();
        let last_transaction = self.log_mut().find_last_transaction(replay)?;
        if let Some((last, new)) = replay.link() {
            self.settle_link(last, new)?;
        }
        match last_transaction {
            LastTransaction::Committed => {
                if !replay.commit_is_repeated() {
                    self.log_mut().append_second_commit()?;
                }
                self.apply_commit()?;
            }
            LastTransaction::Open => {
                self.log_mut().reopen();
                self.abort()?;
            }
            LastTransaction::Closed => {}
        }
        self.log_mut().start_at_end();
        Ok(())
    }

    fn settle_link(&mut self, last: SectorPtr, new: SectorPtr) -> Result<(), MountFault<D::Error>> {
        let sectors = self.sectors();
        let Some(sector) = sectors.find(last)? else {
            let (address, what) = (sectors.place_of(last), "a link from a sector that is not there");
            return Ok(sectors.corrupted(address, what)?);
        };
        let word = sectors.link_word(&sector)?;
        match Link::decode(word) {
            Link::To(pointer) if pointer == new => Ok(()),
            // A torn link is no link and stays none.
            Link::Erased | Link::Void => {
                if sectors.is_damaged_link(word) {
                    sectors.void_link(&sector, new)?;
                }
                Ok(sectors.void_or_free(new)?)
            }
            Link::To(_) => {
                let what = "a link to another sector than the log says";
                Ok(sectors.corrupted(sector.address, what)?)
            }
        }
    }
}
