//! What a sorted map costs over a `Remap`, on parts whose words are programmed once or twice: appends to a full ring,
//! random updates and queries, beside the same part if its words took any number of programs.
//!
//! Keys of 4 bytes, values of 2, `Settings::log` fitted to the virtual part, on 256 KB of the simulated part, in its
//! simulated time. Each workload runs in two windows, of which the second one is printed with the first one's time.

use norn_flash::{Nor, NorPart, Reprogramming};
use norn_flash_sim::{Counters, NorSim, PartSpec, catalogue};
use norn_nor_remap::{Remap, RemapConfig};
use norn_ordered_index::{FatList, OrderedIndex, Settings};

const PART_BYTES: u32 = 256 << 10;
const KEYS: u32 = 2_000;
const CALLS: u32 = 20_000;
const SPARES: u16 = 2;

fn settings(part: &NorPart) -> Settings {
    let blocks = part.unit_count.clamp(2, 16) as u8;
    Settings { turnstile_blocks: blocks, ..Settings::log() }.fitted_to(part, 4, 2)
}

/// Two windows of calls; prints the second one.
fn measure<D: Nor>(
    list: &mut FatList<D, 4, 2>,
    name: &str,
    sim: impl Fn(&FatList<D, 4, 2>) -> (Counters, u64),
    mut call: impl FnMut(&mut FatList<D, 4, 2>),
) {
    let mut windows = [(0.0, Counters::default()); 2];
    for window in &mut windows {
        let before = sim(list);
        (0..CALLS).for_each(|_| call(list));
        let after = sim(list);
        *window = ((after.1 - before.1) as f64 / 1e6 / f64::from(CALLS), after.0 - before.0);
    }
    let [(first_ms, _), (ms, counters)] = windows;
    let each = |count: u64| count as f64 / f64::from(CALLS);
    println!(
        "  {name:8} {ms:8.3} ms ({first_ms:.3} before), {:.5} erases, {:.2} words programmed, {:.0} read",
        each(counters.erases),
        each(counters.programs()),
        each(counters.reads()),
    );
}

fn workloads<D: Nor>(device: D, sim: impl Fn(&FatList<D, 4, 2>) -> (Counters, u64) + Copy) {
    let settings = settings(&device.part());
    println!("  {} units of {} bytes for the list", device.part().unit_count, device.part().unit_size_bytes);
    let mut list: FatList<_, 4, 2> = FatList::format(device, settings).unwrap();
    let (mut next, mut dropped) = (0_u32, 0);
    while dropped < 4_000 {
        dropped += list.insert_in_ring(&next.to_be_bytes(), &[1, 2]).unwrap();
        next += 1;
    }
    println!("  {:8} {:.2} bytes of flash a reading", "room", f64::from(PART_BYTES) / f64::from(list.len().unwrap()));
    measure(&mut list, "append", sim, |list| {
        list.insert_in_ring(&next.to_be_bytes(), &[1, 2]).unwrap();
        next += 1;
    });
    let mut list: FatList<_, 4, 2> = FatList::format(list.into_device(), settings).unwrap();
    let mut random = fastrand::Rng::with_seed(2011);
    for key in 0..KEYS {
        list.put(&key.wrapping_mul(2_654_435_761).to_be_bytes(), &[0, 0]).unwrap();
    }
    let mut draw = move || random.u32(0..KEYS).wrapping_mul(2_654_435_761).to_be_bytes();
    measure(&mut list, "update", sim, |list| list.update(&draw(), &[3, 4]).unwrap());
    measure(&mut list, "query", sim, |list| assert!(list.get(&draw()).unwrap().is_some()));
}

fn main() {
    for spec in [catalogue::stm32l4(), catalogue::stm32u5(), catalogue::stm32h7b(), catalogue::nrf52840()] {
        let part = NorPart { unit_count: (PART_BYTES / spec.part.unit_size_bytes) as u16, ..spec.part };
        let spec = PartSpec { part, ..spec };
        println!("{}: {part:?}, over a Remap with {SPARES} spare units", spec.name);
        let remap: Remap<_, 256> =
            Remap::format(NorSim::new(spec.clone()), RemapConfig { spare_units: SPARES }).unwrap();
        workloads(remap, |list| (list.device().device().counters(), list.device().device().elapsed_ns()));
        println!("{}, if its words of {} bytes took any number of programs", spec.name, part.program_unit_bytes);
        let part = NorPart { reprogramming: Reprogramming::Unlimited, ..part };
        workloads(NorSim::new(PartSpec { part, ..spec }), |list| {
            (list.device().counters(), list.device().elapsed_ns())
        });
    }
}
