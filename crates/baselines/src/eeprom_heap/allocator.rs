//! The allocator: first fit from a free list, with a log of its own (section 6.1).
//!
//! Free blocks are in a list in the order of their addresses, each with a link to the next in itself. To allocate:
//! 1. find the first free block that is large enough, without changing anything;
//! 2. where it is larger, write the head and link of the free block that will be left after its front, into free
//!    space;
//! 3. change two words at once: the link to the block, and the block's head.
//!
//! To free a block: find the free blocks before and after it in the list; write its link; change at most three words
//! at once, so that blocks without a gap between them become one. The head of the freed block says that it is free even
//! where it has become the inside of a larger one.
//!
//! Words are changed at once by an undo log: their addresses and old values are written, the log is armed, the words
//! are changed, the log is disarmed. A mount that finds it armed puts the old words back.
//!
//! Invariants: blocks fill the heap without gaps; the list has exactly the free ones, none of them side by side; a
//! block is taken from the front of a free one, so that its address is a block's before and after.

use core::ops::Range;

use norn_flash::{Address, Eeprom};
use norn_heap::StoreError;

use super::format::{
    ARMED, ARMED_AT, BLOCK_SECOND_OFFSET, BlockHead, CREATIONS_AT, ENTRIES, ENTRIES_AT, ENTRY_BYTES, FREE_LIST_AT,
    GRANULE_BYTES, IDLE,
};
use super::medium::Medium;

/// A free block that was found, and how the list leads to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub block: Address,
    granules: u16,
    /// Where the link to it is.
    link: Address,
    next: Option<Address>,
}

/// A word that is to change.
type Change = (Address, u32);

/// Where the heap is.
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    pub heap: Range<u32>,
}

impl Allocator {
    /// Makes the heap one free block. Not atomic.
    pub fn format<D: Eeprom>(&self, medium: &mut Medium<D>) -> Result<(), StoreError<D::Error>> {
        let (first, granules) = (Address(self.heap.start), (self.heap.len() as u32 / GRANULE_BYTES) as u16);
        medium.write(ARMED_AT, &[IDLE])?;
        medium.update_word(CREATIONS_AT, 0)?;
        medium.update_word(first, BlockHead { granules, generation: 0 }.encode())?;
        medium.update_word(first.offset(BLOCK_SECOND_OFFSET), 0)?;
        medium.update_word(FREE_LIST_AT, first.0)
    }

    /// Finds the first free block with at least `granules` granules (step 1). Cost: 2 reads for each free block up to
    /// it.
    pub fn find<D: Eeprom>(&self, medium: &mut Medium<D>, granules: u32) -> Result<Found, StoreError<D::Error>> {
        let mut link = FREE_LIST_AT;
        while let Some(block) = self.follow(medium, link)? {
            let head = self.free_head(medium, block)?;
            if u32::from(head.granules) >= granules {
                let next = self.follow(medium, block.offset(BLOCK_SECOND_OFFSET))?;
                return Ok(Found { block, granules: head.granules, link, next });
            }
            link = block.offset(BLOCK_SECOND_OFFSET);
        }
        Err(StoreError::Full)
    }

    /// Counts a creation, whose number is returned. Where the power fails here, the count becomes any other.
    pub fn count<D: Eeprom>(&self, medium: &mut Medium<D>) -> Result<u32, StoreError<D::Error>> {
        let number = medium.read_word(CREATIONS_AT)?.wrapping_add(1);
        medium.write_word(CREATIONS_AT, number)?;
        Ok(number)
    }

    /// Allocates the front of a block that was found (steps 2 and 3). Cost: 8 or 9 words written, 2 more where
    /// something of it is left.
    pub fn allocate<D: Eeprom>(
        &self,
        medium: &mut Medium<D>,
        found: &Found,
        head: BlockHead,
    ) -> Result<(), StoreError<D::Error>> {
        let next = found.next.map_or(0, |next| next.0);
        let left = found.granules - head.granules;
        let target = match left {
            0 => next,
            _ => {
                let rest = found.block.offset(head.bytes());
                medium.update_word(rest, BlockHead { granules: left, generation: 0 }.encode())?;
                medium.update_word(rest.offset(BLOCK_SECOND_OFFSET), next)?;
                rest.0
            }
        };
        self.change(medium, &[(found.link, target), (found.block, head.encode())])
    }

