//! The real-time part without a clock of its own: tokens, admission, leaving, failures within the budget, power cuts.
//! (Deadlines are held by the lab's scheduler, `crates/lab/tests/realtime_gc.rs`.)

use crate::model;

use model::{Model, TestFtl, formatted, mounted};
use norn_flash_sim::nand_catalogue::test_part;
use norn_flash_sim::{NandSim, NandSimError, Tear};
use norn_nand_ftl::{
    AdmissionError, BackgroundStep, FtlError, Guarantee, Lba, LevelStep, OperationTimes, PartClient, RealTime,
    RealTimeConfig, Scheduling, Task, TaskError, TaskHandle,
};

type System = RealTime<NandSim, Vec<u8>, 16>;
type Error = TaskError<NandSimError>;

const TIMES: OperationTimes = OperationTimes::paper();
const PERIOD_US: u64 = 20_000;

fn config(alpha: u32, failure_budget: u32) -> RealTimeConfig {
    RealTimeConfig {
        alpha,
        tokens: 200,
        times: TIMES,
        checkpoint_period_us: 100_000,
        scheduling: Scheduling::EarliestDeadline,
        client: PartClient::NONE,
        failure_budget,
    }
}

/// A part of 128 blocks of 16 pages, 40% of it used.
fn device(seed: u64) -> (TestFtl, Model) {
    let (mut ftl, mut model) = formatted(test_part(128, 16, 512), 2, 820, seed);
    for lba in 0..820 {
        let write = model.next;
        model.next += 1;
        ftl.write(Lba(lba), &model.bytes(lba as usize, write)).unwrap();
        model.pages[lba as usize] = write;
    }
    (ftl, model)
}

fn started(seed: u64, failure_budget: u32) -> (System, Model) {
    let (ftl, model) = device(seed);
    (System::start(ftl, config(5, failure_budget)).unwrap(), model)
}

fn task(writes: u32, periods: u64) -> Task {
    Task::new(100, 0, writes, periods * PERIOD_US, &TIMES)
}

/// Writes a page for a task; the model follows.
fn write(system: &mut System, model: &mut Model, task: Option<TaskHandle>, lba: u32) -> Result<(), Error> {
    let write = model.next;
    model.next += 1;
    let bytes = model.bytes(lba as usize, write);
    model.maybe = vec![(lba as usize, write)];
    match task {
        Some(task) => system.write(task, Lba(lba), &bytes)?,
        None => system.background_write(Lba(lba), &bytes)?,
    }
    model.pages[lba as usize] = write;
    model.maybe.clear();
    Ok(())
}

fn collect(system: &mut System) -> Result<(), Error> {
    while system.collector_step()?.is_some() {}
    Ok(())
}

/// A period: the collectors' jobs, the tasks' writes, and some background.
fn period(
    system: &mut System,
    model: &mut Model,
    tasks: &[(TaskHandle, u32, u64)],
    number: u64,
    random: &mut fastrand::Rng,
) -> Result<(), Error> {
    system.advance(number * PERIOD_US);
    collect(system)?;
    for &(task, writes, periods) in tasks {
        if number.is_multiple_of(periods) {
            for _ in 0..random.u32(0..=writes) {
                let lba = random.u32(0..model.pages.len() as u32);
                write(system, model, Some(task), lba)?;
            }
        }
    }
    for _ in 0..random.u32(0..4) {
        match write(system, model, None, random.u32(0..64)) {
            Err(TaskError::NoToken) => {
                system.background_step()?;
            }
            done => done?,
        }
    }
    match system.level_step() {
        Ok(_) | Err(TaskError::NoToken) => Ok(()),
        Err(error) => Err(error),
    }
}

fn check(mut system: System, model: &mut Model, context: &str) {
    system.device_mut().freeze_counters();
    assert_eq!(system.audit().unwrap(), None, "{context}");
    model.maybe.clear();
    model.check(&mut system.into_ftl(), context);
}

fn tasks(system: &mut System) -> Vec<(TaskHandle, u32, u64)> {
    let wanted = [(1, 1), (3, 8), (9, 16), (1, 16)];
    wanted
        .into_iter()
        .map(|(writes, periods)| (system.admit(task(writes, periods)).unwrap(), writes, periods))
        .collect()
}

#[test]
fn tasks_never_wait_for_tokens() {
    for seed in 0..6 {
        let (mut system, mut model) = started(seed, 0);
        let tasks = tasks(&mut system);
        let mut random = fastrand::Rng::with_seed(seed);
        for number in 0..1_500 {
            period(&mut system, &mut model, &tasks, number, &mut random).unwrap();
        }
        let counters = system.counters();
        assert_eq!(counters.token_waits, 0, "seed {seed}");
        assert!(counters.recycled > 100 && counters.yield_min >= 5, "seed {seed}: {counters:?}");
        check(system, &mut model, "tasks never wait");
    }
}

