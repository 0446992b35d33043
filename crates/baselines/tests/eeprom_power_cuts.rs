//! Power is cut at every word that random operations on the EEPROM heap write, in every stage and shape of a torn
//! write, and again at every word that the recovery from it writes.
//!
//! After each cut the heap is mounted; it must hold what it held before the operation in flight, or what it would have
//! held after it; only a non-atomic one may leave a mixture, and one torn word. Inside a transaction, only what was
//! committed may be left. The checker must be silent, and the heap must continue to work.

use crate::either;

use either::{Model, Op, Pair, from_environment, perform, read_back};
use norn_baselines::EepromHeap;
use norn_flash::Collected;
use norn_flash_sim::{EepromSim, Tear, WriteStage, catalogue};
use norn_object_heap::Elements;

type SimHeap = EepromHeap<EepromSim>;

/// Every shape of a tear; those that take a number, with several. All single bits of a word of 4 bytes, and all but
/// one.
fn shapes(random: &mut fastrand::Rng) -> Vec<(WriteStage, Tear)> {
    let mut shapes = Vec::new();
    for stage in WriteStage::ALL {
        shapes.extend([Tear::Nothing, Tear::Complete].map(|tear| (stage, tear)));
        for bit in 0..32 {
            shapes.extend([Tear::OneBit(bit), Tear::AllButOneBit(bit)].map(|tear| (stage, tear)));
        }
        for border in 0..5 {
            shapes.extend([Tear::Prefix(border), Tear::Suffix(border)].map(|tear| (stage, tear)));
        }
        for _ in 0..4 {
            shapes.push((stage, Tear::Subset(random.u64(..))));
        }
    }
    shapes
}

/// What a heap may hold after a cut.
struct Allowed<'a> {
    before: &'a Model,
    after: &'a Model,
    /// The array that is changed element by element, and the bytes of a word.
    non_atomic: Option<(norn_object_heap::Ref, usize)>,
}

impl Allowed<'_> {
    fn admits(&self, found: &Model) -> bool {
        found == self.before
            || found == self.after
            || self.non_atomic.is_some_and(|(array, word)| found.is_between(self.before, self.after, array, word))
    }
}

#[derive(Default)]
struct Tried {
    points: u64,
    cuts: u64,
    second_cuts: u64,
    third_cuts: u64,
    between: u64,
}

fn check(heap: &mut SimHeap, context: &dyn Fn() -> String) {
    let mut found: Collected = Collected::default();
    heap.audit(&mut found).unwrap();
    assert!(found.violations.is_empty(), "{:?} {}", found.violations, context());
}

/// The device after `op` was cut.
fn lose_power(pair: &Pair<SimHeap>, op: &Op, cut: u64, (stage, tear): (WriteStage, Tear)) -> EepromSim {
    let mut heap = pair.heap.clone();
    heap.device_mut().cut_power_after(cut, stage, tear);
    assert!(perform(&mut heap, op).is_err(), "{op:?} succeeded without power");
    let mut device = heap.into_device();
    device.power_on();
    device
}

/// The device after its mount was cut; `None` if the mount writes fewer words.
fn lose_power_again(device: &EepromSim, cut: u64, (stage, tear): (WriteStage, Tear)) -> Option<EepromSim> {
    let mut device = device.clone();
    device.cut_power_after(cut, stage, tear);
    if EepromHeap::mount(&mut device).is_ok() {
        return None;
    }
    device.power_on();
    Some(device)
}

/// Mounts, and asserts that what is there may be.
fn recover(device: EepromSim, allowed: &Allowed<'_>, context: &dyn Fn() -> String) -> (SimHeap, Model) {
    let mut heap = EepromHeap::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
    check(&mut heap, context);
    let found = read_back(&mut heap).unwrap_or_else(|error| panic!("{error} {}", context()));
    assert!(
        allowed.admits(&found),
        "holds {found:?}\nwhich is neither {:?}\nnor {:?} {}",
        allowed.before,
        allowed.after,
        context()
    );
    (heap, found)
}

