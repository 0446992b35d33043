//! What updates, reads and room cost on TinyStore's part: the rows by which the heap is compared with other stores, and curves of
//! what the paper calls its weaknesses.
//!
//! Objects have fifty fields of two bytes unless a curve says otherwise; one object in five is hot, and an update goes to a hot
//! one with probability 0.9. Everything is counted by the simulated part, per field update, after ten erases a unit, over
//! twenty erases a unit; seed 2006. The published configuration and the default one are measured in one run.
//!
//! Run it with `cargo run --release -p norn-object-heap --example rows -- [rows|large|full|small|spread]`; without an argument it
//! measures all of them.

use norn_flash_sim::{Counters, NorSim, catalogue};
use norn_object_heap::{AccessError, Config, CreateError, Heap, Layout, Ref, StoreError};

const FIELDS: usize = 50;
const WIDTH: u8 = 2;
const SEED: u64 = 2006;
/// Objects of the rows: as many as the other stores are measured with.
const OBJECTS: [usize; 3] = [500, 800, 1400];
const WARM_UP_ERASES_PER_UNIT: u64 = 10;
const MEASURED_ERASES_PER_UNIT: u64 = 20;
/// Objects that a transaction over several changes.
const BATCH: usize = 10;
/// An update is given up after so many without an erase.
const QUIET_UPDATES: u64 = 4_000_000;

type SimHeap = Heap<NorSim, 64>;
type HeapError = AccessError<norn_flash_sim::SimError>;

/// What one step of a workload does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workload {
    /// One random field, durable by itself.
    OneField,
    /// All fields of an object, each durable by itself.
    AllFields,
    /// All fields of an object in one transaction, field by field.
    WholeObject,
    /// All fields of an object at once.
    AllAtOnce,
    /// One random field in each of ten objects, in one transaction.
    Batch,
}

impl Workload {
    const ALL: [(Workload, &'static str); 5] = [
        (Workload::OneField, "one field, durable"),
        (Workload::AllFields, "all fields, each durable"),
        (Workload::WholeObject, "whole object, field by field in one transaction"),
        (Workload::AllAtOnce, "whole object, at once"),
        (Workload::Batch, "one field in each of 10 objects, one transaction"),
    ];
}

/// A heap, its objects, and what has been done to them.
struct Bench {
    heap: SimHeap,
    objects: Vec<Ref>,
    fields: usize,
    random: fastrand::Rng,
    updates: u64,
}

/// What was counted per field update.
struct Measured {
    counters: Counters,
    time_ns: u64,
    updates: u64,
    wear: f64,
}

impl Bench {
    /// Creates so many objects; `None` where they do not fit.
    fn new(config: Config, objects: usize, fields: usize) -> Option<Bench> {
        let mut heap = SimHeap::format(NorSim::new(catalogue::tinystore()), config).expect("the part is suitable");
        let objects = (0..objects).map(|_| heap.create(Layout::uniform(fields, WIDTH)).ok()).collect::<Option<_>>()?;
        Some(Bench { heap, objects, fields, random: fastrand::Rng::with_seed(SEED), updates: 0 })
    }

    fn draw(&mut self) -> Ref {
        let hot = self.objects.len() / 5;
        let index =
            if self.random.f32() < 0.9 { self.random.usize(..hot) } else { self.random.usize(hot..self.objects.len()) };
        self.objects[index]
    }

    fn put(&mut self, object: Ref, field: usize) -> Result<(), HeapError> {
        let value = self.random.u16(..).to_le_bytes();
        self.updates += 1;
        self.heap.put_field(object, field, &value)
    }

    fn step(&mut self, workload: Workload) -> Result<(), HeapError> {
        match workload {
            Workload::OneField => {
                let (object, field) = (self.draw(), self.random.usize(..self.fields));
                self.put(object, field)
            }
            Workload::AllFields => {
                let object = self.draw();
                (0..self.fields).try_for_each(|field| self.put(object, field))
            }
            Workload::WholeObject => {
                let object = self.draw();
                self.heap.begin().expect("none is open");
                (0..self.fields).try_for_each(|field| self.put(object, field))?;
                self.heap.commit().expect("there is room");
                Ok(())
            }
            Workload::AllAtOnce => {
                let object = self.draw();
                let values: Vec<u8> = (0..self.fields * usize::from(WIDTH)).map(|_| self.random.u8(..)).collect();
                self.updates += self.fields as u64;
                self.heap.put_fields(object, 0, &values)
            }
            Workload::Batch => {
                self.heap.begin().expect("none is open");
                for _ in 0..BATCH {
                    let (object, field) = (self.draw(), self.random.usize(..self.fields));
                    self.put(object, field)?;
                }
                self.heap.commit().expect("there is room");
                Ok(())
            }
        }
    }

