//! The run: every store, at every number of objects, then the cuts; several at a time, with a progress bar.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::{Arguments, Part};
use crate::capacity;
use crate::cuts;
use crate::figure_text::one_line;
use crate::measure::{self, Case, Extent, FILL_ROWS, Population, ROWS, Row};
use crate::outcome::{Fill, Outcome, RunError, SHARES};
use crate::steady::Length;
use crate::store::{Peer, Shape};
use crate::{ekv_store, littlefs, norn, report, sequential, tickv_store, wasefire};

/// Boots that are recorded, and cuts of each kind.
const CUTS_FULL: (usize, u64) = (1_000, 100);
const CUTS_QUICK: (usize, u64) = (20, 4);

fn peers(only: &str) -> Vec<Peer> {
    let all = [
        norn::peers(),
        sequential::peers(),
        ekv_store::peers(),
        littlefs::peers(),
        wasefire::peers(),
        tickv_store::peers(),
    ];
    let all: Vec<Peer> = all.into_iter().flatten().collect();
    let is_name = all.iter().any(|peer| peer.name == only);
    all.into_iter().filter(|peer| peer.name == only || !is_name && peer.name.contains(only)).collect()
}

/// The measurement of one store.
struct Measurement<'a> {
    peer: &'a Peer,
    arguments: &'a Arguments,
    progress: &'a ProgressBar,
}

impl Measurement<'_> {
    fn asks_for(&self, part: Part) -> bool {
        self.arguments.parts.contains(&part)
    }

    /// Says what has been done: a run that is interrupted leaves its figures so.
    fn tell(&self, text: &str) {
        let seconds = self.progress.elapsed().as_secs();
        self.progress.suspend(|| eprintln!("{seconds} s: {}: {text}", self.peer.name));
    }

    fn case(&self, objects: usize, shape: Shape, rows: &[Row], length: Length) -> Case {
        let population = Population { objects, shape, seed: self.arguments.seed };
        let extent = Extent { rows, length, bounds: &self.arguments.bounds() };
        let case = measure::measure(self.peer, population, &extent, &|population, row, result| {
            self.tell(&one_line(population, row, result));
        });
        self.progress.inc(1);
        case
    }

    fn fill(&self, shape: Shape) -> Fill {
        let length = self.arguments.bounds().fill_length;
        let capacity = capacity::capacity(self.peer, shape, self.arguments.seed, &length);
        self.tell(&format!("holds {} objects of {} bytes", capacity.in_use, shape.bytes()));
        self.progress.inc(1);
        let objects = SHARES.map(|share| (capacity.in_use * share / 100).max(1));
        let cases = objects.map(|objects| self.case(objects, shape, &FILL_ROWS, length)).into();
        Fill { shape, capacity, cases }
    }

    fn cases(&self) -> Vec<Case> {
        let objects = self.arguments.objects.iter().filter(|_| self.asks_for(Part::Rows));
        let length = self.arguments.bounds().length;
        objects.map(|&objects| self.case(objects, Shape::STANDARD, &ROWS, length)).collect()
    }

    fn fills(&self) -> Vec<Fill> {
        let sizes = self.arguments.bytes.iter().filter(|_| self.asks_for(Part::Fill));
        sizes.map(|&bytes| self.fill(Shape::of(bytes))).collect()
    }

    fn cuts(&self) -> Option<Result<cuts::Cuts, crate::store::Failure>> {
        let (boots, cuts) = if self.arguments.quick { CUTS_QUICK } else { CUTS_FULL };
        self.asks_for(Part::Cuts).then(|| {
            let cuts = cuts::survive(self.peer, self.arguments.seed, boots, cuts);
            self.progress.inc(1);
            cuts
        })
    }
}

/// Measures one store.
fn outcome(peer: Peer, arguments: &Arguments, progress: &ProgressBar) -> Outcome {
    let measurement = Measurement { peer: &peer, arguments, progress };
    let (cases, fills, cuts) = (measurement.cases(), measurement.fills(), measurement.cuts());
    Outcome { peer, cases, fills, cuts }
}

