//! The simulated part refuses everything that the contract forbids, leaving what it holds as it was, and counts, times,
//! ages and tears what it carries out.

use norn_flash::{Address, EraseUnit, Nor, Reprogramming};
use norn_flash_sim::{NorSim, SimError, Tear, catalogue};

fn small() -> NorSim {
    NorSim::new(catalogue::test_part(4, 512))
}

fn read<const N: usize>(sim: &mut NorSim, address: u32) -> [u8; N] {
    let mut bytes = [0; N];
    sim.read(Address(address), &mut bytes).unwrap();
    bytes
}

#[test]
fn illegal_use_is_refused_by_address_and_changes_nothing() {
    let mut sim = small();
    sim.program(Address(100), &[0x0F]).unwrap();
    let before = (sim.peek(Address(0), 2048), sim.counters(), sim.elapsed_ns());
    let sets = SimError::SetsBits { address: Address(100), stored: 0x0F, requested: 0x1F };
    assert_eq!(sim.program(Address(98), &[0, 0, 0x1F]), Err(sets));
    let beyond = SimError::OutOfRange { address: Address(2047), len: 2, end: 2048 };
    assert_eq!(sim.program(Address(2047), &[0, 0]), Err(beyond.clone()));
    assert_eq!(sim.read(Address(2047), &mut [0, 0]), Err(beyond));
    let far = SimError::OutOfRange { address: Address(u32::MAX), len: 1, end: 2048 };
    assert_eq!(sim.read(Address(u32::MAX), &mut [0]), Err(far));
    let missing = SimError::NoSuchUnit { unit: EraseUnit(4), unit_count: 4 };
    assert_eq!(sim.erase(EraseUnit(4)), Err(missing));
    assert_eq!((sim.peek(Address(0), 2048), sim.counters(), sim.elapsed_ns()), before);
}

#[test]
fn program_units_and_budgets_are_enforced() {
    let mut once = NorSim::new(catalogue::stm32l4());
    let misaligned = SimError::Misaligned { address: Address(4), len: 8, program_unit: 8 };
    assert_eq!(once.program(Address(4), &[0; 8]), Err(misaligned));
    once.program(Address(8), &[0; 16]).unwrap();
    let over = SimError::OverBudget { address: Address(16), times: 1 };
    assert_eq!(once.program(Address(16), &[0; 8]), Err(over));
    once.erase(EraseUnit(0)).unwrap();
    once.program(Address(16), &[0; 8]).unwrap();

    let mut twice = NorSim::new(catalogue::nrf52840());
    assert_eq!(twice.part().reprogramming, Reprogramming::Times(2));
    twice.program(Address(0), &[0xFE, 0xFF, 0xFF, 0xFF]).unwrap();
    twice.program(Address(0), &[0xFC, 0xFF, 0xFF, 0xFF]).unwrap();
    let over = SimError::OverBudget { address: Address(0), times: 2 };
    assert_eq!(twice.program(Address(0), &[0xF8, 0xFF, 0xFF, 0xFF]), Err(over));
}

#[test]
fn words_are_counted_by_size_and_timed() {
    let mut sim = small();
    sim.program(Address(3), &[0; 6]).unwrap(); // 1 + 4 + 1 bytes
    read::<2>(&mut sim, 510 + 1); // across a unit border: 1 + 1
    sim.erase(EraseUnit(2)).unwrap();
    let counters = sim.counters();
    assert_eq!((counters.programs_by_size, counters.reads_by_size), ([2, 0, 1, 0, 0, 0], [2, 0, 0, 0, 0, 0]));
    assert_eq!((counters.programmed_bytes(), counters.erases), (6, 1));
    assert_eq!(sim.elapsed_ns(), 3 * 30_000 + 2 * 100 + 500_000_000);
    let text = "2 words read (2 of 1 B), 3 programmed (2 of 1 B, 1 of 4 B), 1 units erased";
    assert_eq!(counters.to_string(), text);

    sim.freeze_counters();
    read::<100>(&mut sim, 0);
    sim.thaw_counters();
    assert_eq!(sim.counters(), counters);

    let mut serial = NorSim::new(catalogue::w25q());
    read::<10>(&mut serial, 0);
    assert_eq!(serial.elapsed_ns(), 480 + 10 * 77);
}

