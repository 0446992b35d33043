//! A processor in simulated time that runs tasks on the block device, as unkindly as what they declared allows.
//!
//! What has no deadline is always under way when a job comes, the part's other client loads in bursts, pages die where
//! that helps collectors least. Late jobs are counted, and the longest responses kept.

use norn_flash::PageAddress;
use norn_flash_sim::nand_catalogue::{NandSpec, k9f2808, test_part};
use norn_flash_sim::{NandSim, NandSimError};
use norn_nand_ftl::{
    AdmissionError, CollectorStep, FtlError, Lba, OperationTimes, PartClient, RealTime, Scheduling, Task, TaskError,
    TaskHandle,
};

pub type System = RealTime<NandSim, Vec<u8>, 24>;

pub const TIMES: OperationTimes = OperationTimes::paper();
const PAGES: u32 = 16;

/// A part of 128 blocks of 16 pages, as fast as the paper's.
pub fn spec() -> NandSpec {
    NandSpec { part: test_part(128, PAGES as u16, 512).part, ..k9f2808() }
}

/// What a task does in a period: it reads, computes, and then writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub cpu_us: u64,
    pub reads: u32,
    pub writes: u32,
    pub period_us: u64,
}

impl Kind {
    pub fn draw(random: &mut fastrand::Rng) -> Self {
        let period_us = [12_000, 20_000, 50_000, 120_000, 400_000, 1_000_000][random.usize(0..6)];
        // No write, fewer than α, more than α.
        let writes = [random.u32(0..3), random.u32(1..5), random.u32(3..8), random.u32(6..24)][random.usize(0..4)];
        Kind { cpu_us: random.u64(0..period_us / 5), reads: random.u32(0..3), writes, period_us }
    }

    pub fn task(&self) -> Task {
        Task::new(self.cpu_us, self.reads, self.writes, self.period_us, &TIMES)
    }
}

/// Which pages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    Random,
    /// In the block with the fewest dead pages of some that are drawn: so dead pages are spread evenly, and collectors
    /// find no block that yields much.
    Even,
}

/// A task that was admitted, and its job.
#[derive(Clone, Debug)]
struct Member {
    handle: TaskHandle,
    kind: Kind,
    next_release_us: u64,
    deadline_us: u64,
    reads_left: u32,
    cpu_left_us: u64,
    writes_left: u32,
}

impl Member {
    fn is_waiting(&self) -> bool {
        self.reads_left > 0 || self.cpu_left_us > 0 || self.writes_left > 0
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    pub late: u64,
    pub jobs: u64,
    pub writes: u64,
    /// The longest response of a job of a task or a collector, in parts of its period.
    pub response_max: f64,
    /// Time that jobs took.
    pub busy_us: u64,
}

/// The processor.
pub struct Processor {
    pub system: System,
    pub scheduling: Scheduling,
    pub client: PartClient,
    pub placement: Placement,
    pub now_us: u64,
    pub outcome: Outcome,
    members: Vec<Member>,
    next_burst_us: u64,
    page: u64,
    random: fastrand::Rng,
}

/// Why it stops: the device failed.
pub type Stop = TaskError<NandSimError>;

impl Processor {
    pub fn new(system: System, scheduling: Scheduling, client: PartClient, placement: Placement, seed: u64) -> Self {
        let (members, outcome) = (Vec::new(), Outcome::default());
        let random = fastrand::Rng::with_seed(seed);
        let next_burst_us = client.period_us / 3;
        Processor { system, scheduling, client, placement, now_us: 0, outcome, members, next_burst_us, page: 0, random }
    }

    pub fn members(&self) -> usize {
        self.members.len()
    }

    pub fn join(&mut self, kind: Kind) -> Result<(), AdmissionError> {
        self.join_as(kind, kind.task())
    }

    /// A task joins that computes the longest that is admitted in a period.
    pub fn join_filling(&mut self, period_us: u64) -> Option<Kind> {
        let (mut admitted_us, mut refused_us) = (0, period_us);
        let kind = |cpu_us| Kind { cpu_us, reads: 0, writes: 0, period_us };
        while refused_us - admitted_us > 1 {
            let middle_us = admitted_us.midpoint(refused_us);
            match self.system.would_admit(&kind(middle_us).task()) {
                Ok(()) => admitted_us = middle_us,
                Err(_) => refused_us = middle_us,
            }
        }
        let kind = kind(admitted_us);
        self.join(kind).ok().map(|()| kind)
    }

