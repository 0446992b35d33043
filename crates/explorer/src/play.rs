//! A recorded workload: calls of a program and the operations of the part that each of them took.
//!
//! Recording keeps what the program had in memory before each call, and the part; a clone costs a pointer for each
//! unit. To show the part after so many operations, or to cut the power there:
//! 1. find the call that the operation belongs to;
//! 2. take the state before the call, and plan the cut;
//! 3. make the call again, which does what it did, up to the cut.

use norn_flash_sim::{NorSim, Tear};

use crate::chip::Chip;
use crate::content::Content;
use crate::shown::{Recording, Shown};
use crate::traced::Operation;

/// A call that was made.
struct Step<C: Content> {
    call: C::Call,
    text: String,
    before: C,
    operations: Vec<Operation>,
}

/// A recording.
pub struct Play<C: Content> {
    steps: Vec<Step<C>>,
    first: u64,
    last: u64,
    end: C,
}

impl<C: Content> Play<C> {
    /// Nothing recorded yet.
    pub fn new(content: C) -> Play<C> {
        let at = content.device().sim.operations();
        Play { steps: Vec::new(), first: at, last: at, end: content }
    }

    /// Makes a call and records it.
    ///
    /// # Errors
    /// The call's, in words; then nothing is recorded.
    pub fn call(&mut self, call: C::Call) -> Result<(), String> {
        let before = self.end.clone();
        let mut now = before.clone();
        now.device_mut().operations.clear();
        let text = now.make(&call)?;
        let operations = std::mem::take(&mut now.device_mut().operations);
        self.last = now.device().sim.operations();
        self.end = now;
        self.steps.push(Step { call, text, before, operations });
        Ok(())
    }

    /// Forgets the calls so far, but not what they did.
    pub fn forget(&mut self) {
        self.steps.clear();
        self.first = self.last;
    }

    /// Makes `count` calls that a seed draws. Stops where one is refused.
    pub fn draw(&mut self, seed: u64, count: usize) {
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..count {
            if self.call(self.end.draw(&mut random)).is_err() {
                break;
            }
        }
        if let Some(call) = self.end.last_call() {
            // What is refused here, the recording does without.
            let _ = self.call(call);
        }
    }

    /// What the program has in memory after the last call.
    pub fn end(&self) -> &C {
        &self.end
    }

    /// All operations, in order.
    pub fn operations(&self) -> impl DoubleEndedIterator<Item = &Operation> {
        self.steps.iter().flat_map(|step| &step.operations)
    }

    fn step_at(&self, operation: u64) -> Option<&Step<C>> {
        let after = self.steps.partition_point(|step| step.before.device().sim.operations() <= operation);
        self.steps.get(after.checked_sub(1)?)
    }

    /// The call again, with the power cut in the operation of this number.
    fn cut_in(step: &Step<C>, operation: u64, tear: Tear) -> NorSim {
        let mut content = step.before.clone();
        let sim = &mut content.device_mut().sim;
        sim.cut_power_after(operation - sim.operations(), tear);
        // The error is that of the power.
        let _ = content.make(&step.call);
        let mut sim = content.device().sim.clone();
        sim.power_on();
        sim
    }

    /// The part after so many operations, all of them whole.
    pub fn chip_at(&self, operation: u64) -> Chip<C> {
        match self.step_at(operation).filter(|_| operation < self.last) {
            None => Chip::at_work(self.end.device().sim.clone(), &self.end),
            Some(step) if step.before.device().sim.operations() == operation => {
                Chip::at_work(step.before.device().sim.clone(), &step.before)
            }
            Some(step) => Chip::at_work(Self::cut_in(step, operation, Tear::Nothing), &step.before),
        }
    }

    /// The part after the power failed in the operation of this number, which was torn. It is the part of the image
    /// file that [`NorSim::save_image`] would write: what a mount reads of unstable bits is what any other program's
    /// mount of that file reads.
    ///
    /// # Errors
    /// If no call has such an operation.
    pub fn chip_cut(&self, operation: u64, tear: Tear) -> Result<Chip<C>, String> {
        let step = self.step_at(operation).filter(|_| (self.first..self.last).contains(&operation));
        let step = step.ok_or_else(|| format!("the recording has no operation {operation}"))?;
        let bytes = Self::cut_in(step, operation, tear).image_bytes();
        Ok(Chip::of(NorSim::from_image_bytes(bytes).map_err(|error| error.to_string())?))
    }
}

impl<C: Content> Recording for Play<C> {
    fn range(&self) -> (u64, u64) {
        (self.first, self.last)
    }

    fn calls(&self) -> Vec<(&str, u64, u64)> {
        let bounds = self.steps.iter().map(|step| step.before.device().sim.operations());
        let ends = bounds.clone().skip(1).chain([self.last]);
        self.steps.iter().zip(bounds.zip(ends)).map(|(step, (from, to))| (&*step.text, from, to - from)).collect()
    }

    fn text(&self, operation: u64) -> (String, String) {
        let Some(number) = self
            .step_at(operation)
            .filter(|_| operation < self.last)
            .and_then(|step| self.steps.iter().position(|other| std::ptr::eq(other, step)))
        else {
            return ("the end of the recording".to_owned(), String::new());
        };
        let (step, after) = (&self.steps[number], self.steps.get(number + 1).map_or(&self.end, |next| &next.before));
        let chip = Chip::at_work(after.device().sim.clone(), after);
        let found = step.operations.iter().find(|one| (one.first..one.first + one.words).contains(&operation));
        (found.map_or_else(String::new, |one| chip.text_of(one)), step.text.clone())
    }

    fn at(&self, operation: u64) -> Box<dyn Shown> {
        Box::new(self.chip_at(operation))
    }

    fn cut(&self, operation: u64, tear: Tear) -> Result<Box<dyn Shown>, String> {
        Ok(Box::new(self.chip_cut(operation, tear)?))
    }
}
