//! What the scheduler runs tasks on: the device with real-time collectors, or one that collects when it has to.
//!
//! Invariant: every call takes at most one operation that cannot be preempted, and says by the part's clock how long it
//! took. The exception is a write to the device without guarantees, which takes the whole collection that it waits for.

use norn_flash_sim::NandSim;
use norn_nand_ftl::{BackgroundStep, CollectorStep, Lba, LevelStep, RealTime, TaskError, TaskHandle};

/// A device with at most the given number of tasks, including the checkpoint's.
pub type RealTimeDevice = RealTime<NandSim, Vec<u8>, 64>;

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Done,
    /// There is no token for it.
    Wait,
}

/// A device under the scheduler.
pub trait System {
    /// The part's clock.
    fn elapsed_us(&self) -> u64;
    /// Lets time pass.
    fn advance(&mut self, now_us: u64);
    /// The next release of a job of its own.
    fn next_release_us(&self) -> Option<u64>;
    /// The earliest deadline of its jobs.
    fn next_deadline_us(&self) -> Option<u64>;
    /// One operation of that job. Returns the time that it computed meanwhile, in microseconds.
    fn step(&mut self) -> u64;
    /// A page for a task.
    fn write(&mut self, task: Option<TaskHandle>, lba: u32) -> Write;
    /// A page read.
    fn read(&mut self, lba: u32);
    /// A page for what has no deadline.
    fn background_write(&mut self, lba: u32) -> Write;
    /// One operation towards tokens for that.
    fn background_step(&mut self);
    /// One operation of the wear leveler.
    fn level(&mut self) -> Write;
    /// One operation, or a decision, for which there is idle time alone; whether there was one.
    fn idle_step(&mut self) -> bool {
        false
    }
    /// Erases of each block in use.
    fn erase_counts(&self) -> Vec<u32>;
}

/// The device with collectors, and a page to write.
pub struct Collected {
    pub device: RealTimeDevice,
    page: Vec<u8>,
    written: u64,
    /// Calls of the wear leveler that found nothing to do.
    pub level_idle: u64,
}

impl Collected {
    pub fn new(device: RealTimeDevice) -> Self {
        let page = vec![0x5A; usize::from(device.ftl().page_bytes())];
        Collected { device, page, written: 0, level_idle: 0 }
    }

    /// One operation of a wear leveler that leaves blocks alone whose erases lag by less.
    pub fn level_at_lag(&mut self, lag: u32) -> Write {
        let step = self.device.level_step_at_lag(lag);
        self.leveled(step)
    }

    fn leveled<E: std::fmt::Debug>(&mut self, step: Result<LevelStep, TaskError<E>>) -> Write {
        self.level_idle += u64::from(matches!(step, Ok(LevelStep::Idle)));
        outcome(step.map(|_| ()))
    }

    /// A page that differs from the one before.
    fn next_page(&mut self) {
        self.written += 1;
        self.page[..8].copy_from_slice(&self.written.to_le_bytes());
    }
}

fn outcome<E: std::fmt::Debug>(result: Result<(), TaskError<E>>) -> Write {
    match result {
        Ok(()) => Write::Done,
        Err(TaskError::NoToken) => Write::Wait,
        Err(error) => panic!("the device works: {error:?}"),
    }
}

impl System for Collected {
    fn elapsed_us(&self) -> u64 {
        self.device.ftl().device().elapsed_ns() / 1000
    }

    fn advance(&mut self, now_us: u64) {
        self.device.advance(now_us);
    }

    fn next_release_us(&self) -> Option<u64> {
        Some(self.device.next_release_us())
    }

    fn next_deadline_us(&self) -> Option<u64> {
        self.device.next_job().map(|job| job.deadline_us)
    }

    fn step(&mut self) -> u64 {
        match self.device.collector_step().expect("the device works") {
            Some(CollectorStep::Gift | CollectorStep::Erased | CollectorStep::Retired) => 10,
            Some(CollectorStep::Copied) | None => 0,
        }
    }

    fn write(&mut self, task: Option<TaskHandle>, lba: u32) -> Write {
        self.next_page();
        outcome(self.device.write(task.expect("the task is admitted"), Lba(lba), &self.page))
    }

    fn read(&mut self, lba: u32) {
        self.device.read(Lba(lba), &mut self.page).expect("the device works");
    }

    fn background_write(&mut self, lba: u32) -> Write {
        self.next_page();
        outcome(self.device.background_write(Lba(lba), &self.page))
    }

    fn background_step(&mut self) {
        let step = self.device.background_step().expect("the device works");
        debug_assert_ne!(step, BackgroundStep::Ready, "it is asked only when tokens lack");
    }

    fn level(&mut self) -> Write {
        let step = self.device.level_step();
        self.leveled(step)
    }

    fn erase_counts(&self) -> Vec<u32> {
        self.device.ftl().erase_counts().flatten().collect()
    }
}
