//! The simulated NAND part reproduces the published tables, refuses everything that the contract forbids, leaving what
//! it holds as it was, and counts, times, ages, fails, errs and tears as the contract allows, and no further.

use norn_flash::{Block, Column, Nand, NandError, NandErrorKind, PageAddress, Piece};
use norn_flash_sim::nand_catalogue::{self, Bus, NandSpec};
use norn_flash_sim::{NandSim, NandSimError, Noise, Tear};

const PAGE: PageAddress = Block(1).page(2);

fn small() -> NandSim {
    NandSim::new(nand_catalogue::test_part(4, 4, 64))
}

/// The register after a load, from column 0 on.
fn load(sim: &mut NandSim, page: PageAddress) -> Vec<u8> {
    let mut bytes = vec![0; usize::from(sim.part().register_bytes())];
    sim.load(page).unwrap();
    sim.fetch(&mut bytes).unwrap();
    bytes
}

fn program(sim: &mut NandSim, page: PageAddress, fill: u8) -> Result<(), NandSimError> {
    let bytes = vec![fill; usize::from(sim.part().register_bytes())];
    sim.program(page, &[Piece::new(Column(0), &bytes)])
}

/// Bandwidth in MiB/s of loading pages and fetching `bytes` of each.
fn bandwidth(spec: NandSpec, bytes: u16) -> f64 {
    let mut sim = NandSim::new(spec);
    let mut buffer = vec![0; usize::from(bytes)];
    for page in [Block(5).page(1), Block(0).page(3)] {
        sim.load(page).unwrap();
        let column = Column(sim.part().page_bytes - bytes);
        sim.seek(column).unwrap();
        sim.fetch(&mut buffer).unwrap();
    }
    2.0 * f64::from(bytes) / (sim.elapsed_ns() as f64 / 1e9) / f64::from(1 << 20)
}

#[test]
fn tables_1_and_2_of_the_paging_paper_follow_from_the_parts() {
    let rounded = |value: f64| (value * 100.0).round() / 100.0;
    for (bus, large_fetch_us, large_max, nor_ns, nor_max) in
        [(Bus::Mhz33Bits8, 81.92, 18.27, 40, 23.84), (Bus::Mhz54Bits16, 40.96, 29.61, 9, 105.96)]
    {
        let (small, large) = (nand_catalogue::k9f1208q0b(bus), nand_catalogue::mt29f2g08(bus));
        let page_fetch_us = |spec: &NandSpec| f64::from(spec.timings.byte_ns * u32::from(spec.part.page_bytes)) / 1e3;
        assert_eq!((small.timings.byte_ns, page_fetch_us(&small)), (50, 25.6));
        assert_eq!(page_fetch_us(&large), large_fetch_us);
        assert_eq!((rounded(bandwidth(small.clone(), 1)), rounded(bandwidth(small, 512))), (0.02, 12.03));
        assert_eq!((rounded(bandwidth(large.clone(), 1)), rounded(bandwidth(large, 2048))), (0.01, large_max));
        assert_eq!(bus.nor_byte_ns(), nor_ns);
        assert_eq!(rounded(1e9 / f64::from(nor_ns) / f64::from(1 << 20)), nor_max);
    }
}

#[test]
fn the_prototype_of_the_collectors_paper_takes_its_times() {
    let mut sim = NandSim::new(nand_catalogue::k9f2808());
    let elapsed = |sim: &mut NandSim, call: &mut dyn FnMut(&mut NandSim)| {
        let before = sim.elapsed_ns();
        call(sim);
        sim.elapsed_ns() - before
    };
    assert_eq!(elapsed(&mut sim, &mut |sim| program(sim, PAGE, 7).unwrap()), 919_000);
    assert_eq!(elapsed(&mut sim, &mut |sim| drop(load(sim, PAGE))), 348_000);
    assert_eq!(elapsed(&mut sim, &mut |sim| sim.copy(PAGE, Block(2).page(0), &[]).unwrap()), 1_267_000);
    assert_eq!(elapsed(&mut sim, &mut |sim| sim.erase(Block(1)).unwrap()), 1_881_000);
}

