//! A NAND part in memory, written from the contract of `norn_flash::Nand` alone: it keeps the device's promises and no
//! more, and stops on a caller that breaks its own.

use norn_flash::{
    BadMark, Block, Column, ColumnAccess, Correction, Nand, NandError, NandErrorKind, NandPart, PageAddress, Piece,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Failed,
    NoPower,
}

impl NandError for Fault {
    fn kind(&self) -> NandErrorKind {
        match self {
            Fault::Failed => NandErrorKind::BlockFailed,
            Fault::NoPower => NandErrorKind::Other,
        }
    }
}

/// A page's cells.
#[derive(Clone, Debug)]
struct Cells {
    bytes: Vec<u8>,
    /// Bits that read differently each time.
    wavering: Vec<usize>,
    /// Bits that change at a later boot: how many boots from now.
    later: Vec<(usize, u8)>,
}

impl Cells {
    fn erased(bytes: usize) -> Self {
        Cells { bytes: vec![0xFF; bytes], wavering: Vec::new(), later: Vec::new() }
    }

    fn flip(&mut self, bit: usize) {
        self.bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// What the caller may do with a block.
#[derive(Clone, Debug)]
struct BlockState {
    /// The first page that may be programmed; `None` before the block's next erase.
    next: Option<u16>,
    /// It was delivered bad, or has failed.
    bad: bool,
    /// The client knows, as it does not after a loss of power.
    known: bool,
}

pub struct Device {
    part: NandPart,
    pages: Vec<Cells>,
    blocks: Vec<BlockState>,
    register: Option<(Vec<u8>, usize)>,
    pub random: fastrand::Rng,
    /// Programs and erases until the power fails.
    pub cut_after: Option<u64>,
    power: bool,
    /// Blocks that may still fail.
    failures_left: u16,
    pub operations: u64,
    /// Loads, too: whatever never ends comes to its limit.
    pub calls_left: u64,
}

/// Calls of the device that no call of its client takes.
const CALLS_MAX: u64 = 1_000_000;

impl Device {
    /// A part of which `bad` blocks are delivered bad, and some of the rest of `budget` fail in its life.
    pub fn new(blocks: u16, pages: u16, page_bytes: u16, bad: u16, budget: u16, seed: u64) -> Self {
        let words = page_bytes / 128;
        let part = NandPart {
            block_count: blocks,
            pages_per_block: pages,
            page_bytes,
            oob_bytes: 16 * words,
            columns: ColumnAccess::Forwards,
            correction: Correction { bits: 1, bytes: 128 },
            bad_mark: BadMark { column: Column(page_bytes + 5), pages: 2 },
            good_blocks_min: blocks - budget,
            endurance_erases: None,
        };
        let mut random = fastrand::Rng::with_seed(seed);
        let mut device = Device {
            part,
            pages: vec![Cells::erased(usize::from(part.register_bytes())); part.page_count() as usize],
            blocks: vec![BlockState { next: Some(0), bad: false, known: false }; usize::from(blocks)],
            register: None,
            random: random.fork(),
            cut_after: None,
            power: true,
            failures_left: budget - bad,
            operations: 0,
            calls_left: CALLS_MAX,
        };
        for _ in 0..bad {
            let block = Block(random.u16(1..blocks));
            let at = device.at(block.page(random.u16(0..2)));
            device.pages[at].bytes[usize::from(page_bytes) + 5] = 0;
            let state = &mut device.blocks[usize::from(block.0)];
            (state.bad, state.known) = (true, true);
        }
        device
    }

    /// Turns the power on: bits that were to change at this boot do.
    pub fn boot(&mut self) {
        for cells in &mut self.pages {
            let later = std::mem::take(&mut cells.later);
            for (bit, boots) in later {
                match boots {
                    1 => cells.flip(bit),
                    boots => cells.later.push((bit, boots - 1)),
                }
            }
        }
        let mark = usize::from(self.part.bad_mark.column.0);
        for block in self.part.blocks() {
            let marked = [0, 1].map(|page| self.pages[self.at(block.page(page))].bytes[mark]).contains(&0);
            self.blocks[usize::from(block.0)].known = marked;
        }
        (self.power, self.register, self.cut_after) = (true, None, None);
    }

    /// The next call of the client begins.
    pub fn begin_call(&mut self) {
        (self.operations, self.calls_left) = (0, CALLS_MAX);
    }

    fn at(&self, page: PageAddress) -> usize {
        assert!(self.part.contains(page), "{page} is no page of the part");
        self.part.number_of(page).0 as usize
    }

    fn expect_power(&mut self) -> Result<(), Fault> {
        self.calls_left = self.calls_left.checked_sub(1).expect("a call that does not end");
        if self.power { Ok(()) } else { Err(Fault::NoPower) }
    }

    /// Counts a program or an erase in a block, and says how it ends.
    fn operate(&mut self, block: Block) -> Option<Fault> {
        self.operations += 1;
        self.register = None;
        assert!(!self.blocks[usize::from(block.0)].known, "{block} is bad");
        if self.cut_after == Some(0) {
            self.power = false;
            return Some(Fault::NoPower);
        }
        self.cut_after = self.cut_after.map(|left| left - 1);
        let is_bad = self.blocks[usize::from(block.0)].bad;
        let fails = !is_bad && self.failures_left > 0 && self.random.u32(0..1_500) == 0;
        self.failures_left -= u16::from(fails);
        if is_bad || fails {
            let state = &mut self.blocks[usize::from(block.0)];
            (state.bad, state.known) = (true, true);
            return Some(Fault::Failed);
        }
        None
    }

    /// Some of `bits`, by a share of eighths.
    fn some(&mut self, bits: &[usize], eighths: u8) -> Vec<usize> {
        bits.iter().copied().filter(|_| self.random.u8(0..8) < eighths).collect()
    }

    /// A few of `bits`.
    fn few(&mut self, bits: &[usize], most: usize) -> Vec<usize> {
        let count = self.random.usize(1..=most).min(bits.len());
        (0..count).map(|_| bits[self.random.usize(0..bits.len())]).collect()
    }

    /// Programs as a cut leaves it: any subset of the bits to clear, some of them differently each time, or later.
    fn tear_program(&mut self, at: usize, bytes: &[u8]) {
        let zeros: Vec<usize> = (0..8 * bytes.len()).filter(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 0).collect();
        let mut cells = Cells::erased(bytes.len());
        let shape = self.random.u8(0..10);
        let cleared = match shape {
            0 => Vec::new(),
            1 => self.few(&zeros, 3),
            2 => self.some(&zeros, 4),
            3 => zeros.iter().copied().filter(|bit| bit / 8 < bytes.len() / 2).collect(),
            _ => zeros.clone(),
        };
        cleared.iter().for_each(|bit| cells.bytes[bit / 8] &= !(1 << (bit % 8)));
        match shape {
            // Whole, but for a few bits: at once, now and then, or not before the second boot from now.
            4 => self.few(&zeros, 4).into_iter().for_each(|bit| cells.bytes[bit / 8] |= 1 << (bit % 8)),
            5 => cells.wavering = self.few(&zeros, 3),
            6 => cells.wavering = self.few(&zeros, 16),
            7 => {
                let mut late = self.few(&zeros, 16);
                late.sort_unstable();
                late.dedup();
                late.iter().for_each(|bit| cells.bytes[bit / 8] |= 1 << (bit % 8));
                cells.later = late.into_iter().map(|bit| (bit, 2)).collect();
            }
            8 => cells.later = self.some(&zeros, 2).into_iter().map(|bit| (bit, 2)).collect(),
            _ => {}
        }
        self.pages[at] = cells;
    }

    /// Erases as a cut leaves it: a mixture of old bits and ones, in any of the pages; some differently each time.
    fn tear_erase(&mut self, block: Block) {
        let shape = self.random.u8(0..6);
        for page in 0..self.part.pages_per_block {
            let at = self.at(block.page(page));
            let bytes = &self.pages[at].bytes;
            let zeros: Vec<usize> = (0..8 * bytes.len()).filter(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 0).collect();
            let set = match shape {
                0 => Vec::new(),
                1 if !zeros.is_empty() => self.few(&zeros, 3),
                2 => self.some(&zeros, 4),
                3 if page % 2 == 0 => zeros.clone(),
                4 => self.some(&zeros, 7),
                5 => zeros.clone(),
                _ => Vec::new(),
            };
            set.iter().for_each(|bit| self.pages[at].bytes[bit / 8] |= 1 << (bit % 8));
            if shape != 0 && !zeros.is_empty() && self.random.bool() {
                self.pages[at].wavering = self.few(&zeros, 16);
            }
        }
    }
}

impl Nand for Device {
    type Error = Fault;

    fn part(&self) -> NandPart {
        self.part
    }

    fn load(&mut self, page: PageAddress) -> Result<(), Fault> {
        self.expect_power()?;
        let at = self.at(page);
        let mut bytes = self.pages[at].bytes.clone();
        for &bit in &self.pages[at].wavering {
            if self.random.bool() {
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
        // An error that the code corrects, now and then.
        if self.random.u8(0..30) == 0 {
            let bit = self.random.usize(0..8 * usize::from(self.part.page_bytes));
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        self.register = Some((bytes, 0));
        Ok(())
    }

    fn seek(&mut self, column: Column) -> Result<(), Fault> {
        self.expect_power()?;
        let (_, position) = self.register.as_mut().expect("the register holds a page");
        assert!(usize::from(column.0) >= *position, "the position moves forwards");
        *position = usize::from(column.0);
        Ok(())
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), Fault> {
        self.expect_power()?;
        let (bytes, position) = self.register.as_mut().expect("the register holds a page");
        buffer.copy_from_slice(&bytes[*position..*position + buffer.len()]);
        *position += buffer.len();
        Ok(())
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Fault> {
        self.expect_power()?;
        self.register = Some((vec![0xFF; usize::from(self.part.register_bytes())], 0));
        self.program_loaded(page, pieces)
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Fault> {
        self.expect_power()?;
        let at = self.at(page);
        let (mut bytes, _) = self.register.take().expect("the register holds a page");
        for piece in pieces {
            let from = usize::from(piece.column.0);
            bytes[from..from + piece.bytes.len()].copy_from_slice(piece.bytes);
        }
        let state = &mut self.blocks[usize::from(page.block.0)];
        let next = state.next.unwrap_or_else(|| panic!("{} is to be erased first", page.block));
        assert!(page.page >= next, "{page} was programmed, or left out");
        state.next = Some(page.page + 1);
        match self.operate(page.block) {
            None => {
                self.pages[at] = Cells { bytes, ..Cells::erased(0) };
                Ok(())
            }
            Some(fault) => {
                self.tear_program(at, &bytes);
                Err(fault)
            }
        }
    }

    fn erase(&mut self, block: Block) -> Result<(), Fault> {
        self.expect_power()?;
        match self.operate(block) {
            None => {
                for page in 0..self.part.pages_per_block {
                    let at = self.at(block.page(page));
                    self.pages[at] = Cells::erased(usize::from(self.part.register_bytes()));
                }
                self.blocks[usize::from(block.0)].next = Some(0);
                Ok(())
            }
            Some(fault) => {
                self.tear_erase(block);
                self.blocks[usize::from(block.0)].next = None;
                Err(fault)
            }
        }
    }
}
