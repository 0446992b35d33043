//! A recorded workload: calls of a heap and the operations of the part that each of them took.
//!
//! Recording keeps the heap as it was before each call; a clone costs a pointer for each unit. To show the part after
//! so many operations, or to cut the power there:
//! 1. find the call that the operation belongs to;
//! 2. take the heap as it was before the call, and plan the cut;
//! 3. make the call again, which does what it did, up to the cut.

use norn_flash_sim::{NorSim, Tear};
use norn_heap::{Layout, Ref};

use crate::chip::{Chip, Heap};
use crate::traced::Operation;

/// A call of a program. Objects are numbered in the order of their creation.
#[derive(Clone, Debug)]
pub enum Call {
    /// An object with so many fields of so many bytes.
    Create(usize, u8),
    /// A root of this name leads to an object.
    SetRoot(&'static str, usize),
    /// A field of an object gets a value.
    Put(usize, usize, Vec<u8>),
    /// An object is deleted.
    Delete(usize),
    /// A transaction begins.
    Begin,
    /// It ends, and its changes count.
    Commit,
    /// It ends, and its changes are undone.
    Abort,
}

/// A call that was made.
struct Step {
    call: Call,
    text: String,
    before: Heap,
    /// References of the objects before the call.
    objects: Vec<Ref>,
    operations: Vec<Operation>,
}

/// A recording.
pub struct Play {
    steps: Vec<Step>,
    first: u64,
    last: u64,
    end: Heap,
    objects: Vec<Ref>,
}

impl Play {
    /// Nothing recorded yet of a heap.
    pub fn new(heap: Heap) -> Play {
        let at = heap.device().sim.operations();
        Play { steps: Vec::new(), first: at, last: at, end: heap, objects: Vec::new() }
    }

    /// Makes a call and records it.
    ///
    /// # Errors
    /// The heap's, in words; then nothing is recorded.
    pub fn call(&mut self, call: Call) -> Result<(), String> {
        let (before, objects) = (self.end.clone(), self.objects.clone());
        let (mut heap, mut now) = (before.clone(), objects.clone());
        heap.device_mut().operations.clear();
        let text = make(&mut heap, &mut now, &call)?;
        let operations = std::mem::take(&mut heap.device_mut().operations);
        self.last = heap.device().sim.operations();
        (self.end, self.objects) = (heap, now);
        self.steps.push(Step { call, text, before, objects, operations });
        Ok(())
    }

    /// Forgets the calls so far, but not what they did.
    pub fn forget(&mut self) {
        self.steps.clear();
        self.first = self.last;
    }

    /// Makes `count` calls that a seed draws: most of them change a field. Stops where the heap is full.
    pub fn draw(&mut self, seed: u64, count: usize) {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut alive, mut is_open): (Vec<(usize, usize)>, bool) = (Vec::new(), false);
        for _ in 0..count {
            let call = match random.u8(0..20) {
                _ if alive.len() < 3 => Call::Create(random.usize(2..9), 4),
                0..2 => Call::Create(random.usize(2..9), 4),
                2 if !is_open => Call::Begin,
                3..6 if is_open => Call::Commit,
                6 if is_open => Call::Abort,
                7 if !is_open && alive.len() > 6 => Call::Delete(alive[random.usize(..alive.len())].0),
                8 if !is_open => Call::SetRoot(["ann", "bob", "eve"][random.usize(..3)], alive[0].0),
                _ => {
                    let (object, fields) = alive[random.usize(..alive.len())];
                    Call::Put(object, random.usize(..fields), random.u32(..).to_le_bytes().to_vec())
                }
            };
            // An abort takes back creations; the script creates outside of transactions only.
            let call = if is_open && matches!(call, Call::Create(..)) { Call::Commit } else { call };
            let number = self.objects.len();
            if self.call(call.clone()).is_err() {
                break;
            }
            match call {
                Call::Create(fields, _) => alive.push((number, fields)),
                Call::Delete(object) => alive.retain(|(other, _)| *other != object),
                Call::Begin => is_open = true,
                Call::Commit | Call::Abort => is_open = false,
                Call::SetRoot(..) | Call::Put(..) => {}
            }
        }
        if is_open {
            // What the heap refuses here, the recording does without.
            let _ = self.call(Call::Commit);
        }
    }

    /// The operations of the part before the first call, and after the last.
    pub fn range(&self) -> (u64, u64) {
        (self.first, self.last)
    }

    /// The calls, each with the number of the operation it began with, and how many it took.
    pub fn calls(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        let bounds = self.steps.iter().map(|step| step.before.device().sim.operations());
        let ends = bounds.clone().skip(1).chain([self.last]);
        self.steps.iter().zip(bounds.zip(ends)).map(|(step, (from, to))| (&*step.text, from, to - from))
    }

