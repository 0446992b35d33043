//! Mounts that are cut again and again, each by a program that reads as whole until it does not: what the page of the
//! checkpoint said that was cut first is not taken for certain before it is on flash again.

use crate::model;

use model::{Error, Model, Operation, TestFtl, formatted, memory, mounted};
use norn_flash::{Column, NandPart, PageAddress};
use norn_flash_sim::nand_catalogue::test_part;
use norn_flash_sim::{NandSim, Tear};
use norn_nand_ftl::{Ftl, FtlError, MountError};

/// The pages of the checkpoint that are in `after` and not in `before`: the out-of-band area begins with their number.
fn programmed(part: &NandPart, before: &NandSim, after: &NandSim) -> Vec<PageAddress> {
    let pages = part.blocks().flat_map(|block| (0..part.pages_per_block).map(move |page| block.page(page)));
    let is_new = |page: &PageAddress| {
        let bytes = after.peek(*page);
        bytes != before.peek(*page) && bytes[usize::from(part.page_bytes) + 2] == 0x80
    };
    pages.filter(is_new).collect()
}

/// Cuts a mount in its first program, which is of a page of the checkpoint, and is complete for now. Returns the page.
fn cut_in_first_program(sim: &mut NandSim) -> PageAddress {
    let part = sim.spec().part;
    for after in 0..8 {
        let mut cut = sim.clone();
        cut.power_on();
        cut.cut_power_after(after, Tear::Complete);
        assert!(matches!(Ftl::mount(&mut cut, memory(&part)), Err(MountError::Device(_))), "the mount goes on");
        let found = programmed(&part, sim, &cut);
        if let [page] = found[..] {
            *sim = cut;
            return page;
        }
    }
    panic!("a mount programs a page of the checkpoint after at most eight erases");
}

fn run(ftl: &mut TestFtl, model: &mut Model, operation: Operation) -> Result<(), Error> {
    operation.run(ftl, model)
}

/// The flush of a trim is cut, and so are the mounts after it. As long as the trim's page reads as whole, the trimmed
/// pages are dead. When none of the pages of the checkpoint reads any more that were cut, they are not.
#[test]
fn a_trim_whose_page_fades_gives_back_what_was_written_last() {
    for (seed, mounts) in (0..40).map(|seed| (seed, 1 + seed % 20)) {
        let spec = test_part(24, 8, 128);
        let part = spec.part;
        let (mut ftl, mut model) = formatted(spec, 0, 60, seed);
        let mut random = fastrand::Rng::with_seed(seed);
        for lba in 0..60 {
            run(&mut ftl, &mut model, Operation::Write { lba, count: 1 }).unwrap();
        }
        for _ in 0..random.u32(100..300) {
            let lba = random.u32(0..60);
            run(&mut ftl, &mut model, Operation::Write { lba, count: 1 }).unwrap();
        }
        run(&mut ftl, &mut model, Operation::Checkpoint).unwrap();
        // At least one block has nothing but pages that are trimmed.
        for lba in 0..16 {
            run(&mut ftl, &mut model, Operation::Write { lba, count: 1 }).unwrap();
        }
        run(&mut ftl, &mut model, Operation::Trim { lba: 0, count: 16 }).unwrap();
        let before = ftl.device().clone();
        ftl.device_mut().cut_power_after(0, Tear::Complete);
        assert!(matches!(run(&mut ftl, &mut model, Operation::Flush), Err(FtlError::Device(_))));
        model.lose_power();
        let mut sim = ftl.into_device();
        let mut faded = programmed(&part, &before, &sim);
        assert_eq!(faded.len(), 1, "seed {seed}: the flush is of one page");
        faded.extend((0..mounts).map(|_| cut_in_first_program(&mut sim)));
        for page in faded {
            sim.poke(page, Column(0), &vec![0; usize::from(part.register_bytes())]);
        }
        model.check(&mut mounted(sim), &format!("seed {seed}, after {mounts} mounts that were cut"));
    }
}

/// The flush of a trim returns, and the mounts after it are cut, each in its first page of the checkpoint, which reads
/// as whole until none of them does any more. The page of the flush is still there then.
#[test]
fn a_flushed_trim_outlives_the_pages_of_mounts_that_were_cut() {
    for (seed, mounts) in (0..120).map(|seed| (seed, 1 + seed % 5)) {
        let spec = test_part(24, 8, 128);
        let part = spec.part;
        let (mut ftl, mut model) = formatted(spec, 0, 60, seed);
        let mut random = fastrand::Rng::with_seed(seed);
        for lba in (0..60).chain((0..random.u32(100..300)).map(|_| random.u32(0..60))) {
            run(&mut ftl, &mut model, Operation::Write { lba, count: 1 }).unwrap();
        }
        if seed % 2 == 0 {
            run(&mut ftl, &mut model, Operation::Checkpoint).unwrap();
        }
        for lba in 0..random.u32(0..17) {
            run(&mut ftl, &mut model, Operation::Write { lba, count: 1 }).unwrap();
        }
        run(&mut ftl, &mut model, Operation::Trim { lba: 0, count: 16 }).unwrap();
        run(&mut ftl, &mut model, Operation::Flush).unwrap();
        let mut sim = ftl.into_device();
        let faded: Vec<_> = (0..mounts).map(|_| cut_in_first_program(&mut sim)).collect();
        for page in faded {
            sim.poke(page, Column(0), &vec![0; usize::from(part.register_bytes())]);
        }
        model.check(&mut mounted(sim), &format!("seed {seed}, after {mounts} mounts that were cut"));
    }
}

/// A write is cut, and then a mount in its page of the checkpoint: both pages read as whole now and then,
/// and the second names the first. What is written after the next mount stays, however often they are read.
#[test]
fn a_page_of_a_mount_that_was_cut_hides_nothing_that_was_written_later() {
    let spec = test_part(24, 8, 128);
    let part = spec.part;
    for seed in (0..300).chain(3_300..3_400) {
        let (mut ftl, mut model) = formatted(spec.clone(), 0, 40, seed);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..60 {
            let lba = random.u32(0..40);
            run(&mut ftl, &mut model, Operation::Write { lba, count: 1 }).unwrap();
        }
        ftl.device_mut().cut_power_after(0, Tear::Wavering(seed + 1));
        assert!(run(&mut ftl, &mut model, Operation::Write { lba: 39, count: 1 }).is_err());
        let mut sim = ftl.into_device();
        let before = sim.clone();
        for after in 0..8 {
            sim = before.clone();
            sim.power_on();
            sim.cut_power_after(after, Tear::Wavering(seed));
            assert!(matches!(Ftl::mount(&mut sim, memory(&part)), Err(MountError::Device(_))), "the mount goes on");
            if sim.counters().programs > before.counters().programs {
                break;
            }
        }
        let mut ftl = mounted(sim);
        model.check(&mut ftl, &format!("seed {seed}"));
        for lba in 0..3 {
            run(&mut ftl, &mut model, Operation::Write { lba, count: 1 }).unwrap();
        }
        for mount in 0..6 {
            ftl = mounted(ftl.into_device());
            model.check(&mut ftl, &format!("seed {seed}, mount {mount}"));
        }
    }
}
