//! The words in which a part is read and written.

use norn_flash::Address;

/// Whether a range is one aligned word of at most `word_bytes`.
pub(crate) fn is_word(address: Address, len: usize, word_bytes: u8) -> bool {
    len.is_power_of_two() && len <= usize::from(word_bytes) && (address.0 as usize).is_multiple_of(len)
}

/// The aligned words of at most `word_bytes` that make up a range: address and length of each.
pub(crate) fn words_of(address: Address, len: usize, word_bytes: u8) -> impl Iterator<Item = (Address, usize)> + Clone {
    let (mut at, end) = (address.0, address.0 + len as u32);
    std::iter::from_fn(move || {
        let left = end - at;
        if left == 0 {
            return None;
        }
        let aligned = 1 << at.trailing_zeros().min(u32::from(word_bytes).trailing_zeros());
        let fitting = 1 << left.ilog2();
        let word = (Address(at), aligned.min(fitting) as usize);
        at += word.1 as u32;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_aligned_and_as_large_as_possible() {
        let words = |address, len, max| -> Vec<_> {
            words_of(Address(address), len, max).map(|(at, len)| (at.0, len)).collect()
        };
        assert_eq!(words(3, 6, 4), [(3, 1), (4, 4), (8, 1)]);
        assert_eq!(words(2, 3, 4), [(2, 2), (4, 1)]);
        assert_eq!(words(0, 8, 2), [(0, 2), (2, 2), (4, 2), (6, 2)]);
        assert_eq!(words(32, 48, 32), [(32, 32), (64, 16)]);
        assert_eq!(words(0, 0, 4), []);
        assert_eq!(words(0, 7, 8), [(0, 4), (4, 2), (6, 1)]);
    }
}
