//! Every bit that this crate puts on flash: unit headers, states of the spare, delta records.
//!
//! Multi-byte values are little-endian; `docs/format/nor-remap.md` shows the same with examples.
//!
//! ```text
//! physical unit  ┌────────┬─────────┬──────────┬────────────────────────┬───────────────┐
//!                │ header │ retired │ 6 states │ base: the virtual unit │ delta records │
//!                └────────┴─────────┴──────────┴────────────────────────┴───────────────┘
//! header 32      "NREM" · version 1 · representation 1 · units 2 · spares 2 · virtual number 2 · generation 4 ·
//!                erase count 3 · program unit 1 · spare 2 · its erase count 3 · unit size / 32 3 · ones 1 · zeros 1 ·
//!                crc 2
//! state 8        kind 1 · unit 2 · its erase count 3 · zeros 1 · crc 1
//! delta          group 2 · zeros 1 · crc 1 · the group's bytes 4, 4, 8 or 16 · ones          (8, 8, 16 or 32 bytes)
//! ```
//!
//! A count of zeros (a Berger code) detects every torn record, whatever the order in which its bits were cleared, and a
//! CRC damage that goes both ways.
//!
//! Invariant: the erased state (all ones) and all zeros are valid for no record.

use crc::{CRC_8_SMBUS, CRC_16_IBM_SDLC, Crc, Table};
use norn_flash::EraseUnit;

/// First bytes of every header.
pub const MAGIC: [u8; 4] = *b"NREM";
/// The on-flash format that this crate writes and the only one it reads.
pub const FORMAT_VERSION: u8 = 1;
/// Bytes of a header.
pub const HEADER_BYTES: u32 = 32;
/// Places for states of the spare in a unit.
pub const STATE_PLACES: u32 = 6;
/// Bytes of a state.
pub const STATE_BYTES: usize = 8;
/// Largest erase count that is kept.
pub const ERASE_COUNT_MAX: u32 = (1 << 24) - 1;
/// Bytes of the largest delta record.
pub const RECORD_BYTES_MAX: usize = 32;
/// Bytes of the largest group.
pub const GROUP_BYTES_MAX: usize = 16;
/// Bytes of a delta record before the group's.
pub const RECORD_HEAD_BYTES: usize = 4;
/// Most groups of a virtual unit.
pub const GROUPS_MAX: u32 = 0xFFFF;

const FORMATTING: u16 = u16::MAX;
const CRC_8: Crc<u8, Table<1>> = Crc::<u8, Table<1>>::new(&CRC_8_SMBUS);
const CRC_16: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_IBM_SDLC);

const _: () = assert!(RECORD_HEAD_BYTES + GROUP_BYTES_MAX <= RECORD_BYTES_MAX);
const _: () = assert!((8 * (HEADER_BYTES - 3)) < 256, "the zeros of a header fit a byte");

fn zeros(bytes: &[u8]) -> u8 {
    bytes.iter().map(|byte| byte.count_zeros() as u8).sum()
}

/// How a virtual unit is laid out in a physical one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Representation {
    /// As it is: the part's words may be programmed any number of times.
    InPlace,
    /// As a base whose words are programmed once, and a table of records that change it.
    Deltas,
}

/// What a unit is, by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The home of the virtual unit of this number.
    Home(u16),
    /// The mark that formatting has begun and not ended.
    Formatting,
}

/// What the header of a unit says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Format of everything in the unit.
    pub version: u8,
    /// How virtual units lie in physical ones.
    pub representation: Representation,
    /// Erase units of the part.
    pub unit_count: u16,
    /// How many of them are no homes.
    pub spare_units: u16,
    /// What the unit is.
    pub role: Role,
    /// Of two homes of one virtual unit, the one with the higher generation is right.
    pub generation: u32,
    /// Erases that the unit has sustained.
    pub erase_count: u32,
    /// The part's program unit in bytes.
    pub program_unit_bytes: u8,
    /// The unit that is the spare from this header on, once it is erased.
    pub spare: EraseUnit,
    /// Its erases then.
    pub spare_erase_count: u32,
    /// The part's erase unit in bytes.
    pub unit_size_bytes: u32,
}

