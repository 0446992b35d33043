//! The heap that TinyStore was compared with, beside the figures that the paper states for its own (section 6.3).
//!
//! The part is the paper's: 448 KB, words of 1, 2 or 4 bytes, 100 ns a read, 3.5 ms and 30 µs a write; the commit log has 8 KB, the size of
//! an erase unit. Objects have fifty fields of two bytes, arrays elements of one byte. Half full is half of the objects that the
//! flash heap has room for when every list has two records, so that the two can be laid side by side.
//!
//! Run it with `make bench`, or `cargo run --release -p norn-object-heap --example eeprom`.

use norn_flash_sim::{Counters, EepromSim, NorSim, catalogue};
use norn_object_heap::{Config, EepromHeap, Elements, Heap, Layout, ObjectHeap, Ref};

const LOG_BYTES: u32 = 8 * 1024;
const FIELDS: usize = 50;
const SEED: u64 = 2006;
const UPDATES: u64 = 200_000;
/// Writes of a byte after which it counts as worn. The paper's 100,000 take long; its authors saw very similar results with this.
const ENDURANCE: u32 = 10_000;

type SimHeap = EepromHeap<EepromSim>;

fn heap() -> SimHeap {
    EepromHeap::format(EepromSim::new(catalogue::tinystore_eeprom()), LOG_BYTES).unwrap()
}

fn fifty<H: ObjectHeap>(heap: &mut H) -> Option<Ref> {
    heap.create(Layout::uniform(FIELDS, 2)).ok()
}

/// Objects that the flash heap has room for when every list has two records.
fn flash_capacity() -> usize {
    let mut heap: Heap<_, 64> = Heap::format(NorSim::new(catalogue::tinystore()), Config::tinystore_2006()).unwrap();
    let mut count = 0;
    while let Some(object) = fifty(&mut heap) {
        // The first update goes to the first record, the second makes another, or compacts where there is no room.
        if (1..=2u8).any(|value| heap.put_field(object, 0, &[value; 2]).is_err()) {
            break;
        }
        if heap.info(object).unwrap().records < 2 {
            break;
        }
        count += 1;
    }
    count
}

/// Which field is updated next.
#[derive(Clone, Copy, Debug)]
enum Workload {
    SingleObjectSingleField,
    SingleObjectAllFields,
    TotallyRandom,
    HotAndCold,
    SequentialObjectsAllFields,
}

impl Workload {
    fn name(self) -> &'static str {
        match self {
            Workload::HotAndCold => "20/80AllFields",
            Workload::SingleObjectSingleField => "SingleObjectSingleField",
            Workload::SingleObjectAllFields => "SingleObjectAllFields",
            Workload::TotallyRandom => "TotallyRandom",
            Workload::SequentialObjectsAllFields => "SequentialObjectsAllFields",
        }
    }

    /// The object and field of update `number`.
    fn next(self, number: u64, last: usize, objects: usize, random: &mut fastrand::Rng) -> (usize, usize) {
        let (round, field) = ((number / FIELDS as u64) as usize, (number % FIELDS as u64) as usize);
        let hot = objects / 5;
        match self {
            Workload::SingleObjectSingleField => (0, 0),
            Workload::SingleObjectAllFields => (0, field),
            Workload::TotallyRandom => (random.usize(..objects), random.usize(..FIELDS)),
            Workload::HotAndCold if field > 0 => (last, field),
            Workload::HotAndCold if random.f64() < 0.9 => (random.usize(..hot), 0),
            Workload::HotAndCold => (random.usize(hot..objects), 0),
            Workload::SequentialObjectsAllFields => (round % objects, field),
        }
    }
}

/// Updates until `stop` or the first failure; returns their number.
fn run(heap: &mut SimHeap, objects: &[Ref], workload: Workload, stop: u64) -> u64 {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut last = 0;
    for number in 0..stop {
        let (object, field) = workload.next(number, last, objects.len(), &mut random);
        last = object;
        // A value that differs from the last one.
        let mut value = [0; 2];
        heap.get_field(objects[object], field, &mut value).unwrap();
        let next = u16::from_le_bytes(value).wrapping_add(random.u16(1..));
        if heap.put_field(objects[object], field, &next.to_le_bytes()).is_err() {
            return number;
        }
    }
    stop
}