#[test]
fn the_register_moves_forwards_and_is_empty_after_other_operations() {
    let mut sim = small();
    let data: Vec<u8> = (0..64).collect();
    sim.program(PAGE, &[Piece::new(Column(0), &data), Piece::new(Column(70), &[9])]).unwrap();
    assert_eq!(sim.fetch(&mut [0]), Err(NandSimError::NothingLoaded));
    sim.load(PAGE).unwrap();
    let mut four = [0; 4];
    sim.fetch(&mut four).unwrap();
    assert_eq!(four, [0, 1, 2, 3]);
    sim.seek(Column(60)).unwrap();
    sim.fetch(&mut four).unwrap();
    assert_eq!(four, [60, 61, 62, 63]);
    let backwards = NandSimError::Backwards { column: Column(0), position: Column(64) };
    assert_eq!(sim.seek(Column(0)), Err(backwards));
    let mut rest = [0; 16];
    sim.fetch(&mut rest).unwrap();
    assert_eq!((rest[5], rest[6], rest[7]), (0xFF, 9, 0xFF));
    let beyond = NandSimError::OutOfRegister { column: Column(80), len: 1, register_bytes: 80 };
    assert_eq!(sim.fetch(&mut [0]), Err(beyond));
    let counters = sim.counters();
    assert_eq!((counters.loads, counters.fetched_bytes, counters.skipped_bytes), (1, 24, 56));
    assert_eq!((counters.programs, counters.sent_bytes), (1, 65));
    assert_eq!(sim.elapsed_ns(), 200_000 + 65 * 50 + 15_000 + (24 + 56) * 50);

    sim.load(PAGE).unwrap();
    sim.erase(Block(3)).unwrap();
    assert_eq!(sim.seek(Column(1)), Err(NandSimError::NothingLoaded));
    sim.load(PAGE).unwrap();
    sim.restart().unwrap();
    assert_eq!(sim.program_loaded(Block(3).page(0), &[]), Err(NandSimError::NothingLoaded));
    assert_eq!(sim.refusals(), 5);

    let mut any = NandSim::new(nand_catalogue::k9k8g08());
    any.load(PAGE).unwrap();
    any.seek(Column(2000)).unwrap();
    any.seek(Column(0)).unwrap();
    assert_eq!((any.counters().skipped_bytes, any.elapsed_ns()), (0, 25_000));
}

#[test]
fn illegal_use_is_refused_by_address_and_changes_nothing() {
    let mut sim = small();
    sim.mark_bad(&[Block(3)]);
    program(&mut sim, PAGE, 0x0F).unwrap();
    let everything = |sim: &NandSim| -> Vec<Vec<u8>> {
        sim.part()
            .blocks()
            .flat_map(|block| (0..4).map(move |page| block.page(page)))
            .map(|page| sim.peek(page))
            .collect()
    };
    let before = (everything(&sim), sim.counters(), sim.elapsed_ns(), sim.operations());
    for page in [Block(4).page(0), Block(0).page(4)] {
        let missing = NandSimError::NoSuchPage { page, block_count: 4, pages_per_block: 4 };
        assert_eq!((sim.load(page), sim.program(page, &[])), (Err(missing.clone()), Err(missing)));
    }
    assert_eq!(sim.erase(Block(4)), Err(NandSimError::NoSuchBlock { block: Block(4), block_count: 4 }));
    for page in [PAGE, Block(1).page(0)] {
        assert_eq!(sim.program(page, &[]), Err(NandSimError::OutOfOrder { page, next_page: 3 }));
    }
    let (next, four) = (Block(1).page(3), [0; 4]);
    let pieces = [Piece::new(Column(8), &four), Piece::new(Column(11), &four)];
    assert_eq!(sim.program(next, &pieces), Err(NandSimError::PiecesOverlap { column: Column(11) }));
    let beyond = NandSimError::OutOfRegister { column: Column(77), len: 4, register_bytes: 80 };
    assert_eq!(sim.program(next, &[Piece::new(Column(77), &four)]), Err(beyond));
    let bad = NandSimError::MarkedBad { block: Block(3) };
    assert_eq!((sim.erase(Block(3)), sim.program(Block(3).page(3), &[])), (Err(bad.clone()), Err(bad)));
    assert_eq!(sim.refusals(), 11);
    assert_eq!((everything(&sim), sim.counters(), sim.elapsed_ns(), sim.operations()), before);
    assert_eq!(NandSimError::NothingLoaded.kind(), NandErrorKind::Other);
    sim.erase(Block(1)).unwrap();
    program(&mut sim, Block(1).page(0), 0).unwrap();
}

#[test]
fn a_copy_carries_the_register_with_its_pieces() {
    let mut sim = small();
    program(&mut sim, PAGE, 0x5A).unwrap();
    sim.copy(PAGE, Block(2).page(0), &[Piece::new(Column(64), &[1, 2])]).unwrap();
    let copied = load(&mut sim, Block(2).page(0));
    assert!(copied[..64].iter().chain(&copied[66..]).all(|&byte| byte == 0x5A));
    assert_eq!(copied[64..66], [1, 2]);
    assert_eq!((sim.counters().copies, sim.counters().programs, sim.counters().loads), (1, 1, 2));
}

