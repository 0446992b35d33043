//! Power is cut at every device operation of random operation sequences, in every torn shape, and again during
//! recovery.
//!
//! After each cut the heap is mounted; it must hold what it held before the operation in flight, or what it would have
//! held after it, and nothing in between; the checker must be silent; and it must continue to work. Inside a
//! transaction, only what was committed may be left.

use crate::model;

use model::device::{TestDevice, limited_parts};
use model::{Atomicity, Model, Op, Outcome, Pair, TestHeap, check, configs, delta_configs, detecting_configs};
use norn_conformance::{Context, PowerLost, Subject, Survey, Sweep, Tally, Trial, from_environment};
use norn_flash::{Address, Reprogramming};
use norn_flash_sim::{PartSpec, Tear, catalogue};
use norn_object_heap::{Config, Heap};

/// How wide to sweep.
#[derive(Clone, Copy)]
struct Width {
    operations: u64,
    /// Every single bit of each torn word, and every single bit spared, instead of two of each.
    all_bits: bool,
    subsets: u64,
    /// One in this many first cuts is followed by further cuts during recovery, at up to `second_cuts` operations.
    second_cut_period: u64,
    second_cuts: u64,
}

impl Width {
    fn sweep(&self) -> Sweep {
        let (second_period, second_cuts) = (self.second_cut_period, self.second_cuts);
        Sweep { stride: 1, second_period, second_cuts, survey: Survey::Stop }
    }
}

/// A heap whose power can be cut.
#[derive(Clone)]
struct Cut(TestHeap);

impl Subject for Cut {
    type Device = TestDevice;
    type Call = Op;
    type Contents = Model;

    fn device_mut(&mut self) -> &mut TestDevice {
        self.0.device_mut()
    }

    fn into_device(self) -> TestDevice {
        self.0.into_device()
    }

    fn mount(device: TestDevice, context: Context<'_>) -> Self {
        Cut(model::mount(device).unwrap_or_else(|error| panic!("{error} {}", context())))
    }

    fn try_mount(device: &mut TestDevice) -> Result<(), PowerLost> {
        Heap::<_, 64>::mount(device).map(|_| ()).map_err(|_| PowerLost)
    }

    fn make(&mut self, op: &Op) -> Result<(), PowerLost> {
        match model::perform(&mut self.0, op) {
            Err(failure) if failure.is_power_loss() => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn contents(&mut self, context: Context<'_>) -> Model {
        let found = model::read_back(&mut self.0).unwrap_or_else(|error| panic!("{error} {}", context()));
        check(&mut self.0, &found, context);
        found
    }
}

/// What a heap may hold after a cut.
struct Allowed<'a> {
    before: &'a Model,
    after: &'a Model,
    atomicity: Atomicity,
}

impl Allowed<'_> {
    fn admit(&self, found: &Model) -> bool {
        let mixed = self.atomicity == Atomicity::EachElement && found.is_between(self.before, self.after);
        found == self.before || found == self.after || mixed
    }
}

/// Runs random operations, and cuts each of them.
fn run(seed: u64, part: PartSpec, config: Config, width: Width) -> Tally {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut tally = Tally::default();
    let mut pair = Pair::new(part, config);
    for number in 0..width.operations {
        let op = pair.draw(&mut random);
        let context =
            || format!("at operation {number}, {op:?}; replay: NORN_SEED={seed} cargo test --test suite power_cuts::");
        let mut next = pair.clone();
        assert_ne!(next.step(&op, &context), Outcome::PowerLost);
        let shapes = |cut, random: &mut fastrand::Rng| shapes(&pair, &op, cut, width, random);
        tally += cut_everywhere(&pair, &next, &op, width.sweep(), &shapes, &mut random, &context);
        pair = next;
    }
    tally
}

