//! A NOR part as it is shown, its cells and what a mount makes of them; and a recorded workload on it, calls of a
//! program and the operations of the part that each of them took.
//!
//! Invariant: `cells` are never changed by a look. A mount works on a copy; [`mounted`](Shown::mounted) takes it over.
//!
//! Recording keeps what the program had in memory before each call, and the part; a clone costs a pointer for each
//! unit. To show the part after so many operations, or to cut the power there:
//! 1. find the call that the operation belongs to;
//! 2. take the state before the call, and plan the cut;
//! 3. make the call again, which does what it did, up to the cut.

use std::ops::Range;

use norn_flash::{Address, EraseUnit, NorPart, StatedGeometry};
use norn_flash_sim::{ImageBytes, NorSim, Tear};
use serde_json::Value;

use crate::anatomy::{Area, Found, counted};
use crate::content::{Cells, Content};
use crate::shown::{MountCalls, Overview, Recording, Shown, UnitOverview};
use crate::traced::{Act, Operation, Traced};

/// A NOR part as it is shown.
#[derive(Clone)]
pub struct Chip<C> {
    cells: NorSim,
    /// What a mount left in memory, or why it failed.
    content: Result<C, String>,
    /// What the mount programmed and erased.
    mount: Vec<Operation>,
    /// Of a larger part: which units these are, and how many that has.
    within: Option<(Range<u16>, u16)>,
}

impl<C: Content> Chip<C> {
    /// A part, of which a copy is mounted.
    pub fn of(cells: NorSim) -> Chip<C> {
        let mut content = C::mount(Traced::new(cells.clone()));
        let taken = |content: &mut C| std::mem::take(&mut content.device_mut().operations);
        let mount = content.as_mut().map(taken).unwrap_or_default();
        Chip { cells, content, mount, within: None }
    }

    /// What a part holds. A store that was made for fewer units than the part has is shown alone, such as the heap of a
    /// card, whose last unit is a journal. It is looked for from the part's first unit on, then from the first with a
    /// head on. `None` if the part does not hold such a store.
    ///
    /// # Errors
    /// In words.
    pub fn on(part: &NorSim) -> Result<Option<Chip<C>>, String> {
        let recognised = |mut units: NorSim| {
            units.freeze_counters();
            C::recognised_on(&mut units)
        };
        let Some(found) = recognised(part.clone())? else { return Ok(None) };
        let NorPart { unit_count, unit_size_bytes, .. } = part.spec().part;
        let stated = found.geometry.filter(|stated| stated.size_bytes == unit_size_bytes && stated.count < unit_count);
        if let Some(StatedGeometry { count, .. }) = stated {
            let has_head = |&unit: &u16| matches!(recognised(part.with_units(unit..unit + 1)), Ok(Some(_)));
            let starts = [0].into_iter().chain((1..=unit_count - count).find(has_head));
            for range in starts.map(|start| start..start + count) {
                let chip = Chip::of(part.with_units(range.clone()));
                if chip.content.is_ok() {
                    return Ok(Some(Chip { within: Some((range, unit_count)), ..chip }));
                }
            }
        }
        Ok(Some(Chip::of(part.clone())))
    }

    /// A part as it was while a program was at work: what the program had in memory says what is live.
    pub fn at_work(cells: NorSim, content: &C) -> Chip<C> {
        Chip { cells, content: Ok(content.clone()), mount: Vec::new(), within: None }
    }

    /// The part.
    pub fn part(&self) -> NorPart {
        self.cells.spec().part
    }

    /// Its cells, wear and counters.
    pub fn cells(&self) -> &NorSim {
        &self.cells
    }

    /// What is mounted.
    ///
    /// # Errors
    /// Why nothing is.
    pub fn content(&self) -> Result<&C, String> {
        self.content.as_ref().map_err(Clone::clone)
    }

    /// What the mount programmed and erased.
    pub fn mount_operations(&self) -> &[Operation] {
        &self.mount
    }

    /// The part after the mount; as it is, where that fails.
    #[must_use]
    pub fn after_mount(&self) -> Chip<C> {
        match &self.content {
            Ok(content) => Chip { within: self.within.clone(), ..Chip::of(content.device().sim.clone()) },
            Err(_) => self.clone(),
        }
    }

    fn bytes_of(&self, unit: EraseUnit) -> Vec<u8> {
        let part = self.part();
        self.cells.peek(part.start_of(unit), part.unit_size_bytes as usize)
    }

    fn unit_at(&self, address: Address) -> Result<EraseUnit, String> {
        let part = self.part();
        match address.0 < part.size_bytes() {
            true => Ok(EraseUnit((address.0 / part.unit_size_bytes) as u16)),
            false => Err(format!("the part has no address {address}")),
        }
    }

