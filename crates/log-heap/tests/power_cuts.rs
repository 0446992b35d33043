//! Power is cut at every device operation of random calls, in every shape that any part's contract allows and in two
//! that none does, and again during recovery. After each cut the heap is mounted: it holds what it held before the
//! call, or what it was to hold; so it does at the next boot; every invariant holds, and it continues to work.

use crate::model;

use model::cuts::{Cut, Draw, cut_calls, cut_calls_on};
use model::{
    Call, Failure, Harsh, Model, admits, can_grow, change, contents, draw, draw_in_transaction, draw_put,
    draw_put_in_transaction, draw_root_or_header, format, mount, parts, parts_of_large_units, perform, refuse,
};
use norn_conformance::{Powered, Run, Subject, Sweep, seeds};
use norn_flash_sim::{PartSpec, Tear};

const REPLAY: &str = "-p norn-log-heap --test suite power_cuts::";

#[test]
fn every_cut_in_every_shape() {
    for run in seeds(0..6, REPLAY) {
        let sweep = Sweep { second_period: 6, second_cuts: 3, ..Sweep::default() };
        let tally = cut_calls(&run, 40, 0, draw, sweep);
        println!("seed {}: {tally:?}", run.seed);
        assert!(tally.points > 0 && tally.second_cuts > 0 && tally.third_cuts > 0);
    }
}

#[test]
fn every_cut_when_units_are_reclaimed() {
    for run in seeds(6..12, REPLAY) {
        let sweep = Sweep { stride: 2, second_period: 9, second_cuts: 2, ..Sweep::default() };
        let tally = cut_calls(&run, 420, 390, draw, sweep);
        println!("seed {}: {tally:?}", run.seed);
    }
}

#[test]
fn every_cut_in_transactions() {
    for run in seeds(60..66, REPLAY) {
        let sweep = Sweep {
            stride: [3, 37, 37][run.seed as usize / 2 % 3],
            second_period: 9,
            second_cuts: 2,
            ..Sweep::default()
        };
        let skipped = [0, 40, 200, 400][run.seed as usize / 2 % 4];
        let tally = cut_calls(&run, skipped + 30, skipped, draw_in_transaction, sweep);
        println!("seed {}: {tally:?}", run.seed);
        assert!(tally.points > 0);
    }
}

/// Units are so large that tails are filled: where there is no place for a void, objects are written anew to undo.
#[test]
fn every_cut_in_transactions_on_large_units() {
    for run in seeds(90..96, REPLAY) {
        let sweep = Sweep { stride: 7, second_period: 5, second_cuts: 3, ..Sweep::default() };
        let parts = parts_of_large_units(12);
        let spec = parts[run.seed as usize % parts.len()].clone();
        let tally = cut_calls_on(spec, &run, 260, 200, draw_put_in_transaction, sweep);
        println!("seed {}: {tally:?}", run.seed);
        assert!(tally.points > 0 && tally.second_cuts > 0);
    }
}

/// Appends are recorded no more, so that each mount sweeps; sweeps are cut, too.
#[test]
fn every_cut_of_unrecorded_appends() {
    for run in seeds(50..56, REPLAY) {
        let sweep = Sweep { stride: 2, second_period: 3, second_cuts: 6, ..Sweep::default() };
        let tally = cut_calls(&run, 330, 300, draw_put, sweep);
        println!("seed {}: {tally:?}", run.seed);
        assert!(tally.second_cuts > 0 && tally.third_cuts > 0);
    }
}

/// Most names are long, so that directories are full, and further ones begun.
#[test]
fn every_cut_of_roots_and_headers() {
    for run in seeds(40..46, REPLAY) {
        let sweep = Sweep { stride: 2, second_period: 16, second_cuts: 2, ..Sweep::default() };
        let tally = cut_calls(&run, 50, 20, draw_root_or_header, sweep);
        println!("seed {}: {tally:?}", run.seed);
        assert!(tally.points > 0 && tally.second_cuts > 0);
    }
}

