//! Tasks on the block device as an outsider sees them, by its public documents: sessions of joining, writing, trimming
//! and leaving beside what has no deadline, on a part in steady use with bad blocks. The same session is cut at each of
//! its operations, in every shape that the contract of NAND parts allows, and the mounts and formats after it are cut,
//! too. Whatever returned is there, nothing else is; what was admitted before a cut is admitted after it; no write of a
//! task waits for a token.

use crate::model;

use std::collections::BTreeMap;

use model::memory;
use norn_conformance::{Run, seeds};
use norn_flash_sim::nand_catalogue::test_part;
use norn_flash_sim::{NandSim, Tear};
use norn_nand_ftl::{
    BackgroundTask, Ftl, FtlConfig, FtlError, Guarantee, Lba, MountError, OperationTimes, PartClient, RealTime,
    RealTimeConfig, Scheduling, StartError, Task, TaskError, TaskHandle,
};

type Disk<'a> = Ftl<&'a mut NandSim, Vec<u8>>;
type System<'a> = RealTime<&'a mut NandSim, Vec<u8>, 12>;

const TIMES: OperationTimes = OperationTimes::paper();
const TICK_US: u64 = 200_000;

/// What each page may hold: numbers of writes, 0 for zeros.
#[derive(Clone, Debug)]
struct Expected {
    pages: Vec<Vec<u64>>,
    next: u64,
    page_bytes: usize,
}

impl Expected {
    fn new(logical_pages: u32, page_bytes: u16) -> Self {
        Expected { pages: vec![vec![0]; logical_pages as usize], next: 0, page_bytes: usize::from(page_bytes) }
    }

    fn bytes(&self, lba: u32, write: u64) -> Vec<u8> {
        if write == 0 {
            return vec![0; self.page_bytes];
        }
        let mut random = fastrand::Rng::with_seed(write << 24 | u64::from(lba));
        let mut bytes: Vec<u8> = (0..self.page_bytes).map(|_| random.u8(..)).collect();
        if write.is_multiple_of(3) {
            bytes[16..].fill(0xFF);
        }
        bytes
    }

    /// A page is about to hold something else.
    fn begin(&mut self, lba: u32) -> (u64, Vec<u8>) {
        self.next += 1;
        self.pages[lba as usize].push(self.next);
        (self.next, self.bytes(lba, self.next))
    }

    /// It does.
    fn end(&mut self, lba: u32, write: u64) {
        self.pages[lba as usize] = vec![write];
    }

    /// It does not: the write was refused before it began.
    fn take_back(&mut self, lba: u32) {
        self.pages[lba as usize].pop();
    }

    /// Reads all pages, each of which then holds what it holds.
    fn check(&mut self, disk: &mut Disk, context: &str) {
        for lba in 0..self.pages.len() as u32 {
            let mut found = vec![0xA5; self.page_bytes];
            disk.read(Lba(lba), &mut found).unwrap_or_else(|error| panic!("page {lba}: {error}, {context}"));
            let possible = &self.pages[lba as usize];
            let value = possible.iter().copied().find(|&write| self.bytes(lba, write) == found);
            let value = value.unwrap_or_else(|| panic!("page {lba} holds none of {possible:?}, {context}"));
            self.pages[lba as usize] = vec![value];
        }
    }
}

/// The part and what it holds.
#[derive(Clone)]
struct World {
    sim: NandSim,
    expected: Expected,
    config: RealTimeConfig,
    /// The tasks of the session before.
    tasks: Vec<Task>,
}

/// The power failed.
struct Cut;

