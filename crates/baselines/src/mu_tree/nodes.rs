//! The tree's state, and reading its nodes.
//!
//! Invariants: the newest whole page with a root has the root; all nodes are reached from there; keys below the first
//! entry's of a node belong to that entry's child.

use norn_flash::Nor;
use norn_ordered_index::IndexError;

use super::format::{PAGE_NUMBER_BYTES, entry_bytes, node_range};
use super::medium::Medium;

pub(crate) type Outcome<T, D> = Result<T, IndexError<<D as Nor>::Error>>;

/// A µ-tree on `device`, with pages of `PAGE` bytes. A change takes some pages of stack.
///
/// With a `LOG`, that many bytes of a page take changes of its leaf, each checked by itself, so that a path is only
/// written when they are used up: a B⁺-tree with logged leaves. The paper's µ-tree has none.
#[derive(Clone, Debug)]
pub struct MuTree<D, const K: usize, const V: usize, const PAGE: usize, const LOG: usize = 0> {
    pub(crate) medium: Medium<D>,
    /// Page with the root, by its number on the part.
    pub(crate) root: u32,
    pub(crate) height: u8,
    pub(crate) sequence: u32,
    /// The page that is written next; the first of a block when the block before is full.
    pub(crate) next: u32,
    /// Blocks that have been begun since formatting, from the first on.
    pub(crate) taken: u16,
}

impl<D: Nor, const K: usize, const V: usize, const PAGE: usize, const LOG: usize> MuTree<D, K, V, PAGE, LOG> {
    /// Bytes of a page without its log.
    pub(crate) const BODY: usize = PAGE - LOG;

    /// Where the node of a level begins in its page.
    pub(crate) fn offset(level: u8, height: u8) -> usize {
        node_range(Self::BODY, level, height).0
    }

    pub(crate) fn damage(&mut self, page: u32, what: &'static str) -> IndexError<D::Error> {
        self.medium.damage(self.page_address(page), what)
    }

    pub(crate) fn count(&mut self, page: u32, level: u8) -> Outcome<u8, D> {
        if !self.has_page(page) {
            return Err(self.damage(self.root, "a child out of the part"));
        }
        let (offset, len) = node_range(Self::BODY, level, self.height);
        let mut count = [0];
        self.medium.read(self.page_address(page).offset(offset as u32), &mut count)?;
        match usize::from(count[0]) * entry_bytes(level, K, V) < len {
            true => Ok(count[0]),
            false => Err(self.damage(page, "a node with more entries than it has room for")),
        }
    }

    pub(crate) fn entry_offset(&self, level: u8, index: u8) -> u32 {
        let (offset, _) = node_range(Self::BODY, level, self.height);
        (offset + 1 + usize::from(index) * entry_bytes(level, K, V)) as u32
    }

    pub(crate) fn key(&mut self, page: u32, level: u8, index: u8) -> Outcome<[u8; K], D> {
        let mut key = [0; K];
        let at = self.page_address(page).offset(self.entry_offset(level, index));
        self.medium.read(at, &mut key)?;
        Ok(key)
    }

    pub(crate) fn child(&mut self, page: u32, level: u8, index: u8) -> Outcome<u32, D> {
        let at = self.page_address(page).offset(self.entry_offset(level, index) + K as u32);
        let mut number = [0; PAGE_NUMBER_BYTES];
        self.medium.read(at, &mut number)?;
        Ok(u32::from_le_bytes(number))
    }

    /// The entries of a node whose keys are at most `key`.
    pub(crate) fn rank(&mut self, page: u32, level: u8, count: u8, key: &[u8; K]) -> Outcome<u8, D> {
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(page, level, middle)? <= *key { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}
