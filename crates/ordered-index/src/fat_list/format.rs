//! Every bit that a fat list puts on flash, and the codes that distinguish whole from torn.
//!
//! ```text
//! block   │ identity 32 │ void 4 │ filling 8 │ active 4 │ cell │ cell │ …
//! cell    │ stamp │ low key │ header: code, replaces, partner │ bitmap │ pointer pool │ slot │ slot │ …
//! stamp   │ level 4 │ ¬level 4 │ kind 2 │ ¬kind 2 │ sealed │ settled │ doomed │ dead │   set flags are zeros
//! pointer │ index 12 │ turnstile 8 │ level 3 │ 0 │ zeros 5 │ fold 3 │
//! count   │ keys 23 │ 1 │ zeros 5 │ fold 3 │
//! slot    │ key │ value │ zeros 10, CRC 6 │
//! record  │ length 9, its zeros 4, zeros / 1024 3 │ key │ value │ zeros % 1024 10, CRC 6 │   where values vary
//! ```
//!
//! Invariants: no record that is written reads as erased; a record with a count of zeros is whole if and only if no bit
//! of it is missing, whatever a cut left of it.

use crate::codes::{check_identity, crc16, encode_identity, u16_at, u32_at, zeros};

pub use crate::codes::IDENTITY_BYTES;

/// The version of the format that this describes.
pub const FORMAT_VERSION: u8 = 1;
/// What a block's identity begins with.
pub const MAGIC: [u8; 4] = *b"NFAT";
/// Where an identity says how often its block was erased.
pub const ERASE_COUNT_OFFSET: u32 = 20;
/// Where the word is that makes the whole part void: formatting has begun.
pub const VOID_OFFSET: u32 = 32;
/// Where it says which block is being moved here.
pub const FILLING_OFFSET: u32 = 36;
/// Bytes of that record.
pub const FILLING_BYTES: usize = 8;
/// Where the word is that is 0 once the block holds what counts.
pub const ACTIVE_OFFSET: u32 = 44;
/// Where the cells begin.
pub const CELLS_OFFSET: u32 = 48;
/// Most levels of a list.
pub const LEVELS_MAX: usize = 8;

/// The level in the stamp of a batch, which is on none.
pub const BATCH_LEVEL: u8 = 15;

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The list's head, on every level, without keys.
    Head,
    /// An object. If it replaces another one, its partner is the right half of a split, if there is one.
    Object,
    /// The right half of a split that may not have been committed.
    Right,
    /// An object that replaces two: the second one is its partner.
    Merged,
}

/// A flag of a stamp: its bit is 0 when it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// All of the cell has been written.
    Sealed = 12,
    /// All pointers lead to it, and what it replaces is dead.
    Settled = 13,
    /// It is being taken out of the list.
    Doomed = 14,
    /// It counts no more.
    Dead = 15,
}

/// The first word of a cell that has been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The highest level on which the object is linked.
    pub level: u8,
    /// What it is.
    pub kind: Kind,
    /// Whether its pointers have been settled.
    pub settled: bool,
    /// Whether it is being taken out.
    pub doomed: bool,
}

/// What the first word of a cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState {
    /// Nothing has been written.
    Free,
    /// Writing has begun and not ended.
    Unsealed,
    /// The cell counts.
    Live(Stamp),
    /// A batch whose changes are being made.
    Batch,
    /// The cell counts no more.
    Dead,
    /// No state that a program leaves.
    Malformed,
}

impl Stamp {
    /// The word of a cell whose writing begins: neither sealed nor doomed. Copies are settled from the start.
    pub fn encode(self) -> u16 {
        let (level, kind) = (u16::from(self.level), self.kind as u16);
        let code = level | (!level & 15) << 4 | kind << 8 | (!kind & 3) << 10;
        code | 0xF000 & !(u16::from(self.settled) << Flag::Settled as u16)
    }
}

impl CellState {
    /// Whether `word` is the stamp of a settled object that has lost its seal: no cut leaves it in a block that counts.
    pub fn has_lost_seal(word: u16) -> bool {
        match CellState::decode(word & !(1 << Flag::Sealed as u16)) {
            CellState::Live(stamp) => stamp.settled && stamp.kind != Kind::Head,
            _ => false,
        }
    }

