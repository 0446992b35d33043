//! The cells of one block: pages that were programmed, and what cuts and failures left.
//!
//! Invariants: a page that was not programmed since the last erase takes no memory; a bit in `unstable` is set only in a page
//! whose program, or the erase of whose block, was cut or failed; pages from `next_page` on are erased, but for what was put there by
//! other means than programming (a maker's mark, damage).

use std::sync::Arc;

use crate::tear::Tear;

/// One programmed page, with its out-of-band area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageCells {
    /// What loads return, but for unstable bits.
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
        PageCells { bytes: cleared, unstable: unstable_bits(&changing, tear) }
    }

    /// Sets the zeros that are `selected`; of all zeros, those that `tear` makes unstable become so.
    fn set(&mut self, selected: &[u8], tear: Tear) {
        let zeros: Vec<u8> = self.zeros();
        let unstable = unstable_bits(&zeros, tear);
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

/// Of the bits that were changing, an eighth, if the tear leaves unstable bits.
fn unstable_bits(changing: &[u8], tear: Tear) -> Vec<u8> {
    match tear {
        Tear::Unstable(seed) => {
            let mut random = fastrand::Rng::with_seed(!seed);
            changing.iter().map(|bits| bits & random.u8(..) & random.u8(..) & random.u8(..)).collect()
        }
        _ => Vec::new(),
    }
}

/// What is known of a block beside its pages.
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

/// One block.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockCells {
    pub state: BlockState,
    /// Empty while no page is programmed.
    pages: Vec<Option<Arc<PageCells>>>,
}

impl BlockCells {
    /// A page, unless it is erased.
    pub fn page(&self, page: u16) -> Option<&PageCells> {
        self.pages.get(usize::from(page)).and_then(|cells| cells.as_deref())
    }

    /// Puts a page in place.
    pub fn put(&mut self, page: u16, cells: PageCells) {
        let place = usize::from(page);
        if self.pages.len() <= place {
            self.pages.resize(place + 1, None);
        }
        self.pages[place] = Some(Arc::new(cells));
    }

    /// Numbers of the pages that are not erased.
    pub fn programmed(&self) -> Vec<u16> {
        (0..self.pages.len() as u16).filter(|&page| self.page(page).is_some()).collect()
    }

    /// Sets all bits.
    pub fn erase(&mut self) {
        self.pages = Vec::new();
        (self.state.next_page, self.state.torn) = (0, false);
    }

    /// Sets those bits that `tear` lets an erase set.
    pub fn tear_erase(&mut self, tear: Tear) {
        self.state.torn = true;
        let programmed = self.programmed();
        let zeros: Vec<u8> = programmed.iter().flat_map(|&page| self.page(page).expect("programmed").zeros()).collect();
        let selected = tear.select(&zeros);
        let mut start = 0;
        for page in programmed {
            let mut cells = self.page(page).expect("programmed").clone();
            let end = start + cells.bytes.len();
            // Each page draws its own unstable bits.
            let tear = if let Tear::Unstable(seed) = tear { Tear::Unstable(seed ^ u64::from(page)) } else { tear };
            cells.set(&selected[start..end], tear);
            self.put(page, cells);
            start = end;
        }
    }
}