/// Measures all of them and writes the report.
///
/// # Errors
/// If no store is asked for, or the report cannot be written.
pub fn run(arguments: &Arguments) -> Result<(), RunError> {
    let peers: Vec<Mutex<Option<Peer>>> =
        peers(&arguments.only).into_iter().map(|peer| Mutex::new(Some(peer))).collect();
    if peers.is_empty() {
        return Err(RunError::NoSuchStore(arguments.only.clone()));
    }
    if let Some(directory) = &arguments.out {
        std::fs::create_dir_all(directory)?; // Now: the run takes minutes.
    }
    let steps = peers.len() * (arguments.objects.len() + 3 * arguments.bytes.len() + 1);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}").expect("a valid template");
    let progress = ProgressBar::new(steps as u64).with_style(style);
    // A store that panics on a damaged part is counted; its message would only hide the progress.
    std::panic::set_hook(Box::new(|_| {}));
    let outcomes: Vec<Mutex<Option<Outcome>>> = peers.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let jobs = arguments.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(slot) = peers.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let number = peers.iter().position(|other| std::ptr::eq(other, slot)).expect("it is one of them");
                    let peer = slot.lock().expect("no thread panics").take().expect("each is taken once");
                    let outcome = outcome(peer, arguments, &progress);
                    *outcomes[number].lock().expect("no thread panics") = Some(outcome);
                }
            });
        }
    });
    let _ = std::panic::take_hook();
    progress.finish_and_clear();
    let outcomes: Vec<Outcome> = outcomes
        .into_iter()
        .map(|slot| slot.into_inner().expect("no thread panics").expect("it was measured"))
        .collect();
    report::write(&outcomes, arguments)
}

#[cfg(test)]
mod tests {
    use norn_flash_sim::NorSim;

    use super::*;
    use crate::device::Device;
    use crate::store::{Begin, Failure, Opening, Record, Store, Update};
    use crate::workload::Workload;

    const OBJECTS: usize = 40;

    /// Everything that was put is there, while the store is in use and after a mount.
    fn agrees(store: &mut dyn Store, model: &[Record], shape: Shape, name: &str) {
        for (object, record) in model.iter().enumerate() {
            assert_eq!(store.get_object(object).as_ref(), Ok(record), "{name}: object {object}");
            let (field, last) = (shape.fields - 1, &record[shape.range(shape.fields - 1)]);
            assert_eq!(&*store.get_field(object, field).unwrap(), last, "{name}: object {object}");
        }
    }

    /// Updates of every kind that the store has, in the store and in the model.
    fn update(store: &mut dyn Store, model: &mut [Record], workload: &mut Workload) {
        let (update, record, group) = (workload.update(), workload.record(), workload.group());
        let shape = workload.shape();
        let apply = |model: &mut [Record], update: &Update| {
            model[update.object][shape.range(update.field)].copy_from_slice(&update.value);
        };
        store.put_field(update).unwrap();
        apply(model, &update);
        match store.put_object(update.object, &record) {
            Err(Failure::Unsupported(_)) => {}
            other => {
                other.unwrap();
                model[update.object] = record;
            }
        }
        match store.put_group(&group) {
            Err(Failure::Unsupported(_)) => {}
            other => {
                other.unwrap();
                group.iter().for_each(|update| apply(model, update));
            }
        }
    }

    #[test]
    fn every_store_agrees_with_a_model() {
        for (peer, bytes) in peers("").iter().flat_map(|peer| [8, 32, 100, 1000].map(|bytes| (peer, bytes))) {
            let (shape, device) = (Shape::of(bytes), Device::new(NorSim::new(measure::part())));
            let opening = |begin| Opening { begin, objects: OBJECTS, shape };
            let mut workload = Workload::new(5, OBJECTS, shape);
            let mut model: Vec<Record> = (0..OBJECTS).map(|_| workload.record()).collect();
            let mut store = (peer.open)(device.clone(), opening(Begin::Format)).unwrap();
            model.iter().enumerate().for_each(|(object, record)| store.create(object, record).unwrap());
            (0..100).for_each(|_| update(&mut *store, &mut model, &mut workload));
            let name = format!("{}, {bytes} bytes", peer.name);
            agrees(&mut *store, &model, shape, &name);
            assert_eq!(store.get_all(OBJECTS).as_ref(), Ok(&model), "{name}");
            drop(store);
            let mut store = (peer.open)(device.clone(), opening(Begin::Mount)).unwrap();
            agrees(&mut *store, &model, shape, &name);
            assert_eq!(device.refusals(), 0, "{name}: calls that the part's contract forbids");
        }
    }
}
