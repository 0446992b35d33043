//! What calls cost: simulated time, split into reads, programs and erases as the paper does, and the spread of the
//! calls' latencies.

use norn_flash_sim::Counters;
use serde::{Deserialize, Serialize};

use super::subject::Subject;
use crate::error::JobError;

/// What the calls of a phase cost.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Costs {
    /// Calls.
    pub calls: u64,
    /// Simulated seconds, all calls together.
    pub seconds: f64,
    /// Those of words read.
    pub read_seconds: f64,
    /// Those of words programmed.
    pub write_seconds: f64,
    /// Those of blocks erased.
    pub erase_seconds: f64,
    /// Seconds of the calls that erased a block, moves and all.
    pub reclaiming_seconds: f64,
    /// Words read, a call.
    pub reads: f64,
    /// Words programmed, a call.
    pub writes: f64,
    /// Blocks erased, a call.
    pub erases: f64,
    /// Milliseconds of a call: the mean.
    pub ms: f64,
    /// Half of the calls take no longer.
    pub ms_median: f64,
    /// 99.9% of the calls take no longer.
    pub ms_999: f64,
    /// The longest call.
    pub ms_worst: f64,
}

impl Costs {
    /// Words written and blocks erased, in seconds.
    pub fn write_and_erase_seconds(&self) -> f64 {
        self.write_seconds + self.erase_seconds
    }
}

/// Watches the calls of a phase.
pub struct Meter {
    counters: Counters,
    begun_ns: u64,
    reclaiming_ns: u64,
    latencies_ns: Vec<u64>,
}

impl Meter {
    /// Begins a phase.
    pub fn begin(index: &impl Subject) -> Meter {
        let sim = index.sim();
        Meter { counters: sim.counters(), begun_ns: sim.elapsed_ns(), reclaiming_ns: 0, latencies_ns: Vec::new() }
    }

    /// Watches one call.
    pub fn call<I: Subject, T, E: std::fmt::Debug>(
        &mut self,
        index: &mut I,
        call: impl FnOnce(&mut I) -> Result<T, E>,
    ) -> Result<T, JobError> {
        let (before_ns, erases) = (index.sim().elapsed_ns(), index.sim().counters().erases);
        let answer = call(index).map_err(JobError::while_doing("a call"))?;
        let elapsed_ns = index.sim().elapsed_ns() - before_ns;
        if index.sim().counters().erases > erases {
            self.reclaiming_ns += elapsed_ns;
        }
        self.latencies_ns.push(elapsed_ns);
        Ok(answer)
    }

    /// Ends the phase.
    pub fn end(mut self, index: &impl Subject) -> Costs {
        let sim = index.sim();
        let counters = sim.counters() - self.counters;
        let timings = sim.spec().timings;
        let calls = self.latencies_ns.len() as u64;
        self.latencies_ns.sort_unstable();
        let each = |total: f64| total / calls.max(1) as f64;
        let seconds = |ns: u64| ns as f64 / 1e9;
        let at = |share: f64| {
            let place = ((calls as f64 * share) as usize).min(self.latencies_ns.len().saturating_sub(1));
            self.latencies_ns.get(place).map_or(0.0, |&ns| ns as f64 / 1e6)
        };
        let elapsed = seconds(sim.elapsed_ns() - self.begun_ns);
        Costs {
            calls,
            seconds: elapsed,
            read_seconds: seconds(counters.reads() * timings.read.word_ns),
            write_seconds: seconds(counters.programs() * timings.program.word_ns),
            erase_seconds: seconds(counters.erases * timings.erase_ns),
            reclaiming_seconds: seconds(self.reclaiming_ns),
            reads: each(counters.reads() as f64),
            writes: each(counters.programs() as f64),
            erases: each(counters.erases as f64),
            ms: each(elapsed) * 1e3,
            ms_median: at(0.5),
            ms_999: at(0.999),
            ms_worst: at(1.0),
        }
    }
}