fn sweep(seed: u64, operations: u64, size: u32, word_bytes: u8, log_bytes: u32, tried: &mut Tried) {
    let mut random = fastrand::Rng::with_seed(seed);
    let part = catalogue::eeprom_test_part(size, word_bytes);
    let mut pair = Pair::new(EepromHeap::format(EepromSim::new(part), log_bytes).unwrap());
    for number in 0..operations {
        let op = pair.draw(&mut random);
        let context = || {
            format!(
                "at operation {number}, {op:?}; replay: NORN_SEED={seed} cargo test --test suite eeprom_power_cuts::"
            )
        };
        pair = cut_everywhere(pair, &op, &mut random, tried, &context);
    }
}

/// Cuts `op` at every word that it writes, in every shape; returns what it is when it is not cut.
fn cut_everywhere(
    pair: Pair<SimHeap>,
    op: &Op,
    random: &mut fastrand::Rng,
    tried: &mut Tried,
    context: &dyn Fn() -> String,
) -> Pair<SimHeap> {
    let mut next = pair.clone();
    let words = next.heap.device().operations();
    let _ = next.step(op, &context);
    let words = next.heap.device().operations() - words;
    let word_bytes = usize::from(next.heap.device().spec().part.word_bytes);
    let allowed = Allowed {
        before: &pair.committed,
        after: if next.open.is_some() { &pair.committed } else { &next.committed },
        non_atomic: op.non_atomic_target().filter(|_| pair.open.is_none()).map(|array| (array, word_bytes)),
    };
    for cut in 0..words {
        tried.points += 1;
        for shape in shapes(random) {
            let context = || format!("cut by {shape:?} at word {cut} {}", context());
            let device = lose_power(&pair, op, cut, shape);
            tried.cuts += 1;
            if tried.cuts.is_multiple_of(23) {
                cut_recovery(&device, &allowed, random, tried, &context);
            }
            let (heap, found) = recover(device, &allowed, &context);
            tried.between += u64::from(found != *allowed.before && found != *allowed.after);
            if tried.cuts.is_multiple_of(7) {
                go_on(heap, found, random, &context);
            }
        }
    }
    next
}

/// Cuts the recovery at every word that it writes, and now and then the recovery from that.
fn cut_recovery(
    device: &EepromSim,
    allowed: &Allowed<'_>,
    random: &mut fastrand::Rng,
    tried: &mut Tried,
    context: &dyn Fn() -> String,
) {
    for cut in 0.. {
        let stage = WriteStage::ALL[random.usize(..3)];
        let shape = (stage, Tear::draw(random));
        let second = || format!("and by {shape:?} at word {cut} of the recovery, {}", context());
        let Some(device) = lose_power_again(device, cut, shape) else {
            break;
        };
        tried.second_cuts += 1;
        let shape = (WriteStage::ALL[random.usize(..3)], Tear::draw(random));
        let third_cut = random.u64(..8);
        if let Some(device) = lose_power_again(&device, third_cut, shape) {
            tried.third_cuts += 1;
            let third = || format!("and by {shape:?} at word {third_cut} of the next, {}", second());
            recover(device, allowed, &third);
        }
        recover(device, allowed, &second);
    }
}

/// The recovered heap takes further operations.
fn go_on(heap: SimHeap, found: Model, random: &mut fastrand::Rng, context: &dyn Fn() -> String) {
    let mut pair = Pair { heap, committed: found, open: None };
    for _ in 0..4 {
        let op = pair.draw(random);
        let context = || format!("going on with {op:?} after {}", context());
        let _ = pair.step(&op, &context);
        check(&mut pair.heap, &context);
        assert_eq!(read_back(&mut pair.heap).unwrap(), *pair.visible(), "{}", context());
    }
}