#[test]
fn a_page_of_the_checkpoint_takes_a_token_of_its_task() {
    let (mut system, mut model) = started(7, 0);
    let handle = system.admit(task(9, 16)).unwrap();
    let checkpoint = system.checkpoint_task();
    let mut pages = 0;
    for number in 0..2_000 {
        system.advance(number * PERIOD_US);
        collect(&mut system).unwrap();
        if number % 16 == 0 {
            for lba in 0..9 {
                let tokens = system.task_tokens(checkpoint).unwrap().task;
                let written = system.ftl().counters().chunks;
                write(&mut system, &mut model, Some(handle), lba).unwrap();
                let more = (system.ftl().counters().chunks - written) as u32;
                assert_eq!(system.task_tokens(checkpoint).unwrap().task + more, tokens, "period {number}");
                pages += more;
            }
        }
    }
    assert!(pages > 5, "{pages} pages of the checkpoint were written with a task's");
}

#[test]
fn who_has_no_deadline_pays_for_the_journals_that_it_adds_to() {
    let (mut system, mut model) = started(8, 0);
    let checkpoint = system.checkpoint_task();
    let before = system.task_tokens(checkpoint).unwrap().task;
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..3_000 {
        match write(&mut system, &mut model, None, random.u32(0..820)) {
            Err(TaskError::NoToken) => drop(system.background_step().unwrap()),
            done => done.unwrap(),
        }
        model.maybe.clear();
    }
    assert!(system.ftl().counters().chunks > 10);
    assert_eq!(system.task_tokens(checkpoint).unwrap().task, before);
}

/// Whoever has no deadline adds to a journal only when the page that will have it is paid for.
#[test]
fn the_checkpoints_task_pays_only_for_journals_that_tasks_fill_by_themselves() {
    let (mut by_task, mut by_others) = (0, 0);
    for seed in 0..6 {
        let (mut system, mut model) = started(seed, 0);
        let handle = system.admit(task(9, 16)).unwrap();
        let checkpoint = system.checkpoint_task();
        let mut random = fastrand::Rng::with_seed(seed);
        let mut others_added = false;
        for step in 0..6_000_u64 {
            system.advance(step * 2 * PERIOD_US);
            let before = system.ftl().counters().chunks;
            collect(&mut system).unwrap();
            let (tokens, pages) = (system.task_tokens(checkpoint).unwrap().task, system.ftl().counters().chunks);
            // What a collector's page was paid with is not seen: it may have got tokens meanwhile.
            others_added &= pages == before;
            let lba = random.u32(0..820);
            // The others do little, so that tasks fill journals that they have begun, and the other way round.
            let added = match random.u8(0..160) {
                0 => write(&mut system, &mut model, None, lba).is_ok(),
                1 => matches!(system.level_step(), Ok(LevelStep::Copied)),
                2 => system.background_step().unwrap() == BackgroundStep::Copied,
                _ => {
                    drop(write(&mut system, &mut model, Some(handle), lba));
                    false
                }
            };
            model.maybe.clear();
            let more = system.ftl().counters().chunks - pages;
            let paid = tokens - system.task_tokens(checkpoint).unwrap().task;
            assert!(more > 0 || paid == 0, "seed {seed}, step {step}: no page of the checkpoint, {paid} tokens");
            assert!(paid == 0 || !others_added, "seed {seed}, step {step}: others added to the journal");
            by_task += u64::from(paid);
            by_others += more - u64::from(paid);
            others_added = added || others_added && more == 0;
        }
        assert_eq!(system.counters().misses, 0);
    }
    assert!(by_task > 20 && by_others > 20, "{by_task} by the checkpoint's task, {by_others} by others");
}

#[test]
fn a_task_that_writes_more_than_it_declared_waits() {
    let (mut system, mut model) = started(1, 0);
    let handle = system.admit(task(2, 1)).unwrap();
    let tokens = system.task_tokens(handle).unwrap().task;
    assert_eq!(tokens, 4, "two periods' writes, since α is 5");
    (0..tokens).for_each(|lba| write(&mut system, &mut model, Some(handle), lba).unwrap());
    assert_eq!(write(&mut system, &mut model, Some(handle), 1), Err(TaskError::NoToken));
    model.maybe.clear();
    assert_eq!(system.counters().token_waits, 1);
    system.advance(0);
    collect(&mut system).unwrap();
    write(&mut system, &mut model, Some(handle), 1).unwrap();
    check(system, &mut model, "waits");
}

#[test]
fn a_task_that_leaves_returns_its_tokens() {
    let (mut system, mut model) = started(2, 0);
    let before = system.pool().free;
    let handle = system.admit(task(3, 4)).unwrap();
    assert!(system.pool().free < before);
    let mut random = fastrand::Rng::with_seed(2);
    for number in 0..50 {
        period(&mut system, &mut model, &[(handle, 3, 4)], number, &mut random).unwrap();
    }
    system.leave(handle).unwrap();
    assert_eq!(write(&mut system, &mut model, Some(handle), 1), Err(TaskError::NoSuchTask(handle)));
    for number in 50..70 {
        period(&mut system, &mut model, &[], number, &mut random).unwrap();
    }
    assert_eq!(system.pool().free, before);
    assert_eq!(system.task_tokens(handle), None);
    assert!(system.leave(system.checkpoint_task()).is_err(), "the checkpoint stays");
    let again = system.admit(task(3, 4)).unwrap();
    assert_ne!(again, handle, "a handle is good for one task");
}

