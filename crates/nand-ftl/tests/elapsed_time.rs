//! Time that passes while nobody asks: a long jump is as many short ones, and takes no longer.

use crate::model;

use model::formatted;
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::test_part;
use norn_nand_ftl::{
    Lba, OperationTimes, PartClient, RealTime, RealTimeConfig, Scheduling, SystemJob, Task, TaskHandle, TaskTokens,
};

type System = RealTime<NandSim, Vec<u8>, 6>;

const TIMES: OperationTimes = OperationTimes::paper();

/// A system with tasks whose collectors have a period of several of the task's, several of the collector's in one, and
/// none.
fn system() -> (System, Vec<TaskHandle>) {
    let (mut ftl, _) = formatted(test_part(64, 8, 512), 0, 100, 1);
    (0..200).for_each(|lba| ftl.write(Lba(lba % 100), &[1; 512]).unwrap());
    let config = RealTimeConfig {
        alpha: 3,
        tokens: 120,
        times: TIMES,
        checkpoint_period_us: 40_000,
        scheduling: Scheduling::EarliestDeadline,
        client: PartClient::NONE,
        failure_budget: 0,
    };
    let mut system = System::start(ftl, config).unwrap();
    let tasks = [(1, 100_000), (8, 700_000), (0, 130_000)]
        .map(|(writes, period_us)| system.admit(Task::new(10, 0, writes, period_us, &TIMES)).unwrap());
    (system, tasks.to_vec())
}

/// All that can be seen of its place in time.
type State = (Option<SystemJob>, u64, u64, Vec<Option<TaskTokens>>);

fn state(system: &System, tasks: &[TaskHandle]) -> State {
    let tokens = tasks.iter().map(|&task| system.task_tokens(task)).collect();
    (system.next_job(), system.next_release_us(), system.counters().misses, tokens)
}

#[test]
fn a_jump_is_as_many_steps() {
    let mut random = fastrand::Rng::with_seed(8);
    for number in 0..60 {
        let (begin_us, jump_us) = (random.u64(0..900_000), random.u64(0..[3_000_000, 90_000][number % 2]));
        let run = |step_us| {
            let (mut system, tasks) = system();
            system.advance(begin_us);
            if number % 3 > 0 {
                while system.collector_step().unwrap().is_some() {}
            }
            if number % 5 == 0 {
                system.leave(tasks[number % 3]).unwrap();
            }
            for now_us in (begin_us..begin_us + jump_us).step_by(step_us) {
                system.advance(now_us);
            }
            system.advance(begin_us + jump_us);
            state(&system, &tasks)
        };
        assert_eq!(run(jump_us.max(1) as usize), run(1_000), "{jump_us} us from {begin_us} us, {number}");
    }
}

#[test]
fn a_jump_of_any_length_ends() {
    let (mut system, tasks) = system();
    for now_us in [1 << 40, 1 << 62, u64::MAX] {
        system.advance(now_us);
        let misses = system.counters().misses;
        assert!(misses > now_us >> 18, "{misses} jobs were not done in {now_us} us");
        assert!(system.next_release_us() > now_us.min(u64::MAX - 1), "{now_us}");
    }
    assert!(tasks.iter().all(|&task| system.task_tokens(task).is_some()));
}
