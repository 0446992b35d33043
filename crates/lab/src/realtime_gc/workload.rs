//! The paper's workload (section 5.1): two tasks and a downloader, by trace, in sequence or at random.
//!
//! The trace: T1 reads four pages of control files and rewrites a status page and a page of metadata in place; T2 reads
//! two and rewrites four pages of data and one of metadata; the downloader writes (1−c) of the device over and over in
//! sequence, and a page of the directory after each 32. The rest, the share c, is *cold*.

use serde::{Deserialize, Serialize};

/// How the device is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pattern {
    /// As the files of the paper's system would be.
    Trace,
    /// Each task in sequence over the whole device.
    Sequential,
    /// Everywhere, equally often.
    Random,
    /// Everywhere, nine times of ten in a tenth of the pages, which lie apart: hot and cold pages share blocks.
    Skewed,
}

/// Every so many pages, one is hot where accesses are skewed.
const HOT_EVERY: u32 = 10;

/// A page of a skewed access: nine of ten are hot.
fn skewed(random: &mut fastrand::Rng, pages: u32) -> u32 {
    let page = random.u32(0..pages);
    if random.u8(0..10) < 9 { page / HOT_EVERY * HOT_EVERY } else { page }
}

/// Logical pages in front, of status files, metadata and the directory.
const META_PAGES: u32 = 32;

/// The accesses of a task.
pub struct Access {
    pattern: Pattern,
    logical_pages: u32,
    /// First page of the task's own files, by trace.
    own: u32,
    own_pages: u32,
    cursor: u32,
    reading: u32,
    random: fastrand::Rng,
    next: u32,
}

impl Access {
    /// Of task `number`, which writes `writes` pages in a period.
    pub fn new(pattern: Pattern, logical_pages: u32, number: u32, writes: u32, seed: u64) -> Self {
        let mut access = Access {
            pattern,
            logical_pages,
            own: number * 16 % META_PAGES,
            own_pages: writes.max(1),
            cursor: logical_pages / 3 * number % logical_pages,
            reading: META_PAGES,
            random: fastrand::Rng::with_seed(seed ^ u64::from(number) << 32),
            next: 0,
        };
        access.choose(writes);
        access
    }

    fn choose(&mut self, left: u32) {
        self.next = match self.pattern {
            Pattern::Trace => (self.own + left % self.own_pages) % self.logical_pages,
            Pattern::Sequential => self.cursor,
            Pattern::Random => self.random.u32(0..self.logical_pages),
            Pattern::Skewed => skewed(&mut self.random, self.logical_pages),
        };
    }

    /// The page to write next.
    pub fn peek(&self) -> u32 {
        self.next
    }

    /// It was written, as one of `left`.
    pub fn written(&mut self, left: u32) {
        self.cursor = (self.cursor + 1) % self.logical_pages;
        self.choose(left - 1);
    }

    /// The page to read next: control files, in sequence.
    pub fn read(&mut self) -> u32 {
        self.reading += 1;
        if self.reading >= self.logical_pages {
            self.reading = META_PAGES.min(self.logical_pages - 1);
        }
        self.reading
    }
}

/// What downloads control files.
pub struct Downloader {
    pattern: Pattern,
    from: u32,
    pages: u32,
    cursor: u32,
    random: fastrand::Rng,
    interval_us: u64,
    due_us: u64,
    next: u32,
}

impl Downloader {
    /// Over all but the cold share of the device; `interval_us` apart, 0 for as fast as it can.
    pub fn new(pattern: Pattern, logical_pages: u32, cold_percent: f64, interval_us: u64, seed: u64) -> Self {
        let (from, pages) = match pattern {
            Pattern::Trace => {
                let hot = (f64::from(logical_pages) * (1.0 - cold_percent / 100.0)) as u32;
                (META_PAGES, hot.clamp(1, logical_pages - META_PAGES))
            }
            Pattern::Sequential | Pattern::Random | Pattern::Skewed => (0, logical_pages),
        };
        let random = fastrand::Rng::with_seed(!seed);
        let mut downloader = Downloader { pattern, from, pages, cursor: 0, random, interval_us, due_us: 0, next: 0 };
        downloader.choose();
        downloader
    }

    fn choose(&mut self) {
        self.next = match self.pattern {
            Pattern::Trace if self.cursor % 33 == 32 => META_PAGES - 1,
            Pattern::Trace => self.from + (self.cursor - self.cursor / 33) % self.pages,
            Pattern::Sequential => self.from + self.cursor % self.pages,
            Pattern::Random => self.random.u32(0..self.pages),
            Pattern::Skewed => skewed(&mut self.random, self.pages),
        };
    }

    /// The page to write now, if it is time.
    pub fn due(&mut self, now_us: u64) -> Option<u32> {
        (self.due_us <= now_us).then_some(self.next)
    }

    /// It was written.
    pub fn written(&mut self) {
        self.due_us += self.interval_us;
        self.cursor = self.cursor.wrapping_add(1);
        self.choose();
    }
}
