//! Pages that cannot be read while tasks run, within the failure budget: no job is late, no write waits for a token,
//! and what was trimmed stays trimmed when the page was one of the checkpoint.

use crate::model;
use crate::processor;

use model::{formatted, mounted};
use norn_conformance::{Run, seeds};
use norn_flash::PageAddress;
use norn_nand_ftl::{BackgroundStep, Guarantee, Lba, LevelStep, PartClient, RealTimeConfig, Scheduling, TaskError};
use processor::{Kind, Placement, Processor, System, TIMES, spec};

fn config(random: &mut fastrand::Rng, failure_budget: u32) -> RealTimeConfig {
    RealTimeConfig {
        alpha: random.u32(1..6),
        tokens: random.u32(100..300),
        times: TIMES,
        checkpoint_period_us: 50_000,
        scheduling: [Scheduling::EarliestDeadline, Scheduling::RateMonotonic][random.usize(0..2)],
        client: PartClient::NONE,
        failure_budget,
    }
}

fn started(config: RealTimeConfig, logical_pages: u32, seed: u64) -> Option<System> {
    let (mut ftl, _) = formatted(spec(), 2, logical_pages, seed);
    (0..logical_pages).for_each(|lba| ftl.write(Lba(lba), &[9; 512]).unwrap());
    System::start(ftl, config).ok()
}

/// The pages of the checkpoint in blocks that collectors are at.
fn checkpoint_pages(system: &System) -> Vec<PageAddress> {
    let sim = system.ftl().device();
    let all = system.victims().flat_map(|block| (0..sim.spec().part.pages_per_block).map(move |page| block.page(page)));
    all.filter(|&page| sim.peek(page).starts_with(b"NFT2")).collect()
}

/// Makes a page unreadable that a collector is about to copy.
fn damage(processor: &mut Processor, random: &mut fastrand::Rng, context: &str) {
    for _ in 0..400 {
        let system = &processor.system;
        let victims: Vec<_> = system.victims().collect();
        let mapped = (0..system.ftl().logical_pages()).filter_map(|lba| system.ftl().page_of(Lba(lba)).unwrap());
        let mapped = mapped.filter(|page| victims.contains(&page.block));
        let pages: Vec<_> = mapped.chain(checkpoint_pages(system)).collect();
        if !pages.is_empty() {
            let page = pages[random.usize(0..pages.len())];
            processor.system.device_mut().flip_bits(page, 20, random.u64(..));
            return;
        }
        let end = processor.now_us + random.u64(0..5_000);
        processor.run(end).unwrap_or_else(|stop| panic!("{stop}, {context}"));
    }
}

#[derive(Debug, Default)]
struct Sums {
    sets: u32,
    filled: u32,
    damaged: u32,
    retired: u64,
    response_max: f64,
}

/// A set that fills the processor, and as many pages that cannot be read as the budget has.
fn run_set(run: &Run, sums: &mut Sums) {
    let mut random = run.random();
    let budget = random.u32(1..4);
    let config = config(&mut random, budget);
    let Some(system) = started(config, 2048 * random.u32(40..70) / 100, run.seed) else { return };
    let mut processor = Processor::new(system, config.scheduling, PartClient::NONE, Placement::Random, run.seed);
    // A task that reads a page that cannot be read gets an error; here only what nobody asked for meets one.
    for _ in 0..random.u32(1..6) {
        let _ = processor.join(Kind { reads: 0, ..Kind::draw(&mut random) });
    }
    sums.sets += 1;
    sums.filled += u32::from(processor.join_filling(1_000 * random.u64(20..200)).is_some());
    let context = format!("{config:?}, replay: {}", run.replay());
    for _ in 0..budget {
        for _ in 0..random.u32(1..20) {
            let end = processor.now_us + random.u64(0..100_000);
            processor.run(end).unwrap_or_else(|stop| panic!("{stop}, {context}"));
        }
        damage(&mut processor, &mut random, &context);
        sums.damaged += 1;
    }
    let end = processor.now_us + 3_000_000;
    processor.run(end).unwrap_or_else(|stop| panic!("{stop}, {context}"));
    assert_eq!(processor.failures(), 0, "{:?}, {:?}, {context}", processor.outcome, processor.system.counters());
    assert_eq!(processor.system.guarantee(), Guarantee::Holds, "{context}");
    sums.retired += processor.system.ftl().counters().retired;
    sums.response_max = sums.response_max.max(processor.outcome.response_max);
}

