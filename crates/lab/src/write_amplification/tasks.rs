//! The block device with real-time tasks admitted: they, and a client without deadlines in the time that they leave,
//! write the pages of the workload in turn.
//!
//! The set is the paper's two tasks, with periods stretched by 1, 2, 4 …, until it is admitted with some α, of which
//! the largest is taken; if they are not admitted at all, the first of them alone. Tokens are not pages that anybody
//! writes: what they keep free costs what less room for dead pages costs. The wear leveler takes as few pages as that
//! of a device without tasks does.

use norn_flash::NandPart;
use norn_flash_sim::{NandSim, NandSpec};
use norn_nand_ftl::{
    Ftl, Lba, OperationTimes, PartClient, RealTimeConfig, Scheduling, Task, TaskHandle, WEAR_LAG_OF_WRITES,
};

use super::ours::{formatted, programs};
use super::steady::Measured;
use super::workload::Pages;
use crate::realtime_gc::edf::{Background, Client, Leveler, Processor};
use crate::realtime_gc::system::{Collected, RealTimeDevice, System, Write};
use crate::realtime_gc::workload::{Access, Downloader, Pattern};

/// Periods are at most this many times the paper's.
const STRETCH_MAX: u64 = 64;
/// The largest α that is tried: it needs more dead pages in each block than tasks make up for from there on.
const ALPHA_MAX: u32 = 24;
/// Periods of the checkpoint's task that are tried: the shorter it is, the more may be programmed, and the more of the
/// processor does its collector take.
const CHECKPOINT_PERIODS_US: [u64; 3] = [200_000, 100_000, 50_000];
/// Simulated time between two looks at how many pages were written.
const SLICE_US: u64 = 200_000;

/// T1 and T2 of the paper: computing in microseconds, pages read and written, period in microseconds.
const TASKS: [(u64, u32, u32, u64); 2] = [(3_000, 4, 2, 20_000), (5_000, 2, 5, 200_000)];

/// A set, and how it is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The first so many of the paper's tasks.
    pub tasks: u32,
    /// The factor of their periods.
    pub stretch: u64,
    /// α.
    pub alpha: u32,
    /// The period of the checkpoint's task.
    pub checkpoint_period_us: u64,
}

impl Admitted {
    /// The tasks of the set.
    fn tasks(self) -> impl Iterator<Item = (u64, u32, u32, u64)> {
        let stretched = move |(cpu, reads, writes, period)| (cpu, reads, writes, period * self.stretch);
        TASKS.into_iter().take(self.tasks as usize).map(stretched)
    }

    /// The device's settings for the set, with as many tokens as it takes; and the tasks as the device knows them.
    fn config(self, part: &NandPart) -> (RealTimeConfig, Vec<Task>) {
        let times = OperationTimes::paper();
        let task = |(cpu, reads, writes, period)| Task::new(cpu, reads, writes, period, &times);
        let tasks: Vec<Task> = self.tasks().map(task).collect();
        let Admitted { alpha, checkpoint_period_us, .. } = self;
        let (scheduling, client) = (Scheduling::EarliestDeadline, PartClient::NONE);
        let mut config =
            RealTimeConfig { alpha, tokens: 0, times, checkpoint_period_us, scheduling, client, failure_budget: 0 };
        config.tokens = config.tokens_for(part, &tasks).expect("both tasks write");
        (config, tasks)
    }
}

/// Why nothing was admitted: the last set that was asked for, and what was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

/// The device under the scheduler, as it takes the pages of the workload.
struct Redirected {
    inner: Collected,
    pages: std::iter::Peekable<Pages>,
    written: u64,
}

impl Redirected {
    /// Writes the workload's next page by the call that was made for another one.
    fn redirect(&mut self, write: impl FnOnce(&mut Collected, u32) -> Write) -> Write {
        let page = *self.pages.peek().expect("the workload has no end");
        let outcome = write(&mut self.inner, page);
        if outcome == Write::Done {
            self.pages.next();
            self.written += 1;
        }
        outcome
    }
}

impl System for Redirected {
    fn elapsed_us(&self) -> u64 {
        self.inner.elapsed_us()
    }

    fn advance(&mut self, now_us: u64) {
        self.inner.advance(now_us);
    }

    fn next_release_us(&self) -> Option<u64> {
        self.inner.next_release_us()
    }

    fn next_deadline_us(&self) -> Option<u64> {
        self.inner.next_deadline_us()
    }

    fn step(&mut self) -> u64 {
        self.inner.step()
    }

    fn write(&mut self, task: Option<TaskHandle>, _: u32) -> Write {
        self.redirect(|device, page| device.write(task, page))
    }

    fn read(&mut self, lba: u32) {
        self.inner.read(lba);
    }

    fn background_write(&mut self, _: u32) -> Write {
        self.redirect(|device, page| device.background_write(page))
    }

    fn background_step(&mut self) {
        self.inner.background_step();
    }

    fn level(&mut self) -> Write {
        self.inner.level_at_lag(WEAR_LAG_OF_WRITES)
    }

