//! Admission: equations (7), (8), (13) and (14), evaluated soundly.
//!
//! - (8) is evaluated at each admission: (12) does not imply it (docs/papers.md).
//! - (2) assumes that every block is a candidate. Free blocks are not, nor are the open ones and those that other
//!   collectors are at. But these are so few that the rest has α dead pages in one block: (8) bounds their number.
//! - N counts good blocks without those that may fail within the budget; Λ counts every logical page and the
//!   checkpoint.
//! - (7) counts what can be held when a recycling begins: a collector's surplus is given up before the next one does.
//! - (14) is here as published, a sum, for comparison. What admits is the demand of each window
//!   ([`Scheduling`](crate::Scheduling)).
//! - Each program takes its share of a page of the checkpoint, and one such page may be due at once.
//!
//! Invariant: what is admitted is so for every course that the tasks and the part can take within what they declared.

use core::fmt;

use crate::format::STREAMS;
use crate::task::{Collector, OperationTimes, Task};
use crate::wide::{in_64_bits, plus, quotient, quotient_up, times};

/// 1 in the fixed-point numbers of (14).
pub(crate) const WHOLE: u128 = 1 << 40;

/// What the equations need to know of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// N: blocks that are not bad.
    pub good_blocks: u32,
    /// π.
    pub pages_per_block: u32,
    /// Λ: most live pages.
    pub live_pages: u32,
    /// α.
    pub alpha: u32,
    /// Blocks that may fail, and are provided for.
    pub failure_budget: u32,
}

impl Capacity {
    /// Most tokens in the system that keep α: (8)'s right side with `collectors` collectors of tasks. `None` if α
    /// cannot be kept at all.
    ///
    /// If each of C candidates had fewer than α dead pages, they would have C(π−α+1) live ones, which is to be more
    /// than Λ. When a block is recycled, Φ is at most α − 1 + ρ. The free blocks are no candidates, nor are the open
    /// ones, each of which has a free page, and the blocks of the other collectors, that of the tasks without deadlines
    /// included.
    pub fn tokens_limit(&self, collectors: u32) -> Option<u64> {
        let (alpha, pages) = (u64::from(self.alpha), u64::from(self.pages_per_block));
        let live_each = (pages + 1).checked_sub(alpha).filter(|&live| live > 0)?;
        let candidates_min = u64::from(self.live_pages) / live_each + 1;
        let blocks = u64::from(self.good_blocks).checked_sub(u64::from(self.failure_budget))?;
        let free_blocks = blocks.checked_sub(u64::from(collectors) + STREAMS as u64 + candidates_min)?;
        // Φ is less than one more free block, and a page of each open one.
        ((free_blocks + 1) * pages + STREAMS as u64).checked_sub(alpha)
    }

    /// As the paper has it: equation (6), every block a candidate, in 1/π tokens. For comparison.
    pub fn published_limit_by_pi(&self) -> i64 {
        let (alpha, pages) = (i64::from(self.alpha), i64::from(self.pages_per_block));
        let total = i64::from(self.good_blocks) * pages;
        (pages - (alpha - 1)) * total - (i64::from(self.live_pages) + alpha - 1) * pages
    }
}

/// Why a task is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionError {
    /// The task has no period, or needs more than one.
    Task(Task),
    /// Its collector needs more than its period.
    Collector {
        /// c_G; 0 if it is beyond 64 bits.
        cost_us: u64,
        /// p_G.
        period_us: u64,
    },
    /// As many tasks as there are slots are admitted.
    Slots,
    /// (13): the system does not have the tokens to start with.
    /// [`RealTimeConfig::tokens_for`](crate::RealTimeConfig::tokens_for) says how many a set takes.
    Tokens {
        /// Tokens that the task and its collector need.
        needed: u64,
        /// ρ_free.
        free: u64,
    },
    /// (8): with the task, more tokens can come together than α allows. A smaller α, fewer tokens or fewer logical
    /// pages help.
    Recycling {
        /// ρ_max.
        tokens_max: u64,
        /// Most that α allows; 0 also if it cannot be kept at all.
        limit: u64,
    },
    /// The tasks and collectors fill more journals than the checkpoint's task is supplied with pages: its period is too
    /// long.
    Checkpoint {
        /// Pages of the checkpoint in the meta-period of its task.
        pages: u64,
        /// Tokens that its task has in it.
        tokens: u32,
    },
    /// (14): the processor would be used for more than the whole; or for more than 63/64 of it where the shortest
    /// period is not long enough for what blocks it.
    Utilization {
        /// Its use in millionths, rounded up, without what blocks it.
        per_million: u64,
    },
    /// (14): there is a window in which the processor has to do more than it can.
    Demand {
        /// What is to be done in it.
        demand_us: u64,
        /// Its length.
        window_us: u64,
    },
}

