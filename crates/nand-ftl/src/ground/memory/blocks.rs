//! Blocks in memory: what each is to the FTL, how worn it is, how many of its pages live.
//!
//! ```text
//! block    erases 4 · live pages 2 · state 1 · flags 1 · sequence of its first program, then its last 7 · stream 1
//! ```
//!
//! Invariant: once blocks are counted, the sums are what the blocks say.

use norn_flash::Block;

use super::Memory;
use crate::layout::BLOCK_BYTES;

/// A sequence has seven bytes in memory.
const SEQUENCE_BITS: u64 = (1 << 56) - 1;

/// What a block is to the FTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockState {
    /// Programmed since its erase, or not known to be erased: a collector may take it.
    Used,
    /// Erased for certain.
    Free,
    /// Pages are appended to it.
    Open,
    /// Never programmed or erased again. It may still hold live pages.
    Bad,
}

/// Marks on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    /// A collector is at it.
    Locked = 1,
    /// Mounting found no whole page in it, but one that is not erased.
    Torn = 2,
    /// Its first page says that the part is being formatted.
    Formatting = 4,
    /// A search that goes on does not want it.
    Passed = 8,
    /// It is bad, and has a page that cannot be read: nothing more is copied off it.
    Unreadable = 16,
    /// It has gone bad since the page of the checkpoint was written that has its entry.
    Unrecorded = 32,
}

impl<M: AsRef<[u8]> + AsMut<[u8]>> Memory<M> {
    fn block_at(block: Block) -> usize {
        usize::from(block.0) * BLOCK_BYTES
    }

    /// Erases of a block.
    pub fn erases(&self, block: Block) -> u32 {
        u32::from_le_bytes(self.number(Self::block_at(block)))
    }

    /// Sets a block's erases, and no sum.
    pub fn set_erases(&mut self, block: Block, erases: u32) {
        self.put(Self::block_at(block), &erases.to_le_bytes());
    }

    /// Live pages of a block.
    pub fn live(&self, block: Block) -> u16 {
        u16::from_le_bytes(self.number(Self::block_at(block) + 4))
    }

    pub(super) fn set_live(&mut self, block: Block, live: u16) {
        self.put(Self::block_at(block) + 4, &live.to_le_bytes());
    }

    pub fn state(&self, block: Block) -> BlockState {
        match self.bytes.as_ref()[Self::block_at(block) + 6] {
            0 => BlockState::Used,
            1 => BlockState::Free,
            2 => BlockState::Open,
            _ => BlockState::Bad,
        }
    }

    /// Sets a block's state, and no sum.
    pub fn set_state(&mut self, block: Block, state: BlockState) {
        self.bytes.as_mut()[Self::block_at(block) + 6] = state as u8;
    }

    pub fn has(&self, block: Block, flag: Flag) -> bool {
        self.bytes.as_ref()[Self::block_at(block) + 7] & flag as u8 != 0
    }

    pub fn set(&mut self, block: Block, flag: Flag) {
        self.bytes.as_mut()[Self::block_at(block) + 7] |= flag as u8;
    }

    pub fn clear(&mut self, block: Block, flag: Flag) {
        self.bytes.as_mut()[Self::block_at(block) + 7] &= !(flag as u8);
    }

    /// Sequence of a block's first program since its erase, of its last one once it is full; 0 if there is none.
    pub fn opened(&self, block: Block) -> u64 {
        u64::from_le_bytes(self.number(Self::block_at(block) + 8)) & SEQUENCE_BITS
    }

    pub fn set_opened(&mut self, block: Block, sequence: u64) {
        self.put(Self::block_at(block) + 8, &sequence.to_le_bytes()[..7]);
    }

    /// The stream that a block was opened for; 0 if it was before the mount.
    pub fn stream(&self, block: Block) -> usize {
        usize::from(self.bytes.as_ref()[Self::block_at(block) + 15])
    }

    /// Counts good blocks and their erases. No block is free yet.
    pub fn count_blocks(&mut self) {
        let (mut good_blocks, mut erase_sum) = (0, 0);
        for block in self.layout.part.blocks().filter(|&block| self.state(block) != BlockState::Bad) {
            good_blocks += 1;
            erase_sum += u64::from(self.erases(block));
        }
        (self.counts.good_blocks, self.counts.erase_sum) = (good_blocks, erase_sum);
    }

    /// A free block is open for a stream from program `sequence` on.
    pub fn open(&mut self, block: Block, stream: usize, sequence: u64) {
        self.set_state(block, BlockState::Open);
        self.set_opened(block, sequence);
        self.put(Self::block_at(block) + 15, &[stream as u8]);
        self.counts.free_blocks -= 1;
    }

    /// A block was erased, and is free.
    pub fn free(&mut self, block: Block) {
        self.set_erases(block, self.erases(block) + 1);
        self.set_opened(block, 0);
        self.set_state(block, BlockState::Free);
        self.clear(block, Flag::Locked);
        self.counts.erase_sum += 1;
        self.counts.free_blocks += 1;
    }

    /// A block has gone bad.
    pub fn retire(&mut self, block: Block) {
        if self.state(block) == BlockState::Free {
            self.counts.free_blocks -= 1;
        }
        self.set_state(block, BlockState::Bad);
        self.clear(block, Flag::Locked);
        self.set(block, Flag::Unrecorded);
        self.counts.erase_sum -= u64::from(self.erases(block));
        self.counts.good_blocks -= 1;
    }
}
