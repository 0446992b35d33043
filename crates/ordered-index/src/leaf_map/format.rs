//! Every bit that a leaf map puts on flash, and the codes that distinguish whole from torn.
//!
//! ```text
//! unit    │ seal: sequence 4, ¬sequence 4 │ header │ record │ record │ … │ erased │ … │ floor │ floor │
//! header  │ magic 4 │ version 1 │ K 1 │ V 1 │ flags 1 │ sequence 4 │ low K │ high K │ floor K │ program unit 1
//!         │ units 2 │ unit size 4 │ erases 4 │ next 2 │ its erases 4 │ leaves 2 │ copied 2 │ codes 4 │
//! record  │ key K │ value V │ code 16: zeros n, CRC 13 − n, ascends 1, kind 2 │
//! ```
//!
//! Seal, header and record are rounded up to program units; padding stays erased. Records are written from the front,
//! floors from the end. The seal is programmed last.
//!
//! Invariants: no record that is written reads as erased; a record with a count of zeros is whole if and only if no bit
//! of it is missing, whatever a cut left of it.

use crate::codes::{codes, crc16, u16_at, u32_at, zeros};

/// The version of the format that this describes.
pub const FORMAT_VERSION: u8 = 1;
/// What a header begins with.
pub const MAGIC: [u8; 4] = *b"NLEA";
/// Bytes of a seal.
pub const SEAL_BYTES: usize = 8;
/// Most bytes of a key.
pub const KEY_BYTES_MAX: usize = 64;
/// Most bytes of a key and its value together.
pub const ENTRY_BYTES_MAX: usize = 126;
/// Bytes of a record's code.
pub const CODE_BYTES: usize = 2;
/// Bytes of a header before its keys.
const FIXED_BYTES: usize = 12;
/// Bytes of a header after its keys.
const REST_BYTES: usize = 25;

/// Bytes of a header for keys of `key_bytes`.
pub const fn header_bytes(key_bytes: usize) -> usize {
    FIXED_BYTES + 3 * key_bytes + REST_BYTES
}

/// Most bytes of a header.
pub const HEADER_BYTES_MAX: usize = header_bytes(KEY_BYTES_MAX);
/// Bytes of a header, from its first one on, that say for which keys a leaf counts, and since when.
pub const fn range_bytes(key_bytes: usize) -> usize {
    FIXED_BYTES + 2 * key_bytes
}

/// The seal of a leaf, which says its number once more: a header that is damaged is not taken for an old one. Of each
/// bit and its complement one is zero. So neither a program nor an erase that is cut makes a seal, or turns one into
/// another.
pub fn seal(sequence: u32) -> [u8; SEAL_BYTES] {
    let mut bytes = [0; SEAL_BYTES];
    bytes[..4].copy_from_slice(&sequence.to_le_bytes());
    bytes[4..].copy_from_slice(&(!sequence).to_le_bytes());
    bytes
}

/// Whether a seal is whole.
pub fn is_seal(bytes: &[u8]) -> bool {
    u32_at(bytes, 0) == !u32_at(bytes, 4)
}

/// What is constant in a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Bytes of a key.
    pub key_bytes: u8,
    /// Bytes of a value.
    pub value_bytes: u8,
    /// The part's program unit in bytes.
    pub program_unit_bytes: u8,
    /// Erase units of the part.
    pub unit_count: u16,
    /// Bytes of an erase unit.
    pub unit_size_bytes: u32,
}

/// For which keys a leaf was written, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<const K: usize> {
    /// Leaves are numbered in the order in which they are sealed.
    pub sequence: u32,
    /// The least key.
    pub low: [u8; K],
    /// The least key beyond, if there is an end.
    pub high: Option<[u8; K]>,
}

/// What a leaf says of itself and of the map, as it was when it was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<const K: usize> {
    /// What the leaf is for.
    pub range: Range<K>,
    /// Keys below this one do not count.
    pub floor: Option<[u8; K]>,
    /// Erases of this unit.
    pub erases: u32,
    /// The unit of the next leaf: what is in it does not count.
    pub next: u16,
    /// Its erases.
    pub next_erases: u32,
    /// Leaves that count.
    pub leaves: u16,
    /// Records that were written before the seal.
    pub copied: u16,
}

