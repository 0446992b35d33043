//! The block device with tasks that have deadlines: admission, time, writes on behalf of a task, collectors.

use core::ffi::{c_int, c_void};

use norn_nand_ftl::{
    AdmissionError, BackgroundStep, Guarantee, Lba, LevelStep, OperationTimes, PartClient, RealTime, RealTimeConfig,
    Scheduling, StartError, Task, TaskError, TaskHandle,
};

use crate::check::norn_report;
use crate::error::norn_error::*;
use crate::error::{Failure, norn_failure};
use crate::ftl::{Given, info_of, mounted, norn_ftl_info, reported, stepped};
use crate::handle::{self, Handle, Opaque, on};
use crate::memory::{self, Bytes, MARK_BYTES, Out};
use crate::nand::{NandDevice, NandFailure, nand_part_of, norn_nand};

/// Tasks that can be admitted at a time.
pub const NORN_TASKS_MAX: usize = 7;
/// A slot more: the checkpoint is a task of the device's own.
const SLOTS: usize = NORN_TASKS_MAX + 1;

/// For `scheduling`: the job with the earliest deadline runs first. Admits the most.
pub const NORN_EARLIEST_DEADLINE: u32 = 0;
/// For `scheduling`: the job with the shortest period runs first, as with fixed priorities.
pub const NORN_RATE_MONOTONIC: u32 = 1;

/// Pointers that fit into `struct norn_realtime`, beside its words.
pub const NORN_REALTIME_POINTERS: usize = 20;
/// Words that fit into `struct norn_realtime`, beside its pointers.
pub const NORN_REALTIME_WORDS: usize = 232;

/// The handle of a block device with deadlines: caller-provided memory for its state; the map is separate. Zero it
/// before the first start, as a static variable is. Do not move or copy it while it is started. It has 1,936 bytes
/// where pointers have 32 bits.
#[repr(C)]
pub struct norn_realtime {
    /// The library's.
    pub opaque_pointers: [*mut c_void; NORN_REALTIME_POINTERS],
    /// The library's.
    pub opaque_words: [u64; NORN_REALTIME_WORDS],
}

/// How long the part's operations take at most, in microseconds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_operation_times {
    /// Reading a page, its codes included.
    pub read_us: u64,
    /// Writing a page.
    pub write_us: u64,
    /// Erasing a block.
    pub erase_us: u64,
    /// What a collector computes in a period.
    pub collector_cpu_us: u64,
}

/// Who else loads pages of the part, such as a pager: up to `loads` in any `period_us`, each of up to `load_us`. All 0:
/// nobody.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_part_client {
    /// How long a load takes at most.
    pub load_us: u64,
    /// Length of a window.
    pub period_us: u64,
    /// Loads that begin in a window at most.
    pub loads: u32,
}

/// A periodic task. Its deadline is its next release.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_task {
    /// What it computes, reads and writes in a period at most, in microseconds: see `norn_task_cost_us`.
    pub cost_us: u64,
    /// Its period, in microseconds.
    pub period_us: u64,
    /// Pages that it writes in a period at most; each trim counts as one.
    pub writes: u32,
}

/// Names a task. 0 names none.
pub type norn_task_id = u32;

/// A job of a collector that waits or runs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_job {
    /// When it has to be done.
    pub deadline_us: u64,
    /// The collector's period, for fixed priorities.
    pub period_us: u64,
    /// The task whose collector it is; 0 for the checkpoint's.
    pub task: norn_task_id,
}

/// What a block device with deadlines is started with. The structure is copied.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_realtime_config {
    /// The part, which has to be formatted by `norn_ftl_format`.
    pub nand: *const norn_nand,
    /// Memory as of `struct norn_ftl_config`.
    pub memory: *mut c_void,
    /// Its bytes.
    pub memory_bytes: usize,
    /// How long operations take at most.
    pub times: norn_operation_times,
    /// Period of the checkpoint, which may write a page in each: the shorter, the more can tasks write.
    pub checkpoint_period_us: u64,
    /// Who else uses the part.
    pub client: norn_part_client,
    /// Pages that each recycling of a block yields at least, from 1 to the pages of a block. The larger, the less time
    /// do collectors take, and the fewer logical pages can the device have.
    pub alpha: u32,
    /// Tokens, each good for programming a page: as many as `norn_realtime_tokens` says, and more for tasks to come.
    pub tokens: u32,
    /// Blocks that may fail without harm to a deadline.
    pub failure_budget: u32,
    /// `NORN_EARLIEST_DEADLINE` or `NORN_RATE_MONOTONIC`.
    pub scheduling: u32,
}