#[test]
fn bad_blocks_bear_their_mark_and_the_first_is_good() {
    let mut sim = NandSim::new(nand_catalogue::test_part(50, 4, 64));
    let bad = sim.mark_random_bad(9, 4);
    assert_eq!(bad.len(), 9);
    sim.set_noise(Noise { bits_max: 1, beyond_per_million: 0 });
    for block in sim.part().blocks() {
        assert_eq!(sim.is_marked_bad(block), Ok(bad.contains(&block)), "{block}");
    }
    assert!(
        !bad.contains(&Block(0))
            && bad.iter().any(|block| block.0 % 2 == 1)
            && bad.iter().any(|block| block.0 % 2 == 0)
    );
}

#[test]
fn a_torn_program_clears_only_bits_that_were_to_be_cleared() {
    let mut unstable_seen = false;
    for seed in 0..300 {
        let tear = Tear::draw(&mut fastrand::Rng::with_seed(seed));
        let mut sim = small();
        program(&mut sim, Block(1).page(1), 0xA5).unwrap();
        sim.cut_power_after(0, tear);
        assert_eq!(program(&mut sim, PAGE, 0x18), Err(NandSimError::PowerLost));
        assert_eq!((sim.load(PAGE), sim.erase(Block(0))), (Err(NandSimError::PowerLost), Err(NandSimError::PowerLost)));
        assert_eq!((sim.last_torn(), sim.refusals()), (Some((PAGE, tear)), 0));
        sim.power_on();
        let first = load(&mut sim, PAGE);
        assert!(first.iter().all(|byte| byte & 0x18 == 0x18), "{tear:?}: {first:x?}");
        let differs = (0..8).any(|_| load(&mut sim, PAGE) != first);
        assert!(!differs || matches!(tear, Tear::Unstable(_)), "{tear:?}");
        unstable_seen |= differs;
        assert_eq!(load(&mut sim, Block(1).page(1)), [0xA5; 80], "the page before is whole");
        // The torn page counts as programmed; the one after it can be.
        assert!(matches!(program(&mut sim, PAGE, 0), Err(NandSimError::OutOfOrder { .. })));
        program(&mut sim, Block(1).page(3), 0).unwrap();
        sim.erase(Block(1)).unwrap();
        assert_eq!((0..3).map(|_| load(&mut sim, PAGE)).collect::<Vec<_>>(), [[0xFF; 80]; 3]);
    }
    assert!(unstable_seen);
}

#[test]
fn a_torn_erase_sets_only_bits_and_has_to_be_repeated() {
    let (mut partial, mut unstable) = (false, false);
    for seed in 0..300 {
        let tear = Tear::draw(&mut fastrand::Rng::with_seed(seed));
        let mut sim = small();
        program(&mut sim, Block(1).page(0), 0x3C).unwrap();
        program(&mut sim, PAGE, 0x3C).unwrap();
        program(&mut sim, Block(2).page(0), 0x3C).unwrap();
        sim.cut_power_after(0, tear);
        assert_eq!(sim.erase(Block(1)), Err(NandSimError::PowerLost));
        sim.power_on();
        let loads: Vec<Vec<u8>> = (0..8).map(|_| load(&mut sim, PAGE)).collect();
        assert!(loads.iter().flatten().all(|byte| byte & 0x3C == 0x3C), "{tear:?}");
        partial |= loads[0].iter().any(|&byte| byte != 0x3C && byte != 0xFF);
        let differs = loads.iter().any(|other| *other != loads[0]);
        assert!(!differs || matches!(tear, Tear::Unstable(_)), "{tear:?}");
        unstable |= differs;
        assert_eq!(load(&mut sim, Block(1).page(1)), [0xFF; 80]);
        assert_eq!(load(&mut sim, Block(2).page(0)), [0x3C; 80]);
        let torn = NandSimError::TornErase { page: Block(1).page(3) };
        assert_eq!(program(&mut sim, Block(1).page(3), 0), Err(torn));
        sim.erase(Block(1)).unwrap();
        program(&mut sim, Block(1).page(0), 0).unwrap();
        assert_eq!(sim.erase_counts().collect::<Vec<_>>(), [0, 2, 0, 0]);
    }
    assert!(partial && unstable);
}

