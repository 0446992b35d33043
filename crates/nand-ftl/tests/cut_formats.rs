//! A format that is cut leaves what the part held before, or the new device, or nothing that can be mounted: never a
//! mixture. Cut at every program and erase, in every shape that the contract of NAND parts allows, over parts in use
//! and over fresh ones.

use crate::model;

use model::{Model, Operation, TestFtl, audit, formatted, memory};
use norn_conformance::{Run, one_of_each_on_nand, seeds};
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::{NandSpec, test_part};
use norn_nand_ftl::{Ftl, FtlConfig, Lba, MountError};

/// What a mount found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Old,
    New,
    Nothing,
}

fn holds(ftl: &mut TestFtl, model: &Model) -> bool {
    let mut page = vec![0; model.page_bytes];
    let same = |(lba, &write): (usize, &u64)| {
        ftl.read(Lba(lba as u32), &mut page).is_ok_and(|()| page == model.bytes(lba, write))
    };
    model.pages.iter().enumerate().all(same)
}

fn mount(sim: &NandSim, old: Option<&Model>, new: &Model, context: &str) -> (Found, NandSim) {
    let mut sim = sim.clone();
    sim.power_on();
    let room = memory(&sim.spec().part);
    let mut ftl = match Ftl::mount(&mut sim, room) {
        Ok(ftl) => {
            drop(ftl);
            let room = memory(&sim.spec().part);
            Ftl::mount(sim, room).unwrap_or_else(|error| panic!("{error} at the next mount, {context}"))
        }
        Err(MountError::NotFormatted) => return (Found::Nothing, sim),
        Err(error) => panic!("{error}, {context}"),
    };
    audit(&mut ftl, &[], context);
    let pages = ftl.logical_pages() as usize;
    let old = old.filter(|old| old.pages.len() == pages);
    let found = if old.is_some_and(|old| holds(&mut ftl, old)) {
        Found::Old
    } else if new.pages.len() == pages && holds(&mut ftl, new) {
        Found::New
    } else {
        panic!("a mixture, {context}")
    };
    (found, ftl.into_device())
}

/// Cuts a format at every operation. Says how often which state was found.
fn cut_format(sim: &NandSim, old: Option<&Model>, logical_pages: u32, run: &Run) -> [u32; 3] {
    let part = sim.spec().part;
    let (new, config) = (Model::new(&part, logical_pages), FtlConfig { logical_pages });
    let (mut random, mut counts) = (run.random(), [0; 3]);
    for cut in 0.. {
        for tear in one_of_each_on_nand(cut, &mut random) {
            let context = format!("format cut at {cut} by {tear:?}; replay: {}", run.replay());
            let mut torn = sim.clone();
            torn.cut_power_after(cut, tear);
            if Ftl::format(&mut torn, memory(&part), config).is_ok() {
                return counts;
            }
            let (found, mounted) = mount(&torn, old, &new, &context);
            counts[found as usize] += 1;
            let (again, _) = mount(&mounted, old, &new, &context);
            assert!(found == Found::Nothing || again == found, "{found:?}, then {again:?}, {context}");
            torn.power_on();
            Ftl::format(&mut torn, memory(&part), config).unwrap();
            assert_eq!(mount(&torn, None, &new, &context).0, Found::New, "{context}");
        }
    }
    unreachable!("the operations of a format end")
}

fn specs() -> [NandSpec; 3] {
    [test_part(24, 8, 128), test_part(20, 16, 128), test_part(24, 4, 128)]
}

#[test]
fn a_cut_format_of_a_part_in_use_leaves_no_mixture() {
    for run in seeds(0..6, "-p norn-nand-ftl --test suite in_use") {
        let spec = &specs()[run.seed as usize % 3];
        let old_pages = norn_nand_ftl::max_logical_pages(&spec.part, 2) * 9 / 10;
        let (mut ftl, mut model) = formatted(spec.clone(), 2, old_pages, run.seed);
        let mut random = run.random();
        for _ in 0..300 {
            Operation::draw(&mut random, old_pages).run(&mut ftl, &mut model).unwrap();
        }
        Operation::Flush.run(&mut ftl, &mut model).unwrap();
        let sim = ftl.into_device();
        for logical_pages in [old_pages, old_pages / 2] {
            let [old, new, nothing] = cut_format(&sim, Some(&model), logical_pages, &run);
            assert!(old > 10 && new > 0 && nothing > 100, "{old} old, {new} new, {nothing} nothing");
        }
    }
}

#[test]
fn a_cut_format_of_a_fresh_part_leaves_a_device_or_none() {
    for run in seeds(0..3, "-p norn-nand-ftl --test suite fresh") {
        let spec = specs()[run.seed as usize].clone();
        let [old, new, nothing] = cut_format(&NandSim::new(spec), None, 20, &run);
        assert!(old == 0 && new > 0 && nothing > 100, "{old} old, {new} new, {nothing} nothing");
    }
}
