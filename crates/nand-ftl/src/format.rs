//! Every bit on flash: out-of-band areas, and the pages of the checkpoint.
//!
//! ```text
//! page     data                                  out-of-band area, one share for each code word
//!        ┌──────────┬──────────┬─ … ─┐ ┌─────────────────────────────────────────┬─────────┬─ … ─┐
//!        │ word 0   │ word 1   │     │ │ lba 3 · sequence 5 · wear 1 · crc 4 · ecc 2 │ ecc 2   │     │
//!        └──────────┴──────────┴─ … ─┘ └─────────────────────────────────────────┴─────────┴─ … ─┘
//! checkpoint page (the data of a page)
//!        ┌──────────────────────────────────────────────────────────────────────────┬──────────────┬─────────┐
//!        │ "NFT2" · logical pages 4 · since 8 · as of 8 · suspect 4 · runs 2 ·        │ journal      │ entries │
//!        │ trims 2 · next page of each open block 4 × 4                               │ runs, trims  │         │
//!        └──────────────────────────────────────────────────────────────────────────┴──────────────┴─────────┘
//! ```
//!
//! Values are little-endian. The byte that a maker marks bad blocks with is skipped wherever it is, and is 0xFF. The
//! check (CRC-32) covers the data, lba, sequence and wear; the code of word 0 covers its data and the 13 bytes before
//! the code, that of each other word its data. A run of the journal is the number of its first page, its length, and
//! the entry of the map that each of its pages is of; a trim is the first logical page and how many.
//!
//! Invariants: a page counts only if its check is right after correction; an lba of ones does not occur.

use crc::{CRC_32_ISO_HDLC, Crc};
use norn_flash::{Column, NandPart, PageNumber};

use crate::code_word;

/// The lba of the checkpoint's chunk 0 in an out-of-band area; logical pages are below.
pub(crate) const CHUNK_BASE: u32 = 0x80_0000;
/// The lba of the page that a format of a part in use begins with: no page with a lower sequence counts any more.
pub(crate) const FORMAT_BEGUN: u32 = 0xFF_FFFE;
/// Sequence numbers have five bytes; the last one stays unused.
pub(crate) const SEQUENCE_MAX: u64 = (1 << 40) - 2;
/// Bytes of a page of the checkpoint before its journal.
pub(crate) const HEADER_BYTES: usize = 32 + 4 * STREAMS;
/// Bytes of a run's length in the journal; the number of its first page precedes.
pub(crate) const RUN_LENGTH_BYTES: usize = 2;
/// Blocks that are open at a time at most: for what the client writes, and for what was copied once, twice, more often.
pub(crate) const STREAMS: usize = 4;
/// Bytes of a block's entry in the table of blocks.
pub(crate) const TABLE_ENTRY_BYTES: usize = 4;
/// The bit of a block's entry that says that it is bad; the others count its erases.
pub(crate) const TABLE_BAD: u32 = 1 << 31;

/// The version of the format that this describes: the last digit of what a chunk begins with.
pub(crate) const FORMAT_VERSION: u8 = 2;

const MAGIC: [u8; 4] = *b"NFT2";
const _: () = assert!(MAGIC[3] == b'0' + FORMAT_VERSION);
const LBA_NONE: u32 = 0xFF_FFFF;
pub(crate) const TAG_BYTES: usize = 13;
pub(crate) const CHECKED_TAG_BYTES: usize = 9;
const CODE_BYTES: usize = 2;
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// What the out-of-band area of a page says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// Logical page, or [`CHUNK_BASE`] and the number of a chunk.
    pub lba: u32,
    /// Its place in the order of all programs.
    pub sequence: u64,
    /// The last eight bits of its block's count of erases.
    pub wear: u8,
}

/// What a page held when it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A whole page, as it is now in the buffer.
    Page {
        tag: Tag,
        /// Whether the data in the part's register is right, too.
        register: Register,
    },
    /// Ones, except for a few bits.
    Blank,
    /// Anything else.
    Garbage,
}

/// Whether bits of a loaded page's data were wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Register {
    Right,
    Corrected,
}

/// Codes and decodes a page with its out-of-band area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codec {
    page_bytes: usize,
    words: usize,
    data_bytes: usize,
    share_bytes: usize,
    /// The byte of the out-of-band area that is left out.
    mark: usize,
}

impl Codec {
    /// For a part; `None` if its out-of-band area is too small.
    pub fn new(part: &NandPart) -> Option<Self> {
        let page_bytes = usize::from(part.page_bytes);
        let words = (page_bytes / usize::from(part.correction.bytes)).max(1);
        let share_bytes = usize::from(part.oob_bytes) / words;
        let codec = Codec {
            page_bytes,
            words,
            data_bytes: page_bytes / words,
            share_bytes,
            mark: usize::from(part.bad_mark.column.0) - page_bytes,
        };
        let fits = |word: usize, wanted: usize| codec.columns(word).take(wanted).count() == wanted;
        let all_fit = fits(0, TAG_BYTES + CODE_BYTES) && (1..words).all(|word| fits(word, CODE_BYTES));
        (all_fit && codec.data_bytes + TAG_BYTES <= code_word::BYTES_MAX).then_some(codec)
    }

