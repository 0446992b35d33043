//! A recorded workload: steps of the scheduler, and the operations of the part that each of them took.
//!
//! Recording keeps the workload as it was before every eighth step. To show the part after so many operations, or to
//! cut the power there:
//! 1. find the step that the operation belongs to;
//! 2. take the workload that was kept before it, and take the steps up to it again;
//! 3. plan the cut, and take the step again, which does what it did, up to the cut.

use norn_flash_sim::{NandSim, Tear};

use super::workload::{Device, Workload};
use crate::traced::Operation;
use crate::traced_nand::Act;

/// The workload is kept before every step whose number is a multiple of this.
const KEPT_EVERY: usize = 8;

/// A step that was taken.
struct Step {
    text: String,
    first: u64,
    operations: Vec<Operation<Act>>,
}

/// Free pages and tokens over time: names, and before each step the number of operations and a number for each name.
#[derive(Debug, Default)]
pub struct History {
    /// What the numbers are of.
    pub names: Vec<&'static str>,
    /// After so many operations, before each step, and at the end.
    pub levels: Vec<(u64, Vec<u32>)>,
}

/// A recording.
pub struct Play {
    steps: Vec<Step>,
    kept: Vec<Workload>,
    end: Workload,
    first: u64,
    last: u64,
    /// What is drawn over time.
    pub history: std::rc::Rc<History>,
}

impl Play {
    /// Takes `count` steps, or fewer if the device refuses one.
    pub fn record(mut workload: Workload, count: usize) -> Play {
        let (mut steps, mut kept, mut history) = (Vec::new(), Vec::new(), History::default());
        history.names = workload.levels().into_iter().map(|(name, _)| name).collect();
        let first = workload.traced().sim.operations();
        let note = |workload: &mut Workload, history: &mut History| {
            let operations = workload.traced().sim.operations();
            history.levels.push((operations, workload.levels().into_iter().map(|(_, level)| level).collect()));
            operations
        };
        for number in 0..count {
            workload.traced().operations.clear();
            let before = workload.clone();
            let first = note(&mut workload, &mut history);
            let Ok(text) = workload.step() else {
                workload = before;
                history.levels.pop();
                break;
            };
            if number.is_multiple_of(KEPT_EVERY) {
                kept.push(before);
            }
            steps.push(Step { text, first, operations: std::mem::take(&mut workload.traced().operations) });
        }
        let last = note(&mut workload, &mut history);
        Play { steps, kept, end: workload, first, last, history: std::rc::Rc::new(history) }
    }

    /// The operations of the part before the first step, and after the last.
    pub fn range(&self) -> (u64, u64) {
        (self.first, self.last)
    }

    /// The steps in words, each with the number of the operation it began with, and how many it took.
    pub fn calls(&self) -> Vec<(&str, u64, u64)> {
        self.steps.iter().map(|step| (&*step.text, step.first, step.operations.len() as u64)).collect()
    }

    /// The workload before a step.
    fn before(&self, number: usize) -> Workload {
        let Some(kept) = self.kept.get(number / KEPT_EVERY).filter(|_| number < self.steps.len()) else {
            return self.end.clone();
        };
        let mut workload = kept.clone();
        for _ in 0..number % KEPT_EVERY {
            // It was taken before.
            let _ = workload.step();
        }
        workload
    }

    /// The number of the step that has an operation.
    fn step_of(&self, operation: u64) -> Option<usize> {
        let after = self.steps.partition_point(|step| step.first <= operation);
        (self.first..self.last).contains(&operation).then(|| after.checked_sub(1)).flatten()
    }

    /// The part with the power cut in the operation of this number, and the device as it was before that step.
    fn cut_in(&self, number: usize, operation: u64, tear: Tear) -> (NandSim, Device) {
        let mut workload = self.before(number);
        let device = workload.device().clone();
        let sim = &mut workload.traced().sim;
        sim.cut_power_after(operation - sim.operations(), tear);
        // The error is that of the power.
        let _ = workload.step();
        (workload.traced().sim.clone(), device)
    }

    /// The part after so many operations, all of them whole, and the device as it was then, or before the step that was
    /// under way.
    pub fn at(&self, operation: u64) -> (NandSim, Device) {
        let Some(number) = self.step_of(operation) else {
            return (self.end.device().device().sim.clone(), self.end.device().clone());
        };
        if self.steps[number].first == operation {
            let workload = self.before(number);
            return (workload.device().device().sim.clone(), workload.device().clone());
        }
        let (mut sim, device) = self.cut_in(number, operation, Tear::Nothing);
        sim.power_on();
        (sim, device)
    }

    /// The part after the power failed in the operation of this number, and came on again.
    ///
    /// # Errors
    /// If no step has such an operation.
    pub fn cut(&self, operation: u64, tear: Tear) -> Result<NandSim, String> {
        let number = self.step_of(operation).ok_or_else(|| format!("the recording has no operation {operation}"))?;
        let (mut sim, _) = self.cut_in(number, operation, tear);
        sim.power_on();
        if matches!(tear, Tear::Late(_) | Tear::Returning(_)) {
            // Their bits change when the power comes on for the second time.
            sim.power_on();
        }
        Ok(sim)
    }

    /// The operation of this number, the part when its step was done, and the step in words.
    pub fn operation(&self, operation: u64) -> Option<(Act, NandSim, &str)> {
        let number = self.step_of(operation)?;
        let step = &self.steps[number];
        let act = step.operations.iter().find(|one| one.first == operation)?.act;
        let after = self.before(number + 1).device().device().sim.clone();
        Some((act, after, &step.text))
    }

    /// Jobs of tasks that were late.
    pub fn late(&self) -> u32 {
        self.end.late()
    }
}
