//! A device under test, with what all rules need: filling, and comparing except for bit errors.

use core::ops::Range;

use norn_flash::{Block, Column, Nand, NandPart, PageAddress, Piece};

use super::rule::NandRule;
use crate::outcome::Outcome;

/// Why a rule is not kept. The error is the outcome to report.
pub(super) type Tried<D, T = ()> = Result<T, Outcome<PageAddress, <D as Nand>::Error>>;

/// The byte that is programmed at a column of a page.
fn pattern(page: PageAddress, column: u16) -> u8 {
    let place = u32::from(page.block.0) << 20 ^ u32::from(page.page) << 12 ^ u32::from(column);
    (place ^ place >> 9 ^ place >> 17).wrapping_mul(167) as u8
}

/// The columns that are programmed: most of the data, and all of the out-of-band area.
pub(super) fn programmed_columns(part: &NandPart) -> [Range<u16>; 2] {
    [1..part.page_bytes - part.page_bytes / 8, part.page_bytes..part.register_bytes()]
}

/// The byte that a page is programmed with: ones where a bad block would be marked, and outside the pieces.
pub(super) fn byte(part: &NandPart, page: PageAddress, column: u16) -> u8 {
    let is_programmed = programmed_columns(part).iter().any(|columns| columns.contains(&column));
    if is_programmed && column != part.bad_mark.column.0 { pattern(page, column) } else { 0xFF }
}

pub(super) struct Bench<'a, D> {
    pub device: &'a mut D,
    pub part: NandPart,
    /// As long as the register.
    pub buffer: &'a mut [u8],
    /// Two good blocks.
    pub blocks: [Block; 2],
    /// Blocks that have failed: each has ended a rule.
    pub failed: [Option<Block>; NandRule::ALL.len()],
    pub bad_blocks: u16,
    /// The most bits that were wrong in a code word, and are no breach.
    pub bit_errors_max: u16,
}

impl<D: Nand> Bench<'_, D> {
    /// Passes on what a call returned.
    pub fn called<T>(page: PageAddress, result: Result<T, D::Error>) -> Tried<D, T> {
        result.map_err(|error| Outcome::Failed { place: page, error })
    }

    pub fn has_failed(&self, block: Block) -> bool {
        self.failed.contains(&Some(block))
    }

    /// Leaves a block alone from here on.
    pub fn give_up(&mut self, block: Block) {
        if let Some(free) = self.failed.iter_mut().find(|failed| failed.is_none()) {
            *free = Some(block);
        }
    }

    pub fn pages(&self, block: Block) -> impl Iterator<Item = PageAddress> + use<D> {
        (0..self.part.pages_per_block).map(move |page| block.page(page))
    }

    pub fn erase(&mut self, block: Block) -> Tried<D> {
        Self::called(block.page(0), self.device.erase(block))
    }

    pub fn load(&mut self, page: PageAddress) -> Tried<D> {
        Self::called(page, self.device.load(page))
    }

    pub fn program(&mut self, page: PageAddress) -> Tried<D> {
        for column in 0..self.part.register_bytes() {
            self.buffer[usize::from(column)] = byte(&self.part, page, column);
        }
        let pieces = programmed_columns(&self.part).map(|columns| {
            Piece::new(Column(columns.start), &self.buffer[usize::from(columns.start)..usize::from(columns.end)])
        });
        Self::called(page, self.device.program(page, &pieces))
    }

    /// Erases a block, and programs its pages.
    pub fn fill(&mut self, block: Block) -> Tried<D> {
        self.erase(block)?;
        self.pages(block).try_for_each(|page| self.program(page))
    }

    /// That the register holds what is expected in `columns`, except as many wrong bits in each code word as so many
    /// loads may have.
    pub fn expect(
        &mut self,
        page: PageAddress,
        columns: Range<u16>,
        loads: u16,
        expected: impl Fn(u16) -> u8,
    ) -> Tried<D> {
        self.load(page)?;
        Self::called(page, self.device.fetch(self.buffer))?;
        let part = self.part;
        let words = part.page_bytes.div_ceil(part.correction.bytes);
        let most = u16::from(part.correction.bits) * loads;
        for word in 0..words {
            let wrong = |column: u16| (expected(column) ^ self.buffer[usize::from(column)]).count_ones() as u16;
            let [data, oob] = columns_of(&part, word, words);
            let wrong: u16 = data.chain(oob).filter(|column| columns.contains(column)).map(wrong).sum();
            if wrong > most {
                return Err(Outcome::Broken { place: page, expected: u32::from(most), found: u32::from(wrong) });
            }
            if loads == 1 {
                self.bit_errors_max = self.bit_errors_max.max(wrong);
            }
        }
        Ok(())
    }

    pub fn expect_erased(&mut self, page: PageAddress) -> Tried<D> {
        self.expect(page, 0..self.part.register_bytes(), 1, |_| 0xFF)
    }

    /// That a page holds what it was programmed with, in `columns`.
    pub fn expect_columns(&mut self, page: PageAddress, columns: Range<u16>) -> Tried<D> {
        let part = self.part;
        self.expect(page, columns, 1, |column| byte(&part, page, column))
    }

    pub fn expect_filled(&mut self, page: PageAddress) -> Tried<D> {
        self.expect_columns(page, 0..self.part.register_bytes())
    }
}

/// The columns of a code word: of the data, and its share of the out-of-band area.
fn columns_of(part: &NandPart, word: u16, words: u16) -> [Range<u16>; 2] {
    let share = |word: u16| part.page_bytes + (u32::from(part.oob_bytes) * u32::from(word) / u32::from(words)) as u16;
    let start = word * part.correction.bytes;
    [start..start.saturating_add(part.correction.bytes).min(part.page_bytes), share(word)..share(word + 1)]
}
