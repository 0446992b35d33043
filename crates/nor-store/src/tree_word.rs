//! The words of tree nodes: read, programmed, and closed at the end of a transaction.
//!
//! With error detection a word stands twice, the second time as its *mirror* right behind it. The two are programmed, committed and
//! aborted together. A cut leaves words that differ only where the log says so, until recovery has closed them:
//! - in a node of a committed transaction they differ in the open bit at most, and both are committed;
//! - in a node of an aborted transaction both are open, however torn they are, and both get their standing bits cleared.
//!
//! Invariant: outside a transaction a word and its mirror are equal, or both are aborted.

use norn_flash::Nor;

use crate::error::StoreError;
use crate::features::Features;
use crate::format::{ERASED_WORD, NODE_SLOTS, NODE_SPARES, SectorKind, SectorPtr, TREE_WORD_BYTES, TreeWord};
use crate::sector::Sector;
use crate::store::Store;
use crate::tree::Close;

/// A word and its mirror.
type Pair = [TreeWord; 2];

impl<D: Nor, const UNITS: usize, F: Features> Store<D, UNITS, F> {
    /// The word at `position` of a node. Cost: 1 word read, 2 with error detection.
    pub(crate) fn tree_word(&mut self, node: &Sector, position: u32) -> Result<TreeWord, StoreError<D::Error>> {
        match self.find_tree_word(node, position)? {
            Some(word) => Ok(word),
            None => self.corrupted(self.tree_word_address(node, position), "a damaged tree word"),
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
        Ok((agree || !self.detects()).then_some(word))
    }

    pub(crate) fn program_tree_word(
        &mut self,
        node: &Sector,
        position: u32,
        word: u32,
    ) -> Result<(), StoreError<D::Error>> {
        let address = self.tree_word_address(node, position);
        let [a, b, c, d] = word.to_le_bytes();
        let bytes = self.detection().tree_word_bytes() as usize;
        self.medium.program(address, &[a, b, c, d, a, b, c, d][..bytes])
    }

    /// Refuses a word of the open version where there is none: with error detection only, since without it recovery and the checker
    /// see to that.
    pub(crate) fn expect_closed(&mut self, node: SectorPtr, word: TreeWord) -> Result<(), StoreError<D::Error>> {
        if self.detects() && word.is_open() && !self.log.open {
            return self.corrupted(self.place_of(node), "an open word outside a transaction");
        }
        Ok(())
    }

    /// Closes the open words of a node, or the open deltas of a sector: into the committed version, or as aborted. Nothing where the node is gone.
    pub(crate) fn close_words(&mut self, pointer: SectorPtr, close: Close) -> Result<(), StoreError<D::Error>> {
        let Some(node) = self.find_sector(pointer)? else {
            return Ok(());
        };
        match node.kind {
            SectorKind::Opaque if F::DELTA_RECORDS => return self.close_deltas(&node, close),
            SectorKind::Node if node.bytes >= self.detection().node_bytes() => {}
            _ => return Ok(()),
        }
        for position in 0..NODE_SLOTS + NODE_SPARES {
            let pair = self.tree_pair(&node, position)?;
            if position >= NODE_SLOTS && pair.iter().all(|word| word.is_erased()) {
                break;
            }
            if close.applies(pair) {
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
        let copies = self.detection().tree_word_bytes() / TREE_WORD_BYTES;
        let address = self.tree_word_address(node, position);
        for (word, copy) in pair.into_iter().zip(0..copies) {
            let closed = match close {
                Close::Commit => word.committed(),
                Close::Abort => word.aborted(),
            };
            if closed != word {
                self.medium.program(address.offset(TREE_WORD_BYTES * copy + 3), &[(closed.0 >> 24) as u8])?;
            }
        }
        Ok(())
    }

    pub(crate) fn tree_word_address(&self, node: &Sector, position: u32) -> norn_flash::Address {
        node.address.offset(self.detection().tree_word_bytes() * position)
    }

    /// A word and its mirror; without error detection the word twice.
    fn tree_pair(&mut self, node: &Sector, position: u32) -> Result<Pair, StoreError<D::Error>> {
        let address = self.tree_word_address(node, position);
        let word = TreeWord(self.medium.read_word(address)?);
        if !self.detects() {
            return Ok([word, word]);
        }
        Ok([word, TreeWord(self.medium.read_word(address.offset(TREE_WORD_BYTES))?)])
    }
}

impl Close {
    /// Whether a pair is to be closed. A flipped bit must not make a committed one look torn.
    fn applies(self, [word, mirror]: Pair) -> bool {
        let either = word.0 | mirror.0;
        let both = word.0 & mirror.0;
        match self {
            Close::Commit => {
                both != ERASED_WORD
                    && either & TreeWord::OPEN != 0
                    && both & TreeWord::STANDING != 0
                    && (word.0 ^ mirror.0) & !TreeWord::OPEN == 0
            }
            Close::Abort => both != ERASED_WORD && both & TreeWord::OPEN != 0 && either & TreeWord::STANDING != 0,
        }
    }
}
