//! Whatever set is admitted keeps its deadlines: random sets, at 40 to 75% use, with earliest deadline first and with
//! fixed priorities, with and without a pager on the same part, with tasks that leave and join, with cuts of the power,
//! and with a processor that is never idle when a job comes.

use crate::model;
use crate::processor;

use model::{formatted, mounted};
use norn_conformance::{Run, seeds};
use norn_flash_sim::Tear;
use norn_flash_sim::nand_catalogue::k9f2808;
use norn_nand_ftl::{Guarantee, Lba, PartClient, RealTimeConfig, Scheduling, Task};
use processor::{Kind, Placement, Processor, System, TIMES, is_cut, spec};

/// What a set is run with.
#[derive(Clone, Copy, Debug)]
struct Setting {
    logical_pages: u32,
    config: RealTimeConfig,
    placement: Placement,
}

impl Setting {
    fn draw(random: &mut fastrand::Rng) -> Self {
        let period_us = random.u64(4_000..40_000);
        let client = PartClient { load_us: random.u64(30..300), loads: random.u32(1..5), period_us };
        let config = RealTimeConfig {
            alpha: random.u32(1..8),
            tokens: random.u32(60..300),
            times: TIMES,
            checkpoint_period_us: [20_000, 50_000, 100_000][random.usize(0..3)],
            scheduling: [Scheduling::EarliestDeadline, Scheduling::RateMonotonic][random.usize(0..2)],
            client: if random.bool() { client } else { PartClient::NONE },
            failure_budget: 0,
        };
        let placement = if random.u8(0..4) == 0 { Placement::Even } else { Placement::Random };
        Setting { logical_pages: 2048 * random.u32(40..=75) / 100, config, placement }
    }

    fn filled(&self, seed: u64) -> model::TestFtl {
        let (mut ftl, _) = formatted(spec(), 2, self.logical_pages, seed);
        (0..self.logical_pages).for_each(|lba| ftl.write(Lba(lba), &[9; 512]).unwrap());
        ftl
    }

    fn processor(&self, ftl: model::TestFtl, seed: u64) -> Option<Processor> {
        let RealTimeConfig { scheduling, client, .. } = self.config;
        let system = System::start(ftl, self.config).ok()?;
        Some(Processor::new(system, scheduling, client, self.placement, seed))
    }
}

/// Sums over sets.
#[derive(Debug, Default)]
struct Sums {
    started: u32,
    with_tasks: u32,
    tasks: u32,
    rejoined: u32,
    cuts: u32,
    jobs: u64,
    writes: u64,
    checkpoint_pages: u64,
    recycled: u64,
    response_max: f64,
    responses: f64,
}

/// Asks for tasks, and runs; in every third set the power is cut, and all is begun again with what is on flash.
fn run_set(run: &Run, sums: &mut Sums) {
    let mut random = run.random();
    let setting = Setting::draw(&mut random);
    let Some(mut processor) = setting.processor(setting.filled(run.seed), run.seed) else { return };
    sums.started += 1;
    let context = format!("{setting:?}, replay: {}", run.replay());
    let kinds: Vec<Kind> = (0..random.u32(2..14)).map(|_| Kind::draw(&mut random)).collect();
    let mut joined: Vec<Kind> = kinds.into_iter().filter(|&kind| processor.join(kind).is_ok()).collect();
    if random.u8(0..4) > 0 {
        joined.extend(processor.join_filling(1_000 * random.u64(10..200)));
    }
    sums.with_tasks += u32::from(!joined.is_empty());
    sums.tasks += joined.len() as u32;
    if run.seed.is_multiple_of(3) {
        let operations = random.u64(20..400);
        processor.system.device_mut().cut_power_after(operations, Tear::draw_on_nand(&mut random));
        if let Err(stop) = processor.run(2_000_000) {
            assert!(is_cut(&stop), "{stop}, {context}");
            check(&processor, &context, sums);
            sums.cuts += 1;
            let ftl = mounted(processor.system.into_ftl().into_device());
            processor = setting.processor(ftl, run.seed).unwrap_or_else(|| panic!("it does not start, {context}"));
            for kind in joined {
                assert_eq!(processor.join(kind), Ok(()), "after the cut, {context}");
            }
        } else {
            processor.system.device_mut().cut_power_after(u64::MAX, Tear::draw_on_nand(&mut random));
        }
    }
    for _ in 0..random.u32(1..12) {
        let end = processor.now_us + random.u64(0..300_000);
        processor.run(end).unwrap_or_else(|stop| panic!("{stop}, {context}"));
        if processor.members() > 0 && random.bool() {
            let kind = processor.leave(random.usize(0..processor.members()));
            let kind = if random.bool() { kind } else { Kind::draw(&mut random) };
            sums.rejoined += u32::from(processor.join(kind).is_ok());
        }
    }
    let end = processor.now_us + 1_000_000;
    processor.run(end).unwrap_or_else(|stop| panic!("{stop}, {context}"));
    check(&processor, &context, sums);
    processor.system.device_mut().freeze_counters();
    assert_eq!(processor.system.audit().unwrap(), None, "{context}");
}

