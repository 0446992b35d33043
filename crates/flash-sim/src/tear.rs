//! What a cut of the power leaves of the operation that it hits.

use std::ops::{Range, RangeInclusive};

/// How the operation in flight is torn. Each shape says what happens to the bits that the operation was to change:
/// those that a program clears in one word, or those that an erase sets in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tear {
    /// None of them changes.
    Nothing,
    /// All of them change, but the call fails. Such an erase still counts as torn, because nothing shows that it is
    /// complete.
    Complete,
    /// Only the one of this number does, counted modulo their number.
    OneBit(u32),
    /// All but the one of this number do, counted modulo their number.
    AllButOneBit(u32),
    /// Each does or does not, by coin, from this seed.
    Subset(u64),
    /// As `Subset`, in every word of the call, also in those before the cut; an erase as `Subset`.
    Scattered(u64),
    /// Those in the first bytes, as many as the seed says.
    Prefix(u64),
    /// Those in the last bytes, as many as the seed says.
    Suffix(u64),
    /// As `Subset`; after an erase, an eighth of the bits then reads differently each time.
    Unstable(u64),
    /// One to four of them do, as the seed says.
    Few(u64),
    /// All but one to four of them do, as the seed says.
    AllButFew(u64),
    /// All of them change, but one to four then read differently each time. For a program on NOR, this is more than its
    /// contract allows: a cell that is charged halfway.
    Marginal(u64),
    /// As `Marginal`, with 5 to 16 of them: now and then a record or a page reads as whole, most of the time it does
    /// not.
    Wavering(u64),
    /// As `Subset`; when the power comes on for the second time after the cut, half of those that had changed are as
    /// they were: cells whose charge leaks off while the part is off. The contract of NOR parts does not allow it.
    Late(u64),
    /// All but 5 to 16 of them change, and those, too, when the power comes on for the second time after the cut: cells
    /// near the level at which they are read. The contract of NOR parts does not allow it.
    Returning(u64),
    /// An erase that clears bits before it sets any, and is cut in that: of its ones each is cleared or not, by coin.
    /// No contract allows it: a part that programs a unit before erasing it. A program as `Subset`.
    ZerosFirst(u64),
    /// As `ZerosFirst`, byte after byte: what is left is all zeros, or zeros up to a border, or from one on, which lies
    /// in the first 64 bytes half the time. A program up to the border, or from it on.
    ZerosInOrder(u64),
}

impl Tear {
    /// One of every shape that all contracts allow.
    pub fn allowed(seed: u64) -> [Tear; 11] {
        [
            Tear::Nothing,
            Tear::Complete,
            Tear::OneBit(seed as u32),
            Tear::AllButOneBit(seed as u32),
            Tear::Subset(seed),
            Tear::Scattered(seed),
            Tear::Prefix(seed),
            Tear::Suffix(seed),
            Tear::Unstable(seed),
            Tear::Few(seed),
            Tear::AllButFew(seed),
        ]
    }

    /// One of every shape that the contract of NAND parts allows, and that of NOR parts does not.
    pub fn allowed_on_nand(seed: u64) -> [Tear; 4] {
        [Tear::Marginal(seed), Tear::Wavering(seed), Tear::Late(seed), Tear::Returning(seed)]
    }

    /// A shape drawn from `random`: one of the first nine of [`allowed`](Self::allowed), all equally often.
    pub fn draw(random: &mut fastrand::Rng) -> Tear {
        let seed = random.u64(..);
        match random.u8(0..9) {
            0 => Tear::Nothing,
            1 => Tear::Complete,
            2 => Tear::OneBit(seed as u32),
            3 => Tear::AllButOneBit(seed as u32),
            4 => Tear::Subset(seed),
            5 => Tear::Scattered(seed),
            6 => Tear::Prefix(seed),
            7 => Tear::Suffix(seed),
            _ => Tear::Unstable(seed),
        }
    }

