//! The journal in memory: the programs since the last page of the checkpoint, and the trims, sorted.
//!
//! ```text
//! entry    page number 4 · entry of the map 4         a program
//!          TRIM + first logical page 4 · count 4      a trim
//! ```
//!
//! It says what the state is, not what happened: a program counts while the map names its page, and a trimmed page is
//! unmapped unless a program that counts is of it. So the order of its entries does not matter.
//!
//! Invariant: what it takes in a page of the checkpoint is at most `journal_bytes`.

use norn_flash::PageNumber;

use super::{JournalExtent, Memory};
use crate::format::{HEADER_BYTES, Header, RUN_LENGTH_BYTES};
use crate::layout::{JOURNAL_ENTRY_BYTES, Layout};

/// The bit of an entry's first word that says that it is a trim; page numbers are below.
const TRIM: u32 = 1 << 31;

/// An entry of a journal on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A page was programmed with an entry of the map, and counts.
    Program { page: PageNumber, index: u32 },
    /// Logical pages were trimmed.
    Trim { first: u32, count: u32 },
}

impl<M: AsRef<[u8]> + AsMut<[u8]>> Memory<M> {
    fn journal_at(&self, entry: usize) -> usize {
        self.layout.journal_at() + entry * JOURNAL_ENTRY_BYTES
    }

    fn journal_entry(&self, entry: usize) -> (u32, u32) {
        let at = self.journal_at(entry);
        (u32::from_le_bytes(self.number(at)), u32::from_le_bytes(self.number(at + 4)))
    }

