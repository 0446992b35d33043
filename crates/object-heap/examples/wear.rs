//! How evenly erase units wear: the workload 20/80AllFields at three degrees of fullness, until units have been erased so
//! many times on average.
//!
//! Run it with `cargo run --release -p norn-object-heap --example wear -- [MEAN_ERASES]`; 2,000 is the default.

use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{Config, Heap, Layout, Ref};

const FIELDS: usize = 50;
const WIDTH: u8 = 2;
/// Objects that fit when every list has two records (see the example `table1`).
const FULL: usize = 1611;

fn run(percent: usize, mean_erases: u64, config: Config) {
    let mut heap: Heap<_, 64> =
        Heap::format(NorSim::new(catalogue::tinystore()), config).expect("the part is suitable");
    let create = |heap: &mut Heap<NorSim, 64>| heap.create(Layout::uniform(FIELDS, WIDTH)).expect("room");
    let objects: Vec<Ref> = (0..FULL * percent / 100).map(|_| create(&mut heap)).collect();
    let mut random = fastrand::Rng::with_seed(20_80);
    let mut updates = 0u64;
    let hot = objects.len() / 5;
    let before = heap.device().counters();
    while (heap.device().counters() - before).erases < mean_erases * 56 {
        let index = if random.f32() < 0.9 { random.usize(..hot) } else { random.usize(hot..objects.len()) };
        for field in 0..FIELDS {
            heap.put_field(objects[index], field, &random.u16(..).to_le_bytes()).expect("room");
            updates += 1;
        }
    }
    let erases: Vec<u32> = heap.device().erase_counts().collect();
    let mean = f64::from(erases.iter().sum::<u32>()) / erases.len() as f64;
    let (least, most) = (erases.iter().min().expect("units"), erases.iter().max().expect("units"));
    let per_update = (heap.device().counters() - before).erases as f64 / updates as f64;
    println!(
        "{percent:3}% {updates:11} {mean:8.1} {least:6} {most:6} {:6.3} {per_update:8.5}",
        f64::from(*most) / mean
    );
}

fn main() {
    let mean_erases = std::env::args().nth(1).map_or(2000, |text| text.parse().expect("a number of erases"));
    println!("full     updates     mean  least   most  ratio  erases per update");
    for percent in [20, 50, 90] {
        run(percent, mean_erases, Config::tinystore_2006());
    }
}
