//! How far the test of the processor is from the truth: a search for the worst that an admitted set can meet.
//!
//! 1. Draw a set, and add a task that computes as much as is admitted beside it. So the test allows no more.
//! 2. Let an adversary choose when each task joins, and where pages die; begin with all at once, and change one of the
//!    choices at a time, keeping what makes the longest response in parts of its period.
//!
//! The ratio of the longest response to its bound, the period, is at most 1. And how much more may the added task
//! compute until something is late? The processor's use that is admitted, in parts of the use with that, says how close
//! the test is. What it takes for granted and does not come is the rest: collectors that find tokens free, and victims
//! with more than α dead pages.

use crate::model;
use crate::processor;

use model::formatted;
use norn_conformance::seeds;
use norn_nand_ftl::{Collector, Lba, PartClient, RealTimeConfig, Scheduling, Task};
use processor::{Kind, Placement, Processor, System, TIMES, spec};

/// What the adversary chooses.
#[derive(Clone, Debug)]
struct Choice {
    /// When each task joins.
    starts_us: Vec<u64>,
    placement: Placement,
    /// Of what is written without deadlines, and how the part's client loads.
    seed: u64,
}

struct Set {
    config: RealTimeConfig,
    logical_pages: u32,
    kinds: Vec<Kind>,
}

impl Set {
    fn system(&self) -> Option<System> {
        let (mut ftl, _) = formatted(spec(), 0, self.logical_pages, 5);
        // Sixteen strides: what is written later dies in all blocks alike.
        let lbas = (0..16).flat_map(|from| (from..self.logical_pages).step_by(16));
        lbas.for_each(|lba| ftl.write(Lba(lba), &[9; 512]).unwrap());
        System::start(ftl, self.config).ok()
    }

    fn processor(&self, choice: &Choice) -> Option<Processor> {
        let RealTimeConfig { scheduling, client, .. } = self.config;
        Some(Processor::new(self.system()?, scheduling, client, choice.placement, choice.seed))
    }

    /// A set that the test admits, and that it would not admit with a microsecond more, or with a hundredth of the part
    /// more in use, or with fewer tokens.
    fn draw(random: &mut fastrand::Rng, scheduling: Scheduling) -> Option<Self> {
        let client = PartClient { load_us: random.u64(30..300), loads: random.u32(1..4), period_us: 20_000 };
        let kinds = (0..random.u32(1..5)).map(|_| Kind { cpu_us: random.u64(0..2_000), ..Kind::draw(random) });
        let (mut kinds, alpha) = (kinds.collect::<Vec<_>>(), random.u32(2..6));
        let checkpoint = Task { cost_us: 0, period_us: 50_000, writes: 1 };
        let mut config = RealTimeConfig {
            alpha,
            tokens: 400,
            times: TIMES,
            checkpoint_period_us: checkpoint.period_us,
            scheduling,
            client: if random.bool() { client } else { PartClient::NONE },
            failure_budget: 0,
        };
        let filling_us = 1_000 * random.u64(10..60);
        let at_once = Choice { starts_us: Vec::new(), placement: Placement::Random, seed: 1 };
        let mut processor = Set { config, logical_pages: 600, kinds: Vec::new() }.processor(&at_once)?;
        kinds.retain(|&kind| processor.join(kind).is_ok());
        let tasks = kinds.iter().map(Kind::task).chain([checkpoint]);
        let collectors = tasks.filter_map(|task| Collector::of(&task, alpha, 16, &TIMES));
        let tokens = collectors.map(|collector| collector.task_tokens + collector.collector_tokens);
        config.tokens = 16 + tokens.sum::<u32>();
        (40..84).rev().find_map(|use_percent| {
            let mut set = Set { config, logical_pages: 2048 * use_percent / 100, kinds: kinds.clone() };
            let mut processor = set.processor(&at_once)?;
            kinds.iter().all(|&kind| processor.join(kind).is_ok()).then_some(())?;
            set.kinds.push(processor.join_filling(filling_us)?);
            Some(set)
        })
    }

    /// What the adversary's choice makes of it when the last task computes `excess_us` more than it declares. `None` if
    /// something is late.
    fn run(&self, choice: &Choice, excess_us: u64, replay: &str) -> Option<f64> {
        let mut processor = self.processor(choice).expect("it started before");
        let last = self.kinds.len() - 1;
        let mut joins: Vec<(u64, usize)> = choice.starts_us.iter().copied().zip(0..).collect();
        joins.sort_unstable();
        for (start_us, number) in joins {
            processor.run(start_us).ok()?;
            let kind = self.kinds[number];
            let excess_us = if number == last { excess_us } else { 0 };
            let done = Kind { cpu_us: kind.cpu_us + excess_us, ..kind };
            assert_eq!(processor.join_as(done, kind.task()), Ok(()), "{replay}");
        }
        let end = processor.now_us + 700_000;
        processor.run(end).ok()?;
        (processor.failures() == 0).then_some(processor.outcome.response_max)
    }

