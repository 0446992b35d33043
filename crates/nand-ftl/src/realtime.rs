//! Real-time garbage collection: tasks with deadlines, their collectors, and the tokens that keep them out of each
//! other's way.
//!
//! The checkpoint is a task of the system's own, with one write a period and a collector: it appears in (8) and (13)
//! like any other. It has no jobs: whoever finds the journal full writes its page, at its token. (14) charges that to
//! those who fill the journal.
//!
//! Invariant, asserted after every operation: ρ ≤ Φ ([`tokens`](crate::Pool)). While blocks fail beyond the budget, it
//! may not hold together with the guarantee: then [`guarantee`](RealTime::guarantee) says so.

use norn_flash::{Block, Nand, NandPart};

use crate::admission::AdmissionError;
use crate::audit::Violation;
use crate::client::PartClient;
use crate::demand::Scheduling;
use crate::error::FtlError;
use crate::ftl::Ftl;
use crate::layout::Lba;
use crate::recent::Recent;
use crate::recycle::Recycling;
use crate::shares::Shares;
use crate::slots::{Slots, TaskHandle};
use crate::task::{Collector, OperationTimes, Task};
use crate::tokens::{Pool, TaskTokens, take};

/// How the system is set up (paper, section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealTimeConfig {
    /// α: pages that each recycling yields at least.
    pub alpha: u32,
    /// ρ_init: tokens for tasks, for the background and for the checkpoint.
    pub tokens: u32,
    /// How long operations take at most.
    pub times: OperationTimes,
    /// Period of the checkpoint's task, which is supplied with a page in each. The shorter it is, the more can tasks
    /// and collectors program.
    pub checkpoint_period_us: u64,
    /// Which job runs first, and so the test that admits tasks.
    pub scheduling: Scheduling,
    /// Who else uses the part.
    pub client: PartClient,
    /// Blocks that may fail without harm, and pages that collectors or the wear leveler may find that cannot be read,
    /// which takes their blocks out of use: tokens are held for the pages that each takes away, and time for one
    /// operation that is repeated, or for 16 loads of such a page. A client that reads one takes that time, too: each
    /// such read counts.
    pub failure_budget: u32,
}

impl RealTimeConfig {
    /// ρ_init that a set of tasks takes: (13) for each, and for the checkpoint's, and π for what has no deadline.
    /// `None` if a task can have no collector. What `tokens` says does not matter. More are for tasks to come.
    pub fn tokens_for(&self, part: &NandPart, tasks: &[Task]) -> Option<u32> {
        let pages = u32::from(part.pages_per_block);
        let writing = tasks.iter().filter(|task| task.writes > 0);
        writing.chain([&self.checkpoint_task()]).try_fold(pages, |tokens, task| {
            let collector = Collector::of(task, self.alpha, pages, &self.times)?;
            tokens.checked_add(collector.task_tokens)?.checked_add(collector.collector_tokens)
        })
    }

    /// The checkpoint's own task.
    fn checkpoint_task(&self) -> Task {
        Task { cost_us: 0, period_us: self.checkpoint_period_us, writes: 1 }
    }
}

/// A job of a collector that waits or runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemJob {
    /// The task whose collector it is; the checkpoint's has the handle [`RealTime::checkpoint_task`].
    pub task: TaskHandle,
    /// When it has to be done.
    pub deadline_us: u64,
    /// p_G, for fixed priorities.
    pub period_us: u64,
}

/// What a step of a system job did. Its cost in flash operations follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectorStep {
    /// It found α free tokens: no flash operation.
    Gift,
    /// It copied a page: one load and one program.
    Copied,
    /// It erased a block, which ends the job: one erase.
    Erased,
    /// A block was given up, which ends the job: one operation that failed. The reserve pays.
    Retired,
}

/// What a step for tasks without deadlines did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackgroundStep {
    /// There are tokens enough.
    Ready,
    /// It took free tokens: no flash operation.
    Gift,
    /// It copied a page.
    Copied,
    /// It erased a block.
    Erased,
    /// A block was given up.
    Retired,
    /// It wrote a page of the checkpoint anew, of which a page could not be read.
    Checkpoint,
}

/// Whether what was admitted is still guaranteed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// It is.
    Holds,
    /// Blocks failed, and with those that are left the equations do not hold any more. Tasks continue; they may have to
    /// wait for tokens.
    Lost(AdmissionError),
    /// Blocks failed, and this number of tokens is not backed by pages.
    Overdrawn(u32),
}

/// Why an operation of a task failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskError<E> {
    /// There is no such task any more.
    NoSuchTask(TaskHandle),
    /// The task has no token left in its meta-period: it writes more than it declared, or the guarantee was lost.
    NoToken,
    /// The block device could not.
    Ftl(FtlError<E>),
}

