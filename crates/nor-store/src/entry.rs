//! Entries: the self-checking records of the log, and of what a unit is assigned to.
//!
//! ```text
//! bits 0..4 kind · 4..28 a · 28..52 b · 52..58 zeros · 58..64 crc                (8 bytes)
//! ```
//!
//! Invariant: no torn entry, and none with a single flipped bit, is an entry; `format.rs` says why.

use crc::{CRC_6_DARC, Crc, Table};

use crate::pointer::{LogicalUnit, POINTER_MASK, SectorPtr, pointer_bits};

/// Bytes of a log entry.
pub const ENTRY_BYTES: u32 = 8;

const CRC_6: Crc<u8, Table<1>> = Crc::<u8, Table<1>>::new(&CRC_6_DARC);

/// A record of 8 bytes that checks itself: an entry of the log, or the assignment of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Assignment: the unit is part of the log, with this sequence number.
    LogUnit {
        /// Position of the unit in the log's chain; higher is newer.
        sequence: u32,
    },
    /// Assignment: the unit holds sectors, or scratch bits.
    DataUnit {
        /// The unit's logical number; 0 for scratch bits.
        logical: LogicalUnit,
        /// Descriptors of the array that may be interspersed with erased ones; after them it is dense.
        descriptors: u16,
    },
    /// Head of a log unit: the oldest log unit that the open transaction needs.
    Chain {
        /// Its sequence number.
        first: u32,
    },
    /// Head of a log unit: one value of the configuration.
    Setting {
        /// Which value.
        key: u8,
        /// The value.
        value: u32,
    },
    /// Head of a log unit, or just before a commit: the root of a tree.
    Root {
        /// Which tree.
        tree: u8,
        /// Levels of the tree; 0 when it is empty.
        height: u8,
        /// Its root node.
        node: Option<SectorPtr>,
    },
    /// Head of a log unit: how many objects were ever created.
    Serial {
        /// The number, modulo 256 × 65,535.
        serial: u32,
    },
    /// Last of a log unit's head: the unit is the log's newest.
    Ready,
    /// The physical unit is about to be erased.
    Erase {
        /// The unit.
        unit: u16,
        /// Its erase count afterwards.
        count: u32,
    },
    /// The valid sectors of one physical unit are about to be copied to another.
    Move {
        /// The victim.
        from: u16,
        /// The free unit.
        to: u16,
    },
    /// These sectors are about to be allocated; an abort frees them.
    New {
        /// One sector.
        a: SectorPtr,
        /// Another.
        b: Option<SectorPtr>,
    },
    /// A word of this node, or a delta of this sector, is about to be filled; a commit closes it and frees what it
    /// replaced.
    Swap {
        /// The node.
        node: SectorPtr,
        /// What the commit frees.
        freed: Option<SectorPtr>,
    },
    /// A commit frees these sectors.
    Release {
        /// One sector.
        a: SectorPtr,
        /// Another.
        b: Option<SectorPtr>,
    },
    /// A commit frees a whole tree of a client's: its nodes, and the chain of sectors that each leaf heads; or one such
    /// chain.
    ReleaseTree {
        /// The root node, or the chain's first sector.
        node: SectorPtr,
        /// Levels of nodes; 0 for a chain.
        height: u8,
    },
    /// A new sector is about to be linked after the last of a chain. Complete in itself: the link is whole, or the
    /// sector is freed and the link erased or torn.
    Link {
        /// The chain's last sector.
        last: SectorPtr,
        /// The new one.
        new: SectorPtr,
    },
    /// Everything since the last commit or abort takes effect.
    Commit {
        /// Objects ever created, modulo 256 × 65,535.
        serial: u32,
    },
    /// Everything since the last commit or abort has been undone.
    Abort {
        /// Objects ever created, modulo 256 × 65,535.
        serial: u32,
    },
}

impl Entry {
    /// The entry's 8 bytes.
    pub fn encode(&self) -> [u8; ENTRY_BYTES as usize] {
        let (kind, a, b) = self.fields();
        debug_assert!(a <= POINTER_MASK && b <= POINTER_MASK);
        let bits = kind | u64::from(a) << 4 | u64::from(b) << 28;
        (bits | entry_codes(bits) << 52).to_le_bytes()
    }

