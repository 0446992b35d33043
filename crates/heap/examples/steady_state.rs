//! What an update costs in steady state, on the simulated device's counters, with either engine.
//!
//! `steady_state ENGINE PART OBJECTS ROW [ERASES]`: ENGINE is `log`, `log-detecting` (flipped bits), `tinystore`
//! (with delta records) or `tinystore-2006` (as published); PART is a name of the catalogue; ROW is `one` (a field of
//! an object), `all` (every field of an object, each by itself), `whole` (every field at once) or `ten` (a field in
//! each of ten objects, in a transaction). Objects have fifty fields of two bytes; 90% of the updates go to a fifth
//! of them. Runs until units were erased ERASES (200) times on average and three windows of twelve erases a unit
//! agree within 2%. Prints program units and erases an update of a field; words read by reading a field, on average
//! and at most; erases of the most worn unit by their mean; what a mount does.

use norn_flash::Nor;
use norn_flash_sim::{NorSim, catalogue};
use norn_heap::{Layout, ObjectHeap, Ref};
use norn_log_heap::LogHeapIn;
use norn_object_heap::{Config, HeapIn};

const FIELDS: usize = 50;

/// A heap of either engine, and its part.
trait Measured: ObjectHeap {
    fn part(&self) -> &NorSim;

    /// Mounts again, without a word before.
    fn remount(&mut self);
}

impl Measured for LogHeapIn<NorSim, Vec<norn_log_heap::UnitRow>> {
    fn part(&self) -> &NorSim {
        self.device()
    }

    fn remount(&mut self) {
        LogHeapIn::remount(self).unwrap();
    }
}

impl Measured for HeapIn<NorSim, Vec<norn_object_heap::UnitRow>> {
    fn part(&self) -> &NorSim {
        self.device()
    }

    fn remount(&mut self) {
        HeapIn::remount(self).unwrap();
    }
}

/// Objects, and what chooses among them.
struct Population {
    references: Vec<Ref>,
    random: fastrand::Rng,
}

impl Population {
    fn draw(&mut self) -> Ref {
        let hot = (self.references.len() / 5).max(1);
        let index = match self.random.f64() < 0.9 {
            true => self.random.usize(..hot),
            false => self.random.usize(hot..self.references.len()),
        };
        self.references[index]
    }

    /// Makes one call, or fifty; returns how many fields were updated.
    fn update(&mut self, heap: &mut impl Measured, row: &str) -> u64 {
        let object = self.draw();
        let value = self.random.u16(..).to_le_bytes();
        match row {
            "one" => heap.put_field(object, self.random.usize(..FIELDS), &value).unwrap(),
            "all" => (0..FIELDS).for_each(|field| heap.put_field(object, field, &value).unwrap()),
            "ten" => {
                heap.begin().unwrap();
                for number in 0..10 {
                    let object = if number == 0 { object } else { self.draw() };
                    heap.put_field(object, self.random.usize(..FIELDS), &value).unwrap();
                }
                heap.commit().unwrap();
            }
            "whole" => heap.put_fields(object, 0, &[value[0]; 2 * FIELDS]).unwrap(),
            other => panic!("no row {other}"),
        }
        match row {
            "one" => 1,
            "ten" => 10,
            _ => FIELDS as u64,
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, part, objects, row, rest @ ..] = &arguments[..] else { panic!("ENGINE PART OBJECTS ROW [ERASES]") };
    let mut spec = catalogue::by_name(part).expect("a part of the catalogue");
    spec.part.endurance_erases = None;
    let device = NorSim::new(spec);
    let units = usize::from(device.part().unit_count);
    let run = Run {
        name: format!("{engine} {part} {objects} {row}"),
        objects: objects.parse().expect("a number of objects"),
        row,
        erases_min: rest.first().map_or(200, |text| text.parse().expect("a number of erases")),
    };
    let config = match &**engine {
        "log" => return run.on_log(device, norn_log_heap::ErrorDetection::Off),
        "log-detecting" => return run.on_log(device, norn_log_heap::ErrorDetection::On),
        "tinystore" => Config::default(),
        "tinystore-2006" => Config::tinystore_2006(),
        other => panic!("no engine {other}"),
    };
    run.on(HeapIn::format_in(device, vec![norn_object_heap::UnitRow::UNUSED; units], config).unwrap());
}

/// What is asked for.
struct Run<'a> {
    name: String,
    objects: usize,
    row: &'a str,
    erases_min: u64,
}

impl Run<'_> {
    fn on_log(&self, device: NorSim, detection: norn_log_heap::ErrorDetection) {
        let rows = vec![norn_log_heap::UnitRow::UNUSED; usize::from(device.part().unit_count)];
        self.on(LogHeapIn::format_with_in(device, rows, detection).unwrap());
    }

    fn on(&self, mut heap: impl Measured) {
        let references = (0..self.objects).map(|_| heap.create(Layout::uniform(FIELDS, 2)).unwrap()).collect();
        let mut population = Population { references, random: fastrand::Rng::with_seed(22) };
        let (programs, erases) = measure(&mut heap, &mut population, self.row, self.erases_min);
        let counts: Vec<u32> = heap.part().erase_counts().collect();
        let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        let wear = f64::from(*counts.iter().max().unwrap()) / mean;
        let (reads, most) = reads(&mut heap, &mut population);
        let name = &self.name;
        println!("{name}: {programs:.2}/{erases:.5}, reads {reads:.1} at most {most}, wear {wear:.3} at {mean:.0}");
        let before = heap.part().counters();
        heap.remount();
        println!("  a mount without a word before it: {}", heap.part().counters() - before);
    }
}

/// Program units and erases an update.
fn measure(heap: &mut impl Measured, population: &mut Population, row: &str, erases_min: u64) -> (f64, f64) {
    let units = u64::from(heap.part().part().unit_count);
    let mut windows: Vec<(f64, f64)> = Vec::new();
    loop {
        let (before, mut updates) = (heap.part().counters(), 0);
        while (heap.part().counters() - before).erases < 12 * units {
            updates += population.update(heap, row);
        }
        let counted = heap.part().counters() - before;
        windows.push((counted.programs() as f64 / updates as f64, counted.erases as f64 / updates as f64));
        let last = &windows[windows.len().saturating_sub(3)..];
        let (least, most) = last.iter().fold((f64::MAX, 0.0f64), |(a, b), w| (a.min(w.0), b.max(w.0)));
        if last.len() == 3 && heap.part().counters().erases > erases_min * units && most - least < 0.02 * most {
            return (last.iter().map(|w| w.0).sum::<f64>() / 3.0, last.iter().map(|w| w.1).sum::<f64>() / 3.0);
        }
    }
}

/// Words that reading a field reads, on average and at most.
fn reads(heap: &mut impl Measured, population: &mut Population) -> (f64, u64) {
    let (mut sum, mut most) = (0, 0);
    for _ in 0..20_000 {
        let (object, field) = (population.draw(), population.random.usize(..FIELDS));
        let before = heap.part().counters();
        heap.get_field(object, field, &mut [0; 2]).unwrap();
        let read = (heap.part().counters() - before).reads();
        (sum, most) = (sum + read, most.max(read));
    }
    (sum as f64 / 20_000.0, most)
}