fn sweeps(seeds: std::ops::Range<u64>, operations: u64) {
    let seeds = from_environment("NORN_SEED").map_or(seeds, |seed| seed..seed + 1);
    let mut tried = Tried::default();
    for seed in seeds {
        let size = [512, 768, 640][seed as usize % 3];
        let (word_bytes, log_bytes) = ([4, 4, 1, 2][seed as usize % 4], [64, 128, 96][seed as usize / 3 % 3]);
        sweep(seed, operations, size, word_bytes, log_bytes, &mut tried);
    }
    let Tried { points, cuts, second_cuts, third_cuts, between } = tried;
    println!(
        "{points} cut points in {cuts} shapes, {second_cuts} cuts of recoveries, {third_cuts} of those from them; \
         {between} left a mixture"
    );
    assert!(points > 0 && second_cuts > 0 && third_cuts > 0);
}

#[test]
fn every_cut_in_every_shape() {
    sweeps(0..8, 15);
}

#[test]
#[ignore = "the wide sweep: minutes"]
fn every_cut_widely() {
    sweeps(100..140, 200);
}

/// Fills and copies that are not atomic leave a mixture and one torn word, those that are leave none; overlapping ones,
/// too.
#[test]
fn every_cut_of_fills_and_copies() {
    for (word_bytes, seed) in [(4, 1), (2, 2), (1, 3)] {
        let mut random = fastrand::Rng::with_seed(seed);
        let part = catalogue::eeprom_test_part(512, word_bytes);
        let mut pair = Pair::new(EepromHeap::format(EepromSim::new(part), 128).unwrap());
        pair.step(&Op::CreateArray { count: 12, width: 3, header: Vec::new() }, &String::new).unwrap();
        let array = *pair.committed.objects.keys().next().unwrap();
        for index in 0..12 {
            let value = (0..3).map(|_| random.u8(..)).collect();
            pair.step(&Op::Put { reference: array, index, value }, &String::new).unwrap();
        }
        let (upwards, downwards) = (Elements { array, first: 3, count: 8 }, Elements { array, first: 1, count: 9 });
        let [mut atomic, mut non_atomic] = [Tried::default(), Tried::default()];
        for op in [Op::Copy { from: upwards, to: (array, 1) }, Op::Copy { from: downwards, to: (array, 3) }] {
            pair = cut_everywhere(pair, &op, &mut random, &mut atomic, &|| format!("in {op:?}"));
        }
        for op in [
            Op::CopyNonAtomic { from: upwards, to: (array, 0) },
            Op::CopyNonAtomic { from: downwards, to: (array, 2) },
            Op::Fill { to: upwards, value: vec![1, 2, 3] },
        ] {
            pair = cut_everywhere(pair, &op, &mut random, &mut non_atomic, &|| format!("in {op:?}"));
        }
        assert!(atomic.points > 20 && atomic.between == 0);
        assert!(non_atomic.points > 10 && non_atomic.between > 100);
    }
}

/// A header given to an object of the transaction needs no old pointer: where an abort is cut after it has freed the
/// object, the next would put it where the free list's link is by then.
#[test]
fn every_cut_of_undoing_a_new_object_with_another_header() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut pair = Pair::new(EepromHeap::format(EepromSim::new(catalogue::eeprom_test_part(512, 4)), 128).unwrap());
    let create = |size| Op::CreateArray { count: size, width: 1, header: Vec::new() };
    // Two holes, so that the first one has a link.
    for size in [8, 8, 8] {
        pair.step(&create(size), &String::new).unwrap();
    }
    let first = *pair.committed.objects.keys().next().unwrap();
    pair.step(&Op::Delete(first), &String::new).unwrap();
    for op in [Op::Begin, create(8)] {
        pair.step(&op, &String::new).unwrap();
    }
    let created = *pair.visible().objects.keys().last().unwrap(); // the highest generation
    pair.step(&Op::WriteHeader(created, vec![1; 3]), &String::new).unwrap();
    let committed = pair.committed.clone();
    let allowed = Allowed { before: &committed, after: &committed, non_atomic: None };
    let mut words = 0;
    for cut in 0.. {
        let mut whole = pair.heap.clone();
        whole.device_mut().cut_power_after(cut, WriteStage::Both, Tear::Nothing);
        if perform(&mut whole, &Op::Abort).is_ok() {
            break;
        }
        words += 1;
        for shape in shapes(&mut random) {
            let context = || format!("cut by {shape:?} at word {cut} of the abort");
            let device = lose_power(&pair, &Op::Abort, cut, shape);
            cut_recovery(&device, &allowed, &mut random, &mut Tried::default(), &context);
            recover(device, &allowed, &context);
        }
    }
    assert!(words > 15, "{words}");
}