    /// The entry that `bytes` hold, or `None` if they hold none whole.
    pub fn decode(bytes: [u8; ENTRY_BYTES as usize]) -> Option<Entry> {
        let word = u64::from_le_bytes(bytes);
        let bits = word & ((1 << 52) - 1);
        if word >> 52 != entry_codes(bits) {
            return None;
        }
        Self::from_fields(bits & 0xF, (bits >> 4) as u32 & POINTER_MASK, (bits >> 28) as u32 & POINTER_MASK)
    }

    /// What to program, one after the other, to make a place void that is not whole, so that no bits that are cleared
    /// on the way make it look whole.
    pub fn steps_to_void(torn: [u8; ENTRY_BYTES as usize]) -> [[u8; ENTRY_BYTES as usize]; 3] {
        let word = u64::from_le_bytes(torn);
        let bits = word & ((1 << 52) - 1);
        let codes = entry_codes(bits);
        let needed = codes & codes.wrapping_neg();
        [word & !(needed << 52), bits, 0].map(u64::to_le_bytes)
    }

    fn fields(&self) -> (u64, u32, u32) {
        match *self {
            Entry::Ready => (1, 0, 0),
            Entry::Root { tree, height, node } => (2, u32::from(tree) | u32::from(height) << 8, pointer_bits(node)),
            Entry::Setting { key, value } => (3, u32::from(key) | (value & 0xFFFF) << 8, value >> 16),
            Entry::Chain { first } => (4, first, 0),
            Entry::Erase { unit, count } => (5, u32::from(unit), count),
            Entry::Move { from, to } => (6, u32::from(from), u32::from(to)),
            Entry::New { a, b } => (7, a.bits(), pointer_bits(b)),
            Entry::Swap { node, freed } => (8, node.bits(), pointer_bits(freed)),
            Entry::Release { a, b } => (9, a.bits(), pointer_bits(b)),
            Entry::Link { last, new } => (10, last.bits(), new.bits()),
            Entry::Commit { serial } => (11, serial, 0),
            Entry::Abort { serial } => (12, serial, 0),
            Entry::LogUnit { sequence } => (13, sequence, 0),
            Entry::DataUnit { logical, descriptors } => (14, u32::from(logical.0), u32::from(descriptors)),
            Entry::Serial { serial } => (15, serial, 0),
            Entry::ReleaseTree { node, height } => (0, node.bits(), u32::from(height)),
        }
    }

    fn from_fields(kind: u64, a: u32, b: u32) -> Option<Entry> {
        let pointer = SectorPtr::from_bits;
        let optional = |bits: u32| if bits == 0 { Some(None) } else { pointer(bits).map(Some) };
        Some(match kind {
            1 => Entry::Ready,
            2 => Entry::Root { tree: a as u8, height: (a >> 8) as u8, node: optional(b)? },
            3 => Entry::Setting { key: a as u8, value: a >> 8 & 0xFFFF | b << 16 },
            4 => Entry::Chain { first: a },
            5 => Entry::Erase { unit: u16::try_from(a).ok()?, count: b },
            6 => Entry::Move { from: u16::try_from(a).ok()?, to: u16::try_from(b).ok()? },
            7 => Entry::New { a: pointer(a)?, b: optional(b)? },
            8 => Entry::Swap { node: pointer(a)?, freed: optional(b)? },
            9 => Entry::Release { a: pointer(a)?, b: optional(b)? },
            10 => Entry::Link { last: pointer(a)?, new: pointer(b)? },
            11 => Entry::Commit { serial: a },
            12 => Entry::Abort { serial: a },
            13 => Entry::LogUnit { sequence: a },
            14 => Entry::DataUnit {
                logical: (0..=u32::from(SectorPtr::UNIT_MAX)).contains(&a).then_some(LogicalUnit(a as u16))?,
                descriptors: u16::try_from(b).ok()?,
            },
            15 => Entry::Serial { serial: a },
            0 => Entry::ReleaseTree { node: pointer(a)?, height: u8::try_from(b).ok()? },
            _ => return None,
        })
    }
}

