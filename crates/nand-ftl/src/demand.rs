//! Whether the processor suffices: its demand in each window, for earliest deadline first, and response times, for
//! rate-monotonic priorities.
//!
//! A window begins when the processor turns to jobs that matter to it, and ends at a deadline. What takes time in it:
//! 1. the jobs that are released and due in it; with fixed priorities, those of higher priority that are released;
//! 2. one operation of any other job, or of what has no deadline, that was under way: operations are not preempted;
//! 3. pages of the checkpoint: the journal may be full at the start, and is again after each so many programs;
//! 4. what the part's other client loads, and the loads that this makes the block device repeat;
//! 5. repeats of operations that fail, and of loads of pages that cannot be read, within the budget.
//!
//! Invariant: what passes here keeps its deadlines whatever the phases of its jobs are (docs/design/nand-ftl.md).

use crate::admission::{AdmissionError, WHOLE};
use crate::client::PartClient;
use crate::task::{Collector, OperationTimes, Task};
use crate::wide::{in_64_bits, plus, quotient, quotient_up, times};

/// The part of the processor that a set may use beyond which windows of any length would have to be looked at.
const SLACK: u128 = 64;
/// Rounds that a response time is iterated for.
const ROUNDS_MAX: u32 = 10_000;

/// Which of the jobs that wait runs first, and so which test admits them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduling {
    /// The job with the earliest deadline: admits the most.
    #[default]
    EarliestDeadline,
    /// The job of the task or collector with the shortest period: for schedulers with fixed priorities.
    RateMonotonic,
}

/// A job that comes once in a period, and is due at the end of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// What it takes at most.
    pub cost_us: u64,
    /// From a release to the next, at least.
    pub period_us: u64,
    /// Pages that it programs at most.
    pub programs: u32,
}

impl Work {
    /// A task's jobs.
    pub const fn of_task(task: &Task) -> Self {
        Work { cost_us: task.cost_us, period_us: task.period_us, programs: task.writes }
    }

    /// A collector's jobs.
    pub const fn of_collector(collector: &Collector) -> Self {
        let Collector { cost_us, period_us, collector_tokens, .. } = *collector;
        Work { cost_us, period_us, programs: collector_tokens }
    }
}

/// What takes time in a window besides its jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overheads {
    /// How long operations take.
    pub times: OperationTimes,
    /// Programs from one page of the checkpoint to the next, at least; 0 for a device without one.
    pub programs_per_page: u32,
    /// Operations that may fail and be repeated, and pages that may be loaded again and again.
    pub failure_budget: u32,
    /// Who else uses the part.
    pub client: PartClient,
}

impl Overheads {
    /// One operation under way, and the repeats.
    fn blocking_us(&self) -> u128 {
        let repeats = times(u128::from(self.failure_budget), u128::from(self.times.repeat_us()));
        plus(u128::from(self.times.longest_us()), repeats)
    }

    /// A load of the client, and the load that it makes the block device repeat.
    fn client_load_us(&self) -> u128 {
        u128::from(self.client.load_us) + u128::from(self.times.read_us)
    }

    /// The checkpoint's pages for programs of jobs, and for one of the operation that was under way.
    fn pages_us(&self, programs: u128) -> u128 {
        let pages = match u128::from(self.programs_per_page) {
            0 => 0,
            per_page => quotient_up(plus(programs, 1), per_page),
        };
        times(pages, u128::from(self.times.write_us))
    }

    /// All of it in a window.
    fn in_window(&self, window_us: u128, programs: u128) -> u128 {
        let loads = times(self.client.loads_in(window_us), self.client_load_us());
        plus(plus(self.blocking_us(), self.pages_us(programs)), loads)
    }

