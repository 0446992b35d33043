//! Who is admitted: tasks that join and leave, and the equations that decide it.
//!
//! Invariants: the shares that are kept pass (14) together, those of tasks that have left included; a share is given up
//! when no window can have jobs of it and of a task that joins later.

use norn_flash::Nand;

use crate::admission::{AdmissionError, Capacity, Load};
use crate::demand::Overheads;
use crate::realtime::{Guarantee, RealTime, RealTimeConfig, TaskError};
use crate::recent::Recent;
use crate::slots::{Slot, Stay, TaskHandle, Which};
use crate::task::{Collector, Task};
use crate::tokens::{TaskTokens, take};

/// A task that may be admitted.
struct Candidate {
    collector: Option<Collector>,
    /// Tokens that it and its collector begin with.
    needed: u32,
    /// Its slot.
    index: usize,
    /// What counts as recent with it.
    recent: Recent,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>, const SLOTS: usize> RealTime<D, M, SLOTS> {
    /// The device as the equations see it.
    pub fn capacity(&self) -> Capacity {
        Capacity {
            good_blocks: u32::from(self.ftl.good_blocks()),
            pages_per_block: self.pages_per_block(),
            live_pages: self.ftl.layout().entries(),
            alpha: self.config.alpha,
            failure_budget: self.config.failure_budget,
        }
    }

    /// The tasks that are admitted, the checkpoint's included, as the equations see them.
    pub fn load(&self) -> Load {
        let programs_per_page = self.overheads().programs_per_page;
        let begin = Load::with_checkpoint(programs_per_page);
        self.slots.present().fold(begin, |load, (_, slot)| load.with(&slot.task, slot.collector.as_ref()))
    }

    /// What takes time besides jobs.
    pub fn overheads(&self) -> Overheads {
        let RealTimeConfig { times, failure_budget, client, .. } = self.config;
        let programs_per_page = self.ftl.layout().programs_between_pages(failure_budget);
        Overheads { times, programs_per_page, failure_budget, client }
    }

    /// How long the share of a task that has left is kept.
    pub(crate) fn settling_us(&self) -> u64 {
        self.config.scheduling.settling_us(&self.overheads(), self.slots.works(Which::All))
    }

    /// The task of a slot leaves. What the set with it has used and programmed is remembered for as long as a window,
    /// or a meta-period of the checkpoint, may begin with that set.
    pub(crate) fn depart(&mut self, index: usize) {
        let (load, used) =
            (self.recent_load(self.load()), self.recent_use(self.overheads().use_of(self.slots.works(Which::Present))));
        self.slots.leave(index);
        let supply = self.slots.find(self.checkpoint_task()).and_then(|slot| slot.collector);
        let meta_period_us = supply.map_or(0, |collector| collector.meta_period_us);
        let (load_until_us, used_until_us) =
            (self.now_us.saturating_add(meta_period_us), self.now_us.saturating_add(self.settling_us()));
        self.recent = Recent { load, load_until_us, used, used_until_us };
    }

    /// A load with the programs of sets that it has replaced a short time ago.
    fn recent_load(&self, load: Load) -> Load {
        if self.now_us < self.recent.load_until_us { load.with_programs_of(&self.recent.load) } else { load }
    }

    /// The most of a use and of those of sets that it has replaced a short time ago.
    fn recent_use(&self, used: u128) -> u128 {
        if self.now_us < self.recent.used_until_us { used.max(self.recent.used) } else { used }
    }

    /// Admits a task from now on, or says why not (section 4.3). Its first period, and its collector's, begin now.
    /// Cost: O(slots²), no flash.
    ///
    /// # Errors
    /// [`AdmissionError`] with the equation that does not hold.
    pub fn admit(&mut self, task: Task) -> Result<TaskHandle, AdmissionError> {
        let Candidate { collector, needed, index, recent } = self.candidate(&task)?;
        self.recent = recent;
        take(&mut self.pool.free, needed);
        let tokens = collector.map_or(TaskTokens::default(), |collector| TaskTokens {
            task: collector.task_tokens,
            collector: collector.collector_tokens,
        });
        self.slots.set(index, Slot::new(task, collector, tokens, self.now_us));
        self.check();
        Ok(self.slots.handle(index))
    }

    /// Whether a task would be admitted now. Cost: O(slots²), no flash.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub fn would_admit(&self, task: &Task) -> Result<(), AdmissionError> {
        self.candidate(task).map(|_| ())
    }

