//! Versions: what a transaction changes inside a sector, words of tree nodes and deltas, and how that is closed when it
//! ends.
//!
//! Such a word is programmed *open*, after a `Swap` entry that names its sector; one entry is enough for several in a
//! row. A commit makes all open words of the sector part of the committed version, an abort makes them void: each by
//! clearing bits.
//!
//! With error detection a tree word is stored twice, the second time as its *mirror* right after it. The two are
//! programmed, committed and aborted together. A cut leaves words that differ only where the log says so, until
//! recovery has closed them:
//! - in a node of a committed transaction they differ in the open bit at most, and both are committed;
//! - in a node of an aborted transaction both are open, however torn they are, and both get their standing bits
//!   cleared.
//!
//! Invariants: outside a transaction a tree word and its mirror are equal, or both are aborted; no word and no delta is
//! open.

use norn_flash::{Address, Nor};

use crate::delta::{Counting, DELTA_BYTES, DELTAS_OFFSET, Delta};
use crate::entry::Entry;
use crate::error::StoreError;
use crate::features::Features;
use crate::format::{Close, ERASED_WORD, NODE_SLOTS, NODE_SPARES, SectorKind, SectorPtr, TREE_WORD_BYTES, TreeWord};
use crate::ground::sector::Sector;
use crate::ground::space::Space;
use crate::ground::table::UnitRows;

/// A word and its mirror.
type Pair = [TreeWord; 2];

/// What transactions change in place.
#[derive(Clone, Debug)]
pub struct Versions<D: Nor, M: UnitRows, F> {
    pub(crate) space: Space<D, M, F>,
    /// The sector of the open transaction's last `Swap`.
    swapped: Option<SectorPtr>,
}

impl<D: Nor, M: UnitRows, F: Features> Versions<D, M, F> {
    pub(crate) fn unused(device: D, rows: M) -> Self {
        Versions { space: Space::unused(device, rows), swapped: None }
    }

    /// Begins with the next transaction.
    pub(crate) fn forget(&mut self) {
        self.swapped = None;
    }

    /// Announces that words of a sector are about to be programmed open, and what the commit frees.
    pub(crate) fn announce(
        &mut self,
        pointer: SectorPtr,
        freed: Option<SectorPtr>,
    ) -> Result<(), StoreError<D::Error>> {
        // One entry is enough to have all open words of a sector closed.
        if self.swapped != Some(pointer) || freed.is_some() {
            self.space.sectors.log.append(Entry::Swap { node: pointer, freed })?;
            self.swapped = Some(pointer);
        }
        Ok(())
    }

    /// The delta at `at` of a sector; `None` where there is none, or a torn one. Cost: 1 word read.
    ///
    /// # Errors
    /// The device's.
    #[inline(never)]
    pub fn delta(&mut self, sector: &Sector, at: u32) -> Result<Option<Delta>, StoreError<D::Error>> {
        if at + DELTA_BYTES > sector.bytes {
            return Ok(None);
        }
        let word = self.space.sectors.word(sector, at)?;
        Ok(Delta::decode(word, at).filter(|delta| delta.end() <= sector.bytes))
    }

    /// Programs a delta at `at` of a sector, which is erased there. Cost: 1 word programmed, and those of a value of
    /// more than two bytes; in a transaction 2 more, once for several deltas of a sector in a row, and 1 at the commit.
    ///
    /// # Errors
    /// The device's, `Corrupted`, and `TransactionTooLarge`.
    pub fn add_delta(
        &mut self,
        pointer: SectorPtr,
        at: u32,
        (index, value): (u8, &[u8]),
        counting: Counting,
    ) -> Result<(), StoreError<D::Error>> {
        if counting == Counting::WithCommit {
            self.announce(pointer, None)?;
        }
        let sectors = &mut self.space.sectors;
        let sector = sectors.get(pointer)?;
        if Delta::is_wide_value(value.len()) {
            sectors.program_new(&sector, at + DELTA_BYTES, value)?;
        }
        sectors.program(&sector, at, &Delta::encode(index, value, counting).to_le_bytes())
    }

    /// Closes the open deltas of a sector. Each by a program of the one byte that changes.
    fn close_deltas(&mut self, sector: &Sector, close: Close) -> Result<(), StoreError<D::Error>> {
        let mut at = DELTAS_OFFSET;
        while let Some(delta) = self.delta(sector, at)? {
            if delta.is_open() {
                let (at, byte) = delta.closing(close);
                self.space.sectors.program(sector, at, &[byte])?;
            }
            at = delta.end();
        }
        Ok(())
    }

