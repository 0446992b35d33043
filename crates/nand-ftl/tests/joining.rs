//! Tasks that join, leave and join again, of every kind, run by earliest deadline first in simulated time: what was
//! admitted never misses a deadline and never waits for a token while the guarantee holds.

use crate::model;

use model::formatted;
use norn_conformance::{Run, seeds};
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::test_part;
use norn_nand_ftl::{
    AdmissionError, CollectorStep, Guarantee, Lba, OperationTimes, PartClient, RealTime, RealTimeConfig, Scheduling,
    Task, TaskHandle,
};

type System = RealTime<NandSim, Vec<u8>, 24>;

const TIMES: OperationTimes = OperationTimes::paper();
const LOGICAL_PAGES: u32 = 820;

fn started(seed: u64) -> System {
    let (mut ftl, model) = formatted(test_part(128, 16, 512), 2, LOGICAL_PAGES, seed);
    for lba in 0..LOGICAL_PAGES {
        ftl.write(Lba(lba), &model.bytes(lba as usize, 1)).unwrap();
    }
    let config = RealTimeConfig {
        alpha: 5,
        tokens: 200,
        times: TIMES,
        checkpoint_period_us: 100_000,
        scheduling: Scheduling::EarliestDeadline,
        client: PartClient::NONE,
        failure_budget: 0,
    };
    System::start(ftl, config).unwrap()
}

/// What a task does in a period: it computes, and then writes.
#[derive(Clone, Copy, Debug)]
struct Kind {
    cpu_us: u64,
    writes: u32,
    period_us: u64,
}

impl Kind {
    fn draw(random: &mut fastrand::Rng) -> Self {
        let period_us = [20_000, 50_000, 120_000, 400_000, 1_000_000][random.usize(0..5)];
        // No write, fewer than α, more than α.
        let writes = [0, 0, random.u32(1..5), random.u32(6..14)][random.usize(0..4)];
        Kind { cpu_us: random.u64(0..period_us / 2), writes, period_us }
    }

    fn task(&self) -> Task {
        Task::new(self.cpu_us, 0, self.writes, self.period_us, &TIMES)
    }
}

/// A task that was admitted, and its job.
#[derive(Clone, Debug)]
struct Member {
    handle: TaskHandle,
    kind: Kind,
    next_release_us: u64,
    deadline_us: u64,
    cpu_left_us: u64,
    writes_left: u32,
}

/// The processor.
struct Processor {
    system: System,
    members: Vec<Member>,
    now_us: u64,
    context: String,
}

impl Processor {
    fn join(&mut self, kind: Kind) -> Result<(), AdmissionError> {
        self.system.advance(self.now_us);
        let handle = self.system.admit(kind.task())?;
        let (next_release_us, deadline_us) = (self.now_us, 0);
        self.members.push(Member { handle, kind, next_release_us, deadline_us, cpu_left_us: 0, writes_left: 0 });
        self.release();
        Ok(())
    }

    fn leave(&mut self, number: usize) -> Kind {
        let member = self.members.swap_remove(number);
        self.system.leave(member.handle).unwrap();
        member.kind
    }

    /// Releases jobs whose time has come. The one before has to be done.
    fn release(&mut self) {
        self.system.advance(self.now_us);
        for member in &mut self.members {
            while member.next_release_us <= self.now_us {
                let left = (member.cpu_left_us, member.writes_left);
                assert_eq!(left, (0, 0), "{member:?} misses its deadline at {}, {}", self.now_us, self.context);
                member.deadline_us = member.next_release_us + member.kind.period_us;
                member.next_release_us = member.deadline_us;
                (member.cpu_left_us, member.writes_left) = (member.kind.cpu_us, member.kind.writes);
            }
        }
    }

    fn next_event_us(&self) -> u64 {
        let releases = self.members.iter().map(|member| member.next_release_us);
        releases.fold(self.system.next_release_us(), u64::min)
    }

    /// Runs one operation, or computes until `until_us` or the next release; idles if there is nothing to do.
    fn step(&mut self, until_us: u64, random: &mut fastrand::Rng) {
        let ready = (0..self.members.len()).filter(|&number| {
            let member = &self.members[number];
            member.cpu_left_us > 0 || member.writes_left > 0
        });
        let first = ready.min_by_key(|&number| self.members[number].deadline_us);
        let job = self.system.next_job();
        let until_us = until_us.min(self.next_event_us());
        match (first, job) {
            (first, Some(job)) if first.is_none_or(|number| job.deadline_us < self.members[number].deadline_us) => {
                let took_us = match self.system.collector_step().unwrap().unwrap() {
                    CollectorStep::Gift => 0,
                    CollectorStep::Copied => TIMES.read_us + TIMES.write_us,
                    CollectorStep::Erased => TIMES.erase_us + TIMES.collector_cpu_us,
                    CollectorStep::Retired => unreachable!("no block fails"),
                };
                self.now_us += took_us;
            }
            (Some(number), _) => {
                let member = &mut self.members[number];
                if member.cpu_left_us > 0 {
                    let slice_us = member.cpu_left_us.min(until_us.saturating_sub(self.now_us).max(1));
                    member.cpu_left_us -= slice_us;
                    self.now_us += slice_us;
                } else {
                    member.writes_left -= 1;
                    let lba = Lba(random.u32(0..LOGICAL_PAGES));
                    let written = self.system.write(member.handle, lba, &[7; 512]);
                    assert_eq!(written, Ok(()), "{member:?} at {}, {}", self.now_us, self.context);
                    self.now_us += TIMES.write_us;
                }
            }
            (None, _) => self.now_us = until_us.max(self.now_us + 1),
        }
        self.release();
        assert_eq!(self.system.counters().misses, 0, "a collector misses its deadline, {}", self.context);
        assert_eq!(self.system.guarantee(), Guarantee::Holds);
    }

