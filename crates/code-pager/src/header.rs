//! The header of an image: where the image is, which program it is, and how to tell that it is whole.
//!
//! ```text
//! 0 "NPAG" │ 4 format 2 │ 5 code bytes │ 6 cache-page bytes 2 │ 8 image bytes 4 │ 12 first block of its room 2
//! 14 number of bad blocks 2 │ 16 bad blocks 8 × 2 │ 32 generation 4 │ 36 CRC-32C of the image 4
//! 40 program version: major 2, minor 2, patch 4 │ 48 the header's own block 2 │ 50 zeros │ 60 CRC-32C of bytes 0..60
//! ```
//!
//! A block that goes bad may keep the header of an earlier image, or one whose program failed, and may show it to one
//! reader and not to the next. So each header has a higher *generation* than those that were found before it was
//! written, and the highest counts. Where a switch says which program a room has, the header that it names counts
//! ([`Program`]). Format 1 has zeros from byte 32 on: its generation is 0, and it has no check of the
//! image. Its own code corrects a bit of a header. `docs/format/code-image.md` has every bit.

use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use norn_flash::{Block, Nand, NandPart, PageAddress};

use crate::address::ImagePage;
use crate::code::{Check, Code, Crc32c, Uncorrectable, crc32c};
use crate::error::ImageError;
use crate::image::{BAD_BLOCKS_MAX, CACHE_PAGES_MAX, HEADER_BYTES, Image, PageLayout, column};

const MAGIC: [u8; 4] = *b"NPAG";
pub(crate) const FORMAT_VERSION: u8 = 2;
const CHECKED_BYTES: usize = HEADER_BYTES - Crc32c::BYTES;
/// How often a page is loaded before it is taken for damaged.
const LOADS_MAX: u32 = 8;
/// The first format whose headers say more than where the image is.
const CHECKED_FORMAT: u8 = 2;

/// The version of a program, as its maker numbers it; by default 0.0.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Counts changes after which other programs have to change, too.
    pub major: u16,
    /// Counts additions.
    pub minor: u16,
    /// Counts the rest.
    pub patch: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Text that is no [`Version`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoVersion;

impl fmt::Display for NoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a version is three numbers, such as 1.4.0")
    }
}

impl core::error::Error for NoVersion {}

impl FromStr for Version {
    type Err = NoVersion;

    fn from_str(text: &str) -> Result<Self, NoVersion> {
        let mut numbers = text.split('.');
        let mut next = || numbers.next().ok_or(NoVersion);
        let (major, minor, patch) = (next()?, next()?, next()?);
        if numbers.next().is_some() {
            return Err(NoVersion);
        }
        Ok(Version {
            major: major.parse().map_err(|_| NoVersion)?,
            minor: minor.parse().map_err(|_| NoVersion)?,
            patch: patch.parse().map_err(|_| NoVersion)?,
        })
    }
}

/// Which of the headers in a room counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// None: nothing in the room may run.
    Nothing,
    /// The one of the highest generation.
    Newest,
    /// The one whose bytes before its code have this checksum, which is neither 0 nor [`u32::MAX`].
    Named(u32),
}

impl Program {
    /// The name of the program with this header.
    pub fn of_header(header: &[u8; HEADER_BYTES]) -> Self {
        Program::Named(crc32c(&header[..CHECKED_BYTES]).clamp(1, u32::MAX - 1))
    }

    pub const fn of_word(word: u32) -> Self {
        match word {
            0 => Program::Nothing,
            u32::MAX => Program::Newest,
            name => Program::Named(name),
        }
    }

    pub const fn to_word(self) -> u32 {
        match self {
            Program::Nothing => 0,
            Program::Newest => u32::MAX,
            Program::Named(name) => name,
        }
    }

    fn is_of(self, header: &[u8; HEADER_BYTES]) -> bool {
        self == Program::Newest || self == Program::of_header(header)
    }
}

/// What the header of an image says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Where the image is.
    pub image: Image,
    /// The program's version; 0.0.0 in format 1.
    pub version: Version,
    /// CRC-32C of the image's bytes; none in format 1.
    pub check: Option<u32>,
    /// Which of the headers in a room counts: the highest.
    pub(crate) generation: u32,
}

impl Header {
    /// Finds the image in cache pages of this width, whose header is in one of the first blocks from `start` on: it
    /// looks into one block more than an image may have bad ones. Cost: a load for each.
    ///
    /// # Errors
    /// Says what is wrong with what was found, or that nothing was.
    pub fn find<D: Nand, C: Code>(
        device: &mut D,
        start: Block,
        cache_page_bytes: usize,
    ) -> Result<Self, ImageError<D::Error>> {
        Self::find_program::<D, C>(device, start, cache_page_bytes, Program::Newest).map(|(header, _)| header)
    }

