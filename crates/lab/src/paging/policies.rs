//! The policies that layouts are compared with, on a cache of 2 KB with pages of 64 bytes over pages of 512.

use norn_code_pager::policy::{Greedy, Lru, Policy, S3Fifo};
use norn_code_pager::{CachePage, Counts, Options, Passing};
use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b};

use super::min::{Min, next_requests};
use super::replay::{Cost, EXECUTE_NS, pager, replay, requests};
use super::trace::Trace;
use crate::error::JobError;

/// The name of the policy that knows the future; all others are online.
pub(super) const MIN: &str = "MIN";

/// Each policy on a trace.
pub(super) fn policies(trace: &Trace, executed_bytes: u64) -> Result<Vec<(String, Cost)>, JobError> {
    let requests = requests::<64>(trace.runs.iter().copied());
    let next = next_requests(&requests);
    let with_jumps = trace.executed_bytes();
    let replayed = Replayed { code_bytes: trace.code_bytes, requests: &requests, executed_bytes, with_jumps };
    let plain = Options::default();
    let passing = Options { passing: Passing::FillRemembered, ..plain };
    Ok(vec![
        ("LRU".to_owned(), replayed.through(Lru::<32>::default(), plain)?),
        ("S3-FIFO".to_owned(), replayed.through(S3Fifo::<32>::default(), plain)?),
        ("S3-FIFO, filling in passing".to_owned(), replayed.through(S3Fifo::<32>::default(), passing)?),
        ("Greedy".to_owned(), replayed.through(Greedy::<32>::default(), plain)?),
        (MIN.to_owned(), replayed.through(Min::new(&next, 32), plain)?),
    ])
}

/// What is replayed through each policy.
struct Replayed<'a> {
    code_bytes: u32,
    requests: &'a [CachePage],
    /// Bytes that the program executed in its original layout.
    executed_bytes: u64,
    /// The same with the jumps of this one.
    with_jumps: u64,
}

impl Replayed<'_> {
    fn through<P: Policy>(&self, policy: P, options: Options) -> Result<Cost, JobError> {
        let spec = k9f1208q0b(Bus::Mhz33Bits8);
        let made = pager::<P, 32, 64, _>(&spec, self.code_bytes, policy, options, Counts::default());
        let mut pager = made.map_err(JobError::Failed)?;
        replay(&mut pager, self.requests);
        let (device, counts) = pager.into_parts();
        Ok(Cost {
            executed_bytes: self.executed_bytes,
            jump_bytes: self.with_jumps - self.executed_bytes,
            requests: counts.look_ups(),
            misses: counts.misses,
            comparisons: counts.comparisons,
            loads: device.loads,
            fetched_bytes: device.fetched_bytes,
            skipped_bytes: device.skipped_bytes,
            written_bytes: 64 * (counts.filled + counts.filled_early),
            elapsed_ns: self.with_jumps * EXECUTE_NS + device.elapsed_ns(&spec.timings),
        })
    }
}
