//! Real-time tasks, and the collectors that equation (1) gives them.

use crate::ground::medium::READ_ATTEMPTS;

/// How long the part's operations take at most, in microseconds (paper, Table I), and a collector's computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationTimes {
    /// t_r: reading a page.
    pub read_us: u64,
    /// t_w: writing a page.
    pub write_us: u64,
    /// t_e: erasing a block.
    pub erase_us: u64,
    /// c_G^cpu: what a collector computes in a period.
    pub collector_cpu_us: u64,
}

impl OperationTimes {
    /// Table I, and Table IV for the collector's computing.
    pub const fn paper() -> Self {
        OperationTimes { read_us: 348, write_us: 919, erase_us: 1881, collector_cpu_us: 10 }
    }

    /// The longest operation, which blocks every other: an erase or a copy.
    pub const fn longest_us(&self) -> u64 {
        let copy = self.read_us + self.write_us;
        if copy > self.erase_us { copy } else { self.erase_us }
    }

    /// What a failure makes an operation take longer: a copy whose block fails is repeated, a page that cannot be read
    /// is loaded again and again.
    pub const fn repeat_us(&self) -> u64 {
        let (copy, loads) =
            (self.read_us.saturating_add(self.write_us), self.read_us.saturating_mul(READ_ATTEMPTS as u64 - 1));
        if copy > loads { copy } else { loads }
    }
}

/// A periodic task (paper, section 3.2). Its deadline is its next release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// c: what it computes, reads and writes in a period at most, in microseconds.
    pub cost_us: u64,
    /// p, in microseconds.
    pub period_us: u64,
    /// w: pages that it writes in a period at most.
    pub writes: u32,
}

impl Task {
    /// c from its parts: c^cpu + reads · t_r + writes · t_w, at most 2⁶⁴ − 1.
    pub const fn new(cpu_us: u64, reads: u32, writes: u32, period_us: u64, times: &OperationTimes) -> Self {
        let (reading_us, writing_us) =
            ((reads as u64).saturating_mul(times.read_us), (writes as u64).saturating_mul(times.write_us));
        let cost_us = cpu_us.saturating_add(reading_us).saturating_add(writing_us);
        Task { cost_us, period_us, writes }
    }
}

/// The collector of a task that writes, and the tokens that the two have: equation (1).
///
/// ```text
/// w > α:   p_G = ⌊p / ⌈w/α⌉⌋    σ = p      T holds w at a meta-period's start, G supplies α⌈w/α⌉ in it
/// else:    p_G = p · ⌊α/w⌋      σ = p_G    T holds w⌊α/w⌋,                    G supplies α
/// ```
///
/// p is the task's period and w what it writes in it; α is [`RealTimeConfig::alpha`](crate::RealTimeConfig::alpha). The
/// collector's period is p_G, in which it takes c_G = (π − α)(t_r + t_w) + t_e + c_G^cpu at most; its periods start
/// with *meta-periods* σ. One of the first kind has ⌈w/α⌉ periods in each, and what the division leaves over is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collector {
    /// c_G.
    pub cost_us: u64,
    /// p_G.
    pub period_us: u64,
    /// σ.
    pub meta_period_us: u64,
    /// Periods of the collector in a meta-period.
    pub jobs: u32,
    /// Tokens of the task at the start of a meta-period: wσ/p.
    pub task_tokens: u32,
    /// Tokens of the collector at the start of its period: π − α.
    pub collector_tokens: u32,
    /// Tokens that it supplies in a meta-period: ασ/p_G.
    pub supply: u32,
}

impl Collector {
    /// Equation (1). `None` for a task that does not write, or whose numbers are beyond 64 bits.
    pub fn of(task: &Task, alpha: u32, pages_per_block: u32, times: &OperationTimes) -> Option<Self> {
        if task.writes == 0 || alpha == 0 || alpha > pages_per_block {
            return None;
        }
        let kept = pages_per_block - alpha;
        let copy = times.read_us.checked_add(times.write_us)?;
        let cost = copy.checked_mul(u64::from(kept))?.checked_add(times.erase_us)?;
        let cost_us = cost.checked_add(times.collector_cpu_us)?;
        let (jobs, periods) = (task.writes.div_ceil(alpha), alpha / task.writes);
        let (period_us, meta_period_us, task_tokens) = match task.writes > alpha {
            true => (task.period_us / u64::from(jobs), task.period_us, task.writes),
            false => {
                let period = task.period_us.checked_mul(u64::from(periods))?;
                (period, period, task.writes * periods)
            }
        };
        let supply = alpha.checked_mul(jobs)?;
        Some(Collector { cost_us, period_us, meta_period_us, jobs, task_tokens, collector_tokens: kept, supply })
    }

    /// Most tokens that the two hold together when a recycling begins: the summand of (7). The task gives up what it
    /// does not need in this meta-period and the next, and the collector what it is beyond π − α, when a job ends.
    pub const fn tokens_max(&self) -> u64 {
        self.tokens_of_task_max() as u64 + self.collector_tokens as u64
    }

    /// Most tokens that the task needs: what it writes in this meta-period, and in the next.
    pub(crate) const fn tokens_of_task_max(&self) -> u32 {
        self.task_tokens.saturating_mul(2)
    }

    /// The summand of (7) as published, for comparison: the collector holds its surplus.
    pub const fn published_tokens_max(&self) -> u64 {
        self.task_tokens as u64 + self.supply as u64 + 2 * self.collector_tokens as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: OperationTimes = OperationTimes::paper();

    fn collector(writes: u32, period_us: u64) -> Collector {
        Collector::of(&Task { cost_us: 1, period_us, writes }, 16, 32, &TIMES).unwrap()
    }

    #[test]
    fn costs_are_those_of_the_paper_with_its_errors_corrected() {
        assert_eq!(Task::new(1000, 5, 2, 20_000, &TIMES).cost_us, 4578, "section 3.2");
        assert_eq!(Task::new(3000, 4, 2, 20_000, &TIMES).cost_us, 6230, "Table III: 6354");
        assert_eq!(Task::new(5000, 2, 5, 200_000, &TIMES).cost_us, 10_291, "Table III: 8738");
        let (first, second) = (collector(2, 20_000), collector(5, 200_000));
        assert_eq!((first.cost_us, first.period_us), (22_163, 160_000), "Table IV: 20282, 160 ms");
        assert_eq!((second.cost_us, second.period_us), (22_163, 600_000), "Table IV: 20282, 600 ms");
        assert_eq!((first.task_tokens, first.collector_tokens, second.task_tokens), (16, 16, 15), "Table V");
    }

    #[test]
    fn figure_3_is_met() {
        let many = collector(30, 10_000);
        assert_eq!((many.period_us, many.meta_period_us, many.task_tokens, many.supply), (5_000, 10_000, 30, 32));
        let few = collector(3, 10_000);
        assert_eq!((few.period_us, few.meta_period_us, few.task_tokens, few.supply), (50_000, 50_000, 15, 16));
        assert_eq!(Collector::of(&Task { cost_us: 1, period_us: 1, writes: 0 }, 16, 32, &TIMES), None);
    }
}
