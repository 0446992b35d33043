//! The limits of admission and of collectors, one by one: what counts for how long after a task has left, when free
//! tokens are a gift, what a task gives up.

use crate::model;

use model::formatted;
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::test_part;
use norn_nand_ftl::{
    AdmissionError, BackgroundStep, CollectorStep, Lba, OperationTimes, PartClient, RealTime, RealTimeConfig,
    Scheduling, Task, TaskError,
};

type System = RealTime<NandSim, Vec<u8>, 8>;

const TIMES: OperationTimes = OperationTimes::paper();

fn started(alpha: u32, checkpoint_period_us: u64) -> System {
    let (mut ftl, _) = formatted(test_part(128, 16, 512), 2, 820, 1);
    (0..820).for_each(|lba| ftl.write(Lba(lba), &[9; 512]).unwrap());
    let config = RealTimeConfig {
        alpha,
        tokens: 300,
        times: TIMES,
        checkpoint_period_us,
        scheduling: Scheduling::EarliestDeadline,
        client: PartClient::NONE,
        failure_budget: 0,
    };
    System::start(ftl, config).unwrap()
}

/// A task with long periods uses most of the processor, and leaves. One with short periods would be admitted by the sum
/// of (14), were it not for windows that have jobs of both.
#[test]
fn what_a_task_used_counts_until_no_window_has_a_job_of_it() {
    let mut system = started(5, 1_000_000);
    let long = Task { cost_us: 330_000, period_us: 400_000, writes: 0 };
    let short = Task { cost_us: 5_000, period_us: 10_000, writes: 0 };
    assert_eq!(system.would_admit(&short), Ok(()));
    let handle = system.admit(long).unwrap();
    system.leave(handle).unwrap();
    system.advance(400_000);
    assert_eq!(system.task_tokens(handle), None, "it has left");
    assert!(system.would_admit(&short).is_err());
    let overheads = system.overheads();
    let works = [norn_nand_ftl::Work::of_task(&long)];
    let settling_us = Scheduling::EarliestDeadline.settling_us(&overheads, works.into_iter());
    system.advance(400_000 + settling_us - 1);
    assert!(system.would_admit(&short).is_err());
    system.advance(400_000 + settling_us);
    assert_eq!(system.would_admit(&short), Ok(()));
}

/// A meta-period of the checkpoint may begin with a set that programs often, and end with one that programs much at
/// once.
#[test]
fn what_a_task_programmed_counts_for_a_meta_period_of_the_checkpoint() {
    let mut system = started(2, 100_000);
    let often = Task { cost_us: 100, period_us: 60_000, writes: 2 };
    let much = |writes| Task { cost_us: 100, period_us: 30_000_000, writes };
    let refused =
        |system: &System, task: Task| matches!(system.would_admit(&task), Err(AdmissionError::Checkpoint { .. }));
    let most = (1..200).take_while(|&writes| system.would_admit(&much(writes)).is_ok()).count() as u32;
    assert!(refused(&system, much(most + 1)), "{:?}", system.would_admit(&much(most + 1)));
    let handle = system.admit(often).unwrap();
    system.leave(handle).unwrap();
    let mut now_us = 0;
    while system.task_tokens(handle).is_some() {
        now_us += 1_000;
        system.advance(now_us);
        while system.collector_step().unwrap().is_some() {}
    }
    let meta_period_us = system.collector_of(system.checkpoint_task()).unwrap().meta_period_us;
    // It left in the last millisecond.
    system.advance(now_us + meta_period_us - 1_001);
    assert!(refused(&system, much(most)), "{:?}", system.would_admit(&much(most)));
    system.advance(now_us + meta_period_us);
    assert_eq!(system.would_admit(&much(most)), Ok(()));
}

/// A collector recycles a block only where fewer pages than α are free without a token: (8) reckons with no more.
#[test]
fn alpha_free_pages_without_a_token_are_a_gift() {
    let mut system = started(5, 100_000);
    system.admit(Task::new(100, 0, 3, 60_000, &TIMES)).unwrap();
    let (mut random, mut exact) = (fastrand::Rng::with_seed(1), 0);
    for number in 1..8_000 {
        system.advance(number * 20_000);
        while system.next_job().is_some() {
            let (spare, victims) = (system.ftl().page_counts().free - system.tokens(), system.victims().count());
            let step = system.collector_step().unwrap().expect("a job waits");
            if victims == 0 {
                assert_eq!(step == CollectorStep::Gift, spare >= 5, "{spare} pages, {step:?}");
                exact += u32::from(spare == 5);
            }
        }
        for _ in 0..random.u32(0..12) {
            match system.background_write(Lba(random.u32(0..820)), &[1; 512]) {
                Err(TaskError::NoToken) => {
                    while !matches!(
                        system.background_step().unwrap(),
                        BackgroundStep::Erased | BackgroundStep::Gift | BackgroundStep::Ready
                    ) {}
                }
                done => done.unwrap(),
            }
        }
    }
    assert!(exact > 5, "{exact} times exactly α");
}

/// At the start of a meta-period, a task holds what it declared to write in it, though it wrote nothing before.
#[test]
fn a_task_gives_up_what_it_did_not_write() {
    let mut system = started(5, 100_000);
    let task = system.admit(Task::new(100, 0, 2, 60_000, &TIMES)).unwrap();
    let collector = system.collector_of(task).unwrap();
    let mut supplied = 0;
    for number in 0..60 {
        system.advance(number * collector.meta_period_us);
        assert_eq!(system.task_tokens(task).unwrap().task, collector.task_tokens, "meta-period {number}");
        while system.collector_step().unwrap().is_some() {}
        supplied += system.task_tokens(task).unwrap().task - collector.task_tokens;
    }
    assert!(supplied > 100, "{supplied} tokens supplied");
}
