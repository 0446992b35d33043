//! Replays a trace through a pager, and says what it cost.
//!
//! 1. Each run requests the cache pages that it crosses, in ascending order; a request of the page that was requested
//!    last is none. That depends on the page's size alone, so that it is done once for all policies.
//! 2. Each request goes through the pager that a device uses, over a part that only counts.
//! 3. Time is that of executing the trace's bytes from RAM, of loads, and of bytes fetched or passed over.

use norn_code_pager::policy::Policy;
use norn_code_pager::{CachePage, CodeAddress, Counts, Event, Image, Observer, Options, Pager, Uncoded};
use norn_flash::Block;
use norn_flash_sim::NandSpec;

use super::device::CountingNand;
use super::trace::Run;

/// Time of executing a byte from RAM, that of NOR flash in Table 1.
pub const EXECUTE_NS: u64 = 40;

/// What a replay cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cost {
    /// Bytes that the program executed, in its original layout.
    pub executed_bytes: u64,
    /// Bytes of jumps that another layout added.
    pub jump_bytes: u64,
    /// Requests of cache pages.
    pub requests: u64,
    /// Those that were not in a frame.
    pub misses: u64,
    /// Page numbers compared in look-ups.
    pub comparisons: u64,
    /// Pages loaded into the register.
    pub loads: u64,
    /// Bytes fetched from it.
    pub fetched_bytes: u64,
    /// Bytes passed over.
    pub skipped_bytes: u64,
    /// Bytes written to frames.
    pub written_bytes: u64,
    /// Simulated time.
    pub elapsed_ns: u64,
}

impl Cost {
    /// Bandwidth of the program's bytes in MiB/s.
    pub fn bandwidth(&self) -> f64 {
        self.executed_bytes as f64 / (self.elapsed_ns as f64 / 1e9) / f64::from(1 << 20)
    }
}

/// Counts, by distance in cache pages, of consecutive misses in one page of the part.
#[derive(Clone, Debug, Default)]
pub struct Distances {
    /// What else is counted.
    pub counts: Counts,
    /// The page that was filled last.
    last: Option<CachePage>,
    /// Cache pages of a page of the part.
    per_page: u16,
    /// Misses by their distance from the one before, for those in the same page of the part.
    pub by_distance: std::collections::BTreeMap<i32, u64>,
}

impl Distances {
    /// For parts with the given number of cache pages per page.
    pub fn new(per_page: u16) -> Self {
        Distances { per_page, ..Distances::default() }
    }
}

impl Observer for Distances {
    fn note(&mut self, event: Event) {
        self.counts.note(event);
        if let Event::Filled { page, requested: true } = event {
            let same = |last: &CachePage| last.0 / self.per_page == page.0 / self.per_page;
            if let Some(last) = self.last.filter(same) {
                *self.by_distance.entry(i32::from(page.0) - i32::from(last.0)).or_default() += 1;
            }
            self.last = Some(page);
        }
    }
}

/// Calls `request` with each cache page that runs request.
#[inline]
pub fn each_request<const PAGE: usize>(runs: impl Iterator<Item = Run>, mut request: impl FnMut(CachePage)) {
    let mut last = u32::MAX;
    for run in runs {
        let mut page = run.address / PAGE as u32;
        let end = (run.end() - 1) / PAGE as u32;
        while page <= end {
            if page != last {
                request(CachePage(page as u16));
                last = page;
            }
            page += 1;
        }
    }
}

/// The cache pages that runs request.
pub fn requests<const PAGE: usize>(runs: impl Iterator<Item = Run>) -> Vec<CachePage> {
    let mut requests = Vec::new();
    each_request::<PAGE>(runs, |page| requests.push(page));
    requests
}

/// A pager over a part that counts.
pub type Replay<P, const FRAMES: usize, const PAGE: usize, O = Counts> =
    Pager<CountingNand, P, FRAMES, PAGE, Uncoded, O>;

/// A pager for a replay.
///
/// # Errors
/// If the code does not fit the part, or its pages not the cache's.
pub fn pager<P: Policy, const FRAMES: usize, const PAGE: usize, O: Observer>(
    spec: &NandSpec,
    code_bytes: u32,
    policy: P,
    options: Options,
    observer: O,
) -> Result<Replay<P, FRAMES, PAGE, O>, String> {
    let image = Image::without_bad_blocks::<Uncoded>(&spec.part, PAGE, Block(0), code_bytes);
    let image = image.map_err(|error| error.to_string())?;
    Ok(Pager::over(CountingNand::new(spec), image, policy, options, observer))
}

/// Replays requests of cache pages.
#[inline(never)]
pub fn replay<P: Policy, const FRAMES: usize, const PAGE: usize, O: Observer>(
    pager: &mut Replay<P, FRAMES, PAGE, O>,
    requests: &[CachePage],
) {
    requests.iter().for_each(|&page| request(pager, page));
}

/// Requests a cache page.
#[inline]
pub fn request<P: Policy, const FRAMES: usize, const PAGE: usize, O: Observer>(
    pager: &mut Replay<P, FRAMES, PAGE, O>,
    page: CachePage,
) {
    // The part does not fail, and the trace's code is the image.
    let _ = pager.view(CodeAddress(u32::from(page.0) * PAGE as u32));
}

/// Replays runs by their bytes, so that requests may be served from the register.
#[inline(never)]
pub fn replay_bytes<P: Policy, const FRAMES: usize, const PAGE: usize, O: Observer>(
    pager: &mut Replay<P, FRAMES, PAGE, O>,
    runs: impl Iterator<Item = Run>,
) {
    let mut buffer = [0; u16::MAX as usize];
    for run in runs {
        let _ = pager.read(CodeAddress(run.address), &mut buffer[..usize::from(run.bytes)]);
    }
}