    fn candidate(&self, task: &Task) -> Result<Candidate, AdmissionError> {
        if task.period_us == 0 || task.cost_us > task.period_us {
            return Err(AdmissionError::Task(*task));
        }
        let collector = self.collector_for(task)?;
        let index = self.slots.vacant().ok_or(AdmissionError::Slots)?;
        let tokens = |collector: Collector| u64::from(collector.task_tokens) + u64::from(collector.collector_tokens);
        let (needed, free) = (collector.map_or(0, tokens), u64::from(self.pool.free));
        let needed = u32::try_from(needed).ok().filter(|&needed| needed <= self.pool.free);
        let needed = needed.ok_or(AdmissionError::Tokens { needed: collector.map_or(0, tokens), free })?;
        let load = self.load().with(task, collector.as_ref());
        let others = u64::from(self.pool.free - needed) + u64::from(self.pool.reserve);
        load.check_recycling(&self.capacity(), others)?;
        let works = |which| self.slots.works(which).and(task, collector.as_ref());
        let (overheads, recent) = (self.overheads(), self.recent_use(0));
        self.config.scheduling.check_after(&overheads, works(Which::Present), works(Which::All), recent)?;
        let load = self.recent_load(load);
        self.check_checkpoint(&load)?;
        let recent = Recent { load, used: self.recent_use(overheads.use_of(works(Which::Present))), ..self.recent };
        Ok(Candidate { collector, needed, index, recent })
    }

    /// Whether the checkpoint's task has a token for each page that the tasks and collectors make it write in its
    /// meta-period.
    fn check_checkpoint(&self, load: &Load) -> Result<(), AdmissionError> {
        let Some(slot) = self.slots.find(self.checkpoint_task()) else { return Ok(()) };
        let Some(collector) = slot.collector else { return Ok(()) };
        let pages = load.checkpoint_pages(collector.meta_period_us);
        match pages <= u64::from(collector.task_tokens) {
            true => Ok(()),
            false => Err(AdmissionError::Checkpoint { pages, tokens: collector.task_tokens }),
        }
    }

    fn collector_for(&self, task: &Task) -> Result<Option<Collector>, AdmissionError> {
        let collector = Collector::of(task, self.config.alpha, self.pages_per_block(), &self.config.times);
        match collector {
            Some(collector) if collector.cost_us > collector.period_us || collector.period_us == 0 => {
                Err(AdmissionError::Collector { cost_us: collector.cost_us, period_us: collector.period_us })
            }
            None if task.writes > 0 => Err(AdmissionError::Collector { cost_us: 0, period_us: task.period_us }),
            collector => Ok(collector),
        }
    }

    /// Lets a task go. It may not write any more. Its share of the processor stays its own until the period ends that
    /// it is in, or the meta-period if it writes: what it has used of that share, no other task can have. Its tokens
    /// return then, when its collector has made them up. A task that leaves and joins again is admitted as a further
    /// one until then.
    ///
    /// # Errors
    /// [`TaskError::NoSuchTask`], also for the checkpoint's task.
    pub fn leave(&mut self, task: TaskHandle) -> Result<(), TaskError<D::Error>> {
        if task == self.checkpoint_task() {
            return Err(TaskError::NoSuchTask(task));
        }
        let index = self.slots.index_of(task).ok_or(TaskError::NoSuchTask(task))?;
        // The period that begins now is one that it leaves in.
        self.advance_slot(index);
        self.slots.active(task).ok_or(TaskError::NoSuchTask(task))?.stay = Stay::Leaving;
        Ok(())
    }

    /// Evaluates (8) with the blocks that are left; the budget has been spent on those that are not.
    pub(crate) fn recheck_recycling(&mut self) {
        let capacity = Capacity { failure_budget: 0, ..self.capacity() };
        let others = u64::from(self.pool.free) + u64::from(self.pool.reserve);
        if let Err(error) = self.load().check_recycling(&capacity, others) {
            self.guarantee = Guarantee::Lost(error);
        }
    }
}
