//! What a field update costs: TinyStore's Table 1 beside its published figures.
//!
//! The workload is the paper's 20/80AllFields: one object in five is hot, an update goes to a hot object with probability
//! 0.9, and modifies all fifty two-byte fields one after the other, each durable by itself. The device is half full, where
//! full is the number of objects that fit when every list has its maximal length. Every figure is counted by the simulated
//! part, per field update, after as many updates as bring the device to its steady state. The last rows are with delta
//! records, and with error detection, which the paper does not have.
//!
//! Run it with `make bench`, or `cargo run --release -p norn-object-heap --example table1 -- [PART]`. A part whose words may be
//! programmed once or twice is measured below a `Remap` with one spare unit, with lists of two records; writes are then program
//! units.

use norn_flash::{Nor, Reprogramming};
use norn_flash_sim::{Counters, NorSim, catalogue};
use norn_nor_remap::{Remap, RemapConfig};
use norn_object_heap::{
    AccessError, Config, CreateError, ErrorDetection, Heap, InitializationFlags, Layout, Ref, StoreError,
};

const FIELDS: usize = 50;
const WIDTH: u8 = 2;
const SEED: u64 = 2006;
/// Units are erased this many times over before counting starts, and while it lasts.
const WARM_UP_ERASES_PER_UNIT: u64 = 10;
const MEASURED_ERASES_PER_UNIT: u64 = 20;

/// A device of which the simulated part can be seen.
trait Simulated: Nor {
    fn sim(&self) -> &NorSim;
}

impl Simulated for NorSim {
    fn sim(&self) -> &NorSim {
        self
    }
}

impl Simulated for Remap<NorSim, 256> {
    fn sim(&self) -> &NorSim {
        self.device()
    }
}

type SimHeap<D> = Heap<D, 256>;

/// One row of the table: its configuration, and what the paper published for it.
struct Row {
    name: &'static str,
    config: Config,
    published: (f64, f64, f64),
}

fn rows() -> Vec<Row> {
    let flags = Config::tinystore_2006();
    let detection = Config { error_detection: ErrorDetection::On, ..flags };
    let no_flags = Config { initialization_flags: InitializationFlags::Off, ..flags };
    let row = |name, config, list_length_max, published| Row {
        name,
        config: Config { list_length_max, ..config },
        published,
    };
    vec![
        row("1", flags, 1, (973.66, 280.13, 0.0384)),
        row("2", flags, 2, (291.92, 12.02, 0.0017)),
        row("2, no flags", no_flags, 2, (288.71, 10.94, 0.0017)),
        row("3", flags, 3, (282.39, 9.30, 0.0013)),
        row("5", flags, 5, (245.65, 8.03, 0.0011)),
        row("10", flags, 10, (245.91, 7.32, 0.0010)),
        row("20", flags, 20, (222.75, 7.02, 0.0010)),
        row("2, deltas", Config::default(), 2, (291.92, 12.02, 0.0017)),
        row("5, deltas", Config::default(), 5, (245.65, 8.03, 0.0011)),
        row("20, deltas", Config::default(), 20, (222.75, 7.02, 0.0010)),
        row("2, detecting", detection, 2, (291.92, 12.02, 0.0017)),
        row("5, detecting", detection, 5, (245.65, 8.03, 0.0011)),
        row("20, detecting", detection, 20, (222.75, 7.02, 0.0010)),
    ]
}

/// Creates objects until the device is full, each with a list as long as it may be.
fn fill<D: Simulated>(device: D, config: Config, records: u8) -> usize {
    let mut heap = SimHeap::format(device, config).expect("the part is suitable");
    let mut count = 0;
    while create(&mut heap, records) {
        count += 1;
    }
    count
}

/// Creates an object with a list of `records` records; `false` when it does not fit.
fn create<D: Simulated>(heap: &mut SimHeap<D>, records: u8) -> bool {
    let object = match heap.create(Layout::uniform(FIELDS, WIDTH)) {
        Ok(object) => object,
        Err(CreateError::Store(StoreError::Full)) => return false,
        Err(error) => panic!("{error:?}"),
    };
    let mut value: u16 = 0;
    while heap.info(object).expect("it was just created").records < usize::from(records) {
        value += 1;
        if value > u16::from(records) + 1 {
            return false; // There is no room for a longer list: the object is compacted instead.
        }
        match heap.put_field(object, 0, &value.to_le_bytes()) {
            Ok(()) => {}
            Err(AccessError::Store(StoreError::Full)) => return false,
            Err(error) => panic!("{error}"),
        }
    }
    true
}

