//! Error detection: what the store adds so that every flipped bit of what is in use shows, and how it tells damage from what a
//! power cut leaves.
//!
//! A torn program and a flipped bit can look alike. They are told apart by place: only what the log's last entries announce may
//! be torn, and recovery completes it or makes it *void*. Behind a mount, whatever is neither whole nor erased nor
//! void is damage. `docs/design/error-detection.md` has the reasons.
//!
//! To make a record void takes care: bits that are cleared on the way must not make it look whole, if power fails once more.
//! 1. A torn descriptor or link gets one more bit cleared, its uppermost. What is whole has that bit set, or is obsolete; and what is
//!    torn states more zeros than it has, and one bit less than all ones is neither.
//! 2. A torn log entry becomes all zeros: first one bit of its codes is cleared that would have to be set, then all its codes, then the rest.
//!
//! Invariants with detection on: behind a mount no descriptor and no link is torn, and of the log's places at most the last; a
//! commit that has begun to take effect stands twice in the log; tree words that stand agree with their mirrors.

use crc::{CRC_8_SMBUS, CRC_16_IBM_3740, Crc, NoTable};
use norn_flash::{Address, EraseUnit, Nor};

use crate::error::StoreError;
use crate::features::Features;
use crate::format::{
    ASSIGNMENT_OFFSET, Descriptor, ENTRY_BYTES, ERASED_WORD, Entry, HEADER_BYTES, Link, NODE_SLOTS, NODE_SPARES,
    SectorPtr, TREE_WORD_BYTES,
};
use crate::log::{RESERVE, Slot};
use crate::sector::Sector;
use crate::store::Store;

/// Whether what is on flash has codes by which a flipped bit shows, at the price of space, words programmed and reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorDetection {
    /// The store trusts the part's bits. What a power cut tears is noticed all the same.
    #[default]
    Off,
    /// Every flipped bit of what is in use is noticed when it is read, and by the checker.
    On,
}

impl ErrorDetection {
    /// Whether it is on.
    pub fn is_on(self) -> bool {
        self == ErrorDetection::On
    }

    /// Bytes of a tree word: with its mirror where there is one.
    pub const fn tree_word_bytes(self) -> u32 {
        match self {
            ErrorDetection::Off => TREE_WORD_BYTES,
            ErrorDetection::On => 2 * TREE_WORD_BYTES,
        }
    }

    /// Bytes of a tree node.
    pub const fn node_bytes(self) -> u32 {
        (NODE_SLOTS + NODE_SPARES) * self.tree_word_bytes()
    }

    /// Entries that ordinary appends to the log leave free.
    pub(crate) const fn reserve(self) -> u16 {
        match self {
            ErrorDetection::Off => RESERVE,
            ErrorDetection::On => RESERVE + 1, // The second `Commit`.
        }
    }
}

impl<D: Nor, const UNITS: usize, F: Features> Store<D, UNITS, F> {
    /// Whether codes are kept: never where the program has no code for them.
    pub(crate) fn detection(&self) -> ErrorDetection {
        if F::ERROR_DETECTION { self.settings.error_detection } else { ErrorDetection::Off }
    }

    /// Whether error detection is on.
    pub(crate) fn detects(&self) -> bool {
        self.detection().is_on()
    }

    /// The first word of a unit between two offsets that is not erased.
    #[inline(never)]
    pub(crate) fn first_programmed(
        &mut self,
        unit: EraseUnit,
        from: u32,
        to: u32,
    ) -> Result<Option<Address>, StoreError<D::Error>> {
        let start = self.geometry.part.start_of(unit);
        for offset in (from..to).step_by(4) {
            if self.medium.read_word(start.offset(offset))? != ERASED_WORD {
                return Ok(Some(start.offset(offset)));
            }
        }
        Ok(None)
    }

    /// The first word of a sector that is not erased.
    pub(crate) fn first_programmed_of(&mut self, sector: &Sector) -> Result<Option<Address>, StoreError<D::Error>> {
        let unit = self.geometry.part.unit_of(sector.address);
        let offset = sector.address.0 - self.geometry.part.start_of(unit).0;
        self.first_programmed(unit, offset, offset + sector.bytes)
    }

    /// Makes a descriptor that a power cut may have torn void, or frees the sector that it describes.
    pub(crate) fn void_or_free(&mut self, pointer: SectorPtr) -> Result<(), StoreError<D::Error>> {
        if self.detects() && self.units.home(pointer.unit()).is_some() && self.find_sector(pointer)?.is_none() {
            let address = self.place_of(pointer);
            let word = self.medium.read_word(address)?;
            if Descriptor::decode(word) == Descriptor::Void {
                return self.clear_upper_bit(address, word);
            }
        }
        self.free_sector(pointer)
    }

