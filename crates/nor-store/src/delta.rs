//! Deltas: new values of single items, one after the other in a sector of their own.
//!
//! A chain of sectors may end in *delta sectors*, of kind opaque: a link, then deltas. A delta says "item *i* has this
//! value"; the last one for *i* that was not undone counts, and what the chain's other sectors hold for *i* does not.
//! So an item is changed by one program, outside transactions and in them: the deltas of a transaction are *open* until
//! it commits, and made void when it aborts. This file has their bits; `versions.rs` adds and closes them.
//!
//! ```text
//! narrow bits 0..16 value · 16..24 index · 24 at once · 25 one · 26..31 zeros · 31 open                (4 bytes)
//! wide   bits 0..7 words · 7 at once · 8 standing · 9..16 ones · 16..24 index · 24 one · 25..31 zeros · 31 open
//! void   narrow: bits 24 and 25 zero · wide: bit 8 zero
//! ```
//!
//! A value of one or two bytes is in the delta; a wider one is after its delta, in whole words. These are programmed
//! first, so that a whole delta has a whole value. The count of zeros, of bits 0 to 25, detects a torn one (`format.rs`
//! says why); after a torn delta there is none. Committing and making void each clear one bit. That is safe, since no
//! torn delta has a bit cleared that the whole one has not: none is void, and one that is torn from *at once* is not
//! open.
//!
//! Invariants: deltas of a sector are taken in order; outside a transaction none is open.

use crate::format::{Close, LINK_BYTES};

/// Bytes of a delta without the value after it.
pub(crate) const DELTA_BYTES: u32 = 4;
/// Where the first delta of a sector is.
pub const DELTAS_OFFSET: u32 = LINK_BYTES;
/// Bytes of the widest value that is in the delta itself.
const NARROW_BYTES: usize = 2;
/// Most words of a value.
const WORDS_MAX: u32 = 64;
const CODED_BITS: u32 = 26;
const OPEN: u32 = 1 << 31;
/// The two bits that distinguish narrow deltas, wide ones, and void narrow ones.
const KIND: u32 = 0b11 << 24;
const NARROW: u32 = 1 << 25;
/// Of a narrow delta: whether it counted at once. Of a wide one, it is always set.
const WIDE: u32 = 1 << 24;
const WIDE_AT_ONCE: u32 = 1 << 7;
const WIDE_STANDING: u32 = 1 << 8;
const WIDE_ONES: u32 = 0x7F << 9;

/// Whether a new delta counts at once, or with the commit of the open transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// At once: one program makes it durable.
    AtOnce,
    /// In the open transaction; an abort makes it void.
    WithCommit,
}

/// A whole delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Where it is in its sector.
    pub at: u32,
    word: u32,
}

impl Delta {
    /// Whether a value of this length follows its delta.
    pub(crate) const fn is_wide_value(value_bytes: usize) -> bool {
        value_bytes > NARROW_BYTES
    }

    /// Bytes of a delta with a value of this length.
    pub const fn bytes(value_bytes: u32) -> u32 {
        match Self::is_wide_value(value_bytes as usize) {
            true => DELTA_BYTES + value_bytes.next_multiple_of(4),
            false => DELTA_BYTES,
        }
    }

    /// The word of a delta.
    pub fn encode(index: u8, value: &[u8], counting: Counting) -> u32 {
        let at_once = counting == Counting::AtOnce;
        let bits = match *value {
            [byte] => u32::from(byte) | NARROW | if at_once { WIDE } else { 0 },
            [low, high] => u32::from(u16::from_le_bytes([low, high])) | NARROW | if at_once { WIDE } else { 0 },
            _ => {
                let words = value.len().div_ceil(4) as u32;
                words | WIDE | WIDE_STANDING | WIDE_ONES | if at_once { WIDE_AT_ONCE } else { 0 }
            }
        };
        let bits = bits | u32::from(index) << 16;
        bits | zeros(bits) << CODED_BITS | OPEN
    }

    /// The delta that `word` is, at `at` in its sector; `None` for one that is erased or torn.
    pub fn decode(word: u32, at: u32) -> Option<Delta> {
        let delta = Delta { at, word };
        let before = match word & KIND {
            0 => word | NARROW,
            WIDE => word | WIDE_STANDING,
            _ => word,
        };
        let whole = before >> CODED_BITS & 0x1F == zeros(before);
        (whole && delta.words() <= WORDS_MAX).then_some(delta)
    }

    /// Which item.
    pub fn index(&self) -> usize {
        (self.word >> 16 & 0xFF) as usize
    }

