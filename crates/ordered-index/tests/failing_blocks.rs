//! A ring on a part whose blocks wear out or stop taking programs. Over a `Remap`, which replaces them, no reading is
//! lost while there are spares. Without one, a failed call says so, and what is mounted later lacks least keys only.

use crate::model;

use std::collections::BTreeMap;
use std::ops::Bound;

use model::replay;
use norn_conformance::from_environment;
use norn_flash::{Collected, EraseUnit, Nor, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_nor_remap::{Remap, RemapConfig, RemapError};
use norn_ordered_index::{FatList, IndexError, OrderedIndex, Settings};

type Part = Remap<NorSim, 64>;
type Ring<D> = FatList<D, 4, 2>;
type Readings = BTreeMap<u32, [u8; 2]>;

const SPARES: u16 = 4;

fn part(seed: u64) -> NorSim {
    let program_unit_bytes = [1, 2, 4][seed as usize % 3];
    NorSim::new(catalogue::limited_test_part(16, 1024, program_unit_bytes, Reprogramming::Unlimited))
}

fn settings() -> Settings {
    Settings { turnstile_blocks: 4, levels: 3, slots: 12, keys: 6, pool: 6 }
}

/// Everything in a ring, which is sound.
fn readings<D: Nor>(ring: &mut Ring<D>, context: &dyn Fn() -> String) -> Readings {
    let mut found: Collected = Collected::default();
    ring.audit(&mut found).unwrap_or_else(|error| panic!("{error} {}", context()));
    assert!(found.violations.is_empty(), "{:?} {}", found.violations, context());
    let all = ring.range(Bound::Unbounded, Bound::Unbounded);
    all.map(|entry| entry.map(|(key, value)| (u32::from_be_bytes(key), value)).unwrap()).collect()
}

/// Appends a reading to a ring and to its model.
fn append<D: Nor>(ring: &mut Ring<D>, model: &mut Readings, value: [u8; 2]) -> Result<u32, IndexError<D::Error>> {
    let next = model.last_key_value().map_or(0, |(&last, _)| last + 1);
    let dropped = ring.insert_in_ring(&next.to_be_bytes(), &value)?;
    (0..dropped).for_each(|_| _ = model.pop_first());
    model.insert(next, value);
    Ok(dropped)
}

/// Whether a ring lacks some of the least keys of `model`, and has one more at most.
fn lacks_least_keys_only(found: &Readings, model: &Readings) -> bool {
    let newest = model.last_key_value().map_or(0, |(&last, _)| last);
    let kept: Vec<_> = found.iter().filter(|&(&key, _)| key <= newest).collect();
    kept.len() + 1 >= found.len() && model.iter().skip(model.len().saturating_sub(kept.len())).eq(kept)
}

#[test]
fn a_ring_over_a_remap_loses_nothing_while_there_are_spares() {
    let mut retired = 0;
    for seed in from_environment("NORN_SEED").map_or(0..9, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let remap: Part = Remap::format(part(seed), RemapConfig { spare_units: SPARES }).unwrap();
        let (mut ring, mut model) = (Ring::format(remap, settings()).unwrap(), Readings::new());
        ring.device_mut().device_mut().set_endurance(Some(60));
        for step in 0..200_000 {
            let context = || format!("at step {step} {}", replay("failing_blocks", "a_ring_over", seed));
            if step % 4_000 == 3_999 && ring.device().retired_units().count() + 1 < usize::from(SPARES) {
                let unit = ring.device_mut().home(EraseUnit(random.u16(0..8))).unwrap();
                ring.device_mut().device_mut().fail_programs_in(unit);
            }
            match append(&mut ring, &mut model, [random.u8(..), step as u8]) {
                Ok(0) => {}
                Ok(_) if random.u8(0..20) > 0 => {}
                Ok(_) => {
                    let device = ring.device().device().clone();
                    ring = Ring::mount(Part::mount(device).unwrap()).unwrap();
                    assert_eq!(readings(&mut ring, &context), model, "{}", context());
                }
                Err(error) => {
                    let is_last = matches!(error, IndexError::Device(RemapError::NoSpare | RemapError::Device(_)));
                    assert!(is_last, "{error} {}", context());
                    break;
                }
            }
        }
        let context = || replay("failing_blocks", "a_ring_over", seed);
        assert_eq!(ring.device().retired_units().count(), usize::from(SPARES), "{}", context());
        retired += ring.device().retired_units().count();
        let remap = Part::mount(ring.device().device().clone()).unwrap();
        // Where recovery has nothing to erase, all is there at the next boot, too.
        if let Ok(mut ring) = Ring::mount(remap) {
            let found = readings(&mut ring, &context);
            assert!(lacks_least_keys_only(&found, &model), "{found:?}, {model:?} {}", context());
        }
    }
    println!("{retired} units were replaced");
}

#[test]
fn a_ring_on_the_part_itself_says_what_failed_and_stays_right() {
    let (mut mounted, mut refused) = (0, 0);
    for seed in from_environment("NORN_SEED").map_or(0..30, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let context = || replay("failing_blocks", "a_ring_on_the_part", seed);
        let (mut ring, mut model) = (Ring::format(part(seed), settings()).unwrap(), Readings::new());
        let wear = random.bool();
        if wear {
            ring.device_mut().set_endurance(Some(random.u32(10..40)));
        }
        let fails_at = random.u32(500..3_000);
        let failed = (0..).find_map(|step| {
            if !wear && step == fails_at {
                ring.device_mut().fail_programs_in(EraseUnit(random.u16(0..16)));
            }
            append(&mut ring, &mut model, [1, step as u8]).err()
        });
        assert!(matches!(failed, Some(IndexError::Device(_))), "{failed:?} {}", context());
        assert_eq!(ring.get(&[0; 4]), Err(IndexError::Halted), "{}", context());
        match Ring::mount(ring.into_device()) {
            Ok(mut ring) => {
                let found = readings(&mut ring, &context);
                assert!(lacks_least_keys_only(&found, &model), "{found:?}, {model:?} {}", context());
                mounted += 1;
            }
            Err(norn_ordered_index::MountError::Device(_)) => refused += 1,
            Err(error) => panic!("{error} {}", context()),
        }
    }
    println!("{mounted} rings mounted after the failure, {refused} mounts that met it again");
    assert!(mounted > 0 && refused > 0, "{mounted} mounted, {refused} refused");
}
