//! What an update costs in steady state, on the simulated device's counters.
//!
//! `steady_state PART OBJECTS ROW [ERASES]`: PART is a name of the catalogue; ROW is `one` (a field of an object),
//! `all` (every field of an object, each by itself), `whole` (every field at once) or `ten` (a field in each of ten
//! objects, in a transaction). Objects have fifty fields of
//! two bytes; 90 % of the updates go to a fifth of them. Runs until units were erased ERASES (200) times on average
//! and three windows of twelve erases a unit agree within 2 %. Prints program units and erases an update of a field;
//! words read by reading a field, on average and at most; erases of the most worn unit by their mean; what a mount
//! does.

use norn_flash::NorPart;
use norn_flash_sim::{NorSim, catalogue};
use norn_log_heap::{Layout, LogHeapIn, Ref, UnitRow};

const FIELDS: usize = 50;

type Heap = LogHeapIn<NorSim, Vec<UnitRow>>;

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
    fn update(&mut self, heap: &mut Heap, row: &str) -> u64 {
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
    let [part, objects, row, rest @ ..] = &arguments[..] else { panic!("PART OBJECTS ROW [ERASES]") };
    let mut spec = catalogue::by_name(part).expect("a part of the catalogue");
    spec.part.endurance_erases = None;
    let part: NorPart = spec.part;
    let erases_min: u64 = rest.first().map_or(200, |text| text.parse().expect("a number of erases"));
    let rows = vec![UnitRow::UNUSED; UnitRow::count_for(&part)];
    let mut heap = Heap::format_in(NorSim::new(spec), rows).unwrap();
    let count: usize = objects.parse().expect("a number of objects");
    let references = (0..count).map(|_| heap.create(Layout::uniform(FIELDS, 2)).unwrap()).collect();
    let mut population = Population { references, random: fastrand::Rng::with_seed(22) };
    let (programs, erases) = measure(&mut heap, &mut population, row, erases_min);
    let counts: Vec<u32> = heap.device().erase_counts().collect();
    let mean = counts.iter().sum::<u32>() as f64 / counts.len() as f64;
    let wear = f64::from(*counts.iter().max().unwrap()) / mean;
    let (reads, most) = reads(&mut heap, &mut population);
    println!(
        "{} {count} {row}: {programs:.2}/{erases:.5}, reads {reads:.1} at most {most}, wear {wear:.3} at {mean:.0}",
        arguments[0]
    );
    let before = heap.device().counters();
    heap.remount().unwrap();
    println!("  a mount without `rest` before it: {}", heap.device().counters() - before);
}

/// Program units and erases an update.
fn measure(heap: &mut Heap, population: &mut Population, row: &str, erases_min: u64) -> (f64, f64) {
    let units = u64::from(norn_flash::Nor::part(heap.device()).unit_count);
    let mut windows: Vec<(f64, f64)> = Vec::new();
    loop {
        let (before, mut updates) = (heap.device().counters(), 0);
        while (heap.device().counters() - before).erases < 12 * units {
            updates += population.update(heap, row);
        }
        let counted = heap.device().counters() - before;
        windows.push((counted.programs() as f64 / updates as f64, counted.erases as f64 / updates as f64));
        let last = &windows[windows.len().saturating_sub(3)..];
        let (least, most) = last.iter().fold((f64::MAX, 0.0f64), |(a, b), w| (a.min(w.0), b.max(w.0)));
        if last.len() == 3 && heap.device().counters().erases > erases_min * units && most - least < 0.02 * most {
            return (last.iter().map(|w| w.0).sum::<f64>() / 3.0, last.iter().map(|w| w.1).sum::<f64>() / 3.0);
        }
    }
}

/// Words that reading a field reads, on average and at most.
fn reads(heap: &mut Heap, population: &mut Population) -> (f64, u64) {
    let (mut sum, mut most) = (0, 0);
    for _ in 0..20_000 {
        let (object, field) = (population.draw(), population.random.usize(..FIELDS));
        let before = heap.device().counters();
        heap.get_field(object, field, &mut [0; 2]).unwrap();
        let read = (heap.device().counters() - before).reads();
        (sum, most) = (sum + read, most.max(read));
    }
    (sum as f64 / 20_000.0, most)
}
