//! A layer whose table of homes is in memory that its caller lends, of a length that is known at run time, does on
//! flash what one does that holds it itself, operation by operation. Rows that are too few are refused before the part
//! is used.

use crate::model;

use model::{TestRemap, parts};
use norn_conformance::seeds;
use norn_flash::{Address, EraseUnit, Nor};
use norn_flash_sim::{NorSim, PartSpec};
use norn_nor_remap::{RemapConfig, RemapIn, RemapMountError, RemapRow, RemapRows};

const CONFIG: RemapConfig = RemapConfig { spare_units: 2 };

fn device(spec: &PartSpec) -> NorSim {
    NorSim::new(spec.clone())
}

fn rows_for(spec: &PartSpec) -> Vec<RemapRow> {
    vec![RemapRow::UNUSED; RemapRow::count_for(&spec.part)]
}

/// Programs and erases until units were switched many times, and one was retired; not for ever where none is.
fn work<M: RemapRows>(remap: &mut RemapIn<NorSim, M>, mut random: fastrand::Rng) {
    let part = remap.part();
    let failing = remap.home(EraseUnit(1)).unwrap();
    remap.device_mut().fail_programs_in(failing);
    for _ in 0..20_000 {
        if remap.device().counters().erases >= 40 && remap.retired_units().count() > 0 {
            return;
        }
        if random.u8(0..20) == 0 {
            remap.erase(EraseUnit(random.u16(0..part.unit_count))).unwrap();
            continue;
        }
        let mut bytes = vec![0; usize::from(part.program_unit_bytes)];
        let at = Address(random.u32(0..part.size_bytes() / bytes.len() as u32) * bytes.len() as u32);
        remap.read(at, &mut bytes).unwrap();
        bytes.iter_mut().for_each(|byte| *byte &= random.u8(..) | random.u8(..));
        remap.program(at, &bytes).unwrap();
    }
    panic!("{} erases, and no unit was retired", remap.device().counters().erases);
}

fn cells(device: &NorSim) -> Vec<u8> {
    device.peek(Address(0), device.part().size_bytes() as usize)
}

#[test]
fn lent_memory_changes_nothing_on_flash() {
    for run in seeds(0..3, "-p norn-nor-remap --test suite lent_memory::") {
        for spec in parts() {
            let context = || format!("{spec:?}, replay: {}", run.replay());
            let mut own = TestRemap::format(device(&spec), CONFIG).unwrap();
            let mut rows = rows_for(&spec);
            let mut lent = RemapIn::format_in(device(&spec), &mut rows[..], CONFIG).unwrap();
            work(&mut own, run.random());
            work(&mut lent, run.random());
            let state = |unit| (own.home(unit), own.deltas(unit));
            for unit in (0..own.part().unit_count).map(EraseUnit) {
                assert_eq!((lent.home(unit), lent.deltas(unit)), state(unit), "{unit:?}, {}", context());
            }
            assert!(lent.retired_units().eq(own.retired_units()), "{}", context());
            let (own, lent) = (own.into_device(), lent.into_device());
            assert_eq!(lent.counters(), own.counters(), "{}", context());
            assert!(cells(&lent) == cells(&own), "{}", context());

            // The rows still hold the homes of before: mounting and formatting overwrite them.
            rows.extend([RemapRow::UNUSED; 3]);
            let lent = RemapIn::mount_in(lent, &mut rows[..]).unwrap().into_device();
            let own = TestRemap::mount(own).unwrap().into_device();
            assert_eq!(lent.counters(), own.counters(), "{}", context());
            let lent = RemapIn::format_in(lent, rows, CONFIG).unwrap().into_device();
            let own = TestRemap::format(own, CONFIG).unwrap().into_device();
            assert_eq!(lent.counters(), own.counters(), "{}", context());
            assert!(cells(&lent) == cells(&own), "{}", context());
        }
    }
}

#[test]
fn too_few_rows_are_refused_with_both_numbers() {
    for spec in parts() {
        let mut part = device(&spec);
        let mut rows = rows_for(&spec);
        rows.pop();
        let (needed, given) = (u32::from(spec.part.unit_count), rows.len() as u32);
        let refusal = || Err(RemapMountError::TooSmall { what: "rows of the table of homes", needed, given });
        assert_eq!(RemapIn::format_in(&mut part, &mut rows[..], CONFIG).map(|_| ()), refusal());
        assert_eq!(RemapIn::mount_in(&mut part, &mut rows[..]).map(|_| ()), refusal());
        assert_eq!(part.operations(), 0, "a part that does not fit the memory was used");
        let error = RemapIn::mount_in(&mut part, &mut [][..]).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), format!("{needed} rows of the table of homes needed, 0 given"));
    }
}
