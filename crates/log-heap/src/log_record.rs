//! What the log says, an entry at a time: the content of a place, of kind 3 bits and argument 24.

use norn_flash::EraseUnit;

use crate::format::{ENTRY_MASK, Entry, Granule, Owner};

/// Which tails may end with a delta that is not complete, beside that of the last [`Record::Append`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tails {
    /// None.
    Named,
    /// Any: appends are not recorded.
    Any,
    /// Those of objects in this leaf and those after it; in this one, what settles them may not be complete either.
    From(u16),
}

const TAILS_NAMED: u16 = 0xFFFF;
const TAILS_ANY: u16 = 0xFFFE;

impl Tails {
    const fn to_bits(self) -> u16 {
        match self {
            Tails::Named => TAILS_NAMED,
            Tails::Any => TAILS_ANY,
            Tails::From(leaf) => leaf,
        }
    }

    const fn from_bits(bits: u16) -> Tails {
        match bits {
            TAILS_NAMED => Tails::Named,
            TAILS_ANY => Tails::Any,
            leaf => Tails::From(leaf),
        }
    }
}

/// An entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// The sector of this owner is about to be written again, and the nodes above it changed.
    Rewrite(Owner),
    /// The tail of the object in this slot is about to be appended to.
    Append(u16),
    /// The map's root.
    Root(Entry),
    /// The unit of the next log.
    Next(EraseUnit),
    /// Where the sector of an owner in doubt was found, and before it the nodes above it.
    Found(Entry),
    /// The head of the log is complete.
    End,
    /// Everything before is complete, and nothing has been begun.
    Quiet,
    /// Everything before is complete. Which tails are in doubt from here on.
    Tails(Tails),
    /// As [`Append`](Record::Append), the first in a transaction: so many places of the tail were used before.
    Note(u16, u8),
    /// As [`Rewrite`](Record::Rewrite) of an object, the first in a transaction: the last [`Before`](Record::Before)
    /// says where it was, and so many places of its tail were used before.
    Replace(u16, u8),
    /// Where an object was before a transaction.
    Before(Entry),
    /// Everything before is complete, and the transaction has ended.
    Done,
    /// Notes of the transaction are in another unit of the log, too, before this granule.
    From(Granule),
}

const END: u32 = 0;
const QUIET: u32 = 1;
const TAILS: u32 = 2;
const DONE: u32 = 3;
const NOTE: u32 = 1 << 22;
const REPLACE: u32 = 1 << 23;

impl Record {
    pub(crate) fn to_content(self) -> u32 {
        let (kind, argument) = match self {
            Record::Rewrite(owner) => (0, u32::from(owner.level) << 16 | u32::from(owner.index)),
            Record::Append(slot) => (1, u32::from(slot)),
            Record::Root(entry) => (2, entry.to_bits()),
            Record::Next(unit) => (3, u32::from(unit.0)),
            Record::Found(entry) => (4, entry.to_bits()),
            Record::End => (5, END << 16),
            Record::Quiet => (5, QUIET << 16),
            Record::Tails(tails) => (5, TAILS << 16 | u32::from(tails.to_bits())),
            Record::Done => (5, DONE << 16),
            Record::Note(slot, used) => (1, NOTE | u32::from(used) << 16 | u32::from(slot)),
            Record::Replace(slot, used) => (1, REPLACE | u32::from(used) << 16 | u32::from(slot)),
            Record::Before(entry) => (6, entry.to_bits()),
            Record::From(granule) => (7, granule.0),
        };
        kind << 24 | argument
    }

    pub(crate) fn from_content(content: u32) -> Option<Record> {
        let argument = content & 0xFF_FFFF;
        Some(match content >> 24 {
            0 => Record::Rewrite(Owner { level: (argument >> 16) as u8 & 7, index: argument as u16 }),
            1 => match (argument & (NOTE | REPLACE), (argument >> 16) as u8 & 0x3F) {
                (0, _) => Record::Append(argument as u16),
                (NOTE, used) => Record::Note(argument as u16, used),
                (_, used) => Record::Replace(argument as u16, used),
            },
            2 => Record::Root(Entry::from_bits(argument)),
            3 => Record::Next(EraseUnit(argument as u16)),
            4 => Record::Found(Entry::from_bits(argument)),
            5 => match argument >> 16 {
                END => Record::End,
                QUIET => Record::Quiet,
                TAILS => Record::Tails(Tails::from_bits(argument as u16)),
                DONE => Record::Done,
                _ => return None,
            },
            6 => Record::Before(Entry::from_bits(argument)),
            _ => Record::From(Granule(argument & ENTRY_MASK)),
        })
    }
}
