//! Random programs and erases do to the virtual part what they do to bytes in plain memory, on parts of every kind; the
//! checker is silent after each of them, a part mounted again holds the same, and the simulated part refuses nothing.

use crate::model;

use model::{Pair, TestRemap, check, parts};
use norn_conformance::from_environment;
use norn_flash::{Address, EraseUnit, Nor, Reprogramming, StatedGeometry, TenantKind};
use norn_flash_sim::{NorSim, catalogue};
use norn_nor_remap::{Remap, RemapConfig, RemapMountError};

#[test]
fn random_operations_agree_with_the_model() {
    let seeds = from_environment("NORN_SEED").map_or(0..24, |seed| seed..seed + 1);
    for seed in seeds {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(parts()[seed as usize % 6].clone(), 1 + seed as u16 / 6 % 2);
        for number in 0..600 {
            let op = pair.draw(&mut random);
            let context = || format!("after {number}, {op:?}; replay: NORN_SEED={seed} cargo test -p norn-nor-remap");
            pair.step(&op, &context);
            check(&mut pair.remap, &pair.bytes, &context);
            assert_eq!(pair.remap.device().refusals(), 0, "{}", context());
            if random.u8(0..10) == 0 {
                let erases: u32 = pair.remap.device().erase_counts().sum();
                pair.remap = TestRemap::mount(pair.remap.device().clone()).unwrap();
                assert_eq!(pair.remap.device().erase_counts().sum::<u32>(), erases, "nothing to recover");
                check(&mut pair.remap, &pair.bytes, &context);
            }
        }
    }
}

/// A bit after the other in one word: the longest row of records that a group can have, over several moves.
#[test]
fn one_word_is_changed_again_and_again() {
    for spec in parts() {
        let mut pair = Pair::new(spec, 1);
        let cell = usize::from(pair.remap.part().program_unit_bytes);
        for bit in 0..8 * cell {
            let mut bytes = vec![0xFF; cell];
            bytes[bit / 8] &= !(1 << (bit % 8));
            let bytes = bytes.iter().zip(&pair.bytes[..cell]).map(|(a, b)| a & b).collect();
            pair.step(&model::Op::Program { at: 0, bytes }, &|| format!("bit {bit}"));
            check(&mut pair.remap, &pair.bytes, &|| format!("bit {bit}"));
        }
        assert_eq!(pair.remap.device().refusals(), 0);
    }
}

/// One unit is erased all the time and the others hold what never changes: they move, too, and all units wear.
#[test]
fn units_wear_alike() {
    let mut pair = Pair::new(catalogue::limited_test_part(20, 512, 8, Reprogramming::Once), 2);
    pair.step(&model::Op::Program { at: 0, bytes: vec![0; pair.bytes.len() / 8 * 8] }, &String::new);
    const ERASES: u32 = 100_000;
    for _ in 0..ERASES {
        pair.remap.erase(EraseUnit(2)).unwrap();
    }
    let erases: Vec<u32> = pair.remap.device().erase_counts().collect();
    let (sum, max) = (erases.iter().sum::<u32>(), *erases.iter().max().unwrap());
    // The unit with unknown contents replaces another that fails.
    let ratio = f64::from(max) * 19.0 / f64::from(sum);
    println!(
        "most erases by mean erases of a unit in use: {ratio:.3}; erases a call: {}",
        f64::from(sum) / f64::from(ERASES)
    );
    assert!(ratio < 1.4, "{erases:?}");
    assert!(sum < ERASES + ERASES / 60 + 100, "one erase a call, and one for wear in 64");
}

#[test]
fn what_is_no_image_is_refused() {
    let part = || NorSim::new(parts()[0].clone());
    assert_eq!(TestRemap::mount(part()).unwrap_err(), RemapMountError::NotFormatted);
    for spare_units in [0, 6] {
        let refused = TestRemap::format(part(), RemapConfig { spare_units }).unwrap_err();
        assert!(matches!(refused, RemapMountError::Unsuitable(_)));
    }
    let small = Remap::<_, 4>::format(part(), RemapConfig { spare_units: 1 }).unwrap_err();
    assert_eq!(small, RemapMountError::TooSmall { what: "rows of the table of homes", needed: 6, given: 4 });
    let tiny = NorSim::new(catalogue::limited_test_part(8, 256, 32, Reprogramming::Once));
    let tiny = TestRemap::format(tiny, RemapConfig { spare_units: 1 }).unwrap_err();
    assert!(matches!(tiny, RemapMountError::Unsuitable(_)));

    let mut image = Pair::new(parts()[0].clone(), 1).remap.into_device();
    let part_of = image.part();
    let found = norn_nor_remap::recognise(&mut image).unwrap().expect("it is an overlay");
    let geometry = StatedGeometry { count: part_of.unit_count, size_bytes: part_of.unit_size_bytes };
    assert_eq!((found.kind, found.version, found.geometry), (TenantKind::REMAP, 1, Some(geometry)));
    assert_eq!(norn_nor_remap::recognise(&mut part()).unwrap(), None);
    let bytes = image.peek(Address(0), 6 * 512);
    let other = NorSim::from_cells(catalogue::limited_test_part(3, 1024, 8, Reprogramming::Once), &bytes);
    let expected = RemapMountError::WrongGeometry { what: "erase units", image: 6, expected: 3 };
    assert_eq!(TestRemap::mount(other).unwrap_err(), expected);
}

#[test]
fn the_number_of_spares_is_remembered() {
    let pair = Pair::new(parts()[0].clone(), 3);
    assert_eq!(TestRemap::mount(pair.remap.into_device()).unwrap().part().unit_count, 3);
}