/// What the first bytes of a header say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outline {
    /// A header of this version for keys and values of these bytes.
    Known(u8, u8),
    /// A header of another version, which may be whole.
    OtherVersion(u8),
    /// No header.
    Nothing,
}

/// Which header begins with `bytes`.
pub fn outline(bytes: &[u8]) -> Outline {
    match bytes[..4] == MAGIC {
        true if bytes[4] != FORMAT_VERSION => Outline::OtherVersion(bytes[4]),
        true if usize::from(bytes[5]) <= KEY_BYTES_MAX => Outline::Known(bytes[5], bytes[6]),
        _ => Outline::Nothing,
    }
}

const HAS_HIGH: u8 = 1;
const HAS_FLOOR: u8 = 2;

impl<const K: usize> Range<K> {
    /// What the first [`range_bytes`] say.
    pub fn decode(bytes: &[u8]) -> Self {
        let high = key_at(bytes, FIXED_BYTES + K);
        let has_high = bytes[7] & HAS_HIGH != 0;
        Range { sequence: u32_at(bytes, 8), low: key_at(bytes, FIXED_BYTES), high: has_high.then_some(high) }
    }
}

fn key_at<const K: usize>(bytes: &[u8], at: usize) -> [u8; K] {
    let mut key = [0; K];
    key.copy_from_slice(&bytes[at..at + K]);
    key
}

impl<const K: usize> Header<K> {
    /// Puts the header into `bytes`, which are ones.
    pub fn encode(&self, facts: &Facts, bytes: &mut [u8]) {
        let flags = HAS_HIGH * u8::from(self.range.high.is_some()) + HAS_FLOOR * u8::from(self.floor.is_some());
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&[FORMAT_VERSION, facts.key_bytes, facts.value_bytes, !3 | flags]);
        bytes[8..12].copy_from_slice(&self.range.sequence.to_le_bytes());
        let keys = [Some(self.range.low), self.range.high, self.floor];
        for (place, key) in bytes[FIXED_BYTES..].chunks_exact_mut(K.max(1)).zip(keys) {
            place.copy_from_slice(&key.unwrap_or([0xFF; K])[..]);
        }
        let rest = &mut bytes[FIXED_BYTES + 3 * K..];
        rest[0] = facts.program_unit_bytes;
        rest[1..3].copy_from_slice(&facts.unit_count.to_le_bytes());
        rest[3..7].copy_from_slice(&facts.unit_size_bytes.to_le_bytes());
        rest[7..11].copy_from_slice(&self.erases.to_le_bytes());
        rest[11..13].copy_from_slice(&self.next.to_le_bytes());
        rest[13..17].copy_from_slice(&self.next_erases.to_le_bytes());
        rest[17..19].copy_from_slice(&self.leaves.to_le_bytes());
        rest[19..21].copy_from_slice(&self.copied.to_le_bytes());
        let covered = header_bytes(K) - 4;
        let codes = codes(&[&bytes[..covered]]);
        bytes[covered..covered + 4].copy_from_slice(&codes);
    }
}

/// What a whole header for keys of any length says that does not depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common {
    /// What is constant in the map.
    pub facts: Facts,
    /// The leaf's number.
    pub sequence: u32,
    /// Erases of its unit.
    pub erases: u32,
    /// The unit of the next leaf.
    pub next: u16,
    /// Its erases.
    pub next_erases: u32,
    /// Leaves that count.
    pub leaves: u16,
    /// Records that were written before the seal.
    pub copied: u16,
}

/// The floor that a whole header names.
pub fn floor_of<const K: usize>(bytes: &[u8]) -> Option<[u8; K]> {
    (bytes[7] & HAS_FLOOR != 0).then(|| key_at(bytes, FIXED_BYTES + 2 * K))
}

