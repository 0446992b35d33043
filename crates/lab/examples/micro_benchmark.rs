//! The paper's micro-benchmark (section 0.6.3) on K8C1215ETM, in simulated time: what a call costs in each phase.
//!
//! `micro_benchmark [fat|soft|tree|logged] [MEGABYTES] [UPDATES] [SIGMA]`: 25,000 consecutive keys of 4 bytes with
//! values of 4 bytes are inserted, UPDATES (800,000) of them updated and as many queried, chosen by a Gaussian variable
//! with the median as its mean and SIGMA (a sixth of the keys) as its standard deviation; then all are read in order,
//! and removed at random.

use std::ops::Bound;

use norn_baselines::MuTree;
use norn_flash::{Nor, NorPart};
use norn_flash_sim::{Counters, NorSim, catalogue};
use norn_ordered_index::{FatList, OrderedIndex, Settings};

const KEYS: u32 = 25_000;
const SEED: u64 = 2011;
const BOOTS: u32 = 200;

/// An index whose device can be looked at.
trait Measured: OrderedIndex<4, 4> {
    fn sim(&self) -> &NorSim;
    /// Ends the work in the way that makes the next mount fast, if there is one.
    fn stop_cleanly(&mut self) {}
    fn remounted(self) -> Self;
    fn say_more(&mut self) {}
}

impl Measured for FatList<NorSim, 4, 4> {
    fn sim(&self) -> &NorSim {
        self.device()
    }
    fn stop_cleanly(&mut self) {
        self.stop().unwrap();
    }
    fn remounted(self) -> Self {
        Self::mount(self.into_device()).unwrap()
    }
    fn say_more(&mut self) {
        println!("         {:?}", self.probes());
        let objects = self.stats().unwrap().live;
        println!("         bounds: a call {:?}, a move {:?}", self.call_bound(objects), self.move_bound());
        let before = self.sim().counters();
        self.len().unwrap();
        let counted = self.sim().counters();
        self.stats().unwrap();
        let (len, stats) = (counted - before, self.sim().counters() - counted);
        println!(
            "         bytes read: len {} of at most {}, stats {} of at most {}",
            len.read_bytes(),
            self.len_bound(objects),
            stats.read_bytes(),
            self.stats_bound(objects)
        );
        println!(
            "         bytes read: get {}, a step {}, a mount after a stop {}, after a cut {:?}",
            self.get_bound(objects),
            self.step_bound(objects),
            self.boot_bound(objects),
            self.recovery_bound(objects)
        );
    }
}

impl<const PAGE: usize, const LOG: usize> Measured for MuTree<NorSim, 4, 4, PAGE, LOG> {
    fn sim(&self) -> &NorSim {
        self.device()
    }
    fn remounted(self) -> Self {
        Self::mount(self.into_device()).unwrap()
    }
}

/// What a phase has cost.
#[derive(Default)]
struct Phase {
    latencies_ns: Vec<u64>,
    most_erases: u64,
    counters: Counters,
    begun_ns: u64,
}

impl Phase {
    fn begin(index: &impl Measured) -> Self {
        let sim = index.sim();
        Phase { latencies_ns: Vec::new(), most_erases: 0, counters: sim.counters(), begun_ns: sim.elapsed_ns() }
    }

    fn time<I: Measured, T>(&mut self, index: &mut I, call: impl FnOnce(&mut I) -> T) -> T {
        let (before, erases) = (index.sim().elapsed_ns(), index.sim().counters().erases);
        let answer = call(index);
        self.most_erases = self.most_erases.max(index.sim().counters().erases - erases);
        self.latencies_ns.push(index.sim().elapsed_ns() - before);
        answer
    }

    /// Prints the phase, and returns its time.
    fn end(mut self, name: &str, index: &impl Measured) -> u64 {
        let (sim, calls) = (index.sim(), self.latencies_ns.len());
        let (counters, elapsed) = (sim.counters() - self.counters, sim.elapsed_ns() - self.begun_ns);
        self.latencies_ns.sort_unstable();
        let each = |count: u64| count as f64 / calls as f64;
        let at = |share: f64| self.latencies_ns[((calls as f64 * share) as usize).min(calls - 1)] as f64 / 1e6;
        println!(
            "{name:8} {:9.4} ms a call: {:6.1} words read, {:7.2} programmed, {:.5} erases; median {:.3}, 99.9% {:.1}, \
             worst {:.1} ms with {} erases",
            each(elapsed) / 1e6,
            each(counters.reads()),
            each(counters.programs()),
            each(counters.erases),
            at(0.5),
            at(0.999),
            at(1.0),
            self.most_erases,
        );
        elapsed
    }
}