impl World {
    /// A part in steady use.
    fn new(random: &mut fastrand::Rng, seed: u64) -> Self {
        let spec = test_part(128, [8, 16][random.usize(0..2)], [256, 512][random.usize(0..2)]);
        let part = spec.part;
        let mut sim = NandSim::new(spec);
        sim.reseed(seed);
        sim.mark_random_bad(random.u16(0..4), seed);
        let logical_pages = part.page_count() * random.u32(35..70) / 100;
        let mut expected = Expected::new(logical_pages, part.page_bytes);
        let mut disk = Ftl::format(&mut sim, memory(&part), FtlConfig { logical_pages }).expect("it is formatted");
        for number in 0..3 * logical_pages {
            let lba = if number < logical_pages { number } else { random.u32(0..logical_pages) };
            let (write, bytes) = expected.begin(lba);
            disk.write(Lba(lba), &bytes).expect("there is room");
            expected.end(lba, write);
        }
        loop {
            let config = RealTimeConfig {
                alpha: random.u32(1..4),
                tokens: random.u32(60..240),
                times: TIMES,
                checkpoint_period_us: [20_000, 50_000][random.usize(0..2)],
                scheduling: [Scheduling::EarliestDeadline, Scheduling::RateMonotonic][random.usize(0..2)],
                client: PartClient::NONE,
                failure_budget: 0,
            };
            let Ok(disk) = mount(&mut sim, "a new device") else { panic!("the power is on") };
            if System::start(disk, config).is_ok() {
                return World { sim, expected, config, tasks: Vec::new() };
            }
        }
    }

    /// Mounts after a cut, `cuts` times cut again, and checks everything.
    fn recover(&mut self, cuts: u32, random: &mut fastrand::Rng, context: &str) {
        for _ in 0..cuts {
            self.sim.power_on();
            self.sim.cut_power_after(random.u64(0..12), Tear::draw_on_nand(random));
            drop(mount(&mut self.sim, context));
        }
        self.sim.power_on();
        let Ok(mut disk) = mount(&mut self.sim, context) else { panic!("the power is on, {context}") };
        self.expected.check(&mut disk, context);
    }
}

fn mount<'a>(sim: &'a mut NandSim, context: &str) -> Result<Disk<'a>, Cut> {
    let memory = memory(&sim.spec().part);
    match Ftl::mount(sim, memory) {
        Ok(disk) => Ok(disk),
        Err(MountError::Device(_)) => Err(Cut),
        Err(error) => panic!("{error}, {context}"),
    }
}

/// A session: tasks join, write, trim and leave, beside what has no deadline. The same for the same seed, until the
/// power fails.
struct Session<'a> {
    system: System<'a>,
    expected: &'a mut Expected,
    random: fastrand::Rng,
    now: u64,
    /// Tasks, what they declared, and what they may still write in their period.
    tasks: BTreeMap<usize, (TaskHandle, Task, u32, u64)>,
    joined: usize,
    context: &'a str,
}

