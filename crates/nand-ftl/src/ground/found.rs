//! Pages that mounting finds on flash: that were programmed, and of the checkpoint.

use norn_flash::{Block, PageAddress};

use super::memory::Memory;
use crate::format::{Header, Tag};

/// Sequence numbers left out at each mount, so that those of torn pages do not come again. A page of the checkpoint is
/// programmed at most so much later than it says, should blocks fail meanwhile; its copies have higher numbers.
pub(crate) const SEQUENCE_GAP: u64 = 16;

/// A page that was programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub page: PageAddress,
    pub tag: Tag,
}

/// Whether a page of the checkpoint was programmed when it was made, and not copied since.
pub(super) fn is_original(written: &Written, header: &Header) -> bool {
    written.tag.sequence <= header.as_of + SEQUENCE_GAP
}

/// A page of the checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckpointPage {
    pub written: Written,
    pub header: Header,
}

impl CheckpointPage {
    /// Whether it is the same page of the checkpoint, programmed once more.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        (self.written.tag.lba, self.header.as_of) == (other.written.tag.lba, other.header.as_of)
    }

    /// The first page of a block that was programmed later than it says.
    pub fn tail_of<M: AsRef<[u8]> + AsMut<[u8]>>(&self, memory: &Memory<M>, block: Block) -> Option<u16> {
        if memory.opened(block) > self.header.as_of {
            return Some(0);
        }
        let part = memory.layout().part;
        let open = self.header.open.iter().flatten().map(|&page| part.page_at(page));
        open.filter(|page| page.block == block).map(|page| page.page).next()
    }
}
