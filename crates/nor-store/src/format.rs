//! Every bit that this crate puts on flash: unit headers, log entries, sector descriptors, links and tree words.
//!
//! All offsets and codes of the crate live here; `docs/format/nor-store.md` shows the same with examples. Multi-byte
//! values are little-endian.
//!
//! ```text
//! erase unit     ┌──────────────┬───────────┬──────────────────────────────────────────────┐
//!                │ identity 16  │ assign. 8 │ body: log entries, or descriptors ▶ ◀ sectors │
//!                └──────────────┴───────────┴──────────────────────────────────────────────┘
//! identity       "NORN" · version 1 · log2(unit size) 1 · units 2 · erase count 4 · shortfall 2 · zeros 1 · crc 1
//! log entry      bits 0..4 kind · 4..28 a · 28..52 b · 52..58 zeros · 58..64 crc                (8 bytes)
//! descriptor     bits 0..14 offset · 14..24 size · 24..26 kind · 26..31 zeros · 31 live         (4 bytes)
//! link           bits 0..24 pointer · 24..29 zeros · 29..32 ones                                (4 bytes)
//! tree word      bits 0..24 pointer · 24..28 index · 28..30 ones · 30 open · 31 standing  (4 bytes; 2 × if detecting)
//! ```
//!
//! *Why a count of zeros.* A torn program leaves some of the bits that it was to clear uncleared, and nothing else: all
//! its errors point the same way. The number of zero bits, stored with the bits (a Berger code), catches **every** such
//! error, in whatever order the words of a record were programmed: leaving a data bit uncleared lowers the true count,
//! and leaving a bit of the stored count uncleared raises the stored one, so that the two can only agree when nothing
//! is missing. A CRC alone would catch most of them. The CRC beside it detects damage in both directions.
//!
//! Invariants: the erased state (all ones) and the void state (all zeros) are valid for no code.

use crc::{CRC_8_SMBUS, Crc, Table};

pub use crate::entry::{ENTRY_BYTES, Entry};
pub use crate::pointer::{LogicalUnit, SectorPtr};
use crate::pointer::{POINTER_MASK, pointer_bits};

/// First bytes of every unit.
pub const MAGIC: [u8; 4] = *b"NORN";
/// The on-flash format that this crate writes and the only one it reads.
pub const FORMAT_VERSION: u8 = 1;
/// Bytes of the identity, programmed when the unit's erase is complete.
pub const IDENTITY_BYTES: usize = 16;
/// Where the erase count is in a unit.
pub const ERASE_COUNT_OFFSET: u32 = 8;
/// Where the assignment (one log entry) is in a unit.
pub const ASSIGNMENT_OFFSET: u32 = 16;
/// Bytes of a unit before its body.
pub const HEADER_BYTES: u32 = 24;
/// Bytes of a sector descriptor.
pub const DESCRIPTOR_BYTES: u32 = 4;
/// Bytes of a link.
pub const LINK_BYTES: u32 = 4;
/// Children of a tree node.
pub const NODE_SLOTS: u32 = 16;
/// Spare pointers of a tree node.
pub const NODE_SPARES: u32 = 8;
/// Bytes of a tree word, without its mirror.
pub const TREE_WORD_BYTES: u32 = 4;
/// Largest erase count that a unit header and the log hold.
pub const ERASE_COUNT_MAX: u32 = (1 << 24) - 1;
/// Largest size of a sector in granules.
pub const SECTOR_GRANULES_MAX: u32 = (1 << 10) - 1;
/// What an erased word reads.
pub const ERASED_WORD: u32 = u32::MAX;

const CRC_8: Crc<u8, Table<1>> = Crc::<u8, Table<1>>::new(&CRC_8_SMBUS);

const _: () = assert!(ASSIGNMENT_OFFSET as usize == IDENTITY_BYTES);
const _: () = assert!(HEADER_BYTES == ASSIGNMENT_OFFSET + ENTRY_BYTES);
const _: () = assert!(HEADER_BYTES.is_multiple_of(8), "entries and sectors are aligned");
const _: () = assert!(NODE_SLOTS == 16, "a tree word holds an index of four bits");

/// What the first 16 bytes of a unit say: it was erased completely, how often, and on which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Format of everything in the unit.
    pub version: u8,
    /// Size of an erase unit in bytes, a multiple of 32.
    pub unit_size_bytes: u64,
    /// Erase units of the part.
    pub unit_count: u16,
    /// Erases that this unit has sustained.
    pub erase_count: u32,
}