    /// As [`find`](Self::find), the header of this program; and how to name it.
    pub(crate) fn find_program<D: Nand, C: Code>(
        device: &mut D,
        start: Block,
        cache_page_bytes: usize,
        program: Program,
    ) -> Result<(Self, Program), ImageError<D::Error>> {
        let mut header = [0; HEADER_BYTES];
        let image = Image::find_by::<D, C>(device, start, cache_page_bytes, program, &mut header)?;
        let check = (header[4] >= CHECKED_FORMAT).then(|| word(&header, 36));
        let version = Version { major: half(&header, 40), minor: half(&header, 42), patch: word(&header, 44) };
        Ok((Header { image, version, check, generation: word(&header, 32) }, Program::of_header(&header)))
    }

    /// Reads the whole image, and says whether it is what was written. `cache_page` has the bytes of a cache page.
    /// Cost: a load for each page of the part that the image takes, the transfer of its bytes, and some 12
    /// instructions for each byte, 24 with a code. An image in format 1 has no check: of that, codes are all that is
    /// checked.
    ///
    /// # Errors
    /// If a cache page has more wrong bits than its code corrects, or the image is another one than was written; if the
    /// device fails.
    ///
    /// # Panics
    /// If `cache_page` is of another length.
    pub fn verify<D: Nand, C: Code>(&self, device: &mut D, cache_page: &mut [u8]) -> Result<(), ImageError<D::Error>> {
        let image = &self.image;
        assert!(cache_page.len() == usize::from(image.cache_page_bytes()), "memory for one cache page");
        let per_page = u32::from(image.layout.per_page.get());
        let mut check = Check::default();
        let mut left = image.size_bytes() as usize;
        for number in 0..image.cache_pages() {
            let (page, index) = (image.address(ImagePage(number / per_page)), number % per_page);
            if index == 0 {
                device.load(page)?;
            }
            let mut loads = 1;
            while fetch_corrected::<D, C>(device, cache_page)?.is_err() {
                if loads == LOADS_MAX {
                    return Err(ImageError::Damaged { page });
                }
                // Bits may err at random.
                device.load(page)?;
                device.seek(column::<C>(index as u16, cache_page.len()))?;
                loads += 1;
            }
            let inside = left.min(cache_page.len());
            check.add(&cache_page[..inside]);
            left -= inside;
        }
        match (self.check, check.value()) {
            (Some(expected), found) if expected != found => Err(ImageError::OtherBytes { expected, found }),
            _ => Ok(()),
        }
    }

    /// The header's bytes.
    pub(crate) fn encode<C: Code>(&self) -> [u8; HEADER_BYTES] {
        let Header { image, version, check, generation } = self;
        let mut header = [0; HEADER_BYTES];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(4, &[FORMAT_VERSION, C::BYTES as u8]);
        put(6, &image.cache_page_bytes().to_le_bytes());
        put(8, &image.size_bytes().to_le_bytes());
        put(12, &image.start().0.to_le_bytes());
        put(14, &(image.bad_blocks().len() as u16).to_le_bytes());
        for (at, bad) in (16..).step_by(2).zip(image.bad_blocks()) {
            put(at, &bad.0.to_le_bytes());
        }
        put(32, &generation.to_le_bytes());
        put(36, &check.unwrap_or(0).to_le_bytes());
        put(40, &version.major.to_le_bytes());
        put(42, &version.minor.to_le_bytes());
        put(44, &version.patch.to_le_bytes());
        put(48, &image.header_page().block.0.to_le_bytes());
        let code = Crc32c::encode(&header[..CHECKED_BYTES]);
        header[CHECKED_BYTES..].copy_from_slice(&code);
        header
    }
}

impl Image {
    /// Finds the image in cache pages of this width, as [`Header::find`] does.
    ///
    /// # Errors
    /// As there.
    pub fn find<D: Nand, C: Code>(
        device: &mut D,
        start: Block,
        cache_page_bytes: usize,
    ) -> Result<Self, ImageError<D::Error>> {
        Self::find_by::<D, C>(device, start, cache_page_bytes, Program::Newest, &mut [0; HEADER_BYTES])
    }

    /// Finds the image, and its header's bytes.
    fn find_by<D: Nand, C: Code>(
        device: &mut D,
        start: Block,
        cache_page_bytes: usize,
        program: Program,
        header: &mut [u8; HEADER_BYTES],
    ) -> Result<Self, ImageError<D::Error>> {
        let part = device.part();
        let layout = PageLayout::of::<C, _>(&part, cache_page_bytes)?;
        match newest(device, start, program, header)? {
            Some(page) => Self::decode::<D::Error, C>(header, &part, layout, page),
            None => {
                let Range { start, end } = places(&part, start);
                Err(ImageError::NoImage { start: Block(start), end: Block(end.saturating_sub(1)) })
            }
        }
    }

