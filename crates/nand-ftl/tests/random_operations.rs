//! Random operations on the FTL and on the model, with the checker after each: the FTL is a block device, on parts of
//! every kind, with bad blocks, bit errors and blocks that fail.

use crate::model;

use model::{Model, Operation, TestFtl, audit, formatted, mounted};
use norn_flash_sim::Noise;
use norn_flash_sim::nand_catalogue::{NandSpec, test_part};
use norn_nand_ftl::{FtlError, Lba, max_logical_pages};

/// Runs `count` operations, and mounts now and then.
fn run(ftl: TestFtl, model: &mut Model, count: u32, seed: u64) -> TestFtl {
    let mut ftl = ftl;
    let mut random = fastrand::Rng::with_seed(seed);
    for number in 0..count {
        let context = format!("seed {seed}, operation {number}");
        if random.u8(0..50) == 0 {
            ftl = mounted(ftl.into_device());
            model.lose_power();
            model.check(&mut ftl, &context);
        }
        let operation = Operation::draw(&mut random, model.pages.len() as u32);
        operation.run(&mut ftl, model).unwrap_or_else(|error| panic!("{operation:?}: {error} ({context})"));
        if number % 8 == 0 {
            audit(&mut ftl, &[], &context);
            model.check(&mut ftl, &context);
        }
    }
    ftl
}

fn parts() -> [NandSpec; 5] {
    let mut large = test_part(24, 8, 2048);
    (large.part.oob_bytes, large.part.bad_mark.column.0) = (64, 2048);
    let mut two_words = test_part(20, 4, 1024);
    two_words.part.correction.bytes = 512;
    [test_part(24, 8, 128), test_part(40, 16, 128), test_part(30, 4, 128), large, two_words]
}

#[test]
fn the_device_holds_what_was_written() {
    for (number, spec) in parts().into_iter().enumerate() {
        let most = max_logical_pages(&spec.part, 2);
        for (share, seed) in [(most / 2, 0), (most * 9 / 10, 1), (most, 2)] {
            let seed = seed + 10 * number as u64;
            let (ftl, mut model) = formatted(spec.clone(), 2, share.max(1), seed);
            run(ftl, &mut model, 1_500, seed);
        }
    }
}

#[test]
fn blocks_of_pages_that_are_never_written_again_wear_with_the_others() {
    let (mut ftl, model) = formatted(test_part(40, 8, 128), 2, 160, 5);
    let page = model.bytes(0, 1);
    for lba in 0..160 {
        ftl.write(Lba(lba), &page).unwrap();
    }
    for number in 0..400_000 {
        ftl.write(Lba(number % 8), &page).unwrap();
    }
    let mut counts: Vec<u32> = ftl.erase_counts().flatten().collect();
    counts.sort_unstable();
    // The blocks of the streams of copies may be open for any time.
    let (least, most) = (counts[3], counts[counts.len() - 1]);
    assert!(least * 10 > most * 8, "{least} to {most} erases");
    audit(&mut ftl, &[], "worn evenly");
}

#[test]
fn wrong_bits_are_corrected() {
    for (number, spec) in parts().into_iter().enumerate() {
        let logical_pages = max_logical_pages(&spec.part, 2) * 3 / 4;
        let (mut ftl, mut model) = formatted(spec, 2, logical_pages, number as u64);
        ftl.device_mut().set_noise(Noise { bits_max: 1, beyond_per_million: 5_000 });
        run(ftl, &mut model, 800, number as u64);
    }
}

#[test]
fn blocks_that_fail_are_replaced_until_there_are_none() {
    for seed in 0..8 {
        let spec = test_part(40, 8, 128);
        let logical_pages = max_logical_pages(&spec.part, 14);
        let (mut ftl, mut model) = formatted(spec, 2, logical_pages, seed);
        for _ in 0..12 {
            ftl.device_mut().fail_after(100 + seed * 7);
            ftl = run(ftl, &mut model, 150, seed);
        }
        assert!(ftl.good_blocks() < 38, "blocks did fail");
        // Wear out the rest: writing ends with an error, and everything can still be read.
        ftl.device_mut().set_failures_per_million(100_000);
        let mut random = fastrand::Rng::with_seed(seed);
        let error =
            (0..100_000).find_map(|_| Operation::draw(&mut random, logical_pages).run(&mut ftl, &mut model).err());
        assert_eq!(error, Some(FtlError::NoSpace));
        model.check(&mut ftl, "no block is left");
    }
}

#[test]
fn wrong_arguments_are_named() {
    let spec = test_part(24, 8, 128);
    let (mut ftl, _) = formatted(spec, 0, 40, 1);
    let out = |lba, count| Err(FtlError::OutOfRange { lba: Lba(lba), count, logical_pages: 40 });
    assert_eq!(ftl.write(Lba(39), &[0; 256]), out(39, 2));
    assert_eq!(ftl.read(Lba(u32::MAX), &mut [0; 256]), out(u32::MAX, 2));
    assert_eq!(ftl.trim(Lba(41), 0), out(41, 0));
    assert_eq!(ftl.trim(Lba(1), u32::MAX), out(1, u32::MAX));
    assert_eq!(ftl.write(Lba(0), &[0; 129]), Err(FtlError::Length { bytes: 129, page_bytes: 128 }));
    assert_eq!(ftl.write(Lba(40), &[]), Ok(()));
    assert_eq!(ftl.trim(Lba(40), 0), Ok(()));
}
