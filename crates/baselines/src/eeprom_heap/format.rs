//! Every bit that the EEPROM heap writes: see `docs/format/eeprom-heap.md`.
//!
//! ```text
//! 0   magic 4 · version 4 · part's size 4 · slots of the commit log 4
//! 16  allocator: armed 1 · 0 0 0 · creations 4 · 3 × (address 4 · old word 4) · first free block 4
//! 64  commit log: slots of 16 bytes, used in turn
//!     stamp 1 · 0 0 0 · address 20 bits, kind 4, length 8 · old bytes, each at its address modulo 8
//! …   heap: blocks of whole granules of 8 bytes, without gaps, to the end of the part
//!     granules 2 · generation 2, 0 where free · free: next free block 4; allocated: shape 4 · contents
//! ```
//!
//! Values are little-endian. What decides something by itself is one byte, whose codes are chosen so that no row of
//! torn writes makes a code that would decide otherwise ([`Stamp`]).

use norn_flash::Address;

/// "NEEP".
pub(crate) const MAGIC: u32 = 0x5045_454E;
pub(crate) const VERSION: u32 = 2;

pub(crate) const MAGIC_AT: Address = Address(0);
pub(crate) const VERSION_AT: Address = Address(4);
pub(crate) const SIZE_AT: Address = Address(8);
pub(crate) const SLOTS_AT: Address = Address(12);
pub(crate) const ARMED_AT: Address = Address(16);
pub(crate) const CREATIONS_AT: Address = Address(20);
pub(crate) const ENTRIES_AT: Address = Address(24);
pub(crate) const FREE_LIST_AT: Address = Address(48);
pub(crate) const LOG_AT: Address = Address(64);

/// The allocator's log holds the old words that it names.
pub(crate) const ARMED: u8 = 0x0F;
/// It does not. Any other value than [`ARMED`] says the same.
pub(crate) const IDLE: u8 = 0xF0;
/// Most words that the allocator changes at once.
pub(crate) const ENTRIES: usize = 3;
pub(crate) const ENTRY_BYTES: u32 = 8;

pub(crate) const SLOT_BYTES: u32 = 16;
pub(crate) const SLOT_HEAD_OFFSET: u32 = 4;
pub(crate) const SLOT_DATA_OFFSET: u32 = 8;
/// Old bytes of a slot: those of one aligned window of this size.
pub(crate) const WINDOW_BYTES: u32 = 8;

pub(crate) const GRANULE_BYTES: u32 = 8;
/// Bytes of a block before its contents.
pub(crate) const BLOCK_HEAD_BYTES: u32 = 8;
/// Where a free block's link or an allocated block's shape is.
pub(crate) const BLOCK_SECOND_OFFSET: u32 = 4;

/// Largest part: blocks are numbered by granule, in the 16 bits of a reference.
pub(crate) const PART_BYTES_MAX: u32 = GRANULE_BYTES << 16;
pub(crate) const LOG_SLOTS_MIN: u32 = 4;

const _: () = assert!(ENTRIES_AT.0 + ENTRIES as u32 * ENTRY_BYTES == FREE_LIST_AT.0);
const _: () = assert!(FREE_LIST_AT.0 + 4 <= LOG_AT.0 && LOG_AT.0.is_multiple_of(SLOT_BYTES));
const _: () = assert!(PART_BYTES_MAX <= 1 << 20, "an address takes 20 bits of a slot");

/// Which of two successive rounds through the log wrote a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    Even,
    Odd,
}

impl Round {
    pub fn other(self) -> Round {
        match self {
            Round::Even => Round::Odd,
            Round::Odd => Round::Even,
        }
    }
}

/// Whether a record, and with it all before it, is obsolete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Valid,
    Obsolete,
}

/// A slot's first byte.
///
/// A write of a stamp that is cut may leave any bits of the old byte, of the new one, and ones that erasing left; the
/// next mount writes to that byte again, and may be cut, too. Of the old byte, the writes can clear a bit only if the
/// new byte lacks it. So a code *d* never appears on the way from *a* by writes of *b* and *c* if a bit is set in *a*,
/// *b* and *c*, and clear in *d*. By such bits,
///
/// 1. a slot that is made valid is never read as obsolete;
/// 2. a slot that was valid and is made obsolete is never read as one of the round before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub round: Round,
    pub state: State,
}