/// A commit that deletes rolls forward once its marker counts. A second cut must not take back a marker that the first
/// one left torn.
#[test]
fn every_pair_of_cuts_of_a_commit_that_deletes() {
    let format = EepromHeap::format(EepromSim::new(catalogue::eeprom_test_part(512, 1)), 64).unwrap();
    let mut pair = Pair::new(format);
    let create = Op::CreateArray { count: 2, width: 1, header: Vec::new() };
    pair.step(&create, &String::new).unwrap();
    pair.step(&create, &String::new).unwrap();
    let arrays: Vec<_> = pair.committed.objects.keys().copied().collect();
    let put = Op::Put { reference: arrays[1], index: 0, value: vec![7] };
    for op in [Op::Begin, put, Op::Delete(arrays[0])] {
        pair.step(&op, &String::new).unwrap();
    }
    let (before, mut next) = (pair.committed.clone(), pair.clone());
    next.step(&Op::Commit, &String::new).unwrap();
    let allowed = Allowed { before: &before, after: &next.committed, non_atomic: None };
    let words = next.heap.device().operations() - pair.heap.device().operations();
    let bits = (0..8).flat_map(|bit| [Tear::OneBit(bit), Tear::AllButOneBit(bit)]);
    let shapes: Vec<_> =
        bits.flat_map(|tear| [WriteStage::Erase, WriteStage::Both].map(|stage| (stage, tear))).collect();
    let mut second_cuts = 0;
    for (cut, &shape) in (0..words).flat_map(|cut| shapes.iter().map(move |shape| (cut, shape))) {
        let device = lose_power(&pair, &Op::Commit, cut, shape);
        for (again, &second) in (0..).flat_map(|again| shapes.iter().map(move |second| (again, second))) {
            let Some(device) = lose_power_again(&device, again, second) else {
                break;
            };
            second_cuts += 1;
            recover(device, &allowed, &|| format!("cut by {shape:?} at word {cut}, and by {second:?} at word {again}"));
        }
    }
    assert!(second_cuts > 1000, "{second_cuts}");
}

/// Formatting over a heap leaves, when it is cut, the old one, none, or an empty one.
#[test]
fn every_cut_of_formatting() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut pair = Pair::new(EepromHeap::format(EepromSim::new(catalogue::eeprom_test_part(512, 4)), 64).unwrap());
    for _ in 0..40 {
        let op = pair.draw(&mut random);
        let _ = pair.step(&op, &String::new);
    }
    if pair.open.is_some() {
        pair.step(&Op::Abort, &String::new).unwrap();
    }
    let device = pair.heap.into_device();
    let mut states = [0; 3];
    for cut in 0.. {
        for (stage, tear) in shapes(&mut random) {
            let mut device = device.clone();
            device.cut_power_after(cut, stage, tear);
            if EepromHeap::format(&mut device, 96).is_ok() {
                assert!(states.iter().all(|&count| count > 0), "{states:?}");
                return;
            }
            device.power_on();
            let state = match EepromHeap::mount(device) {
                Err(error) => {
                    assert_eq!(error, norn_baselines::EepromMountError::NotFormatted);
                    0
                }
                Ok(mut heap) => {
                    check(&mut heap, &|| format!("{stage:?} {tear:?} at word {cut}"));
                    let found = read_back(&mut heap).unwrap();
                    assert!(found == pair.committed || found == Model::default());
                    if found == Model::default() { 1 } else { 2 }
                }
            };
            states[state] += 1;
        }
    }
}
