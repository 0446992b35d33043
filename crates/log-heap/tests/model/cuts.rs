//! Random calls, each cut at its operations: shared by the tests of power cuts.

use norn_conformance::{Context, PowerLost, Powered, Run, Subject, Sweep, Tally, Trial};
use norn_flash::Nor;
use norn_flash_sim::PartSpec;
use norn_log_heap::{LogHeapIn, UnitRow};

use super::{
    Call, Failure, Harsh, Model, TestHeap, admits, change, contents, draw, every_shape, format, mount, parts, perform,
    refuse,
};

/// A heap whose power can be cut.
#[derive(Clone)]
pub struct Cut(pub TestHeap);

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
pub type Draw = fn(&Model, usize, &mut fastrand::Rng) -> Call;

/// Runs random calls, and cuts each of them after the first `skipped`.
pub fn cut_calls(run: &Run, calls: u64, skipped: u64, draw: Draw, sweep: Sweep) -> Tally {
    let parts = parts(16);
    cut_calls_on(parts[run.seed as usize % parts.len()].clone(), run, calls, skipped, draw, sweep)
}

/// The same on a given part.
pub fn cut_calls_on(spec: PartSpec, run: &Run, calls: u64, skipped: u64, draw: Draw, sweep: Sweep) -> Tally {
    cut_calls_of(format(spec), run, calls, skipped, draw, sweep)
}

/// The same of an empty heap.
pub fn cut_calls_of(heap: TestHeap, run: &Run, calls: u64, skipped: u64, draw: Draw, sweep: Sweep) -> Tally {
    let mut random = run.random();
    let most = [3, 8, 30][run.seed as usize / 2 % 3];
    let (mut heap, mut model, mut tally) = (heap, Model::default(), Tally::default());
    for number in 0..calls {
        let call = draw(&model, most, &mut random);
        let context = || format!("at call {number}, {call:?}; replay: {}", run.replay());
        let (before, before_heap) = (model.clone(), heap.clone());
        let mut refused = None;
        match perform(&mut heap, &call) {
            Ok(created) => change(&mut model, &call, created),
            Err(_) => {
                let aborted = heap.clone();
                refuse(&mut heap, &mut model, &call);
                refused = (before.before.is_some() && model.before.is_none()).then_some(aborted);
            }
        }
        if number < skipped {
            continue;
        }
        let trial = CutCall { sweep: &sweep, most, context: &context };
        tally += trial.cut(Cut(before_heap), &call, &|found| admits(&before, &model, &call, found), &mut random);
        if let Some(aborted) = refused {
            tally += trial.cut(Cut(aborted), &Call::Abort, &|found| *found == model, &mut random);
        }
    }
    tally
}

/// How a call is cut.
struct CutCall<'a> {
    sweep: &'a Sweep,
    most: usize,
    context: Context<'a>,
}

impl CutCall<'_> {
    fn cut(&self, subject: Cut, call: &Call, admitted: &dyn Fn(&Model) -> bool, random: &mut fastrand::Rng) -> Tally {
        let mut go_on_number = 0;
        self.sweep.cut(
            Trial {
                subject: &subject,
                call,
                shapes: &|_, random: &mut fastrand::Rng| every_shape(random.u64(..)),
                admitted: &admitted,
                go_on: &mut |Cut(heap), found, random, context| {
                    go_on_number += 1;
                    if go_on_number % 5 == 1 {
                        go_on(heap, found, self.most, random, context);
                    }
                },
                context: self.context,
            },
            random,
        )
    }
}

/// The recovered heap takes further calls.
fn go_on(mut heap: TestHeap, mut model: Model, most: usize, random: &mut fastrand::Rng, context: Context<'_>) {
    for _ in 0..4 {
        let call = draw(&model, most, random);
        let context = || format!("going on with {call:?} after {}", context());
        match perform(&mut heap, &call) {
            Ok(created) => change(&mut model, &call, created),
            Err(_) => refuse(&mut heap, &mut model, &call),
        }
        assert_eq!(contents(&mut heap, &context), model.now(), "{}", context());
        assert_eq!(heap.device().refusals(), 0, "the part's contract is broken, {}", context());
    }
}
