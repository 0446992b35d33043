//! The simulated EEPROM overwrites in place, counts, times and ages each byte, and tears a word as its contract allows.

use norn_flash::{Address, Eeprom};
use norn_flash_sim::{EepromSim, EepromSimError, Tear, Wear, WriteStage, catalogue};

fn small() -> EepromSim {
    EepromSim::new(catalogue::eeprom_test_part(1024, 4))
}

fn read<const N: usize>(sim: &mut EepromSim, address: u32) -> [u8; N] {
    let mut bytes = [0; N];
    sim.read(Address(address), &mut bytes).unwrap();
    bytes
}

#[test]
fn bits_change_both_ways_and_bytes_beside_do_not() {
    let mut sim = small();
    sim.write(Address(253), &[1, 2, 3, 4, 5, 6]).unwrap();
    sim.write(Address(255), &[0xF0, 0x0F]).unwrap();
    assert_eq!(read::<8>(&mut sim, 252), [0xFF, 1, 2, 0xF0, 0x0F, 5, 6, 0xFF]);
    assert_eq!(sim.peek(Address(252), 8), [0xFF, 1, 2, 0xF0, 0x0F, 5, 6, 0xFF]);
}

#[test]
fn words_are_counted_by_size_timed_and_aged() {
    let mut sim = small();
    sim.write(Address(1), &[0; 9]).unwrap(); // 1 + 2 + 4 + 2 bytes
    read::<3>(&mut sim, 4); // 2 + 1
    let counters = sim.counters();
    assert_eq!((counters.programs_by_size, counters.erases), ([1, 2, 1, 0, 0, 0], 4));
    assert_eq!(counters.reads_by_size, [1, 1, 0, 0, 0, 0]);
    assert_eq!(sim.elapsed_ns(), 4 * 3_530_000 + 2 * 100);
    assert_eq!(sim.operations(), 4);
    sim.write(Address(4), &[0; 2]).unwrap();
    assert_eq!(sim.writes_by_byte().take(11).collect::<Vec<_>>(), [0, 1, 1, 1, 2, 2, 1, 1, 1, 1, 0]);
    assert_eq!(sim.wear(), Wear { min: 0, mean: 11.0 / 1024.0, max: 2 });
    assert_eq!(sim.most_writes(), 2);

    sim.freeze_counters();
    let before = (sim.counters(), sim.elapsed_ns());
    sim.write(Address(0), &[0; 4]).unwrap();
    read::<4>(&mut sim, 0);
    assert_eq!((sim.counters(), sim.elapsed_ns()), before);
    sim.thaw_counters();
    read::<4>(&mut sim, 0);
    assert_eq!(sim.elapsed_ns(), before.1 + 100);
}

#[test]
fn narrow_parts_work_in_their_words() {
    let mut sim = EepromSim::new(catalogue::eeprom_test_part(64, 1));
    sim.write(Address(0), &[0; 4]).unwrap();
    assert_eq!(sim.counters().programs_by_size, [4, 0, 0, 0, 0, 0]);
}

#[test]
fn ranges_that_leave_the_part_are_refused() {
    let mut sim = small();
    let beyond = EepromSimError::OutOfRange { address: Address(1023), len: 2, end: 1024 };
    assert_eq!(sim.write(Address(1023), &[0; 2]), Err(beyond.clone()));
    assert_eq!(sim.read(Address(1023), &mut [0; 2]), Err(beyond));
    let far = EepromSimError::OutOfRange { address: Address(u32::MAX), len: 1, end: 1024 };
    assert_eq!(sim.write(Address(u32::MAX), &[0]), Err(far));
    assert_eq!((sim.peek(Address(1023), 1), sim.operations()), (vec![0xFF], 0));
}

#[test]
fn a_byte_wears_out_and_those_beside_it_do_not() {
    let mut sim = small();
    sim.set_endurance(Some(3));
    for value in 0..3 {
        sim.write(Address(10), &[value]).unwrap();
    }
    let worn = EepromSimError::WornOut { address: Address(10), writes: 3 };
    assert_eq!(sim.write(Address(8), &[0; 4]), Err(worn));
    sim.write(Address(8), &[7; 2]).unwrap();
    assert_eq!(read::<2>(&mut sim, 8), [7; 2]);
    assert_eq!(sim.most_writes(), sim.wear().max);

    sim.forget_wear();
    assert_eq!((sim.most_writes(), sim.wear()), (0, Wear { min: 0, mean: 0.0, max: 0 }));
    sim.write(Address(8), &[9; 4]).unwrap();
    assert_eq!((read::<4>(&mut sim, 8), sim.most_writes()), ([9; 4], 1));
}

/// Each bit of a torn word is old, new or 1; words before are new, words after old; the result is stable, and clones
/// differ.
#[test]
fn a_cut_tears_one_word_as_the_contract_says() {
    let (old, new) = ([0b0011_0101u8; 4], [0b0101_0011u8; 4]);
    let mut random = fastrand::Rng::with_seed(1);
    let mut seen = std::collections::HashSet::new();
    let mut sim = small();
    sim.write(Address(0), &[old; 3].concat()).unwrap();
    for stage in WriteStage::ALL {
        for _ in 0..500 {
            let tear = Tear::draw(&mut random);
            let mut torn = sim.clone();
            torn.cut_power_after(1, stage, tear);
            assert_eq!(torn.write(Address(0), &[new; 3].concat()), Err(EepromSimError::PowerLost));
            assert_eq!(torn.read(Address(0), &mut [0]), Err(EepromSimError::PowerLost));
            assert_eq!(torn.last_torn(), Some(Address(4)));
            torn.power_on();
            assert_eq!(read::<4>(&mut torn, 0), new);
            assert_eq!(read::<4>(&mut torn, 8), old);
            let word = read::<4>(&mut torn, 4);
            assert_eq!(read::<4>(&mut torn, 4), word);
            assert!(stage != WriteStage::Erase || word.iter().zip(old).all(|(byte, old)| byte & old == old));
            for (byte, (old, new)) in word.iter().zip(old.iter().zip(new)) {
                if stage == WriteStage::Both {
                    assert_eq!((byte ^ old) & (byte ^ new), 0, "{tear:?}");
                }
                assert_eq!(byte & (old & new), old & new, "a bit that was 1 and stays 1 reads 0: {stage:?} {tear:?}");
            }
            seen.insert((stage as u8, word));
        }
    }
    let differs = |stage: WriteStage, word: [u8; 4]| seen.contains(&(stage as u8, word));
    assert!(differs(WriteStage::Erase, [0xFF; 4]) && differs(WriteStage::Erase, old));
    assert!(differs(WriteStage::Write, [0xFF; 4]) && differs(WriteStage::Write, new));
    assert!(differs(WriteStage::Both, old) && differs(WriteStage::Both, new));
    assert_eq!(read::<4>(&mut sim, 4), old);
}
