//! Numbered copies of a small record, of which the newest counts: a cut of the power at any operation of writing one
//! leaves the old record or the new one.
//!
//! Copies are in *places*: erase units of a NOR part, blocks of a NAND part. To write one:
//! 1. find the newest copy ([`Survey`]);
//! 2. erase the place of the oldest, or one without a whole copy: never that of the newest;
//! 3. program the new copy there.
//!
//! A NAND page whose program was cut may read as whole now and as torn later. So a copy on NAND takes three pages, one
//! programmed after the other: if one is whole, those before it stay whole. A copy counts if its first page and another
//! one are whole, or if all three outvote the bits that err in each. It takes three good blocks: the newest copy, the
//! one before it, which counts where the newest does not, and the one that is being written. What a reading of the
//! pages says:
//!
//! | whole pages | what may have been cut | what its reader does |
//! |---|---|---|
//! | the first and the third, or the majority | nothing, or the third | the copy counts, and will tomorrow |
//! | the first two | the second or the third | the copy counts; write it again elsewhere, for the second may be torn tomorrow |
//! | the first alone | the first or the second | the copy before it counts; write that again as a newer one, for the second page may be whole tomorrow |
//! | the first alone, and there is no other copy | the first or the second | write what a part without copies stands for, as a newer one |
//! | others, without the first | an erase | as for the first alone |
//! | none | the first, or an erase | nothing: without a first page this copy will never count |

use crate::nand::{Block, Column, Nand, NandError, NandErrorKind, PageAddress, Piece};

/// Pages that a copy on NAND takes.
pub const COPY_PAGES: u16 = 3;
/// Good blocks that copies on NAND take.
pub const NAND_PLACES_MIN: u16 = 3;
/// How often a page is loaded before it is taken for torn.
const LOADS_MAX: u32 = 8;

/// A record with a number that is one higher in each new copy.
pub trait Numbered: Copy {
    /// The number.
    fn sequence(&self) -> u32;
}

/// What a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading<R> {
    /// No copy.
    Nothing,
    /// A copy that does not count, of this sequence number; it may read as one that counts tomorrow.
    Torn(u32),
    /// A copy that counts, and may read as `Torn` tomorrow.
    Doubtful(R),
    /// A copy that counts permanently.
    Certain(R),
}

impl<R: Numbered> Reading<R> {
    fn copy(&self) -> Option<R> {
        match self {
            Reading::Doubtful(copy) | Reading::Certain(copy) => Some(*copy),
            Reading::Nothing | Reading::Torn(_) => None,
        }
    }

    fn sequence(&self) -> Option<u32> {
        match self {
            Reading::Nothing => None,
            Reading::Torn(sequence) => Some(*sequence),
            Reading::Doubtful(copy) | Reading::Certain(copy) => Some(copy.sequence()),
        }
    }
}

/// What all places hold.
#[derive(Clone, Copy, Debug)]
pub struct Survey<R> {
    /// The newest copy that counts.
    pub newest: Option<R>,
    /// Whether the copy with the highest sequence number may read otherwise tomorrow.
    pub is_doubtful: bool,
    /// The sequence number of the next copy.
    pub sequence: u32,
    /// Where it goes: to a place without a copy, else with the oldest that does not count, else to that of the oldest.
    pub next: Option<u16>,
}

impl<R: Numbered> Survey<R> {
    /// Of what the places from `first` on hold. Of those that nothing is to be written to, `skipped` has a bit.
    pub fn of(first: u16, readings: &[Reading<R>], skipped: u32) -> Self {
        let newest = readings.iter().filter_map(Reading::copy).reduce(|newest, copy| later(copy, newest, R::sequence));
        let last = readings.iter().filter(|reading| reading.sequence().is_some()).copied();
        let last = last.reduce(|last, reading| later(reading, last, |reading| reading.sequence().unwrap_or(0)));
        let newest_sequence = newest.as_ref().map(R::sequence);
        let usable = || (first..).zip(readings).filter(|(place, _)| skipped >> (place - first) & 1 == 0);
        let empty = usable().find(|(_, reading)| matches!(reading, Reading::Nothing)).map(|(place, _)| place);
        let oldest = |counts: bool| {
            let others = usable().filter(|(_, reading)| reading.copy().is_some() == counts);
            let others = others.filter_map(|(place, reading)| Some((place, reading.sequence()?)));
            let others = others.filter(|&(_, sequence)| newest_sequence != Some(sequence));
            others
                .reduce(|oldest, other| if is_later(oldest.1, other.1) { other } else { oldest })
                .map(|(place, _)| place)
        };
        Survey {
            newest,
            is_doubtful: last.is_some_and(|last| !matches!(last, Reading::Certain(_))),
            sequence: last.and_then(|last| last.sequence()).map_or(1, |last| last.wrapping_add(1)),
            next: empty.or_else(|| oldest(false)).or_else(|| oldest(true)),
        }
    }
}

