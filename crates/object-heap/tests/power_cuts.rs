//! Power is cut at every device operation of random operation sequences, in every torn shape, and again during recovery.
//!
//! After each cut the heap is mounted; it must hold what it held before the operation in flight, or what it would have held
//! after it, and nothing in between; the checker must be silent; and it must go on working. Inside a transaction, only what
//! was committed may be left.

mod model;

use std::sync::atomic::{AtomicU64, Ordering};

use model::device::{TestDevice, limited_parts};
use model::{
    Atomicity, Model, Op, Outcome, Pair, TestHeap, check, configs, delta_configs, detecting_configs, from_environment,
    operations_to_mount,
};
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

/// Cuts tried so far.
#[derive(Default)]
struct Tried {
    points: AtomicU64,
    cuts: AtomicU64,
    second_cuts: AtomicU64,
    third_cuts: AtomicU64,
}

impl Tried {
    fn add(counter: &AtomicU64) -> u64 {
        counter.fetch_add(1, Ordering::Relaxed)
    }
}

/// One sequence of operations, and the cuts of each.
struct Sweep<'a> {
    seed: u64,
    width: Width,
    tried: &'a Tried,
    random: fastrand::Rng,
}

/// What a heap may hold after a cut.
struct Allowed<'a> {
    before: &'a Model,
    after: &'a Model,
    atomicity: Atomicity,
}

impl Allowed<'_> {
    /// Asserts that `found` is one of them, and returns it.
    fn admit(&self, found: Model, context: &dyn Fn() -> String) -> Model {
        let whole = found == *self.before || found == *self.after;
        let mixed = self.atomicity == Atomicity::EachElement && found.is_between(self.before, self.after);
        assert!(
            whole || mixed,
            "holds {found:?}\nwhich is neither {:?}\nnor {:?} {}",
            self.before,
            self.after,
            context()
        );
        found
    }
}

impl Sweep<'_> {
    fn run(&mut self, part: PartSpec, config: Config) {
        let mut pair = Pair::new(part, config);
        for number in 0..self.width.operations {
            let op = pair.draw(&mut self.random);
            let context = self.context(number, &op);
            let mut next = pair.clone();
            let operations = next.heap.device().operations();
            assert_ne!(next.step(&op, &context), Outcome::PowerLost);
            let operations = next.heap.device().operations() - operations;
            let after = if next.open.is_some() { &pair.committed } else { &next.committed };
            let atomicity = if next.open.is_some() { Atomicity::Whole } else { op.atomicity() };
            let allowed = Allowed { before: &pair.committed, after, atomicity };
            for cut in 0..operations {
                Tried::add(&self.tried.points);
                self.cut_at(&pair, &op, cut, &allowed, &context);
            }
            pair = next;
        }
    }

    fn context(&self, number: u64, op: &Op) -> impl Fn() -> String + use<> {
        let (seed, op) = (self.seed, format!("{op:?}"));
        move || format!("at operation {number}, {op}; replay: NORN_SEED={seed} cargo test --test power_cuts")
    }

    /// Cuts `op` at its device operation `cut` in every shape.
    fn cut_at(&mut self, pair: &Pair, op: &Op, cut: u64, allowed: &Allowed<'_>, context: &dyn Fn() -> String) {
        for tear in self.shapes(pair, op, cut) {
            let context = || format!("cut by {tear:?} at device operation {cut} {}", context());
            let device = lose_power(pair, op, cut, tear, &context);
            let number = Tried::add(&self.tried.cuts);
            if number.is_multiple_of(self.width.second_cut_period) {
                self.cut_recovery(&device, allowed, &context);
            }
            let mut heap = recover(device, allowed, &context);
            if number.is_multiple_of(5) {
                self.go_on(&mut heap, op, allowed, &context);
            }
        }
    }

    /// The shapes to try, by the number of bits that the operation changes.
    fn shapes(&mut self, pair: &Pair, op: &Op, cut: u64) -> Vec<Tear> {
        let torn = |tear| lose_power(pair, op, cut, tear, &String::new);
        let (none, all) = (torn(Tear::Nothing), torn(Tear::Complete));
        let (address, _) = none.last_torn().expect("the power was cut");
        let len = (none.spec().part.size_bytes() - address.0).min(u32::from(none.spec().word_bytes)) as usize;
        let word = |device: &TestDevice| device.peek(Address(address.0), len);
        let changed: u32 = word(&none).iter().zip(word(&all)).map(|(a, b)| (a ^ b).count_ones()).sum();
        let erase = all.erase_counts().sum::<u32>() > pair.heap.device().erase_counts().sum::<u32>()
            && address.0.is_multiple_of(none.spec().part.unit_size_bytes);
        let mut shapes = vec![Tear::Nothing, Tear::Complete];
        let bits = if self.width.all_bits && !erase { changed } else { changed.min(2) };
        let first = if bits < changed { self.random.u32(..) } else { 0 };
        shapes.extend((0..bits).map(|bit| Tear::OneBit(first.wrapping_add(bit))));
        shapes.extend((0..bits).map(|bit| Tear::AllButOneBit(first.wrapping_add(bit))));
        for _ in 0..self.width.subsets {
            let seed = self.random.u64(..);
            shapes.extend([Tear::Subset(seed), Tear::Scattered(seed)]);
            if erase {
                shapes.extend([Tear::Prefix(seed), Tear::Suffix(seed), Tear::Unstable(seed)]);
            }
        }
        shapes
    }

    /// Cuts the recovery at sampled operations, and a third time the recovery from that.
    fn cut_recovery(&mut self, device: &TestDevice, allowed: &Allowed<'_>, context: &dyn Fn() -> String) {
        let operations = operations_to_mount(device);
        let count = operations.min(self.width.second_cuts);
        for number in 0..count {
            let cut = if count == operations { number } else { self.random.u64(0..operations) };
            let tear = Tear::draw(&mut self.random);
            let second = || format!("and during recovery by {tear:?} at {cut}, {}", context());
            let device = lose_power_again(device, cut, tear, &second);
            Tried::add(&self.tried.second_cuts);
            let operations = operations_to_mount(&device);
            if operations > 0 && self.random.u8(0..4) == 0 {
                let (cut, tear) = (self.random.u64(0..operations), Tear::draw(&mut self.random));
                let third = || format!("and once more by {tear:?} at {cut}, {}", second());
                Tried::add(&self.tried.third_cuts);
                recover(lose_power_again(&device, cut, tear, &third), allowed, &third);
            }
            recover(device, allowed, &second);
        }
    }

    /// The recovered heap takes further operations: the one that was cut, if it can be done again, with another value perhaps,
    /// and some more.
    fn go_on(&mut self, heap: &mut TestHeap, cut: &Op, allowed: &Allowed<'_>, context: &dyn Fn() -> String) {
        let found = model::read_back(heap).unwrap();
        let mut pair = Pair { heap: heap.clone(), committed: allowed.admit(found, context), open: None };
        let mut again = Some(cut.clone()).filter(|op| pair.committed.can_repeat(op));
        if let Some(Op::Put { value, .. } | Op::Fill { value, .. }) = &mut again {
            value.iter_mut().for_each(|byte| *byte = self.random.u8(..));
        }
        for _ in 0..3 {
            let op = again.take().unwrap_or_else(|| pair.draw(&mut self.random));
            let context = || format!("going on with {op:?} after {}", context());
            pair.step(&op, &context);
            let visible = pair.visible().clone();
            check(&mut pair.heap, &visible, &context);
        }
    }
}