impl Identity {
    /// The identity's bytes.
    pub fn encode(&self) -> [u8; IDENTITY_BYTES] {
        let mut bytes = [0xFF; IDENTITY_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[4] = self.version;
        // The size is a power of two less a shortfall, which is kept inverted, in steps of 32 bytes.
        let power = self.unit_size_bytes.next_power_of_two();
        let shortfall = ((power - self.unit_size_bytes) / 32) as u16;
        bytes[5] = power.trailing_zeros() as u8;
        bytes[12..14].copy_from_slice(&(!shortfall).to_le_bytes());
        bytes[6..8].copy_from_slice(&self.unit_count.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.erase_count.to_le_bytes());
        let (zeros, crc) = identity_codes(&bytes);
        bytes[14] = zeros;
        bytes[15] = crc;
        bytes
    }

    /// The identity that `bytes` hold, or `None` if they hold none whole.
    pub fn decode(bytes: &[u8; IDENTITY_BYTES]) -> Option<Identity> {
        if bytes[0..4] != MAGIC || (bytes[14], bytes[15]) != identity_codes(bytes) {
            return None;
        }
        let identity = Identity {
            version: bytes[4],
            unit_size_bytes: (1u64 << bytes[5].min(63))
                .saturating_sub(32 * u64::from(!u16::from_le_bytes([bytes[12], bytes[13]]))),
            unit_count: u16::from_le_bytes([bytes[6], bytes[7]]),
            erase_count: u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]),
        };
        (identity.version > 0 && identity.erase_count <= ERASE_COUNT_MAX).then_some(identity)
    }
}

fn identity_codes(bytes: &[u8; IDENTITY_BYTES]) -> (u8, u8) {
    let zeros = bytes[..14].iter().map(|byte| byte.count_zeros() as u8).sum();
    (zeros, CRC_8.checksum(&bytes[..14]))
}

/// What a sector holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SectorKind {
    /// The descriptor of an object or array, or another leaf of a tree.
    Leaf,
    /// A record of a chain; its first word is the link to the next.
    Record,
    /// A node of a tree.
    Node,
    /// Bytes that the client alone understands.
    Opaque,
}

/// What the four bytes of a sector descriptor say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// No sector yet.
    Erased,
    /// A torn descriptor: the number is lost until the unit is reclaimed.
    Void,
    /// A sector.
    Sector {
        /// Distance from the unit's start in granules.
        offset: u16,
        /// Size in granules.
        granules: u16,
        /// What it holds.
        kind: SectorKind,
        /// Whether it is allocated; otherwise it is obsolete.
        live: bool,
    },
}

/// The bit of a descriptor that is cleared when its sector is freed.
pub const DESCRIPTOR_LIVE: u32 = 1 << 31;

impl Descriptor {
    /// The word that describes a live sector.
    #[inline(never)]
    pub fn encode(offset: u16, granules: u16, kind: SectorKind) -> u32 {
        debug_assert!(offset < 1 << 14 && u32::from(granules) <= SECTOR_GRANULES_MAX);
        let kind = match kind {
            SectorKind::Leaf => 0,
            SectorKind::Record => 1,
            SectorKind::Node => 2,
            SectorKind::Opaque => 3,
        };
        let bits = u32::from(offset) | u32::from(granules) << 14 | kind << 24;
        bits | (26 - bits.count_ones()) << 26 | DESCRIPTOR_LIVE
    }

    /// Whether a word was made void: a torn one with its uppermost bit cleared.
    pub fn is_marked_void(word: u32) -> bool {
        word & DESCRIPTOR_LIVE == 0 && Descriptor::decode(word | DESCRIPTOR_LIVE) == Descriptor::Void
    }

    /// What `word` says.
    #[inline(never)]
    pub fn decode(word: u32) -> Descriptor {
        if word == ERASED_WORD {
            return Descriptor::Erased;
        }
        let bits = word & ((1 << 26) - 1);
        if word >> 26 & 0x1F != 26 - bits.count_ones() {
            return Descriptor::Void;
        }
        let kind = match bits >> 24 {
            0 => SectorKind::Leaf,
            1 => SectorKind::Record,
            2 => SectorKind::Node,
            _ => SectorKind::Opaque,
        };
        Descriptor::Sector {
            offset: (bits & 0x3FFF) as u16,
            granules: (bits >> 14 & 0x3FF) as u16,
            kind,
            live: word & DESCRIPTOR_LIVE != 0,
        }
    }
}

/// What a link says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Not yet programmed.
    Erased,
    /// Torn: nothing follows, and nothing can be linked here.
    Void,
    /// The next sector.
    To(SectorPtr),
}

impl Link {
    /// The word of a link to `pointer`.
    #[inline(never)]
    pub fn encode(pointer: SectorPtr) -> u32 {
        let bits = pointer.bits();
        bits | (24 - bits.count_ones()) << 24 | 0b111 << 29
    }

    /// Whether a word was made void: a torn one with its uppermost bit cleared.
    pub fn is_marked_void(word: u32) -> bool {
        word >> 31 == 0 && Link::decode(word | 1 << 31) == Link::Void
    }

    /// What `word` says.
    #[inline(never)]
    pub fn decode(word: u32) -> Link {
        if word == ERASED_WORD {
            return Link::Erased;
        }
        match SectorPtr::from_bits(word & POINTER_MASK) {
            Some(pointer) if Link::encode(pointer) == word => Link::To(pointer),
            _ => Link::Void,
        }
    }
}