    /// A task that claims to compute nothing.
    pub fn join_undeclared(&mut self, kind: Kind) -> Result<(), AdmissionError> {
        self.join_as(kind, Task { cost_us: 0, ..kind.task() })
    }

    /// A task that does other work than it declares.
    pub fn join_as(&mut self, kind: Kind, task: Task) -> Result<(), AdmissionError> {
        self.system.advance(self.now_us);
        let handle = self.system.admit(task)?;
        let (next_release_us, deadline_us) = (self.now_us, 0);
        let (reads_left, cpu_left_us, writes_left) = (0, 0, 0);
        self.members.push(Member { handle, kind, next_release_us, deadline_us, reads_left, cpu_left_us, writes_left });
        self.release();
        Ok(())
    }

    pub fn leave(&mut self, number: usize) -> Kind {
        let member = self.members.swap_remove(number);
        self.system.leave(member.handle).unwrap();
        member.kind
    }

    /// Releases jobs whose time has come. The one before has to be done.
    fn release(&mut self) {
        self.system.advance(self.now_us);
        for member in &mut self.members {
            while member.next_release_us <= self.now_us {
                self.outcome.late += u64::from(member.is_waiting());
                self.outcome.jobs += 1;
                member.deadline_us = member.next_release_us + member.kind.period_us;
                member.next_release_us = member.deadline_us;
                (member.reads_left, member.cpu_left_us) = (member.kind.reads, member.kind.cpu_us);
                member.writes_left = member.kind.writes;
            }
        }
    }

    fn next_event_us(&self) -> u64 {
        let releases = self.members.iter().map(|member| member.next_release_us);
        releases.fold(self.system.next_release_us(), u64::min)
    }

    /// Time passes; whatever the client loads meanwhile takes more of it, and makes the block device load once more.
    fn pass(&mut self, took_us: u64) {
        self.now_us += took_us;
        while self.client.loads > 0 && self.next_burst_us < self.now_us {
            self.now_us += u64::from(self.client.loads) * (self.client.load_us + TIMES.read_us);
            self.next_burst_us += self.client.period_us;
        }
    }

    /// Nobody needs the processor; what the client loads meanwhile delays nobody.
    fn idle(&mut self, until_us: u64) {
        self.now_us = until_us.max(self.now_us);
        while self.next_burst_us < self.now_us {
            self.next_burst_us += self.client.period_us;
        }
    }

    /// Time passes by the part's clock.
    fn timed<T>(&mut self, operation: impl FnOnce(&mut System) -> T) -> T {
        let before = self.system.ftl().device().elapsed_ns();
        let result = operation(&mut self.system);
        let took_ns = self.system.ftl().device().elapsed_ns() - before;
        self.pass(took_ns / 1000);
        result
    }

    fn block_of(&self, lba: u32) -> Option<PageAddress> {
        self.system.ftl().page_of(Lba(lba)).unwrap()
    }

    fn choose(&mut self) -> Lba {
        let pages = self.system.ftl().logical_pages();
        let first = self.random.u32(0..pages);
        if self.placement == Placement::Random {
            return Lba(first);
        }
        let mut live = [0_u32; 128];
        (0..pages).filter_map(|lba| self.block_of(lba)).for_each(|page| live[usize::from(page.block.0)] += 1);
        let drawn = (0..24).map(|_| self.random.u32(0..pages)).collect::<Vec<_>>();
        let most_live = |&lba: &u32| self.block_of(lba).map_or(0, |page| live[usize::from(page.block.0)]);
        Lba(drawn.into_iter().max_by_key(most_live).unwrap_or(first))
    }

    fn bytes(&mut self) -> [u8; 512] {
        self.page += 1;
        let mut bytes = [7; 512];
        bytes[..8].copy_from_slice(&self.page.to_le_bytes());
        bytes
    }

    /// Whether a task's job precedes one with a deadline and a period.
    fn precedes(&self, member: &Member, deadline_us: u64, period_us: u64) -> bool {
        match self.scheduling {
            Scheduling::EarliestDeadline => member.deadline_us <= deadline_us,
            Scheduling::RateMonotonic => member.kind.period_us <= period_us,
        }
    }

    fn urgency(&self, number: usize) -> u64 {
        let member = &self.members[number];
        match self.scheduling {
            Scheduling::EarliestDeadline => member.deadline_us,
            Scheduling::RateMonotonic => member.kind.period_us,
        }
    }

