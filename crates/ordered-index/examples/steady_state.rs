//! What a list costs in steady state, in simulated time: a ring of readings, lists that are kept partly full, random
//! and Zipf updates, a hot key, room after removals.
//!
//! `steady_state [64|4] [paper|log|NUMBERS][-fitted]|leaf [WORKLOAD …]`: keys of 4 bytes with values of 2 bytes on 2 MB
//! of K8C1215ETM, in units of 64 KB, or of 4 KB with the same erase time, in the paper's settings, those for logs, or
//! others, with their slots or those that fit the units; or a leaf map (`leaf`). Without workloads all of a list's run.
//! A workload is measured in windows until the times of three in a row agree within 2%, or the limit on windows is
//! reached, which is said.

use std::ops::Bound;

use norn_flash::NorPart;
use norn_flash_sim::{Counters, NorSim, PartSpec, catalogue};
use norn_ordered_index::{FatList, IndexError, LeafMap, OrderedIndex, Reclaimed, Settings};

type List = FatList<NorSim, 4, 2>;

const SEED: u64 = 2011;
const PART_BYTES: u32 = 2 << 20;
/// Keys of the random workloads.
const KEYS: u32 = 40_000;
/// Calls with steps ahead of need before each.
const PACED_CALLS: u32 = 6_000;
/// Windows after which a workload ends without three that agree.
const WINDOWS_MAX: usize = 60;

/// The part in units of this size.
fn spec(unit_kilobytes: u32) -> PartSpec {
    let (mut spec, unit_size_bytes) = (catalogue::k8c1215etm(), unit_kilobytes << 10);
    spec.part = NorPart { unit_count: (PART_BYTES / unit_size_bytes) as u16, unit_size_bytes, ..spec.part };
    spec
}

/// What is measured.
trait Subject: OrderedIndex<4, 2, Device = NorSim> {
    fn part(&self) -> &NorSim;
    fn append(&mut self, key: [u8; 4], value: [u8; 2]) -> u32;
}

impl Subject for List {
    fn part(&self) -> &NorSim {
        self.device()
    }

    fn append(&mut self, key: [u8; 4], value: [u8; 2]) -> u32 {
        self.insert_in_ring(&key, &value).unwrap()
    }
}

impl Subject for LeafMap<NorSim, 4, 2> {
    fn part(&self) -> &NorSim {
        self.device()
    }

    fn append(&mut self, key: [u8; 4], value: [u8; 2]) -> u32 {
        self.insert_in_ring(&key, &value).unwrap()
    }
}

/// Calls on a list, measured.
struct Measured<M = List> {
    list: M,
    random: fastrand::Rng,
    unit_kilobytes: u32,
}

/// What a number of calls cost.
#[derive(Default)]
struct Window {
    calls: u32,
    elapsed_ns: u64,
    worst_ns: u64,
    worst_erases: u64,
    counters: Counters,
}

impl Measured {
    fn of_list(unit_kilobytes: u32, settings: Settings) -> Self {
        let spec = spec(unit_kilobytes);
        let list = List::format(NorSim::new(spec), settings).unwrap();
        Measured::new(list, unit_kilobytes)
    }
}

impl<M: Subject> Measured<M> {
    fn new(list: M, unit_kilobytes: u32) -> Self {
        Measured { list, random: fastrand::Rng::with_seed(SEED), unit_kilobytes }
    }

