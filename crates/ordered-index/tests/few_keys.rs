//! Lists whose objects keep one key when they are rewritten, but have room for more, answer as a map in memory does.
//! After a device has failed, nothing is answered from RAM.

use crate::model;

use model::{Pair, Setup, replay, setups};
use norn_conformance::from_environment;
use norn_flash_sim::{NorSim, Tear, catalogue};
use norn_ordered_index::{FatList, IndexError, OrderedIndex, Settings};

#[test]
fn objects_that_keep_one_key_of_several_slots_lose_none() {
    for slots in [3, 4, 12, 40] {
        for seed in from_environment("NORN_SEED").map_or(0..4, |seed| seed..seed + 1) {
            let mut random = fastrand::Rng::with_seed(seed);
            let settings = Settings { turnstile_blocks: 4, levels: 3, slots, keys: 1, pool: 8 };
            let setup = Setup { spec: setups()[seed as usize % 3].spec.clone(), settings, log_bytes: None };
            let mut pair = Pair::new(&setup, 60);
            for step in 0..400 {
                let context = || format!("{slots} slots at step {step} {}", replay("few_keys", "objects", seed));
                let op = pair.draw(&mut random);
                pair.step(&op, &context);
                pair.check(&context);
            }
        }
    }
}

#[test]
fn a_device_that_failed_answers_nothing_from_ram() {
    let part = NorSim::new(catalogue::w25q());
    let mut list: FatList<_, 2, 3> = FatList::format(part, Settings::paper_2011()).unwrap();
    for key in 0..8_u8 {
        list.insert(&[0, key], &[key; 3]).unwrap();
    }
    assert_eq!(list.len(), Ok(8));
    list.device_mut().cut_power_after(0, Tear::Nothing);
    assert!(matches!(list.insert(&[0, 9], &[9; 3]), Err(IndexError::Device(_))));
    assert_eq!(list.len(), Err(IndexError::Halted));
    assert_eq!(list.len_estimate(), Err(IndexError::Halted));
    assert_eq!(list.apply(&[]), Err(IndexError::Halted));
    assert_eq!(list.stop(), Err(IndexError::Halted));

    let mut device = list.into_device();
    device.power_on();
    let mut list: FatList<_, 2, 3> = FatList::mount(device).unwrap();
    list.stop().unwrap();
    list.device_mut().cut_power_after(0, Tear::Nothing);
    assert!(matches!(list.insert(&[0, 9], &[9; 3]), Err(IndexError::Device(_))));
    assert_eq!(list.stop(), Err(IndexError::Halted), "it was stopped before");
}
