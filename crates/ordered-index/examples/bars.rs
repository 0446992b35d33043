//! The paper's micro-benchmark (section 0.6.3) on K8C1215ETM: mean cost of each phase in simulated time.

use std::ops::Bound;

use norn_flash_sim::{Counters, NorSim, catalogue};
use norn_ordered_index::{FatList, OrderedIndex, Settings};

const KEYS: u32 = 25_000;
const SEED: u64 = 2011;

struct Meter {
    counters: Counters,
    elapsed_ns: u64,
}

fn report(name: &str, list: &FatList<NorSim, 4, 4>, meter: &mut Meter, operations: u64, latencies: &mut Vec<u64>) {
    let device = list.device();
    let counters = device.counters() - meter.counters;
    let elapsed = device.elapsed_ns() - meter.elapsed_ns;
    (meter.counters, meter.elapsed_ns) = (device.counters(), device.elapsed_ns());
    latencies.sort_unstable();
    let at = |share: f64| latencies.get((latencies.len() as f64 * share) as usize).or(latencies.last()).map_or(0.0, |ns| *ns as f64 / 1e6);
    println!(
        "{name:8} {:.4} ms each: {:.1} words read, {:.2} programmed, {:.5} erases; median {:.3}, 99.9% {:.1}, worst {:.1} ms",
        elapsed as f64 / 1e6 / operations as f64,
        counters.reads() as f64 / operations as f64,
        counters.programs() as f64 / operations as f64,
        counters.erases as f64 / operations as f64,
        at(0.5), at(0.999), at(1.0),
    );
    latencies.clear();
}

fn gaussian(random: &mut fastrand::Rng, sigma: f64) -> u32 {
    loop {
        let (u, v) = (random.f64().max(1e-300), random.f64());
        let z = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        let key = (f64::from(KEYS) / 2.0 + z * sigma).round();
        if (0.0..f64::from(KEYS)).contains(&key) {
            return key as u32;
        }
    }
}

fn main() {
    let megabytes: u16 = std::env::args().nth(1).map_or(2, |text| text.parse().unwrap());
    let updates: u64 = std::env::args().nth(2).map_or(800_000, |text| text.parse().unwrap());
    let mut spec = catalogue::k8c1215etm();
    spec.part.unit_count = 16 * megabytes;
    let mut list = FatList::<_, 4, 4>::format(NorSim::new(spec), Settings::paper_2011()).unwrap();
    let mut meter = Meter { counters: list.device().counters(), elapsed_ns: list.device().elapsed_ns() };
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut latencies = Vec::new();
    let sigma = f64::from(KEYS) / 6.0;
    let timed = |list: &mut FatList<NorSim, 4, 4>, latencies: &mut Vec<u64>, call: &mut dyn FnMut(&mut FatList<NorSim, 4, 4>)| {
        let before = list.device().elapsed_ns();
        call(list);
        latencies.push(list.device().elapsed_ns() - before);
    };
    for key in 0..KEYS {
        timed(&mut list, &mut latencies, &mut |list| list.insert(&key.to_be_bytes(), &key.to_le_bytes()).unwrap());
    }
    report("insert", &list, &mut meter, KEYS.into(), &mut latencies);
    for update in 0..updates {
        let key = gaussian(&mut random, sigma);
        timed(&mut list, &mut latencies, &mut |list| {
            list.update(&key.to_be_bytes(), &(update as u32).to_le_bytes()).unwrap();
        });
    }
    report("update", &list, &mut meter, updates, &mut latencies);
    list.stop().unwrap();
    let device = list.into_device();
    let before = device.elapsed_ns();
    let mut list = FatList::<_, 4, 4>::mount(device).unwrap();
    println!("boot after a stop {:.2} us", (list.device().elapsed_ns() - before) as f64 / 1e3);
    list.put(&0u32.to_be_bytes(), &[0; 4]).unwrap();
    let device = list.into_device();
    let before = device.elapsed_ns();
    let mut list = FatList::<_, 4, 4>::mount(device).unwrap();
    println!("boot after a cut {:.2} ms", (list.device().elapsed_ns() - before) as f64 / 1e6);
    println!("{:?}", list.stats().unwrap());
    report("boots", &list, &mut meter, 1, &mut latencies);
    for _ in 0..updates {
        let key = gaussian(&mut random, sigma);
        timed(&mut list, &mut latencies, &mut |list| assert!(list.get(&key.to_be_bytes()).unwrap().is_some()));
    }
    report("query", &list, &mut meter, updates, &mut latencies);
    println!("{:?}", list.probes());
    let mut range = list.range(Bound::Unbounded, Bound::Unbounded);
    let mut count = 0;
    while range.next_entry().unwrap().is_some() {
        count += 1;
    }
    report("range", &list, &mut meter, count, &mut latencies);
    let mut keys: Vec<u32> = (0..KEYS).collect();
    random.shuffle(&mut keys);
    for key in keys {
        timed(&mut list, &mut latencies, &mut |list| list.remove(&key.to_be_bytes()).unwrap());
    }
    report("remove", &list, &mut meter, KEYS.into(), &mut latencies);
    println!("{:?}", list.stats().unwrap());
}
