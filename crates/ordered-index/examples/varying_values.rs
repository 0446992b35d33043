//! What values of varying length cost in steady state, in simulated time, beside values of one length.
//!
//! Keys of 4 bytes on 2 MB of K8C1215ETM in units of 64 KB. Lengths fall off exponentially from a mean, up to a
//! greatest one. The records take as large a share of all objects' room as in the random updates of `steady_state`:
//! 21.3%. Random updates run in windows until the times of three in a row agree within 2%; then come random queries,
//! and a ring.

use norn_flash::NorPart;
use norn_flash_sim::{Counters, NorSim, catalogue};
use norn_ordered_index::{ByteIndexError, FatList, IndexError, OrderedIndex, Settings, Varying, VaryingList};

const SEED: u64 = 2011;
const LONGEST: usize = 200;
/// The share of all objects' room that the records take.
const FILL: f64 = 40_000.0 / 187_600.0;
const WINDOWS_MAX: usize = 40;

type Varied = VaryingList<NorSim, 4, LONGEST>;
type Twenty = FatList<NorSim, 4, 20>;

/// A list of either layout.
enum List {
    Varied(Varied),
    Twenty(Twenty),
}

fn part() -> NorSim {
    let mut spec = catalogue::k8c1215etm();
    spec.part = NorPart { unit_count: 32, unit_size_bytes: 64 << 10, ..spec.part };
    NorSim::new(spec)
}

impl List {
    fn device(&self) -> &NorSim {
        match self {
            List::Varied(list) => list.device(),
            List::Twenty(list) => list.device(),
        }
    }

    /// Pointers followed so far.
    fn pointers(&self) -> u32 {
        match self {
            List::Varied(list) => list.probes().pointers,
            List::Twenty(list) => list.probes().pointers,
        }
    }

    /// Whether there was room.
    fn put(&mut self, key: u32, value: &[u8]) -> bool {
        let key = key.to_be_bytes();
        let outcome = match self {
            List::Varied(list) => list.put(&key, value).map_err(|error| match error {
                ByteIndexError::Index(error) => error,
                ByteIndexError::Width { .. } => panic!("{error}"),
            }),
            List::Twenty(list) => list.put(&key, value.try_into().expect("twenty bytes")),
        };
        assert!(matches!(outcome, Ok(()) | Err(IndexError::Full)), "{outcome:?}");
        outcome.is_ok()
    }

    fn get(&mut self, key: u32) {
        let key = key.to_be_bytes();
        let is_there = match self {
            List::Varied(list) => list.get(&key, &mut [0; LONGEST]).unwrap().is_some(),
            List::Twenty(list) => list.get(&key).unwrap().is_some(),
        };
        assert!(is_there);
    }
}

/// A length that falls off exponentially.
fn length(random: &mut fastrand::Rng, scale: f64, longest: usize) -> usize {
    ((-scale * (1.0 - random.f64()).ln()) as usize).min(longest)
}

fn print(name: &str, calls: u32, cost: Counters, elapsed_ns: u64, remark: &str) {
    let each = |count: u64| count as f64 / f64::from(calls);
    println!(
        "{name}: {:.3} ms, {:.5} erases, {:.1} words programmed, {:.1} read a call{remark}",
        each(elapsed_ns) / 1e6,
        each(cost.erases),
        each(cost.programs()),
        each(cost.reads()),
    );
}

