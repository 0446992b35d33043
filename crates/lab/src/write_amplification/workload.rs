//! What is written: a trace again and again, as the bars' figures have it, or what never repeats itself.

use serde::{Deserialize, Serialize};

use super::tpcc::{RECORDED_REQUESTS, Requests, trace};
use super::trace::BlockTrace;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Workload {
    /// The trace of `--trace`, again and again, folded to the device.
    Trace,
    /// A made-up trace of the shape of TPC-C's, as long as the recorded one, again and again, folded to the device.
    MadeUpTrace,
    /// Requests of that shape on the device's own space, never the same again.
    MadeUpEndless,
    /// Single pages, each as likely as any other.
    Uniform,
}

impl Workload {
    /// What it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Workload::Trace => "TPC-C trace",
            Workload::MadeUpTrace => "TPC-C-like, repeated",
            Workload::MadeUpEndless => "TPC-C-like, endless",
            Workload::Uniform => "uniform",
        }
    }
}

/// The logical pages that are written, one after the other, without end.
pub type Pages = Box<dyn Iterator<Item = u32>>;

/// How often a page is written again.
pub struct Stream {
    /// The pages.
    pub pages: Pages,
    /// Pages of a lap, after which the same pages follow; 0 if nothing repeats.
    pub lap: u64,
}

/// Requests of a made-up trace: of a part with fewer blocks than the paper's, fewer.
pub fn lap_requests(blocks: u16) -> usize {
    RECORDED_REQUESTS * usize::from(blocks) / 1024
}

/// The stream of a workload; `recorded` is the trace of [`Workload::Trace`].
pub fn stream(workload: Workload, recorded: Option<BlockTrace>, blocks: u16, logical_pages: u32, seed: u64) -> Stream {
    match workload {
        Workload::Trace => laps(recorded.expect("a job of the trace has one"), logical_pages),
        Workload::MadeUpTrace => laps(trace(seed, lap_requests(blocks)), logical_pages),
        Workload::MadeUpEndless => {
            let requests = Requests::new(seed, u64::from(logical_pages));
            Stream { pages: Box::new(requests.flat_map(move |request| request.pages(logical_pages))), lap: 0 }
        }
        Workload::Uniform => {
            let mut random = fastrand::Rng::with_seed(seed);
            Stream { pages: Box::new(std::iter::repeat_with(move || random.u32(0..logical_pages))), lap: 0 }
        }
    }
}

fn laps(trace: BlockTrace, logical_pages: u32) -> Stream {
    let lap = trace.sectors();
    let requests = trace.requests().to_vec().into_iter().cycle();
    Stream { pages: Box::new(requests.flat_map(move |request| request.pages(logical_pages))), lap }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_repeated_and_the_others_are_not() {
        let taken = |workload, count| stream(workload, None, 256, 4000, 3).pages.take(count).collect::<Vec<u32>>();
        let lap = stream(Workload::MadeUpTrace, None, 256, 4000, 3).lap as usize;
        let twice = taken(Workload::MadeUpTrace, 2 * lap);
        assert_eq!(twice[..lap], twice[lap..]);
        for workload in [Workload::MadeUpEndless, Workload::Uniform] {
            let pages = taken(workload, 2 * lap);
            assert_ne!(pages[..lap], pages[lap..], "{workload:?}");
            assert!(pages.iter().all(|&page| page < 4000), "{workload:?}");
            assert_eq!(pages, taken(workload, 2 * lap), "{workload:?} follows from its seed");
        }
    }
}