/// Cuts `op`, which makes `next` of `pair`, at every operation of the device.
fn cut_everywhere(
    pair: &Pair,
    next: &Pair,
    op: &Op,
    sweep: Sweep,
    shapes: &dyn Fn(u64, &mut fastrand::Rng) -> Vec<Tear>,
    random: &mut fastrand::Rng,
    context: Context<'_>,
) -> Tally {
    let after = if next.open.is_some() { &pair.committed } else { &next.committed };
    let atomicity = if next.open.is_some() { Atomicity::Whole } else { op.atomicity() };
    let allowed = Allowed { before: &pair.committed, after, atomicity };
    let mut number = 0;
    let trial = Trial {
        subject: &Cut(pair.heap.clone()),
        call: op,
        shapes,
        admitted: &|found| allowed.admit(found),
        go_on: &mut |Cut(heap), found, random, context| {
            number += 1;
            if number % 5 == 1 {
                go_on(Pair { heap, committed: found, open: None }, op, random, context);
            }
        },
        context,
    };
    sweep.cut(trial, random)
}

/// The shapes to try at the device operation `cut`, by the number of bits that it changes; none after the last.
fn shapes(pair: &Pair, op: &Op, cut: u64, width: Width, random: &mut fastrand::Rng) -> Vec<Tear> {
    let torn = |tear| lose_power(pair, op, cut, tear);
    let (Some(none), Some(all)) = (torn(Tear::Nothing), torn(Tear::Complete)) else {
        return vec![Tear::Nothing];
    };
    let (address, _) = none.last_torn().expect("the power was cut");
    let len = (none.spec().part.size_bytes() - address.0).min(u32::from(none.spec().word_bytes)) as usize;
    let word = |device: &TestDevice| device.peek(Address(address.0), len);
    let changed: u32 = word(&none).iter().zip(word(&all)).map(|(a, b)| (a ^ b).count_ones()).sum();
    let erase = all.erase_counts().sum::<u32>() > pair.heap.device().erase_counts().sum::<u32>()
        && address.0.is_multiple_of(none.spec().part.unit_size_bytes);
    let mut shapes = vec![Tear::Nothing, Tear::Complete];
    let bits = if width.all_bits && !erase { changed } else { changed.min(2) };
    let first = if bits < changed { random.u32(..) } else { 0 };
    shapes.extend((0..bits).map(|bit| Tear::OneBit(first.wrapping_add(bit))));
    shapes.extend((0..bits).map(|bit| Tear::AllButOneBit(first.wrapping_add(bit))));
    for _ in 0..width.subsets {
        let seed = random.u64(..);
        shapes.extend([Tear::Subset(seed), Tear::Scattered(seed), Tear::Few(seed), Tear::AllButFew(seed)]);
        if erase {
            shapes.extend([Tear::Prefix(seed), Tear::Suffix(seed), Tear::Unstable(seed)]);
        }
    }
    shapes
}

/// The recovered heap takes further operations: the one that was cut, if it can be done again, with another value
/// perhaps, and some more.
fn go_on(mut pair: Pair, cut: &Op, random: &mut fastrand::Rng, context: Context<'_>) {
    let mut again = Some(cut.clone()).filter(|op| pair.committed.can_repeat(op));
    if let Some(Op::Put { value, .. } | Op::Fill { value, .. }) = &mut again {
        value.iter_mut().for_each(|byte| *byte = random.u8(..));
    }
    for _ in 0..3 {
        let op = again.take().unwrap_or_else(|| pair.draw(random));
        let context = || format!("going on with {op:?} after {}", context());
        pair.step(&op, &context);
        let visible = pair.visible().clone();
        check(&mut pair.heap, &visible, &context);
    }
}

/// The device after `op` was cut; `None` if it takes fewer operations.
fn lose_power(pair: &Pair, op: &Op, cut: u64, tear: Tear) -> Option<TestDevice> {
    let mut heap = pair.heap.clone();
    heap.device_mut().cut_power_after(cut, tear);
    if !model::perform(&mut heap, op).is_err_and(|failure| failure.is_power_loss()) {
        return None;
    }
    let mut device = heap.into_device();
    device.power_on();
    Some(device)
}