    fn is_wide(&self) -> bool {
        self.word & KIND == WIDE
    }

    /// Words of a value after it.
    fn words(&self) -> u32 {
        if self.is_wide() { self.word & 0x7F } else { 0 }
    }

    /// Where its value starts in the sector.
    pub fn value_at(&self) -> u32 {
        if self.is_wide() { self.at + DELTA_BYTES } else { self.at }
    }

    /// Where the next delta is.
    pub fn end(&self) -> u32 {
        self.at + DELTA_BYTES + 4 * self.words()
    }

    /// Whether it counts, at least in the open transaction: it was not made void.
    pub fn stands(&self) -> bool {
        if self.is_wide() { self.word & WIDE_STANDING != 0 } else { self.word & KIND != 0 }
    }

    /// Whether it belongs to the open transaction.
    pub fn is_open(&self) -> bool {
        let at_once = if self.is_wide() { WIDE_AT_ONCE } else { WIDE };
        self.stands() && self.word & at_once == 0 && self.word & OPEN != 0
    }

    /// The word when the transaction has ended.
    fn closed(&self, close: Close) -> u32 {
        self.word
            & !match close {
                Close::Commit => OPEN,
                Close::Abort if self.is_wide() => WIDE_STANDING,
                Close::Abort => NARROW,
            }
    }

    /// What to program to close it: where in its sector, and the one byte that changes.
    pub(crate) fn closing(&self, close: Close) -> (u32, u8) {
        let closed = self.closed(close);
        let byte = (self.word ^ closed).trailing_zeros() / 8;
        (self.at + byte, (closed >> (8 * byte)) as u8)
    }
}

/// Number of zeros among the coded bits.
fn zeros(word: u32) -> u32 {
    (!word << (32 - CODED_BITS)).count_ones()
}

#[cfg(test)]
mod tests {
    //! Proves that deltas are found again as they were made, and that no torn one is taken for whole, open or void.
    use super::*;

    const VALUES: [(u8, &[u8]); 7] = [
        (0, &[0]),
        (254, &[0xFF]),
        (255, &[0xFF, 0xFF]),
        (0x55, &[0xAA, 0x55]),
        (49, &[0; 3]),
        (127, &[1; 4]),
        (254, &[0xFF; 255]),
    ];

    #[test]
    fn deltas_round_trip() {
        for (index, value) in VALUES {
            let [at_once, open] = [Counting::AtOnce, Counting::WithCommit]
                .map(|counting| Delta::decode(Delta::encode(index, value, counting), 4).unwrap());
            let [committed, void] =
                [Close::Commit, Close::Abort].map(|close| Delta::decode(open.closed(close), 4).unwrap());
            for delta in [at_once, open, committed, void] {
                assert_eq!(delta.index(), usize::from(index));
                assert_eq!(delta.end(), 4 + Delta::bytes(value.len() as u32));
                assert_eq!(delta.value_at(), if value.len() > 2 { 8 } else { 4 });
            }
            assert_eq!([at_once, open, committed, void].map(|delta| delta.stands()), [true, true, true, false]);
            assert_eq!([at_once, open, committed, void].map(|delta| delta.is_open()), [false, true, false, false]);
        }
        assert_eq!((Delta::decode(u32::MAX, 4), Delta::decode(0, 4)), (None, None));
    }

    /// The example of `docs/format/nor-store.md`, chapter 14.
    #[test]
    fn the_documented_words() {
        assert_eq!(Delta::encode(49, &1000u16.to_le_bytes(), Counting::AtOnce), 0xBF31_03E8);
        assert_eq!((Delta::decode(0xFF31_03E8, 4), Delta::decode(0xC231_0000, 4)), (None, None));
        let open = Delta::decode(Delta::encode(49, &[0, 0], Counting::WithCommit), 4).unwrap();
        assert_eq!(open.word, 0xDA31_0000);
        assert_eq!([Close::Commit, Close::Abort].map(|close| open.closed(close)), [0x5A31_0000, 0xD831_0000]);
    }

    #[test]
    fn no_torn_delta_passes() {
        for (index, value) in VALUES {
            for whole in [Counting::AtOnce, Counting::WithCommit].map(|counting| Delta::encode(index, value, counting))
            {
                let cleared = !whole;
                let mut kept = cleared; // Walks over every subset of the bits that were to be cleared.
                for _ in 0..1 << 20 {
                    if kept == 0 {
                        break;
                    }
                    assert_eq!(Delta::decode(whole | kept, 4), None, "{whole:#x} with {kept:#x} left");
                    kept = (kept - 1) & cleared;
                }
            }
        }
    }
}