/// Random updates and queries of `list`, whose values `draw` draws.
fn run(name: &str, mut list: List, keys: u32, mut draw: impl FnMut(&mut fastrand::Rng) -> Vec<u8>) {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut order: Vec<u32> = (0..keys).collect();
    random.shuffle(&mut order);
    let (mut sum, mut full) = (0, 0_u32);
    for key in order {
        let value = draw(&mut random);
        sum += value.len() as u64;
        assert!(list.put(2 * key, &value), "no room for the keys");
    }
    println!("{name}: {keys} keys, values of {:.1} bytes on average", sum as f64 / f64::from(keys));
    let (calls, mut times) = (keys.max(20_000), Vec::new());
    loop {
        let (before, begun_ns) = (list.device().counters(), list.device().elapsed_ns());
        for _ in 0..calls {
            let (key, value) = (2 * random.u32(0..keys), draw(&mut random));
            full += u32::from(!list.put(key, &value));
        }
        let elapsed_ns = list.device().elapsed_ns() - begun_ns;
        times.push(elapsed_ns);
        let last = &times[times.len().saturating_sub(3)..];
        let (least, most) = (last.iter().min().unwrap(), last.iter().max().unwrap());
        let is_steady = last.len() == 3 && (most - least) * 50 <= *most;
        if is_steady || times.len() == WINDOWS_MAX {
            let verdict = if is_steady { "steady" } else { "NOT STEADY" };
            let remark = format!("; {} windows of {calls}, {verdict}; {full} refused", times.len());
            print("  updates", calls, list.device().counters() - before, elapsed_ns, &remark);
            break;
        }
    }
    let (before, begun_ns, pointers) = (list.device().counters(), list.device().elapsed_ns(), list.pointers());
    for _ in 0..20_000 {
        list.get(2 * random.u32(0..keys));
    }
    let remark = format!("; {:.1} pointers followed", f64::from(list.pointers().wrapping_sub(pointers)) / 20_000.0);
    print("  queries", 20_000, list.device().counters() - before, list.device().elapsed_ns() - begun_ns, &remark);
}

fn varied(scale: f64, mean: usize, longest: usize, log_bytes: u16) {
    let widths = Varying { key_bytes: 4, value_bytes: longest as u16, log_bytes };
    let list: Varied = VaryingList::format(part(), widths, Settings::paper_2011()).unwrap();
    let stats = { list.clone() }.stats().unwrap();
    let room = f64::from(stats.free + 1) * f64::from(list.log_bytes());
    let keys = (room * FILL / f64::from(list.record_bytes(mean))) as u32;
    let name = format!("varying, mean {mean}, up to {longest}, logs of {}", list.log_bytes());
    let draw = |random: &mut fastrand::Rng| {
        let length = if mean == longest { longest } else { length(random, scale, longest) };
        vec![random.u8(..); length]
    };
    run(&name, List::Varied(list), keys, draw);
}

/// A ring of values with a mean length.
fn ring(scale: f64, longest: usize) {
    let widths = Varying { key_bytes: 4, value_bytes: longest as u16, log_bytes: 0 };
    let mut list: Varied = VaryingList::format(part(), widths, Settings::log()).unwrap();
    let (mut random, mut next, mut held) = (fastrand::Rng::with_seed(SEED), 0_u32, 0_u32);
    let mut window = |list: &mut Varied, calls: u32| {
        for _ in 0..calls {
            let value = vec![random.u8(..); length(&mut random, scale, longest)];
            held += 1;
            held -= list.insert_in_ring(&next.to_be_bytes(), &value).unwrap();
            next += 1;
        }
        held
    };
    window(&mut list, 300_000);
    let (before, begun_ns) = (list.device().counters(), list.device().elapsed_ns());
    let held = window(&mut list, 100_000);
    let remark = format!("; {held} keys held, {:.1} bytes of flash each", f64::from(2 << 20) / f64::from(held));
    println!("a ring, values up to {longest}, logs of {}", list.log_bytes());
    let elapsed_ns = list.device().elapsed_ns() - begun_ns;
    print("  appends", 100_000, list.device().counters() - before, elapsed_ns, &remark);
}

fn main() {
    let twenty: Twenty = FatList::format(part(), Settings::paper_2011()).unwrap();
    let stats = { twenty.clone() }.stats().unwrap();
    let keys = (f64::from(stats.free + 1) * 40.0 * FILL) as u32;
    run("fixed, 20", List::Twenty(twenty), keys, |random| vec![random.u8(..); 20]);
    varied(0.0, 20, 20, 40 * 28);
    varied(20.5, 20, LONGEST, 40 * 28);
    varied(20.5, 20, LONGEST, 0);
    varied(63.0, 60, LONGEST, 40 * 68);
    varied(63.0, 60, LONGEST, 0);
    varied(0.0, LONGEST, LONGEST, 40 * 208);
    ring(20.5, LONGEST);
}