/// Small parts without limits.
fn unlimited(seed: u64) -> (PartSpec, Config) {
    let (units, unit_bytes) = [(8, 512), (10, 512), (6, 1024), (12, 512)][seed as usize / 4 % 4];
    (catalogue::test_part(units, unit_bytes), configs()[(seed as usize + seed as usize / 4) % 4])
}

/// Small parts without limits, with delta records.
fn with_deltas(seed: u64) -> (PartSpec, Config) {
    (unlimited(seed).0, delta_configs()[(seed as usize + seed as usize / 4) % 4])
}

/// Small parts of every kind whose words may be programmed once or twice.
fn limited(seed: u64) -> (PartSpec, Config) {
    let (units, unit_bytes) = [(8, 768), (6, 1024)][seed as usize / 4 % 2];
    let part = limited_parts(units, unit_bytes)[seed as usize % 4].clone();
    let configs = if seed.is_multiple_of(2) { configs() } else { delta_configs() };
    (part, configs[(seed as usize + seed as usize / 4) % 4])
}

/// Small parts without limits, with error detection.
fn detecting(seed: u64) -> (PartSpec, Config) {
    let (units, unit_bytes) = [(14, 512), (16, 512), (8, 1024), (14, 512)][seed as usize / 4 % 4];
    (catalogue::test_part(units, unit_bytes), detecting_configs()[seed as usize % 4])
}

fn sweep(seeds: std::ops::Range<u64>, ground: fn(u64) -> (PartSpec, Config), width: Width) {
    let seeds = from_environment("NORN_SEED").map_or(seeds, |seed| seed..seed + 1);
    let work = |worker| {
        let mut tally = Tally::default();
        for seed in seeds.clone().filter(|seed| seed % 2 == worker) {
            let (part, config) = ground(seed);
            tally += run(seed, part, config, width);
        }
        tally
    };
    let tally = std::thread::scope(|scope| {
        let other = scope.spawn(|| work(1));
        let mut tally = work(0);
        tally += other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        tally
    });
    println!("{tally:?}");
    assert!(tally.points > 0 && tally.second_cuts > 0);
}

#[test]
fn every_cut_in_every_shape() {
    sweep(0..4, unlimited, Width { operations: 25, all_bits: true, subsets: 3, second_cut_period: 20, second_cuts: 4 });
}

#[test]
fn every_cut_in_every_shape_with_delta_records() {
    let width = Width { operations: 15, all_bits: true, subsets: 3, second_cut_period: 20, second_cuts: 4 };
    sweep(0..4, with_deltas, width);
}

#[test]
fn every_cut_of_longer_sequences_with_delta_records() {
    let width = Width { operations: 60, all_bits: false, subsets: 1, second_cut_period: 12, second_cuts: 3 };
    sweep(16..20, with_deltas, width);
}

#[test]
fn every_cut_in_every_shape_with_error_detection() {
    let width = Width { operations: 10, all_bits: true, subsets: 3, second_cut_period: 20, second_cuts: 4 };
    sweep(0..4, detecting, width);
}

#[test]
fn every_cut_of_longer_sequences() {
    sweep(
        16..20,
        unlimited,
        Width { operations: 60, all_bits: false, subsets: 1, second_cut_period: 12, second_cuts: 3 },
    );
}

#[test]
fn every_cut_on_limited_parts() {
    sweep(
        32..36,
        limited,
        Width { operations: 18, all_bits: false, subsets: 1, second_cut_period: 12, second_cuts: 3 },
    );
}

#[test]
fn every_cut_of_longer_sequences_with_error_detection() {
    let width = Width { operations: 40, all_bits: false, subsets: 1, second_cut_period: 16, second_cuts: 3 };
    sweep(16..20, detecting, width);
}