impl fmt::Display for AdmissionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdmissionError::Task(task) => {
                write!(f, "no possible task: {} us in {} us; lengthen its period", task.cost_us, task.period_us)
            }
            AdmissionError::Collector { cost_us, period_us } => write!(
                f,
                "the task's collector needs {cost_us} us in a period of {period_us} us: choose a larger alpha, or \
                 a longer period for the task"
            ),
            AdmissionError::Slots => f.write_str("no slot is left for a task: give the device more of them"),
            AdmissionError::Tokens { needed, free } => {
                write!(
                    f,
                    "{needed} tokens are needed, {free} are free (13): start with {} more",
                    needed.saturating_sub(*free)
                )
            }
            AdmissionError::Recycling { tokens_max, limit } => write!(
                f,
                "{tokens_max} tokens can come together, {limit} keep the bound on recycling (8): choose a smaller \
                 alpha, fewer tokens or fewer logical pages"
            ),
            AdmissionError::Checkpoint { pages, tokens } => {
                write!(f, "the checkpoint has {pages} pages to write at {tokens} tokens: shorten its period")
            }
            AdmissionError::Utilization { per_million } => {
                write!(f, "the processor is used for {per_million} millionths (14): {LESS_WORK}")
            }
            AdmissionError::Demand { demand_us, window_us } => {
                write!(f, "{demand_us} us of work can come in a window of {window_us} us (14): {LESS_WORK}")
            }
        }
    }
}

/// What makes (14) hold.
const LESS_WORK: &str = "choose longer periods or a larger alpha";

impl core::error::Error for AdmissionError {}

/// Sums over the tasks and collectors that are admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Collectors.
    pub collectors: u32,
    /// Σ of (7): most tokens of tasks and collectors when a recycling begins.
    pub tokens_max: u64,
    /// The same as published, for comparison.
    pub published_tokens_max: u64,
    journal_programs: u32,
    /// Programs a microsecond, and those that may come at once besides.
    programs: u128,
    programs_at_once: u64,
    used: u128,
    period_min_us: Option<u64>,
}

impl Load {
    /// Charges each program its share of a page of the checkpoint, which has room for `journal_programs`
    /// ([`programs_per_checkpoint_page`](crate::programs_per_checkpoint_page)).
    pub fn with_checkpoint(journal_programs: u32) -> Self {
        Load { journal_programs, ..Load::default() }
    }

    /// With a task and its collector.
    pub fn with(mut self, task: &Task, collector: Option<&Collector>) -> Self {
        self.add_use(task.cost_us, task.period_us);
        self.add_programs(task.writes, task.period_us);
        if let Some(collector) = collector {
            self.collectors += 1;
            self.tokens_max += collector.tokens_max();
            self.published_tokens_max += collector.published_tokens_max();
            self.add_use(collector.cost_us, collector.period_us);
            self.add_programs(collector.collector_tokens, collector.period_us);
        }
        self
    }

    fn add_programs(&mut self, programs: u32, period_us: u64) {
        let rate = quotient_up(times(u128::from(programs), WHOLE), u128::from(period_us));
        self.programs = plus(self.programs, rate);
        self.programs_at_once = self.programs_at_once.saturating_add(2 * u64::from(programs));
    }

    /// Most pages of the checkpoint that are due in `time_us`.
    pub fn checkpoint_pages(&self, time_us: u64) -> u64 {
        if self.journal_programs == 0 {
            return 0;
        }
        let steady = quotient_up(times(self.programs, u128::from(time_us)), WHOLE);
        let programs = plus(steady, u128::from(self.programs_at_once));
        in_64_bits(quotient(programs, u128::from(self.journal_programs))).saturating_add(1)
    }

    fn add_use(&mut self, cost_us: u64, period_us: u64) {
        let share = quotient_up(times(u128::from(cost_us), WHOLE), u128::from(period_us));
        self.used = plus(self.used, share);
        self.period_min_us = Some(self.period_min_us.map_or(period_us, |min| min.min(period_us)));
    }

    /// The left side of (14) as a sum, which charges what blocks to the shortest period, in millionths, rounded up.
    pub fn utilization_per_million(&self, times: &OperationTimes, failure_budget: u32) -> u64 {
        let Some(period) = self.period_min_us else { return 0 };
        let overrun = u128::from(failure_budget) * u128::from(times.repeat_us());
        let write = u128::from(times.write_us);
        let checkpoint = if self.journal_programs > 0 { write } else { 0 };
        let blocking = (u128::from(times.longest_us()) + checkpoint + overrun).saturating_mul(WHOLE);
        let shares = self.programs.saturating_mul(write).checked_div(u128::from(self.journal_programs));
        let used = self.used.saturating_add(shares.map_or(0, |shares| shares + 1));
        let sum = used.saturating_add(blocking.div_ceil(u128::from(period)));
        u64::try_from(sum.saturating_mul(1_000_000).div_ceil(WHOLE)).unwrap_or(u64::MAX)
    }

    /// With the programs of another one where these are more: of sets that replaced each other.
    pub(crate) fn with_programs_of(mut self, other: &Load) -> Self {
        self.programs = self.programs.max(other.programs);
        self.programs_at_once = self.programs_at_once.max(other.programs_at_once);
        self
    }