impl Session<'_> {
    fn done<T>(&self, result: Result<T, TaskError<norn_flash_sim::NandSimError>>) -> Result<T, Cut> {
        match result {
            Ok(value) => Ok(value),
            Err(TaskError::Ftl(FtlError::Device(_))) => Err(Cut),
            Err(error) => panic!("{error}, {}", self.context),
        }
    }

    fn join(&mut self, task: Task) -> bool {
        self.system.advance(self.now);
        let Ok(handle) = self.system.admit(task) else { return false };
        self.tasks.insert(self.joined, (handle, task, task.writes, self.now + task.period_us));
        self.joined += 1;
        true
    }

    fn join_any(&mut self) {
        let writes = self.random.u32(0..5);
        let period_us = TICK_US * [1, 2, 4, 10][self.random.usize(0..4)];
        let task = Task::new(self.random.u64(0..2_000), 0, writes, period_us, &TIMES);
        self.join(task);
    }

    /// A page for a task, or for what has no deadline. Whether there was a token.
    fn write(&mut self, task: Option<TaskHandle>) -> Result<bool, Cut> {
        let pages = self.expected.pages.len() as u32;
        let lba = if self.random.bool() { self.random.u32(0..pages / 6) } else { self.random.u32(0..pages) };
        let (write, bytes) = self.expected.begin(lba);
        let background = BackgroundTask::new(self.random.u8(0..BackgroundTask::COUNT)).unwrap();
        let written = match task {
            Some(task) => self.system.write(task, Lba(lba), &bytes),
            None => self.system.background_write_as(background, Lba(lba), &bytes),
        };
        if written == Err(TaskError::NoToken) && task.is_none() {
            self.expected.take_back(lba);
            return Ok(false);
        }
        self.done(written)?;
        self.expected.end(lba, write);
        Ok(true)
    }

    fn trim(&mut self, task: TaskHandle) -> Result<(), Cut> {
        let pages = self.expected.pages.len() as u32;
        let lba = self.random.u32(0..pages);
        let count = self.random.u32(1..=4).min(pages - lba);
        (lba..lba + count).for_each(|lba| self.expected.pages[lba as usize].push(0));
        let trimmed = self.system.trim(task, Lba(lba), count);
        self.done(trimmed)?;
        (lba..lba + count).for_each(|lba| self.expected.pages[lba as usize] = vec![0]);
        Ok(())
    }

    fn collect(&mut self) -> Result<(), Cut> {
        loop {
            let stepped = self.system.collector_step();
            if self.done(stepped)?.is_none() {
                return Ok(());
            }
        }
    }

    fn tick(&mut self) -> Result<(), Cut> {
        let end = self.now + TICK_US;
        // Who joins or leaves lets time come to the present: jobs may wait already.
        self.collect()?;
        while self.now < end {
            self.now = self.system.next_release_us().clamp(self.now + 1, end);
            self.system.advance(self.now);
            self.collect()?;
        }
        for number in self.tasks.keys().copied().collect::<Vec<_>>() {
            let (handle, task, mut left, mut end) = self.tasks[&number];
            if end <= self.now {
                (left, end) = (task.writes, end + task.period_us);
            }
            for _ in 0..self.random.u32(0..=left) {
                left -= 1;
                match self.random.u8(0..6) {
                    0 => self.trim(handle)?,
                    _ => drop(self.write(Some(handle))?),
                }
            }
            self.tasks.insert(number, (handle, task, left, end));
        }
        for _ in 0..self.random.u32(0..5) {
            let done = match self.random.u8(0..6) {
                0 => self.system.level_step().map(|_| ()),
                1 => self.system.background_step().map(|_| ()),
                _ => {
                    if !self.write(None)? {
                        let stepped = self.system.background_step();
                        self.done(stepped)?;
                    }
                    Ok(())
                }
            };
            if done != Err(TaskError::NoToken) {
                self.done(done)?;
            }
        }
        if self.random.u8(0..4) == 0 && !self.tasks.is_empty() {
            let number = *self.tasks.keys().nth(self.random.usize(0..self.tasks.len())).unwrap();
            let (handle, task, ..) = self.tasks.remove(&number).unwrap();
            self.system.leave(handle).unwrap_or_else(|error| panic!("{error}, {}", self.context));
            if self.random.bool() {
                self.join(task);
            }
        }
        if self.random.u8(0..3) == 0 {
            self.join_any();
        }
        Ok(())
    }
}

/// Runs a session on a world. How many tasks joined and blocks collectors recycled if it was not cut.
fn run_session(world: &mut World, seed: u64, ticks: u32, context: &str) -> Result<(usize, u64), Cut> {
    let World { sim, expected, config, tasks: before } = world;
    let system = match System::start(mount(sim, context)?, *config) {
        Ok(system) => system,
        Err(StartError::Ftl(FtlError::Device(_))) => return Err(Cut),
        Err(error) => panic!("{error}, {context}"),
    };
    let random = fastrand::Rng::with_seed(seed);
    let mut session = Session { system, expected, random, now: 0, tasks: BTreeMap::new(), joined: 0, context };
    for task in std::mem::take(before) {
        assert!(session.join(task), "{task:?} was admitted before, {context}");
    }
    (0..5).for_each(|_| session.join_any());
    let mut done = Ok(());
    for _ in 0..ticks {
        done = session.tick();
        if done.is_err() {
            break;
        }
    }
    let Session { mut system, tasks, joined, .. } = session;
    if done.is_ok() {
        system.device_mut().freeze_counters();
        assert_eq!(system.audit().unwrap(), None, "{context}");
        system.device_mut().thaw_counters();
    }
    let counters = system.counters();
    assert_eq!((counters.token_waits, counters.misses), (0, 0), "{context}");
    assert_eq!(system.guarantee(), Guarantee::Holds, "{context}");
    *before = tasks.into_values().map(|(_, task, ..)| task).collect();
    assert_eq!(system.ftl().device().refusals(), 0, "the contract is kept, {context}");
    done.map(|()| (joined, counters.recycled))
}