#[test]
#[ignore = "the wide sweep: about 20 minutes"]
fn every_cut_widely() {
    sweep(
        100..140,
        unlimited,
        Width { operations: 150, all_bits: false, subsets: 3, second_cut_period: 6, second_cuts: 12 },
    );
    sweep(
        200..216,
        limited,
        Width { operations: 60, all_bits: false, subsets: 2, second_cut_period: 6, second_cuts: 8 },
    );
    sweep(
        240..280,
        with_deltas,
        Width { operations: 150, all_bits: false, subsets: 3, second_cut_period: 6, second_cuts: 12 },
    );
    sweep(
        140..160,
        detecting,
        Width { operations: 150, all_bits: false, subsets: 3, second_cut_period: 6, second_cuts: 12 },
    );
}

/// The supply fails again and again, during mounts and soon after them, as with a weak battery: nothing fills up, and
/// when it holds at last, all is there.
fn brown_out(seed: u64, part: PartSpec, boots: u64) -> u64 {
    let mut random = fastrand::Rng::with_seed(seed);
    let detects = part.part.reprogramming == Reprogramming::Unlimited && seed / 12 % 3 == 2;
    let configs = match seed / 4 % 2 {
        _ if detects => detecting_configs(),
        0 => configs(),
        _ => delta_configs(),
    };
    let config = Config { log_units: [2, 5, 8][seed as usize % 3], ..configs[seed as usize % 4] };
    let mut pair = Pair::new(part, config);
    let context = || format!("; replay: NORN_SEED={seed} cargo test --test suite power_cuts::brown_outs");
    for _ in 0..random.usize(0..120) {
        let op = pair.draw(&mut random);
        pair.step(&op, &context);
    }
    if pair.open.is_some() {
        pair.step(&Op::Abort, &context);
    }
    let short = random.u64(1..40);
    let mut allowed = vec![pair.committed.clone()];
    let mut device = pair.heap.into_device();
    let mut cuts = 0;
    for _ in 0..boots {
        device.power_on();
        device.cut_power_after(random.u64(0..short), Tear::draw(&mut random));
        // The part outlives the heap that was mounted on it.
        let mut part = device;
        let mounted = Heap::<_, 64>::mount(&mut part).is_ok();
        device = part;
        if !mounted {
            cuts += 1;
            continue;
        }
        let heap = model::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
        (device, allowed) = run_until_cut(heap, allowed, &mut random, &context);
        cuts += 1;
    }
    device.power_on();
    let mut heap = model::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
    let found = model::read_back(&mut heap).unwrap();
    let expected = allowed.iter().find(|model| **model == found).unwrap_or(&allowed[0]).clone();
    check(&mut heap, &expected, &context);
    let mut pair = Pair { heap, committed: expected, open: None };
    for _ in 0..30 {
        let op = pair.draw(&mut random);
        pair.step(&op, &context);
        let visible = pair.visible().clone();
        check(&mut pair.heap, &visible, &context);
    }
    cuts
}

/// Carries out operations until the planned cut comes; returns the device, and what it may hold.
fn run_until_cut(
    mut heap: TestHeap,
    allowed: Vec<Model>,
    random: &mut fastrand::Rng,
    context: &dyn Fn() -> String,
) -> (TestDevice, Vec<Model>) {
    let Ok(found) = model::read_back(&mut heap) else {
        return (heap.into_device(), allowed);
    };
    assert!(allowed.contains(&found), "holds {found:?}\ninstead of one of {allowed:?} {}", context());
    let mut pair = Pair { heap, committed: found, open: None };
    loop {
        let op = pair.draw(random);
        if op.atomicity() == Atomicity::EachElement {
            continue;
        }
        // What the operation would do shows on a device whose power holds.
        let mut whole = pair.clone();
        whole.heap.device_mut().power_on();
        whole.step(&op, context);
        let before = pair.committed.clone();
        if pair.step(&op, context) == Outcome::PowerLost {
            let after = if whole.open.is_some() { before.clone() } else { whole.committed };
            return (pair.heap.into_device(), vec![before, after]);
        }
    }
}

