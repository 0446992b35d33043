//! Damaged images of leaf maps give errors or answers: never a panic, and never a loop without end. Of single bits, all
//! are tried: each that matters is told by the mount or the checker, or is one that a cut may leave.

use crate::leaves;

use std::ops::Bound;

use leaves::{Contents, PARTS, Pair, TestMap, parts, perform};
use norn_conformance::{from_environment, seeds};
use norn_flash::{Address, Collected, Nor};
use norn_flash_sim::NorSim;
use norn_ordered_index::{IndexError, MountError, OrderedIndex};

fn used(seed: u64, steps: usize, random: &mut fastrand::Rng) -> Pair {
    let mut pair = Pair::new(&parts()[seed as usize % PARTS], 60);
    for _ in 0..steps {
        let op = pair.draw(random);
        pair.step(&op, &|| format!("seed {seed}"));
    }
    pair
}

/// Overwrites something: single bits, runs of bytes, whole units, or one unit with another.
fn damage(device: &mut NorSim, random: &mut fastrand::Rng) {
    let part = device.part();
    let (size, unit_bytes) = (part.size_bytes() as usize, part.unit_size_bytes as usize);
    let mut draw_unit = || random.usize(0..usize::from(part.unit_count)) * unit_bytes;
    let (unit, other) = (draw_unit(), draw_unit());
    match random.u8(0..8) {
        0..4 => {
            let at = Address(random.usize(0..size) as u32);
            let byte = device.peek(at, 1)[0] ^ 1 << random.u8(0..8);
            device.poke(at, &[byte]);
        }
        4 | 5 => {
            let bytes: Vec<u8> = (0..random.usize(1..64)).map(|_| random.u8(..)).collect();
            device.poke(Address(random.usize(0..size - bytes.len()) as u32), &bytes);
        }
        6 => device.poke(Address(unit as u32), &vec![random.choice([0, 0xFF, 0x55]).unwrap(); unit_bytes]),
        _ => {
            let bytes = device.peek(Address(other as u32), unit_bytes);
            device.poke(Address(unit as u32), &bytes);
        }
    }
}

/// Uses a map that may be damaged in every way there is; how many calls failed by that.
fn use_all(map: TestMap, random: &mut fastrand::Rng) -> u32 {
    let mut pair = Pair { map, model: Contents::new(), keys: 60 };
    let mut errors = 0;
    let mut note = |found: Result<(), IndexError<_>>| match found {
        Ok(()) | Err(IndexError::KeyExists | IndexError::KeyAbsent | IndexError::Full | IndexError::BelowRing) => {}
        Err(IndexError::Corrupted | IndexError::Device(_)) => errors += 1,
        Err(IndexError::Halted) => {}
    };
    note(pair.map.audit(&mut Collected::<()>::default()));
    note(pair.map.len().map(|_| ()));
    note(pair.map.stats().map(|_| ()));
    for _ in 0..40 {
        let op = pair.draw(random);
        note(perform(&mut pair.map, &op).map(|_| ()));
    }
    for is_backwards in [false, true] {
        let mut range = pair.map.range(Bound::Unbounded, Bound::Unbounded);
        let step = |_: usize| if is_backwards { range.next_back() } else { range.next() };
        let count = (0..100_000).map(step).take_while(Option::is_some).count();
        assert!(count < 100_000, "a range that does not end");
    }
    errors
}

fn sweep(range: std::ops::Range<u64>) {
    let (mut mounted, mut refused, mut errors) = (0, 0, 0);
    for seed in from_environment("NORN_SEED").map_or(range, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let steps = random.usize(0..300);
        let mut device = used(seed, steps, &mut random).map.into_device();
        (0..random.usize(1..5)).for_each(|_| damage(&mut device, &mut random));
        match TestMap::mount(device) {
            Ok(map) => {
                mounted += 1;
                errors += u32::from(use_all(map, &mut random) > 0);
            }
            Err(_) => refused += 1,
        }
    }
    println!("{mounted} mounted, {errors} of them with errors later; {refused} refused");
    assert!(from_environment("NORN_SEED").is_some() || (mounted > 100 && errors > 50 && refused > 100));
}

#[test]
fn damage_gives_errors_or_answers() {
    sweep(0..3000);
}

#[test]
#[ignore = "minutes"]
fn damage_gives_errors_or_answers_widely() {
    sweep(10_000..200_000);
}

#[test]
fn random_images_are_refused() {
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let spec = parts()[seed as usize % PARTS].clone();
        let bytes: Vec<u8> = (0..spec.part.size_bytes()).map(|_| random.u8(..)).collect();
        let found = TestMap::mount(NorSim::from_cells(spec, &bytes));
        assert_eq!(found.err(), Some(MountError::NotFormatted), "seed {seed}");
    }
}

/// What came of a changed bit.
#[derive(Default, Debug)]
struct Tally {
    told: u32,
    harmless: u32,
    as_cut: u32,
}

/// Whether a map lacks the last change of one leaf only, or of the newest leaf all: what a cut may leave.
fn may_be_cut(found: &Contents, model: &Contents) -> bool {
    found.iter().filter(|(key, value)| model.get(*key) != Some(value)).count()
        + model.keys().filter(|key| !found.contains_key(*key)).count()
        <= 1
}

#[test]
fn each_bit_is_told_or_harmless_or_as_a_cut_leaves_it() {
    let mut tally = Tally::default();
    for run in seeds(0..4, "-p norn-ordered-index --test suite leaf_map_damage::") {
        let mut random = run.random();
        let pair = used(run.seed, 150, &mut random);
        let device = pair.map.into_device();
        for bit in 0..device.part().size_bytes() * 8 {
            let (at, mask) = (Address(bit / 8), 1 << (bit % 8));
            let (mut damaged, byte) = (device.clone(), device.peek(at, 1)[0]);
            damaged.poke(at, &[byte ^ mask]);
            let context = || format!("bit {bit} of {byte:#x}, {}", run.replay());
            match read_all(damaged) {
                None => tally.told += 1,
                Some(found) if found == pair.model => tally.harmless += 1,
                // A zero that is gone, as one that was never programmed.
                Some(found) => {
                    assert!(byte & mask == 0 && may_be_cut(&found, &pair.model), "{found:?} {}", context());
                    tally.as_cut += 1;
                }
            }
        }
    }
    println!("{tally:?}");
    assert!(tally.told > 1_000, "{tally:?}");
}

/// What a damaged map holds, unless the mount or the checker tells that it is damaged.
fn read_all(device: NorSim) -> Option<Contents> {
    let mut map = TestMap::mount(device).ok()?;
    let mut found = Collected::<()>::default();
    map.audit(&mut found).ok()?;
    if !found.violations.is_empty() {
        return None;
    }
    map.range(Bound::Unbounded, Bound::Unbounded).collect::<Result<Contents, _>>().ok()
}