/// The supply fails again and again, during mounts and soon after them: nothing fills up, and when it holds at last,
/// all is there.
#[test]
fn a_failing_supply_fills_nothing_up() {
    for run in seeds(18..36, REPLAY) {
        let parts = parts(16);
        fail_supply(&run, parts[run.seed as usize % parts.len()].clone(), LONG, 12);
    }
}

#[test]
fn a_failing_supply_fills_no_large_units() {
    for run in seeds(18..36, REPLAY) {
        let parts = parts_of_large_units([12, 32][run.seed as usize / 2 % 2]);
        fail_supply(&run, parts[run.seed as usize % parts.len()].clone(), LONG, 12);
    }
}

/// The part is nearly full, and no session is long enough to empty a unit: each that opens one leaves it to the next
/// mount, and in the end none was free for the simplest update, for ever.
#[test]
fn short_sessions_fill_nothing_up() {
    for run in seeds(100..118, REPLAY) {
        let parts = [parts(16), parts_of_large_units(12)].concat();
        fail_supply(&run, parts[run.seed as usize % parts.len()].clone(), SHORT, 40);
    }
}

/// Calls, and at how many operations of a session the supply fails.
type Sessions = [(Draw, u64); 3];
const LONG: Sessions = [(draw, 100), (draw_put, 1500), (draw_in_transaction, 200)];
const SHORT: Sessions = [(draw, 40), (draw_put, 25), (draw_put, 90)];

fn fail_supply(run: &Run, spec: PartSpec, sessions: Sessions, objects: usize) {
    let (draw, most) = sessions[run.seed as usize / 6 % 3];
    let mut random = run.random();
    let (mut heap, mut model) = (format(spec), Model::default());
    let context = || format!("replay: {}", run.replay());
    for _ in 0..random.usize(20..400) {
        let call = draw(&model, objects, &mut random);
        match perform(&mut heap, &call) {
            Ok(created) => change(&mut model, &call, created),
            Err(failure) => {
                assert!(failure == Failure::Full && (model.before.is_some() || can_grow(&call)), "{}", context());
                refuse(&mut heap, &mut model, &call);
            }
        }
    }
    let mut device = heap.into_device();
    let mut allowed = (model.clone(), model, Call::Rest);
    for boot in 0..400 {
        device.power_on();
        device.cut_power_after(random.u64(..[6, 40, 150][boot % 3]), Harsh::draw_tear(&mut random));
        if Cut::try_mount(&mut device).is_err() {
            continue;
        }
        device.cut_power_after(u64::MAX, Tear::Nothing);
        let mut heap = mount(device, &context);
        let mut model = contents(&mut heap, &context);
        let (before, after, call) = &allowed;
        assert!(admits(before, after, call, &model), "{model:?} is none of {allowed:?}, {}", context());
        heap.device_mut().cut_power_after(random.u64(..most), Harsh::draw_tear(&mut random));
        loop {
            let call = draw(&model, objects, &mut random);
            let before = model.clone();
            let mut whole = heap.clone();
            whole.device_mut().cut_power_after(u64::MAX, Tear::Nothing);
            match perform(&mut whole, &call) {
                Ok(created) => change(&mut model, &call, created),
                Err(failure) => {
                    let may_be_full = model.before.is_some() || can_grow(&call);
                    assert!(failure == Failure::Full && may_be_full, "{call:?}, {}", context());
                    refuse(&mut whole, &mut model, &call);
                }
            }
            if perform(&mut heap, &call) == Err(Failure::PowerLost) {
                allowed = (before, model, call);
                break;
            }
        }
        device = heap.into_device();
    }
    device.power_on();
    let found = contents(&mut mount(device, &context), &context);
    let (before, after, call) = &allowed;
    assert!(admits(before, after, call, &found), "{found:?} is none of {allowed:?}, {}", context());
}