    /// Where the out-of-band area of a page starts.
    pub fn oob_column(&self) -> Column {
        Column(self.page_bytes as u16)
    }

    /// Code words of a page.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Usable columns of a word's share of the out-of-band area.
    pub fn columns(&self, word: usize) -> impl Iterator<Item = usize> + use<> {
        let Codec { page_bytes, share_bytes, mark, .. } = *self;
        (word * share_bytes..(word + 1) * share_bytes).filter(move |&at| at != mark).map(move |at| page_bytes + at)
    }

    /// Copies usable bytes of a word's share to `bytes`, after the first `skipped` of them.
    fn gather<const N: usize>(&self, register: &[u8], word: usize, skipped: usize) -> [u8; N] {
        let mut bytes = [0; N];
        for (byte, column) in bytes.iter_mut().zip(self.columns(word).skip(skipped)) {
            *byte = register[column];
        }
        bytes
    }

    fn scatter(&self, register: &mut [u8], word: usize, skipped: usize, bytes: &[u8]) {
        for (&byte, column) in bytes.iter().zip(self.columns(word).skip(skipped)) {
            register[column] = byte;
        }
    }

    /// How many usable bytes of a word's share precede its code.
    pub fn code_at(word: usize) -> usize {
        if word == 0 { TAG_BYTES } else { 0 }
    }

    fn code_of(&self, register: &[u8], word: usize, tag: &[u8; TAG_BYTES]) -> u16 {
        let data = &register[word * self.data_bytes..(word + 1) * self.data_bytes];
        code_word::code(data, if word == 0 { tag } else { &[] })
    }

    /// Puts a tag and codes beside the data at the start of `register`.
    pub fn encode(&self, register: &mut [u8], tag: Tag) {
        register[self.page_bytes..].fill(0xFF);
        let mut bytes = [0; TAG_BYTES];
        bytes[..3].copy_from_slice(&tag.lba.to_le_bytes()[..3]);
        bytes[3..8].copy_from_slice(&tag.sequence.to_le_bytes()[..5]);
        bytes[8] = tag.wear;
        let check = self.check(register, &bytes);
        bytes[CHECKED_TAG_BYTES..].copy_from_slice(&check.to_le_bytes());
        self.scatter(register, 0, 0, &bytes);
        for word in 0..self.words {
            let code = self.code_of(register, word, &bytes);
            self.scatter(register, word, Self::code_at(word), &code.to_le_bytes());
        }
    }

    fn check(&self, register: &[u8], tag: &[u8]) -> u32 {
        let mut digest = CRC.digest();
        digest.update(&register[..self.page_bytes]);
        digest.update(&tag[..CHECKED_TAG_BYTES]);
        digest.finalize()
    }

    /// Corrects a loaded page in `register`, and says what it is.
    pub fn decode(&self, register: &mut [u8]) -> Content {
        let mut tag: [u8; TAG_BYTES] = self.gather(register, 0, 0);
        let mut state = Register::Right;
        for word in 0..self.words {
            let found = u16::from_le_bytes(self.gather(register, word, Self::code_at(word)));
            let computed = self.code_of(register, word, &tag);
            let Some((byte, bit)) = code_word::wrong_bit(found, computed) else { continue };
            if byte < self.data_bytes {
                register[word * self.data_bytes + byte] ^= bit;
                state = Register::Corrected;
            } else if word == 0 && byte < self.data_bytes + TAG_BYTES {
                tag[byte - self.data_bytes] ^= bit;
            }
        }
        let [l0, l1, l2, s0, s1, s2, s3, s4, wear, check @ ..] = tag;
        let lba = u32::from_le_bytes([l0, l1, l2, 0]);
        let sequence = u64::from_le_bytes([s0, s1, s2, s3, s4, 0, 0, 0]);
        if u32::from_le_bytes(check) == self.check(register, &tag) && lba != LBA_NONE && sequence <= SEQUENCE_MAX {
            return Content::Page { tag: Tag { lba, sequence, wear }, register: state };
        }
        let zeros: u32 = register.iter().map(|byte| byte.count_zeros()).sum();
        if zeros as usize <= 3 * self.words { Content::Blank } else { Content::Garbage }
    }
}