/// Bit 0 is set in both valid stamps, bits 1 and 2 in one round's valid and the other's obsolete one, bits 3 and 4 in
/// both stamps of one round.
const STAMPS: [(u8, Stamp); 4] = [
    (0b1_0101, Stamp { round: Round::Even, state: State::Valid }),
    (0b1_0010, Stamp { round: Round::Even, state: State::Obsolete }),
    (0b0_1011, Stamp { round: Round::Odd, state: State::Valid }),
    (0b0_1100, Stamp { round: Round::Odd, state: State::Obsolete }),
];

impl Stamp {
    pub fn encode(self) -> u8 {
        STAMPS[usize::from(self.round == Round::Odd) * 2 + usize::from(self.state == State::Obsolete)].0
    }

    /// `None` for a torn one.
    pub fn decode(byte: u8) -> Option<Stamp> {
        STAMPS.into_iter().find(|(code, _)| *code == byte).map(|(_, stamp)| stamp)
    }
}

/// What a record of the commit log says; TinyStore's record types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordKind {
    /// The object or array at the address was created.
    NewObject = 1,
    /// The header block at the address was created.
    NewHeader = 2,
    /// The block at the address is to be freed at the commit.
    DeleteObject = 3,
    /// The transaction is committed; what it deletes may not be freed yet.
    CommitMarker = 4,
    /// What the bytes at the address were.
    OldValue = 5,
    /// What the header pointer at the address was.
    OldHeaderPointer = 6,
}

const RECORD_KINDS: [RecordKind; 6] = [
    RecordKind::NewObject,
    RecordKind::NewHeader,
    RecordKind::DeleteObject,
    RecordKind::CommitMarker,
    RecordKind::OldValue,
    RecordKind::OldHeaderPointer,
];

/// A record's second word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub kind: RecordKind,
    pub address: Address,
    /// Old bytes that the record holds.
    pub len: u8,
}

impl Record {
    /// A record without old bytes.
    pub const fn of(kind: RecordKind, address: Address) -> Record {
        Record { kind, address, len: 0 }
    }

    pub fn encode(self) -> u32 {
        self.address.0 | (self.kind as u32) << 20 | u32::from(self.len) << 24
    }

    /// `None` for what no record says.
    pub fn decode(word: u32) -> Option<Record> {
        let kind = RECORD_KINDS.into_iter().find(|kind| *kind as u32 == word >> 20 & 0xF)?;
        let record = Record { kind, address: Address(word & 0xF_FFFF), len: (word >> 24) as u8 };
        let window_offset = record.address.0 % WINDOW_BYTES;
        let holds_bytes = matches!(kind, RecordKind::OldValue | RecordKind::OldHeaderPointer);
        let fits = u32::from(record.len) + window_offset <= WINDOW_BYTES && holds_bytes == (record.len > 0);
        fits.then_some(record)
    }
}

/// A block's first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHead {
    pub granules: u16,
    /// 0 for a free block.
    pub generation: u16,
}

impl BlockHead {
    pub fn encode(self) -> u32 {
        u32::from(self.granules) | u32::from(self.generation) << 16
    }

    pub fn decode(word: u32) -> BlockHead {
        BlockHead { granules: word as u16, generation: (word >> 16) as u16 }
    }

    pub fn bytes(self) -> u32 {
        u32::from(self.granules) * GRANULE_BYTES
    }
}

/// What an allocated block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Object = 0,
    Array = 1,
    /// The header of an object or array.
    Header = 2,
    /// A named root: a reference, and its name.
    Root = 3,
}

/// An allocated block's second word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub kind: BlockKind,
    /// Granule of the header's block, 0 for none.
    pub header_granule: u16,
    /// Width of all fields or elements; 0 where each has its own, listed before the data, or there are none.
    pub width: u8,
    /// Bytes at the block's end that are not part of the contents, fewer than a granule.
    pub slack: u8,
}