    /// The word at `position` of a node. Cost: 1 word read, 2 with error detection.
    pub(crate) fn tree_word(&mut self, node: &Sector, position: u32) -> Result<TreeWord, StoreError<D::Error>> {
        match self.find_tree_word(node, position)? {
            Some(word) => Ok(word),
            None => {
                let address = self.tree_word_address(node, position);
                self.space.sectors.corrupted(address, "a damaged tree word")
            }
        }
    }

    /// The same; `None` for one that does not agree with its mirror.
    pub(crate) fn find_tree_word(
        &mut self,
        node: &Sector,
        position: u32,
    ) -> Result<Option<TreeWord>, StoreError<D::Error>> {
        let [word, mirror] = self.tree_pair(node, position)?;
        let agree = match word.is_erased() || word.stands() {
            true => word == mirror,
            // Their other bits may be torn, apart from those that are ones in every open word.
            false => word.is_void() && mirror.is_void(),
        };
        Ok((agree || !self.space.sectors.detects()).then_some(word))
    }

    pub(crate) fn program_tree_word(
        &mut self,
        node: &Sector,
        position: u32,
        word: u32,
    ) -> Result<(), StoreError<D::Error>> {
        let offset = self.tree_word_offset(position);
        let [a, b, c, d] = word.to_le_bytes();
        let bytes = self.space.sectors.detection().tree_word_bytes() as usize;
        self.space.sectors.program(node, offset, &[a, b, c, d, a, b, c, d][..bytes])
    }

    /// Refuses a word of the open version where there is none: with error detection only, since without it recovery and
    /// the checker see to that.
    pub(crate) fn expect_closed(&mut self, node: SectorPtr, word: TreeWord) -> Result<(), StoreError<D::Error>> {
        if self.space.sectors.detects() && word.is_open() && !self.space.sectors.log.is_open() {
            let address = self.space.sectors.place_of(node);
            return self.space.sectors.corrupted(address, "an open word outside a transaction");
        }
        Ok(())
    }

    /// Closes the open words of a node, or the open deltas of a sector: into the committed version, or as aborted.
    /// Nothing where the sector is gone.
    pub(crate) fn close(&mut self, pointer: SectorPtr, close: Close) -> Result<(), StoreError<D::Error>> {
        let Some(node) = self.space.sectors.find(pointer)? else {
            return Ok(());
        };
        match node.kind {
            SectorKind::Opaque if F::DELTA_RECORDS => return self.close_deltas(&node, close),
            SectorKind::Node if node.bytes >= self.space.sectors.detection().node_bytes() => {}
            _ => return Ok(()),
        }
        for position in 0..NODE_SLOTS + NODE_SPARES {
            let pair = self.tree_pair(&node, position)?;
            if position >= NODE_SLOTS && pair.iter().all(|word| word.is_erased()) {
                break;
            }
            if applies(close, pair) {
                self.close_pair(&node, position, pair, close)?;
            }
        }
        Ok(())
    }

    fn close_pair(
        &mut self,
        node: &Sector,
        position: u32,
        pair: Pair,
        close: Close,
    ) -> Result<(), StoreError<D::Error>> {
        let copies = self.space.sectors.detection().tree_word_bytes() / TREE_WORD_BYTES;
        let offset = self.tree_word_offset(position);
        for (word, copy) in pair.into_iter().zip(0..copies) {
            let closed = word.closed(close);
            if closed != word {
                self.space.sectors.program(node, offset + TREE_WORD_BYTES * copy + 3, &[(closed.0 >> 24) as u8])?;
            }
        }
        Ok(())
    }

    fn tree_word_offset(&self, position: u32) -> u32 {
        self.space.sectors.detection().tree_word_bytes() * position
    }

    pub(crate) fn tree_word_address(&self, node: &Sector, position: u32) -> Address {
        node.address.offset(self.tree_word_offset(position))
    }

    /// A word and its mirror; without error detection the word twice.
    fn tree_pair(&mut self, node: &Sector, position: u32) -> Result<Pair, StoreError<D::Error>> {
        let offset = self.tree_word_offset(position);
        let word = TreeWord(self.space.sectors.word(node, offset)?);
        if !self.space.sectors.detects() {
            return Ok([word, word]);
        }
        Ok([word, TreeWord(self.space.sectors.word(node, offset + TREE_WORD_BYTES)?)])
    }
}

/// Whether a pair is to be closed. A flipped bit must not make a committed one look torn.
fn applies(close: Close, [word, mirror]: Pair) -> bool {
    let either = word.0 | mirror.0;
    let both = word.0 & mirror.0;
    match close {
        Close::Commit => {
            both != ERASED_WORD
                && either & TreeWord::OPEN != 0
                && both & TreeWord::STANDING != 0
                && (word.0 ^ mirror.0) & !TreeWord::OPEN == 0
        }
        Close::Abort => both != ERASED_WORD && both & TreeWord::OPEN != 0 && either & TreeWord::STANDING != 0,
    }
}