/// The version of the format in which a page's data is a page of the checkpoint; `None` if it is none.
pub(crate) fn checkpoint_version(data: &[u8]) -> Option<u8> {
    let is_chunk = data[..3] == MAGIC[..3] && data[3].is_ascii_digit();
    is_chunk.then(|| data[3] - b'0')
}

/// What a page of the checkpoint says before its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Logical pages of the device.
    pub logical_pages: u32,
    /// The journal has every program after this one, and
    pub since: u64,
    /// up to this one, of which the entries take account, too.
    pub as_of: u64,
    /// A page that does not count before it is programmed again.
    pub suspect: Option<PageNumber>,
    /// Runs and trims of the journal.
    pub runs: u16,
    pub trims: u16,
    /// The next page of each open block.
    pub open: [Option<PageNumber>; STREAMS],
}

impl Header {
    pub fn encode(&self, data: &mut [u8]) {
        let number = |page: Option<PageNumber>| page.map_or(u32::MAX, |page| page.0).to_le_bytes();
        data[..4].copy_from_slice(&MAGIC);
        data[4..8].copy_from_slice(&self.logical_pages.to_le_bytes());
        data[8..16].copy_from_slice(&self.since.to_le_bytes());
        data[16..24].copy_from_slice(&self.as_of.to_le_bytes());
        data[24..28].copy_from_slice(&number(self.suspect));
        data[28..30].copy_from_slice(&self.runs.to_le_bytes());
        data[30..32].copy_from_slice(&self.trims.to_le_bytes());
        for (bytes, &open) in data[32..HEADER_BYTES].chunks_exact_mut(4).zip(&self.open) {
            bytes.copy_from_slice(&number(open));
        }
    }

    /// `None` if it is no page of a checkpoint of this format.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let word = |at: usize| data[at..at + 4].try_into().map(u32::from_le_bytes).unwrap_or_default();
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let half = |at: usize| u16::from_le_bytes([data[at], data[at + 1]]);
        let page = |at: usize| Some(PageNumber(word(at))).filter(|page| page.0 != u32::MAX);
        let header = Header {
            logical_pages: word(4),
            since: long(8),
            as_of: long(16),
            suspect: page(24),
            runs: half(28),
            trims: half(30),
            open: core::array::from_fn(|stream| page(32 + 4 * stream)),
        };
        (data[..4] == MAGIC && header.since <= header.as_of && header.as_of <= SEQUENCE_MAX).then_some(header)
    }
}

#[cfg(test)]
mod tests {
    use norn_flash_sim::nand_catalogue::{k9f2808, k9k8g08, test_part};

    use super::*;

    #[test]
    fn any_one_wrong_bit_of_each_code_word_is_corrected() {
        for part in [k9f2808().part, k9k8g08().part, test_part(4, 4, 64).part] {
            let codec = Codec::new(&part).unwrap();
            let mut random = fastrand::Rng::with_seed(1);
            let mut page = std::vec![0; usize::from(part.register_bytes())];
            random.fill(&mut page[..usize::from(part.page_bytes)]);
            let tag = Tag { lba: 0x12_3456, sequence: 0x12_3456_789A, wear: 7 };
            codec.encode(&mut page, tag);
            assert_eq!(page[usize::from(part.bad_mark.column.0)], 0xFF);
            for bit in 0..8 * page.len() {
                let mut wrong = page.clone();
                wrong[bit / 8] ^= 1 << (bit % 8);
                let content = codec.decode(&mut wrong);
                assert!(matches!(content, Content::Page { tag: found, .. } if found == tag), "bit {bit}: {content:?}");
                assert_eq!(wrong[..usize::from(part.page_bytes)], page[..usize::from(part.page_bytes)], "bit {bit}");
            }
        }
    }

    #[test]
    fn two_wrong_bits_of_a_code_word_are_noticed() {
        let part = k9f2808().part;
        let codec = Codec::new(&part).unwrap();
        let mut random = fastrand::Rng::with_seed(2);
        let mut page = std::vec![0; usize::from(part.register_bytes())];
        random.fill(&mut page[..512]);
        codec.encode(&mut page, Tag { lba: 5, sequence: 9, wear: 0 });
        for _ in 0..20_000 {
            let (one, other) = (random.usize(0..8 * 517), random.usize(0..8 * 517));
            if one != other {
                let mut wrong = page.clone();
                wrong[one / 8] ^= 1 << (one % 8);
                wrong[other / 8] ^= 1 << (other % 8);
                assert_eq!(codec.decode(&mut wrong), Content::Garbage, "bits {one} and {other}");
            }
        }
    }

    #[test]
    fn an_erased_page_is_blank() {
        let part = k9f2808().part;
        let mut page = std::vec![0xFF; usize::from(part.register_bytes())];
        page[3] = 0xFE;
        assert_eq!(Codec::new(&part).unwrap().decode(&mut page), Content::Blank);
    }
}