    /// What no window exceeds beside its share of [`use_of`](Self::use_of).
    fn offset_us(&self) -> u128 {
        let page = if self.programs_per_page > 0 { u128::from(self.times.write_us) } else { 0 };
        let at_once = if self.client.loads > 0 { u128::from(self.client.loads) + 1 } else { 0 };
        plus(plus(self.blocking_us(), page), times(at_once, self.client_load_us()))
    }

    /// The part of the processor that jobs use in the long run, with their pages of the checkpoint and the client's
    /// loads, in 1/`WHOLE`, rounded up.
    pub(crate) fn use_of(&self, works: impl Iterator<Item = Work>) -> u128 {
        let per_page = u128::from(self.programs_per_page);
        let share = |time, period: u64| quotient_up(times(time, WHOLE), u128::from(period));
        let loads = times(u128::from(self.client.loads), self.client_load_us());
        let mut used = share(loads, self.client.period_us.max(1));
        for work in works {
            if per_page > 0 {
                let programs = times(u128::from(work.programs), u128::from(self.times.write_us));
                let pages = plus(quotient(times(programs, WHOLE), per_page), 1);
                used = plus(used, quotient_up(pages, u128::from(work.period_us)));
            }
            used = plus(used, share(u128::from(work.cost_us), work.period_us));
        }
        used
    }
}

impl Scheduling {
    /// Whether jobs keep their deadlines. Cost: O(jobs²), with windows up to 64 times what blocks.
    ///
    /// # Errors
    /// [`AdmissionError::Utilization`], [`AdmissionError::Demand`].
    pub fn check(self, overheads: &Overheads, works: impl Iterator<Item = Work> + Clone) -> Result<(), AdmissionError> {
        self.check_after(overheads, works.clone(), works, 0)
    }

    /// As [`check`](Self::check), where tasks have left a short time ago: `all` jobs are those of them, too, and
    /// `recent_use` is the most that a set of that time has used. A window may have jobs of tasks that have left and of
    /// those that joined after them. Either the sum of (14) admits every set that can be in a window, by the highest
    /// use and the shortest period; or the set is admitted as if no task had left.
    pub(crate) fn check_after(
        self,
        overheads: &Overheads,
        works: impl Iterator<Item = Work>,
        all: impl Iterator<Item = Work> + Clone,
        recent_use: u128,
    ) -> Result<(), AdmissionError> {
        let used = overheads.use_of(works);
        if used > WHOLE {
            return Err(AdmissionError::Utilization { per_million: per_million(used) });
        }
        match self {
            Scheduling::EarliestDeadline if is_short(overheads, all.clone(), used.max(recent_use)) => Ok(()),
            Scheduling::EarliestDeadline => check_demand(overheads, all),
            Scheduling::RateMonotonic => check_responses(overheads, all),
        }
    }

    /// How long a task that has left keeps its share of the processor: after that no window has jobs of it and of a
    /// task that joined later.
    pub fn settling_us(self, overheads: &Overheads, works: impl Iterator<Item = Work>) -> u64 {
        match self {
            Scheduling::EarliestDeadline => in_64_bits(times(overheads.offset_us(), SLACK)),
            Scheduling::RateMonotonic => works.map(|work| work.period_us).max().unwrap_or(0),
        }
    }
}

/// The part of the processor that jobs use, in millionths, rounded up.
pub(crate) fn per_million(used: u128) -> u64 {
    in_64_bits(quotient_up(times(used, 1_000_000), WHOLE))
}

/// The demand of a window that begins with a release of each job.
fn demand_us(overheads: &Overheads, works: impl Iterator<Item = Work>, window_us: u128) -> u128 {
    let (mut jobs_us, mut programs) = (0_u128, 0_u128);
    for work in works {
        let jobs = quotient(window_us, u128::from(work.period_us));
        jobs_us = plus(jobs_us, times(jobs, u128::from(work.cost_us)));
        programs = plus(programs, times(jobs, u128::from(work.programs)));
    }
    plus(jobs_us, overheads.in_window(window_us, programs))
}