#[test]
fn brown_outs_in_a_row_fill_nothing_up() {
    let seeds = from_environment("NORN_SEED").map_or(0..60, |seed| seed..seed + 1);
    let cuts: u64 = seeds.map(|seed| brown_out(seed, catalogue::test_part(20, 512), 120)).sum();
    println!("{cuts} cuts in a row");
    assert!(cuts > 100);
}

#[test]
fn brown_outs_in_a_row_fill_nothing_up_on_limited_parts() {
    let seeds = from_environment("NORN_SEED").map_or(0..12, |seed| seed..seed + 1);
    let cuts: u64 = seeds.map(|seed| brown_out(seed, limited_parts(14, 768)[seed as usize % 4].clone(), 60)).sum();
    println!("{cuts} cuts in a row");
    assert!(cuts > 50);
}

#[test]
#[ignore = "long: half a million cuts"]
fn many_brown_outs_in_a_row() {
    let seeds = from_environment("NORN_SEED").map_or(1000..1500, |seed| seed..seed + 1);
    let cuts: u64 = seeds.map(|seed| brown_out(seed, catalogue::test_part(20, 512), 1000)).sum();
    println!("{cuts} cuts in a row");
}

/// Of a thousand cuts in a shape beyond the contract, how many are not survived at most: somewhat more than measured.
const MARGINAL_MAX: u64 = 450;
const LATE_MAX: u64 = 60;
/// None was lost of the cuts that docs/results records, so that a rate of three in as many is improbable (5%).
const ZEROS_MAX: u64 = 2;

/// Cuts every call of eight seeds' sequences in a shape that parts have been seen to leave and the contract of NOR
/// parts does not allow, and counts the cuts that are not survived. The rates are recorded in docs/results.
fn count_cuts_beyond_the_contract(name: &str, shape: fn(u64) -> Tear, most: u64) {
    let grounds =
        [("slots", unlimited as fn(u64) -> (PartSpec, Config)), ("deltas", with_deltas), ("detecting", detecting)];
    for (form, ground) in grounds {
        let mut tally = Tally::default();
        for seed in from_environment("NORN_SEED").map_or(0..8, |seed| seed..seed + 1) {
            let mut random = fastrand::Rng::with_seed(seed);
            let (part, config) = ground(seed);
            let mut pair = Pair::new(part, config);
            for _ in 0..40 {
                let op = pair.draw(&mut random);
                let mut next = pair.clone();
                next.step(&op, &String::new);
                let sweep = Sweep { stride: 1, second_period: 1, second_cuts: 0, survey: Survey::Count };
                let shapes = |_, random: &mut fastrand::Rng| vec![shape(random.u64(..))];
                tally += cut_everywhere(&pair, &next, &op, sweep, &shapes, &mut random, &String::new);
                pair = next;
            }
        }
        println!("{name}, {form}: {} of {} cuts are not survived", tally.lost, tally.cuts);
        assert!(tally.cuts > 100, "{tally:?}");
        let (lost, cuts) = (tally.lost, tally.cuts);
        assert!(lost * 1000 <= most * cuts, "{name}, {form}: {lost} of {cuts} cuts, more than recorded");
    }
}

#[test]
#[ignore = "long; the heap does not survive all cuts beyond the contract, and this counts how many"]
fn beyond_the_contract_marginal_bits_are_counted() {
    count_cuts_beyond_the_contract("marginal", Tear::Marginal, MARGINAL_MAX);
}

#[test]
#[ignore = "long; the heap does not survive all cuts beyond the contract, and this counts how many"]
fn beyond_the_contract_late_bits_are_counted() {
    count_cuts_beyond_the_contract("late", Tear::Late, LATE_MAX);
}

#[test]
#[ignore = "long; the heap does not survive all cuts beyond the contract, and this counts how many"]
fn beyond_the_contract_zeros_first_are_counted() {
    count_cuts_beyond_the_contract("zeros first", Tear::ZerosFirst, ZEROS_MAX);
}
