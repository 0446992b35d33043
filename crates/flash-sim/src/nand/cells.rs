//! The cells of one block: pages that were programmed, and what cuts and failures left.
//!
//! Invariants: a page that was not programmed since the last erase takes no memory; a bit in `unstable` is set only in
//! a page whose program, or the erase of whose block, was cut or failed; pages from `next_page` on are erased, except
//! what was put there by other means than programming (a maker's mark, damage).

use std::sync::Arc;

use crate::tear::Tear;

/// One programmed page, with its out-of-band area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageCells {
    /// What loads return, except unstable bits.
    pub bytes: Vec<u8>,
    /// Bits that read differently each time; empty if there are none.
    pub unstable: Vec<u8>,
}

impl PageCells {
    /// Cells that were erased and then programmed with `bytes`, as far as `tear` lets them.
    pub fn programmed(bytes: Vec<u8>, tear: Tear) -> Self {
        if tear == Tear::Complete {
            return PageCells { bytes, unstable: Vec::new() };
        }
        let changing: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
        let cleared = tear.select(&changing).iter().map(|bits| !bits).collect();
        PageCells { bytes: cleared, unstable: tear.unstable(&changing) }
    }

    /// Sets the zeros that are `selected`; of all zeros, those that `tear` makes unstable become so.
    fn set(&mut self, selected: &[u8], tear: Tear) {
        let zeros: Vec<u8> = self.zeros();
        let unstable = tear.unstable(&zeros);
        self.bytes.iter_mut().zip(selected).for_each(|(byte, bits)| *byte |= bits);
        if !unstable.is_empty() {
            self.unstable = unstable;
        }
    }

    /// The bits that are zeros, or unstable.
    fn zeros(&self) -> Vec<u8> {
        let unstable = |at: usize| self.unstable.get(at).copied().unwrap_or(0);
        self.bytes.iter().enumerate().map(|(at, byte)| !byte | unstable(at)).collect()
    }

    /// What one load returns, with unstable bits drawn from `random`.
    pub fn read(&self, random: &mut fastrand::Rng) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for (byte, bits) in bytes.iter_mut().zip(&self.unstable) {
            *byte ^= bits & random.u8(..);
        }
        bytes
    }
}

/// What is known of a block besides its pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockState {
    /// Erases so far, those that were cut included, those that failed not.
    pub erases: u32,
    /// The first page that may be programmed.
    pub next_page: u16,
    /// Whether the last erase was cut or failed.
    pub torn: bool,
    /// Whether programs and erases fail.
    pub failed: bool,
    /// Whether the maker marked it bad.
    pub marked_bad: bool,
}

/// Where a page's cells are.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Nowhere: they are ones.
    Erased,
    /// Here.
    Memory(Arc<PageCells>),
    /// In the image file, without unstable bits or with them.
    File {
        /// Whether the file has unstable bits of it.
        unstable: bool,
    },
}

/// One block.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockCells {
    pub state: BlockState,
    /// Empty while no page is programmed.
    pages: Vec<Place>,
}

impl BlockCells {
    /// A block whose pages are in the image file, by their codes there.
    pub fn in_file(state: BlockState, codes: &[u8]) -> Self {
        let mut cells = BlockCells { state, pages: Vec::new() };
        for (page, &code) in codes.iter().enumerate().filter(|(_, code)| **code != 0) {
            cells.put(page as u16, Place::File { unstable: code > 1 });
        }
        cells
    }

    /// Where a page's cells are.
    pub fn place(&self, page: u16) -> &Place {
        self.pages.get(usize::from(page)).unwrap_or(&Place::Erased)
    }

    /// A page's code in the image file.
    pub fn code(&self, page: u16) -> u8 {
        match self.place(page) {
            Place::Erased => 0,
            Place::Memory(cells) => 1 + u8::from(!cells.unstable.is_empty()),
            Place::File { unstable } => 1 + u8::from(*unstable),
        }
    }

    /// Says where a page's cells are from now on.
    pub fn put(&mut self, page: u16, cells: Place) {
        let page = usize::from(page);
        if self.pages.len() <= page {
            self.pages.resize(page + 1, Place::Erased);
        }
        self.pages[page] = cells;
    }

    /// Numbers of the pages that are not erased.
    pub fn programmed(&self) -> impl Iterator<Item = u16> + '_ {
        (0..self.pages.len() as u16).filter(|&page| !matches!(self.place(page), Place::Erased))
    }

    /// Sets all bits.
    pub fn erase(&mut self) {
        self.pages = Vec::new();
        (self.state.next_page, self.state.torn) = (0, false);
    }
}

/// Sets those bits of a block's programmed pages that `tear` lets an erase set.
pub(crate) fn tear_erase(pages: &mut [PageCells], tear: Tear) {
    if tear.clears_first() {
        let ones: Vec<u8> = pages.iter().flat_map(|cells| cells.bytes.iter().copied()).collect();
        let cleared = tear.select(&ones);
        pages.iter_mut().flat_map(|cells| &mut cells.bytes).zip(cleared).for_each(|(byte, bits)| *byte &= !bits);
        return;
    }
    let zeros: Vec<u8> = pages.iter().flat_map(PageCells::zeros).collect();
    let selected = tear.select(&zeros);
    let mut rest = &selected[..];
    for (number, cells) in (0..).zip(pages) {
        let (selected, behind) = rest.split_at(cells.bytes.len());
        // Each page draws its own unstable bits.
        let tear = match tear {
            Tear::Unstable(seed) => Tear::Unstable(seed.wrapping_add(number)),
            Tear::Marginal(seed) => Tear::Marginal(seed.wrapping_add(number)),
            Tear::Wavering(seed) => Tear::Wavering(seed.wrapping_add(number)),
            tear => tear,
        };
        cells.set(selected, tear);
        rest = behind;
    }
}