/// The device after `op` was cut.
fn lose_power(pair: &Pair, op: &Op, cut: u64, tear: Tear, context: &dyn Fn() -> String) -> TestDevice {
    let mut heap = pair.heap.clone();
    heap.device_mut().cut_power_after(cut, tear);
    let result = model::perform(&mut heap, op);
    assert!(result.is_err(), "{op:?} succeeded without power {}", context());
    let mut device = heap.into_device();
    device.power_on();
    device
}

/// The device after mounting it was cut.
fn lose_power_again(device: &TestDevice, cut: u64, tear: Tear, context: &dyn Fn() -> String) -> TestDevice {
    let mut device = device.clone();
    device.cut_power_after(cut, tear);
    assert!(Heap::<_, 64>::mount(&mut device).is_err(), "mounted without power {}", context());
    device.power_on();
    device
}

/// Mounts and compares.
fn recover(device: TestDevice, allowed: &Allowed<'_>, context: &dyn Fn() -> String) -> TestHeap {
    let mut heap = model::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
    let found = model::read_back(&mut heap).unwrap_or_else(|error| panic!("{error} {}", context()));
    let expected = allowed.admit(found, context);
    check(&mut heap, &expected, context);
    heap
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
    let tried = Tried::default();
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (tried, seeds) = (&tried, seeds.clone());
            scope.spawn(move || {
                for seed in seeds.filter(|seed| seed % 2 == worker) {
                    let mut sweep = Sweep { seed, width, tried, random: fastrand::Rng::with_seed(seed) };
                    let (part, config) = ground(seed);
                    sweep.run(part, config);
                }
            });
        }
    });
    let [points, cuts, second, third] =
        [&tried.points, &tried.cuts, &tried.second_cuts, &tried.third_cuts].map(|count| count.load(Ordering::Relaxed));
    println!("{points} cut points in {cuts} shapes, {second} cuts during recovery, {third} during recovery from those");
    assert!(points > 0 && second > 0);
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
    sweep(16..22, with_deltas, width);
}

#[test]
fn every_cut_in_every_shape_with_error_detection() {
    let width = Width { operations: 10, all_bits: true, subsets: 3, second_cut_period: 20, second_cuts: 4 };
    sweep(0..4, detecting, width);
}

#[test]
fn every_cut_of_longer_sequences() {
    sweep(
        16..32,
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

/// The supply fails again and again, during mounts and soon after them, as with a weak battery: nothing fills up, and when it
/// holds at last, all is there.
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
    let context = || format!("; replay: NORN_SEED={seed} cargo test --test power_cuts brown_outs");
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
