//! Several tasks without deadlines share the tokens: one that writes whenever it can does not starve those that ask now
//! and then. What they copy is paid for, with the page of the checkpoint that will have it.

use crate::model;
use crate::processor;

use model::formatted;
use norn_conformance::seeds;
use norn_nand_ftl::{BackgroundStep, BackgroundTask, Lba, PartClient, RealTimeConfig, Scheduling, TaskError};
use processor::{System, TIMES, spec};

fn started(seed: u64) -> System {
    let (mut ftl, _) = formatted(spec(), 2, 1_000, seed);
    (0..1_000).for_each(|lba| ftl.write(Lba(lba), &[9; 512]).unwrap());
    let config = RealTimeConfig {
        alpha: 4,
        tokens: 100,
        times: TIMES,
        checkpoint_period_us: 100_000,
        scheduling: Scheduling::EarliestDeadline,
        client: PartClient::NONE,
        failure_budget: 0,
    };
    System::start(ftl, config).unwrap()
}

/// Pages that tasks write. In each of the turns, the first makes tokens, and writes as long as it finds some; then the
/// others ask once, the given number of times in a thousand turns.
fn pages_written(seed: u64, asks: &[u32]) -> (u64, Vec<u64>) {
    let (mut system, mut random) = (started(seed), fastrand::Rng::with_seed(seed));
    let (mut greedy, mut written) = (0, vec![0; asks.len()]);
    for turn in 0..10_000_u64 {
        system.advance(turn * 2_000);
        while system.collector_step().unwrap().is_some() {}
        while system.background_step().unwrap() != BackgroundStep::Ready {}
        let page = [turn as u8; 512];
        let mut write = |task| system.background_write_as(task, Lba(random.u32(0..1_000)), &page);
        loop {
            match write(BackgroundTask::new(0).unwrap()) {
                Ok(()) => greedy += 1,
                Err(TaskError::NoToken) => break,
                Err(error) => panic!("{error}, seed {seed}"),
            }
        }
        for (number, &often) in (0..).zip(asks) {
            if turn * u64::from(often) % 1_000 >= u64::from(often) {
                continue;
            }
            match write(BackgroundTask::new(number + 1).unwrap()) {
                Ok(()) => written[usize::from(number)] += 1,
                Err(TaskError::NoToken) => {}
                Err(error) => panic!("{error}, seed {seed}"),
            }
        }
    }
    (greedy, written)
}

#[test]
fn a_greedy_task_does_not_starve_those_that_ask_now_and_then() {
    for run in seeds(0..3, "-p norn-nand-ftl --test suite background::") {
        let (greedy, written) = pages_written(run.seed, &[1_000, 100, 10, 5]);
        // They ask 10,000, 1,000, 100 and 50 times, and are told to wait every other time.
        let context = format!("{greedy}, {written:?}, replay: {}", run.replay());
        assert!(written[0] >= 4_900 && written[1] >= 490 && written[2] >= 49 && written[3] >= 24, "{context}");
        assert!(greedy > 5_000, "{context}");
    }
}

/// A copy, and each page of the checkpoint that is written before it, takes a token; the first copy after such a page
/// takes one more, which is for the next one.
#[test]
fn copies_without_deadline_pay_for_their_journal() {
    let (mut system, mut random) = (started(7), fastrand::Rng::with_seed(7));
    let (mut copies, mut begun) = (0, 0);
    for turn in 0..3_000_u64 {
        system.advance(turn * 2_000);
        while system.collector_step().unwrap().is_some() {}
        while system.background_write(Lba(random.u32(0..1_000)), &[turn as u8; 512]).is_ok() {}
        loop {
            let (tokens, pool, pages) = (system.tokens(), system.pool(), system.ftl().counters().chunks);
            let step = system.background_step().unwrap();
            let pages = (system.ftl().counters().chunks - pages) as u32;
            if step == BackgroundStep::Ready {
                break;
            }
            if step == BackgroundStep::Copied {
                let after = system.pool();
                assert_eq!((after.journal, after.reserve), (1, pool.reserve), "turn {turn}: the reserve pays for none");
                assert_eq!(tokens - system.tokens(), 1 + pages, "turn {turn}, {pool:?}, then {after:?}");
                (copies, begun) = (copies + 1, begun + u32::from(pool.journal == 0 || pages > 0));
            }
        }
    }
    assert!(copies > 1_000 && begun > 20, "{copies} copies, {begun} of them the first of a journal");
}
