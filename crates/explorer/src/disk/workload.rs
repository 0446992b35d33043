//! A workload on a block device, in simulated time: tasks with deadlines, their collectors, and a client without
//! deadlines; where no tasks are admitted, a client alone.
//!
//! A step of the scheduler, which runs the earliest deadline first:
//! 1. release what is due;
//! 2. take an operation of the job with the earliest deadline, a collector's or a task's;
//! 3. if there is none, write a page for the client without deadlines, or make tokens for it; if neither is due, let
//!    time pass up to the next release.

use norn_flash::Nand;
use norn_flash_sim::NandSpec;
use norn_nand_ftl::{
    BackgroundStep, CollectorStep, Ftl, Lba, OperationTimes, PartClient, RealTime, RealTimeConfig, Scheduling, Task,
    TaskError, TaskHandle,
};

use crate::traced_nand::TracedNand;

/// A block device on a part whose operations are listed.
pub type Device = Ftl<TracedNand, Vec<u8>>;
/// The same with up to three tasks.
type System = RealTime<TracedNand, Vec<u8>, 4>;

/// Steps before a recording begins, at most: until a collector has work to do.
const STEPS_BEFORE_MAX: u32 = 40_000;
/// Periods of the checkpoint's task that are tried, in microseconds.
const CHECKPOINT_PERIODS_US: [u64; 4] = [400_000, 100_000, 50_000, 20_000];
/// How much slower than [`KINDS`] tasks are, where these are not admitted.
const SLOWER: [u64; 3] = [1, 4, 16];

/// What a task does in a period.
#[derive(Clone, Copy, Debug)]
struct Kind {
    name: &'static str,
    cpu_us: u64,
    reads: u32,
    writes: u32,
    period_us: u64,
}

const KINDS: [Kind; 2] = [
    Kind { name: "sensor", cpu_us: 1_000, reads: 2, writes: 2, period_us: 20_000 },
    Kind { name: "logger", cpu_us: 5_000, reads: 1, writes: 5, period_us: 200_000 },
];

/// A task that was admitted.
#[derive(Clone, Debug)]
struct Member {
    kind: Kind,
    handle: TaskHandle,
    release_us: u64,
    job: Option<Job>,
}

/// What a task has left to do, and until when.
#[derive(Clone, Copy, Debug)]
struct Job {
    reads: u32,
    writes: u32,
    deadline_us: u64,
}

/// What runs on the device.
#[derive(Clone, Debug)]
enum Runs {
    Tasks(Box<System>, Vec<Member>),
    Alone(Box<Device>),
}

/// A workload at some point of it.
#[derive(Clone, Debug)]
pub struct Workload {
    runs: Runs,
    random: fastrand::Rng,
    /// Simulated time of the part when it began, and time that passed while the part did nothing.
    began_ns: u64,
    idle_us: u64,
    /// Pages written, and the next page of the client without deadlines.
    written: u32,
    turn: u32,
    late: u32,
}

impl Workload {
    /// A workload that a seed draws. Where no tasks are admitted, the second value says why.
    pub fn start(device: Device, seed: u64) -> (Workload, Option<String>) {
        let (runs, why) = match with_tasks(&device) {
            Ok((system, members)) => (Runs::Tasks(Box::new(system), members), None),
            Err(why) => (Runs::Alone(Box::new(device)), Some(why)),
        };
        let random = fastrand::Rng::with_seed(seed);
        let mut workload = Workload { runs, random, began_ns: 0, idle_us: 0, written: 0, turn: 0, late: 0 };
        workload.began_ns = workload.device().device().sim.elapsed_ns();
        (workload, why)
    }

    /// Runs until a collector has work to do.
    pub fn fill(&mut self) {
        for _ in 0..STEPS_BEFORE_MAX {
            let copied = self.device().counters().copied;
            self.traced().operations.clear();
            if copied > 0 || self.step().is_err() {
                break;
            }
        }
    }

    /// The block device.
    pub fn device(&self) -> &Device {
        match &self.runs {
            Runs::Tasks(system, _) => system.ftl(),
            Runs::Alone(device) => device,
        }
    }

    /// The part.
    pub fn traced(&mut self) -> &mut TracedNand {
        match &mut self.runs {
            Runs::Tasks(system, _) => system.device_mut(),
            Runs::Alone(device) => device.device_mut(),
        }
    }

    fn now_us(&self) -> u64 {
        (self.device().device().sim.elapsed_ns() - self.began_ns) / 1000 + self.idle_us
    }

    /// Jobs of tasks that were not done at their deadlines.
    pub fn late(&self) -> u32 {
        self.late
    }