/// Whether what blocks jobs is short beside the shortest period: the sum of (14).
fn is_short(overheads: &Overheads, works: impl Iterator<Item = Work>, used: u128) -> bool {
    let shortest = works.map(|work| work.period_us).min().map_or(u128::MAX, u128::from);
    let left = WHOLE.saturating_sub(used);
    times(overheads.offset_us(), WHOLE) <= times(left, shortest)
}

/// Earliest deadline first: the demand of no window exceeds it. 1/64 of the processor is left over, so that windows
/// beyond 64 offsets need no look. Of the shorter ones only those are looked at that end at a deadline, from the
/// longest back; a window whose demand is less than itself settles all windows down to that (Zhang and Burns, 2009).
fn check_demand(overheads: &Overheads, works: impl Iterator<Item = Work> + Clone) -> Result<(), AdmissionError> {
    let Some(shortest) = works.clone().map(|work| work.period_us).min() else { return Ok(()) };
    let shortest = u128::from(shortest);
    let used = overheads.use_of(works.clone());
    if used > WHOLE - WHOLE / SLACK {
        return Err(AdmissionError::Utilization { per_million: per_million(used) });
    }
    let mut end = quotient_up(times(overheads.offset_us(), WHOLE), WHOLE - used);
    check_window(overheads, works.clone(), shortest)?;
    while let Some(window) = last_deadline(works.clone(), end) {
        let demand = check_window(overheads, works.clone(), window)?;
        if demand <= shortest {
            break;
        }
        end = demand.min(window - 1);
    }
    Ok(())
}

fn check_window(
    overheads: &Overheads,
    works: impl Iterator<Item = Work>,
    window_us: u128,
) -> Result<u128, AdmissionError> {
    let demand = demand_us(overheads, works, window_us);
    if demand <= window_us { Ok(demand) } else { Err(exceeded(demand, window_us)) }
}

/// The last deadline of a window that begins with a release of each job, up to `end`.
fn last_deadline(works: impl Iterator<Item = Work>, end: u128) -> Option<u128> {
    let deadlines = works.map(|work| {
        let period = u128::from(work.period_us);
        times(quotient(end, period), period)
    });
    deadlines.max().filter(|&deadline| deadline > 0)
}

fn exceeded(demand_us: u128, window_us: u128) -> AdmissionError {
    AdmissionError::Demand { demand_us: in_64_bits(demand_us), window_us: in_64_bits(window_us) }
}

/// Fixed priorities: each job responds within its period, when all of higher priority are released with it.
fn check_responses(overheads: &Overheads, works: impl Iterator<Item = Work> + Clone) -> Result<(), AdmissionError> {
    for (number, work) in works.clone().enumerate() {
        check_response(overheads, works.clone(), number, work)?;
    }
    Ok(())
}

fn check_response(
    overheads: &Overheads,
    works: impl Iterator<Item = Work> + Clone,
    number: usize,
    work: Work,
) -> Result<(), AdmissionError> {
    let (mut response, period) = (u128::from(work.cost_us), u128::from(work.period_us));
    for _ in 0..ROUNDS_MAX {
        let next = response_us(overheads, works.clone(), number, work, response);
        if next > period {
            return Err(exceeded(next, period));
        }
        if next == response {
            return Ok(());
        }
        response = next;
    }
    Err(exceeded(response, period))
}