fn count_of(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0])
}

impl Header {
    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES as usize] {
        let mut bytes = [0xFF; HEADER_BYTES as usize];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[4] = self.version;
        bytes[5] = match self.representation {
            Representation::InPlace => 0,
            Representation::Deltas => 1,
        };
        bytes[6..8].copy_from_slice(&self.unit_count.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.spare_units.to_le_bytes());
        let number = match self.role {
            Role::Home(number) => number,
            Role::Formatting => FORMATTING,
        };
        bytes[10..12].copy_from_slice(&number.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.generation.to_le_bytes());
        bytes[16..19].copy_from_slice(&self.erase_count.to_le_bytes()[..3]);
        bytes[19] = self.program_unit_bytes;
        bytes[20..22].copy_from_slice(&self.spare.0.to_le_bytes());
        bytes[22..25].copy_from_slice(&self.spare_erase_count.to_le_bytes()[..3]);
        bytes[25..28].copy_from_slice(&(self.unit_size_bytes / 32).to_le_bytes()[..3]);
        bytes[29] = zeros(&bytes[..29]);
        let crc = CRC_16.checksum(&bytes[..29]);
        bytes[30..32].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The header that `bytes` hold, or `None` if they hold none whole.
    pub fn decode(bytes: &[u8; HEADER_BYTES as usize]) -> Option<Header> {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        if bytes[0..4] != MAGIC || bytes[29] != zeros(&bytes[..29]) || word(30) != CRC_16.checksum(&bytes[..29]) {
            return None;
        }
        Some(Header {
            version: bytes[4],
            representation: match bytes[5] {
                0 => Representation::InPlace,
                1 => Representation::Deltas,
                _ => return None,
            },
            unit_count: word(6),
            spare_units: word(8),
            role: match word(10) {
                FORMATTING => Role::Formatting,
                number => Role::Home(number),
            },
            generation: u32::from(word(12)) | u32::from(word(14)) << 16,
            erase_count: count_of(&bytes[16..19]),
            program_unit_bytes: bytes[19],
            spare: EraseUnit(word(20)),
            spare_erase_count: count_of(&bytes[22..25]),
            unit_size_bytes: count_of(&bytes[25..28]).checked_mul(32)?,
        })
    }
}

/// What the newest home says of a spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was erased wholly, and nothing was programmed in it but what a cut copy left.
    Ready(EraseUnit, u32),
    /// It is being erased, to be ready with this erase count.
    Erasing(EraseUnit, u32),
}

impl State {
    /// The state's bytes.
    pub fn encode(&self) -> [u8; STATE_BYTES] {
        let (kind, unit, count) = match *self {
            State::Ready(unit, count) => (0x52, unit, count),
            State::Erasing(unit, count) => (0x45, unit, count),
        };
        let mut bytes = [0xFF; STATE_BYTES];
        bytes[0] = kind;
        bytes[1..3].copy_from_slice(&unit.0.to_le_bytes());
        bytes[3..6].copy_from_slice(&count.to_le_bytes()[..3]);
        bytes[6] = zeros(&bytes[..6]);
        bytes[7] = CRC_8.checksum(&bytes[..6]);
        bytes
    }

    /// The state that `bytes` hold, or `None` if they hold none whole.
    pub fn decode(bytes: &[u8; STATE_BYTES]) -> Option<State> {
        if bytes[6] != zeros(&bytes[..6]) || bytes[7] != CRC_8.checksum(&bytes[..6]) {
            return None;
        }
        let (unit, count) = (EraseUnit(u16::from_le_bytes([bytes[1], bytes[2]])), count_of(&bytes[3..6]));
        match bytes[0] {
            0x52 => Some(State::Ready(unit, count)),
            0x45 => Some(State::Erasing(unit, count)),
            _ => None,
        }
    }
}