#[test]
fn what_does_not_fit_is_refused_by_its_equation() {
    let (mut system, _) = started(3, 0);
    assert!(matches!(system.admit(Task { cost_us: 1, period_us: 0, writes: 0 }), Err(AdmissionError::Task(_))));
    assert!(matches!(system.admit(Task { cost_us: 9, period_us: 8, writes: 0 }), Err(AdmissionError::Task(_))));
    let dense = Task { cost_us: 1, period_us: 10_000, writes: 40 };
    assert!(matches!(system.admit(dense), Err(AdmissionError::Collector { .. })));
    let large = Task { cost_us: 1, period_us: 1_000_000_000, writes: 300 };
    assert!(matches!(system.admit(large), Err(AdmissionError::Tokens { .. })));
    let busy = Task { cost_us: 19_000, period_us: 20_000, writes: 0 };
    assert!(matches!(system.admit(busy), Err(AdmissionError::Demand { .. })), "an erase may be under way");
    let endless = Task { cost_us: 20_000, period_us: 20_000, writes: 0 };
    assert!(matches!(system.admit(endless), Err(AdmissionError::Utilization { .. })));
    let endless = Task { cost_us: 1, period_us: u64::MAX, writes: 1 };
    assert!(matches!(system.admit(endless), Err(AdmissionError::Collector { .. })), "beyond 64 bits");
    let (ftl, _) = device(3);
    let error = System::start(ftl, config(12, 0));
    assert!(error.is_err(), "12 of 16 pages cannot be had at 40% use");
}

#[test]
fn failures_within_the_budget_do_no_harm() {
    for seed in 0..10 {
        let (mut system, mut model) = started(seed, 3);
        let tasks = tasks(&mut system);
        let mut random = fastrand::Rng::with_seed(seed);
        for number in 0..900 {
            if number % 300 == 150 {
                system.device_mut().fail_after(random.u64(0..100));
            }
            period(&mut system, &mut model, &tasks, number, &mut random).unwrap();
        }
        assert!(system.ftl().good_blocks() <= 124, "seed {seed}: blocks did fail");
        assert_eq!((system.counters().token_waits, system.guarantee()), (0, Guarantee::Holds), "seed {seed}");
        check(system, &mut model, "failures");
    }
}

#[test]
fn failures_beyond_what_the_equations_allow_are_told() {
    let (mut system, mut model) = started(4, 0);
    let tasks = tasks(&mut system);
    let mut random = fastrand::Rng::with_seed(4);
    system.device_mut().set_failures_per_million(4_000);
    for number in 0..5_000 {
        match period(&mut system, &mut model, &tasks, number, &mut random) {
            Ok(()) | Err(TaskError::NoToken) => {}
            Err(TaskError::Ftl(FtlError::NoSpace)) => break,
            Err(error) => panic!("{error}"),
        }
        model.maybe.clear();
        if system.guarantee() != Guarantee::Holds {
            return;
        }
    }
    panic!("so many failures, and the guarantee holds");
}

#[test]
fn power_cuts_lose_nothing_and_the_tasks_are_admitted_again() {
    for seed in 0..40 {
        let (mut ftl, mut model) = device(seed);
        let mut random = fastrand::Rng::with_seed(seed);
        for session in 0..6 {
            let context = format!("seed {seed}, session {session}");
            ftl.device_mut().cut_power_after(random.u64(40..900), Tear::draw_on_nand(&mut random));
            let mut system = match System::start(ftl, config(5, 0)) {
                Ok(system) => system,
                Err(error) => panic!("{error} ({context})"),
            };
            let tasks = tasks(&mut system);
            let error =
                (0..10_000).find_map(|number| period(&mut system, &mut model, &tasks, number, &mut random).err());
            assert!(matches!(error, Some(TaskError::Ftl(FtlError::Device(_)))), "{error:?} ({context})");
            assert_eq!(system.counters().token_waits, 0, "{context}");
            ftl = mounted(system.into_ftl().into_device());
            model.check(&mut ftl, &context);
        }
    }
}

#[test]
fn a_trim_takes_a_token_and_lasts() {
    let (mut system, mut model) = started(5, 0);
    let handle = system.admit(task(5, 4)).unwrap();
    let before = system.task_tokens(handle).unwrap().task;
    system.trim(handle, Lba(3), 400).unwrap();
    assert_eq!(system.task_tokens(handle).unwrap().task, before - 1);
    (3..403).for_each(|page| model.pages[page] = 0);
    while system.background_step().unwrap() != BackgroundStep::Ready {}
    let mut ftl = mounted(system.into_ftl().into_device());
    model.check(&mut ftl, "trimmed");
}
