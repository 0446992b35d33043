//! Statistics of a lap of a trace, by which a made-up one is compared with a recorded one.

use serde::{Deserialize, Serialize};

use super::trace::BlockTrace;

/// Statistics of a trace, folded to a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Writes.
    pub requests: u64,
    /// Pages that they write.
    pub pages: u64,
    /// Requests of 16 sectors, in a hundred.
    pub database_pages_percent: f64,
    /// Requests that begin where an earlier one ended, in a hundred: the log.
    pub sequential_percent: f64,
    /// Sectors that an earlier request has written, before folding, in a hundred.
    pub rewritten_percent: f64,
    /// Requests that begin within 816 sectors of another one, before folding, in a hundred: what is appended.
    pub close_percent: f64,
    /// Logical pages that are never written, in a hundred.
    pub unwritten_percent: f64,
    /// Writes that go to the tenth of the logical pages that is written most, in a hundred.
    pub hottest_tenth_percent: f64,
    /// The most writes of one page.
    pub page_writes_max: u32,
}

impl Shape {
    /// Of a trace on a device with these logical pages.
    pub fn of(trace: &BlockTrace, logical_pages: u32) -> Shape {
        let requests = trace.requests();
        let percent = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
        let mut counts = vec![0_u32; logical_pages as usize];
        requests.iter().flat_map(|request| request.pages(logical_pages)).for_each(|page| counts[page as usize] += 1);
        let unwritten = counts.iter().filter(|&&count| count == 0).count();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let hottest: u32 = counts[..counts.len() / 10].iter().sum();
        let all: u32 = counts.iter().sum();
        Shape {
            requests: requests.len() as u64,
            pages: trace.sectors(),
            database_pages_percent: percent(requests.iter().filter(|one| one.sectors == 16).count(), requests.len()),
            sequential_percent: percent(sequential(trace), requests.len()),
            rewritten_percent: 100.0 * rewritten(trace) as f64 / trace.sectors() as f64,
            close_percent: percent(close(trace), requests.len()),
            unwritten_percent: percent(unwritten, counts.len()),
            hottest_tenth_percent: percent(hottest as usize, all as usize),
            page_writes_max: counts[0],
        }
    }
}

fn sequential(trace: &BlockTrace) -> usize {
    let mut ends = std::collections::BTreeSet::new();
    let follows = |request: &&super::trace::Request| {
        let follows = ends.contains(&request.sector);
        ends.insert(request.sector + u64::from(request.sectors));
        follows
    };
    trace.requests().iter().filter(follows).count()
}

/// Sectors less distinct sectors.
fn rewritten(trace: &BlockTrace) -> u64 {
    let mut ranges: Vec<(u64, u64)> =
        trace.requests().iter().map(|one| (one.sector, one.sector + u64::from(one.sectors))).collect();
    ranges.sort_unstable();
    let (mut reached, mut twice) = (0, 0);
    for (from, to) in ranges {
        twice += reached.min(to).saturating_sub(from);
        reached = reached.max(to);
    }
    twice
}

fn close(trace: &BlockTrace) -> usize {
    let mut sectors: Vec<u64> = trace.requests().iter().map(|one| one.sector).collect();
    sectors.sort_unstable();
    sectors.windows(2).filter(|pair| pair[1] - pair[0] < 816).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_amplification::trace::Request;

    #[test]
    fn a_small_trace_has_the_statistics_that_are_counted_by_hand() {
        let request = |sector, sectors| Request { sector, sectors };
        let trace = BlockTrace::new(vec![request(1000, 16), request(1016, 4), request(1008, 16), request(90_000, 4)]);
        let shape = Shape::of(&trace, 100);
        assert_eq!((shape.requests, shape.pages, shape.page_writes_max), (4, 40, 2));
        assert_eq!((shape.database_pages_percent, shape.sequential_percent, shape.close_percent), (50.0, 25.0, 50.0));
        // Twelve of the 36 sectors up to 1024 are written twice; folded, the last request meets the first one.
        assert_eq!(shape.rewritten_percent, 100.0 * 12.0 / 40.0);
        assert_eq!(shape.unwritten_percent, 76.0);
        assert_eq!(shape.hottest_tenth_percent, 50.0);
    }
}
