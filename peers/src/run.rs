//! The run: every store, at every number of objects, then the cuts; several at a time, with a progress bar.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Arguments;
use crate::cuts;
use crate::measure::{self, Bounds};
use crate::outcome::{Outcome, RunError};
use crate::store::Peer;
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
    all.into_iter().flatten().filter(|peer| peer.name.contains(only)).collect()
}

/// Measures one store.
fn outcome(peer: Peer, arguments: &Arguments, progress: &ProgressBar) -> Outcome {
    let (bounds, (boots, cuts)) = if arguments.quick { (Bounds::QUICK, CUTS_QUICK) } else { (Bounds::FULL, CUTS_FULL) };
    let seed = arguments.seed;
    let step = |what: String| {
        progress.set_message(format!("{}: {what}", peer.name));
        progress.inc(1);
        if progress.is_hidden() {
            eprintln!("{}: {what}", peer.name);
        }
    };
    let mut cases = Vec::new();
    let numbers = if arguments.quick { &arguments.objects[..1] } else { &arguments.objects[..] };
    for &objects in numbers {
        step(format!("{objects} objects"));
        cases.push(measure::measure(&peer, objects, seed, &bounds));
    }
    step("capacity".to_owned());
    let capacity = measure::capacity(&peer, seed, &bounds);
    step("the most objects".to_owned());
    let most = capacity.filter(|capacity| capacity.in_use > 0 && !arguments.quick);
    let most = most.map(|capacity| measure::measure(&peer, capacity.in_use, seed, &bounds));
    step("power cuts".to_owned());
    let cuts = cuts::survive(&peer, seed, boots, cuts);
    Outcome { peer, capacity, cases, most, cuts }
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
    let steps = peers.len() * (arguments.objects.len() + 3);
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
    use crate::store::{Failure, Opening, Record, Store};
    use crate::workload::Workload;

    const OBJECTS: usize = 40;

    /// Everything that was put is there, while the store is in use and after a mount.
    fn agrees(store: &mut dyn Store, model: &[Record], name: &str) {
        for (object, record) in model.iter().enumerate() {
            assert_eq!(store.get_object(object).as_ref(), Ok(record), "{name}: object {object}");
            assert_eq!(store.get_field(object, 49), Ok(record[49]), "{name}: object {object}");
        }
    }

    #[test]
    fn every_store_agrees_with_a_model() {
        for peer in peers("") {
            let device = Device::new(NorSim::new(measure::part()));
            let mut workload = Workload::new(5, OBJECTS);
            let mut model: Vec<Record> = (0..OBJECTS).map(|_| workload.record()).collect();
            let mut store = (peer.open)(device.clone(), Opening::Format { objects: OBJECTS }).unwrap();
            model.iter().enumerate().for_each(|(object, record)| store.create(object, record).unwrap());
            for _ in 0..100 {
                let (update, record, group) = (workload.update(), workload.record(), workload.group());
                store.put_field(update).unwrap();
                model[update.object][update.field] = update.value;
                match store.put_object(update.object, &record) {
                    Err(Failure::Unsupported(_)) => {}
                    other => {
                        other.unwrap();
                        model[update.object] = record;
                    }
                }
                match store.put_group(&group) {
                    Err(Failure::Unsupported(_)) => continue,
                    other => other.unwrap(),
                }
                group.iter().for_each(|update| model[update.object][update.field] = update.value);
            }
            agrees(&mut *store, &model, peer.name);
            assert_eq!(store.get_all(OBJECTS).as_ref(), Ok(&model), "{}", peer.name);
            drop(store);
            let mut store = (peer.open)(device.clone(), Opening::Mount { objects: OBJECTS }).unwrap();
            agrees(&mut *store, &model, peer.name);
            assert_eq!(device.refusals(), 0, "{}: calls that the part's contract forbids", peer.name);
        }
    }
}