#[test]
fn a_wavering_page_reads_as_whole_now_and_then() {
    let (mut whole, mut bits_seen) = (0, [false; 17]);
    for seed in 0..40 {
        let mut sim = small();
        sim.cut_power_after(0, Tear::Wavering(seed));
        program(&mut sim, PAGE, 0).unwrap_err();
        sim.power_on();
        let mut wavering = 0u32;
        let mut seen = [0u8; 80];
        for _ in 0..200 {
            let bytes = load(&mut sim, PAGE);
            whole += u32::from(bytes.iter().all(|byte| *byte == 0));
            seen.iter_mut().zip(bytes).for_each(|(seen, byte)| *seen |= byte);
        }
        seen.iter().for_each(|byte| wavering += byte.count_ones());
        assert!((4..=16).contains(&wavering), "seed {seed}: {wavering} bits");
        bits_seen[wavering as usize] = true;
        sim.erase(PAGE.block).unwrap();
        assert_eq!(load(&mut sim, PAGE), [0xFF; 80]);
    }
    assert!((10..2000).contains(&whole), "{whole} of 8000 loads");
    assert!(bits_seen[6..].iter().filter(|seen| **seen).count() > 6);
}

#[test]
fn a_returning_page_is_whole_at_the_second_boot() {
    for seed in 0..20 {
        let mut sim = small();
        sim.cut_power_after(0, Tear::Returning(seed));
        program(&mut sim, PAGE, 0).unwrap_err();
        sim.power_on();
        let first = load(&mut sim, PAGE);
        let missing: u32 = first.iter().map(|byte| byte.count_ones()).sum();
        assert!((4..=16).contains(&missing), "seed {seed}: {missing} bits");
        assert_eq!(load(&mut sim, PAGE), first);
        let mut erased = sim.clone();
        erased.erase(PAGE.block).unwrap();
        for part in [&mut sim, &mut erased] {
            part.power_on();
        }
        assert_eq!(load(&mut sim, PAGE), [0; 80]);
        assert_eq!(load(&mut erased, PAGE), [0xFF; 80]);
    }
}

#[test]
fn late_bits_are_as_they_were_at_the_second_boot() {
    let mut late = 0;
    for seed in 0..20 {
        let mut sim = small();
        sim.cut_power_after(0, Tear::Late(seed));
        program(&mut sim, PAGE, 0).unwrap_err();
        sim.power_on();
        let first = load(&mut sim, PAGE);
        sim.power_on();
        let second = load(&mut sim, PAGE);
        assert!(first.iter().zip(&second).all(|(first, second)| first & second == *first), "bits come back as ones");
        late += u32::from(first != second);
        sim.cut_power_after(0, Tear::Late(seed + 100));
        sim.erase(PAGE.block).unwrap_err();
        sim.power_on();
        let first = load(&mut sim, PAGE);
        sim.power_on();
        let third = load(&mut sim, PAGE);
        assert!(first.iter().zip(&third).all(|(first, third)| first & third == *third), "bits come back as zeros");
        late += u32::from(first != third);
    }
    assert!(late > 35, "{late} of 40");
}

#[test]
fn an_erase_that_clears_first_leaves_ones_cleared() {
    let mut sim = small();
    program(&mut sim, PAGE, 0x0F).unwrap();
    sim.cut_power_after(0, Tear::ZerosFirst(5));
    sim.erase(PAGE.block).unwrap_err();
    sim.power_on();
    let left = load(&mut sim, PAGE);
    assert!(left.iter().all(|byte| byte & 0xF0 == 0), "no zero was set");
    let ones: u32 = left.iter().map(|byte| byte.count_ones()).sum();
    assert!((100..220).contains(&ones), "about half of 320 ones are left: {ones}");
}

#[test]
fn a_cut_comes_at_the_operation_that_was_named() {
    for cut in 0..4 {
        let mut sim = small();
        sim.cut_power_after(cut, Tear::Nothing);
        let mut done = 0;
        let results = [
            program(&mut sim, Block(1).page(0), 0),
            sim.erase(Block(0)),
            sim.load(PAGE).and_then(|()| sim.program_loaded(Block(2).page(0), &[])),
        ];
        results.iter().for_each(|result| done += u64::from(result.is_ok()));
        assert_eq!((done, sim.operations()), (cut.min(3), (cut + 1).min(3)));
    }
}