    /// A shape drawn from `random`: one of those that the contract of NAND parts allows, all equally often.
    pub fn draw_on_nand(random: &mut fastrand::Rng) -> Tear {
        let seed = random.u64(..);
        let (all, more) = (Tear::allowed(seed), Tear::allowed_on_nand(seed));
        let number = random.usize(0..all.len() + more.len());
        all.get(number).copied().unwrap_or_else(|| more[number - all.len()])
    }

    /// Of the bits set in `changing`, those that read differently each time after the cut: none of most shapes.
    pub(crate) fn unstable(self, changing: &[u8]) -> Vec<u8> {
        match self {
            Tear::Unstable(seed) => {
                let mut random = fastrand::Rng::with_seed(!seed);
                changing.iter().map(|bits| bits & random.u8(..) & random.u8(..) & random.u8(..)).collect()
            }
            Tear::Marginal(seed) => some_bits(changing, FEW, seed),
            Tear::Wavering(seed) => some_bits(changing, SEVERAL, seed),
            _ => Vec::new(),
        }
    }

    /// Of the bits set in `changing`, of which those in `changed` did change, those that are the other way round when
    /// the power comes on for the second time; `None` of most shapes.
    pub(crate) fn unsettled(self, changing: &[u8], changed: &[u8]) -> Option<Vec<u8>> {
        match self {
            Tear::Late(seed) => {
                let mut random = fastrand::Rng::with_seed(!seed);
                Some(changed.iter().map(|bits| bits & random.u8(..)).collect())
            }
            Tear::Returning(_) => Some(changing.iter().zip(changed).map(|(bits, changed)| bits & !changed).collect()),
            _ => None,
        }
    }

    /// Whether an erase of this shape clears bits, and sets none.
    pub(crate) fn clears_first(self) -> bool {
        matches!(self, Tear::ZerosFirst(_) | Tear::ZerosInOrder(_))
    }

    /// Of the bits set in `changing`, those that do change.
    pub(crate) fn select(self, changing: &[u8]) -> Vec<u8> {
        match self {
            Tear::Nothing => vec![0; changing.len()],
            Tear::Complete => changing.to_vec(),
            Tear::OneBit(number) => nth_bit(changing, number),
            Tear::AllButOneBit(number) => all_but(changing, nth_bit(changing, number)),
            Tear::Few(seed) => some_bits(changing, FEW, seed),
            Tear::AllButFew(seed) => all_but(changing, some_bits(changing, FEW, seed)),
            Tear::Returning(seed) => all_but(changing, some_bits(changing, SEVERAL, seed)),
            Tear::Marginal(_) | Tear::Wavering(_) => changing.to_vec(),
            Tear::Subset(seed)
            | Tear::Scattered(seed)
            | Tear::Unstable(seed)
            | Tear::Late(seed)
            | Tear::ZerosFirst(seed) => {
                let mut random = fastrand::Rng::with_seed(seed);
                changing.iter().map(|bits| bits & random.u8(..)).collect()
            }
            Tear::Prefix(seed) => {
                let border = seed as usize % (changing.len() + 1);
                changing.iter().enumerate().map(|(at, &bits)| if at < border { bits } else { 0 }).collect()
            }
            Tear::Suffix(seed) => {
                let border = seed as usize % (changing.len() + 1);
                changing.iter().enumerate().map(|(at, &bits)| if at >= border { bits } else { 0 }).collect()
            }
            Tear::ZerosInOrder(seed) => {
                let zeroed = zeros_in_order(changing.len(), seed);
                changing.iter().enumerate().map(|(at, &bits)| if zeroed.contains(&at) { bits } else { 0 }).collect()
            }
        }
    }
}

/// How many bits are a few, and how many several.
const FEW: RangeInclusive<u8> = 1..=4;
const SEVERAL: RangeInclusive<u8> = 5..=16;