    /// Makes a link void that a power cut has torn. What it was to lead to holds nothing then.
    pub(crate) fn void_link(&mut self, sector: &Sector, new: SectorPtr) -> Result<(), StoreError<D::Error>> {
        if let Some(new) = self.find_sector(new)?
            && let Some(address) = self.first_programmed_of(&new)?
        {
            return self.corrupted(address, "data behind a link that is not there");
        }
        let word = self.link_word(sector)?;
        self.clear_upper_bit(sector.address, word)
    }

    /// Nothing where that was done before: a mount that finds the same last entry comes here again.
    fn clear_upper_bit(&mut self, address: Address, word: u32) -> Result<(), StoreError<D::Error>> {
        if word >> 31 == 0 {
            return Ok(());
        }
        self.medium.program(address.offset(3), &[(word >> 24) as u8 & 0x7F])
    }

    /// Makes a place of the log void that cannot be completed to an entry.
    pub(crate) fn void_place(&mut self, address: Address) -> Result<(), StoreError<D::Error>> {
        let mut bytes = [0; ENTRY_BYTES as usize];
        self.medium.read(address, &mut bytes)?;
        for bytes in Entry::steps_to_void(bytes) {
            self.medium.program(address, &bytes)?;
        }
        Ok(())
    }

    /// Whether a word that is no link is damage: recovery makes torn ones void.
    pub(crate) fn is_damaged_link(&self, word: u32) -> bool {
        self.detects() && Link::decode(word) == Link::Void && !Link::is_marked_void(word)
    }

    /// Whether a word that is no descriptor is damage.
    pub(crate) fn is_damaged_descriptor(&self, word: u32) -> bool {
        self.detects() && Descriptor::decode(word) == Descriptor::Void && !Descriptor::is_marked_void(word)
    }

    /// Refuses a unit whose assignment is not whole, but whose body was in use.
    pub(crate) fn expect_torn_assignment(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        if self.detects() && self.first_programmed(unit, HEADER_BYTES, self.geometry.part.unit_size_bytes)?.is_some() {
            let address = self.geometry.part.start_of(unit).offset(ASSIGNMENT_OFFSET);
            return self.corrupted(address, "a damaged assignment of a unit in use");
        }
        Ok(())
    }

    /// Refuses a log unit without `Ready` that is newer than the newest, unless it is what a cut leaves of a switch: whole entries,
    /// then perhaps a torn one, then nothing.
    pub(crate) fn expect_cut_head(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let mut index = 0;
        while self.detects() && index < self.geometry.log_entries {
            index += 1;
            if let Slot::Entry(_) = self.read_log(unit, index - 1)? {
                continue;
            }
            let from = HEADER_BYTES + u32::from(index) * ENTRY_BYTES;
            if self.first_programmed(unit, from, self.geometry.part.unit_size_bytes)?.is_some() {
                return self
                    .corrupted(self.entry_address(unit, index - 1), "a damaged entry in the head of a log unit");
            }
            break;
        }
        Ok(())
    }
}

const CRC_8: Crc<u8, NoTable> = Crc::<u8, NoTable>::new(&CRC_8_SMBUS);
const CRC_16: Crc<u16, NoTable> = Crc::<u16, NoTable>::new(&CRC_16_IBM_3740);

/// CRC-8/SMBUS of bytes that follow others with the CRC `crc`, which is 0 for none. Without a table: a word at a time is all that
/// clients check.
#[inline(never)]
pub fn crc_8(crc: u8, bytes: &[u8]) -> u8 {
    let mut digest = CRC_8.digest_with_initial(crc);
    digest.update(bytes);
    digest.finalize()
}

/// CRC-16/IBM-3740 of bytes that follow others with the CRC `crc`, which is 0xFFFF for none.
#[inline(never)]
pub fn crc_16(crc: u16, bytes: &[u8]) -> u16 {
    let mut digest = CRC_16.digest_with_initial(crc);
    digest.update(bytes);
    digest.finalize()
}

#[cfg(test)]
mod tests {
    //! Proves that codes can be computed piece by piece.
    use super::*;

    #[test]
    fn codes_of_pieces_are_those_of_the_whole() {
        assert_eq!((crc_8(0, b"123456789"), crc_16(0xFFFF, b"123456789")), (0xF4, 0x29B1));
        assert_eq!(crc_8(crc_8(0, b"1234"), b"56789"), 0xF4);
        assert_eq!(crc_16(crc_16(0xFFFF, b"1"), b"23456789"), 0x29B1);
    }
}
