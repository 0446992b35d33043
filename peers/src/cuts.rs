//! Power cuts: the same workload and the same cut points for every store, on a part of 16 units.
//!
//! 1. Fill the store, and run until units have been erased.
//! 2. Record the workload in *boots*: a mount and some updates each, with a copy of the part before, and every word and
//!    erase.
//! 3. Draw cut points: a place among all recorded words or erases, as a fraction of them, and how it is torn. Fractions
//!    and shapes come from one seed and are the same for all.
//! 4. For each, run its boot again up to the cut, turn the power on, mount, and compare with what was acknowledged: all
//!    of it is there, and the update in flight is whole or absent. Then run some more updates, mount and compare again.
//!
//! Invariant: a cut that did not come where it was planned counts as an error of this program, not as survived.

use std::panic::{AssertUnwindSafe, catch_unwind};

use norn_flash_sim::{NorSim, PartSpec, Tear, catalogue};

use crate::device::{Device, Operation};
use crate::store::{Begin, Failure, Opening, Peer, Record, Shape, Store, Update};
use crate::workload::Workload;

/// Erase units of the part.
const UNITS: u16 = 16;
/// Objects on it.
pub const OBJECTS: usize = 24;
/// Updates after each mount.
const UPDATES_PER_BOOT: usize = 10;
/// Mean erases of a unit before recording.
const WARM_UP_ERASES: u64 = 2;
/// Words that a store may read to come back after a cut, with the updates that follow.
const WORDS_READ_MAX: u64 = 2_000_000_000;

/// How the operation that the cut hits is torn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It does not happen.
    Clean,
    /// A word, in any shape.
    Word,
    /// An erase, in shapes that read the same each time.
    StableErase,
    /// An erase, with bits that read differently each time.
    UnstableErase,
}

/// All of them.
pub const KINDS: [Kind; 4] = [Kind::Clean, Kind::Word, Kind::StableErase, Kind::UnstableErase];

impl Kind {
    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Clean => "clean",
            Kind::Word => "torn word",
            Kind::StableErase => "torn erase",
            Kind::UnstableErase => "torn erase, unstable",
        }
    }

    fn hits(self, operation: &Operation) -> bool {
        match self {
            Kind::Clean => true,
            Kind::Word => matches!(operation, Operation::Word(_)),
            Kind::StableErase | Kind::UnstableErase => matches!(operation, Operation::Erase(_)),
        }
    }

    fn draw(self, random: &mut fastrand::Rng) -> Tear {
        loop {
            let tear = Tear::draw(random);
            match (self, tear) {
                (Kind::Clean, _) => return Tear::Nothing,
                (Kind::UnstableErase, _) => return Tear::Unstable(random.u64(..)),
                (_, Tear::Nothing) | (Kind::StableErase, Tear::Unstable(_)) => {}
                _ => return tear,
            }
        }
    }
}

/// The outcome of the cuts of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Survival {
    /// Cuts made.
    pub cuts: u64,
    /// After which everything was as it must be.
    pub survived: u64,
    /// After which the store did not mount.
    pub unmountable: u64,
    /// After which something acknowledged was lost or wrong, or the update in flight was half there.
    pub wrong: u64,
    /// After which the data were there, but further updates failed or lost some.
    pub unusable: u64,
    /// That did not come where they were planned.
    pub missed: u64,
    /// Of those not survived: the store then did what the part's contract does not allow, and was refused.
    pub refused: u64,
}

/// A store's cuts.
pub struct Cuts {
    /// For each of [`KINDS`].
    pub kinds: [Survival; 4],
    /// Updates that were recorded.
    pub updates: usize,
    /// Why they are fewer than those of other stores.
    pub ended: Option<Failure>,
}

/// How a store came back from one cut.
enum Fate {
    Survived,
    Unmountable,
    Wrong,
    Unusable,
    Missed,
}

/// Whether the part refused a call of the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refused {
    Yes,
    No,
}

/// One step of the workload: a field, or the whole object where the store can do that atomically.
#[derive(Clone)]
struct Step {
    update: Update,
    whole: Option<Record>,
}

