//! Layouts of code: in which order its basic blocks are, and where that puts each byte.
//!
//! A block that control can fall out of, and whose successor does not follow it, gets a jump after it. Without a
//! disassembler it is not known which blocks those are: each block has room for a jump unless its successor follows.
//! Sizes of other instructions stay as they are. A trace replayed through a layout executes those jumps, too.
//!
//! Invariant of a [`Layout`]: blocks do not overlap.

use std::sync::Arc;

use super::profile::{BlockNumber, Profile};
use super::trace::Run;

/// Bytes of a jump to anywhere, on x86.
pub const JUMP_BYTES: u16 = 5;

/// Where blocks are.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The block of each byte of the original code.
    block_of: Arc<[BlockNumber]>,
    /// For each block, where it was and where it is.
    places: Vec<(u32, u32)>,
    /// Bytes of the code, jumps included.
    pub code_bytes: u32,
}

/// A place in an order of blocks: a block, or room up to the next multiple of a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// A block.
    Block(BlockNumber),
    /// Nothing, so that the next block starts on such a border.
    Align(u32),
}

impl Layout {
    /// Blocks one after the other.
    ///
    /// # Panics
    /// If a block is not among them exactly once.
    pub fn new(profile: &Profile, order: &[Placed]) -> Layout {
        Layout::with(profile, &profile.block_of_byte().into(), order)
    }

    /// As [`new`](Self::new), for a caller that keeps the block of each byte.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn with(profile: &Profile, block_of: &Arc<[BlockNumber]>, order: &[Placed]) -> Layout {
        let mut places: Vec<(u32, u32)> = profile.blocks.iter().map(|block| (block.start, u32::MAX)).collect();
        let (mut at, mut previous) = (0, None);
        for placed in order {
            match *placed {
                Placed::Align(bytes) => at = (at + gap(previous, None)).next_multiple_of(bytes),
                Placed::Block(block) => {
                    at += gap(previous, Some(block));
                    assert_eq!(places[block as usize].1, u32::MAX, "block {block} is placed twice");
                    places[block as usize].1 = at;
                    at += profile.blocks[block as usize].bytes();
                }
            }
            previous = if let Placed::Block(block) = placed { Some(*block) } else { None };
        }
        assert!(places.iter().all(|place| place.1 != u32::MAX), "every block is placed");
        Layout { block_of: block_of.clone(), places, code_bytes: at + gap(previous, None) }
    }

    /// Runs as they are in this layout: one that falls through blocks that are apart becomes several, with the jumps
    /// between.
    pub fn translate<'a>(&'a self, runs: &'a [Run]) -> impl Iterator<Item = Run> + 'a {
        runs.iter().flat_map(|run| self.pieces(run))
    }

    fn pieces(&self, run: &Run) -> impl Iterator<Item = Run> + use<'_> {
        let (mut at, end) = (run.address, run.end());
        let instructions = run.instructions;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let start = at;
            let mut block = self.block_of[at as usize];
            let place = self.moved(at, block);
            while let Some(&next) = self.block_of.get(self.end_of(block) as usize).filter(|_| self.end_of(block) < end)
            {
                if self.places[next as usize].1 != self.moved(self.end_of(block), block) {
                    at = self.end_of(block);
                    return Some(Run { address: place, bytes: (at - start) as u16 + JUMP_BYTES, instructions: 0 });
                }
                block = next;
            }
            at = end;
            Some(Run { address: place, bytes: (end - start) as u16, instructions })
        })
    }

    /// Where byte `at` of `block` is; also the byte after its last.
    fn moved(&self, at: u32, block: BlockNumber) -> u32 {
        let (original, place) = self.places[block as usize];
        at - original + place
    }

    fn end_of(&self, block: BlockNumber) -> u32 {
        self.places.get(block as usize + 1).map_or(self.block_of.len() as u32, |next| next.0)
    }
}

/// Room for a jump after a block, unless its successor follows.
fn gap(block: Option<BlockNumber>, next: Option<BlockNumber>) -> u32 {
    match block {
        Some(block) if next != Some(block + 1) => u32::from(JUMP_BYTES),
        _ => 0,
    }
}