/// What a device with deadlines has done, and whether it keeps what it has admitted.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_realtime_info {
    /// The block device.
    pub ftl: norn_ftl_info,
    /// Jobs of collectors that were not done at their next release.
    pub misses: u64,
    /// Writes of tasks, and pages of the checkpoint, that found no token.
    pub token_waits: u64,
    /// Blocks that collectors have recycled.
    pub recycled: u64,
    /// All tokens.
    pub tokens: u32,
    /// Those for tasks to come.
    pub tokens_free: u32,
    /// 1 while what was admitted is guaranteed; 0 after more blocks have failed than the budget has.
    pub is_guaranteed: u32,
}

type System = RealTime<NandDevice, Bytes, SLOTS>;

impl Opaque for norn_realtime {
    type Engine = System;
}

const _: () = assert!(norn_realtime::FITS);

impl handle::Engine for System {
    fn corruption(&self) -> Option<(u32, &'static str)> {
        None
    }
}

impl From<AdmissionError> for Failure {
    #[inline(never)]
    fn from(error: AdmissionError) -> Failure {
        let bound = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        match error {
            AdmissionError::Task(_) => NORN_ERROR_TASK.into(),
            AdmissionError::Collector { .. } => NORN_ERROR_COLLECTOR.into(),
            AdmissionError::Slots => Failure::limited(NORN_ERROR_TASKS, NORN_TASKS_MAX as u32),
            AdmissionError::Tokens { needed, .. } => Failure::limited(NORN_ERROR_TOKENS, bound(needed)),
            AdmissionError::Recycling { limit, .. } => Failure::limited(NORN_ERROR_RECYCLING, bound(limit)),
            AdmissionError::Checkpoint { .. } => NORN_ERROR_CHECKPOINT.into(),
            AdmissionError::Utilization { .. } | AdmissionError::Demand { .. } => NORN_ERROR_UTILIZATION.into(),
        }
    }
}

impl From<TaskError<NandFailure>> for Failure {
    #[inline(never)]
    fn from(error: TaskError<NandFailure>) -> Failure {
        match error {
            TaskError::NoSuchTask(_) => NORN_ERROR_NO_TASK.into(),
            TaskError::NoToken => NORN_ERROR_NO_TOKEN.into(),
            TaskError::Ftl(error) => error.into(),
        }
    }
}

/// Why a device does not start.
fn start_failure(error: StartError<NandFailure>, pages_per_block: u16) -> Failure {
    match error {
        StartError::Alpha(_) => Failure::limited(NORN_ERROR_RANGE, pages_per_block.into()),
        StartError::Checkpoint(error) => error.into(),
        StartError::Tokens { free, .. } => Failure::limited(NORN_ERROR_FULL, free),
        StartError::Ftl(error) => error.into(),
    }
}

impl norn_operation_times {
    fn read(&self) -> OperationTimes {
        OperationTimes {
            read_us: self.read_us,
            write_us: self.write_us,
            erase_us: self.erase_us,
            collector_cpu_us: self.collector_cpu_us,
        }
    }
}

impl norn_realtime_config {
    fn read(&self) -> Result<RealTimeConfig, Failure> {
        let scheduling = match self.scheduling {
            NORN_EARLIEST_DEADLINE => Scheduling::EarliestDeadline,
            NORN_RATE_MONOTONIC => Scheduling::RateMonotonic,
            _ => return Err(Failure::limited(NORN_ERROR_RANGE, 2)),
        };
        let norn_part_client { load_us, loads, period_us } = self.client;
        Ok(RealTimeConfig {
            alpha: self.alpha,
            tokens: self.tokens,
            times: self.times.read(),
            checkpoint_period_us: self.checkpoint_period_us,
            scheduling,
            client: PartClient { load_us, loads, period_us: period_us.max(1) },
            failure_budget: self.failure_budget,
        })
    }
}

