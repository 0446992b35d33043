//! The system's jobs: releases in time, and the steps of collectors.
//!
//! Invariants: at a meta-period's start a task holds what it declared to write in it, and no more, and later at most
//! what it needs in two of them; between its periods a collector holds π−α.

use norn_flash::Nand;

use crate::demand::Scheduling;
use crate::realtime::{CollectorStep, Guarantee, RealTime, SystemJob, TaskError};
use crate::recycle::{RecycleStep, Recycling};
use crate::slots::{Job, Slot, Stay};
use crate::task::Collector;
use crate::tokens::take;

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>, const SLOTS: usize> RealTime<D, M, SLOTS> {
    /// Lets time pass to `now_us`: releases what is due. Call it at each release of a task, before the task writes, and
    /// before asking for the next job. Cost: O(slots), however much time has passed; no flash.
    pub fn advance(&mut self, now_us: u64) {
        // The end of time is no release of anything that is released later than that.
        self.now_us = self.now_us.max(now_us.min(u64::MAX - 1));
        for index in 0..SLOTS {
            self.advance_slot(index);
        }
    }

    /// The next time at which something is released.
    pub fn next_release_us(&self) -> u64 {
        let with_event =
            self.slots.present().filter(|(_, slot)| slot.collector.is_some() || slot.stay == Stay::Leaving);
        let slots = with_event.map(|(_, slot)| slot.next_meta_us.min(slot.next_release_us));
        slots.fold(u64::MAX, u64::min)
    }

    pub(crate) fn advance_slot(&mut self, index: usize) {
        let now = self.now_us;
        while let Some(mut slot) = self.slots.get(index) {
            if slot.stay == Stay::Gone {
                if slot.next_meta_us.saturating_add(self.settling_us()) <= now {
                    self.slots.vacate(index);
                }
                return;
            }
            let Some(collector) = slot.collector else {
                if slot.next_meta_us > now {
                    return;
                }
                match slot.stay {
                    Stay::Leaving | Stay::Gone => self.depart(index),
                    Stay::Active => {
                        start_period(&mut slot, now);
                        self.slots.set(index, slot);
                    }
                }
                return;
            };
            if slot.jobs_left == 0 && slot.next_meta_us <= now {
                self.pass_meta_periods(&mut slot, &collector);
                if slot.stay == Stay::Leaving && slot.job.is_none() {
                    self.pool.free += collector.task_tokens.min(slot.tokens.task);
                    self.pool.free += slot.tokens.collector;
                    self.depart(index);
                    return;
                }
                start_meta_period(&mut slot, &collector);
                self.slots.set(index, slot);
            } else if slot.jobs_left > 0 && slot.next_release_us <= now {
                self.release(index, slot, &collector);
            } else {
                return;
            }
        }
    }

    /// Leaves out the meta-periods that are over already: the job that waits has missed all of theirs.
    fn pass_meta_periods(&mut self, slot: &mut Slot, collector: &Collector) {
        if slot.job.is_none() {
            return;
        }
        let passed = (self.now_us - slot.next_meta_us) / collector.meta_period_us;
        slot.next_meta_us += passed * collector.meta_period_us;
        self.miss(passed.saturating_mul(u64::from(collector.jobs)));
    }

    fn miss(&mut self, jobs: u64) {
        self.counters.misses = self.counters.misses.saturating_add(jobs);
    }

    /// Releases the jobs of a collector that are due in its meta-period. One that is still there continues as the next.
    fn release(&mut self, index: usize, mut slot: Slot, collector: &Collector) {
        let after_first = (self.now_us - slot.next_release_us) / collector.period_us;
        let jobs = u64::from(slot.jobs_left).min(after_first.saturating_add(1));
        let deadline_us = slot.next_release_us.saturating_add(jobs.saturating_mul(collector.period_us));
        let recycling = slot.job.and_then(|job| job.recycling);
        self.miss(jobs - 1 + u64::from(slot.job.is_some()));
        slot.job = Some(Job { deadline_us, recycling });
        slot.jobs_left -= jobs as u32;
        slot.next_release_us = if slot.jobs_left > 0 { deadline_us } else { slot.next_meta_us };
        self.slots.set(index, slot);
    }

    /// The slot whose collector's job comes first.
    fn first(&self) -> Option<(SystemJob, usize)> {
        let jobs = self.slots.present().filter_map(|(index, slot)| {
            let (deadline_us, period_us) = (slot.job?.deadline_us, slot.collector?.period_us);
            Some((SystemJob { task: self.slots.handle(index), deadline_us, period_us }, index))
        });
        jobs.min_by_key(|(job, _)| match self.config.scheduling {
            Scheduling::EarliestDeadline => job.deadline_us,
            Scheduling::RateMonotonic => job.period_us,
        })
    }

    /// The system job that comes first: by its deadline or its period, as [`Scheduling`] says.
    pub fn next_job(&self) -> Option<SystemJob> {
        self.first().map(|(job, _)| job)
    }

    /// One step of the system job that comes first; `None` if there is none. Cost: one copy, one erase or
    /// nothing; one program more if the journal is full.
    ///
    /// # Errors
    /// [`FtlError`](crate::FtlError) when the device fails.
    pub fn collector_step(&mut self) -> Result<Option<CollectorStep>, TaskError<D::Error>> {
        match self.first() {
            None => Ok(None),
            Some((_, index)) => self.collector_job(index).map(Some),
        }
    }

    /// A step of a collector (Figure 5).
    fn collector_job(&mut self, index: usize) -> Result<CollectorStep, TaskError<D::Error>> {
        let mut slot = self.slots.get(index).expect("the job's slot is in use");
        let mut job = slot.job.expect("the slot has a job");
        let alpha = self.config.alpha;
        let Some(recycling) = job.recycling else {
            if self.ftl.free_pages().saturating_sub(self.tokens()) >= alpha {
                slot.tokens.collector += alpha;
                self.counters.gifts += 1;
                self.supply(index, slot);
                return Ok(CollectorStep::Gift);
            }
            let recycling = self.best_to_recycle()?;
            self.note_yield(recycling.dead);
            job.recycling = Some(recycling);
            slot.job = Some(job);
            self.slots.set(index, slot);
            return self.collector_job_step(index, recycling);
        };
        self.collector_job_step(index, recycling)
    }

    fn note_yield(&mut self, dead: u16) {
        let dead = u32::from(dead);
        let min = self.counters.yield_min;
        self.counters.yield_min = if self.counters.recycled == 0 && min == 0 { dead } else { min.min(dead) };
    }

    fn collector_job_step(
        &mut self,
        index: usize,
        mut recycling: Recycling,
    ) -> Result<CollectorStep, TaskError<D::Error>> {
        let pages = self.pages_per_block();
        let step = self.ftl.recycle_step(&mut recycling)?;
        let mut slot = self.slots.get(index).expect("the job's slot is in use");
        match step {
            RecycleStep::Copied => {
                self.charge_copy(&mut slot);
                slot.job = slot.job.map(|job| Job { recycling: Some(recycling), ..job });
                self.slots.set(index, slot);
                self.settle();
                Ok(CollectorStep::Copied)
            }
            RecycleStep::Erased => {
                slot.tokens.collector += pages;
                self.counters.recycled += 1;
                self.supply(index, slot);
                Ok(CollectorStep::Erased)
            }
            RecycleStep::Retired => {
                // The block yields nothing: the reserve gives what the collector supplies and keeps.
                let wanted = (pages - slot.tokens.collector.min(pages)).min(self.pool.reserve);
                take(&mut self.pool.reserve, wanted);
                slot.tokens.collector += wanted;
                self.supply(index, slot);
                Ok(CollectorStep::Retired)
            }
        }
    }

    /// A copy costs the collector a token; if the bound on recycling was lost and it has none, the reserve pays.
    fn charge_copy(&mut self, slot: &mut Slot) {
        if slot.tokens.collector > 0 {
            take(&mut slot.tokens.collector, 1);
        } else if self.pool.cover(1) > 0 {
            self.guarantee = Guarantee::Overdrawn(1);
        }
    }

    /// Ends a collector's job: α tokens for the task, the rest beyond π−α given up.
    fn supply(&mut self, index: usize, mut slot: Slot) {
        let collector = slot.collector.expect("a job has a collector");
        let supplied = self.config.alpha.min(slot.tokens.collector);
        take(&mut slot.tokens.collector, supplied);
        slot.tokens.task = (slot.tokens.task + supplied).min(collector.tokens_of_task_max());
        slot.tokens.collector = slot.tokens.collector.min(collector.collector_tokens);
        slot.job = None;
        self.slots.set(index, slot);
        self.settle();
    }
}

/// The period that `now` is in starts, of a task that does not write.
fn start_period(slot: &mut Slot, now: u64) {
    let periods = (now - slot.next_meta_us) / slot.task.period_us + 1;
    slot.next_meta_us = slot.next_meta_us.saturating_add(periods.saturating_mul(slot.task.period_us));
    slot.next_release_us = u64::MAX;
}

/// A meta-period starts: the task gives up what it holds beyond its need, and the collector has all its periods before
/// it.
fn start_meta_period(slot: &mut Slot, collector: &Collector) {
    slot.tokens.task = slot.tokens.task.min(collector.task_tokens);
    slot.jobs_left = collector.jobs;
    slot.next_release_us = slot.next_meta_us;
    slot.next_meta_us = slot.next_meta_us.saturating_add(collector.meta_period_us);
}