    /// The references of the objects that were created.
    pub fn objects(&self) -> &[Ref] {
        &self.objects
    }

    /// The heap after the last call.
    pub fn end(&self) -> &Heap {
        &self.end
    }

    /// All operations, in order, each with the number of its call.
    pub fn operations(&self) -> impl DoubleEndedIterator<Item = (usize, &Operation)> {
        self.steps.iter().enumerate().flat_map(|(number, step)| step.operations.iter().map(move |one| (number, one)))
    }

    fn step_at(&self, operation: u64) -> Option<&Step> {
        let after = self.steps.partition_point(|step| step.before.device().sim.operations() <= operation);
        self.steps.get(after.checked_sub(1)?)
    }

    /// The call again, with the power cut in the operation of this number.
    fn cut_in(&self, step: &Step, operation: u64, tear: Tear) -> NorSim {
        let (mut heap, mut objects) = (step.before.clone(), step.objects.clone());
        let sim = &mut heap.device_mut().sim;
        sim.cut_power_after(operation - sim.operations(), tear);
        // The error is that of the power.
        let _ = make(&mut heap, &mut objects, &step.call);
        let mut sim = heap.into_device().sim;
        sim.power_on();
        sim
    }

    /// The part after so many operations, all of them whole.
    pub fn at(&self, operation: u64) -> Chip {
        match self.step_at(operation).filter(|_| operation < self.last) {
            None => Chip::at_work(self.end.device().sim.clone(), &self.end),
            Some(step) if step.before.device().sim.operations() == operation => {
                Chip::at_work(step.before.device().sim.clone(), &step.before)
            }
            Some(step) => Chip::at_work(self.cut_in(step, operation, Tear::Nothing), &step.before),
        }
    }

    /// The part after the power failed in the operation of this number, which was torn. It is the part of the image
    /// file that [`NorSim::save_image`] would write: what a mount reads of unstable bits is what any other program's
    /// mount of that file reads.
    ///
    /// # Errors
    /// If no call has such an operation.
    pub fn cut(&self, operation: u64, tear: Tear) -> Result<Chip, String> {
        let step = self.step_at(operation).filter(|_| (self.first..self.last).contains(&operation));
        let step = step.ok_or_else(|| format!("the recording has no operation {operation}"))?;
        let bytes = self.cut_in(step, operation, tear).image_bytes();
        Ok(Chip::of(NorSim::from_image_bytes(bytes).map_err(|error| error.to_string())?))
    }

    /// What the operation of this number is, in words, and its call.
    pub fn text(&self, operation: u64) -> (String, String) {
        let Some(step) = self.step_at(operation).filter(|_| operation < self.last) else {
            return ("the end of the recording".to_owned(), String::new());
        };
        let number = self.steps.iter().position(|other| std::ptr::eq(other, step)).unwrap_or_default();
        let after = self.steps.get(number + 1).map_or(&self.end, |next| &next.before);
        let chip = Chip::at_work(after.device().sim.clone(), after);
        let found = step.operations.iter().find(|one| (one.first..one.first + one.words).contains(&operation));
        (found.map_or_else(String::new, |one| chip.text_of(one)), step.text.clone())
    }
}

/// Makes a call. Returns it in words.
fn make(heap: &mut Heap, objects: &mut Vec<Ref>, call: &Call) -> Result<String, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let of = |number: usize| objects.get(number).copied().ok_or_else(|| format!("no object {number} was created"));
    match call {
        Call::Create(fields, width) => {
            let created = heap.create(Layout::uniform(*fields, *width)).map_err(|error| text(&error))?;
            objects.push(created);
            Ok(format!("create {created}: {fields} fields of {width} bytes"))
        }
        Call::SetRoot(name, object) => {
            let object = of(*object)?;
            heap.set_root(name.as_bytes(), Some(object)).map_err(|error| text(&error))?;
            Ok(format!("set root {name} to {object}"))
        }
        Call::Put(object, field, value) => {
            let object = of(*object)?;
            heap.put_field(object, *field, value).map_err(|error| text(&error))?;
            Ok(format!("put {} into field {field} of {object}", crate::anatomy::hexadecimal(value)))
        }
        Call::Delete(object) => {
            let object = of(*object)?;
            heap.delete(object).map_err(|error| text(&error))?;
            Ok(format!("delete {object}"))
        }
        Call::Begin => heap.begin().map(|()| "begin a transaction".to_owned()).map_err(|error| text(&error)),
        Call::Commit => heap.commit().map(|()| "commit".to_owned()).map_err(|error| text(&error)),
        Call::Abort => heap.abort().map(|()| "abort".to_owned()).map_err(|error| text(&error)),
    }
}