    /// Runs one operation, or computes until the next release; what has no deadline if there is nothing else to do.
    fn step(&mut self, until_us: u64) -> Result<(), Stop> {
        let ready = (0..self.members.len()).filter(|&number| self.members[number].is_waiting());
        let first = ready.min_by_key(|&number| self.urgency(number));
        let until_us = until_us.min(self.next_event_us());
        let began_us = self.now_us;
        let job = self.system.next_job();
        let task = match (first, job) {
            (Some(number), Some(job)) => {
                self.precedes(&self.members[number], job.deadline_us, job.period_us).then_some(number)
            }
            (first, _) => first,
        };
        if let Some(number) = task {
            self.run_task(number, until_us)?;
            self.note_response(number);
        } else if let Some(job) = job {
            match self.timed(System::collector_step)?.expect("a job waits") {
                CollectorStep::Copied => {}
                CollectorStep::Gift | CollectorStep::Erased | CollectorStep::Retired => {
                    self.pass(TIMES.collector_cpu_us);
                    self.note(job.deadline_us, job.period_us);
                }
            }
        } else {
            self.run_background(until_us)?;
            self.release();
            return Ok(());
        }
        self.outcome.busy_us += self.now_us - began_us;
        self.release();
        Ok(())
    }

    fn note(&mut self, deadline_us: u64, period_us: u64) {
        let response_us = self.now_us + period_us - deadline_us;
        self.outcome.response_max = self.outcome.response_max.max(response_us as f64 / period_us as f64);
        self.outcome.late += u64::from(self.now_us > deadline_us);
    }

    fn note_response(&mut self, number: usize) {
        let member = &self.members[number];
        if !member.is_waiting() {
            let (deadline_us, period_us) = (member.deadline_us, member.kind.period_us);
            self.note(deadline_us, period_us);
        }
    }

    fn run_task(&mut self, number: usize, until_us: u64) -> Result<(), Stop> {
        // Computing stops where the client loads: what it delays is what comes after.
        let until_us = if self.client.loads > 0 { until_us.min(self.next_burst_us) } else { until_us };
        let member = &mut self.members[number];
        if member.reads_left > 0 {
            member.reads_left -= 1;
            let lba = self.choose_to_read();
            self.timed(|system| system.read(lba, &mut [0; 512]))?;
        } else if member.cpu_left_us > 0 {
            let slice_us = member.cpu_left_us.min(until_us.saturating_sub(self.now_us).max(1));
            member.cpu_left_us -= slice_us;
            self.pass(slice_us);
        } else {
            member.writes_left -= 1;
            let (handle, lba, bytes) = (member.handle, self.choose(), self.bytes());
            self.timed(|system| system.write(handle, lba, &bytes))?;
            self.outcome.writes += 1;
        }
        Ok(())
    }

    fn choose_to_read(&mut self) -> Lba {
        Lba(self.random.u32(0..self.system.ftl().logical_pages()))
    }

    /// Something without a deadline begins a moment before the next release, or runs now.
    fn run_background(&mut self, until_us: u64) -> Result<(), Stop> {
        let until_us = until_us.max(self.now_us + 1);
        if self.random.u8(0..4) == 0 {
            self.idle(until_us - 1);
        }
        let (lba, bytes) = (self.choose(), self.bytes());
        let done = match self.random.u8(0..8) {
            0 => self.timed(System::level_step).map(|_| ()),
            _ => self.timed(|system| system.background_write(lba, &bytes)),
        };
        match done {
            Err(TaskError::NoToken) => self.timed(System::background_step)?,
            done => return done.map(|()| self.pass(1)),
        };
        self.pass(1);
        Ok(())
    }

    /// Runs until `until_us`.
    ///
    /// # Errors
    /// If the device fails.
    pub fn run(&mut self, until_us: u64) -> Result<(), Stop> {
        while self.now_us < until_us {
            self.step(until_us)?;
        }
        Ok(())
    }

    /// Late jobs of tasks and collectors, and writes that waited for a token.
    pub fn failures(&self) -> u64 {
        self.outcome.late + self.system.counters().misses + self.system.counters().token_waits
    }
}

/// Whether the device was cut from its power.
pub fn is_cut(stop: &Stop) -> bool {
    matches!(stop, TaskError::Ftl(FtlError::Device(_)))
}