impl norn_task {
    fn read(&self) -> Task {
        Task { cost_us: self.cost_us, period_us: self.period_us, writes: self.writes }
    }
}

/// The task of a number, which is not the checkpoint's own.
fn numbered(task: norn_task_id) -> Result<TaskHandle, Failure> {
    if task == 0 { Err(NORN_ERROR_NO_TASK.into()) } else { Ok(TaskHandle::from_bits(task)) }
}

/// What a task costs in a period in which it computes for `cpu_us`, and reads and writes this many pages. The largest
/// number if it is more than that, or if `times` is NULL: then the task is not admitted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_task_cost_us(
    cpu_us: u64,
    reads: u32,
    writes: u32,
    times: *const norn_operation_times,
) -> u64 {
    // SAFETY: the header's rules on pointers.
    match unsafe { memory::value(times) } {
        Ok(times) => Task::new(cpu_us, reads, writes, 1, &times.read()).cost_us,
        Err(_) => u64::MAX,
    }
}

/// The tokens that a set of tasks takes, with those of the checkpoint and of what has no deadline. `tokens` of the
/// configuration does not matter, nor do its memory and the part's functions.
///
/// Cost: RAM only.
///
/// Errors: `NORN_ERROR_PART`; `NORN_ERROR_COLLECTOR` if a task can have no collector.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_tokens(
    config: *const norn_realtime_config,
    tasks: *const norn_task,
    task_count: u32,
    tokens: *mut u32,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    let wanted = unsafe { tokens_for(config, tasks, task_count) };
    // SAFETY: the same.
    let told = wanted.and_then(|wanted| Ok((unsafe { Out::new(tokens) }?, wanted)));
    match told {
        Ok((tokens, wanted)) => {
            tokens.set(wanted);
            NORN_OK as c_int
        }
        Err(failure) => failure.number(),
    }
}

/// # Safety
/// The header's rules on pointers.
unsafe fn tokens_for(
    config: *const norn_realtime_config,
    tasks: *const norn_task,
    task_count: u32,
) -> Result<u32, Failure> {
    // SAFETY: the caller's promise.
    let (config, tasks) = unsafe { (memory::value(config)?, memory::values(tasks, task_count)?) };
    // SAFETY: the same.
    let part = nand_part_of(unsafe { memory::value(config.nand) }?).ok_or(NORN_ERROR_PART)?;
    let config = config.read()?;
    // Each set has what goes beside tasks, and π for what has no deadline.
    let none = config.tokens_for(&part, &[]).ok_or(NORN_ERROR_COLLECTOR)?;
    tasks.iter().try_fold(none, |sum, task| {
        let with = config.tokens_for(&part, &[task.read()]).ok_or(NORN_ERROR_COLLECTOR)?;
        sum.checked_add(with - none).ok_or(NORN_ERROR_COLLECTOR.into())
    })
}

/// Mounts the device that is on the part, and starts it at time 0: recycles blocks until there are as many free pages
/// as tokens.
///
/// A scheduler of the caller's then runs it, in steps of one flash operation each, by earliest deadline or by fixed
/// priorities:
/// 1. `norn_realtime_advance` to the present, at least when a task is released;
/// 2. ask `norn_realtime_next_job` for the collectors' first job. If no task that waits has an earlier deadline, or a
///    shorter period, take a `norn_realtime_collector_step`; else an operation of the task;
/// 3. with nothing else to do, `norn_realtime_background_step`, and writes that have no deadline.
///
/// Cost: as `norn_ftl_mount`, and up to `tokens` / `alpha` recyclings.
///
/// Errors: those of `norn_ftl_mount`; `NORN_ERROR_RANGE` of `alpha` or `scheduling`; `NORN_ERROR_FULL` if there are not
/// so many free pages to be had as tokens; those of `norn_realtime_admit`, for the checkpoint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_start(
    realtime: *mut norn_realtime,
    config: *const norn_realtime_config,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    let handle = match unsafe { Handle::unmounted(realtime) } {
        Ok(handle) => handle,
        Err(number) => return number,
    };
    // SAFETY: the header's rules on pointers.
    match unsafe { parts_of(handle, config) } {
        // SAFETY: the mark and the bytes are from one call of `Bytes::new`.
        Ok((given, config)) => unsafe { handle.mount(given.mark, || started(given, config), |_| Ok(())) },
        Err(failure) => handle.release(&failure.shown()),
    }
}

