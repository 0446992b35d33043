//! Tries each rule of a NAND part, the power being on.
//!
//! Bit errors are no breach as long as no code word has more than the part asks to correct; the summary says how many
//! there were. Each rule erases and fills what it needs, so that a breach of one does not hide the others; but what
//! follows a breach may follow from it. A block that has failed ends the rule that was being tried, and is neither
//! programmed nor erased again: the rules after it try another block.

use norn_flash::{Block, Column, ColumnAccess, Nand, NandError, NandErrorKind, PageAddress, Piece};

use super::bench::{Bench, Tried, byte, programmed_columns};
use super::rule::NandRule;
use crate::outcome::{BufferTooSmall, Defences, Finding, Outcome, RuleCounts};

/// Loads of the same page, to see whether it changes.
const LOADS: u16 = 16;
/// Bytes that are fetched at once where the register is tried.
const PIECE_BYTES: u16 = 16;
/// What a piece puts into a copy.
const CHANGE: u8 = 0x5A;

/// What a suite has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NandSummary {
    /// How many rules are kept.
    pub counts: RuleCounts,
    /// Blocks that are marked bad.
    pub bad_blocks: u16,
    /// The most bits that were wrong in a code word of a page that counts as right. As many as
    /// [`Correction::bits`](norn_flash::Correction::bits), and the part is at its limit when it is new.
    pub bit_errors_max: u16,
}

/// Tries all rules of a part, and reports what became of each. **What the part held is lost**, in all good blocks.
/// `buffer` has at least as many bytes as the part's register.
///
/// A block that fails is an outcome [`Failed`](Outcome::Failed) of the rule that was being tried. It is neither
/// programmed nor erased again, as the contract wants it; the suite does not mark it. The next run tries it again.
///
/// Cost: an erase of each good block, and some twenty of the first and the last; the pages of these are programmed and
/// loaded about as often; a look at the marks of all blocks. To leave blocks alone, pass a
/// [`NandPartition`](norn_flash::NandPartition).
///
/// ```
/// use norn_conformance::{Defences, check_nand};
/// use norn_flash_sim::{NandSim, nand_catalogue};
///
/// let mut part = NandSim::new(nand_catalogue::test_part(8, 4, 128));
/// let summary = check_nand(&mut part, &mut [0; 600], Defences::Try, |finding| println!("{finding}")).unwrap();
/// assert!(summary.counts.all_kept() && summary.bad_blocks == 0);
/// ```
///
/// # Errors
/// When the buffer is too small.
pub fn check_nand<D: Nand>(
    device: &mut D,
    buffer: &mut [u8],
    defences: Defences,
    mut report: impl FnMut(&Finding<NandRule, PageAddress, D::Error>),
) -> Result<NandSummary, BufferTooSmall> {
    let part = device.part();
    let is_possible = part.validate().is_ok();
    let needed = if is_possible { usize::from(part.register_bytes()) } else { 0 };
    let buffer = buffer.get_mut(..needed).ok_or(BufferTooSmall { needed })?;
    let failed = [None; NandRule::ALL.len()];
    let mut bench = Bench { device, part, buffer, blocks: [Block(0); 2], failed, bad_blocks: 0, bit_errors_max: 0 };
    let mut counts = RuleCounts::default();
    let mut has_blocks = false;
    for rule in NandRule::ALL {
        let outcome = match rule {
            NandRule::PossiblePart if is_possible => Outcome::Kept,
            NandRule::PossiblePart => broken(PageAddress::default(), 1, 0),
            _ if !is_possible => Outcome::NotTried("the description is impossible"),
            NandRule::GoodBlocks => {
                let found = bench.count_blocks();
                has_blocks = bench.has_two_blocks();
                found.err().unwrap_or(Outcome::Kept)
            }
            _ if !has_blocks => Outcome::NotTried("there are no two good blocks"),
            _ if rule.is_defence() && defences == Defences::Leave => Outcome::NotTried("a defence"),
            _ => bench.try_rule(rule).err().unwrap_or(Outcome::Kept),
        };
        if let Outcome::Failed { place, error } = &outcome
            && error.kind() == NandErrorKind::BlockFailed
        {
            bench.give_up(place.block);
            has_blocks = bench.find_blocks().is_ok() && bench.has_two_blocks();
        }
        counts.count(&outcome);
        report(&Finding { rule, outcome });
    }
    Ok(NandSummary { counts, bad_blocks: bench.bad_blocks, bit_errors_max: bench.bit_errors_max })
}