    /// What is programmed at an address, in words.
    pub fn text_at(&self, address: Address) -> String {
        let Ok(unit) = self.unit_at(address) else { return "outside of the part".to_owned() };
        C::text_at(Cells { whole: &self.cells, unit, bytes: &self.bytes_of(unit) }, address)
    }

    /// An operation in words: what it does to which cells, as they are on this part.
    pub fn text_of(&self, operation: &Operation) -> String {
        match operation.act {
            Act::Erase(unit) => format!("erase {unit}"),
            Act::Program(address, bytes) => {
                format!("program {} at {address}: {}", counted(bytes as usize, "byte"), self.text_at(address))
            }
        }
    }
}

impl<C: Content> Shown for Chip<C> {
    fn overview(&mut self) -> Overview {
        let part = self.part();
        let counters = self.cells.counters();
        let units = (0..part.unit_count).map(EraseUnit).zip(self.cells.erase_counts()).map(|(unit, erases)| {
            let bytes = self.cells.peek(part.start_of(unit), C::HEAD_BYTES as usize);
            let (role, sequence) = C::role(Cells { whole: &self.cells, unit, bytes: &bytes });
            UnitOverview { erases, role, sequence }
        });
        Overview {
            part: self.cells.spec().name.to_string(),
            within: self.within.clone(),
            units_are: "units",
            units: units.collect(),
            unit_bytes: self.extent().1,
            content: self.content.as_ref().map_or_else(Clone::clone, |_| C::NAME.to_owned()),
            formats: C::FORMATS,
            panels: C::PANELS,
            tour: C::TOUR,
            kinds: C::KINDS,
            erases: counters.erases,
            programs: counters.programs(),
            is_mounted: self.content.is_ok(),
            mount: MountCalls::of(self.mount.iter().map(|one| matches!(one.act, Act::Erase(_)))),
            has_image: true,
        }
    }

    fn extent(&self) -> (u16, u32) {
        let part = self.part();
        (part.unit_count, part.unit_size_bytes)
    }

    fn areas(&mut self, unit: u16) -> Result<Vec<Area>, String> {
        if unit >= self.part().unit_count {
            return Err(format!("the part has no unit {unit}"));
        }
        let unit = EraseUnit(unit);
        let bytes = self.bytes_of(unit);
        let mut content = self.content.as_mut().ok();
        // What is read for a look is not counted.
        content.iter_mut().for_each(|content| content.device_mut().sim.freeze_counters());
        let areas = C::areas(Cells { whole: &self.cells, unit, bytes: &bytes }, content.as_deref_mut());
        content.iter_mut().for_each(|content| content.device_mut().sim.thaw_counters());
        Ok(areas)
    }

    fn counts(&mut self, unit: u16, areas: &[Area]) -> Value {
        let unit = EraseUnit(unit);
        C::counts(Cells { whole: &self.cells, unit, bytes: &self.bytes_of(unit) }, areas, self.content.as_ref().ok())
    }

    fn at(&mut self, address: Address) -> Result<(Found, Vec<u8>), String> {
        let unit = self.unit_at(address)?;
        let found = C::at(Cells { whole: &self.cells, unit, bytes: &self.bytes_of(unit) }, address);
        let bytes = self.cells.peek(found.at, found.bytes as usize);
        Ok((found, bytes))
    }

    fn ask(&mut self, question: &Value) -> Result<Value, String> {
        C::look(&self.cells, question).unwrap_or_else(|| {
            // A look may fail and leave marks in memory: it has a copy.
            self.content()?.clone().ask(question)
        })
    }

    fn mounted(&self) -> Option<Box<dyn Shown>> {
        self.content.is_ok().then(|| Box::new(self.after_mount()) as Box<dyn Shown>)
    }

    fn mount_texts(&self) -> Vec<String> {
        let after = self.after_mount();
        self.mount.iter().map(|operation| after.text_of(operation)).collect()
    }

    fn record(&self, seed: u64, calls: usize) -> Result<Box<dyn Recording>, String> {
        let mut play = Play::new(self.after_mount().content()?.clone());
        play.draw(seed, calls);
        Ok(Box::new(play))
    }

    fn image(&self) -> Result<ImageBytes, String> {
        Ok(self.cells.image_bytes())
    }
}

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

    fn without_operation(&self, operation: u64) -> Vec<&str> {
        let begins_here = |step: &&Step<C>| step.before.device().sim.operations() == operation;
        let is_without = |step: &&Step<C>| step.operations.is_empty();
        self.steps.iter().filter(begins_here).filter(is_without).map(|step| &*step.text).collect()
    }

    fn at(&self, operation: u64) -> Box<dyn Shown> {
        Box::new(self.chip_at(operation))
    }

    fn cut(&self, operation: u64, tear: Tear) -> Result<Box<dyn Shown>, String> {
        Ok(Box::new(self.chip_cut(operation, tear)?))
    }
}