    /// What `word` says.
    pub fn decode(word: u16) -> CellState {
        let is_set = |flag: Flag| word >> flag as u16 & 1 == 0;
        if word == u16::MAX {
            return CellState::Free;
        }
        if is_set(Flag::Dead) {
            return CellState::Dead;
        }
        if !is_set(Flag::Sealed) {
            return CellState::Unsealed;
        }
        let (level, kind) = (word & 15, word >> 8 & 3);
        if word >> 4 & 15 != !level & 15 || word >> 10 & 3 != !kind & 3 {
            return CellState::Malformed;
        }
        if level == u16::from(BATCH_LEVEL) && kind == Kind::Object as u16 {
            return CellState::Batch;
        }
        if usize::from(level) >= LEVELS_MAX {
            return CellState::Malformed;
        }
        let kind = [Kind::Head, Kind::Object, Kind::Right, Kind::Merged][usize::from(kind)];
        let (settled, doomed) = (is_set(Flag::Settled), is_set(Flag::Doomed));
        CellState::Live(Stamp { level: level as u8, kind, settled, doomed })
    }
}

/// Where a soft pointer leads: the cells of one number in all blocks of a turnstile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The turnstile.
    pub turnstile: u8,
    /// The cell's number in its block.
    pub index: u16,
}

impl Column {
    /// The entry of a pointer pool that leads here from `level`.
    pub fn encode(self, level: u8) -> u32 {
        coded(u32::from(self.index) | u32::from(self.turnstile) << 12 | u32::from(level) << 20)
    }

    /// What a pool entry says: its level and where it leads; `None` if it is erased, torn or damaged.
    pub fn decode(entry: u32) -> Option<(u8, Column)> {
        let data = entry & 0xFF_FFFF;
        let column = Column { turnstile: (data >> 12) as u8, index: (data & 0xFFF) as u16 };
        (is_whole(entry) && data & KEY_COUNT == 0).then_some((((data >> 20) & 15) as u8, column))
    }
}

/// The bit of an entry of the head's lowest level that says that it is not a pointer, but how many keys there are.
const KEY_COUNT: u32 = 1 << 23;
/// The count that says that it is not known.
const KEYS_UNKNOWN: u32 = KEY_COUNT - 1;

/// The entry of the head that says how many keys there are, if that is known and has room in it.
pub fn encode_key_count(keys: Option<u32>) -> u32 {
    coded(KEY_COUNT | keys.map_or(KEYS_UNKNOWN, |keys| keys.min(KEYS_UNKNOWN)))
}

/// Whether an entry of the head says how many keys there are, and what it says.
pub fn decode_key_count(entry: u32) -> Option<Option<u32>> {
    let keys = entry & KEYS_UNKNOWN;
    (is_whole(entry) && entry & KEY_COUNT != 0).then_some(Some(keys).filter(|&keys| keys < KEYS_UNKNOWN))
}

/// The 24 bits of a pool entry with their codes.
fn coded(data: u32) -> u32 {
    data | (0xFF_FFFF & !data).count_ones() << 24 | fold(data) << 29
}

/// Whether a pool entry is neither erased nor torn nor damaged.
fn is_whole(entry: u32) -> bool {
    coded(entry & 0xFF_FFFF) == entry
}

/// Three bits of parity over 24.
fn fold(data: u32) -> u32 {
    (0..8).fold(0, |sum, digit| sum ^ data >> (3 * digit)) & 7
}

/// The code after a slot's key and value.
pub fn slot_code(data: &[u8]) -> u16 {
    zeros(data) as u16 | crc16(&[data]) << 10
}

/// The length of a record whose value has `value_bytes` bytes and whose key and value have `zeros` zeros.
pub fn record_length(value_bytes: usize, zeros: u32) -> u16 {
    let length = value_bytes as u16 & LENGTH_MASK;
    length | ((LENGTH_MASK & !length).count_ones() as u16) << 9 | ((zeros >> 10) as u16) << 13
}

/// Bytes of a record's value, and the upper bits of the zeros of key and value; `None` if the length is erased, torn or
/// damaged.
pub fn decode_record_length(word: u16) -> Option<(usize, u16)> {
    let length = word & LENGTH_MASK;
    let has_its_zeros = u32::from(word >> 9 & 15) == (LENGTH_MASK & !length).count_ones();
    (has_its_zeros && word != u16::MAX).then_some((usize::from(length), word >> 13))
}

/// Whether a cut that hit the programming of a record's length can have left this word: some of its zeros are missing,
/// which raises the count or leaves fewer zeros than it says.
pub fn may_be_torn_length(word: u16) -> bool {
    u32::from(word >> 9 & 15) > (LENGTH_MASK & !(word & LENGTH_MASK)).count_ones()
}

/// The code after a record's key and value; the length is part of what it covers.
pub fn record_code(value_bytes: usize, data: &[u8]) -> u16 {
    let length = (value_bytes as u16).to_le_bytes();
    zeros(data) as u16 & 0x3FF | crc16(&[&length, data]) << 10
}