/// The workload on a heap of so many objects.
struct Workload<D: Simulated> {
    heap: SimHeap<D>,
    objects: Vec<Ref>,
    random: fastrand::Rng,
    updates: u64,
}

impl<D: Simulated> Workload<D> {
    fn new(device: D, config: Config, objects: usize) -> Self {
        let mut heap = SimHeap::format(device, config).expect("the part is suitable");
        let objects = (0..objects).map(|_| heap.create(Layout::uniform(FIELDS, WIDTH)).expect("half full")).collect();
        Workload { heap, objects, random: fastrand::Rng::with_seed(SEED), updates: 0 }
    }

    fn draw(&mut self) -> Ref {
        let hot = self.objects.len() / 5;
        let index =
            if self.random.f32() < 0.9 { self.random.usize(..hot) } else { self.random.usize(hot..self.objects.len()) };
        self.objects[index]
    }

    /// Updates whole objects until the units have been erased so many more times on average.
    fn run(&mut self, erases_per_unit: u64) -> (Counters, u64, u64) {
        let device = self.heap.device().sim();
        let (before, time, updates) = (device.counters(), device.elapsed_ns(), self.updates);
        let units = u64::from(device.spec().part.unit_count);
        while (self.heap.device().sim().counters() - before).erases < erases_per_unit * units {
            let object = self.draw();
            for field in 0..FIELDS {
                let value = self.random.u16(..).to_le_bytes();
                self.heap.put_field(object, field, &value).expect("half full");
                self.updates += 1;
            }
        }
        let device = self.heap.device().sim();
        (device.counters() - before, device.elapsed_ns() - time, self.updates - updates)
    }
}

fn measure<D: Simulated>(device: &dyn Fn() -> D, row: &Row) {
    let fresh = fill(device(), row.config, 0);
    let full = fill(device(), row.config, row.config.list_length_max);
    let mut workload = Workload::new(device(), row.config, full / 2);
    workload.run(WARM_UP_ERASES_PER_UNIT);
    let (counters, time_ns, updates) = workload.run(MEASURED_ERASES_PER_UNIT);
    let per_update = |count: u64| count as f64 / updates as f64;
    let erases: Vec<u32> = workload.heap.device().sim().erase_counts().collect();
    let mean = erases.iter().sum::<u32>() as f64 / erases.len() as f64;
    let wear = f64::from(*erases.iter().max().expect("units")) / mean;
    let published = row.published;
    println!(
        "{:13} {fresh:6} {full:6} {updates:9} {:8.1} {:8.2} {:8.4} {:8.3} {wear:6.2}   {:6.1} {:6.2} {:7.4}",
        row.name,
        per_update(counters.reads()),
        per_update(counters.programs()),
        per_update(counters.erases),
        per_update(time_ns) / 1e6,
        published.0,
        published.1,
        published.2,
    );
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_else(|| "tinystore".to_owned());
    let part = catalogue::by_name(&name).expect("a part of the catalogue");
    println!("20/80AllFields, {FIELDS} fields of {WIDTH} bytes, half full; {}; seed {SEED}", part.source);
    println!("fresh, full: objects that fit when just created, and when every list has its maximal length");
    println!();
    println!("                                           per field update                      max/  published");
    println!(
        "list length    fresh   full   updates    reads   writes   erases       ms   mean    reads writes  erases"
    );
    match part.part.reprogramming {
        Reprogramming::Unlimited => rows().iter().for_each(|row| measure(&|| NorSim::new(part.clone()), row)),
        _ => {
            let remap = || Remap::format(NorSim::new(part.clone()), RemapConfig { spare_units: 1 }).expect("suitable");
            measure(&remap, &rows()[1]);
            largest_read(remap());
        }
    }
}

/// The words that a read of one field takes at most, over all fields of objects with two records.
fn largest_read(device: Remap<NorSim, 256>) {
    let mut heap = SimHeap::format(device, rows()[1].config).expect("suitable");
    let objects: Vec<Ref> = (0..500).map(|_| heap.create(Layout::uniform(FIELDS, WIDTH)).expect("room")).collect();
    let mut worst = 0;
    for round in 0..4u16 {
        for &object in &objects {
            for field in 0..FIELDS {
                heap.put_field(object, field, &(round + 1).to_le_bytes()).expect("room");
            }
            for field in 0..FIELDS {
                let before = heap.device().device().counters();
                heap.get_field(object, field, &mut [0; 2]).expect("there");
                worst = worst.max((heap.device().device().counters() - before).reads());
            }
        }
    }
    println!("words read for one field at most, of 500 objects: {worst}");
}