/// What takes time until a job ends, if it ends within `response`: equal periods are taken to precede each other.
fn response_us(
    overheads: &Overheads,
    works: impl Iterator<Item = Work>,
    number: usize,
    work: Work,
    response: u128,
) -> u128 {
    let (mut jobs_us, mut programs) = (u128::from(work.cost_us), u128::from(work.programs));
    for (other, before) in works.enumerate() {
        if other != number && before.period_us <= work.period_us {
            let jobs = quotient_up(response.max(1), u128::from(before.period_us));
            jobs_us = plus(jobs_us, times(jobs, u128::from(before.cost_us)));
            programs = plus(programs, times(jobs, u128::from(before.programs)));
        }
    }
    plus(jobs_us, overheads.in_window(response.max(1), programs))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const OVERHEADS: Overheads = Overheads {
        times: OperationTimes::paper(),
        programs_per_page: 90,
        failure_budget: 0,
        client: PartClient::NONE,
    };

    fn check(scheduling: Scheduling, overheads: &Overheads, works: &[Work]) -> Result<(), AdmissionError> {
        scheduling.check(overheads, works.iter().copied())
    }

    fn draw(random: &mut fastrand::Rng) -> (Overheads, Vec<Work>) {
        let period = |random: &mut fastrand::Rng| 1000 * random.u64(3..60);
        let works: Vec<Work> = (0..random.usize(1..6))
            .map(|_| {
                let period_us = period(random);
                Work { cost_us: random.u64(0..period_us / 2), period_us, programs: random.u32(0..8) }
            })
            .collect();
        let loads = if random.bool() { random.u32(1..4) } else { 0 };
        let client = PartClient { load_us: random.u64(20..400), loads, period_us: period(random) };
        let programs_per_page = [0, 5, 90][random.usize(0..3)];
        (Overheads { programs_per_page, client, failure_budget: random.u32(0..2), ..OVERHEADS }, works)
    }

    /// Every window up to where the use alone settles it, one by one.
    fn every_window_suffices(overheads: &Overheads, works: &[Work]) -> bool {
        let used = overheads.use_of(works.iter().copied());
        let end = overheads.offset_us() * WHOLE / (WHOLE - used) + 1;
        let mut deadlines: Vec<u128> = works
            .iter()
            .flat_map(|work| (1..=end / u128::from(work.period_us)).map(|n| n * u128::from(work.period_us)))
            .collect();
        deadlines.extend(works.iter().map(|work| u128::from(work.period_us)));
        deadlines.into_iter().all(|window| demand_us(overheads, works.iter().copied(), window) <= window)
    }

    #[test]
    fn windows_are_left_out_only_where_that_changes_nothing() {
        let mut random = fastrand::Rng::with_seed(17);
        let (mut admitted, mut refused) = (0, 0);
        for _ in 0..20_000 {
            let (overheads, works) = draw(&mut random);
            let used = overheads.use_of(works.iter().copied());
            if used >= WHOLE - WHOLE / SLACK {
                continue;
            }
            let found = check(Scheduling::EarliestDeadline, &overheads, &works).is_ok();
            assert_eq!(found, every_window_suffices(&overheads, &works), "{overheads:?} {works:?}");
            (admitted, refused) = (admitted + u32::from(found), refused + u32::from(!found));
        }
        assert!(admitted > 1_000 && refused > 1_000, "{admitted}, {refused}");
    }

    #[test]
    fn a_window_is_filled_to_the_microsecond_with_the_program_under_way() {
        let write = u128::from(OVERHEADS.times.write_us);
        assert_eq!((OVERHEADS.pages_us(89), OVERHEADS.pages_us(90)), (write, 2 * write));
        let left_us = 20_000 - OVERHEADS.offset_us() as u64;
        let work = |cost_us| [Work { cost_us, period_us: 20_000, programs: 0 }];
        assert_eq!(check(Scheduling::EarliestDeadline, &OVERHEADS, &work(left_us)), Ok(()));
        let more = check(Scheduling::EarliestDeadline, &OVERHEADS, &work(left_us + 1));
        assert_eq!(more, Err(AdmissionError::Demand { demand_us: 20_001, window_us: 20_000 }));
    }

    /// A page that cannot be read is loaded 16 times, and a program that fails is repeated: the longer of the two.
    #[test]
    fn the_budget_pays_for_programs_and_for_pages_that_cannot_be_read() {
        let works = |left_us: u64, cost_us| [Work { cost_us: left_us + cost_us, period_us: 40_000, programs: 0 }];
        for (read_us, repeat_us) in [(348, 15 * 348), (50, 50 + 919)] {
            let times = OperationTimes { read_us, ..OVERHEADS.times };
            let overheads = |failure_budget| Overheads { times, failure_budget, ..OVERHEADS };
            let left_us = 40_000 - overheads(0).offset_us() as u64 - 2 * repeat_us;
            assert_eq!(check(Scheduling::EarliestDeadline, &overheads(2), &works(left_us, 0)), Ok(()));
            assert!(check(Scheduling::EarliestDeadline, &overheads(2), &works(left_us, 1)).is_err());
        }
    }

    #[test]
    fn what_the_sum_of_equation_14_admits_is_admitted_and_more() {
        let mut random = fastrand::Rng::with_seed(18);
        let mut more = 0;
        for _ in 0..20_000 {
            let (overheads, works) = draw(&mut random);
            let shortest = works.iter().map(|work| u128::from(work.period_us)).min().unwrap();
            let used = overheads.use_of(works.iter().copied());
            let by_sum = used + (overheads.offset_us() * WHOLE).div_ceil(shortest) <= WHOLE;
            let found = check(Scheduling::EarliestDeadline, &overheads, &works).is_ok();
            assert!(found || !by_sum, "{overheads:?} {works:?}");
            more += u32::from(found && !by_sum);
        }
        assert!(more > 500, "{more}");
    }

    #[test]
    fn fixed_priorities_admit_no_more_than_deadlines() {
        let mut random = fastrand::Rng::with_seed(19);
        let (mut both, mut deadlines_alone) = (0, 0);
        for _ in 0..20_000 {
            let (overheads, works) = draw(&mut random);
            let by_deadline = check(Scheduling::EarliestDeadline, &overheads, &works).is_ok();
            let by_rate = check(Scheduling::RateMonotonic, &overheads, &works).is_ok();
            let used = overheads.use_of(works.iter().copied());
            assert!(by_deadline || !by_rate || used > WHOLE - WHOLE / SLACK, "{overheads:?} {works:?}");
            (both, deadlines_alone) = (both + u32::from(by_rate), deadlines_alone + u32::from(by_deadline && !by_rate));
        }
        assert!(both > 1_000 && deadlines_alone > 200, "{both}, {deadlines_alone}");
    }

    /// Liu and Layland's example of a set that deadlines admit and fixed priorities do not.
    #[test]
    fn the_two_orders_differ_where_periods_are_no_multiples() {
        let free = OperationTimes { read_us: 0, write_us: 0, erase_us: 0, collector_cpu_us: 0 };
        let overheads = Overheads { times: free, programs_per_page: 0, ..OVERHEADS };
        let works = [(20, 50), (40, 70)].map(|(cost_us, period_us)| Work { cost_us, period_us, programs: 0 });
        assert_eq!(check(Scheduling::EarliestDeadline, &overheads, &works), Ok(()));
        let refused = AdmissionError::Demand { demand_us: 80, window_us: 70 };
        assert_eq!(check(Scheduling::RateMonotonic, &overheads, &works), Err(refused));
    }

    #[test]
    fn a_client_of_the_part_takes_time_from_all() {
        let work = [Work { cost_us: 12_000, period_us: 20_000, programs: 2 }];
        let with = |loads| Overheads { client: PartClient { load_us: 100, loads, period_us: 5_000 }, ..OVERHEADS };
        // 20,000 − 12,000 − t_e − t_w is enough for 11 loads and as many repeats, one of them under way.
        assert_eq!(check(Scheduling::EarliestDeadline, &with(2), &work), Ok(()));
        assert!(check(Scheduling::EarliestDeadline, &with(3), &work).is_err());
        assert!(check(Scheduling::RateMonotonic, &with(3), &work).is_err());
    }
}
