//! A device that is kept nearly full for long: reclamation never deadlocks, `Full` is an error and nothing else, and
//! what is freed can be used again.

use crate::model;

use model::device::limited_parts;
use model::{Op, Outcome, Pair, check};
use norn_conformance::from_environment;
use norn_flash_sim::{Counters, NorSim, PartSpec, catalogue};
use norn_object_heap::{Config, ErrorDetection, Heap, Layout, Ref};

/// Creates objects until the device is full, with lists of `records` records.
fn fill(pair: &mut Pair, records: usize, random: &mut fastrand::Rng) {
    loop {
        let widths = vec![random.u8(1..9); random.usize(1..12)];
        let width = usize::from(widths[0]);
        let op = Op::Create { widths, header: Vec::new() };
        if pair.step(&op, &|| format!("{op:?}")) == Outcome::Refused {
            return;
        }
        let created = *pair.committed.objects.keys().max_by_key(|reference| reference.bits()).expect("an object");
        let mut value = 0;
        while pair.heap.list_info(created).expect("an object").records < records {
            value += 1;
            let op = Op::Put { reference: created, index: 0, value: vec![value; width] };
            if value > 2 * records as u8 || pair.step(&op, &|| format!("{op:?}")) == Outcome::Refused {
                return;
            }
        }
    }
}

/// Erases of one operation at most: it allocates less than a unit holds, so that it needs two reclamations, each
/// perhaps after one for wear; and a log unit.
const ERASES_MAX: u64 = 5;
/// Words programmed by one operation at most: the erased units' data, a new log unit, and what the operation itself
/// takes.
const PROGRAMS_MAX: u64 = 4 * 2048 / 4 + 18 + 200;

fn some_reference(pair: &Pair, random: &mut fastrand::Rng) -> Ref {
    let references: Vec<Ref> = pair.committed.objects.keys().copied().collect();
    *random.choice(&references).expect("there are objects")
}

/// Updates, deletes and creates on a device that was filled with lists of `records` records and then freed of a tenth
/// of its objects. Returns how many updates were done and how many found no room.
fn churn(seed: u64, records: usize, operations: u64) -> (u64, u64) {
    churn_on(catalogue::test_part(12, 2048), (ERASES_MAX, PROGRAMS_MAX), seed, records, operations)
}

/// The same on a part, with a limit of erases and programs for each operation.
fn churn_on(part: PartSpec, costs_max: (u64, u64), seed: u64, records: usize, operations: u64) -> (u64, u64) {
    let error_detection = if seed % 3 == 2 { ErrorDetection::On } else { ErrorDetection::Off };
    let config = Config { wear_period: 8, error_detection, ..Config::tinystore_2006() };
    let mut pair = Pair::new(part, config);
    let mut random = fastrand::Rng::with_seed(seed);
    fill(&mut pair, records, &mut random);
    let full = pair.committed.objects.len();
    for _ in 0..full / 10 + 1 {
        let op = Op::Delete(some_reference(&pair, &mut random));
        assert_eq!(pair.step(&op, &|| format!("{op:?} on a full device")), Outcome::Done);
    }
    let (mut done, mut refused) = (0, 0);
    let mut worst = Counters::default();
    for number in 0..operations {
        let context = || format!("operation {number}; replay: NORN_SEED={seed} cargo test --test suite full_device::");
        let reference = some_reference(&pair, &mut random);
        let fields = &pair.committed.objects[&reference].fields;
        let op = match random.u8(0..20) {
            0 if pair.committed.objects.len() <= full * 9 / 10 => {
                Op::Create { widths: vec![random.u8(1..9); random.usize(1..12)], header: Vec::new() }
            }
            1 if pair.committed.objects.len() > full * 2 / 5 => Op::Delete(reference),
            _ => {
                let index = random.usize(0..fields.len());
                Op::Put { reference, index, value: fields[index].iter().map(|_| random.u8(..)).collect() }
            }
        };
        let before = pair.heap.device().counters();
        let outcome = pair.step(&op, &context);
        let cost = pair.heap.device().counters() - before;
        assert!(cost.erases <= costs_max.0 && cost.programs() <= costs_max.1, "{cost} for {}", context());
        if (cost.erases, cost.programs()) > (worst.erases, worst.programs()) {
            worst = cost;
        }
        match (outcome, &op) {
            (Outcome::Done, _) => done += 1,
            (Outcome::Refused, Op::Delete(_)) => panic!("a delete found no room {}", context()),
            (Outcome::Refused, _) => refused += 1,
            (Outcome::PowerLost, _) => unreachable!(),
        }
        if number % 500 == 0 {
            let committed = pair.committed.clone();
            check(&mut pair.heap, &committed, &context);
        }
    }
    let committed = pair.committed.clone();
    check(&mut pair.heap, &committed, &|| "at the end".to_owned());
    let erases: Vec<u32> = pair.heap.device().erase_counts().collect();
    println!("{full} objects when full; {done} operations done, {refused} refused; erases of the units {erases:?}");
    println!("the most expensive operation: {worst}");
    deletes_make_room(&mut pair, full, &mut random);
    (done, refused)
}