    fn decode<E, C: Code>(
        header: &[u8; HEADER_BYTES],
        part: &NandPart,
        layout: PageLayout,
        page: PageAddress,
    ) -> Result<Self, ImageError<E>> {
        let (version, code_bytes, cache_page_bytes) = (header[4], header[5], half(header, 6));
        if version > FORMAT_VERSION {
            return Err(ImageError::Newer { version });
        }
        if usize::from(code_bytes) != C::BYTES || cache_page_bytes != layout.cache_page_bytes.get() {
            return Err(ImageError::Layout { cache_page_bytes, code_bytes });
        }
        let image_bytes = word(header, 8);
        let mut image = Image::beginning(layout, image_bytes, Block(half(header, 12)), page.block);
        let bad_count = usize::from(half(header, 14));
        let mut previous = page.block;
        for at in 0..bad_count.min(BAD_BLOCKS_MAX) {
            let bad = Block(half(header, 16 + 2 * at));
            if bad <= previous || image.add_bad(bad).is_err() {
                return Err(ImageError::Header { page });
            }
            previous = bad;
        }
        let blocks = image.block_count() + image.bad_blocks().len() as u32;
        let fits = u32::from(page.block.0) + blocks <= u32::from(part.block_count);
        let too_many_pages = image.cache_pages() > CACHE_PAGES_MAX;
        if bad_count > BAD_BLOCKS_MAX || image_bytes == 0 || !fits || too_many_pages {
            return Err(ImageError::Header { page });
        }
        Ok(image)
    }
}

/// Fetches the cache page at the register's position, and its code.
fn fetch_corrected<D: Nand, C: Code>(
    device: &mut D,
    cache_page: &mut [u8],
) -> Result<Result<u32, Uncorrectable>, D::Error> {
    let mut code = [0; 4];
    device.fetch(cache_page)?;
    device.fetch(&mut code[..C::BYTES])?;
    Ok(C::correct(cache_page, code))
}

fn half(header: &[u8; HEADER_BYTES], at: usize) -> u16 {
    u16::from_le_bytes([header[at], header[at + 1]])
}

fn word(header: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from(half(header, at)) | u32::from(half(header, at + 2)) << 16
}

/// The blocks that may bear the header of an image whose room starts in `start`.
pub(crate) fn places(part: &NandPart, start: Block) -> Range<u16> {
    start.0..start.0.saturating_add(BAD_BLOCKS_MAX as u16 + 1).min(part.block_count)
}

/// The generation of the next header of the room that starts in `start`. Cost: a load for each place of one.
pub(crate) fn next_generation<D: Nand>(device: &mut D, start: Block) -> Result<u32, D::Error> {
    let mut header = [0; HEADER_BYTES];
    let found = newest(device, start, Program::Newest, &mut header)?;
    Ok(found.map_or(1, |_| word(&header, 32).saturating_add(1)))
}

/// The page with the header of the highest generation of those that belong to the room that starts in `start` and are
/// of this program, and the header itself.
fn newest<D: Nand>(
    device: &mut D,
    start: Block,
    program: Program,
    newest: &mut [u8; HEADER_BYTES],
) -> Result<Option<PageAddress>, D::Error> {
    let (mut found, mut header) = (None, [0; HEADER_BYTES]);
    for block in places(&device.part(), start).map(Block) {
        let page = block.page(0);
        let is_in_place = read_header(device, page, &mut header)?
            && half(&header, 12) == start.0
            && (header[4] < CHECKED_FORMAT || half(&header, 48) == block.0)
            && program.is_of(&header);
        if is_in_place && (found.is_none() || word(&header, 32) > word(newest, 32)) {
            (*newest, found) = (header, Some(page));
        }
    }
    Ok(found)
}

/// Reads what may be a header in a page, and corrects a bit. Says whether it is a whole one. Cost: a load.
pub(crate) fn read_header<D: Nand>(
    device: &mut D,
    page: PageAddress,
    header: &mut [u8; HEADER_BYTES],
) -> Result<bool, D::Error> {
    device.load(page)?;
    device.fetch(header)?;
    let (checked, code) = header.split_at_mut(CHECKED_BYTES);
    let code = [code[0], code[1], code[2], code[3]];
    Ok(Crc32c::correct(checked, code).is_ok() && header[..4] == MAGIC)
}

/// Whether the header in a page is this one, or differs in a bit that its code corrects. Cost: a load.
pub(crate) fn reads_back<D: Nand>(
    device: &mut D,
    page: PageAddress,
    header: &[u8; HEADER_BYTES],
) -> Result<bool, D::Error> {
    let mut found = [0; HEADER_BYTES];
    Ok(read_header(device, page, &mut found)? && found[..CHECKED_BYTES] == header[..CHECKED_BYTES])
}
