//! Two rooms for programs on one part, and the blocks of the switch that says which of them runs.
//!
//! ```text
//! blocks │ switch, 6 │ room A: header │ cache pages …     │ room B: header │ cache pages …     │
//!              │              ▲                                  ▲
//!              └── "A runs" ──┘                                  └── the next update goes here
//! ```
//!
//! Invariant of rooms that were [checked](Rooms::check): they and the switch lie on the part and have no block in
//! common; copies of the switch fit its blocks.

use norn_flash::copies::{COPY_PAGES, NAND_PLACES_MIN};
use norn_flash::{Block, NandPart};

use crate::address::RoomName;
use crate::error::ProgramError;
use crate::image::{HEADER_BYTES, Room};

/// Blocks that a switch can have: more are never bad.
pub(crate) const SWITCH_BLOCKS_MAX: usize = 8;
/// Blocks that a switch has where a range is split: half of them may be bad.
const SWITCH_BLOCKS: u16 = 6;

/// Where two rooms and their switch are. A boot loader has them as constants, or splits a range by
/// [`split`](Self::split).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rooms {
    /// Blocks of the switch: 3 to 8, of which three have to be good.
    pub switch: Room,
    /// Room A. A program that was written to it without a switch is the one that runs.
    pub a: Room,
    /// Room B.
    pub b: Room,
}

impl Rooms {
    /// A switch of six blocks, and two rooms of one size that share the rest of `range`.
    pub const fn split(range: Room) -> Rooms {
        let blocks = range.blocks.saturating_sub(SWITCH_BLOCKS) / 2;
        let a = Room { start: Block(range.start.0.saturating_add(SWITCH_BLOCKS)), blocks };
        let b = Room { start: Block(a.start.0.saturating_add(blocks)), blocks };
        Rooms { switch: Room { start: range.start, blocks: SWITCH_BLOCKS }, a, b }
    }

    /// The room of a name.
    pub const fn room(&self, name: RoomName) -> Room {
        match name {
            RoomName::A => self.a,
            RoomName::B => self.b,
        }
    }

    /// Refuses rooms that cannot be on a part; every call that uses them does so.
    ///
    /// # Errors
    /// The reason.
    pub fn check<E>(&self, part: &NandPart) -> Result<(), ProgramError<E>> {
        let end = |room: Room| u32::from(room.start.0) + u32::from(room.blocks);
        let all = [self.switch, self.a, self.b];
        let overlap =
            |one: Room, other: Room| u32::from(one.start.0) < end(other) && u32::from(other.start.0) < end(one);
        let facts = [
            ("rooms leave the part", all.iter().all(|&room| end(room) <= u32::from(part.block_count))),
            ("a room has one block for a header and one for a program at least", self.a.blocks.min(self.b.blocks) > 1),
            ("a switch has 3 to 8 blocks", (NAND_PLACES_MIN..=SWITCH_BLOCKS_MAX as u16).contains(&self.switch.blocks)),
            ("a switch takes blocks of three pages at least", part.pages_per_block >= COPY_PAGES),
            ("a switch takes pages of 64 bytes at least", usize::from(part.page_bytes) >= HEADER_BYTES),
            ("rooms overlap", !overlap(self.a, self.b)),
            ("a room overlaps the switch", ![self.a, self.b].iter().any(|&room| overlap(room, self.switch))),
        ];
        match facts.into_iter().find(|&(_, holds)| !holds) {
            Some((what, _)) => Err(ProgramError::Rooms(what)),
            None => Ok(()),
        }
    }
}