fn deletes_make_room(pair: &mut Pair, full: usize, random: &mut fastrand::Rng) {
    for _ in 0..full / 4 {
        let op = Op::Delete(some_reference(pair, random));
        assert_eq!(pair.step(&op, &|| format!("{op:?} at the end")), Outcome::Done);
    }
    for _ in 0..full / 8 {
        let op = Op::Create { widths: vec![4; 6], header: Vec::new() };
        assert_eq!(pair.step(&op, &|| format!("{op:?} after deletes")), Outcome::Done);
    }
    let committed = pair.committed.clone();
    check(&mut pair.heap, &committed, &|| "after deletes".to_owned());
}

fn seeds(range: std::ops::Range<u64>) -> std::ops::Range<u64> {
    from_environment("NORN_SEED").map_or(range, |seed| seed..seed + 1)
}

/// Full is the number of objects that fit when every list has its maximal length: nine tenths of it take any update.
#[test]
fn a_device_that_is_nine_tenths_full_goes_on() {
    for seed in seeds(0..6) {
        let (done, refused) = churn(seed, 2, 20_000);
        assert!(refused * 100 < done, "{refused} refused");
    }
}

/// Filled to the brim with fresh objects, which leaves no room for longer lists, a device takes updates, and creates as
/// often as it deletes.
#[test]
fn a_device_that_is_overfull_stays_usable() {
    for seed in seeds(0..6) {
        let (done, refused) = churn(seed, 1, 20_000);
        assert!(refused * 20 < done, "{refused} refused");
    }
}

/// Nothing but updates on a device that is full to the brim: what is free comes to be spread over all units.
#[test]
fn updates_of_small_objects_never_find_the_device_full() {
    for (units, unit_bytes, fields) in [(40, 512, 1), (24, 2048, 4), (64, 1024, 9), (16, 8192, 2)] {
        let mut heap: Heap<NorSim, 64> =
            Heap::format(NorSim::new(catalogue::test_part(units, unit_bytes)), Config::tinystore_2006()).unwrap();
        let mut objects = Vec::new();
        while let Ok(object) = heap.create(Layout::uniform(fields, 4)) {
            objects.push(object);
        }
        let mut random = fastrand::Rng::with_seed(u64::from(unit_bytes));
        for number in 0..10 * objects.len() {
            let object = *random.choice(&objects).unwrap();
            let put = heap.put_field(object, random.usize(0..fields), &(number as u32).to_le_bytes());
            assert_eq!(put, Ok(()), "update {number} on {units} units of {unit_bytes} bytes");
        }
    }
}

/// Lists of more records than a log unit has entries are compacted and deleted.
#[test]
fn lists_may_be_longer_than_the_log() {
    let config = Config { list_length_max: 255, ..Config::tinystore_2006() };
    let mut heap: Heap<NorSim, 64> = Heap::format(NorSim::new(catalogue::test_part(64, 512)), config).unwrap();
    let object = heap.create(Layout::uniform(1, 1).with_header(b"with a header")).unwrap();
    for number in 0..1500u32 {
        heap.put_field(object, 0, &[number as u8]).unwrap();
    }
    assert!(heap.list_info(object).unwrap().records > 100);
    heap.delete(object).unwrap();
    assert_eq!(heap.next_object(None), Ok(None));
}

/// On parts whose words may be programmed once or twice an operation may also write units anew whose tables are full:
/// the log's, and each that the operation touches or reclaims, and one more for wear.
#[test]
fn a_limited_device_that_is_nine_tenths_full_goes_on() {
    for seed in seeds(0..4) {
        let part = limited_parts(12, 2048)[seed as usize % 4].clone();
        let (done, refused) = churn_on(part, (4 * ERASES_MAX, 4 * PROGRAMS_MAX), seed, 2, 4_000);
        assert!(refused * 100 < done, "{refused} refused");
    }
}

#[test]
#[ignore = "long: two million operations"]
fn a_nearly_full_device_goes_on_for_long() {
    let seed = from_environment("NORN_SEED").unwrap_or(77);
    churn(seed, 2, 1_000_000);
    churn(seed, 1, 1_000_000);
}

/// From a device that is full to the last byte, everything can be deleted, in any order, in single steps or at once.
#[test]
fn everything_can_be_deleted_from_a_full_device() {
    for seed in 0..8 {
        let mut random = fastrand::Rng::with_seed(seed);
        // A transaction that deletes all takes more log than the usual two units.
        let config = Config { log_units: 4, ..Config::tinystore_2006() };
        let mut pair = Pair::new(catalogue::test_part(10, 1024), config);
        fill(&mut pair, 1, &mut random);
        let mut references: Vec<Ref> = pair.committed.objects.keys().copied().collect();
        random.shuffle(&mut references);
        let context = || format!("with seed {seed}");
        let at_once = seed % 2 == 0;
        if at_once {
            assert_eq!(pair.step(&Op::Begin, &context), Outcome::Done);
        }
        for reference in references {
            assert_eq!(pair.step(&Op::Delete(reference), &context), Outcome::Done);
        }
        if at_once {
            assert_eq!(pair.step(&Op::Commit, &context), Outcome::Done);
        }
        assert!(pair.committed.objects.is_empty());
        let committed = pair.committed.clone();
        check(&mut pair.heap, &committed, &context);
    }
}