#[test]
fn blocks_fail_on_request_and_at_their_endurance_and_stay_bad() {
    let mut sim = small();
    sim.fail_after(1);
    program(&mut sim, Block(1).page(0), 0xC3).unwrap();
    assert_eq!(program(&mut sim, Block(1).page(1), 0), Err(NandSimError::ProgramFailed { page: Block(1).page(1) }));
    assert_eq!(NandSimError::ProgramFailed { page: PAGE }.kind(), NandErrorKind::BlockFailed);
    assert_eq!(load(&mut sim, Block(1).page(0)), [0xC3; 80]);
    assert!(matches!(program(&mut sim, Block(1).page(2), 0), Err(NandSimError::ProgramFailed { .. })));
    assert_eq!(sim.erase(Block(1)), Err(NandSimError::EraseFailed { block: Block(1), erases: 0 }));
    program(&mut sim, Block(2).page(0), 0).unwrap();

    sim.set_endurance(Some(2));
    sim.erase(Block(0)).unwrap();
    sim.erase(Block(0)).unwrap();
    assert_eq!(sim.erase(Block(0)), Err(NandSimError::EraseFailed { block: Block(0), erases: 2 }));
    assert_eq!(sim.failed_blocks(), [Block(0), Block(1)]);
    assert_eq!(sim.refusals(), 0);

    sim.set_endurance(None);
    sim.set_failures_per_million(100_000);
    let mut failed = 0;
    for _ in 0..1000 {
        let mut copy = sim.clone();
        copy.reseed(sim.operations());
        failed += u32::from(copy.erase(Block(3)).is_err());
        sim.erase(Block(2)).ok();
    }
    assert!((60..140).contains(&failed), "{failed} of 1000 at one in ten");
    assert!(sim.failed_blocks().contains(&Block(2)));
}

#[test]
fn loads_err_within_and_beyond_what_a_code_corrects() {
    let mut sim = NandSim::new(nand_catalogue::mt29f2g08(Bus::Mhz33Bits8));
    program(&mut sim, PAGE, 0x66).unwrap();
    sim.set_noise(Noise { bits_max: 1, beyond_per_million: 250_000 });
    let wrong_in = |bytes: &[u8], word: usize| -> u32 {
        let data = bytes[512 * word..][..512].iter().chain(&bytes[2048 + 16 * word..][..16]);
        data.map(|byte| (byte ^ 0x66).count_ones()).sum()
    };
    let (mut clean, mut single, mut beyond) = (0, 0, 0);
    for _ in 0..2000 {
        let bytes = load(&mut sim, PAGE);
        let wrong: Vec<u32> = (0..4).map(|word| wrong_in(&bytes, word)).collect();
        assert!(
            wrong.iter().filter(|&&bits| bits > 1).count() <= 1 && wrong.iter().all(|&bits| bits <= 4),
            "{wrong:?}"
        );
        clean += wrong.iter().filter(|&&bits| bits == 0).count();
        single += wrong.iter().filter(|&&bits| bits == 1).count();
        beyond += wrong.iter().filter(|&&bits| bits > 1).count();
    }
    assert!((400..600).contains(&beyond), "{beyond} of 2000 loads at one in four");
    assert!((3400..4100).contains(&clean) && (3400..4100).contains(&single), "{clean} clean, {single} with one");
    assert_eq!(sim.peek(PAGE), [0x66; 2112], "the cells stay as they are");
    sim.set_noise(Noise::default());
    sim.flip_bits(PAGE, 3, 1);
    let wrong: u32 = load(&mut sim, PAGE).iter().map(|byte| (byte ^ 0x66).count_ones()).sum();
    assert_eq!(wrong, 3);
}

#[test]
fn a_gigabyte_takes_what_is_programmed() {
    let mut sim = NandSim::new(nand_catalogue::k9k8g08());
    assert_eq!(sim.part().size_bytes(), 1 << 30);
    for block in sim.part().blocks().step_by(64) {
        program(&mut sim, block.page(63), 0).unwrap();
    }
    assert_eq!(sim.programmed_pages(), 128);
    sim.erase(Block(64)).unwrap();
    assert_eq!(sim.programmed_pages(), 127);
}

#[test]
fn a_clone_shares_no_state() {
    let mut sim = small();
    program(&mut sim, PAGE, 0x0F).unwrap();
    let mut copy = sim.clone();
    copy.erase(Block(1)).unwrap();
    program(&mut copy, PAGE, 0xF0).unwrap();
    assert_eq!((sim.peek(PAGE)[0], copy.peek(PAGE)[0]), (0x0F, 0xF0));
    assert_eq!((sim.counters().erases, copy.counters().erases), (0, 1));
}

#[test]
fn a_checker_looks_without_being_seen() {
    let mut sim = small();
    program(&mut sim, PAGE, 0).unwrap();
    let before = (sim.counters(), sim.elapsed_ns());
    sim.freeze_counters();
    load(&mut sim, PAGE);
    assert_eq!((sim.counters(), sim.elapsed_ns()), before);
    sim.thaw_counters();
    load(&mut sim, PAGE);
    assert_eq!((sim.counters() - before.0).loads, 1);
}