const fn broken<E>(place: PageAddress, expected: u32, found: u32) -> Outcome<PageAddress, E> {
    Outcome::Broken { place, expected, found }
}

impl<D: Nand> Bench<'_, D> {
    fn try_rule(&mut self, rule: NandRule) -> Tried<D> {
        match rule {
            NandRule::PossiblePart | NandRule::GoodBlocks => Ok(()),
            NandRule::BadMarks => self.try_marks(),
            NandRule::EraseSetsAll => self.try_erase(),
            NandRule::ProgramWrites => self.try_program(),
            NandRule::OutOfBand => self.try_out_of_band(),
            NandRule::ProgramKeepsOthers => self.try_program_beside_others(),
            NandRule::EraseKeepsOthers => self.try_erase_beside_others(),
            NandRule::BlocksApart => self.try_blocks(),
            NandRule::SkippedPages => self.try_skipped_pages(),
            NandRule::EmptyCalls => self.try_empty_calls(),
            NandRule::RegisterKeeps => self.try_register(),
            NandRule::SeeksAnywhere => self.try_backwards(),
            NandRule::LoadsRepeat => self.try_loading_again(),
            NandRule::ProgramLoaded => self.try_program_loaded(),
            NandRule::Copies => self.try_copy(),
            NandRule::Restart => self.try_restart(),
            NandRule::RefusesOutside => self.try_outside(),
            NandRule::RefusesPageOrder => self.try_page_order(),
            NandRule::SamePart if self.device.part() == self.part => Ok(()),
            NandRule::SamePart => Err(broken(PageAddress::default(), 1, 0)),
        }
    }

    fn is_bad(&mut self, block: Block) -> Tried<D, bool> {
        Self::called(block.page(0), self.device.is_marked_bad(block))
    }

    fn is_usable(&mut self, block: Block) -> Tried<D, bool> {
        Ok(!self.has_failed(block) && !self.is_bad(block)?)
    }

    /// Finds the first and the last block to use. Returns how many are not.
    fn find_blocks(&mut self) -> Tried<D, u16> {
        let (mut first, mut unusable) = (None, 0);
        for block in self.part.blocks() {
            match self.is_usable(block)? {
                true => self.blocks = [*first.get_or_insert(block), block],
                false => unusable += 1,
            }
        }
        Ok(unusable)
    }

    fn has_two_blocks(&self) -> bool {
        self.blocks[0] != self.blocks[1]
    }

    /// Counts bad blocks, before any has failed.
    fn count_blocks(&mut self) -> Tried<D> {
        self.bad_blocks = self.find_blocks()?;
        let count = self.part.block_count - self.bad_blocks;
        let least = self.part.good_blocks_min.max(2);
        match count < least || self.is_bad(Block(0))? {
            true => Err(broken(PageAddress::default(), u32::from(least), u32::from(count))),
            false => Ok(()),
        }
    }

    /// Asks again, after good blocks were erased and programmed, whose marks were left alone.
    fn try_marks(&mut self) -> Tried<D> {
        self.blocks.into_iter().try_for_each(|block| self.fill(block))?;
        let mut bad = 0;
        for block in self.part.blocks() {
            bad += u16::from(self.is_bad(block)?);
        }
        for block in self.blocks {
            if self.is_bad(block)? {
                return Err(broken(block.page(0), 0, 1));
            }
        }
        match bad == self.bad_blocks {
            true => Ok(()),
            false => Err(broken(PageAddress::default(), u32::from(self.bad_blocks), u32::from(bad))),
        }
    }

    /// Twice: the second time there is something to erase.
    fn try_erase(&mut self) -> Tried<D> {
        for block in self.blocks {
            self.fill(block)?;
            self.erase(block)?;
            self.pages(block).try_for_each(|page| self.expect_erased(page))?;
        }
        Ok(())
    }

    /// Page by page. One that the page before has changed is left out: that is another rule's.
    fn try_program(&mut self) -> Tried<D> {
        for block in self.blocks {
            self.erase(block)?;
            for page in self.pages(block) {
                if self.expect_erased(page).is_ok() {
                    self.program(page)?;
                    self.expect_columns(page, 0..self.part.page_bytes)?;
                }
            }
        }
        Ok(())
    }

    fn try_out_of_band(&mut self) -> Tried<D> {
        let [block, _] = self.blocks;
        let oob = self.part.page_bytes..self.part.register_bytes();
        self.fill(block)?;
        self.pages(block).try_for_each(|page| self.expect_columns(page, oob.clone()))
    }

    /// After each program, the page before has what it had, and the next one is erased.
    fn try_program_beside_others(&mut self) -> Tried<D> {
        let [block, _] = self.blocks;
        let pages = self.part.pages_per_block;
        self.erase(block)?;
        for page in self.pages(block) {
            self.program(page)?;
            if page.page + 1 < pages {
                self.expect_erased(block.page(page.page + 1))?;
            }
            if let Some(before) = page.page.checked_sub(1) {
                self.expect_columns(block.page(before), 0..self.part.page_bytes)?;
            }
        }
        Ok(())
    }

    fn try_erase_beside_others(&mut self) -> Tried<D> {
        for [kept, erased] in [self.blocks, [self.blocks[1], self.blocks[0]]] {
            self.fill(kept)?;
            self.erase(erased)?;
            self.pages(kept).try_for_each(|page| self.expect_columns(page, 0..self.part.page_bytes))?;
        }
        Ok(())
    }

    /// Programs the first page of every good block, and only then loads all of them.
    fn try_blocks(&mut self) -> Tried<D> {
        for block in self.part.blocks() {
            if self.is_usable(block)? {
                self.erase(block)?;
                self.program(block.page(0))?;
            }
        }
        for block in self.part.blocks() {
            if self.is_usable(block)? {
                self.expect_columns(block.page(0), 0..self.part.page_bytes)?;
            }
        }
        Ok(())
    }

    fn try_skipped_pages(&mut self) -> Tried<D> {
        let [block, _] = self.blocks;
        self.erase(block)?;
        for page in self.pages(block).step_by(2) {
            self.program(page)?;
        }
        self.pages(block).try_for_each(|page| match page.page % 2 {
            0 => self.expect_columns(page, 0..self.part.page_bytes),
            _ => self.expect_erased(page),
        })
    }

    fn try_empty_calls(&mut self) -> Tried<D> {
        let page = self.blocks[0].page(0);
        self.erase(page.block)?;
        Self::called(page, self.device.program(page, &[]))?;
        self.load(page)?;
        Self::called(page, self.device.fetch(&mut []))?;
        self.expect_erased(page)
    }

    /// Fetches some bytes and the next ones, passes over others, and fetches the last.
    fn try_register(&mut self) -> Tried<D> {
        let page = self.blocks[0].page(0);
        self.erase(page.block)?;
        self.program(page)?;
        self.load(page)?;
        let len = PIECE_BYTES.min(self.part.page_bytes / 8);
        self.expect_fetched(page, 0, len)?;
        self.expect_fetched(page, len, len)?;
        for column in [4 * len, self.part.register_bytes() - len.min(self.part.oob_bytes)] {
            Self::called(page, self.device.seek(Column(column)))?;
            self.expect_fetched(page, column, len.min(self.part.register_bytes() - column))?;
        }
        Ok(())
    }

    fn try_backwards(&mut self) -> Tried<D> {
        if self.part.columns == ColumnAccess::Forwards {
            return Err(Outcome::NotTried("the position moves forwards only"));
        }
        let page = self.blocks[0].page(0);
        self.erase(page.block)?;
        self.program(page)?;
        self.expect_columns(page, 0..self.part.page_bytes)?;
        let len = PIECE_BYTES.min(self.part.page_bytes / 8);
        for column in [2 * len, 0] {
            Self::called(page, self.device.seek(Column(column)))?;
            self.expect_fetched(page, column, len)?;
        }
        Ok(())
    }

    /// That the next `len` bytes are those that were programmed from `column` on, except the bit errors of two code
    /// words.
    fn expect_fetched(&mut self, page: PageAddress, column: u16, len: u16) -> Tried<D> {
        let mut bytes = [0; PIECE_BYTES as usize];
        let bytes = &mut bytes[..usize::from(len)];
        Self::called(page, self.device.fetch(bytes))?;
        let wrong = |(column, found): (u16, &u8)| (byte(&self.part, page, column) ^ found).count_ones();
        let wrong: u32 = (column..).zip(bytes.iter()).map(wrong).sum();
        let most = 2 * u32::from(self.part.correction.bits);
        if wrong > most { Err(broken(page, most, wrong)) } else { Ok(()) }
    }

    fn try_loading_again(&mut self) -> Tried<D> {
        let page = self.blocks[0].page(0);
        self.erase(page.block)?;
        self.program(page)?;
        (0..LOADS).try_for_each(|_| self.expect_filled(page))
    }

    fn try_program_loaded(&mut self) -> Tried<D> {
        let [from, to] = self.blocks.map(|block| block.page(0));
        self.fill(from.block)?;
        self.erase(to.block)?;
        self.load(from)?;
        let pieces = [Piece::new(self.changed_column(), &[CHANGE])];
        Self::called(to, self.device.program_loaded(to, &pieces))?;
        self.expect_copy(from, to)
    }

    fn try_copy(&mut self) -> Tried<D> {
        let [from, to] = self.blocks.map(|block| block.page(0));
        self.fill(from.block)?;
        self.erase(to.block)?;
        let pieces = [Piece::new(self.changed_column(), &[CHANGE])];
        Self::called(to, self.device.copy(from, to, &pieces))?;
        self.expect_copy(from, to)?;
        self.expect_filled(from)
    }

    fn changed_column(&self) -> Column {
        Column(self.part.page_bytes / 2)
    }

    /// What a copy took along of bit errors adds to what the load has.
    fn expect_copy(&mut self, from: PageAddress, to: PageAddress) -> Tried<D> {
        let (part, changed) = (self.part, self.changed_column());
        let expected = |column| if column == changed.0 { CHANGE } else { byte(&part, from, column) };
        self.expect(to, 0..part.register_bytes(), 2, expected)
    }

    fn try_restart(&mut self) -> Tried<D> {
        let [block, _] = self.blocks;
        self.fill(block)?;
        Self::called(block.page(0), self.device.restart())?;
        self.pages(block).try_for_each(|page| self.expect_columns(page, 0..self.part.page_bytes))
    }

    fn try_outside(&mut self) -> Tried<D> {
        let [block, _] = self.blocks;
        self.fill(block)?;
        let after = Block(self.part.block_count).page(0);
        for page in [block.page(self.part.pages_per_block), after] {
            expect_refusal(page, self.device.load(page))?;
            expect_refusal(page, self.device.program(page, &[]))?;
        }
        expect_refusal(after, self.device.erase(after.block))?;
        let page = block.page(0);
        self.load(page)?;
        expect_refusal(page, self.device.fetch(&mut [0; 256]).and_then(|()| self.fetch_beyond()))?;
        self.pages(block).try_for_each(|page| self.expect_columns(page, 0..self.part.page_bytes))
    }

    /// Fetches as many bytes as the register has, after some were fetched.
    fn fetch_beyond(&mut self) -> Result<(), D::Error> {
        self.device.fetch(self.buffer)
    }

    /// Programs a page again, and one before it.
    fn try_page_order(&mut self) -> Tried<D> {
        let [block, _] = self.blocks;
        if self.part.pages_per_block < 2 {
            return Err(Outcome::NotTried("blocks have one page"));
        }
        self.erase(block)?;
        self.program(block.page(1))?;
        let [data, _] = programmed_columns(&self.part);
        for page in [block.page(1), block.page(0)] {
            self.buffer.fill(0);
            let piece = Piece::new(Column(data.start), &self.buffer[..usize::from(data.end - data.start)]);
            let result = self.device.program(page, &[piece]);
            if result.is_ok() {
                self.erase(block)?;
            }
            expect_refusal(page, result)?;
        }
        Ok(())
    }
}

/// That a call was refused.
fn expect_refusal<E>(place: PageAddress, result: Result<(), E>) -> Result<(), Outcome<PageAddress, E>> {
    match result {
        Ok(()) => Err(broken(place, 1, 0)),
        Err(_) => Ok(()),
    }
}
