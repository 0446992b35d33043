//! The paper's simulator (section 5.1) as plain numbers: LRU and a register, with no bytes, no errors and no bound on
//! RAM.
//!
//! It is what the pager's counts are checked against, and replays a full trace in the time that reading it takes.
//! Frames and sizes are values, where those of a pager are types.
//!
//! Invariant: `frames` pages are held, at first such as no run requests; they form a ring through its first place, from
//! the one requested last to the oldest.

use norn_flash::NandPart;

use super::trace::Run;

/// No page.
const NONE: u32 = u32::MAX;

/// A place's neighbours in the ring; `newer` is [`NONE`] for a page that is not held.
#[derive(Clone, Copy, Debug)]
struct Links {
    newer: u32,
    older: u32,
}

/// What a trace costs under LRU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LruCounts {
    /// Requests of cache pages that were in a frame.
    pub hits: u64,
    /// Those that were not.
    pub misses: u64,
    /// Pages loaded into the register.
    pub loads: u64,
    /// Cache pages passed over.
    pub skipped: u64,
}

/// Frames that a model can have.
const FRAMES_MAX: u32 = 1 << 20;

/// Why there is no such cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// It has no frames, or too many.
    #[error("a cache of {frames} frames: 1 to {FRAMES_MAX} are possible")]
    Frames {
        /// How many.
        frames: u32,
    },
    /// Cache pages do not fit the part's.
    #[error(
        "cache pages of {page_bytes} bytes do not divide the part's pages of {part_page_bytes}, as powers of two do"
    )]
    PageSize {
        /// Bytes of a cache page.
        page_bytes: u32,
        /// Bytes of a page of the part.
        part_page_bytes: u32,
    },
    /// The code does not fit the part.
    #[error("code of {code_bytes} bytes does not fit the part's {part_bytes}")]
    TooLarge {
        /// Bytes of the code.
        code_bytes: u32,
        /// Bytes of the part.
        part_bytes: u64,
    },
}

/// LRU over a register.
#[derive(Clone, Debug)]
pub struct LruModel {
    page_bytes_log2: u32,
    /// The ring's first place, and after it that of each page.
    links: Vec<Links>,
    last: u32,
    register: Register,
}

/// The part's register, and what was counted.
#[derive(Clone, Copy, Debug)]
struct Register {
    /// Cache pages of a page of the part, less one: a mask of their numbers in it.
    per_page_mask: u32,
    /// The cache page that the position is before, and the first one after the register.
    position: u32,
    end: u32,
    counts: LruCounts,
}

impl LruModel {
    /// A cache of the given number of frames, for code of the given length on a part.
    ///
    /// # Errors
    /// If there are no frames, cache pages do not divide the part's into powers of two, or the code does not fit the
    /// part.
    pub fn new(frames: u32, page_bytes: u32, part: &NandPart, code_bytes: u32) -> Result<Self, ShapeError> {
        let part_page_bytes = u32::from(part.page_bytes);
        if frames == 0 || frames > FRAMES_MAX {
            return Err(ShapeError::Frames { frames });
        }
        let divides = page_bytes.is_power_of_two() && part_page_bytes.is_multiple_of(page_bytes);
        if !divides || !part_page_bytes.is_power_of_two() {
            return Err(ShapeError::PageSize { page_bytes, part_page_bytes });
        }
        if u64::from(code_bytes) > part.size_bytes() {
            return Err(ShapeError::TooLarge { code_bytes, part_bytes: part.size_bytes() });
        }
        let pages = code_bytes.div_ceil(page_bytes);
        let mut links = vec![Links { newer: NONE, older: NONE }; (1 + pages + frames) as usize];
        let places = [0].into_iter().chain(1 + pages..=pages + frames);
        for (newer, older) in places.clone().zip(places.cycle().skip(1)) {
            links[newer as usize].older = older;
            links[older as usize].newer = newer;
        }
        let per_page_mask = part_page_bytes / page_bytes - 1;
        let register = Register { per_page_mask, position: 0, end: 0, counts: LruCounts::default() };
        Ok(LruModel { page_bytes_log2: page_bytes.ilog2(), links, last: NONE, register })
    }

    /// What was counted so far.
    pub fn counts(&self) -> LruCounts {
        self.register.counts
    }

    /// Replays runs. Cost: the same for each request, whatever the number of frames.
    #[inline(never)]
    pub fn replay(&mut self, runs: &[Run]) {
        // A copy, since the processor's registers may keep it through the loop.
        let (log2, mut last, mut register) = (self.page_bytes_log2, self.last, self.register);
        let links = &mut self.links[..];
        for run in runs {
            let mut page = run.address >> log2;
            let end = (run.end() - 1) >> log2;
            page += u32::from(page == last);
            // A `for` over an inclusive range costs nearly as much as a request.
            while page <= end {
                request(links, &mut register, page);
                page += 1;
            }
            last = end;
        }
        (self.last, self.register) = (last, register);
    }
}

/// A request of another page than the last one.
#[inline(always)]
fn request(links: &mut [Links], register: &mut Register, page: u32) {
    let place = page as usize + 1;
    let Links { newer, older } = links[place];
    if newer == NONE {
        register.fetch(page);
        let oldest = links[0].newer;
        let next = std::mem::replace(&mut links[oldest as usize].newer, NONE);
        links[0].newer = next;
        links[next as usize].older = 0;
    } else {
        register.counts.hits += 1;
        links[newer as usize].older = older;
        links[older as usize].newer = newer;
    }
    let second = std::mem::replace(&mut links[0].older, place as u32);
    links[second as usize].newer = place as u32;
    links[place] = Links { newer: 0, older: second };
}

impl Register {
    /// Brings a page, after a load in the paper's three cases.
    #[inline(always)]
    fn fetch(&mut self, page: u32) {
        self.counts.misses += 1;
        if page < self.position || page >= self.end {
            self.counts.loads += 1;
            self.position = page & !self.per_page_mask;
            self.end = self.position + self.per_page_mask + 1;
        }
        self.counts.skipped += u64::from(page - self.position);
        self.position = page + 1;
    }
}