    /// What is drawn over time: free pages and tokens, by whom they belong to.
    pub fn levels(&self) -> Vec<(&'static str, u32)> {
        let counts = self.device().page_counts();
        let Runs::Tasks(system, members) = &self.runs else {
            return vec![("free pages", counts.free), ("pages in use", counts.live)];
        };
        let pool = system.pool();
        let mut levels = vec![("free pages", counts.free), ("all tokens", system.tokens()), ("reserve", pool.reserve)];
        levels.push(("without deadlines", pool.background));
        for member in members {
            let tokens = system.task_tokens(member.handle).unwrap_or_default();
            levels.push((member.kind.name, tokens.task));
        }
        let collectors = members.iter().filter_map(|member| system.task_tokens(member.handle));
        levels.push(("collectors", collectors.map(|tokens| tokens.collector).sum()));
        let checkpoint = system.task_tokens(system.checkpoint_task()).unwrap_or_default();
        levels.push(("checkpoint", checkpoint.task + checkpoint.collector));
        levels
    }

    /// Takes a step, and says what it was.
    ///
    /// # Errors
    /// The device's, in words.
    pub fn step(&mut self) -> Result<String, String> {
        let now_us = self.now_us();
        let said = match &self.runs {
            Runs::Tasks(..) => self.step_of_tasks(now_us)?,
            Runs::Alone(_) => self.step_alone()?,
        };
        Ok(format!("{}.{} ms: {said}", now_us / 1000, now_us / 100 % 10))
    }

    fn page(&mut self, lba: Lba) -> Vec<u8> {
        self.written += 1;
        let words = [lba.0, self.written].map(u32::to_le_bytes).concat();
        let bytes = usize::from(self.device().page_bytes());
        words.into_iter().cycle().take(bytes).collect()
    }

    fn step_alone(&mut self) -> Result<String, String> {
        let pages = self.device().logical_pages();
        let lba = Lba(self.random.u32(0..pages));
        let (choice, data) = (self.random.u8(0..16), self.page(lba));
        let Runs::Alone(device) = &mut self.runs else { return Err("tasks run".to_owned()) };
        match choice {
            0 => {
                let count = self.random.u32(1..9).min(pages - lba.0);
                device.trim(lba, count).map_err(words)?;
                Ok(format!("trim {count} logical pages from {} on", lba.0))
            }
            1 => device.flush().map(|()| "flush".to_owned()).map_err(words),
            _ => {
                device.write(lba, &data).map_err(words)?;
                Ok(format!("write logical page {}", lba.0))
            }
        }
    }

    fn step_of_tasks(&mut self, now_us: u64) -> Result<String, String> {
        let Runs::Tasks(system, members) = &mut self.runs else { return Err("no tasks run".to_owned()) };
        system.advance(now_us);
        for member in members.iter_mut().filter(|member| member.release_us <= now_us) {
            self.late += u32::from(member.job.is_some());
            let Kind { reads, writes, period_us, cpu_us, .. } = member.kind;
            member.job = Some(Job { reads, writes, deadline_us: member.release_us + period_us });
            member.release_us += period_us;
            self.idle_us += cpu_us;
        }
        let waiting = members.iter().enumerate().filter_map(|(number, member)| Some((member.job?.deadline_us, number)));
        match (system.next_job(), waiting.min()) {
            (Some(job), first) if first.is_none_or(|(deadline_us, _)| job.deadline_us < deadline_us) => {
                let name = members
                    .iter()
                    .find(|member| member.handle == job.task)
                    .map_or("checkpoint", |member| member.kind.name);
                let step = system.collector_step().map_err(words)?;
                Ok(format!("the collector of the {name} {}", step.map_or("has nothing to do", collector_text)))
            }
            (_, Some((_, number))) => self.step_of_task(number),
            (_, None) => self.step_without_deadline(now_us),
        }
    }

    fn step_of_task(&mut self, number: usize) -> Result<String, String> {
        let lba = Lba(self.random.u32(0..self.device().logical_pages()));
        let data = self.page(lba);
        let Runs::Tasks(system, members) = &mut self.runs else { return Err("no tasks run".to_owned()) };
        let Member { kind, handle, job: Some(job), .. } = &mut members[number] else {
            return Err("no job waits".to_owned());
        };
        let name = kind.name;
        let said = if job.reads > 0 {
            job.reads -= 1;
            system.read(lba, &mut vec![0; data.len()]).map_err(words)?;
            format!("the {name} reads logical page {}", lba.0)
        } else {
            job.writes -= 1;
            system.write(*handle, lba, &data).map_err(words)?;
            format!("the {name} writes logical page {}", lba.0)
        };
        if job.reads == 0 && job.writes == 0 {
            members[number].job = None;
        }
        Ok(said)
    }

