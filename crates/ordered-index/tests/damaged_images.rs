//! An image of any contents gives errors or answers: never a panic, and never a loop without end.

use crate::model;

use std::ops::Bound;

use model::{Pair, SETUPS, TestList, perform, setups};
use norn_conformance::from_environment;
use norn_flash::{Address, Collected, Nor};
use norn_flash_sim::NorSim;
use norn_ordered_index::{IndexError, MountError, OrderedIndex};

/// Overwrites something: single bits, runs of bytes, whole units, or one unit with another.
fn damage(device: &mut NorSim, random: &mut fastrand::Rng) {
    let part = device.part();
    let size = part.size_bytes() as usize;
    let unit = random.usize(0..usize::from(part.unit_count)) * part.unit_size_bytes as usize;
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
        6 => {
            let byte = random.choice([0, 0xFF, 0x55]).unwrap();
            device.poke(Address(unit as u32 + 48), &vec![byte; part.unit_size_bytes as usize - 48]);
        }
        _ => {
            let other = random.usize(0..usize::from(part.unit_count)) * part.unit_size_bytes as usize;
            let bytes = device.peek(Address(other as u32), part.unit_size_bytes as usize);
            device.poke(Address(unit as u32), &bytes);
        }
    }
}

/// Uses a list that may be damaged in every way there is.
fn use_all(list: TestList, random: &mut fastrand::Rng) -> u32 {
    let mut pair = Pair { list, map: Default::default(), keys: 60 };
    let (mut errors, mut corrupted) = (0, 0);
    let mut note = |found: Result<(), IndexError<_>>| match found {
        Ok(()) | Err(IndexError::KeyExists | IndexError::KeyAbsent | IndexError::Full | IndexError::BelowRing) => {}
        Err(IndexError::Corrupted) => corrupted += 1,
        Err(IndexError::Device(_)) => errors += 1,
        Err(IndexError::Halted) => {}
    };
    note(pair.list.audit(&mut Collected::<()>::default()));
    note(pair.list.len().map(|_| ()));
    note(pair.list.stats().map(|_| ()));
    for _ in 0..40 {
        let op = pair.draw(random);
        note(perform(&mut pair.list, &op));
    }
    assert!(corrupted == 0 || pair.list.corruption().is_some(), "an error without what and where");
    let mut range = pair.list.range(Bound::Unbounded, Bound::Unbounded);
    let mut count = 0;
    while let Ok(Some(_)) = range.next_entry() {
        count += 1;
        assert!(count < 100_000, "a range that does not end");
    }
    errors + corrupted
}

fn sweep(seeds: std::ops::Range<u64>) {
    let (mut mounted, mut refused, mut errors) = (0, 0, 0);
    for seed in from_environment("NORN_SEED").map_or(seeds, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(&setups()[seed as usize % SETUPS], 60);
        for _ in 0..random.usize(0..300) {
            let op = pair.draw(&mut random);
            pair.step(&op, &String::new);
        }
        if random.bool() {
            pair.list.stop().unwrap();
        }
        let mut device = pair.list.into_device();
        (0..random.usize(1..5)).for_each(|_| damage(&mut device, &mut random));
        match TestList::mount(device) {
            Ok(list) => {
                mounted += 1;
                errors += u32::from(use_all(list, &mut random) > 0);
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
    sweep(10_000..150_000);
}

#[test]
fn a_free_cell_that_is_not_erased_is_passed_over() {
    let mut damaged = 0;
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(&setups()[seed as usize % SETUPS], 60);
        let steps = |pair: &mut Pair, count: u32, random: &mut fastrand::Rng| {
            for _ in 0..count {
                let op = pair.draw(random);
                pair.step(&op, &|| format!("seed {seed}"));
            }
        };
        steps(&mut pair, 60, &mut random);
        pair.list.stop().unwrap();
        let mut device = pair.list.device().clone();
        let address = Address(random.u32(..device.part().size_bytes()));
        let byte = device.peek(address, 1)[0] & 0xFE;
        device.poke(address, &[byte]);
        let Ok(mut list) = TestList::mount(device) else { continue };
        let mut found = Collected::<()>::default();
        let is_free_cell =
            list.audit(&mut found).is_ok() && found.violations.iter().any(|one| one.what.starts_with("a free cell"));
        if is_free_cell {
            damaged += 1;
            pair.list = list;
            steps(&mut pair, 300, &mut random);
        }
    }
    assert!(damaged > 20, "{damaged} free cells damaged");
}

#[test]
fn random_images_are_refused() {
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let spec = setups()[seed as usize % SETUPS].spec.clone();
        let bytes: Vec<u8> = (0..spec.part.size_bytes()).map(|_| random.u8(..)).collect();
        let found = TestList::mount(NorSim::from_cells(spec, &bytes));
        assert_eq!(found.err(), Some(MountError::NotFormatted), "seed {seed}");
    }
}

#[test]
fn an_image_of_another_make_is_named() {
    let pair = Pair::new(&setups()[0], 60);
    let device = pair.list.into_device();
    let found = norn_ordered_index::FatList::<_, 2, 4>::mount(device).err();
    assert_eq!(found, Some(MountError::WrongGeometry { what: "bytes in a value", image: 3, expected: 4 }));
}