/// A slot or spare pointer of a tree node: "child `index` is `pointer`".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeWord(pub u32);

impl TreeWord {
    pub(crate) const OPEN: u32 = 1 << 30;
    pub(crate) const STANDING: u32 = 1 << 31;

    /// The word that makes `pointer` (or nothing) child `index` in the open version.
    pub fn open(index: u32, pointer: Option<SectorPtr>) -> TreeWord {
        debug_assert!(index < NODE_SLOTS);
        TreeWord(pointer_bits(pointer) | index << 24 | 0b11 << 28 | Self::OPEN | Self::STANDING)
    }

    /// Whether the word is unused.
    pub fn is_erased(self) -> bool {
        self.0 == ERASED_WORD
    }

    /// Whether the word belongs to the open version only.
    pub fn is_open(self) -> bool {
        !self.is_erased() && self.0 & Self::OPEN != 0
    }

    /// Whether the word says anything: it is neither erased nor aborted.
    pub fn stands(self) -> bool {
        !self.is_erased() && self.0 & Self::STANDING != 0
    }

    /// Whether the word was aborted: open, and standing no more.
    pub fn is_void(self) -> bool {
        self.0 >> 28 == 0b0111
    }

    /// The word when its transaction has ended: with its commit bit cleared it belongs to the committed version, with
    /// its abort bit cleared it says nothing any more.
    pub(crate) fn closed(self, close: Close) -> TreeWord {
        match close {
            Close::Commit => TreeWord(self.0 & !Self::OPEN),
            Close::Abort => TreeWord(self.0 & !Self::STANDING),
        }
    }

    /// Which child.
    pub fn index(self) -> u32 {
        self.0 >> 24 & 0xF
    }

    /// The child.
    #[inline(never)]
    pub fn pointer(self) -> Option<SectorPtr> {
        SectorPtr::from_bits(self.0 & POINTER_MASK)
    }
}

/// How open words and deltas end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close {
    Commit,
    Abort,
}

#[cfg(test)]
mod tests {
    //! Proves that every code round-trips and that no torn program of a record passes for a whole one.
    use super::*;

    fn pointer(bits: u32) -> SectorPtr {
        SectorPtr::from_bits(bits).unwrap()
    }

    #[test]
    fn identities_round_trip_and_show_every_torn_bit() {
        let identity = Identity { version: 1, unit_size_bytes: 8192, unit_count: 56, erase_count: 100_000 };
        let whole = identity.encode();
        assert_eq!(Identity::decode(&whole), Some(identity));
        for unit_size_bytes in [512, 544, 4064, 4096, 1 << 20, (1 << 20) - 32] {
            let identity = Identity { unit_size_bytes, ..identity };
            assert_eq!(Identity::decode(&identity.encode()), Some(identity));
        }
        for bit in 0..128 {
            let mut damaged = whole;
            damaged[bit / 8] ^= 1 << (bit % 8);
            let reserved = (12..14).contains(&(bit / 8)) && damaged[bit / 8] == whole[bit / 8];
            assert!(reserved || Identity::decode(&damaged).is_none(), "bit {bit}");
        }
    }

    #[test]
    fn no_torn_descriptor_passes() {
        for (offset, granules) in [(0, 0), (6, 1), (2047, 28), (0x3FFF, 0x3FF), (0x1555, 0x2AA)] {
            let whole = Descriptor::encode(offset, granules, SectorKind::Node);
            let sector = Descriptor::Sector { offset, granules, kind: SectorKind::Node, live: true };
            assert_eq!(Descriptor::decode(whole), sector);
            assert_eq!(
                Descriptor::decode(whole & !DESCRIPTOR_LIVE),
                Descriptor::Sector { offset, granules, kind: SectorKind::Node, live: false }
            );
            let cleared = !whole;
            let mut kept = cleared; // Walks over every subset of the bits that were to be cleared.
            for _ in 0..200_000 {
                if kept == 0 {
                    break;
                }
                let torn = Descriptor::decode(whole | kept);
                assert!(matches!(torn, Descriptor::Void | Descriptor::Erased), "{torn:?}");
                kept = (kept - 1) & cleared;
            }
        }
        assert_eq!(Descriptor::decode(0), Descriptor::Void);
    }

    #[test]
    fn no_torn_link_passes() {
        for bits in [0x001_000, 0x035_123, 0xFFE_FFF] {
            let whole = Link::encode(pointer(bits));
            assert_eq!(Link::decode(whole), Link::To(pointer(bits)));
            for bit in (0..32).filter(|bit| whole >> bit & 1 == 0) {
                assert!(!matches!(Link::decode(whole | 1 << bit), Link::To(_)));
            }
        }
        assert_eq!((Link::decode(0), Link::decode(ERASED_WORD)), (Link::Void, Link::Erased));
    }
}