fn check(processor: &Processor, context: &str, sums: &mut Sums) {
    assert_eq!(processor.failures(), 0, "{:?}, {:?}, {context}", processor.outcome, processor.system.counters());
    assert_eq!(processor.system.guarantee(), Guarantee::Holds, "{context}");
    sums.jobs += processor.outcome.jobs;
    sums.writes += processor.outcome.writes;
    sums.checkpoint_pages += processor.system.ftl().counters().chunks;
    sums.recycled += processor.system.counters().recycled;
    sums.responses += processor.outcome.response_max;
    sums.response_max = sums.response_max.max(processor.outcome.response_max);
}

fn run_sets(sets: std::ops::Range<u64>, test: &str) {
    let mut sums = Sums::default();
    seeds(sets, &format!("-p norn-nand-ftl --test suite admitted_sets::{test}"))
        .for_each(|run| run_set(&run, &mut sums));
    eprintln!("{sums:?}");
    assert!(sums.with_tasks * 3 > sums.started && sums.cuts > 20 && sums.rejoined > 50, "{sums:?}");
    assert!(sums.recycled > 100 && sums.checkpoint_pages > 100, "{sums:?}");
}

#[test]
fn every_admitted_set_keeps_its_deadlines() {
    run_sets(0..300, "every_admitted");
}

#[test]
#[ignore = "minutes"]
fn every_one_of_thousands() {
    run_sets(10_000..16_000, "every_one -- --ignored");
}

/// The test of the test: beside a set that fills the processor, a task that computes and does not say so makes jobs
/// late.
#[test]
fn a_task_that_does_not_declare_what_it_computes_makes_jobs_late() {
    let (mut refused, mut late) = (0, 0);
    for run in seeds(0..60, "-p norn-nand-ftl --test suite does_not_declare") {
        let mut random = run.random();
        let setting = Setting { placement: Placement::Random, ..Setting::draw(&mut random) };
        let Some(mut processor) = setting.processor(setting.filled(run.seed), run.seed) else { continue };
        for _ in 0..4 {
            let _ = processor.join(Kind::draw(&mut random));
        }
        let excess = Kind { cpu_us: 12_000, reads: 0, writes: 0, period_us: 20_000 };
        if processor.join_filling(50_000).is_none() || processor.system.would_admit(&excess.task()).is_ok() {
            continue;
        }
        if processor.join_undeclared(excess).is_ok() {
            refused += 1;
            let stopped = processor.run(1_500_000).is_err();
            late += u32::from(stopped || processor.failures() > 0);
        }
    }
    assert!(refused > 20 && late * 2 > refused, "{late} of {refused} were late");
}

/// The paper's part, T1 and T2, ρ_init = 256, at each use that the paper tries; and the largest α of each.
#[test]
fn the_papers_tasks_are_admitted_up_to_75_percent() {
    for (use_percent, alpha, checkpoint_period_us) in
        [(50, 16, 200_000), (55, 14, 100_000), (60, 13, 100_000), (65, 11, 100_000), (70, 9, 100_000), (75, 8, 100_000)]
    {
        let logical_pages = 32_768 * use_percent / 100;
        let (mut ftl, _) = formatted(k9f2808(), 0, logical_pages, 1);
        (0..logical_pages).for_each(|lba| ftl.write(Lba(lba), &[9; 512]).unwrap());
        let (scheduling, client) = (Scheduling::EarliestDeadline, PartClient::NONE);
        let config = RealTimeConfig {
            alpha,
            tokens: 256,
            times: TIMES,
            checkpoint_period_us,
            scheduling,
            client,
            failure_budget: 0,
        };
        let mut system = System::start(ftl, config).unwrap();
        for task in [Task::new(3_000, 4, 2, 20_000, &TIMES), Task::new(5_000, 2, 5, 200_000, &TIMES)] {
            let admitted = system.admit(task);
            assert!(admitted.is_ok(), "{use_percent}%: {admitted:?}");
        }
        let (capacity, load) = (system.capacity(), system.load());
        let others = u64::from(system.pool().free + system.pool().reserve) + 65;
        let limit = capacity.tokens_limit(load.collectors).unwrap();
        eprintln!("{use_percent}%, alpha {alpha}: {} tokens of {limit}", others + load.tokens_max);
        let sum = load.utilization_per_million(&TIMES, 0);
        assert_eq!(sum > 1_000_000, use_percent >= 70, "{use_percent}%: the sum of (14) is {sum} millionths");
    }
}