/// Bytes in which an erase has been clearing bits, one after the other, when the power is cut.
fn zeros_in_order(len: usize, seed: u64) -> Range<usize> {
    let mut random = fastrand::Rng::with_seed(seed);
    let border = if random.bool() { random.usize(..=len.min(HEAD_BYTES)) } else { random.usize(..=len) };
    match random.u8(..5) {
        0 => 0..len,
        1..3 => 0..border,
        _ => border..len,
    }
}

/// Bytes at the start of a unit in which formats have its head.
const HEAD_BYTES: usize = 64;

/// As many as `count` says of the bits that are set in `bytes`, as the seed says.
fn some_bits(bytes: &[u8], count: RangeInclusive<u8>, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut selected = vec![0; bytes.len()];
    for _ in 0..random.u8(count) {
        let one = nth_bit(bytes, random.u32(..));
        selected.iter_mut().zip(one).for_each(|(all, bit)| *all |= bit);
    }
    selected
}

/// The bits that are set in `bytes`, without those in `spared`.
fn all_but(bytes: &[u8], spared: Vec<u8>) -> Vec<u8> {
    bytes.iter().zip(spared).map(|(bits, spared)| bits & !spared).collect()
}

/// The bit of number `number` modulo their count, of those that are set in `bytes`.
fn nth_bit(bytes: &[u8], number: u32) -> Vec<u8> {
    let mut selected = vec![0; bytes.len()];
    let count: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
    if count == 0 {
        return selected;
    }
    let mut left = number % count;
    for (at, byte) in bytes.iter().enumerate() {
        for bit in (0..8).filter(|bit| byte >> bit & 1 == 1) {
            if left == 0 {
                selected[at] = 1 << bit;
                return selected;
            }
            left -= 1;
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGING: [u8; 4] = [0b1010_0000, 0, 0xFF, 0b1];

    fn count(bytes: &[u8]) -> u32 {
        bytes.iter().map(|byte| byte.count_ones()).sum()
    }

    #[test]
    fn a_shape_selects_from_the_changing_bits_only() {
        let mut random = fastrand::Rng::with_seed(1);
        for tear in (0..200).flat_map(|_| [Tear::draw(&mut random)].into_iter().chain(Tear::allowed(random.u64(..)))) {
            for (selected, changing) in tear.select(&CHANGING).iter().zip(CHANGING) {
                assert_eq!(selected & !changing, 0, "{tear:?}");
            }
        }
    }

    #[test]
    fn single_bits_are_all_reached() {
        let mut union = [0; 4];
        for number in 0..11 {
            let one = Tear::OneBit(number).select(&CHANGING);
            assert_eq!(count(&one), 1);
            assert_eq!(count(&Tear::AllButOneBit(number).select(&CHANGING)), 10);
            union.iter_mut().zip(one).for_each(|(all, bits)| *all |= bits);
        }
        assert_eq!(union, CHANGING);
    }

    #[test]
    fn few_bits_are_one_to_four() {
        let mut seen = [0; 5];
        for seed in 0..100 {
            let few = count(&Tear::Few(seed).select(&CHANGING));
            assert_eq!(count(&Tear::AllButFew(seed).select(&CHANGING)), 11 - few);
            seen[few as usize] += 1;
        }
        assert!(seen[0] == 0 && seen[1..].iter().all(|&times| times > 5), "{seen:?}");
    }

    #[test]
    fn prefix_and_suffix_of_one_seed_make_a_whole() {
        for seed in 0..5 {
            let (prefix, suffix) = (Tear::Prefix(seed).select(&CHANGING), Tear::Suffix(seed).select(&CHANGING));
            let whole: Vec<u8> = prefix.iter().zip(suffix).map(|(a, b)| a | b).collect();
            assert_eq!(whole, CHANGING);
        }
        assert_eq!(Tear::Nothing.select(&CHANGING), [0; 4]);
        assert_eq!(Tear::Complete.select(&CHANGING), CHANGING);
    }
}