/// Whether a cut that hit the programming of a slot can have left it: what its code says of the zeros and of the CRC,
/// and what is found of both. A cut leaves too few zeros, too high a count of them, or ones in the CRC.
pub fn may_be_torn(said: (u32, u16), found: (u32, u16)) -> bool {
    found.0 < said.0 || found.0 == said.0 && found.1 & 0x3F & !said.1 == 0
}

/// The bits of a record's length that have the value's.
const LENGTH_MASK: u16 = 0x1FF;
/// The longest value whose length has room in a record.
pub const VARIED_VALUE_BYTES_MAX: usize = LENGTH_MASK as usize;

/// What byte 6 of an identity says where values vary: more than values of one length have.
const VALUES_VARY: u8 = 0xFF;
/// What byte 13 says there.
const VARYING: u8 = 0xFE;

/// What is constant on a part that is formatted, in every block, and how worn the block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Bytes of a key.
    pub key_bytes: u8,
    /// Bytes of a value; where they vary, of the longest.
    pub value_bytes: u16,
    /// Bytes of an object's log of records where values vary; 0 where they have one length.
    pub log_bytes: u16,
    /// The list's settings: blocks of a turnstile, levels, slots, keys, pool.
    pub settings: [u8; 5],
    /// The part's program unit in bytes.
    pub program_unit_bytes: u8,
    /// Erase units of the part.
    pub unit_count: u16,
    /// Bytes of an erase unit.
    pub unit_size_bytes: u32,
    /// Erases that the block has sustained.
    pub erase_count: u32,
}

impl Identity {
    /// The bytes on flash.
    pub fn encode(&self) -> [u8; IDENTITY_BYTES] {
        encode_identity(MAGIC, FORMAT_VERSION, |bytes| {
            (bytes[5], bytes[6]) = (self.key_bytes, self.value_bytes as u8);
            if self.log_bytes > 0 {
                (bytes[6], bytes[13]) = (VALUES_VARY, VARYING);
                bytes[24..26].copy_from_slice(&self.log_bytes.to_le_bytes());
                bytes[26..28].copy_from_slice(&self.value_bytes.to_le_bytes());
            }
            bytes[7..12].copy_from_slice(&self.settings);
            bytes[12] = self.program_unit_bytes;
            bytes[14..16].copy_from_slice(&self.unit_count.to_le_bytes());
            bytes[16..20].copy_from_slice(&self.unit_size_bytes.to_le_bytes());
            bytes[20..24].copy_from_slice(&self.erase_count.to_le_bytes());
        })
    }

    /// What the bytes say, if they are whole: the version if it is another one, else the rest.
    pub fn decode(bytes: &[u8; IDENTITY_BYTES]) -> Option<Result<Identity, u8>> {
        let identity = check_identity(bytes, MAGIC, FORMAT_VERSION)?;
        let (value_bytes, log_bytes) = match bytes[13] {
            VARYING => (u16_at(bytes, 26), u16_at(bytes, 24)),
            _ => (u16::from(bytes[6]), 0),
        };
        Some(identity.map(|()| Identity {
            key_bytes: bytes[5],
            value_bytes,
            log_bytes,
            settings: [bytes[7], bytes[8], bytes[9], bytes[10], bytes[11]],
            program_unit_bytes: bytes[12],
            unit_count: u16_at(bytes, 14),
            unit_size_bytes: u32_at(bytes, 16),
            erase_count: u32_at(bytes, 20),
        }))
    }
}

/// Which block is moved to this one, and how often it had been erased before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filling {
    /// The block's number; the block's own when nothing is moved.
    pub from: u16,
    /// Erases that it had sustained.
    pub erase_count: u32,
}

impl Filling {
    /// The bytes on flash.
    pub fn encode(&self) -> [u8; FILLING_BYTES] {
        let mut bytes = [0xFF; FILLING_BYTES];
        bytes[0..2].copy_from_slice(&self.from.to_le_bytes());
        bytes[2..6].copy_from_slice(&self.erase_count.to_le_bytes());
        bytes[6] = zeros(&bytes[..6]) as u8;
        bytes[7] = crc16(&[&bytes[..6]]) as u8;
        bytes
    }

