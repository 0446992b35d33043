//! Bit errors of loads, drawn at random for each load.

use norn_flash::NandPart;

/// How many bits of a loaded page read wrong. They are drawn at random for each load; the cells do not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noise {
    /// Most wrong bits in each code word of [`NandPart::correction`]: from none to this number, all equally often.
    pub bits_max: u8,
    /// How many of a million loads have one code word with more wrong bits than the code corrects: from one to that
    /// many and two more.
    pub beyond_per_million: u32,
}

/// The code words of a register: each has a part of the data and a share of the out-of-band area.
struct CodeWords {
    count: usize,
    data_bytes: usize,
    oob_bytes: usize,
    page_bytes: usize,
}

impl CodeWords {
    fn of(part: &NandPart) -> Self {
        let page_bytes = usize::from(part.page_bytes);
        let count = (page_bytes / usize::from(part.correction.bytes)).max(1);
        let (data_bytes, oob_bytes) = (page_bytes / count, usize::from(part.oob_bytes) / count);
        CodeWords { count, data_bytes, oob_bytes, page_bytes }
    }

    /// Byte of the register that is byte `at` of code word `word`.
    fn byte(&self, word: usize, at: usize) -> usize {
        if at < self.data_bytes {
            word * self.data_bytes + at
        } else {
            self.page_bytes + word * self.oob_bytes + at - self.data_bytes
        }
    }
}

impl Noise {
    /// Flips bits of a loaded page.
    pub(crate) fn apply(&self, part: &NandPart, register: &mut [u8], random: &mut fastrand::Rng) {
        if *self == Noise::default() {
            return;
        }
        let words = CodeWords::of(part);
        let beyond = (random.u32(0..1_000_000) < self.beyond_per_million).then(|| random.usize(0..words.count));
        for word in 0..words.count {
            let bits = match beyond {
                Some(hit) if hit == word => part.correction.bits + random.u8(1..=part.correction.bits + 2),
                _ => random.u8(0..=self.bits_max),
            };
            flip(&words, word, usize::from(bits), register, random);
        }
    }
}

/// Flips `bits` different bits of a code word.
fn flip(words: &CodeWords, word: usize, bits: usize, register: &mut [u8], random: &mut fastrand::Rng) {
    let all = 8 * (words.data_bytes + words.oob_bytes);
    let mut places = Vec::with_capacity(bits.min(all));
    while places.len() < bits.min(all) {
        let place = random.usize(0..all);
        if !places.contains(&place) {
            places.push(place);
            register[words.byte(word, place / 8)] ^= 1 << (place % 8);
        }
    }
}