#[test]
fn a_cut_comes_at_the_word_that_was_named() {
    for cut in 0..3 {
        let mut sim = small();
        sim.cut_power_after(cut, Tear::Nothing);
        let result = sim.program(Address(0), &[0; 8]);
        let cleared = sim.peek(Address(0), 8).iter().filter(|&&byte| byte == 0).count() as u64;
        assert_eq!((result, cleared), if cut < 2 { (Err(SimError::PowerLost), 4 * cut) } else { (Ok(()), 8) });
        if cut < 2 {
            assert_eq!(sim.last_torn(), Some((Address(4 * cut as u32), Tear::Nothing)));
            assert_eq!(sim.read(Address(0), &mut [0]), Err(SimError::PowerLost));
            assert_eq!(sim.erase(EraseUnit(0)), Err(SimError::PowerLost));
            sim.power_on();
            assert_eq!(read::<1>(&mut sim, 100), [0xFF]);
        }
    }
}

#[test]
fn a_torn_word_clears_only_bits_that_were_to_be_cleared() {
    for seed in 0..500 {
        let mut random = fastrand::Rng::with_seed(seed);
        let tear = Tear::draw(&mut random);
        let mut sim = small();
        sim.program(Address(0), &[0x3C; 12]).unwrap();
        sim.cut_power_after(1, tear);
        assert_eq!(sim.program(Address(0), &[0x18; 12]), Err(SimError::PowerLost));
        let bytes = sim.peek(Address(0), 12);
        let between = |bytes: &[u8]| bytes.iter().all(|byte| byte & !0x3C == 0 && byte & 0x18 == 0x18);
        assert!(between(&bytes), "{tear:?}: {bytes:x?}");
        if !matches!(tear, Tear::Scattered(_)) {
            assert_eq!((&bytes[..4], &bytes[8..]), (&[0x18; 4][..], &[0x3C; 4][..]), "{tear:?}");
        }
    }
}

#[test]
fn single_bits_of_a_torn_word_are_all_reached() {
    let mut seen = 0;
    for number in 0..32 {
        let mut sim = small();
        sim.cut_power_after(0, Tear::OneBit(number));
        sim.program(Address(0), &[0; 4]).unwrap_err();
        seen |= !u32::from_le_bytes(sim.peek(Address(0), 4).try_into().unwrap());
    }
    assert_eq!(seen, u32::MAX);
}

#[test]
fn a_torn_erase_sets_only_some_bits_and_allows_only_zeros_until_the_next() {
    for seed in 0..200 {
        let tear = Tear::draw(&mut fastrand::Rng::with_seed(seed));
        let mut sim = small();
        sim.program(Address(512), &[0xA0; 512]).unwrap();
        sim.cut_power_after(0, tear);
        assert_eq!(sim.erase(EraseUnit(1)), Err(SimError::PowerLost));
        sim.power_on();
        assert!(sim.peek(Address(512), 512).iter().all(|byte| byte & 0xA0 == 0xA0), "{tear:?}");
        assert_eq!(sim.peek(Address(1024), 512), [0xFF; 512]);
        let torn = Err(SimError::TornErase { address: Address(600), unit: EraseUnit(1) });
        assert_eq!(sim.program(Address(600), &[0x20]), if tear == Tear::Nothing { Ok(()) } else { torn });
        sim.program(Address(604), &[0; 4]).unwrap();
        assert_eq!(read::<4>(&mut sim, 604), [0; 4], "zeros stay zeros after {tear:?}");
        sim.erase(EraseUnit(1)).unwrap();
        sim.program(Address(600), &[0x20]).unwrap();
        assert_eq!(sim.erase_counts().collect::<Vec<_>>(), [0, 2, 0, 0]);
    }
}

#[test]
fn unstable_bits_change_from_read_to_read_until_erased() {
    let mut sim = small();
    sim.program(Address(0), &[0; 512]).unwrap();
    sim.cut_power_after(0, Tear::Unstable(7));
    sim.erase(EraseUnit(0)).unwrap_err();
    sim.power_on();
    let (first, second) = (read::<512>(&mut sim, 0), read::<512>(&mut sim, 0));
    assert_ne!(first, second);
    sim.erase(EraseUnit(0)).unwrap();
    assert_eq!(read::<512>(&mut sim, 0), [0xFF; 512]);
}