impl<E> From<FtlError<E>> for TaskError<E> {
    fn from(error: FtlError<E>) -> Self {
        TaskError::Ftl(error)
    }
}

impl<E: core::fmt::Debug> core::fmt::Display for TaskError<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            TaskError::NoSuchTask(handle) => write!(f, "no task has {handle:?}"),
            TaskError::NoToken => f.write_str("no token is left"),
            TaskError::Ftl(error) => error.fmt(f),
        }
    }
}

impl<E: core::fmt::Debug> core::error::Error for TaskError<E> {}

/// Why the system does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError<E> {
    /// α is not between 1 and π.
    Alpha(u32),
    /// The checkpoint's task is not admitted: α, ρ_init, its period and the part's use do not go together.
    Checkpoint(AdmissionError),
    /// There are not as many free pages to be had as tokens, or not by so many recyclings.
    Tokens {
        /// ρ_init, with the reserve.
        wanted: u32,
        /// Φ, or what it can be at most.
        free: u32,
    },
    /// The block device could not.
    Ftl(FtlError<E>),
}

impl<E: core::fmt::Debug> core::fmt::Display for StartError<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            StartError::Alpha(alpha) => write!(f, "α is {alpha}, and has to be from 1 to the pages of a block"),
            StartError::Checkpoint(error) => write!(f, "the checkpoint is not admitted: {error}"),
            StartError::Tokens { wanted, free } => write!(
                f,
                "{wanted} tokens requested, with the reserve; {free} pages can be free: ask for fewer, or format to \
                 fewer logical pages"
            ),
            StartError::Ftl(error) => error.fmt(f),
        }
    }
}

impl<E: core::fmt::Debug> core::error::Error for StartError<E> {}

/// Recycles blocks with α dead pages, and more than what their copies take, until `wanted` pages are free. Cost: as
/// many recyclings as α is in these, at most.
fn make_free<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
    ftl: &mut Ftl<D, M>,
    wanted: u64,
    alpha: u32,
) -> Result<(), StartError<D::Error>> {
    let counts = ftl.page_counts();
    let refused = |free| StartError::Tokens { wanted: u32::try_from(wanted).unwrap_or(u32::MAX), free };
    if wanted > u64::from(counts.total - counts.live) {
        return Err(refused(counts.total - counts.live));
    }
    let dead = ftl.layout().yield_min().max(alpha as u16);
    for _ in 0..wanted.div_ceil(u64::from(alpha)) {
        if u64::from(ftl.free_pages()) >= wanted {
            break;
        }
        match ftl.recycle_one(dead) {
            Err(FtlError::NoSpace) => break,
            recycled => recycled.map_err(StartError::Ftl)?,
        }
    }
    if u64::from(ftl.free_pages()) < wanted { Err(refused(ftl.free_pages())) } else { Ok(()) }
}

/// What the system has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RealTimeCounters {
    /// Periods of collectors that found tokens.
    pub gifts: u64,
    /// Blocks that collectors recycled.
    pub recycled: u64,
    /// Fewest dead pages of such a block; 0 before the first.
    pub yield_min: u32,
    /// Blocks recycled for tasks without deadlines.
    pub background_recycled: u64,
    /// Writes of tasks, and pages of the checkpoint for them, that found no token.
    pub token_waits: u64,
    /// System jobs that were not done at their next release.
    pub misses: u64,
}