    /// Frees an allocated block; one that is free already is left alone. Cost: 8 to 11 words written; 2 reads for each
    /// free block before it.
    pub fn free<D: Eeprom>(&self, medium: &mut Medium<D>, block: Address) -> Result<(), StoreError<D::Error>> {
        let mut granules = match self.head(medium, block)? {
            BlockHead { generation: 0, .. } => return Ok(()),
            head => head.granules,
        };
        let (mut link, mut before) = (FREE_LIST_AT, None);
        let mut next = self.follow(medium, link)?;
        while let Some(free) = next.filter(|free| *free < block) {
            (link, before) = (free.offset(BLOCK_SECOND_OFFSET), Some(free));
            next = self.follow(medium, link)?;
        }
        let end = block.offset(u32::from(granules) * GRANULE_BYTES);
        if let Some(behind) = next.filter(|behind| *behind == end) {
            granules += self.free_head(medium, behind)?.granules;
            next = self.follow(medium, behind.offset(BLOCK_SECOND_OFFSET))?;
        }
        let target = next.map_or(0, |next| next.0);
        if let Some(before) = before {
            let head = self.free_head(medium, before)?;
            if before.offset(head.bytes()) == block {
                let joined = BlockHead { granules: head.granules + granules, generation: 0 };
                let inside = BlockHead { granules, generation: 0 };
                return self.change(medium, &[(before, joined.encode()), (link, target), (block, inside.encode())]);
            }
        }
        medium.update_word(block.offset(BLOCK_SECOND_OFFSET), target)?;
        self.change(medium, &[(link, block.0), (block, BlockHead { granules, generation: 0 }.encode())])
    }

    /// Changes words at once. Those that stay as they are cost nothing.
    fn change<D: Eeprom>(&self, medium: &mut Medium<D>, changes: &[Change]) -> Result<(), StoreError<D::Error>> {
        debug_assert!(changes.len() <= ENTRIES);
        let mut used = 0;
        for &(address, word) in changes {
            let old = medium.read_word(address)?;
            if old != word {
                let entry = entry_at(used);
                medium.update_word(entry, address.0)?;
                medium.update_word(entry.offset(4), old)?;
                used += 1;
            }
        }
        if used < ENTRIES {
            medium.update_word(entry_at(used), 0)?;
        }
        medium.write(ARMED_AT, &[ARMED])?;
        for &(address, word) in changes {
            medium.update_word(address, word)?;
        }
        medium.write(ARMED_AT, &[IDLE])
    }

    /// Puts the old words back where a change was interrupted. Cost: 1 read, or at most 7, and 4 words written.
    pub fn recover<D: Eeprom>(&self, medium: &mut Medium<D>) -> Result<(), StoreError<D::Error>> {
        if medium.read_byte(ARMED_AT)? != ARMED {
            return Ok(());
        }
        for entry in (0..ENTRIES).map(entry_at) {
            let address = Address(medium.read_word(entry)?);
            match address {
                Address(0) => break,
                FREE_LIST_AT => {}
                _ if self.heap.contains(&address.0) && address.0.is_multiple_of(4) => {}
                _ => return medium.corrupted(entry, "an entry of the allocator's log that names no word of the heap"),
            }
            let old = medium.read_word(entry.offset(4))?;
            medium.update_word(address, old)?;
        }
        medium.write(ARMED_AT, &[IDLE])
    }

    /// The head of the block at `block`, which must lie within the heap. Cost: 1 read.
    pub fn head<D: Eeprom>(&self, medium: &mut Medium<D>, block: Address) -> Result<BlockHead, StoreError<D::Error>> {
        if !self.heap.contains(&block.0) || !block.0.is_multiple_of(GRANULE_BYTES) {
            return medium.corrupted(block, "a pointer to no block");
        }
        let word = medium.read_word(block)?;
        self.checked(medium, block, BlockHead::decode(word))
    }

    /// The head that was read at `block`, if a block may have it. Cost: none.
    pub fn checked<D: Eeprom>(
        &self,
        medium: &mut Medium<D>,
        block: Address,
        head: BlockHead,
    ) -> Result<BlockHead, StoreError<D::Error>> {
        if head.granules == 0 || head.bytes() > self.heap.end - block.0 {
            return medium.corrupted(block, "a block that leaves the heap");
        }
        Ok(head)
    }

    fn free_head<D: Eeprom>(&self, medium: &mut Medium<D>, block: Address) -> Result<BlockHead, StoreError<D::Error>> {
        match self.head(medium, block)? {
            head if head.generation == 0 => Ok(head),
            _ => medium.corrupted(block, "an allocated block in the free list"),
        }
    }

    /// The free block to which the link at `link` leads; links lead upwards. Cost: 1 read.
    pub fn follow<D: Eeprom>(
        &self,
        medium: &mut Medium<D>,
        link: Address,
    ) -> Result<Option<Address>, StoreError<D::Error>> {
        match medium.read_word(link)? {
            0 => Ok(None),
            next if next > link.0 && self.heap.contains(&next) && next.is_multiple_of(GRANULE_BYTES) => {
                Ok(Some(Address(next)))
            }
            _ => medium.corrupted(link, "a link of the free list that does not lead upwards to a block"),
        }
    }
}

fn entry_at(number: usize) -> Address {
    ENTRIES_AT.offset(number as u32 * ENTRY_BYTES)
}