/// What is in the place of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryState {
    Erased,
    Torn,
    /// All zeros: nothing, and nothing was lost.
    Void,
    Whole(Entry),
}

impl EntryState {
    pub fn of(bytes: [u8; ENTRY_BYTES as usize]) -> Self {
        match Entry::decode(bytes) {
            Some(entry) => EntryState::Whole(entry),
            None if bytes == [0xFF; ENTRY_BYTES as usize] => EntryState::Erased,
            None if bytes == [0; ENTRY_BYTES as usize] => EntryState::Void,
            None => EntryState::Torn,
        }
    }
}

/// Number of zeros (6 bits) and CRC (6 bits) over the 52 bits of an entry.
#[inline(never)]
fn entry_codes(bits: u64) -> u64 {
    let zeros = u64::from(52 - bits.count_ones());
    zeros | u64::from(CRC_6.checksum(&bits.to_le_bytes()[..7])) << 6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::ERASE_COUNT_MAX;

    fn pointer(bits: u32) -> SectorPtr {
        SectorPtr::from_bits(bits).unwrap()
    }

    fn entries() -> [Entry; 16] {
        let (a, b) = (pointer(0x001_000), pointer(0xFFE_FFF));
        [
            Entry::Ready,
            Entry::Root { tree: 1, height: 4, node: Some(a) },
            Entry::Setting { key: 7, value: 0xDEAD_BEEF },
            Entry::Chain { first: 3 },
            Entry::Erase { unit: 55, count: ERASE_COUNT_MAX },
            Entry::Move { from: 1, to: 2 },
            Entry::New { a, b: None },
            Entry::Swap { node: b, freed: Some(a) },
            Entry::Release { a: b, b: Some(b) },
            Entry::Link { last: a, new: b },
            Entry::Commit { serial: 0 },
            Entry::Abort { serial: 0xFF_FFFF },
            Entry::ReleaseTree { node: a, height: 3 },
            Entry::LogUnit { sequence: 1 },
            Entry::DataUnit { logical: LogicalUnit(1), descriptors: 70 },
            Entry::Serial { serial: 99 },
        ]
    }

    #[test]
    fn entries_round_trip() {
        for entry in entries() {
            assert_eq!(Entry::decode(entry.encode()), Some(entry));
        }
    }

    #[test]
    fn no_torn_entry_passes() {
        let mut state = 1u64;
        for entry in entries() {
            let whole = u64::from_le_bytes(entry.encode());
            let single = (0..64).map(|bit| whole | 1 << bit);
            let random = core::iter::repeat_with(|| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                whole | (state ^ state >> 29)
            });
            for torn in single.chain(random.take(10_000)).filter(|&torn| torn != whole) {
                assert_eq!(Entry::decode(torn.to_le_bytes()), None, "{entry:?} torn to {torn:#x}");
            }
        }
    }

    #[test]
    fn no_place_looks_whole_while_it_is_made_void() {
        assert_ne!(entry_codes((1 << 52) - 1), 0, "some bit of the codes is needed always");
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state ^ state >> 29
        };
        for entry in entries() {
            for _ in 0..2_000 {
                let torn = u64::from_le_bytes(entry.encode()) | random();
                if Entry::decode(torn.to_le_bytes()).is_some() {
                    continue;
                }
                let mut before = torn;
                for step in Entry::steps_to_void(torn.to_le_bytes()).map(u64::from_le_bytes) {
                    assert_eq!(step & !before, 0, "bits are cleared only");
                    for _ in 0..50 {
                        let cut = step | before & random();
                        assert_eq!(Entry::decode(cut.to_le_bytes()), None, "{torn:#x} on the way to {step:#x}");
                    }
                    before = step;
                }
                assert_eq!(before, 0);
            }
        }
    }

    #[test]
    fn no_flipped_bit_of_an_entry_passes() {
        for entry in entries() {
            for bit in 0..64 {
                let flipped = u64::from_le_bytes(entry.encode()) ^ 1 << bit;
                assert_eq!(Entry::decode(flipped.to_le_bytes()), None);
            }
        }
    }
}