/// The codes of a delta record with this content: zeros and CRC.
fn record_codes(group: u16, content: &[u8]) -> [u8; 2] {
    let mut digest = CRC_8.digest();
    digest.update(&group.to_le_bytes());
    digest.update(content);
    [zeros(&group.to_le_bytes()) + zeros(content), digest.finalize()]
}

/// Puts the delta record that makes `content` the bytes of `group` into `record`.
pub fn encode_record(group: u16, content: &[u8], record: &mut [u8]) {
    record.fill(0xFF);
    record[0..2].copy_from_slice(&group.to_le_bytes());
    record[2..4].copy_from_slice(&record_codes(group, content));
    record[RECORD_HEAD_BYTES..RECORD_HEAD_BYTES + content.len()].copy_from_slice(content);
}

/// The group of a delta record with contents of `group_bytes`, or `None` if it is none whole.
pub fn decode_record(record: &[u8], group_bytes: usize) -> Option<u16> {
    let group = u16::from_le_bytes([record[0], record[1]]);
    let content = &record[RECORD_HEAD_BYTES..RECORD_HEAD_BYTES + group_bytes];
    (record[2..4] == record_codes(group, content)).then_some(group)
}

#[cfg(test)]
mod tests {
    //! Proves that every record round-trips, and that no torn one passes for a whole one.
    use super::*;

    fn header() -> Header {
        Header {
            version: 1,
            representation: Representation::Deltas,
            unit_count: 256,
            spare_units: 2,
            role: Role::Home(254),
            generation: 0x0102_0304,
            erase_count: 10_000,
            program_unit_bytes: 8,
            spare: EraseUnit(3),
            spare_erase_count: ERASE_COUNT_MAX,
            unit_size_bytes: 2048,
        }
    }

    /// Calls `passes` with `whole` torn in many ways: single bits spared, and random subsets.
    fn tear<const BYTES: usize>(whole: [u8; BYTES], passes: impl Fn(&[u8; BYTES]) -> bool) {
        assert!(passes(&whole));
        for bit in 0..8 * BYTES {
            let mut torn = whole;
            torn[bit / 8] |= 1 << (bit % 8);
            assert!(torn == whole || !passes(&torn), "bit {bit} of {whole:02x?}");
            let mut flipped = whole;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(flipped[bit / 8] > whole[bit / 8] || !passes(&flipped), "flipped bit {bit} of {whole:02x?}");
        }
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let torn = whole.map(|byte| byte | random.u8(..) & random.u8(..));
            assert!(torn == whole || !passes(&torn), "{torn:02x?} of {whole:02x?}");
        }
        assert!(!passes(&[0xFF; BYTES]) && !passes(&[0; BYTES]));
    }

    #[test]
    fn headers_round_trip_and_show_every_torn_bit() {
        for role in [Role::Home(0), Role::Home(254), Role::Formatting] {
            let header = Header { role, ..header() };
            assert_eq!(Header::decode(&header.encode()), Some(header));
            tear(header.encode(), |bytes| Header::decode(bytes).is_some());
        }
    }

    #[test]
    fn states_round_trip_and_show_every_torn_bit() {
        for state in [State::Ready(EraseUnit(7), 99), State::Erasing(EraseUnit(0xFFFE), 0)] {
            assert_eq!(State::decode(&state.encode()), Some(state));
            tear(state.encode(), |bytes| State::decode(bytes).is_some());
        }
    }

    #[test]
    fn delta_records_round_trip_and_show_every_torn_bit() {
        let mut record = [0; 8];
        encode_record(0x1234, &[0, 0xFF, 0x55, 0xF0], &mut record);
        assert_eq!(decode_record(&record, 4), Some(0x1234));
        tear(record, |bytes| decode_record(bytes, 4).is_some());
        let mut record = [0; 32];
        encode_record(GROUPS_MAX as u16 - 1, &[0; 16], &mut record);
        assert_eq!(decode_record(&record, 16), Some(GROUPS_MAX as u16 - 1));
        let passes = |bytes: &[u8; 32]| decode_record(bytes, 16).is_some_and(|_| bytes[20..] == [0xFF; 12]);
        tear(record, passes);
    }
}