fn print_updates(objects: usize) {
    println!(
        "A field update, {objects} objects, {UPDATES} updates, seed {SEED}; reads are with one read of the field.\n"
    );
    println!(
        "| workload | reads | writes | erases | ms | wear max/mean of all bytes | updates until a byte has {ENDURANCE} |"
    );
    println!("|---|---|---|---|---|---|---|");
    for workload in [
        Workload::SingleObjectSingleField,
        Workload::SingleObjectAllFields,
        Workload::TotallyRandom,
        Workload::HotAndCold,
        Workload::SequentialObjectsAllFields,
    ] {
        let mut heap = heap();
        heap.device_mut().set_endurance(None);
        let objects: Vec<Ref> = (0..objects).map(|_| fifty(&mut heap).expect("room")).collect();
        let (before, time) = (heap.device().counters(), heap.device().elapsed_ns());
        let mut worn = heap.clone();
        run(&mut heap, &objects, workload, UPDATES);
        let counters: Counters = heap.device().counters() - before;
        let per = |count: u64| count as f64 / UPDATES as f64;
        let ms = per(heap.device().elapsed_ns() - time) / 1e6;
        let wear = heap.device().wear();
        worn.device_mut().set_endurance(Some(ENDURANCE));
        let lifetime = run(&mut worn, &objects, workload, u64::MAX);
        println!(
            "| {} | {:.2} | {:.2} | {:.2} | {ms:.2} | {} / {:.2} | {lifetime} |",
            workload.name(),
            per(counters.reads()),
            per(counters.programs()),
            per(counters.erases),
            wear.max,
            wear.mean,
        );
    }
    println!("| published | – | 11 | 11 | – | – | 100,000 at 100,000 for a single field |\n");
}

fn print_transaction() {
    let mut heap = heap();
    let object = fifty(&mut heap).unwrap();
    let before = heap.device().counters();
    heap.begin().unwrap();
    for field in 0..FIELDS {
        heap.put_field(object, field, &[7; 2]).unwrap();
    }
    heap.commit().unwrap();
    let writes = (heap.device().counters() - before).programs();
    println!("All fifty fields in one transaction: {:.2} writes a field.\n", writes as f64 / FIELDS as f64);
}

fn print_copies() {
    println!("ArrayCopy beside ArrayFillNonAtomic, arrays of bytes, per element; published: 7 to 8 times.\n");
    println!("| elements | copy: reads | writes | ms | fill: reads | writes | ms | ms, ratio |");
    println!("|---|---|---|---|---|---|---|---|");
    for count in [10, 50, 100, 250, 1000, 4000] {
        let mut heap = heap();
        let [from, to] = [0, 1].map(|_| heap.create_array(count, 1, b"").unwrap());
        let all = |array| Elements { array, first: 0, count };
        let mut figures = [[0.0; 3]; 2];
        const ROUNDS: u8 = 100;
        for round in 0..ROUNDS {
            for (which, figures) in figures.iter_mut().enumerate() {
                let (before, time) = (heap.device().counters(), heap.device().elapsed_ns());
                match which {
                    0 => heap.array_copy(all(from), (to, 0)).unwrap(),
                    _ => heap.array_fill_non_atomic(all(from), &[round + 1]).unwrap(),
                }
                if round > 0 {
                    let counters = heap.device().counters() - before;
                    let ns = heap.device().elapsed_ns() - time;
                    let sums = [counters.reads() as f64, counters.programs() as f64, ns as f64 / 1e6];
                    figures.iter_mut().zip(sums).for_each(|(figure, sum)| *figure += sum);
                }
            }
        }
        let [copy, fill] = figures.map(|figures| figures.map(|sum| sum / f64::from(ROUNDS - 1) / count as f64));
        println!(
            "| {count} | {:.2} | {:.3} | {:.3} | {:.2} | {:.3} | {:.3} | {:.2} |",
            copy[0],
            copy[1],
            copy[2],
            fill[0],
            fill[1],
            fill[2],
            copy[2] / fill[2],
        );
    }
    println!();
}

fn print_capacity() {
    println!(
        "Bytes of arrays of bytes that fit, of 448 KB; published: under 65% of 10 bytes, 83 to 98% of large ones.\n"
    );
    println!("| bytes an array | EEPROM | flash |");
    println!("|---|---|---|");
    for bytes in [10, 20, 50, 100, 200, 500, 1000, 5000, 20_000] {
        let share = |count: usize| 100.0 * (count * bytes) as f64 / (448.0 * 1024.0);
        let flash: Heap<_, 64> = Heap::format(NorSim::new(catalogue::tinystore()), Config::tinystore_2006()).unwrap();
        println!("| {bytes} | {:.1}% | {:.1}% |", share(fill(heap(), bytes)), share(fill(flash, bytes)));
    }
}

fn fill<H: ObjectHeap>(mut heap: H, bytes: usize) -> usize {
    std::iter::from_fn(|| heap.create_array(bytes, 1, b"").ok()).count()
}

fn main() {
    let full = flash_capacity();
    println!("The flash heap has room for {full} objects of fifty fields with two records.\n");
    print_updates(full / 2);
    print_transaction();
    print_copies();
    print_capacity();
}
