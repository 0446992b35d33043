//! What a sorted map costs on parts whose words are programmed once or twice: a leaf map; a fat list over a `Remap`;
//! and a fat list on the same part if its words took any number of programs.
//!
//! Keys of 4 bytes, values of 2, on 256 KB of the simulated part, in its simulated time: appends to a full ring, the
//! same with a retention that removes a key each time, queries by time, random insertions until there are 2,000 keys,
//! random updates and queries of these, removals and insertions in turn. Fat lists with `Settings::log` fitted to the
//! part. Each workload runs in two windows, of which the second one is printed with the first one's time.

use std::ops::Bound;

use norn_flash::{Nor, NorPart, Reprogramming};
use norn_flash_sim::{Counters, NorSim, PartSpec, catalogue};
use norn_nor_remap::{Remap, RemapConfig};
use norn_ordered_index::{FatList, LeafMap, OrderedIndex, Settings};

const PART_BYTES: u32 = 256 << 10;
const KEYS: u32 = 2_000;
const CALLS: u32 = 20_000;
const SPARES: u16 = 2;

/// What a program sees of a map, and a measurement of its part.
trait Map: OrderedIndex<4, 2> {
    fn append(&mut self, key: u32) -> u32;
    fn keep_from(&mut self, key: u32);
    fn cleared(self) -> Self;
    fn part(&self) -> &NorSim;
}

fn settings(part: &NorPart) -> Settings {
    let blocks = part.unit_count.clamp(2, 16) as u8;
    Settings { turnstile_blocks: blocks, ..Settings::log() }.fitted_to(part, 4, 2)
}

/// A part, below a `Remap` or not.
trait Under: Nor {
    fn sim(&self) -> &NorSim;
}

impl Under for NorSim {
    fn sim(&self) -> &NorSim {
        self
    }
}

impl Under for Remap<NorSim, 256> {
    fn sim(&self) -> &NorSim {
        self.device()
    }
}

impl<D: Under> Map for FatList<D, 4, 2> {
    fn append(&mut self, key: u32) -> u32 {
        self.insert_in_ring(&key.to_be_bytes(), &[1, 2]).unwrap()
    }

    fn keep_from(&mut self, key: u32) {
        while self.remove_below(&key.to_be_bytes()).unwrap() > 0 {}
    }

    fn cleared(self) -> Self {
        let settings = self.settings();
        FatList::format(self.into_device(), settings).unwrap()
    }

    fn part(&self) -> &NorSim {
        self.device().sim()
    }
}

impl Map for LeafMap<NorSim, 4, 2> {
    fn append(&mut self, key: u32) -> u32 {
        self.insert_in_ring(&key.to_be_bytes(), &[1, 2]).unwrap()
    }

    fn keep_from(&mut self, key: u32) {
        self.remove_below(&key.to_be_bytes()).unwrap();
    }

    fn cleared(self) -> Self {
        LeafMap::format(self.into_device()).unwrap()
    }

    fn part(&self) -> &NorSim {
        self.device()
    }
}

/// Windows of calls; prints the last one.
fn measure<M: Map>(map: &mut M, name: &str, windows: &[u32], mut call: impl FnMut(&mut M)) {
    let (mut times, mut last, mut worst_ns) = (Vec::new(), Counters::default(), 0);
    for &calls in windows {
        let (counters, begun_ns) = (map.part().counters(), map.part().elapsed_ns());
        worst_ns = 0;
        for _ in 0..calls {
            let before_ns = map.part().elapsed_ns();
            call(map);
            worst_ns = worst_ns.max(map.part().elapsed_ns() - before_ns);
        }
        times.push((map.part().elapsed_ns() - begun_ns) as f64 / 1e6 / f64::from(calls));
        last = map.part().counters() - counters;
    }
    let each = |count: u64| count as f64 / f64::from(*windows.last().unwrap());
    let (ms, first_ms) = (times.last().unwrap(), times[0]);
    println!(
        "  {name:24} {ms:8.4} ms ({first_ms:.4} at first), worst {:.1}, {:.5} erases, {:.2} words programmed, {:.0} \
         read",
        worst_ns as f64 / 1e6,
        each(last.erases),
        each(last.programs()),
        each(last.reads()),
    );
}

fn log<M: Map>(map: &mut M) {
    let (mut next, mut dropped) = (0_u32, 0);
    while dropped < 4_000 {
        dropped += map.append(next);
        next += 1;
    }
    let keys = map.len().unwrap();
    println!("  {:24} {:.2} bytes of flash a reading", "room", f64::from(PART_BYTES) / f64::from(keys));
    measure(map, "append", &[CALLS, CALLS], |map| {
        map.append(next);
        next += 1;
    });
    let oldest = u32::from_be_bytes(map.first().unwrap().unwrap().0);
    let mut from = oldest;
    measure(map, "an hour's query, a key", &[1, 1], |map| {
        let mut range = map.range(Bound::Included((oldest + 1_000).to_be_bytes()), Bound::Unbounded);
        (0..3_600).for_each(|_| _ = range.next_entry().unwrap());
    });
    let kept = keys * 4 / 5;
    from = from.max(next - kept);
    map.keep_from(from);
    measure(map, "append, kept 80% full", &[CALLS, CALLS], |map| {
        map.keep_from(next - kept);
        map.append(next);
        next += 1;
    });
}

fn random<M: Map>(map: &mut M) {
    let key = |number: u32| number.wrapping_mul(2_654_435_761).to_be_bytes();
    let mut number = 0;
    measure(map, "random insertion", &[KEYS / 2, KEYS / 2], |map| {
        map.insert(&key(number), &[0, 0]).unwrap();
        number += 1;
    });
    let mut random = fastrand::Rng::with_seed(2011);
    let mut draw = move || key(random.u32(0..KEYS));
    measure(map, "random update", &[CALLS, CALLS], |map| map.update(&draw(), &[3, 4]).unwrap());
    measure(map, "random query", &[CALLS, CALLS], |map| assert!(map.get(&draw()).unwrap().is_some()));
    let mut gone = 0;
    measure(map, "removal and insertion", &[CALLS / 2, CALLS / 2], |map| {
        map.remove(&key(gone)).unwrap();
        map.insert(&key(gone + KEYS), &[5, 6]).unwrap();
        gone += 1;
    });
}

fn workloads<M: Map>(mut map: M) {
    log(&mut map);
    random(&mut map.cleared());
}

fn main() {
    for spec in [catalogue::stm32l4(), catalogue::stm32u5(), catalogue::stm32h7b(), catalogue::nrf52840()] {
        let part = NorPart { unit_count: (PART_BYTES / spec.part.unit_size_bytes) as u16, ..spec.part };
        let spec = PartSpec { part, ..spec };
        println!("{}: {part:?}: a leaf map", spec.name);
        workloads::<LeafMap<_, 4, 2>>(LeafMap::format(NorSim::new(spec.clone())).unwrap());
        println!("{}, a fat list over a Remap with {SPARES} spare units", spec.name);
        let remap: Remap<_, 256> =
            Remap::format(NorSim::new(spec.clone()), RemapConfig { spare_units: SPARES }).unwrap();
        let made = settings(&remap.part());
        workloads::<FatList<_, 4, 2>>(FatList::format(remap, made).unwrap());
        println!(
            "{}, a fat list if its words of {} bytes took any number of programs",
            spec.name, part.program_unit_bytes
        );
        let part = NorPart { reprogramming: Reprogramming::Unlimited, ..part };
        workloads::<FatList<_, 4, 2>>(
            FatList::format(NorSim::new(PartSpec { part, ..spec }), settings(&part)).unwrap(),
        );
    }
}