/// # Safety
/// The header's rules on pointers.
unsafe fn parts_of(
    handle: Handle<norn_realtime>,
    config: *const norn_realtime_config,
) -> Result<(Given, RealTimeConfig), Failure> {
    // SAFETY: the caller's promise.
    let config = unsafe { memory::value(config) }?;
    let memory = (config.memory, config.memory_bytes);
    // SAFETY: the same.
    let given = unsafe { Given::new(handle, config.nand, memory, MARK_BYTES) }?;
    Ok((given, config.read()?))
}

fn started(given: Given, config: RealTimeConfig) -> Result<System, norn_failure> {
    let pages_per_block = given.part.pages_per_block;
    RealTime::start(mounted(given)?, config).map_err(|error| start_failure(error, pages_per_block).shown())
}

/// Stops, and unmounts the device. It is as after a loss of power otherwise: nothing is written, since all that was
/// acknowledged is durable.
///
/// Errors: those of the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_stop(realtime: *mut norn_realtime) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { handle::unmount(realtime, |_| Ok(())) }
}

/// Admits a task from now on, or says why not. Its first period begins now. A task that writes no more than it declared
/// has a token for each page, and never waits for a collection.
///
/// Cost: RAM only, for each pair of tasks.
///
/// Errors: `NORN_ERROR_TASK`, `NORN_ERROR_COLLECTOR`, `NORN_ERROR_TASKS`, `NORN_ERROR_TOKENS`, `NORN_ERROR_RECYCLING`,
/// `NORN_ERROR_CHECKPOINT`, `NORN_ERROR_UTILIZATION`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_admit(
    realtime: *mut norn_realtime,
    task: *const norn_task,
    id: *mut norn_task_id,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(realtime, |system| {
            let (task, id) = (memory::value(task)?, Out::new(id)?);
            id.set(system.admit(task.read())?.bits());
            Ok(())
        })
    }
}

/// Lets a task go. Its share of time and tokens returns when the period ends that it is in, or that of its collector.
///
/// Cost: RAM only.
///
/// Errors: `NORN_ERROR_NO_TASK`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_leave(realtime: *mut norn_realtime, id: norn_task_id) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(realtime, |system| Ok(system.leave(numbered(id)?)?)) }
}

/// Lets time pass to `now_us` since the start: releases what is due. Call it at each release of a task, before the task
/// writes, and before asking for a job. A time before the last one changes nothing.
///
/// Cost: RAM only, for each task.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_advance(realtime: *mut norn_realtime, now_us: u64) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(realtime, |system| {
            system.advance(now_us);
            Ok(())
        })
    }
}

/// The next time at which a collector's job or a period begins: until then there is nothing to do.
///
/// Cost: RAM only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_next_release(realtime: *mut norn_realtime, release_us: *mut u64) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(realtime, |system| {
            let release_us = Out::new(release_us)?;
            release_us.set(system.next_release_us());
            Ok(())
        })
    }
}

/// The collectors' job that comes first. Returns 1, or 0 if there is none, and `job` is as it was.
///
/// Cost: RAM only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_next_job(realtime: *mut norn_realtime, job: *mut norn_job) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        stepped(realtime, |system| {
            let job = Out::new(job)?;
            let Some(first) = system.next_job() else { return Ok(false) };
            job.set(norn_job { deadline_us: first.deadline_us, period_us: first.period_us, task: first.task.bits() });
            Ok(true)
        })
    }
}

