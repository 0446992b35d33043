//! Power is cut at every device operation of random calls, in every shape that any part's contract allows and in two
//! that none does, and again during recovery. After each cut the heap is mounted: it holds what it held before the
//! call, or what it was to hold; so it does at the next boot; every invariant holds, and it continues to work.

mod model;

use model::{
    Call, Failure, Harsh, Model, TestHeap, admits, can_grow, change, contents, draw, draw_in_transaction, draw_put,
    draw_root_or_header, every_shape, format, mount, parts, perform, refuse,
};
use norn_conformance::{Context, PowerLost, Powered, Run, Subject, Sweep, Tally, Trial, seeds};
use norn_flash::Nor;
use norn_flash_sim::Tear;
use norn_log_heap::{LogHeapIn, UnitRow};

const REPLAY: &str = "-p norn-log-heap --test power_cuts";

/// A heap whose power can be cut.
#[derive(Clone)]
struct Cut(TestHeap);

impl Subject for Cut {
    type Device = Harsh;
    type Call = Call;
    type Contents = Model;

    fn device_mut(&mut self) -> &mut Harsh {
        self.0.device_mut()
    }

    fn into_device(self) -> Harsh {
        self.0.into_device()
    }

    fn mount(device: Harsh, context: Context<'_>) -> Self {
        Cut(mount(device, context))
    }

    fn try_mount(device: &mut Harsh) -> Result<(), PowerLost> {
        let rows = vec![UnitRow::UNUSED; usize::from(device.part().unit_count)];
        LogHeapIn::mount_in(device, rows).map(|_| ()).map_err(|_| PowerLost)
    }

    fn make(&mut self, call: &Call) -> Result<(), PowerLost> {
        match perform(&mut self.0, call) {
            Err(Failure::PowerLost) => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn contents(&mut self, context: Context<'_>) -> Model {
        contents(&mut self.0, context)
    }
}

/// Chooses a call.
type Draw = fn(&Model, usize, &mut fastrand::Rng) -> Call;

/// Runs random calls, and cuts each of them after the first `skipped`.
fn cut_calls(run: &Run, calls: u64, skipped: u64, draw: Draw, sweep: Sweep) -> Tally {
    let mut random = run.random();
    let parts = parts(16);
    let spec = parts[run.seed as usize % parts.len()].clone();
    let most = [3, 8, 30][run.seed as usize / 2 % 3];
    let (mut heap, mut model, mut tally) = (format(spec), Model::default(), Tally::default());
    for number in 0..calls {
        let call = draw(&model, most, &mut random);
        let context = || format!("at call {number}, {call:?}; replay: {}", run.replay());
        let (before, before_heap) = (model.clone(), heap.clone());
        match perform(&mut heap, &call) {
            Ok(created) => change(&mut model, &call, created),
            Err(_) => refuse(&mut model, &call),
        }
        if number < skipped {
            continue;
        }
        let mut go_on_number = 0;
        tally += sweep.cut(
            Trial {
                subject: &Cut(before_heap),
                call: &call,
                shapes: &|_, random: &mut fastrand::Rng| every_shape(random.u64(..)),
                admitted: &|found: &Model| admits(&before, &model, &call, found),
                go_on: &mut |Cut(heap), found, random, context| {
                    go_on_number += 1;
                    if go_on_number % 5 == 1 {
                        go_on(heap, found, most, random, context);
                    }
                },
                context: &context,
            },
            &mut random,
        );
    }
    tally
}

/// The recovered heap takes further calls.
fn go_on(mut heap: TestHeap, mut model: Model, most: usize, random: &mut fastrand::Rng, context: Context<'_>) {
    for _ in 0..4 {
        let call = draw(&model, most, random);
        let context = || format!("going on with {call:?} after {}", context());
        match perform(&mut heap, &call) {
            Ok(created) => change(&mut model, &call, created),
            Err(_) => refuse(&mut model, &call),
        }
        assert_eq!(contents(&mut heap, &context), model.now(), "{}", context());
        assert_eq!(heap.device().refusals(), 0, "the part's contract is broken, {}", context());
    }
}

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
    let draws: [(Draw, u64); 3] = [(draw, 100), (draw_put, 1500), (draw_in_transaction, 200)];
    for run in seeds(18..36, REPLAY) {
        let (draw, most) = draws[run.seed as usize / 6 % 3];
        let mut random = run.random();
        let parts = parts(16);
        let (mut heap, mut model) = (format(parts[run.seed as usize % parts.len()].clone()), Model::default());
        let context = || format!("replay: {}", run.replay());
        for _ in 0..random.usize(20..400) {
            let call = draw(&model, 12, &mut random);
            match perform(&mut heap, &call) {
                Ok(created) => change(&mut model, &call, created),
                Err(failure) => {
                    assert!(failure == Failure::Full && (model.before.is_some() || can_grow(&call)), "{}", context());
                    refuse(&mut model, &call);
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
                let call = draw(&model, 12, &mut random);
                let before = model.clone();
                let mut whole = heap.clone();
                whole.device_mut().cut_power_after(u64::MAX, Tear::Nothing);
                match perform(&mut whole, &call) {
                    Ok(created) => change(&mut model, &call, created),
                    Err(failure) => {
                        let may_be_full = model.before.is_some() || can_grow(&call);
                        assert!(failure == Failure::Full && may_be_full, "{call:?}, {}", context());
                        refuse(&mut model, &call);
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
}