/// What a header says, if it is whole. `bytes` begin with a known [`outline`], and have [`header_bytes`] of its keys.
pub fn check_header(bytes: &[u8]) -> Option<Common> {
    let key_bytes = usize::from(bytes[5]);
    let covered = header_bytes(key_bytes) - 4;
    let rest = &bytes[FIXED_BYTES + 3 * key_bytes..];
    let facts = Facts {
        key_bytes: bytes[5],
        value_bytes: bytes[6],
        program_unit_bytes: rest[0],
        unit_count: u16_at(rest, 1),
        unit_size_bytes: u32_at(rest, 3),
    };
    let is_whole = bytes[covered..covered + 4] == codes(&[&bytes[..covered]]);
    is_whole.then_some(Common {
        facts,
        sequence: u32_at(bytes, 8),
        erases: u32_at(rest, 7),
        next: u16_at(rest, 11),
        next_erases: u32_at(rest, 13),
        leaves: u16_at(rest, 17),
        copied: u16_at(rest, 19),
    })
}

/// What a record does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It gives a key a value.
    Put,
    /// It takes a key away.
    Removal,
    /// It takes all keys below one away.
    Floor,
}

/// What a record's code says beside its checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What the record does.
    pub kind: Kind,
    /// Whether its key is above those of all records before it in the leaf, and theirs ascend.
    pub ascends: bool,
}

/// The bit of a code that says that a record ascends.
const ASCENDS_SHIFT: u32 = 13;
const KIND_SHIFT: u32 = 14;

/// Bits of a code that count zeros, for `data_bytes` of key and value and the three bits of the mark.
const fn count_bits(data_bytes: usize) -> u32 {
    (8 * data_bytes as u32 + 3).ilog2() + 1
}

impl Mark {
    fn bits(self) -> u16 {
        let kind = match self.kind {
            Kind::Put => 3,
            Kind::Removal => 2,
            Kind::Floor => 1,
        };
        kind << KIND_SHIFT | u16::from(self.ascends) << ASCENDS_SHIFT
    }

    /// The code of a record.
    pub fn encode(self, data: &[u8]) -> u16 {
        let bits = self.bits();
        bits | checks(bits, data)
    }

    /// What the code of a record says, if the record is whole.
    pub fn decode(code: u16, data: &[u8]) -> Option<Mark> {
        let kind = match code >> KIND_SHIFT {
            3 => Kind::Put,
            2 => Kind::Removal,
            1 => Kind::Floor,
            _ => return None,
        };
        let mark = Mark { kind, ascends: code >> ASCENDS_SHIFT & 1 != 0 };
        (mark.encode(data) == code).then_some(mark)
    }
}

/// Zeros and CRC for the bits of a mark and the data.
fn checks(bits: u16, data: &[u8]) -> u16 {
    let (count, mask) = (count_bits(data.len()), (1 << ASCENDS_SHIFT) - 1);
    let missing = (!bits >> ASCENDS_SHIFT).count_ones();
    let crc = crc16(&[&[(bits >> ASCENDS_SHIFT) as u8], data]);
    (zeros(data) + missing) as u16 | ((crc << count) & mask)
}

/// Whether a cut that hit the programming of a record can have left this, whose code does not fit: it lacks zeros of
/// what the code covers, or of the code.
pub fn may_be_torn(code: u16, data: &[u8]) -> bool {
    let count_mask = (1 << count_bits(data.len())) - 1;
    let found = checks(code & 7 << ASCENDS_SHIFT, data);
    let (zeros_said, zeros_found) = (code & count_mask, found & count_mask);
    let crc_mask = ((1 << ASCENDS_SHIFT) - 1) & !count_mask;
    zeros_found < zeros_said || zeros_found == zeros_said && found & crc_mask & !code == 0
}

#[cfg(test)]
mod tests {
    use super::{is_seal, seal};

    /// With zeros in front instead of the complement, an erase that was cut made the coming number of an older one, and
    /// the map was refused.
    #[test]
    fn no_bits_that_are_set_or_missing_make_a_seal_of_another() {
        let has = |whole: [u8; 8], more: [u8; 8]| whole.iter().zip(more).all(|(one, other)| one & !other == 0);
        for old in 0..600 {
            assert!(is_seal(&seal(old)) && !is_seal(&[0xFF; 8]) && !is_seal(&[0; 8]));
            for new in (0..600).filter(|&new| new != old) {
                assert!(!has(seal(old), seal(new)), "setting bits of seal {old} makes seal {new}");
            }
            for bit in 0..64 {
                let mut torn = seal(old);
                torn[bit / 8] |= 1 << (bit % 8);
                assert!(torn == seal(old) || !is_seal(&torn), "seal {old} lacks bit {bit}");
            }
        }
    }
}