/// Whether sequence number `one` is later than `other`, which may have wrapped.
fn is_later(one: u32, other: u32) -> bool {
    one.wrapping_sub(other) as i32 > 0
}

fn later<T>(one: T, other: T, sequence: impl Fn(&T) -> u32) -> T {
    if is_later(sequence(&one), sequence(&other)) { one } else { other }
}

/// How writing a copy ended, if the device works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is whole.
    Whole,
    /// The block is marked bad, or has gone bad.
    BadBlock,
}

/// Reads the copy in a block: `decode` says what bytes are one. Cost: three loads, up to eight times as many where
/// pages are none.
///
/// # Errors
/// The device's.
pub fn read_nand_copy<D: Nand, R: Numbered, const N: usize>(
    device: &mut D,
    block: Block,
    decode: impl Fn([u8; N]) -> Option<R>,
) -> Result<Reading<R>, D::Error> {
    let (first, begun) = read_page(device, block.page(0), &decode)?;
    let (second, middle) = read_page(device, block.page(1), &decode)?;
    let (third, last) = read_page(device, block.page(2), &decode)?;
    let majority = core::array::from_fn(|at| {
        let (one, two, three) = (first[at], second[at], third[at]);
        one & two | one & three | two & three
    });
    if is_programmed(&first)
        && is_programmed(&third)
        && let Some(copy) = decode(majority)
    {
        return Ok(Reading::Certain(copy));
    }
    Ok(match (begun, middle, last) {
        (Some(copy), _, Some(_)) => Reading::Certain(copy),
        (Some(copy), Some(_), None) => Reading::Doubtful(copy),
        (None, None, None) => Reading::Nothing,
        (first, second, third) => Reading::Torn(first.or(second).or(third).map_or(0, |copy| copy.sequence())),
    })
}

/// A page's first bytes, and the copy that they are. Loaded again if it is not a copy, because bits may err at random.
fn read_page<D: Nand, R, const N: usize>(
    device: &mut D,
    page: PageAddress,
    decode: &impl Fn([u8; N]) -> Option<R>,
) -> Result<([u8; N], Option<R>), D::Error> {
    let (mut bytes, mut copy) = ([0; N], None);
    for _ in 0..LOADS_MAX {
        device.load(page)?;
        device.fetch(&mut bytes)?;
        copy = decode(bytes);
        if copy.is_some() {
            break;
        }
    }
    Ok((bytes, copy))
}

/// Whether a page has more zeros than errors make: a copy has hundreds.
fn is_programmed(bytes: &[u8]) -> bool {
    bytes.iter().map(|byte| byte.count_zeros()).sum::<u32>() > 64
}

/// Writes a copy to a block, unless that is marked bad. Cost: a look at the mark, an erase, three programs.
///
/// # Errors
/// The device's.
pub fn write_nand_copy<D: Nand>(device: &mut D, block: Block, bytes: &[u8]) -> Result<Written, D::Error> {
    if device.is_marked_bad(block)? {
        return Ok(Written::BadBlock);
    }
    match try_to_write(device, block, bytes) {
        Ok(()) => Ok(Written::Whole),
        Err(error) if error.kind() == NandErrorKind::BlockFailed => Ok(Written::BadBlock),
        Err(error) => Err(error),
    }
}

fn try_to_write<D: Nand>(device: &mut D, block: Block, bytes: &[u8]) -> Result<(), D::Error> {
    device.erase(block)?;
    for page in 0..COPY_PAGES {
        device.program(block.page(page), &[Piece::new(Column(0), bytes)])?;
    }
    Ok(())
}