    fn run(&mut self, until_us: u64, random: &mut fastrand::Rng) {
        while self.now_us < until_us {
            self.step(until_us, random);
        }
    }
}

fn processor(run: &Run) -> Processor {
    let context = format!("replay: {}", run.replay());
    Processor { system: started(run.seed), members: Vec::new(), now_us: 0, context }
}

/// The share of a task that leaves is its own until its period ends: it cannot be had again by joining again.
#[test]
fn a_task_that_leaves_and_joins_again_does_not_starve_another() {
    for run in seeds(0..2, "-p norn-nand-ftl --test suite starve") {
        let (mut processor, mut random) = (processor(&run), run.random());
        let eager = Kind { cpu_us: 20_000, writes: 0, period_us: 50_000 };
        processor.join(Kind { cpu_us: 400_000, writes: 0, period_us: 1_000_000 }).unwrap();
        processor.join(eager).unwrap();
        let (mut joined, mut refused) = (0, 0);
        for _ in 0..50 {
            let end = processor.now_us + 20_100;
            processor.run(end, &mut random);
            if let Some(number) = processor.members.iter().position(|member| member.kind.period_us == 50_000) {
                processor.leave(number);
            }
            match processor.join(eager) {
                Ok(()) => joined += 1,
                Err(_) => refused += 1,
            }
        }
        processor.run(2_000_000, &mut random);
        assert!(joined > 10 && refused > 10, "{joined} joined, {refused} refused");
    }
}

#[test]
fn tasks_of_every_kind_join_leave_and_join_again() {
    let mut rejoined = 0;
    for run in seeds(0..30, "-p norn-nand-ftl --test suite every_kind") {
        let (mut processor, mut random) = (processor(&run), run.random());
        for _ in 0..120 {
            let end = processor.now_us + random.u64(0..60_000);
            processor.run(end, &mut random);
            // Some leave when they have done their job, some in the middle of it, some before it begins.
            let leaving = match processor.members.len() {
                0 => None,
                count => (random.u8(0..3) > 0).then(|| random.usize(0..count)),
            };
            let again = leaving.map(|number| processor.leave(number));
            let kind = again.filter(|_| random.bool()).unwrap_or_else(|| Kind::draw(&mut random));
            rejoined += u32::from(processor.join(kind).is_ok() && again.is_some());
        }
        let end = processor.now_us + 2_000_000;
        processor.run(end, &mut random);
        assert_eq!(processor.system.counters().token_waits, 0, "{}", processor.context);
        processor.system.device_mut().freeze_counters();
        assert_eq!(processor.system.audit().unwrap(), None, "{}", processor.context);
    }
    assert!(rejoined > 200, "{rejoined} joined when another had left");
}

#[test]
fn a_task_that_leaves_at_once_keeps_its_share_until_its_period_ends() {
    for (writes, cpu_us) in [(0, 60_000), (2, 55_000), (9, 48_000)] {
        let mut system = started(3);
        let kind = Kind { cpu_us, writes, period_us: 100_000 };
        system.advance(10_000);
        let before = system.load();
        let handle = system.admit(kind.task()).unwrap();
        system.leave(handle).unwrap();
        system.advance(10_000);
        assert_ne!(system.load(), before, "{writes} writes: its share is its own");
        assert!(system.admit(kind.task()).is_err(), "{writes} writes");
        let mut now_us = 10_000;
        while system.load() != before {
            now_us += 1_000;
            assert!(now_us < 400_000, "{writes} writes: it never leaves");
            system.advance(now_us);
            while system.collector_step().unwrap().is_some() {}
        }
        assert!(now_us >= 110_000, "{writes} writes: left at {now_us}");
        assert!(system.admit(kind.task()).is_ok(), "{writes} writes");
    }
}

#[test]
fn extreme_tasks_are_refused_or_admitted_without_overflow() {
    let extremes = [0, 1, 2, 5, 6, 1 << 31, u32::MAX - 1, u32::MAX];
    let times = [0, 1, 919, u64::from(u32::MAX), u64::MAX / 2, u64::MAX - 1, u64::MAX];
    for writes in extremes {
        for cost_us in times {
            for period_us in times {
                let mut system = started(4);
                system.advance(1_000_000);
                while system.collector_step().unwrap().is_some() {}
                let admitted = system.admit(Task { cost_us, period_us, writes });
                assert!(writes < 200 || admitted.is_err(), "{writes} writes");
                if let Ok(handle) = admitted {
                    system.advance(2_000_000);
                    system.next_release_us();
                    system.leave(handle).unwrap();
                    system.advance(3_000_000);
                }
            }
        }
    }
    assert_eq!(Task::new(u64::MAX, u32::MAX, u32::MAX, 1, &TIMES).cost_us, u64::MAX);
}