    /// What the bytes say, if they are whole.
    pub fn decode(bytes: &[u8; FILLING_BYTES]) -> Option<Filling> {
        let is_whole = u32::from(bytes[6]) == zeros(&bytes[..6]) && bytes[7] == crc16(&[&bytes[..6]]) as u8;
        let from = u16::from_le_bytes([bytes[0], bytes[1]]);
        let erase_count = u32::from_le_bytes([bytes[2], bytes[3], bytes[4], bytes[5]]);
        is_whole.then_some(Filling { from, erase_count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every word that has some of the zeros of `whole`, and not all.
    fn torn(whole: u32, bits: u32) -> impl Iterator<Item = u32> {
        let missing: Vec<u32> = (0..bits).filter(|bit| whole >> bit & 1 == 0).collect();
        (1u32..1 << missing.len()).map(move |subset| {
            missing
                .iter()
                .enumerate()
                .filter(|(at, _)| subset >> at & 1 == 1)
                .fold(whole, |word, (_, bit)| word | 1 << bit)
        })
    }

    extern crate std;
    use std::vec::Vec;

    #[test]
    fn no_torn_pointer_is_whole() {
        for (turnstile, index, level) in [(0xF7, 0xFF0, 7), (3, 0xF9F, 4), (0xFF, 0x0FF, 6)] {
            let entry = Column { turnstile, index }.encode(level);
            assert_eq!(Column::decode(entry), Some((level, Column { turnstile, index })));
            assert_eq!(decode_key_count(entry), None);
            torn(entry, 32).for_each(|torn| assert!(is_nothing(torn), "{torn:#x}"));
        }
        assert!(is_nothing(u32::MAX));
    }

    fn is_nothing(entry: u32) -> bool {
        Column::decode(entry).is_none() && decode_key_count(entry).is_none()
    }

    #[test]
    fn no_torn_key_count_is_whole() {
        for keys in [None, Some(0xF_FF07), Some(8_388_606)] {
            let entry = encode_key_count(keys);
            assert_eq!((decode_key_count(entry), Column::decode(entry)), (Some(keys), None));
            torn(entry, 32).for_each(|torn| assert!(is_nothing(torn), "{torn:#x}"));
        }
        assert_eq!(decode_key_count(encode_key_count(Some(8_388_607))), Some(None), "has no room");
    }

    #[test]
    fn no_torn_stamp_is_live() {
        for level in 0..8 {
            for kind in [Kind::Head, Kind::Object, Kind::Right, Kind::Merged] {
                let stamp = Stamp { level, kind, settled: false, doomed: false };
                let sealed = stamp.encode() & !(1 << Flag::Sealed as u16);
                assert!(matches!(CellState::decode(sealed), CellState::Live(stamp) if stamp.kind == kind));
                torn(u32::from(sealed), 16)
                    .map(|word| word as u16)
                    .for_each(|word| assert!(!matches!(CellState::decode(word), CellState::Live(_)), "{word:#x}"));
            }
        }
    }

    #[test]
    fn no_torn_stamp_is_a_batch() {
        let stamp = Stamp { level: BATCH_LEVEL, kind: Kind::Object, settled: true, doomed: false };
        let sealed = stamp.encode() & !(1 << Flag::Sealed as u16);
        assert_eq!(CellState::decode(sealed), CellState::Batch);
        // Whether it is settled does not matter.
        let others = torn(u32::from(sealed), 16)
            .filter(|torn| torn | 1 << Flag::Settled as u32 != u32::from(sealed) | 1 << Flag::Settled as u32);
        others
            .for_each(|torn| assert!(!matches!(CellState::decode(torn as u16), CellState::Batch | CellState::Live(_))));
    }

    #[test]
    fn no_torn_length_is_whole() {
        for (value_bytes, zeros) in [(0, 0), (1, 8), (200, 1_023), (255, 1_024), (511, 4_600)] {
            let word = record_length(value_bytes, zeros);
            assert_eq!(decode_record_length(word), Some((value_bytes, (zeros >> 10) as u16)));
            assert!(!may_be_torn_length(word));
            for torn in torn(u32::from(word), 16).map(|torn| torn as u16) {
                // What is missing of the upper bits of the zeros is seen by the record's code.
                let has_length = torn & 0x1FFF == word & 0x1FFF;
                assert_eq!(decode_record_length(torn).is_some(), has_length, "{torn:#x}");
                assert!(has_length || may_be_torn_length(torn), "{torn:#x}");
            }
        }
        assert_eq!(decode_record_length(u16::MAX), None);
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let identity = Identity {
            key_bytes: 4,
            value_bytes: 9,
            log_bytes: 0,
            settings: [8, 5, 40, 20, 10],
            program_unit_bytes: 2,
            unit_count: 32,
            unit_size_bytes: 65_536,
            erase_count: 77,
        };
        let varying = Identity { value_bytes: 300, log_bytes: 2_460, ..identity };
        assert_eq!(Identity::decode(&varying.encode()), Some(Ok(varying)));
        let bytes = identity.encode();
        assert_eq!(Identity::decode(&bytes), Some(Ok(identity)));
        for bit in 0..8 * IDENTITY_BYTES {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Identity::decode(&flipped), None, "bit {bit}");
        }
        let filling = Filling { from: 9, erase_count: 3 };
        assert_eq!(Filling::decode(&filling.encode()), Some(filling));
        assert_eq!(Filling::decode(&[0xFF; FILLING_BYTES]), None);
    }
}
