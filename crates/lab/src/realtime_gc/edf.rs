//! A processor with earliest deadline first, in simulated time: tasks, the device's own jobs, and in what is left a
//! downloader and the wear leveler.
//!
//! 1. Release what is due. A job of a task that is not done by its deadline is given up, and counted.
//! 2. Of the jobs, take the one with the earliest deadline, a task's before the device's. Run one operation of it;
//!    computing is preempted by the next release, an operation on flash never.
//! 3. If there is none, run one operation without a deadline; if there is none either, wait for the next release.
//!
//! Invariant: time only moves forwards, by the part's clock and by computing.

use norn_nand_ftl::TaskHandle;

use super::system::{System, Write};
use super::workload::{Access, Downloader};

/// What the wear leveler sleeps between two copies (paper, section 5.3), in microseconds.
const LEVELER_SLEEP_US: u64 = 50_000;

/// A task under the scheduler.
pub struct Client {
    /// Its handle, if the device knows tasks.
    pub handle: Option<TaskHandle>,
    pub period_us: u64,
    pub cpu_us: u64,
    pub reads: u32,
    pub writes: u32,
    pub access: Access,
    next_release_us: u64,
    job: Option<ClientJob>,
    /// What happened to it.
    pub stats: ClientStats,
}

struct ClientJob {
    release_us: u64,
    deadline_us: u64,
    cpu_left_us: u64,
    reads_left: u32,
    writes_left: u32,
    waiting_since_us: Option<u64>,
}

/// What happened to a task.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientStats {
    pub jobs: u64,
    /// Jobs that were not done at their deadline.
    pub misses: u64,
    pub writes: u64,
    /// Writes that found no token, and how long the longest waited.
    pub waits: u64,
    pub wait_us_max: u64,
    /// Longest time from release to end of a job that was done.
    pub response_us_max: u64,
}

impl Client {
    /// A task that is released at once.
    pub fn new(
        handle: Option<TaskHandle>,
        period_us: u64,
        cpu_us: u64,
        reads: u32,
        writes: u32,
        access: Access,
    ) -> Self {
        let (next_release_us, stats) = (0, ClientStats::default());
        Client { handle, period_us, cpu_us, reads, writes, access, next_release_us, job: None, stats }
    }

    /// The task, released first at `start_us`.
    pub fn from(mut self, start_us: u64) -> Self {
        self.next_release_us = start_us;
        self
    }

    fn release(&mut self, now_us: u64) {
        while self.next_release_us <= now_us {
            self.stats.misses += u64::from(self.job.is_some());
            self.stats.jobs += 1;
            self.job = Some(ClientJob {
                release_us: self.next_release_us,
                deadline_us: self.next_release_us + self.period_us,
                cpu_left_us: self.cpu_us,
                reads_left: self.reads,
                writes_left: self.writes,
                waiting_since_us: None,
            });
            self.next_release_us += self.period_us;
        }
    }
}

/// What runs besides tasks.
pub struct Background {
    pub downloader: Option<Downloader>,
    pub leveler: Leveler,
}

/// Whether the wear leveler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leveler {
    On,
    Off,
}

/// The processor.
pub struct Processor<S> {
    pub system: S,
    pub clients: Vec<Client>,
    pub background: Background,
    pub now_us: u64,
    pub background_writes: u64,
    leveler_wakes_us: u64,
    /// What the device's job that ended last has still to compute, and its deadline.
    computing: Option<(u64, u64)>,
    /// Standard deviation of erase counts, and share of worn-out blocks, over time.
    pub wear: Vec<WearPoint>,
}

/// Wear at a moment.
#[derive(Clone, Copy, Debug)]
pub struct WearPoint {
    pub time_us: u64,
    pub erases: u64,
    pub deviation: f64,
    /// Blocks with at least 200 erases.
    pub worn_out: usize,
    /// Blocks with at most one erase, that of formatting.
    pub at_rest: usize,
    pub blocks: usize,
}

impl WearPoint {
    pub fn of(time_us: u64, counts: &[u32]) -> Self {
        let blocks = counts.len();
        let erases: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let mean = erases as f64 / blocks as f64;
        let variance = counts.iter().map(|&count| (f64::from(count) - mean).powi(2)).sum::<f64>() / blocks as f64;
        let worn_out = counts.iter().filter(|&&count| count >= 200).count();
        let at_rest = counts.iter().filter(|&&count| count <= 1).count();
        WearPoint { time_us, erases, deviation: variance.sqrt(), worn_out, at_rest, blocks }
    }
}

impl<S: System> Processor<S> {
    pub fn new(system: S, clients: Vec<Client>, background: Background) -> Self {
        let (now_us, leveler_wakes_us) = (0, LEVELER_SLEEP_US);
        let (background_writes, computing, wear) = (0, None, Vec::new());
        Processor { system, clients, background, now_us, background_writes, leveler_wakes_us, computing, wear }
    }

    /// Runs until `end_us`, and looks at the wear every `sample_us`.
    pub fn run(&mut self, end_us: u64, sample_us: u64, mut progress: impl FnMut(u64)) {
        let mut next_sample = self.now_us + sample_us;
        while self.now_us < end_us {
            self.turn(end_us);
            if self.now_us >= next_sample {
                self.wear.push(WearPoint::of(self.now_us, &self.system.erase_counts()));
                next_sample += sample_us;
                progress(self.now_us);
            }
        }
    }