    fn step_without_deadline(&mut self, now_us: u64) -> Result<String, String> {
        self.turn += 1;
        let lba = Lba(self.turn % self.device().logical_pages());
        let data = self.page(lba);
        let Runs::Tasks(system, members) = &mut self.runs else { return Err("no tasks run".to_owned()) };
        if self.turn.is_multiple_of(2) {
            match system.background_write(lba, &data) {
                Ok(()) => return Ok(format!("a client without deadlines writes logical page {}", lba.0)),
                Err(TaskError::NoToken) => {}
                Err(error) => return Err(words(error)),
            }
        }
        let said = match system.background_step() {
            Ok(BackgroundStep::Ready) | Err(TaskError::NoToken) => {
                let releases = members.iter().map(|member| member.release_us).chain([system.next_release_us()]);
                self.idle_us += releases.min().unwrap_or(now_us).saturating_sub(now_us).max(1);
                return Ok("nothing to do up to the next release".to_owned());
            }
            Ok(BackgroundStep::Gift) => "takes free pages as tokens",
            Ok(BackgroundStep::Copied) => "copies a page",
            Ok(BackgroundStep::Erased) => "erases the block that it has copied from",
            Ok(BackgroundStep::Retired) => "gives up a block that fails",
            Ok(BackgroundStep::Checkpoint) => "writes a page of the checkpoint anew",
            Err(error) => return Err(words(error)),
        };
        Ok(format!("the collection for clients without deadlines {said}"))
    }
}

fn collector_text(step: CollectorStep) -> &'static str {
    match step {
        CollectorStep::Gift => "takes free pages as tokens",
        CollectorStep::Copied => "copies a page",
        CollectorStep::Erased => "erases the block that it has copied from",
        CollectorStep::Retired => "gives up a block that fails",
    }
}

/// The tasks on a device, as fast as admission allows.
fn with_tasks(device: &Device) -> Result<(System, Vec<Member>), String> {
    let spec = device.device().sim.spec();
    let pages = u32::from(spec.part.pages_per_block);
    let alphas = [pages / 2, pages / 4, pages / 8, 1].into_iter().filter(|&alpha| alpha > 0);
    let settings = alphas.flat_map(|alpha| CHECKPOINT_PERIODS_US.map(|period_us| (alpha, period_us)));
    let mut why = String::new();
    for slower in SLOWER {
        for (alpha, checkpoint_period_us) in settings.clone() {
            let config = RealTimeConfig {
                alpha,
                tokens: 0,
                times: times_of(spec),
                checkpoint_period_us,
                scheduling: Scheduling::EarliestDeadline,
                client: PartClient::NONE,
                failure_budget: 0,
            };
            let kinds = KINDS.map(|kind| Kind { period_us: slower * kind.period_us, ..kind });
            match admitted(device.clone(), config, kinds) {
                Ok(running) => return Ok(running),
                Err(error) => why = error,
            }
        }
    }
    Err(why)
}

fn admitted(device: Device, mut config: RealTimeConfig, kinds: [Kind; 2]) -> Result<(System, Vec<Member>), String> {
    let task = |kind: &Kind| Task::new(kind.cpu_us, kind.reads, kind.writes, kind.period_us, &config.times);
    let (part, tasks) = (device.device().part(), kinds.each_ref().map(task));
    config.tokens = config.tokens_for(&part, &tasks).ok_or("a task can have no collector")?;
    let mut system = System::start(device, config).map_err(words)?;
    let mut members = Vec::new();
    for (kind, task) in kinds.into_iter().zip(tasks) {
        let handle = system.admit(task).map_err(words)?;
        members.push(Member { kind, handle, release_us: 0, job: None });
    }
    Ok((system, members))
}

/// How long a part's operations take, with the transfer of a page.
fn times_of(spec: &NandSpec) -> OperationTimes {
    let (timings, bytes) = (&spec.timings, spec.part.register_bytes());
    OperationTimes {
        read_us: timings.read_ns(bytes).div_ceil(1000),
        write_us: timings.write_ns(bytes).div_ceil(1000),
        erase_us: u64::from(timings.erase_ns).div_ceil(1000),
        collector_cpu_us: 10,
    }
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
#[cfg(test)]
mod tests {
    use norn_flash_sim::NandSim;
    use norn_flash_sim::nand_catalogue::test_part;
    use norn_nand_ftl::{FtlConfig, max_logical_pages};

    use super::*;

    /// On a device with tenths of the logical pages that a small part can have: why no tasks run, and how many pages
    /// were copied when the recording would begin.
    fn started(tenths: u32) -> (Option<String>, u64) {
        let spec = test_part(48, 16, 512);
        let logical_pages = max_logical_pages(&spec.part, 0) / 10 * tenths;
        let memory = vec![0; Device::memory_bytes(&spec.part, logical_pages)];
        let device = Ftl::format(TracedNand::new(NandSim::new(spec)), memory, FtlConfig { logical_pages }).unwrap();
        let (mut workload, why) = Workload::start(device, 1);
        workload.fill();
        assert_eq!(workload.late(), 0);
        (why, workload.device().counters().copied)
    }

    #[test]
    fn tasks_run_where_they_are_admitted_and_else_a_client_alone() {
        let (why, copied) = started(7);
        assert!(why.is_none() && copied > 0, "{why:?}, {copied} copied");
        let (why, copied) = started(9);
        assert!(why.is_some_and(|why| why.contains("checkpoint")) && copied > 0, "{copied} copied");
    }
}