/// One step of the collectors' job that comes first. Returns 1, or 0 if there is none.
///
/// Cost: one copy, one erase or nothing; one program more if a page of the checkpoint is due.
///
/// Errors: the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_collector_step(realtime: *mut norn_realtime) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { stepped(realtime, |system| Ok(system.collector_step()?.is_some())) }
}

/// Reads pages, for anybody: as `norn_ftl_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_read(
    realtime: *mut norn_realtime,
    page: u32,
    buffer: *mut c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(realtime, |system| Ok(system.read(Lba(page), memory::lent_mut(buffer, bytes)?)?)) }
}

/// Writes one page for a task, at one of its tokens. It is durable when the call returns.
///
/// Cost: one program; two if a page of the checkpoint is due, or a block fails.
///
/// Errors: `NORN_ERROR_NO_TASK`, `NORN_ERROR_NO_TOKEN`, `NORN_ERROR_RANGE`, `NORN_ERROR_WIDTH`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_write(
    realtime: *mut norn_realtime,
    id: norn_task_id,
    page: u32,
    data: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(realtime, |system| Ok(system.write(numbered(id)?, Lba(page), memory::lent(data, bytes)?)?)) }
}

/// Forgets pages for a task, at one of its tokens. That is durable when the call returns.
///
/// Cost: one program, two if a page of the checkpoint is due; RAM for each page.
///
/// Errors: as `norn_realtime_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_trim(
    realtime: *mut norn_realtime,
    id: norn_task_id,
    page: u32,
    page_count: u32,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(realtime, |system| Ok(system.trim(numbered(id)?, Lba(page), page_count)?)) }
}

/// Writes one page for whom has no deadline.
///
/// Cost: as `norn_realtime_write`.
///
/// Errors: `NORN_ERROR_NO_TOKEN` until `norn_realtime_background_step` has made some; `NORN_ERROR_RANGE`,
/// `NORN_ERROR_WIDTH`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_background_write(
    realtime: *mut norn_realtime,
    page: u32,
    data: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(realtime, |system| Ok(system.background_write(Lba(page), memory::lent(data, bytes)?)?)) }
}

/// One step towards tokens for what has no deadline. Returns 1, or 0 if there are enough.
///
/// Cost: as `norn_realtime_collector_step`.
///
/// Errors: `NORN_ERROR_NO_TOKEN` if blocks failed, and the reserve is empty, too; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_background_step(realtime: *mut norn_realtime) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { stepped(realtime, |system| Ok(system.background_step()? != BackgroundStep::Ready)) }
}

/// Levels wear, at tokens of what has no deadline: as `norn_ftl_level_step`.
///
/// Errors: as `norn_realtime_background_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_level_step(realtime: *mut norn_realtime) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { stepped(realtime, |system| Ok(system.level_step()? != LevelStep::Idle)) }
}

/// Tells what the device has done.
///
/// Cost: RAM only, for each block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_tell(realtime: *mut norn_realtime, info: *mut norn_realtime_info) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(realtime, |system| {
            let info = Out::new(info)?;
            info.set(told(system));
            Ok(())
        })
    }
}

fn told(system: &System) -> norn_realtime_info {
    let counters = system.counters();
    norn_realtime_info {
        ftl: info_of(system.ftl()),
        misses: counters.misses,
        token_waits: counters.token_waits,
        recycled: counters.recycled,
        tokens: system.tokens(),
        tokens_free: system.pool().free,
        is_guaranteed: u32::from(system.guarantee() == Guarantee::Holds),
    }
}

/// Checks every invariant of the block device: as `norn_ftl_check`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_check(
    realtime: *mut norn_realtime,
    report: norn_report,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(realtime, |system| {
            let part = norn_flash::Nand::part(system.ftl().device());
            reported(system.audit()?, &part, report, context)
        })
    }
}

/// What is known of the last call that failed on this handle: as `norn_heap_failure`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_realtime_failure(realtime: *const norn_realtime, failure: *mut norn_failure) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { handle::tell_failure(realtime, failure) }
}