#[test]
fn late_bits_are_as_they_were_when_the_power_comes_on_again() {
    let mut late = 0;
    for seed in 0..50 {
        let mut sim = small();
        sim.cut_power_after(0, Tear::Late(seed));
        sim.program(Address(0), &[0; 4]).unwrap_err();
        sim.power_on();
        let first = read::<4>(&mut sim, 0);
        assert_eq!(first, read::<4>(&mut sim, 0), "it reads the same until the power is lost again");
        let mut reprogrammed = sim.clone();
        reprogrammed.program(Address(0), &[0; 4]).unwrap();
        for part in [&mut sim, &mut reprogrammed] {
            part.power_on();
        }
        let second = read::<4>(&mut sim, 0);
        assert!(
            first.iter().zip(second).all(|(first, second)| first & second == *first),
            "seed {seed}: bits come back"
        );
        late += u32::from(first != second);
        assert_eq!(read::<4>(&mut reprogrammed, 0), [0; 4], "what was programmed again stays");
        sim.power_on();
        assert_eq!(read::<4>(&mut sim, 0), second);

        sim.program(Address(0), &[0; 4]).unwrap();
        sim.cut_power_after(0, Tear::Late(seed));
        sim.erase(EraseUnit(0)).unwrap_err();
        sim.power_on();
        let first = read::<4>(&mut sim, 0);
        let mut erased = sim.clone();
        erased.erase(EraseUnit(0)).unwrap();
        for part in [&mut sim, &mut erased] {
            part.power_on();
        }
        let second = read::<4>(&mut sim, 0);
        assert!(first.iter().zip(second).all(|(first, second)| first & second == second));
        late += u32::from(first != second);
        assert_eq!(read::<4>(&mut erased, 0), [0xFF; 4]);
    }
    assert!(late > 90, "{late} of 100");
}

#[test]
fn an_erase_that_clears_first_leaves_ones_cleared() {
    let mut sim = small();
    sim.program(Address(0), &[0x0F; 64]).unwrap();
    sim.cut_power_after(0, Tear::ZerosFirst(5));
    sim.erase(EraseUnit(0)).unwrap_err();
    sim.power_on();
    let left = read::<512>(&mut sim, 0);
    assert!(left[..64].iter().all(|byte| byte & 0xF0 == 0), "no zero was set");
    let ones: u32 = left.iter().map(|byte| byte.count_ones()).sum();
    assert!((1700..2100).contains(&ones), "about half of 4096 - 256 ones are left: {ones}");
    assert!(matches!(sim.program(Address(0), &[1]), Err(SimError::TornErase { .. })));
}

#[test]
fn an_erase_that_clears_in_order_leaves_zeros_up_to_a_border_or_from_one_on() {
    let mut seen = [0; 3];
    for seed in 0..100 {
        let mut sim = small();
        sim.program(Address(0), &[0x0F; 512]).unwrap();
        sim.cut_power_after(0, Tear::ZerosInOrder(seed));
        sim.erase(EraseUnit(0)).unwrap_err();
        sim.power_on();
        let left = read::<512>(&mut sim, 0);
        assert!(left.iter().all(|&byte| byte == 0x0F || byte == 0), "{left:?}");
        let borders = left.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(borders <= 1, "seed {seed}");
        let kind = if left == [0; 512] { 0 } else { 1 + usize::from(left[0] != 0) };
        seen[kind] += 1;
    }
    assert!(seen.iter().all(|&times| times > 10), "{seen:?}");
}

#[test]
fn few_bits_are_marginal() {
    for seed in 0..20 {
        let mut sim = small();
        sim.cut_power_after(0, Tear::Marginal(seed));
        sim.program(Address(0), &[0; 4]).unwrap_err();
        sim.power_on();
        let mut changing = 0;
        for _ in 0..40 {
            changing |= u32::from_le_bytes(read::<4>(&mut sim, 0));
        }
        assert!((1..=4).contains(&changing.count_ones()), "seed {seed}: {changing:#x}");
        sim.program(Address(0), &[0; 4]).unwrap();
        assert_eq!(read::<4>(&mut sim, 0), [0; 4]);
    }
}

#[test]
fn a_clone_is_independent() {
    let mut sim = small();
    sim.program(Address(0), &[1]).unwrap();
    let mut branch = sim.clone();
    branch.erase(EraseUnit(0)).unwrap();
    branch.program(Address(0), &[2]).unwrap();
    assert_eq!((read::<1>(&mut sim, 0), read::<1>(&mut branch, 0)), ([1], [2]));
    assert_eq!((sim.counters().erases, branch.counters().erases), (0, 1));
}

#[test]
fn a_unit_fails_at_its_endurance() {
    let mut sim = small();
    sim.set_endurance(Some(3));
    for _ in 0..3 {
        sim.erase(EraseUnit(0)).unwrap();
    }
    assert_eq!(sim.erase(EraseUnit(0)), Err(SimError::WornOut { unit: EraseUnit(0), erases: 3 }));
    assert!(matches!(sim.program(Address(0), &[1]), Err(SimError::TornErase { .. })));
    sim.erase(EraseUnit(1)).unwrap();
    assert_eq!(catalogue::tinystore().part.endurance_erases, Some(100_000));
}
