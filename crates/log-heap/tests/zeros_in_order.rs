//! Parts that program a unit to zeros before they erase it, one word after the other, and lose power meanwhile: zeros
//! up to a place in the unit, or from one on, in its head or beyond. Erases of random calls are cut so, and those of
//! the recovery again; and those of formats. No contract allows it; a heap survives it.

use crate::model;

use model::cuts::Cut;
use model::{
    Call, Failure, Harsh, Model, TestHeap, admits, change, contents, draw, draw_in_transaction, format, mount, parts,
    perform, refuse,
};
use norn_conformance::{Context, Powered, Subject, seeds};
use norn_flash::{MountError, Nor};
use norn_flash_sim::Tear;
use norn_log_heap::{LogHeapIn, UnitRow};

const REPLAY: &str = "-p norn-log-heap --test suite zeros_in_order::";
/// Cuts of each erase that is cut: half of them in the first 64 bytes.
const CUTS_OF_ERASE: usize = 4;

fn erase_count(device: &Harsh) -> u64 {
    device.0.counters().erases
}

/// Numbers of the operations of a call that are erases, the first operation being 0.
fn erases_of(heap: &TestHeap, call: &Call) -> Vec<u64> {
    let (mut erases, mut seen) = (Vec::new(), erase_count(heap.device()));
    for cut in 0.. {
        let mut torn = heap.clone();
        torn.device_mut().cut_power_after(cut, Tear::Nothing);
        if perform(&mut torn, call) != Err(Failure::PowerLost) {
            break;
        }
        let now = erase_count(torn.device());
        if now > seen {
            seen = now;
            erases.push(cut);
        }
    }
    erases
}

/// Mounts what a cut has left, with two further cuts of mounts; the heap then takes some calls.
fn recover(mut device: Harsh, admitted: &dyn Fn(&Model) -> bool, random: &mut fastrand::Rng, context: Context<'_>) {
    for _ in 0..3 {
        device.power_on();
        let found = contents(&mut mount(device.clone(), context), context);
        assert!(admitted(&found), "{found:?} is not admitted, {}", context());
        device.cut_power_after(random.u64(0..16), Tear::ZerosInOrder(random.u64(..)));
        if Cut::try_mount(&mut device).is_ok() {
            break;
        }
    }
    device.power_on();
    let mut heap = mount(device, context);
    let mut model = contents(&mut heap, context);
    assert!(admitted(&model), "{model:?} is not admitted, {}", context());
    for _ in 0..4 {
        let call = draw(&model, 8, random);
        match perform(&mut heap, &call) {
            Ok(created) => change(&mut model, &call, created),
            Err(_) => refuse(&mut heap, &mut model, &call),
        }
        assert_eq!(contents(&mut heap, context), model.now(), "after {call:?}, {}", context());
    }
    assert_eq!(heap.device().refusals(), 0, "the part's contract is broken, {}", context());
}

/// Cuts the erases of random calls, of which one in `period` has its erases cut. Returns how many cuts that were.
fn cut_erases(runs: std::ops::Range<u64>, period: u64) -> u64 {
    let mut cuts = 0;
    for run in seeds(runs, REPLAY) {
        let mut random = run.random();
        let parts = parts(16);
        let (mut heap, mut model) = (format(parts[run.seed as usize % parts.len()].clone()), Model::default());
        let draw = if run.seed < 6 { draw } else { draw_in_transaction };
        for number in 0..400 {
            let call = draw(&model, 30, &mut random);
            let (before, before_heap) = (model.clone(), heap.clone());
            match perform(&mut heap, &call) {
                Ok(created) => change(&mut model, &call, created),
                Err(_) => refuse(&mut heap, &mut model, &call),
            }
            let erases = erase_count(heap.device()) > erase_count(before_heap.device());
            if !erases || random.u64(0..period) > 0 {
                continue;
            }
            for cut in erases_of(&before_heap, &call) {
                for _ in 0..CUTS_OF_ERASE {
                    let tear = Tear::ZerosInOrder(random.u64(..));
                    let context = || format!("{tear:?} at {cut} of call {number}, {call:?}; {}", run.replay());
                    let mut torn = before_heap.clone();
                    torn.device_mut().cut_power_after(cut, tear);
                    assert_eq!(perform(&mut torn, &call), Err(Failure::PowerLost), "{}", context());
                    let admitted = |found: &Model| admits(&before, &model, &call, found);
                    recover(torn.into_device(), &admitted, &mut random, &context);
                    cuts += 1;
                }
            }
        }
    }
    println!("{cuts} cuts");
    cuts
}

#[test]
fn erases_of_calls() {
    assert!(cut_erases(0..12, 40) > 300);
}

#[test]
#[ignore = "minutes"]
fn erases_of_calls_widely() {
    assert!(cut_erases(100..160, 1) > 20_000);
}

#[test]
fn every_erase_of_a_format() {
    let mut cuts = 0;
    for run in seeds(20..32, REPLAY) {
        let mut random = run.random();
        let parts = parts(16);
        let (mut heap, mut model) = (format(parts[run.seed as usize % parts.len()].clone()), Model::default());
        for _ in 0..200 {
            let call = draw(&model, 20, &mut random);
            match perform(&mut heap, &call) {
                Ok(created) => change(&mut model, &call, created),
                Err(_) => refuse(&mut heap, &mut model, &call),
            }
        }
        let (device, old) = (heap.into_device(), model.committed());
        for cut in 0.. {
            let tear = Tear::ZerosInOrder(random.u64(..));
            let context = || format!("{tear:?} at {cut} of a format; {}", run.replay());
            let rows = vec![UnitRow::UNUSED; usize::from(device.part().unit_count)];
            let mut torn = device.clone();
            torn.cut_power_after(cut, tear);
            if LogHeapIn::format_in(&mut torn, &mut rows.clone()[..]).is_ok() {
                break;
            }
            cuts += 1;
            torn.power_on();
            match LogHeapIn::mount_in(&mut torn, &mut rows.clone()[..]) {
                Err(MountError::NotFormatted) => {}
                Err(error) => panic!("{error}, {}", context()),
                Ok(_) => recover(torn, &|found| *found == old || *found == Model::default(), &mut random, &context),
            }
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > 100, "{cuts} cuts");
}
