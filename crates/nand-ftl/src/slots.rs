//! Slots: the tasks that are admitted, each with its collector, its tokens and where the two are in time.
//!
//! Invariant: a handle names the task that it was given for, and no task after that one has left.

use crate::demand::Work;
use crate::recycle::Recycling;
use crate::task::{Collector, Task};
use crate::tokens::TaskTokens;

/// A task that was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskHandle {
    slot: u16,
    generation: u16,
}

impl TaskHandle {
    /// The handle as a number, for callers in other languages. That of the checkpoint's task is 0.
    pub const fn bits(self) -> u32 {
        (self.slot as u32) << 16 | self.generation as u32
    }

    /// The handle of a number. One that no handle had names no task.
    pub const fn from_bits(bits: u32) -> Self {
        TaskHandle { slot: (bits >> 16) as u16, generation: bits as u16 }
    }
}

/// A job of a slot's collector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub deadline_us: u64,
    pub recycling: Option<Recycling>,
}

/// Whether a task stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stay {
    Active,
    /// It leaves at its next meta-period, or at its next period if it does not write. Until then its share is its own:
    /// what it has used of that was promised to it alone.
    Leaving,
    /// It has left: its handle names no task, and it has no tokens. Its share of the processor is kept until no window
    /// can have jobs of it and of a task that joins.
    Gone,
}

/// A task, its collector and where they are in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub task: Task,
    pub collector: Option<Collector>,
    pub stay: Stay,
    pub tokens: TaskTokens,
    /// Start of the next meta-period; of the next period for a task that does not write; when it left if it is gone.
    pub next_meta_us: u64,
    /// Next release of the collector, and how many are left in this meta-period.
    pub next_release_us: u64,
    pub jobs_left: u32,
    pub job: Option<Job>,
}

impl Slot {
    /// A task whose first period, and its collector's, begin now.
    pub fn new(task: Task, collector: Option<Collector>, tokens: TaskTokens, now_us: u64) -> Self {
        Slot {
            task,
            collector,
            stay: Stay::Active,
            tokens,
            next_meta_us: now_us,
            next_release_us: now_us,
            jobs_left: 0,
            job: None,
        }
    }
}

/// Which tasks' jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Of tasks that have not left.
    Present,
    /// Those included that have left and whose shares are kept.
    All,
}

/// The jobs of tasks and of their collectors. One type for all of them, whatever the number of slots: what goes through
/// jobs is compiled once.
#[derive(Clone, Debug)]
pub(crate) struct Works<'a> {
    slots: &'a [Option<Slot>],
    which: Which,
    /// The collector's job of the task before.
    collector: Option<Work>,
    /// A further task's, the last one.
    further: Option<(Work, Option<Work>)>,
}

impl Works<'_> {
    /// And those of a further task.
    pub fn and(self, task: &Task, collector: Option<&Collector>) -> Self {
        Works { further: Some((Work::of_task(task), collector.map(Work::of_collector))), ..self }
    }
}

impl Iterator for Works<'_> {
    type Item = Work;

    #[inline(never)]
    fn next(&mut self) -> Option<Work> {
        if let Some(work) = self.collector.take() {
            return Some(work);
        }
        while let [slot, rest @ ..] = self.slots {
            self.slots = rest;
            if let Some(slot) = slot
                && (slot.stay != Stay::Gone || self.which == Which::All)
            {
                self.collector = slot.collector.as_ref().map(Work::of_collector);
                return Some(Work::of_task(&slot.task));
            }
        }
        let (task, collector) = self.further.take()?;
        self.collector = collector;
        Some(task)
    }
}

/// The slot of the checkpoint's task, which never leaves.
const CHECKPOINT: usize = 0;

/// At most `SLOTS` tasks.
#[derive(Clone, Debug)]
pub(crate) struct Slots<const SLOTS: usize> {
    slots: [Option<Slot>; SLOTS],
    generations: [u16; SLOTS],
}

impl<const SLOTS: usize> Slots<SLOTS> {
    pub fn new() -> Self {
        Slots { slots: [None; SLOTS], generations: [0; SLOTS] }
    }

    /// The handle of the checkpoint's task.
    pub fn checkpoint(&self) -> TaskHandle {
        self.handle(CHECKPOINT)
    }

    /// The tokens of the checkpoint's task.
    pub fn checkpoint_tokens(&mut self) -> &mut TaskTokens {
        &mut self.slots[CHECKPOINT].as_mut().expect("the checkpoint stays").tokens
    }

    /// The handle of the task in a slot.
    pub fn handle(&self, index: usize) -> TaskHandle {
        TaskHandle { slot: index as u16, generation: self.generations[index] }
    }

    /// A slot without a task.
    pub fn vacant(&self) -> Option<usize> {
        self.slots.iter().position(Option::is_none)
    }

    /// The task in a slot.
    pub fn get(&self, index: usize) -> Option<Slot> {
        self.slots[index]
    }

    pub fn set(&mut self, index: usize, slot: Slot) {
        self.slots[index] = Some(slot);
    }

    /// The task has left: its handle names no task any more. Its share stays.
    pub fn leave(&mut self, index: usize) {
        if let Some(slot) = &mut self.slots[index] {
            (slot.stay, slot.tokens, slot.job) = (Stay::Gone, TaskTokens::default(), None);
        }
        self.generations[index] = self.generations[index].wrapping_add(1);
    }

    /// The share of a task that has left is free.
    pub fn vacate(&mut self, index: usize) {
        self.slots[index] = None;
    }

    /// The slot of a handle's task.
    pub fn index_of(&self, task: TaskHandle) -> Option<usize> {
        let index = usize::from(task.slot);
        let is_known = self.generations.get(index) == Some(&task.generation);
        (is_known && self.slots[index].is_some_and(|slot| slot.stay != Stay::Gone)).then_some(index)
    }

    /// The task of a handle.
    pub fn find(&self, task: TaskHandle) -> Option<&Slot> {
        self.slots[self.index_of(task)?].as_ref()
    }

    /// The task of a handle, unless it is leaving.
    pub fn active(&mut self, task: TaskHandle) -> Option<&mut Slot> {
        self.find(task)?;
        self.slots[usize::from(task.slot)].as_mut().filter(|slot| slot.stay == Stay::Active)
    }

    /// The tasks, with their slots, those included that have left and whose shares are kept.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Slot)> + Clone {
        self.slots.iter().enumerate().filter_map(|(index, slot)| Some((index, slot.as_ref()?)))
    }

    /// The tasks that have not left.
    pub fn present(&self) -> impl Iterator<Item = (usize, &Slot)> {
        self.iter().filter(|(_, slot)| slot.stay != Stay::Gone)
    }

    /// The jobs of tasks and of their collectors.
    pub fn works(&self, which: Which) -> Works<'_> {
        Works { slots: &self.slots, which, collector: None, further: None }
    }

    /// Tokens of all tasks and collectors.
    pub fn tokens(&self) -> u32 {
        self.iter().map(|(_, slot)| slot.tokens.task + slot.tokens.collector).sum()
    }

    /// Blocks that collectors are at.
    pub fn recyclings(&self) -> impl Iterator<Item = Recycling> + '_ {
        self.iter().filter_map(|(_, slot)| slot.job?.recycling)
    }
}