    /// Goes on until the units have been erased so many more times on average.
    fn run(&mut self, workload: Workload, erases_per_unit: u64) -> Result<Measured, HeapError> {
        let device = self.heap.device();
        let (before, time, updates) = (device.counters(), device.elapsed_ns(), self.updates);
        let units = u64::from(device.spec().part.unit_count);
        while (self.heap.device().counters() - before).erases < erases_per_unit * units {
            self.step(workload)?;
            if self.updates - updates > QUIET_UPDATES {
                break;
            }
        }
        let device = self.heap.device();
        let erases: Vec<u32> = device.erase_counts().collect();
        let mean = erases.iter().sum::<u32>() as f64 / erases.len() as f64;
        Ok(Measured {
            counters: device.counters() - before,
            time_ns: device.elapsed_ns() - time,
            updates: self.updates - updates,
            wear: f64::from(*erases.iter().max().expect("units")) / mean,
        })
    }
}

/// The steady state of a workload, as a row; or why there is none.
fn measure(config: Config, objects: usize, fields: usize, workload: Workload) -> String {
    let Some(mut bench) = Bench::new(config, objects, fields) else {
        return "do not fit".to_owned();
    };
    let warm = bench.run(workload, WARM_UP_ERASES_PER_UNIT);
    match warm.and_then(|_| bench.run(workload, MEASURED_ERASES_PER_UNIT)) {
        Ok(measured) => {
            let per_update = |count: u64| count as f64 / measured.updates as f64;
            format!(
                "{:8.1} {:8.2} {:8.4} {:8.3} {:6.2}",
                per_update(measured.counters.reads()),
                per_update(measured.counters.programs()),
                per_update(measured.counters.erases),
                per_update(measured.time_ns) / 1e6,
                measured.wear
            )
        }
        Err(AccessError::Store(StoreError::Full)) => format!("full after {} updates", bench.updates),
        Err(error) => panic!("{error}"),
    }
}

fn configs() -> Vec<(&'static str, Config)> {
    vec![("2006", Config::tinystore_2006()), ("default", Config::default())]
}

const COLUMNS: &str = "   reads   writes   erases       ms   wear";

fn rows() {
    println!("per field update                                             {COLUMNS}");
    for (workload, name) in Workload::ALL {
        for objects in OBJECTS {
            for (config_name, config) in configs() {
                println!("{name:48} {objects:5} {config_name:8} {}", measure(config, objects, FIELDS, workload));
            }
        }
    }
    println!();
    for (name, config) in configs() {
        println!("{name:8} 100-byte objects that fit: {}", capacity(config, FIELDS));
        println!("{name:8} words read for a field, {}", reads(config));
    }
    println!("bytes of RAM, 64 units: {}", size_of::<SimHeap>() - size_of::<NorSim>());
}

/// Objects that fit.
fn capacity(config: Config, fields: usize) -> usize {
    let mut heap = SimHeap::format(NorSim::new(catalogue::tinystore()), config).expect("the part is suitable");
    let mut count = 0;
    loop {
        match heap.create(Layout::uniform(fields, WIDTH)) {
            Ok(_) => count += 1,
            Err(CreateError::Store(StoreError::Full)) => return count,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Reads of every field of 1,400 objects in a steady state.
fn reads(config: Config) -> String {
    let mut bench = Bench::new(config, OBJECTS[2], FIELDS).expect("they fit");
    bench.run(Workload::OneField, WARM_UP_ERASES_PER_UNIT).expect("there is room");
    let (mut worst, mut sum) = (0, 0);
    for at in 0..bench.objects.len() {
        for field in 0..FIELDS {
            let before = bench.heap.device().counters();
            bench.heap.get_field(bench.objects[at], field, &mut [0; WIDTH as usize]).expect("it is there");
            let reads = (bench.heap.device().counters() - before).reads();
            (worst, sum) = (worst.max(reads), sum + reads);
        }
    }
    format!("mean {:.1}, worst {worst}", sum as f64 / (bench.objects.len() * FIELDS) as f64)
}

/// Single fields of objects of all sizes, a third of those that fit.
fn large() {
    println!("one field, durable, a third of the objects that fit   {COLUMNS}");
    for fields in [5, 10, 25, 50, 100, 250] {
        for (name, config) in configs() {
            let objects = capacity(Config::tinystore_2006(), fields) / 3;
            println!(
                "{fields:4} fields {objects:6} objects {name:8} {}",
                measure(config, objects, fields, Workload::OneField)
            );
        }
    }
}

fn full() {
    for (workload, workload_name) in Workload::ALL {
        println!("{workload_name:54} {COLUMNS}");
        for percent in [20, 35, 50, 60, 70, 80, 90] {
            for (name, config) in configs() {
                let objects = capacity(Config::tinystore_2006(), FIELDS) * percent / 100;
                println!("{percent:4}% {objects:6} objects {name:8} {}", measure(config, objects, FIELDS, workload));
            }
        }
    }
}

fn small() {
    println!("objects that fit, and the part of the device that their data takes");
    for fields in [1, 2, 5, 10, 25, 50, 100, 250] {
        for (name, config) in configs() {
            let objects = capacity(config, fields);
            let data = objects * fields * usize::from(WIDTH);
            println!("{:4} bytes {name:8} {objects:6} {:5.1}%", fields * 2, 100.0 * data as f64 / (448.0 * 1024.0));
        }
    }
}

/// How far single calls are apart: simulated time of one durable field update.
fn spread() {
    println!("one field, durable, 1,400 objects: simulated milliseconds of a call, of 1,000,000 calls");
    for (name, config) in configs() {
        let mut bench = Bench::new(config, OBJECTS[2], FIELDS).expect("they fit");
        bench.run(Workload::OneField, WARM_UP_ERASES_PER_UNIT).expect("there is room");
        let mut times = Vec::new();
        for _ in 0..1_000_000 {
            let before = bench.heap.device().elapsed_ns();
            bench.step(Workload::OneField).expect("there is room");
            times.push(bench.heap.device().elapsed_ns() - before);
        }
        times.sort_unstable();
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize] as f64 / 1e6;
        println!(
            "{name:8} median {:.3}, 90% {:.3}, 99% {:.3}, 99.9% {:.3}, worst {:.3}",
            at(0.5),
            at(0.9),
            at(0.99),
            at(0.999),
            at(1.0)
        );
    }
}

fn main() {
    let wanted = std::env::args().nth(1);
    let parts: [(&str, fn()); 5] =
        [("rows", rows), ("large", large), ("full", full), ("small", small), ("spread", spread)];
    for (name, part) in parts {
        if wanted.as_deref().is_none_or(|wanted| wanted == name) {
            part();
            println!();
        }
    }
}