    /// The entry with a first word, or where it belongs.
    fn search(&self, key: u32) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.journal.entries);
        while low < high {
            let middle = low.midpoint(high);
            match self.journal_entry(middle).0.cmp(&key) {
                core::cmp::Ordering::Less => low = middle + 1,
                core::cmp::Ordering::Equal => return Ok(middle),
                core::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    fn insert(&mut self, at: usize, key: u32, value: u32) {
        let (from, to) = (self.journal_at(at), self.journal_at(self.journal.entries));
        self.bytes.as_mut().copy_within(from..to, from + JOURNAL_ENTRY_BYTES);
        self.put(from, &key.to_le_bytes());
        self.put(from + 4, &value.to_le_bytes());
        self.journal.entries += 1;
    }

    /// Bytes that the journal takes in a page.
    pub fn journal_used(&self) -> usize {
        let Layout { width, .. } = self.layout;
        let programs = self.journal.entries - usize::from(self.journal.trims);
        let trims = usize::from(self.journal.trims) * self.layout.trim_bytes();
        usize::from(self.journal.runs) * (width + RUN_LENGTH_BYTES) + programs * width + trims
    }

    /// Whether `programs` more have room, or a trim instead of one, wherever they are.
    pub fn journal_has_room(&self, programs: usize) -> bool {
        self.journal_fits(programs * self.layout.run_bytes().max(self.layout.trim_bytes()))
    }

    /// Bytes that the journal has left.
    pub fn journal_left(&self) -> usize {
        self.layout.journal_bytes - self.journal_used()
    }

    pub fn clear_journal(&mut self) {
        self.journal = JournalExtent::default();
    }

    /// The entry of the map that a page of the journal was programmed with.
    pub fn journaled(&self, page: PageNumber) -> Option<u32> {
        self.search(page.0).ok().map(|entry| self.journal_entry(entry).1)
    }

    /// Whether two neighbours of the journal are in one run.
    fn follows(&self, before: u32, page: u32) -> bool {
        before + 1 == page && !page.is_multiple_of(u32::from(self.layout.part.pages_per_block))
    }

    fn journal_fits(&self, more: usize) -> bool {
        self.journal_used() + more <= self.layout.journal_bytes
    }

    /// Adds a program, after those of the same block; an entry beyond the map is of a page that does not count. Returns
    /// whether it had room.
    pub fn note_program(&mut self, page: PageNumber, index: u32) -> bool {
        let at = match self.search(page.0) {
            // Its block was erased since.
            Ok(entry) => {
                self.put(self.journal_at(entry) + 4, &index.to_le_bytes());
                return true;
            }
            Err(at) => at,
        };
        let continues = at > 0 && self.follows(self.journal_entry(at - 1).0, page.0);
        let precedes = at < self.journal.entries && self.follows(page.0, self.journal_entry(at).0);
        let fits = self.journal_fits(if continues || precedes { self.layout.width } else { self.layout.run_bytes() });
        if fits {
            self.insert(at, page.0, index);
            self.journal.runs = self.journal.runs + 1 - u16::from(continues) - u16::from(precedes);
        }
        fits
    }

    /// Drops pages of the checkpoint that were replaced, where that makes no two runs of one. So pages that replace
    /// each other, as those of mounts in a row do, never fill the journal.
    pub fn drop_replaced_pages(&mut self) {
        let mut entry = 0;
        while entry < self.journal.entries - usize::from(self.journal.trims) {
            let (key, index) = self.journal_entry(entry);
            let is_chunk = (self.layout.logical_pages..self.layout.entries()).contains(&index);
            let follows = entry > 0 && self.follows(self.journal_entry(entry - 1).0, key);
            let precedes = entry + 1 < self.journal.entries && self.follows(key, self.journal_entry(entry + 1).0);
            if !is_chunk || self.page(index) == Some(PageNumber(key)) || follows && precedes {
                entry += 1;
                continue;
            }
            let (from, to) = (self.journal_at(entry + 1), self.journal_at(self.journal.entries));
            self.bytes.as_mut().copy_within(from..to, from - JOURNAL_ENTRY_BYTES);
            self.journal.entries -= 1;
            self.journal.runs -= u16::from(!follows && !precedes);
        }
    }

    /// Adds a trim. Returns whether it had room.
    pub fn note_trim(&mut self, first: u32, count: u32) -> bool {
        match self.search(TRIM | first) {
            Ok(at) => {
                let longer = self.journal_entry(at).1.max(count);
                self.put(self.journal_at(at) + 4, &longer.to_le_bytes());
                true
            }
            Err(at) => {
                let fits = self.journal_fits(self.layout.trim_bytes());
                if fits {
                    self.insert(at, TRIM | first, count);
                    self.journal.trims += 1;
                }
                fits
            }
        }
    }

    /// The trims of the journal: first logical page and count.
    pub fn trims(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let from = self.journal.entries - usize::from(self.journal.trims);
        let entries = (from..self.journal.entries).map(|entry| self.journal_entry(entry));
        entries.map(|(key, count)| (key & !TRIM, count))
    }

    /// Puts the journal into the buffered page; says how many runs and trims it has.
    pub(super) fn journal_to_buffer(&mut self) -> (u16, u16) {
        let width = self.layout.width;
        let (mut at, mut length_at, mut before) = (HEADER_BYTES, 0, None);
        for entry in 0..self.journal.entries {
            let (key, value) = self.journal_entry(entry);
            if key & TRIM != 0 {
                self.data_mut()[at..at + width].copy_from_slice(&(key & !TRIM).to_le_bytes()[..width]);
                self.data_mut()[at + width..at + 2 * width].copy_from_slice(&value.to_le_bytes()[..width]);
                at += 2 * width;
                continue;
            }
            if !before.is_some_and(|before| self.follows(before, key)) {
                self.data_mut()[at..at + width].copy_from_slice(&key.to_le_bytes()[..width]);
                self.data_mut()[at + width..at + width + RUN_LENGTH_BYTES].fill(0);
                (length_at, at) = (at + width, at + width + RUN_LENGTH_BYTES);
            }
            before = Some(key);
            let data = self.data();
            let length = u16::from_le_bytes([data[length_at], data[length_at + 1]]) + 1;
            let counts = value < self.layout.entries() && self.page(value) == Some(PageNumber(key));
            let index = if counts { value } else { u32::MAX };
            self.data_mut()[length_at..length_at + RUN_LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
            self.data_mut()[at..at + width].copy_from_slice(&index.to_le_bytes()[..width]);
            at += width;
        }
        (self.journal.runs, self.journal.trims)
    }

    /// Calls `visit` with what the journal of the buffered page says, and with the pages that do not count any more
    /// (their entry is beyond the map). `None` if it leaves its room.
    pub fn visit_buffered_journal(&mut self, header: &Header, mut visit: impl FnMut(&mut Self, Event)) -> Option<()> {
        let mut at = HEADER_BYTES;
        for _ in 0..header.runs {
            let (first, length) = self.buffered_run(at)?;
            at += self.layout.width + RUN_LENGTH_BYTES;
            for page in first..first + u32::from(length) {
                let index = self.buffered_number(at)?;
                at += self.layout.width;
                if page < self.layout.part.page_count() {
                    visit(self, Event::Program { page: PageNumber(page), index });
                }
            }
        }
        for _ in 0..header.trims {
            let (first, count) = (self.buffered_number(at)?, self.buffered_number(at + self.layout.width)?);
            at += self.layout.trim_bytes();
            visit(self, Event::Trim { first, count });
        }
        Some(())
    }

    /// Bytes that the journal of the buffered page takes; all there are if it leaves its room.
    pub fn buffered_journal_bytes(&self, header: &Header) -> usize {
        let mut at = HEADER_BYTES;
        for _ in 0..header.runs {
            let Some((_, length)) = self.buffered_run(at) else { return self.layout.journal_bytes };
            at += self.layout.width * (1 + usize::from(length)) + RUN_LENGTH_BYTES;
        }
        at - HEADER_BYTES + usize::from(header.trims) * self.layout.trim_bytes()
    }

    fn buffered_run(&self, at: usize) -> Option<(u32, u16)> {
        let at_length = at + self.layout.width;
        let length = self.buffer().get(at_length..at_length + RUN_LENGTH_BYTES)?;
        Some((self.buffered_number(at)?, u16::from_le_bytes([length[0], length[1]])))
    }

    /// A number of `width` bytes in the buffered journal.
    fn buffered_number(&self, at: usize) -> Option<u32> {
        let Layout { width, .. } = self.layout;
        let mut number = [0; 4];
        let end = HEADER_BYTES + self.layout.journal_bytes;
        number[..width].copy_from_slice(self.buffer().get(at..at + width).filter(|_| at + width <= end)?);
        Some(u32::from_le_bytes(number))
    }
}