impl Step {
    fn draw(workload: &mut Workload, number: usize) -> Step {
        let (update, record) = (workload.update(), workload.record());
        Step { update, whole: number.is_multiple_of(5).then_some(record) }
    }

    /// The step that the store carries out: the field alone if it has no transaction for the whole object.
    fn possible(mut self, can_whole: CanWhole) -> Step {
        if can_whole == CanWhole::No {
            self.whole = None;
        }
        self
    }

    fn run(&self, store: &mut dyn Store) -> Result<(), Failure> {
        match &self.whole {
            Some(record) => store.put_object(self.update.object, record),
            None => store.put_field(self.update),
        }
    }

    fn apply(&self, model: &mut [Record]) {
        match &self.whole {
            Some(record) => model[self.update.object].clone_from(record),
            None => {
                model[self.update.object][Shape::STANDARD.range(self.update.field)].copy_from_slice(&self.update.value)
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CanWhole {
    Yes,
    No,
}

/// One boot of the recorded workload.
struct Boot {
    part: NorSim,
    model: Vec<Record>,
    steps: Vec<Step>,
    operations: Vec<Operation>,
}

fn part() -> PartSpec {
    let mut spec = catalogue::tinystore();
    spec.part.unit_count = UNITS;
    spec
}

fn opening(begin: Begin) -> Opening {
    Opening { begin, objects: OBJECTS, shape: Shape::STANDARD }
}

fn mount(peer: &Peer, device: &Device) -> Result<Box<dyn Store>, Failure> {
    (peer.open)(device.clone(), opening(Begin::Mount))
}

/// Steps 1 and 2: a recording, and why it ended early if it did.
fn record(peer: &Peer, seed: u64, boots: usize, warm_up: u64) -> Result<(Vec<Boot>, Option<Failure>), Failure> {
    let device = Device::new(NorSim::new(part()));
    let mut workload = Workload::new(seed, OBJECTS, Shape::STANDARD);
    let mut model: Vec<Record> = (0..OBJECTS).map(|_| workload.record()).collect();
    let mut store = (peer.open)(device.clone(), opening(Begin::Format))?;
    model.iter().enumerate().try_for_each(|(object, record)| store.create(object, record))?;
    let can_whole = match store.put_object(0, &model[0]) {
        Err(Failure::Unsupported(_)) => CanWhole::No,
        other => other.map(|()| CanWhole::Yes)?,
    };
    let start = device.counters().erases;
    while device.counters().erases - start < warm_up * u64::from(UNITS) {
        let step = Step::draw(&mut workload, 1);
        step.run(&mut *store)?;
        step.apply(&mut model);
    }
    let mut recorded = Vec::with_capacity(boots);
    for _ in 0..boots {
        let steps: Vec<Step> =
            (0..UPDATES_PER_BOOT).map(|number| Step::draw(&mut workload, number).possible(can_whole)).collect();
        let (before, earlier) = (device.snapshot(), model.clone());
        device.start_trace();
        let run = mount(peer, &device).and_then(|mut store| steps.iter().try_for_each(|step| step.run(&mut *store)));
        if let Err(failure) = run {
            return Ok((recorded, Some(failure)));
        }
        steps.iter().for_each(|step| step.apply(&mut model));
        recorded.push(Boot { part: before, model: earlier, steps, operations: device.take_trace() });
    }
    device.discard();
    Ok((recorded, None))
}

/// Runs a boot up to the planned cut. Gives what was acknowledged, and what may also be there.
fn run_to_cut(peer: &Peer, boot: &Boot, device: &Device) -> (Vec<Record>, Vec<Record>) {
    let mut model = boot.model.clone();
    if let Ok(mut store) = mount(peer, device) {
        for step in &boot.steps {
            let mut after = model.clone();
            step.apply(&mut after);
            if step.run(&mut *store).is_err() {
                return (model, after);
            }
            model = after;
        }
    }
    (model.clone(), model)
}

/// Whether the store has what was acknowledged; if so, what it has.
fn compare(store: &mut dyn Store, model: &[Record], after: &[Record]) -> Option<Vec<Record>> {
    let found = store.get_all(model.len()).ok()?;
    let possible = |(object, record): (usize, &Record)| *record == model[object] || *record == after[object];
    found.iter().enumerate().all(possible).then_some(found)
}

/// Step 4, after the cut.
fn come_back(peer: &Peer, device: &Device, (model, after): (&[Record], &[Record]), next: &[Step]) -> Fate {
    let Ok(mut store) = mount(peer, device) else { return Fate::Unmountable };
    let Some(mut model) = compare(&mut *store, model, after) else { return Fate::Wrong };
    for step in next {
        if step.run(&mut *store).is_err() {
            return Fate::Unusable;
        }
        step.apply(&mut model);
    }
    drop(store);
    let again = mount(peer, device).ok().and_then(|mut store| compare(&mut *store, &model, &model));
    if again.is_some() { Fate::Survived } else { Fate::Unusable }
}

/// One cut: at this operation of the boot.
fn cut(peer: &Peer, boot: &Boot, operation: usize, tear: Tear) -> (Fate, Refused) {
    let device = Device::new(boot.part.clone());
    device.cut_power_after(operation as u64, tear);
    let refusals = device.refusals();
    let outcome = catch_unwind(AssertUnwindSafe(|| run_to_cut(peer, boot, &device)));
    let came = device.is_off();
    device.power_on();
    device.limit_reads(WORDS_READ_MAX);
    let fate = match outcome {
        _ if !came => Fate::Missed,
        Err(_) => Fate::Wrong, // It panicked when its device failed.
        Ok((model, after)) => {
            let back = || come_back(peer, &device, (&model, &after), &boot.steps);
            catch_unwind(AssertUnwindSafe(back)).unwrap_or(Fate::Unmountable)
        }
    };
    let refused = if device.refusals() > refusals { Refused::Yes } else { Refused::No };
    device.discard();
    (fate, refused)
}

/// Cuts the power of one store at a number of points of each kind, in a recording of several boots.
///
/// # Errors
/// What the store said when it could not run the workload even without cuts.
pub fn survive(peer: &Peer, seed: u64, boots: usize, cuts: u64) -> Result<Cuts, Failure> {
    let recorded = record(peer, seed, boots, WARM_UP_ERASES).ok().filter(|(_, failure)| failure.is_none());
    // A store that does not last through the warm-up is cut from its first update on, as far as it gets.
    let (boots, ended) = recorded.map_or_else(|| record(peer, seed, boots, 0), Ok)?;
    let kinds = KINDS.map(|kind| survive_kind(peer, &boots, kind, fastrand::Rng::with_seed(seed), cuts));
    Ok(Cuts { kinds, updates: boots.len() * UPDATES_PER_BOOT, ended })
}

fn survive_kind(peer: &Peer, boots: &[Boot], kind: Kind, mut random: fastrand::Rng, cuts: u64) -> Survival {
    let places: Vec<(usize, usize)> = (boots.iter().enumerate())
        .flat_map(|(boot, recorded)| {
            let hit = move |(at, operation): (usize, &Operation)| kind.hits(operation).then_some((boot, at));
            recorded.operations.iter().enumerate().filter_map(hit)
        })
        .collect();
    let mut survival = Survival::default();
    if places.is_empty() {
        return survival;
    }
    for _ in 0..cuts {
        let place = (random.f64() * places.len() as f64) as usize;
        let tear = kind.draw(&mut random);
        let (boot, operation) = places[place];
        survival.cuts += 1;
        let (fate, refused) = cut(peer, &boots[boot], operation, tear);
        survival.refused += u64::from(!matches!(fate, Fate::Survived) && refused == Refused::Yes);
        match fate {
            Fate::Survived => survival.survived += 1,
            Fate::Unmountable => survival.unmountable += 1,
            Fate::Wrong => survival.wrong += 1,
            Fate::Unusable => survival.unusable += 1,
            Fate::Missed => survival.missed += 1,
        }
    }
    survival
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Kind, Value};

    /// A store so simple that what becomes of it is known: each update erases the next unit, and programs all objects
    /// into it after a count, with a sum; or it programs a word and keeps nothing.
    struct Pretender {
        device: Device,
        keeps: Keeps,
        records: Vec<Record>,
        updates: u32,
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Keeps {
        /// Everything.
        OnThePart,
        /// Nothing.
        Nothing,
    }

    impl Pretender {
        fn save(&mut self, object: usize) -> Result<(), Failure> {
            self.updates += 1;
            let unit = (self.updates % u32::from(UNITS)) as u16;
            self.device.erase_unit(unit).map_err(Failure::of)?;
            if self.keeps == Keeps::OnThePart {
                let bytes: Vec<u8> = self.records.iter().flatten().copied().collect();
                let mut sealed = vec![self.updates as u8, (self.updates >> 8) as u8];
                sealed.extend(bytes);
                let sum = sealed.iter().fold(1u64, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
                sealed.extend(sum.to_le_bytes());
                return self.device.program_at(u32::from(unit) * 8192, &sealed).map_err(Failure::of);
            }
            self.device.program_at(u32::from(unit) * 8192, &self.records[object][..2]).map_err(Failure::of)
        }
    }

    fn open(device: Device, opening: Opening, keeps: Keeps) -> Result<Box<dyn Store>, Failure> {
        let mut store = Pretender { device, keeps, records: vec![vec![0; 100]; opening.objects], updates: 0 };
        let length = 2 + 100 * opening.objects;
        for unit in 0..u32::from(UNITS) {
            let mut sealed = vec![0; length + 8];
            store.device.read_at(unit * 8192, &mut sealed).map_err(Failure::of)?;
            let sum =
                sealed[..length].iter().fold(1u64, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
            let updates = u32::from(sealed[0]) | u32::from(sealed[1]) << 8;
            if sum.to_le_bytes() == sealed[length..] && updates > store.updates {
                store.updates = updates;
                for (object, bytes) in sealed[2..length].chunks_exact(100).enumerate() {
                    store.records[object] = bytes.to_vec();
                }
            }
        }
        Ok(Box::new(store))
    }

    impl Store for Pretender {
        fn create(&mut self, object: usize, record: &[u8]) -> Result<(), Failure> {
            self.put_object(object, record)
        }
        fn put_field(&mut self, update: Update) -> Result<(), Failure> {
            self.records[update.object][Shape::STANDARD.range(update.field)].copy_from_slice(&update.value);
            self.save(update.object)
        }
        fn put_object(&mut self, object: usize, record: &[u8]) -> Result<(), Failure> {
            self.records[object] = record.to_vec();
            self.save(object)
        }
        fn put_group(&mut self, _: &[Update]) -> Result<(), Failure> {
            Err(Failure::Unsupported("no groups"))
        }
        fn get_field(&mut self, object: usize, field: usize) -> Result<Value, Failure> {
            Ok(Value::new(&self.records[object][Shape::STANDARD.range(field)]))
        }
        fn get_object(&mut self, object: usize) -> Result<Record, Failure> {
            Ok(self.records[object].clone())
        }
        fn ram_bytes(&self) -> usize {
            0
        }
    }

    fn pretender(keeps: Keeps) -> Peer {
        let open = Box::new(move |device, opening| open(device, opening, keeps));
        Peer { kind: Kind::Peer, name: "pretender", version: "", notes: "", open, fill: None }
    }

    #[test]
    fn a_store_that_keeps_nothing_survives_nothing() {
        let cuts = survive(&pretender(Keeps::Nothing), 7, 5, 20).unwrap();
        for survival in cuts.kinds {
            assert_eq!((survival.cuts, survival.survived, survival.wrong), (20, 0, 20));
        }
    }

    #[test]
    fn a_store_that_seals_a_copy_of_everything_survives_every_cut() {
        let cuts = survive(&pretender(Keeps::OnThePart), 7, 5, 20).unwrap();
        for survival in cuts.kinds {
            assert_eq!((survival.cuts, survival.survived, survival.missed), (20, 20, 0));
        }
    }
}