    fn turn(&mut self, end_us: u64) {
        self.system.advance(self.now_us);
        self.clients.iter_mut().for_each(|client| client.release(self.now_us));
        let of_step = self.system.next_deadline_us().unwrap_or(u64::MAX);
        let own = of_step.min(self.computing.map_or(u64::MAX, |(deadline, _)| deadline));
        let mut order: Vec<(u64, usize)> = self
            .clients
            .iter()
            .enumerate()
            .filter_map(|(index, client)| client.job.as_ref().map(|job| (job.deadline_us, index)))
            .collect();
        order.sort_unstable();
        for (deadline, index) in order {
            if deadline > own {
                break;
            }
            if self.run_client(index, end_us) == Write::Done {
                return;
            }
        }
        if own < u64::MAX {
            self.run_system(of_step, end_us);
            return;
        }
        if !self.run_background() && !self.timed(System::idle_step) {
            let woken = if self.background.leveler == Leveler::On { self.leveler_wakes_us } else { u64::MAX };
            self.now_us = self.next_event_us().min(woken).min(end_us).max(self.now_us + 1);
        }
    }

    /// Computing that is left, until the next release; else one operation of the device's job.
    fn run_system(&mut self, deadline_us: u64, end_us: u64) {
        if let Some((deadline, left)) = self.computing.take() {
            let slice = left.min(self.next_event_us().min(end_us).saturating_sub(self.now_us).max(1));
            self.now_us += slice;
            self.computing = (left > slice).then_some((deadline, left - slice));
            return;
        }
        let computed = self.timed(System::step);
        self.computing = (computed > 0).then_some((deadline_us, computed));
    }

    fn next_event_us(&self) -> u64 {
        let clients = self.clients.iter().map(|client| client.next_release_us).min();
        let own = self.system.next_release_us().unwrap_or(u64::MAX);
        clients.unwrap_or(u64::MAX).min(own)
    }

    fn timed<T>(&mut self, operation: impl FnOnce(&mut S) -> T) -> T {
        let start = self.system.elapsed_us();
        let result = operation(&mut self.system);
        self.now_us += self.system.elapsed_us() - start;
        result
    }

    /// One operation of a task's job: reads, then computing, then writes. `Wait` if it lacks a token.
    fn run_client(&mut self, index: usize, end_us: u64) -> Write {
        let slice_end = self.next_event_us().min(end_us);
        let client = &mut self.clients[index];
        let (handle, job) = (client.handle, client.job.as_mut().expect("the job was chosen"));
        let mut outcome = Write::Done;
        if job.reads_left > 0 {
            job.reads_left -= 1;
            let lba = client.access.read();
            self.timed(|system| system.read(lba));
        } else if job.cpu_left_us > 0 {
            let slice = job.cpu_left_us.min(slice_end.saturating_sub(self.now_us).max(1));
            job.cpu_left_us -= slice;
            self.now_us += slice;
        } else if job.writes_left > 0 {
            let (lba, left) = (client.access.peek(), job.writes_left);
            outcome = self.timed(|system| system.write(handle, lba));
            let now_us = self.now_us;
            let client = &mut self.clients[index];
            let job = client.job.as_mut().expect("the job is under way");
            if outcome == Write::Done {
                client.access.written(left);
                client.stats.writes += 1;
                job.writes_left -= 1;
                if let Some(since) = job.waiting_since_us.take() {
                    client.stats.wait_us_max = client.stats.wait_us_max.max(now_us - since);
                }
            } else if job.waiting_since_us.is_none() {
                job.waiting_since_us = Some(now_us);
                client.stats.waits += 1;
            }
        }
        self.end_job(index);
        outcome
    }

    fn end_job(&mut self, index: usize) {
        let now_us = self.now_us;
        let client = &mut self.clients[index];
        let done = client.job.as_ref().is_some_and(|job| job.cpu_left_us == 0 && job.reads_left + job.writes_left == 0);
        if done {
            let job = client.job.take().expect("it is done");
            client.stats.misses += u64::from(now_us > job.deadline_us);
            client.stats.response_us_max = client.stats.response_us_max.max(now_us - job.release_us);
        }
    }

    /// One operation without a deadline; whether there was one.
    fn run_background(&mut self) -> bool {
        if self.background.leveler == Leveler::On && self.leveler_wakes_us <= self.now_us {
            match self.timed(System::level) {
                Write::Done => self.leveler_wakes_us = self.now_us + LEVELER_SLEEP_US,
                Write::Wait => self.timed(System::background_step),
            }
            return true;
        }
        let now_us = self.now_us;
        let Some(downloader) = &mut self.background.downloader else { return false };
        let Some(lba) = downloader.due(now_us) else { return false };
        match self.timed(|system| system.background_write(lba)) {
            Write::Done => {
                self.background_writes += 1;
                if let Some(downloader) = &mut self.background.downloader {
                    downloader.written();
                }
            }
            Write::Wait => self.timed(System::background_step),
        }
        true
    }
}