/// A key chosen by a Gaussian variable.
fn gaussian(random: &mut fastrand::Rng, sigma: f64) -> u32 {
    loop {
        let (radius, angle) = (f64::sqrt(-2.0 * (1.0 - random.f64()).ln()), std::f64::consts::TAU * random.f64());
        let key = (f64::from(KEYS) / 2.0 + sigma * radius * angle.cos()).round();
        if (0.0..f64::from(KEYS)).contains(&key) {
            return key as u32;
        }
    }
}

/// Stops and mounts an index again and again, with some updates between; prints what the mounts cost.
fn boots<I: Measured>(mut index: I, random: &mut fastrand::Rng, sigma: f64) -> I {
    let (mut sum_ns, mut most_ns) = (0, 0);
    for boot in 0..BOOTS {
        for _ in 0..50 {
            index.update(&gaussian(random, sigma).to_be_bytes(), &boot.to_le_bytes()).unwrap();
        }
        index.stop_cleanly();
        let before = index.sim().elapsed_ns();
        index = index.remounted();
        let elapsed = index.sim().elapsed_ns() - before;
        (sum_ns, most_ns) = (sum_ns + elapsed, most_ns.max(elapsed));
    }
    let mean = sum_ns as f64 / f64::from(BOOTS) / 1e3;
    println!("boot     {mean:9.2} us after a stop on average of {BOOTS}, at most {:.2} us", most_ns as f64 / 1e3);
    index
}

fn run<I: Measured>(mut index: I, updates: u32, sigma: f64) {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut total = 0;
    let mut phase = Phase::begin(&index);
    for key in 0..KEYS {
        phase.time(&mut index, |index| index.insert(&key.to_be_bytes(), &key.to_le_bytes())).unwrap();
    }
    total += phase.end("insert", &index);
    let mut phase = Phase::begin(&index);
    for update in 0..updates {
        let key = gaussian(&mut random, sigma);
        phase.time(&mut index, |index| index.update(&key.to_be_bytes(), &update.to_le_bytes())).unwrap();
    }
    total += phase.end("update", &index);
    index = boots(index, &mut random, sigma);
    index.put(&0u32.to_be_bytes(), &[0; 4]).unwrap();
    let before = index.sim().elapsed_ns();
    index = index.remounted();
    println!("boot     {:9.2} ms after a cut between two calls", (index.sim().elapsed_ns() - before) as f64 / 1e6);
    println!("         {:?}", index.stats().unwrap());
    let mut phase = Phase::begin(&index);
    for _ in 0..updates {
        let key = gaussian(&mut random, sigma);
        phase.time(&mut index, |index| index.get(&key.to_be_bytes())).unwrap().expect("every key is there");
    }
    total += phase.end("query", &index);
    index.say_more();
    let mut phase = Phase::begin(&index);
    let before = index.sim().elapsed_ns();
    let mut range = index.range(Bound::Unbounded, Bound::Unbounded);
    let mut count = 0;
    while range.next_entry().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, KEYS);
    phase.latencies_ns = vec![(index.sim().elapsed_ns() - before) / u64::from(KEYS); KEYS as usize];
    phase.end("range", &index);
    let mut keys: Vec<u32> = (0..KEYS).collect();
    random.shuffle(&mut keys);
    let mut phase = Phase::begin(&index);
    for key in keys {
        phase.time(&mut index, |index| index.remove(&key.to_be_bytes())).unwrap();
    }
    total += phase.end("remove", &index);
    assert_eq!(index.len().unwrap(), 0);
    println!("total    {:9.1} s of insertions, updates, queries and removals", total as f64 / 1e9);
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_else(|| "fat".to_owned());
    let mut number = |default: f64| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let (megabytes, updates, sigma) = (number(2.0) as u16, number(800_000.0) as u32, number(f64::from(KEYS) / 6.0));
    let mut spec = catalogue::k8c1215etm();
    spec.part = NorPart { unit_count: 16 * megabytes, ..spec.part };
    let sim = NorSim::new(spec);
    println!(
        "{kind}, {megabytes} MB in {} units, {updates} updates, sigma {sigma:.0}, seed {SEED}",
        sim.part().unit_count
    );
    match kind.as_str() {
        "fat" => run(FatList::<_, 4, 4>::format(sim, Settings::paper_2011()).unwrap(), updates, sigma),
        "soft" => run(FatList::<_, 4, 4>::format(sim, Settings::soft_list()).unwrap(), updates, sigma),
        "tree" => run(MuTree::<_, 4, 4, 512>::format(sim).unwrap(), updates, sigma),
        "logged" => run(MuTree::<_, 4, 4, 1024, 320>::format(sim).unwrap(), updates, sigma),
        _ => panic!("fat, soft, tree or logged, and not {kind}"),
    }
}
