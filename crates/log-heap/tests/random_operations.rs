//! Long random runs on parts of every kind hold what a plain model holds, with every invariant after every call, also
//! when the power goes between calls; a part that is filled refuses and goes on.

use crate::model;

use model::{
    Call, Failure, Model, can_grow, change, contents, draw, draw_in_transaction, draw_put_in_transaction, format,
    mount, parts, parts_of_large_units, perform, refuse,
};
use norn_conformance::seeds;
use norn_log_heap::{Layout, Ref};

const REPLAY: &str = "-p norn-log-heap --test suite random_operations::";

#[test]
fn a_heap_holds_what_the_model_holds() {
    for run in seeds(0..12, REPLAY) {
        let mut random = run.random();
        let parts = parts(16);
        let spec = parts[run.seed as usize % parts.len()].clone();
        let most = [3, 8, 20][run.seed as usize % 3];
        let (mut heap, mut model) = (format(spec), Model::default());
        for number in 0..1500 {
            let call = draw(&model, most, &mut random);
            let context = || format!("at call {number}, {call:?}; replay: {}", run.replay());
            match perform(&mut heap, &call) {
                Ok(created) => change(&mut model, &call, created),
                Err(failure) => {
                    assert_eq!(failure, Failure::Full, "{}", context());
                    assert!(can_grow(&call), "full {}", context());
                    refuse(&mut heap, &mut model, &call);
                }
            }
            assert_eq!(contents(&mut heap, &context), model, "{}", context());
            if random.u8(..40) == 0 {
                heap = mount(heap.into_device(), &context);
                assert_eq!(contents(&mut heap, &context), model, "after a mount {}", context());
            }
        }
        assert_eq!(heap.device().0.refusals(), 0);
    }
}

/// Many updates are recorded as appends no more: then each is one program, and a mount settles each tail.
#[test]
fn many_appends_are_recorded_no_more() {
    for spec in parts(32) {
        let mut heap = format(spec);
        let objects: Vec<Ref> = (0..20).map(|_| heap.create(Layout::uniform(10, 2)).unwrap()).collect();
        let (mut random, mut unrecorded) = (fastrand::Rng::with_seed(5), 0);
        let mut values = [[0u16; 10]; 20];
        for number in 0..2000 {
            let (object, field, value) = (random.usize(..20), random.usize(..10), random.u16(..));
            let before = heap.device().0.counters();
            heap.put_field(objects[object], field, &value.to_le_bytes()).unwrap();
            values[object][field] = value;
            if number >= 1000 {
                unrecorded += u32::from((heap.device().0.counters() - before).programs() == 1);
            }
        }
        assert!(unrecorded > 600, "{unrecorded} of 1000 appends were not recorded");
        let before = heap.device().0.counters();
        let mut heap = mount(heap.into_device(), &|| "many appends".to_owned());
        let counted = heap.device().0.counters() - before;
        assert!(counted.programs() >= 20, "no sweep: {counted}");
        for (&object, values) in objects.iter().zip(values) {
            for (field, value) in values.into_iter().enumerate() {
                let mut read = [0; 2];
                heap.get_field(object, field, &mut read).unwrap();
                assert_eq!(u16::from_le_bytes(read), value);
            }
        }
        assert_eq!(heap.device().0.refusals(), 0);
    }
}

#[test]
fn transactions_hold_what_the_model_holds() {
    for run in seeds(70..88, REPLAY) {
        let mut random = run.random();
        let parts = parts(16);
        let spec = parts[run.seed as usize % parts.len()].clone();
        let most = [3, 8, 100_000][run.seed as usize / 6 % 3];
        let (mut heap, mut model, mut full) = (format(spec), Model::default(), 0);
        for number in 0..1500 {
            let call = draw_in_transaction(&model, most, &mut random);
            let context = || format!("at call {number}, {call:?}; replay: {}", run.replay());
            match perform(&mut heap, &call) {
                Ok(created) => change(&mut model, &call, created),
                Err(failure) => {
                    assert_eq!(failure, Failure::Full, "{}", context());
                    assert!(can_grow(&call) || model.before.is_some(), "full {}", context());
                    assert!(!matches!(call, Call::Abort), "full {}", context());
                    refuse(&mut heap, &mut model, &call);
                    full += 1;
                }
            }
            assert_eq!(contents(&mut heap, &context), model.now(), "{}", context());
            if random.u8(..40) == 0 {
                heap = mount(heap.into_device(), &context);
                model = model.committed();
                assert_eq!(contents(&mut heap, &context), model, "after a mount {}", context());
            }
        }
        assert!(most < 1000 || full > 0, "the part never was full");
        assert_eq!(heap.device().0.refusals(), 0);
    }
}

/// Tails are filled in transactions, and undone without a place for it; the part is nearly full, too.
#[test]
fn transactions_on_large_units_hold_what_the_model_holds() {
    for run in seeds(96..104, REPLAY) {
        let mut random = run.random();
        let parts = parts_of_large_units(12);
        let spec = parts[run.seed as usize % parts.len()].clone();
        let most = [8, 60, 100_000][run.seed as usize / 2 % 3];
        let (mut heap, mut model) = (format(spec), Model::default());
        for number in 0..1500 {
            let call = draw_put_in_transaction(&model, most, &mut random);
            let context = || format!("at call {number}, {call:?}; replay: {}", run.replay());
            match perform(&mut heap, &call) {
                Ok(created) => change(&mut model, &call, created),
                Err(failure) => {
                    assert_eq!(failure, Failure::Full, "{}", context());
                    assert!(can_grow(&call) || model.before.is_some(), "full {}", context());
                    assert!(!matches!(call, Call::Abort), "full {}", context());
                    refuse(&mut heap, &mut model, &call);
                }
            }
            if number % 20 == 0 || matches!(call, Call::Abort) {
                assert_eq!(contents(&mut heap, &context), model.now(), "{}", context());
            }
            if random.u8(..40) == 0 {
                heap = mount(heap.into_device(), &context);
                model = model.committed();
                assert_eq!(contents(&mut heap, &context), model, "after a mount {}", context());
            }
        }
        assert_eq!(heap.device().0.refusals(), 0);
    }
}

#[test]
fn a_full_part_refuses_creations_and_goes_on() {
    for run in seeds(0..6, REPLAY) {
        let mut random = run.random();
        let (mut heap, mut model) = (format(parts(16)[run.seed as usize].clone()), Model::default());
        let mut full = 0;
        for number in 0..6000 {
            let mut call = draw(&model, 100_000, &mut random);
            if full > 3 && random.u8(..10) == 0 {
                call = Call::Delete(*model.objects.keys().nth(random.usize(..model.objects.len())).unwrap());
            }
            let context = || format!("at call {number}, {call:?}; replay: {}", run.replay());
            match perform(&mut heap, &call) {
                Ok(created) => change(&mut model, &call, created),
                Err(failure) => {
                    assert_eq!(failure, Failure::Full, "{}", context());
                    assert!(can_grow(&call), "full {}", context());
                    refuse(&mut heap, &mut model, &call);
                    full += 1;
                }
            }
            if number % 50 == 0 {
                assert_eq!(contents(&mut heap, &context), model, "{}", context());
            }
        }
        assert!(full > 3, "the part never was full");
        assert_eq!(heap.device().0.refusals(), 0);
    }
}