#[derive(Debug, Default)]
struct Sums {
    worlds: u32,
    sessions: u32,
    cuts: u32,
    cut_mounts: u32,
    cut_formats: u32,
    old: u32,
    none: u32,
    /// In sessions that were not cut.
    tasks: usize,
    recycled: u64,
}

/// A session on a part in use, cut at every `every`th of its operations; then the next session.
fn live(run: &Run, every: usize, sums: &mut Sums) {
    let mut random = run.random();
    let mut world = World::new(&mut random, run.seed);
    sums.worlds += 1;
    for number in 0..3 {
        let (seed, ticks) = (random.u64(..), random.u32(4..24));
        let mut tears = random.fork();
        for cut in (random.u64(0..every as u64)..).step_by(every) {
            let mut torn = world.clone();
            let tear = Tear::draw_on_nand(&mut tears);
            torn.sim.cut_power_after(cut, tear);
            let context = format!("session {number} cut at {cut} by {tear:?}, replay: {}", run.replay());
            if run_session(&mut torn, seed, ticks, &context).is_ok() {
                break;
            }
            sums.cuts += 1;
            let cuts = tears.u32(0..3);
            sums.cut_mounts += cuts;
            torn.recover(cuts, &mut tears, &context);
            let context = format!("after {context}");
            torn.sim.power_on();
            assert!(run_session(&mut torn, seed + 1, 4, &context).is_ok(), "the power is on, {context}");
            torn.sim.power_on();
            torn.recover(0, &mut tears, &context);
            if cut % 16 == 0 {
                format_cut(&mut torn, &mut tears, sums, &context);
            }
        }
        let context = format!("session {number}, replay: {}", run.replay());
        let done = run_session(&mut world, seed, ticks, &context);
        let Ok((tasks, recycled)) = done else { panic!("the power is on, {context}") };
        (sums.tasks, sums.recycled) = (sums.tasks + tasks, sums.recycled + recycled);
        world.sim.power_on();
        sums.sessions += 1;
    }
}

/// Formats are cut, one after the other: the part holds what it held, or a new device, or none.
fn format_cut(world: &mut World, random: &mut fastrand::Rng, sums: &mut Sums, context: &str) {
    let part = world.sim.spec().part;
    let logical_pages = world.expected.pages.len() as u32;
    let mut new = Expected::new(logical_pages, part.page_bytes);
    for _ in 0..3 {
        world.sim.power_on();
        let cut = if random.bool() { random.u64(0..3) } else { random.u64(0..140) };
        world.sim.cut_power_after(cut, Tear::draw_on_nand(random));
        drop(Ftl::format(&mut world.sim, memory(&part), FtlConfig { logical_pages }));
        world.sim.power_on();
        sums.cut_formats += 1;
        match Ftl::mount(&mut world.sim, memory(&part)) {
            Ok(mut disk) => {
                let is_new = (0..logical_pages).all(|lba| !disk.is_mapped(Lba(lba)).unwrap());
                sums.old += u32::from(!is_new);
                if is_new { &mut new } else { &mut world.expected }.check(&mut disk, context);
            }
            Err(MountError::NotFormatted) => {
                sums.none += 1;
            }
            Err(error) => panic!("{error} after a cut format, {context}"),
        }
    }
    world.sim.power_on();
    let mut disk = Ftl::format(&mut world.sim, memory(&part), FtlConfig { logical_pages }).expect("the power is on");
    new.check(&mut disk, context);
}

#[test]
fn sessions_of_tasks_are_survived_wherever_they_are_cut() {
    let mut sums = Sums::default();
    for run in seeds(0..12, "-p norn-nand-ftl --test suite wherever") {
        live(&run, 7, &mut sums);
    }
    eprintln!("{sums:?}");
    assert!(sums.sessions == 36 && sums.tasks > 100 && sums.recycled > 50, "{sums:?}");
    assert!(sums.cuts > 100 && sums.cut_formats > 10 && sums.old > 0 && sums.none > 0, "{sums:?}");
}

#[test]
#[ignore = "minutes"]
fn thousands_of_cuts_are_survived() {
    let mut sums = Sums::default();
    for run in seeds(1_000..1_300, "-p norn-nand-ftl --test suite outside_tasks::thousands -- --ignored") {
        live(&run, 1, &mut sums);
    }
    eprintln!("{sums:?}");
}
