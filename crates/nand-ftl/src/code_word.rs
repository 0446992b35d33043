//! A code that finds the one wrong bit of a code word, in 16 bits.
//!
//! Bit `b` of byte `n` has the number 8(n+1) + b. The code is the exclusive or of the numbers of all bits that are
//! ones, with their parity on top. If one bit of the word is wrong, the parity says so and the difference of the codes
//! is its number; if the parity is right, either nothing is wrong, or a bit of the code itself, or more than the code
//! can correct, which the page's check notices.

/// Longest code word in bytes: what numbers of 15 bits reach.
pub(crate) const BYTES_MAX: usize = (1 << 12) - 1;

const PARITY: u16 = 1 << 15;

/// The code of the word that `data` and `tag` make together.
pub(crate) fn code(data: &[u8], tag: &[u8]) -> u16 {
    let (mut bytes, mut columns) = (0u16, 0u8);
    for (number, &byte) in (1u16..).zip(data.iter().chain(tag)) {
        bytes ^= number & odd(byte).wrapping_neg();
        columns ^= byte;
    }
    let bits = (0..8u16).filter(|bit| columns >> bit & 1 == 1).fold(0, |numbers, bit| numbers ^ bit);
    (odd(columns) * PARITY) | (bytes << 3) | bits
}

/// The byte of a word and the bit in it that is wrong, if one is, from the code that was read and that of the word.
pub(crate) fn wrong_bit(found: u16, computed: u16) -> Option<(usize, u8)> {
    let difference = found ^ computed;
    let byte = usize::from((difference & !PARITY) >> 3);
    (difference & PARITY != 0 && byte > 0).then(|| (byte - 1, 1 << (difference & 7)))
}

/// 1 if an odd number of bits are ones.
fn odd(byte: u8) -> u16 {
    let half = (byte ^ byte >> 4) & 15;
    0x6996 >> half & 1
}