/// A block device with at most `SLOTS − 1` tasks at a time, the checkpoint being one of its own. RAM: some 160 bytes a
/// slot beside the FTL's.
///
/// # How it is run
/// [`start`](Self::start) it with [as many tokens as the tasks take](RealTimeConfig::tokens_for), and
/// [`admit`](Self::admit) the tasks. Then a scheduler of the caller's runs it, by earliest deadline or by fixed
/// priorities ([`Scheduling`](crate::Scheduling)), in steps of one flash operation each:
/// 1. [`advance`](Self::advance) to the present, at least when a task is released: collectors are released, tasks give
///    up surplus tokens;
/// 2. ask [`next_job`](Self::next_job) for the collectors' earliest deadline, or their shortest period. If none of the
///    tasks that wait has an earlier one, or a shorter, take a [`collector_step`](Self::collector_step), else an
///    operation of the task: [`write`](Self::write), [`read`](Self::read), [`trim`](Self::trim);
/// 3. with nothing else to do: [`background_write`](Self::background_write),
///    [`background_step`](Self::background_step), [`level_step`](Self::level_step).
///
/// [`next_release_us`](Self::next_release_us) says how long it has nothing to do. The crate's page has an example.
///
/// A collector's period (paper, Figure 5): if Φ−ρ ≥ α, take α tokens from the system; else recycle a block, at a token
/// a copy, for π tokens. Then give α to the task, keep π−α, give up the rest.
///
/// A task that writes no more than it declared has a token for each page. [`guarantee`](Self::guarantee) says whether
/// that still holds after blocks failed.
#[derive(Clone, Debug)]
pub struct RealTime<D, M, const SLOTS: usize> {
    pub(crate) ftl: Ftl<D, M>,
    pub(crate) config: RealTimeConfig,
    pub(crate) pool: Pool,
    pub(crate) slots: Slots<SLOTS>,
    pub(crate) background: Option<Recycling>,
    /// Pages of the checkpoint that were paid for.
    checkpoint_pages: u64,
    pub(crate) guarantee: Guarantee,
    pub(crate) counters: RealTimeCounters,
    pub(crate) now_us: u64,
    good_blocks: u16,
    pub(crate) recent: Recent,
    pub(crate) shares: Shares,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>, const SLOTS: usize> RealTime<D, M, SLOTS> {
    /// Starts on a block device, at time 0: recycles blocks with α dead pages until there are as many free pages as
    /// tokens, and admits the checkpoint. Cost: at most ρ_init / α recyclings, and those of the reserve; then it is
    /// refused.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(mut ftl: Ftl<D, M>, config: RealTimeConfig) -> Result<Self, StartError<D::Error>> {
        let pages = u32::from(ftl.pages_per_block());
        if config.alpha == 0 || config.alpha > pages {
            return Err(StartError::Alpha(config.alpha));
        }
        // No erase waits for a page of the checkpoint from now on: trims of tasks are written at once.
        ftl.flush().map_err(StartError::Ftl)?;
        let reserve = u64::from(ftl.log().reserve()) + u64::from(config.failure_budget);
        let wanted = u64::from(config.tokens) + reserve * u64::from(pages);
        make_free(&mut ftl, wanted, config.alpha)?;
        let needed = u64::from(pages);
        let free = config
            .tokens
            .checked_sub(pages)
            .ok_or(StartError::Checkpoint(AdmissionError::Tokens { needed, free: u64::from(config.tokens) }))?;
        let mut system = RealTime {
            pool: Pool { free, background: pages, reserve: reserve as u32 * pages, journal: 0 },
            config,
            slots: Slots::new(),
            background: None,
            checkpoint_pages: ftl.counters().chunks,
            guarantee: Guarantee::Holds,
            counters: RealTimeCounters::default(),
            now_us: 0,
            good_blocks: ftl.good_blocks(),
            recent: Recent::default(),
            shares: Shares::default(),
            ftl,
        };
        let handle = system.admit(config.checkpoint_task()).map_err(StartError::Checkpoint)?;
        debug_assert_eq!(handle, system.checkpoint_task());
        Ok(system)
    }

    /// The checkpoint's own task.
    pub fn checkpoint_task(&self) -> TaskHandle {
        self.slots.checkpoint()
    }

    /// The block device below.
    pub fn ftl(&self) -> &Ftl<D, M> {
        &self.ftl
    }

    /// The part below, for a simulated one's settings.
    pub fn device_mut(&mut self) -> &mut D {
        self.ftl.device_mut()
    }

    /// Gives the block device back. What is on flash needs no collector.
    pub fn into_ftl(mut self) -> Ftl<D, M> {
        let background = self.background.take();
        for recycling in self.slots.recyclings().chain(background) {
            self.ftl.stop_recycling(recycling);
        }
        self.ftl
    }

    /// What it has done.
    pub fn counters(&self) -> RealTimeCounters {
        self.counters
    }

    /// Tokens that belong to no task.
    pub fn pool(&self) -> Pool {
        self.pool
    }

    /// Tokens of a task; `None` if it has left.
    pub fn task_tokens(&self, task: TaskHandle) -> Option<TaskTokens> {
        self.slots.find(task).map(|slot| slot.tokens)
    }

    /// A task's collector; `None` if it does not write, or has left.
    pub fn collector_of(&self, task: TaskHandle) -> Option<Collector> {
        self.slots.find(task).and_then(|slot| slot.collector)
    }

    /// Whether what was admitted is still guaranteed. Asked again after each operation in which a block failed.
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// ρ: all tokens.
    pub fn tokens(&self) -> u32 {
        self.pool.free + self.pool.background + self.pool.reserve + self.pool.journal + self.slots.tokens()
    }

    pub(crate) fn pages_per_block(&self) -> u32 {
        u32::from(self.ftl.pages_per_block())
    }