    /// Changes one choice at a time. The longest response; `None` if something is late.
    fn search(&self, random: &mut fastrand::Rng, rounds: u32, excess_us: u64, replay: &str) -> Option<f64> {
        let starts_us = vec![0; self.kinds.len()];
        let mut best = Choice { starts_us, placement: Placement::Even, seed: random.u64(..) };
        let mut worst = self.run(&best, excess_us, replay)?;
        for _ in 0..rounds {
            let mut choice = best.clone();
            match random.u8(0..6) {
                0 => choice.placement = Placement::Random,
                1 => choice.placement = Placement::Even,
                2 => choice.seed = random.u64(..),
                _ => {
                    let number = random.usize(0..choice.starts_us.len());
                    choice.starts_us[number] = random.u64(0..self.kinds[number].period_us.min(100_000));
                }
            }
            let response = self.run(&choice, excess_us, replay)?;
            if response >= worst {
                (worst, best) = (response, choice);
            }
        }
        Some(worst)
    }

    /// The part of the processor that jobs use in the long run.
    fn used(&self) -> f64 {
        let checkpoint = Task { cost_us: 0, period_us: self.config.checkpoint_period_us, writes: 1 };
        let tasks = self.kinds.iter().map(Kind::task).chain([checkpoint]);
        tasks
            .map(|task| {
                let collector = Collector::of(&task, self.config.alpha, 16, &TIMES);
                let of_collector =
                    collector.map_or(0.0, |collector| collector.cost_us as f64 / collector.period_us as f64);
                task.cost_us as f64 / task.period_us as f64 + of_collector
            })
            .sum()
    }

    /// The most that the sum of (14) allows to be used: what blocks is charged to the shortest period, whole.
    fn used_by_sum(&self) -> f64 {
        let blocking_us = TIMES.longest_us() + TIMES.write_us;
        let collectors =
            self.kinds.iter().filter_map(|kind| Collector::of(&kind.task(), self.config.alpha, 16, &TIMES));
        let periods =
            self.kinds.iter().map(|kind| kind.period_us).chain(collectors.map(|collector| collector.period_us));
        1.0 - blocking_us as f64 / periods.min().unwrap_or(u64::MAX) as f64
    }

    /// The use of the processor with which the adversary makes something late: computing is added to the last task in
    /// steps of a fiftieth of its period.
    fn used_when_late(&self, random: &mut fastrand::Rng, rounds: u32, replay: &str) -> f64 {
        let period_us = self.kinds[self.kinds.len() - 1].period_us;
        let late = (1..).find(|&step| self.search(random, rounds, step * period_us / 50, replay).is_none());
        self.used() + late.expect("no processor does it all") as f64 / 50.0
    }
}

/// Of each set, in order.
#[derive(Default)]
struct Ratios {
    /// The longest response in parts of its bound.
    responses: Vec<f64>,
    /// The use that is admitted, in parts of that with which something is late.
    closeness: Vec<f64>,
    /// The same for the sum of (14), where the part has no other client.
    closeness_of_sum: Vec<f64>,
}

fn ratios(sets: std::ops::Range<u64>, rounds: u32, scheduling: Scheduling, test: &str) -> Ratios {
    let mut ratios = Ratios::default();
    for run in seeds(sets, &format!("-p norn-nand-ftl --test suite adversary::{test}")) {
        let mut random = run.random();
        let Some(set) = Set::draw(&mut random, scheduling) else { continue };
        let response = set.search(&mut random, rounds, 0, run.replay());
        ratios.responses.push(response.unwrap_or_else(|| panic!("late, replay: {}", run.replay())));
        let late = set.used_when_late(&mut random, rounds, run.replay());
        ratios.closeness.push(set.used() / late);
        if set.config.client == PartClient::NONE {
            ratios.closeness_of_sum.push(set.used_by_sum().min(set.used()) / late);
        }
    }
    for values in [&mut ratios.responses, &mut ratios.closeness, &mut ratios.closeness_of_sum] {
        values.sort_by(f64::total_cmp);
    }
    ratios
}

impl Ratios {
    fn print(&self, scheduling: Scheduling) {
        eprintln!("{scheduling:?}, responses: {}", describe(&self.responses));
        eprintln!("{scheduling:?}, closeness: {}", describe(&self.closeness));
        eprintln!("{scheduling:?}, closeness of the sum: {}", describe(&self.closeness_of_sum));
    }
}

fn describe(ratios: &[f64]) -> String {
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let at = |percent: usize| ratios[(ratios.len() - 1) * percent / 100];
    let [least, first, median, third, most] = [0, 25, 50, 75, 100].map(at);
    let count = ratios.len();
    format!("{count} sets: {least:.3} to {most:.4}, quartiles {first:.3} {median:.3} {third:.3}, mean {mean:.3}")
}

#[test]
fn the_adversary_comes_near_the_bound_and_never_beyond_it() {
    let ratios = ratios(0..12, 3, Scheduling::EarliestDeadline, "never_beyond");
    ratios.print(Scheduling::EarliestDeadline);
    let responses = &ratios.responses;
    assert!(responses.len() > 5 && responses[responses.len() - 1] > 0.9, "{responses:?}");
}

#[test]
#[ignore = "minutes"]
fn the_adversary_searches_long() {
    for scheduling in [Scheduling::EarliestDeadline, Scheduling::RateMonotonic] {
        ratios(1_000..1_060, 12, scheduling, "searches_long -- --ignored").print(scheduling);
    }
}