    fn erase_counts(&self) -> Vec<u32> {
        self.inner.erase_counts()
    }
}

/// Tasks, and the client without deadlines.
pub struct WithTasks {
    processor: Processor<Redirected>,
}

impl WithTasks {
    /// A device with the first set that is admitted, or why none is.
    ///
    /// # Errors
    /// If the part has no room for the logical pages.
    pub fn new(spec: &NandSpec, logical_pages: u32, pages: Pages) -> Result<Result<(Self, Admitted), Refusal>, String> {
        let mut candidates = Candidates { spec, logical_pages, spare: None, refused: Vec::new() };
        let (device, set) = match candidates.first_admitted()? {
            Ok(admitted) => admitted,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let system = Redirected { inner: Collected::new(device.device), pages: pages.peekable(), written: 0 };
        let clients =
            (0..).zip(set.tasks()).zip(device.handles).map(|((number, (cpu, reads, writes, period)), handle)| {
                let access = Access::new(Pattern::Sequential, logical_pages, number, writes, 0);
                Client::new(Some(handle), period, cpu, reads, writes, access)
            });
        let clients = clients.collect();
        let downloader = Downloader::new(Pattern::Sequential, logical_pages, 0.0, 0, 0);
        let background = Background { downloader: Some(downloader), leveler: Leveler::On };
        Ok(Ok((WithTasks { processor: Processor::new(system, clients, background) }, set)))
    }
}

/// A device with a set.
struct Started {
    device: RealTimeDevice,
    handles: Vec<TaskHandle>,
}

/// The sets that are asked for, one after the other.
struct Candidates<'a> {
    spec: &'a NandSpec,
    logical_pages: u32,
    /// A filled device that the set before was refused on.
    spare: Option<Ftl<NandSim, Vec<u8>>>,
    /// With which a device did not start.
    refused: Vec<Start>,
}

/// What decides whether a device starts: with more tokens it does not if it did not with fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    alpha: u32,
    checkpoint_period_us: u64,
    tokens: u32,
}

impl Start {
    fn asks_as_much_as(&self, other: &Start) -> bool {
        (self.alpha, self.checkpoint_period_us) == (other.alpha, other.checkpoint_period_us)
            && self.tokens >= other.tokens
    }
}

impl Candidates<'_> {
    fn first_admitted(&mut self) -> Result<Result<(Started, Admitted), Refusal>, String> {
        let mut refusal = Refusal("no α is left".to_owned());
        for tasks in [2, 1] {
            for stretch in
                std::iter::successors(Some(1), |stretch| Some(stretch * 2)).take_while(|&it| it <= STRETCH_MAX)
            {
                for checkpoint_period_us in CHECKPOINT_PERIODS_US {
                    for alpha in (1..=ALPHA_MAX).rev() {
                        let set = Admitted { tasks, stretch, alpha, checkpoint_period_us };
                        match self.admitted(set)? {
                            Ok(started) => return Ok(Ok((started, set))),
                            Err(why) => refusal = why,
                        }
                    }
                }
            }
        }
        Ok(Err(refusal))
    }

    /// A filled device with the set admitted, if it is.
    fn admitted(&mut self, set: Admitted) -> Result<Result<Started, Refusal>, String> {
        let (config, tasks) = set.config(&self.spec.part);
        let RealTimeConfig { alpha, checkpoint_period_us, tokens, .. } = config;
        let start = Start { alpha, checkpoint_period_us, tokens };
        let refused = |why: String| Ok(Err(Refusal(format!("α = {alpha}, periods × {}: {why}", set.stretch))));
        if self.refused.iter().any(|other| start.asks_as_much_as(other)) {
            return refused(format!("{tokens} tokens, and fewer, are too many"));
        }
        let ftl = match self.spare.take() {
            Some(ftl) => ftl,
            None => self.filled()?,
        };
        let mut device = match RealTimeDevice::start(ftl, config) {
            Ok(device) => device,
            Err(error) => {
                self.refused.push(start);
                return refused(error.to_string());
            }
        };
        let mut handles = Vec::new();
        for task in tasks {
            match device.admit(task) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    self.spare = Some(device.into_ftl());
                    return refused(error.to_string());
                }
            }
        }
        Ok(Ok(Started { device, handles }))
    }

    fn filled(&self) -> Result<Ftl<NandSim, Vec<u8>>, String> {
        let mut ftl = formatted(self.spec, self.logical_pages)?;
        let page = vec![0x11; usize::from(self.spec.part.page_bytes)];
        (0..self.logical_pages).for_each(|lba| ftl.write(Lba(lba), &page).expect("the part works"));
        Ok(ftl)
    }
}

impl Measured for WithTasks {
    fn run(&mut self, pages: u64) {
        let end = self.written() + pages;
        while self.written() < end {
            let until = self.processor.now_us + SLICE_US;
            self.processor.run(until, u64::MAX / 2, |_| {});
        }
    }

    fn written(&self) -> u64 {
        self.processor.system.written
    }

    fn programs(&self) -> u64 {
        programs(self.processor.system.inner.device.ftl().device())
    }
}