fn run_sets(sets: std::ops::Range<u64>, test: &str) {
    let mut sums = Sums::default();
    seeds(sets, &format!("-p norn-nand-ftl --test suite unreadable::{test}")).for_each(|run| run_set(&run, &mut sums));
    eprintln!("{sums:?}");
    assert!(sums.retired * 8 > u64::from(sums.damaged) && sums.filled * 2 > sums.sets, "{sums:?}");
}

#[test]
fn an_admitted_set_keeps_its_deadlines_beside_pages_that_cannot_be_read() {
    run_sets(0..120, "an_admitted");
}

#[test]
#[ignore = "minutes"]
fn thousands_of_sets_keep_them() {
    run_sets(1_000..4_000, "thousands -- --ignored");
}

/// The wear leveler meets a page that cannot be read once, and goes on with what can.
#[test]
fn the_wear_leveler_loads_a_page_that_cannot_be_read_once() {
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut system = started(config(&mut random, 3), 1_000, seed).expect("it starts");
        let page = system.ftl().page_of(Lba(random.u32(0..1_000))).unwrap().unwrap();
        system.device_mut().flip_bits(page, 20, seed);
        system.device_mut().fail_block(page.block);
        let (mut found, mut idle) = (0, 0);
        for _ in 0..20_000 {
            let before = system.ftl().device().counters().loads;
            match system.level_step() {
                Ok(LevelStep::Idle) => idle += 1,
                Ok(_) | Err(TaskError::NoToken) => {}
                Err(error) => panic!("seed {seed}: {error}"),
            }
            let loads = system.ftl().device().counters().loads - before;
            assert!(loads <= 16, "seed {seed}: {loads} loads in a step");
            found += u32::from(loads == 16);
            let lba = Lba(random.u32(0..64));
            match system.background_write(lba, &[1; 512]) {
                Err(TaskError::NoToken) => drop(system.background_step().unwrap()),
                done => done.unwrap(),
            }
        }
        assert!(found <= 1 && idle > 0, "seed {seed}: {found} times, {idle} idle steps");
    }
}

/// A collector finds a page of the checkpoint that cannot be read. What has no deadline writes the checkpoint anew, so
/// that the next mount knows of trims.
#[test]
fn a_checkpoint_that_cannot_be_read_is_written_anew_beside_tasks() {
    let mut found = 0;
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut system = started(config(&mut random, 2), 1_000, seed).expect("it starts");
        let Ok(task) = system.admit(Kind { cpu_us: 0, reads: 0, writes: 4, period_us: 1_000_000 }.task()) else {
            continue;
        };
        system.trim(task, Lba(900), 50).unwrap();
        for _ in 0..4_000 {
            for page in checkpoint_pages(&system) {
                system.device_mut().flip_bits(page, 20, seed);
            }
            if system.ftl().counters().retired > 0 {
                break;
            }
            let lba = Lba(random.u32(0..800));
            match system.background_write(lba, &[1; 512]) {
                Err(TaskError::NoToken) => drop(system.background_step().unwrap()),
                done => done.unwrap(),
            }
        }
        if system.ftl().counters().retired == 0 {
            continue;
        }
        found += 1;
        while system.background_step().unwrap() != BackgroundStep::Ready {}
        let mut ftl = mounted(system.into_ftl().into_device());
        for lba in 900..950 {
            assert!(!ftl.is_mapped(Lba(lba)).unwrap(), "seed {seed}: page {lba} is back");
        }
        assert_eq!(ftl.audit(&[]).unwrap(), None, "seed {seed}");
    }
    assert!(found > 10, "{found}");
}