    /// (8), with the tokens that do not belong to tasks: unallocated, in reserve.
    pub fn check_recycling(&self, capacity: &Capacity, others: u64) -> Result<(), AdmissionError> {
        // A token of the journal may have been taken from those without deadlines, which are 2π again.
        let tokens_max = others + 2 * u64::from(capacity.pages_per_block) + 1 + self.tokens_max;
        let limit = capacity.tokens_limit(self.collectors);
        match limit.is_some_and(|limit| tokens_max <= limit) {
            true => Ok(()),
            false => Err(AdmissionError::Recycling { tokens_max, limit: limit.unwrap_or(0) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: OperationTimes = OperationTimes::paper();

    fn paper_load(alpha: u32) -> Load {
        let tasks = [Task::new(3000, 4, 2, 20_000, &TIMES), Task::new(5000, 2, 5, 200_000, &TIMES)];
        tasks
            .iter()
            .fold(Load::default(), |load, task| load.with(task, Collector::of(task, alpha, 32, &TIMES).as_ref()))
    }

    #[test]
    fn the_example_of_section_5_1_2_is_met_with_its_errors_corrected() {
        let load = paper_load(16);
        assert_eq!(load.utilization_per_million(&TIMES, 0), 632_463, "(14): 0.6176 published, 0.6325 correct");
        assert_eq!(256 - 95 + 64 + load.published_tokens_max, 352, "Table V: 320");
        assert_eq!(256 - 95 + 64 + load.tokens_max, 319, "without surplus that is given up before");
        let at_75 = paper_load(8);
        assert_eq!(at_75.utilization_per_million(&TIMES, 0), 1_022_238, "75% is rejected by the sum");
    }

    /// A job may program at the end of its period, and the next one at the start of its own.
    #[test]
    fn two_jobs_of_a_task_may_fill_journals_at_once() {
        let task = |writes| Task { cost_us: 1, period_us: 1_000_000, writes };
        let pages = |writes, time_us| Load::with_checkpoint(100).with(&task(writes), None).checkpoint_pages(time_us);
        assert_eq!((pages(49, 0), pages(50, 0)), (1, 2));
        assert_eq!((pages(25, 1_000_000), pages(34, 1_000_000)), (1, 2));
    }

    /// All ways in which Φ = α − 1 + ρ pages can be free: the candidates that are left have a block with α dead pages.
    #[test]
    fn the_limit_leaves_out_blocks_that_cannot_be_chosen() {
        for (live_pages, alpha, collectors, budget) in
            [(16_461, 16, 3, 0), (16_461, 16, 0, 0), (16_461, 16, 9, 4), (24_806, 8, 3, 0), (23_153, 10, 3, 1)]
        {
            let capacity =
                Capacity { good_blocks: 1024, pages_per_block: 32, live_pages, alpha, failure_budget: budget };
            let yields = |tokens: u32| {
                let free = alpha - 1 + tokens;
                let open = (0..=STREAMS as u32).flat_map(|open| (open..=open * 31).map(move |pages| (open, pages)));
                let ways = open.filter(|&(_, pages)| pages <= free && (free - pages).is_multiple_of(32));
                let candidates = ways.map(|(open, pages)| 1024 - budget - collectors - open - (free - pages) / 32);
                // The live pages are spread evenly, and none is in a block that cannot be chosen.
                candidates.map(|count| 32 - live_pages.min(count * 32) / count).min().unwrap()
            };
            let limit = capacity.tokens_limit(collectors).unwrap() as u32;
            assert!(
                yields(limit) >= alpha && yields(limit + 1) < alpha,
                "{capacity:?}, {collectors} collectors: {limit}, {}, {}",
                yields(limit),
                yields(limit + 1)
            );
        }
        let full = Capacity { good_blocks: 100, pages_per_block: 32, live_pages: 3_100, alpha: 2, failure_budget: 0 };
        assert_eq!(full.tokens_limit(1), None);
    }

    #[test]
    fn the_counterexample_to_equation_12_is_rejected_as_published() {
        // 50%, ρ_init = 472: 17 tasks with w = 9 give more tokens than α = 16 allows.
        let capacity =
            Capacity { good_blocks: 1024, pages_per_block: 32, live_pages: 16_384, alpha: 16, failure_budget: 0 };
        let task = Task { cost_us: 1, period_us: 100_000_000, writes: 9 };
        let load =
            (0..17).fold(Load::default(), |load, _| load.with(&task, Collector::of(&task, 16, 32, &TIMES).as_ref()));
        let free = 472 - 32 - 17 * (9 + 16);
        let tokens_max = free + 64 + load.published_tokens_max;
        assert_eq!(capacity.published_limit_by_pi() / 32, 1009, "(8) as published: less than 1009");
        assert!(tokens_max >= 1009, "{tokens_max}");
        assert_eq!(load.check_recycling(&capacity, free), Ok(()), "no more than 658 are held when a recycling begins");
        assert!(load.check_recycling(&capacity, free + 611).is_err());
    }
}