    /// Reads logical pages, for any client. Cost: a load a page.
    ///
    /// # Errors
    /// As [`Ftl::read`].
    pub fn read(&mut self, lba: Lba, data: &mut [u8]) -> Result<(), FtlError<D::Error>> {
        self.ftl.read(lba, data)
    }

    /// Writes one logical page for a task, at one of its tokens. Cost: one program; two if a block fails.
    ///
    /// # Errors
    /// [`TaskError::NoToken`] if the task has none; [`FtlError`], as for [`Ftl::write`].
    pub fn write(&mut self, task: TaskHandle, lba: Lba, data: &[u8]) -> Result<(), TaskError<D::Error>> {
        self.check_page(lba, data)?;
        self.take_token(task)?;
        let written = self.ftl.write_page(lba.0, data);
        self.settle();
        Ok(written?)
    }

    /// Trims logical pages for a task, at one of its tokens, and makes that durable. Cost: one program, two if the
    /// journal is full; O(`count`).
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn trim(&mut self, task: TaskHandle, lba: Lba, count: u32) -> Result<(), TaskError<D::Error>> {
        self.ftl.check_running()?;
        self.ftl.check_range(lba, count)?;
        self.take_token(task)?;
        let trimmed = self.ftl.trim_pages(lba, count).and_then(|()| self.ftl.empty_journal());
        self.checkpoint_pages += u64::from(trimmed.is_ok());
        self.settle();
        Ok(trimmed?)
    }

    pub(crate) fn check_page(&self, lba: Lba, data: &[u8]) -> Result<(), FtlError<D::Error>> {
        self.ftl.check_running()?;
        let page_bytes = self.ftl.page_bytes();
        if data.len() != usize::from(page_bytes) {
            return Err(FtlError::Length { bytes: data.len(), page_bytes });
        }
        self.ftl.check_range(lba, 1)
    }

    fn take_token(&mut self, task: TaskHandle) -> Result<(), TaskError<D::Error>> {
        let slot = self.slots.active(task).ok_or(TaskError::NoSuchTask(task))?;
        if slot.tokens.task == 0 {
            self.counters.token_waits += 1;
            return Err(TaskError::NoToken);
        }
        take(&mut slot.tokens.task, 1);
        Ok(())
    }

    /// Blocks that are being recycled, for [`Ftl::audit`].
    pub fn victims(&self) -> impl Iterator<Item = Block> + '_ {
        self.slots.recyclings().chain(self.background).map(|recycling| recycling.victim)
    }

    /// As [`Ftl::audit`], with the blocks that collectors are at.
    ///
    /// # Errors
    /// [`FtlError::Device`].
    pub fn audit(&mut self) -> Result<Option<Violation>, FtlError<D::Error>> {
        let mut victims = [Block::default(); 64];
        let mut count = 0;
        for (place, victim) in victims.iter_mut().zip(self.victims()) {
            *place = victim;
            count += 1;
        }
        self.ftl.audit(&victims[..count])
    }

    /// Makes up for blocks that failed in the last operation: the reserve pays for the pages that they took away, and
    /// the equations are evaluated again. Then asserts the invariant.
    pub(crate) fn settle(&mut self) {
        self.pay_for_checkpoint();
        let overdrawn = self.tokens().saturating_sub(self.ftl.free_pages());
        let uncovered = if overdrawn > 0 { self.pool.cover(overdrawn) } else { 0 };
        if self.ftl.good_blocks() != self.good_blocks {
            self.good_blocks = self.ftl.good_blocks();
            self.recheck_recycling();
        }
        if uncovered > 0 {
            self.guarantee = Guarantee::Overdrawn(uncovered);
        }
        self.check();
    }

    /// Pays for pages of the checkpoint that were due: who has no deadline and filled the journal has paid before, the
    /// checkpoint's task pays else; if it has no token, the reserve.
    fn pay_for_checkpoint(&mut self) {
        while self.checkpoint_pages < self.ftl.counters().chunks {
            self.checkpoint_pages += 1;
            let tokens = &mut self.slots.checkpoint_tokens().task;
            let counter = if self.pool.journal > 0 { &mut self.pool.journal } else { tokens };
            match counter.checked_sub(1) {
                Some(left) => *counter = left,
                None => {
                    self.counters.token_waits += 1;
                    self.pool.cover(1);
                }
            }
        }
    }

    /// ρ ≤ Φ.
    pub(crate) fn check(&self) {
        let overdrawn = matches!(self.guarantee, Guarantee::Overdrawn(_));
        let (tokens, free) = (self.tokens(), self.ftl.free_pages());
        assert!(tokens <= free || overdrawn, "{tokens} tokens, but {free} free pages");
    }
}