/// The header pointer is the first half of the shape.
pub(crate) const HEADER_POINTER_OFFSET: u32 = BLOCK_SECOND_OFFSET;

impl Shape {
    pub fn encode(self) -> u32 {
        u32::from(self.header_granule)
            | u32::from(self.width) << 16
            | u32::from(self.slack) << 24
            | (self.kind as u32) << 27
    }

    /// `None` for what no shape says.
    pub fn decode(word: u32) -> Option<Shape> {
        let kind = match word >> 27 {
            0 => BlockKind::Object,
            1 => BlockKind::Array,
            2 => BlockKind::Header,
            3 => BlockKind::Root,
            _ => return None,
        };
        Some(Shape { kind, header_granule: word as u16, width: (word >> 16) as u8, slack: (word >> 24 & 7) as u8 })
    }

    pub fn header(self) -> Option<Address> {
        (self.header_granule > 0).then(|| Address(u32::from(self.header_granule) * GRANULE_BYTES))
    }
}

/// The granule at whose start a block is.
pub(crate) fn granule_of(block: Address) -> u16 {
    (block.0 / GRANULE_BYTES) as u16
}

/// Bytes before the data of an object whose fields have widths of their own: their number, their widths, padding.
pub(crate) fn widths_bytes(count: u32) -> u32 {
    (1 + count).next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a write of `new` over `old` that is cut may leave `torn`: erasing sets bits, and programming clears
    /// those that are clear in `new`, in a byte that is erased or not.
    fn leaves(old: u8, new: u8, torn: u8) -> bool {
        torn & old == old || torn & new == new || (torn ^ old) & !(new ^ old) == 0
    }

    /// What can be read after any number of writes of `written` to a byte that was `first`, each cut anywhere.
    fn readable(first: u8, written: &[u8]) -> [bool; 256] {
        let mut found = [false; 256];
        found[usize::from(first)] = true;
        loop {
            let before = found;
            for old in (0..=255).filter(|&byte: &u8| before[usize::from(byte)]) {
                for torn in 0..=255 {
                    found[usize::from(torn)] |= written.iter().any(|&new| leaves(old, new, torn));
                }
            }
            if found == before {
                return found;
            }
        }
    }

    #[test]
    fn no_row_of_torn_writes_decides_otherwise() {
        let stamp = |round, state| Stamp { round, state }.encode();
        for round in [Round::Even, Round::Odd] {
            let (valid, obsolete) = (stamp(round, State::Valid), stamp(round, State::Obsolete));
            let before = [State::Valid, State::Obsolete].map(|state| stamp(round.other(), state));
            for old in before {
                let found = readable(old, &[valid]);
                assert!(found[usize::from(valid)] && !found[usize::from(obsolete)], "{old:#x} made {valid:#x}");
            }
            let found = readable(valid, &[valid, obsolete]);
            assert!(found[usize::from(obsolete)] && before.iter().all(|&old| !found[usize::from(old)]), "{valid:#x}");
        }
    }

    /// Codes that share no bit, as 0xC0 and 0x03, would leave 0x0C, where erasing set bits and programming cleared
    /// others.
    #[test]
    fn no_torn_write_makes_a_third_stamp() {
        let stamp = |round, state| Stamp { round, state }.encode();
        // Any bits of the old byte, of the new one, and ones that erasing left.
        let may_leave = |old: u8, new: u8, torn: u8| old & new & !torn == 0;
        let mut torn_bytes = 0;
        for round in [Round::Even, Round::Odd] {
            let (valid, obsolete) = (stamp(round, State::Valid), stamp(round, State::Obsolete));
            let before = [State::Valid, State::Obsolete].map(|state| (stamp(round.other(), state), valid));
            for (old, new) in before.into_iter().chain([(valid, obsolete)]) {
                for torn in (0..=255).filter(|&torn| may_leave(old, new, torn)) {
                    let is_third = Stamp::decode(torn).is_some() && torn != old && torn != new;
                    assert!(!is_third, "{old:#x} made {new:#x} leaves {torn:#x}");
                    torn_bytes += 1;
                }
            }
        }
        assert_eq!(torn_bytes, 6 * 128, "each write keeps one bit, and may leave the other seven as they come");
    }
}