    fn insert(&mut self, key: u32) -> bool {
        match self.list.insert(&key.to_be_bytes(), &[key as u8, 1]) {
            Ok(()) => true,
            Err(IndexError::Full) => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn remove_first(&mut self) {
        let (key, _) = self.list.first().unwrap().expect("a list that is full has a key");
        self.list.remove(&key).unwrap();
    }

    /// Ascending keys until the list is full; how many there are.
    fn fill(&mut self) -> u32 {
        (0..).find(|&key| !self.insert(key)).expect("a part is full at some time")
    }

    fn window(&mut self, calls: u32, call: &mut impl FnMut(&mut Self)) -> Window {
        let (counters, begun_ns) = (self.list.part().counters(), self.list.part().elapsed_ns());
        let mut window = Window { calls, ..Window::default() };
        for _ in 0..calls {
            let (before_ns, erases) = (self.list.part().elapsed_ns(), self.list.part().counters().erases);
            call(self);
            window.worst_ns = window.worst_ns.max(self.list.part().elapsed_ns() - before_ns);
            window.worst_erases = window.worst_erases.max(self.list.part().counters().erases - erases);
        }
        window.elapsed_ns = self.list.part().elapsed_ns() - begun_ns;
        window.counters = self.list.part().counters() - counters;
        window
    }

    /// Windows of `calls` calls until three agree; prints the last one.
    fn steady(&mut self, name: &str, calls: u32, mut call: impl FnMut(&mut Self)) {
        let mut times = Vec::new();
        loop {
            let window = self.window(calls, &mut call);
            times.push(window.elapsed_ns);
            let last = &times[times.len().saturating_sub(3)..];
            let (least, most) = (last.iter().min().unwrap(), last.iter().max().unwrap());
            let is_steady = last.len() == 3 && (most - least) * 50 <= *most;
            if is_steady || times.len() == WINDOWS_MAX {
                self.print(name, &window, times.len(), if is_steady { "steady" } else { "NOT STEADY" });
                return;
            }
        }
    }

    fn print(&mut self, name: &str, window: &Window, windows: usize, verdict: &str) {
        let each = |count: u64| count as f64 / f64::from(window.calls);
        println!(
            "{name:22} {:3} KB: {:8.3} ms, {:.5} erases, {:6.1} words programmed, {:7.1} read a call; worst {:7.1} ms \
             with {} erases; {windows} windows of {}, {verdict}",
            self.unit_kilobytes,
            each(window.elapsed_ns) / 1e6,
            each(window.counters.erases),
            each(window.counters.programs()),
            each(window.counters.reads()),
            window.worst_ns as f64 / 1e6,
            window.worst_erases,
            window.calls,
        );
    }

    fn print_ranges(&mut self, name: &str, from: std::ops::Range<u32>) {
        let (counters, begun_ns, mut keys) = (self.list.part().counters(), self.list.part().elapsed_ns(), 0_u32);
        for _ in 0..100 {
            let from = self.random.u32(from.clone()).to_be_bytes();
            let range = self.list.range(Bound::Included(from), Bound::Unbounded);
            keys += range.take(1_440).map(|entry| _ = entry.unwrap()).count() as u32;
        }
        let words = (self.list.part().counters() - counters).reads() as f64 / f64::from(keys);
        let microseconds = (self.list.part().elapsed_ns() - begun_ns) as f64 / 1e3 / f64::from(keys);
        println!("{name:22} {:3} KB: {words:.2} words read a key, {microseconds:.3} µs", self.unit_kilobytes);
    }

    fn print_room(&mut self, name: &str, keys: u32) {
        let bytes = f64::from(PART_BYTES) / f64::from(keys);
        println!("{name:22} {:3} KB: {keys} keys, {bytes:.2} bytes of flash a key", self.unit_kilobytes);
    }
}

/// Appends to a full list: where there is no room, the oldest key goes.
fn full<M: Subject>(mut measured: Measured<M>) {
    let mut next = measured.fill();
    measured.print_room("ascending fill", next);
    measured.steady("full, removing", 20_000, |measured| {
        while !measured.insert(next) {
            measured.remove_first();
        }
        next += 1;
    });
}

/// Appends to a ring, which drops its oldest keys by itself.
fn ring_ahead<M: Subject>(mut measured: Measured<M>) {
    let (mut next, mut held) = (0_u32, 0_u32);
    measured.steady("a ring", 250_000, |measured| {
        held += 1;
        held -= measured.list.append(next.to_be_bytes(), [next as u8, 1]);
        next += 1;
    });
    assert_eq!(measured.list.len().unwrap(), held);
    measured.print_room("a ring", held);
}

/// Appends to a list from which the oldest key is removed each time.
fn kept<M: Subject>(mut measured: Measured<M>, percent: u32) {
    let (full, name) = (measured.fill(), format!("kept {percent}% full"));
    for _ in 0..full - full * percent / 100 {
        measured.remove_first();
    }
    let mut next = full;
    measured.steady(&name, full, |measured| {
        measured.remove_first();
        assert!(measured.insert(next), "no room in a list that is {percent}% full");
        next += 1;
    });
}

/// Half of the keys of a full list are removed at random; then keys are appended until it is full again.
fn holes<M: Subject>(mut measured: Measured<M>) {
    let full = measured.fill();
    let mut left = full;
    for key in 0..full {
        if measured.random.bool() {
            measured.list.remove(&key.to_be_bytes()).unwrap();
            left -= 1;
        }
    }
    let (begun_ns, mut appended, mut worst_ns) = (measured.list.part().elapsed_ns(), 0, 0);
    loop {
        let before_ns = measured.list.part().elapsed_ns();
        if !measured.insert(full + appended) {
            break;
        }
        worst_ns = worst_ns.max(measured.list.part().elapsed_ns() - before_ns);
        appended += 1;
    }
    let elapsed = (measured.list.part().elapsed_ns() - begun_ns) as f64 / 1e6;
    println!(
        "half removed           {:3} KB: {left} keys left, {appended} appended at {:.3} ms each, worst {:.1} ms",
        measured.unit_kilobytes,
        elapsed / f64::from(appended.max(1)),
        worst_ns as f64 / 1e6,
    );
    measured.print_room("full again", left + appended);
}

fn with_random_keys<M: Subject>(mut measured: Measured<M>) -> Measured<M> {
    let mut keys: Vec<u32> = (0..KEYS).collect();
    measured.random.shuffle(&mut keys);
    keys.iter().for_each(|&key| assert!(measured.insert(2 * key)));
    measured
}

fn update<M: Subject>(measured: &mut Measured<M>, key: u32) {
    let value = [measured.random.u8(..), 2];
    measured.list.update(&key.to_be_bytes(), &value).unwrap();
}

fn random_updates<M: Subject>(measured: Measured<M>) {
    with_random_keys(measured).steady("random updates", 200_000, |measured| {
        let key = 2 * measured.random.u32(0..KEYS);
        update(measured, key);
    });
}

/// Keys by Zipf's law with the exponent 0.99, spread over the range.
fn zipf_updates<M: Subject>(measured: Measured<M>) {
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=KEYS)
        .map(|rank| {
            sum += f64::from(rank).powf(-0.99);
            sum
        })
        .collect();
    with_random_keys(measured).steady("Zipf updates", 200_000, |measured| {
        let drawn = measured.random.f64() * sum;
        let rank = sums.partition_point(|&below| below < drawn) as u32;
        update(measured, 2 * (rank.wrapping_mul(7_919) % KEYS));
    });
}

/// A random key goes, another comes.
fn churn<M: Subject>(measured: Measured<M>) {
    let mut keys: Vec<u32> = (0..KEYS).map(|key| 2 * key).collect();
    with_random_keys(measured).steady("random comes and goes", 200_000, |measured| {
        let at = measured.random.usize(..keys.len());
        measured.list.remove(&keys[at].to_be_bytes()).unwrap();
        loop {
            let key = measured.random.u32(0..2 * KEYS);
            match measured.list.insert(&key.to_be_bytes(), &[1, 2]) {
                Err(IndexError::KeyExists) => {}
                outcome => {
                    outcome.unwrap();
                    keys[at] = key;
                    return;
                }
            }
        }
    });
}

/// A random key goes, another comes, and before each call steps are taken ahead of need until there are none.
fn paced(measured: Measured) {
    let (mut measured, mut worst, mut moves, mut steps_ns) = (with_random_keys(measured), Window::default(), 0, 0);
    for call in 0..PACED_CALLS {
        let begun_ns = measured.list.part().elapsed_ns();
        while measured.list.reclaim_step().unwrap() == Reclaimed::Block {
            moves += 1;
        }
        steps_ns += measured.list.part().elapsed_ns() - begun_ns;
        let key = measured.random.u32(0..KEYS);
        let window = measured.window(1, &mut |measured| match call % 2 {
            0 => _ = measured.list.remove(&(2 * key).to_be_bytes()),
            _ => _ = measured.list.put(&(2 * key).to_be_bytes(), &[1, 2]),
        });
        worst.worst_ns = worst.worst_ns.max(window.worst_ns);
        worst.worst_erases = worst.worst_erases.max(window.worst_erases);
        worst.elapsed_ns += window.elapsed_ns;
    }
    println!(
        "paced                  {:3} KB: {:.3} ms a call, worst {:.1} ms with {} erases; steps before a call take \
         {:.3} ms, {moves} of them in {PACED_CALLS} calls",
        measured.unit_kilobytes,
        worst.elapsed_ns as f64 / 1e6 / f64::from(PACED_CALLS),
        worst.worst_ns as f64 / 1e6,
        worst.worst_erases,
        steps_ns as f64 / 1e6 / f64::from(PACED_CALLS),
    );
    let stats = measured.list.stats().unwrap();
    let list = &measured.list;
    for (name, bound) in [
        ("paced", list.paced_bound(stats.live)),
        ("with cells", list.bound_with_cells(stats.live)),
        ("any", list.call_bound(stats.live)),
    ] {
        let seconds = bound.read_bytes as f64 / 2.0 * 110e-9 + bound.programmed_bytes as f64 / 2.0 * 80e-6;
        println!("bound, {name}: {:.1} s, {bound:?}", seconds + f64::from(bound.erases) * 0.6);
    }
}

/// Words read for each key of 100 ranges of 1,440 keys: of a full ring, and of keys that were inserted in random order.
fn ranges(measured: Measured) {
    let mut ring = Measured::of_list(measured.unit_kilobytes, measured.list.settings());
    for key in 0..400_000_u32 {
        ring.list.insert_in_ring(&key.to_be_bytes(), &[1, 2]).unwrap();
    }
    ring.print_ranges("ranges of a ring", 250_000..390_000);
    with_random_keys(measured).print_ranges("ranges, random order", 0..2 * KEYS - 3_000);
}

fn queries<M: Subject>(measured: Measured<M>) {
    with_random_keys(measured).steady("queries", 50_000, |measured| {
        let key = 2 * measured.random.u32(0..KEYS);
        assert!(measured.list.get(&key.to_be_bytes()).unwrap().is_some());
    });
}

fn hot<M: Subject>(mut measured: Measured<M>) {
    (0..25_000).for_each(|key| assert!(measured.insert(key)));
    measured.steady("a hot key", 1_000_000, |measured| update(measured, 12_500));
    let stats = measured.list.stats().unwrap();
    let mean = measured.list.part().counters().erases as f64 / f64::from(PART_BYTES / (measured.unit_kilobytes << 10));
    let (least, most) = (stats.erases_min, stats.erases_max);
    println!("wear by a hot key      {:3} KB: {least} to {most} erases, mean {mean:.1}", measured.unit_kilobytes);
}

/// 25,000 consecutive keys into an empty list, with values of 4 bytes, as other stores are compared.
fn consecutive(unit_kilobytes: u32, settings: Settings) {
    let mut list: FatList<_, 4, 4> = FatList::format(NorSim::new(spec(unit_kilobytes)), settings).unwrap();
    let begun_ns = list.device().elapsed_ns();
    (0..25_000_u32).for_each(|key| list.insert(&key.to_be_bytes(), &key.to_le_bytes()).unwrap());
    let ms = (list.device().elapsed_ns() - begun_ns) as f64 / 1e6 / 25_000.0;
    println!("consecutive keys       {unit_kilobytes:3} KB: {ms:.3} ms");
}

/// A workload that only lists have, or another.
fn run_on_list(workload: &str, measured: Measured) {
    match workload {
        "consecutive" => consecutive(measured.unit_kilobytes, measured.list.settings()),
        "paced" => paced(measured),
        "ranges" => ranges(measured),
        _ => run(workload, measured),
    }
}

fn run<M: Subject>(workload: &str, measured: Measured<M>) {
    match workload.split_once('=').unwrap_or((workload, "90")) {
        ("full", _) => full(measured),
        ("ring", _) => ring_ahead(measured),
        ("kept", percent) => kept(measured, percent.parse().expect("a number of per cent")),
        ("holes", _) => holes(measured),
        ("random", _) => random_updates(measured),
        ("zipf", _) => zipf_updates(measured),
        ("churn", _) => churn(measured),
        ("queries", _) => queries(measured),
        ("hot", _) => hot(measured),
        _ => panic!(
            "{workload} is none of full, ring, kept=PERCENT, holes, random, zipf, churn, queries, hot; nor of a list's \
             consecutive, paced, ranges"
        ),
    }
}

const ALL: [&str; 14] = [
    "full", "ring", "kept=95", "kept=90", "kept=80", "kept=50", "holes", "random", "zipf", "churn", "paced", "queries",
    "ranges", "hot",
];

/// Settings as five numbers with commas between: blocks of a turnstile, levels, slots, keys, pool.
fn settings_of(text: &str) -> Settings {
    let mut numbers = text.split(',').map(|number| number.parse().expect("settings are paper, log or five numbers"));
    let mut next = || numbers.next().expect("settings have five numbers");
    Settings { turnstile_blocks: next(), levels: next(), slots: next(), keys: next(), pool: next() }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let unit_kilobytes = arguments.next().map_or(64, |text| text.parse().expect("kilobytes of a unit"));
    let name = arguments.next().unwrap_or_else(|| "paper".to_owned());
    let chosen: Vec<String> = arguments.collect();
    if name == "leaf" {
        let format = || LeafMap::<_, 4, 2>::format(NorSim::new(spec(unit_kilobytes))).unwrap();
        return chosen.iter().for_each(|workload| run(workload, Measured::new(format(), unit_kilobytes)));
    }
    let plain = name.strip_suffix("-fitted");
    let mut settings = match plain.unwrap_or(&name) {
        "paper" => Settings::paper_2011(),
        "log" => Settings::log(),
        other => settings_of(other),
    };
    if plain.is_some() {
        settings = settings.fitted_to(&spec(unit_kilobytes).part, 4, 2);
    }
    let workloads = if chosen.is_empty() { ALL.map(str::to_owned).to_vec() } else { chosen };
    println!("{settings:?}, seed {SEED}");
    workloads.iter().for_each(|workload| run_on_list(workload, Measured::of_list(unit_kilobytes, settings)));
}
