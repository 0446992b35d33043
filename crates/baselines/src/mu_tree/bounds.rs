//! What calls that only read take at most, for any history of the tree (`docs/design/ordered-index.md` derives it).
//!
//! The idea: a search reads one node on each level, of each a count, the keys that a bisection looks at, and a child's
//! number. With a log the leaf is read with all of its records.
//!
//! Bytes are counted as they are asked of the device.

use norn_flash::Nor;

use super::format::{IDENTITY_BYTES, PAGE_NUMBER_BYTES, entry_bytes, node_range};
use super::nodes::MuTree;

/// Keys that a bisection of `entries` entries reads at most.
fn bisection(entries: u64) -> u64 {
    u64::from(entries.checked_ilog2().map_or(0, |power| power + 1))
}

impl<D: Nor, const K: usize, const V: usize, const PAGE: usize, const LOG: usize> MuTree<D, K, V, PAGE, LOG> {
    /// Bytes that [`get`](norn_ordered_index::OrderedIndex::get) reads at most, at the tree's present height.
    pub fn get_bound(&self) -> u64 {
        // A record with the key may be torn, so that the next one is read, too.
        let log = match LOG {
            0 => 0,
            _ => {
                bisection(self.records().into()) * Self::RECORD + u64::from(self.records()) * (K as u64 + Self::RECORD)
            }
        };
        self.trace_read() + log + self.node_read(0) + Self::ENTRY
    }

    /// Bytes that a step of a range reads at most, `first` and `last` included: two leaves and the ways there.
    pub fn step_bound(&self) -> u64 {
        2 * (self.descent_read() + Self::ENTRY)
    }

    /// Bytes that [`len`](norn_ordered_index::OrderedIndex::len) reads at most in a tree with this number of leaves.
    pub fn len_bound(&self, leaves: u32) -> u64 {
        u64::from(leaves) * self.descent_read()
    }

    /// Bytes that [`stats`](norn_ordered_index::OrderedIndex::stats) reads at most in a tree with this number of
    /// leaves: those of [`len`](Self::len_bound), each block's identity, and for each page its header and a search for
    /// every node that may be in it.
    pub fn stats_bound(&self, leaves: u32) -> u64 {
        let page = 4 + 6 + u64::from(self.height) * (1 + K as u64 + self.trace_read());
        let units = u64::from(self.medium.part().unit_count) * IDENTITY_BYTES as u64;
        self.len_bound(leaves) + units + u64::from(self.page_count()) * page
    }

    // What these are made of, in bytes.

    /// A record of a log, with its code.
    const RECORD: u64 = (K + V + 2) as u64;
    /// An entry of a leaf.
    const ENTRY: u64 = (K + V) as u64;

    /// The count of a node, and the keys that a bisection of it looks at.
    fn node_read(&self, level: u8) -> u64 {
        let (_, len) = node_range(Self::BODY, level, self.height);
        let entries = (len.saturating_sub(1) / entry_bytes(level, K, V)).min(255);
        1 + bisection(entries as u64) * K as u64
    }

    /// The way from the root to a leaf, which is not read.
    fn trace_read(&self) -> u64 {
        (1..self.height).map(|level| self.node_read(level) + PAGE_NUMBER_BYTES as u64).sum()
    }

    /// The way to a leaf, the number of its neighbour, and the leaf opened.
    fn descent_read(&self) -> u64 {
        let (_, len) = node_range(Self::BODY, 0, self.height);
        let opened = match LOG {
            0 => 0,
            _ => len as u64 + (bisection(self.records().into()) + u64::from(self.records())) * Self::RECORD,
        };
        self.trace_read() + PAGE_NUMBER_BYTES as u64 + self.node_read(0) + opened
    }
}
