//! Error detection: what the store adds so that every flipped bit of what is in use shows, and how it distinguishes
//! damage from what a power cut leaves.
//!
//! A torn program and a flipped bit can look alike. They are distinguished by place: only what the log's last entries
//! announce may be torn, and recovery completes it or makes it *void*. After a mount, whatever is neither whole nor
//! erased nor void is damage. `docs/design/error-detection.md` has the reasons.
//!
//! To make a record void takes care: bits that are cleared on the way must not make it look whole, if power fails once
//! more.
//! 1. A torn descriptor or link gets one more bit cleared, its uppermost. What is whole has that bit set, or is
//!    obsolete; and what is torn states more zeros than it has, and one bit less than all ones is neither.
//! 2. A torn log entry becomes all zeros: first one bit of its codes is cleared that would have to be set, then all its
//!    codes, then the rest.
//!
//! Invariants with detection on: after a mount no descriptor and no link is torn, and of the log's places at most the
//! last; a commit that has begun to take effect is written twice; tree words that are not void agree with their
//! mirrors.

use crc::{CRC_8_SMBUS, CRC_16_IBM_3740, Crc, NoTable};

use crate::format::{NODE_SLOTS, NODE_SPARES, TREE_WORD_BYTES};

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
}

const CRC_8: Crc<u8, NoTable> = Crc::<u8, NoTable>::new(&CRC_8_SMBUS);
const CRC_16: Crc<u16, NoTable> = Crc::<u16, NoTable>::new(&CRC_16_IBM_3740);

/// CRC-8/SMBUS of bytes that follow others with the CRC `crc`, which is 0 for none. Without a table: a word at a time
/// is all that clients check.
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
