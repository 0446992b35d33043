//! No call takes more device operations than its derived worst case (`docs/design/worst-cases.md`), and with room that
//! was reclaimed ahead of time no update erases.

use crate::model;

use model::{ModelObject, Op, Outcome, Pair, check, configs, delta_configs};
use norn_conformance::from_environment;
use norn_flash_sim::{Counters, NorSim, catalogue};
use norn_object_heap::{Config, Heap, Layout, Ref, Representation};

/// Levels of the REF tree, of the name tree, and of an array's, on the parts of these tests at most.
const REF_LEVELS: u64 = 3;
const NAME_LEVELS: u64 = 2;
const ARRAY_LEVELS: u64 = 2;
/// Programs of a move beside the data: move, assignment, erase, identity.
const MOVE_PROGRAMS: u64 = 2 + 2 + 2 + 4;
/// Programs of a new log unit: assignment, head, and the erase of the old one.
const LOG_UNIT_PROGRAMS: u64 = 2 + 2 * 9 + 2 + 4;

/// What one operation may do at most.
#[derive(Clone, Copy, Default)]
struct Work {
    /// Sectors that it allocates.
    allocations: u64,
    /// Bytes of those, their descriptors included.
    bytes: u64,
    /// Sectors that it frees.
    freed: u64,
    /// Single programs beside those: flags, slots and links.
    others: u64,
}

impl Work {
    fn sectors(sizes: &[u64]) -> Work {
        let bytes = sizes.iter().map(|size| size + 4).sum();
        Work { allocations: sizes.len() as u64, bytes, ..Work::default() }
    }

    fn nodes(count: u64) -> Work {
        Work { freed: count, ..Work::times(Work::sectors(&[96]), count) }
    }

    fn times(self, count: u64) -> Work {
        Work {
            allocations: self.allocations * count,
            bytes: self.bytes * count,
            freed: self.freed * count,
            others: self.others * count,
        }
    }

    fn and(self, other: Work) -> Work {
        Work {
            allocations: self.allocations + other.allocations,
            bytes: self.bytes + other.bytes,
            freed: self.freed + other.freed,
            others: self.others + other.others,
        }
    }
}

/// A list of records that is replaced by another with one record: `elements` of `width` bytes.
fn rewrite(elements: u64, width: u64, config: &Config) -> Work {
    let flags = elements.div_ceil(8);
    let new = Work::sectors(&[4 + flags + 3 + elements * width, 20 + flags]);
    new.and(Work { freed: 1 + u64::from(config.list_length_max), others: 8, ..Work::default() })
}

/// A record added to a list, or a slot filled in one, for each element.
fn updates(elements: u64, width: u64, config: &Config) -> Work {
    let in_place = Work { others: 2 * width + 8, ..Work::default() };
    let section = u64::from(config.array_threshold).min(elements);
    rewrite(section, width, config).and(in_place.times(elements))
}

fn sections(count: u64, config: &Config) -> u64 {
    count.div_ceil(u64::from(config.array_threshold)) + 1
}

fn worst(op: &Op, object: Option<&ModelObject>, config: &Config) -> Work {
    let ref_path = Work::nodes(REF_LEVELS + 1);
    let array_path = Work::nodes(ARRAY_LEVELS + 1).and(Work::sectors(&[20])).and(Work { freed: 1, ..Work::default() });
    let data = object.map_or(0, |object| object.fields.iter().map(|field| field.len() as u64).sum());
    let count = object.map_or(0, |object| object.fields.len() as u64);
    let whole = |count: u64, width: u64| {
        // Whether split or not: the list of each section, the array's tree, its descriptor, and the path to that.
        let list = rewrite(u64::from(config.array_threshold).max(20).min(count), width, config);
        list.times(sections(count, config)).and(array_path).and(Work::nodes(sections(count, config) / 8)).and(ref_path)
    };
    match op {
        Op::Create { widths, header } => {
            let data = widths.iter().map(|&width| u64::from(width)).sum();
            let header = Work::sectors(&[4 + widths.len() as u64 + header.len() as u64]);
            rewrite(data, 1, config).and(header).and(ref_path)
        }
        Op::CreateArray { count, width, header } => {
            let header = Work::sectors(&[4 + header.len() as u64]);
            whole(*count as u64, u64::from(*width)).and(header)
        }
        Op::Delete(_) => {
            let sectors = sections(count, config) * (2 + u64::from(config.list_length_max) + 1) + 2;
            ref_path.and(Work { freed: sectors, ..Work::default() })
        }
        Op::Put { .. } => {
            rewrite(data, 1, config).and(array_path).and(ref_path).and(Work { others: 80, ..Work::default() })
        }
        Op::WriteHeader(_, header) => {
            let header = Work::sectors(&[4 + count + header.len() as u64]).and(Work { freed: 1, ..Work::default() });
            rewrite(data, 1, config).and(header).and(array_path).and(ref_path)
        }
        Op::SetRepresentation(..) | Op::Copy { .. } | Op::PutMany { .. } => whole(count, data / count.max(1)),
        Op::Fill { to, .. } => {
            let chunks = to.count as u64 + 1;
            updates(1, data / count.max(1), config).and(array_path).and(ref_path).times(chunks)
        }
        Op::SetRoot(name, _) => {
            let root = Work::sectors(&[5 + name.len() as u64]);
            root.and(Work::nodes(NAME_LEVELS + 1)).and(Work { freed: 1, ..Work::default() })
        }
        Op::ReclaimStep { .. } => Work { allocations: 1, ..Work::default() },
        Op::Collect { .. } | Op::Point(..) | Op::Begin | Op::Commit | Op::Abort => Work::default(),
    }
}

/// Erases and words programmed of an operation at most, where no scratch unit waits to be erased.
fn bound(work: &Work, unit_bytes: u64, config: &Config) -> (u64, u64) {
    // An entry for each sector allocated, filled in, and two sectors freed; roots and the commit.
    let entries = 2 * work.allocations + work.freed + work.others + 6;
    let log_units = 1 + u64::from(config.log_units) + entries / (unit_bytes / 8 - 40);
    let moves = work.allocations + 1;
    let own = work.bytes.div_ceil(2) + work.allocations * 4 + 2 * work.freed + work.others + 2 * entries;
    (moves + log_units, moves * (unit_bytes / 4 + MOVE_PROGRAMS) + log_units * LOG_UNIT_PROGRAMS + own)
}

#[test]
fn no_operation_exceeds_its_worst_case() {
    let seeds = from_environment("NORN_SEED").map_or(0..12, |seed| seed..seed + 1);
    stay_within_bounds(seeds, 2_000);
}

#[test]
#[ignore = "long: two million operations"]
fn no_operation_of_many_exceeds_its_worst_case() {
    stay_within_bounds(0..100, 20_000);
}

fn stay_within_bounds(seeds: std::ops::Range<u64>, operations: u64) {
    let mut worst_seen = Counters::default();
    for seed in seeds {
        let unit_bytes = [1024, 2048, 4096][seed as usize % 3];
        let configs = if seed.is_multiple_of(2) { configs() } else { delta_configs() };
        let config = configs[seed as usize / 3 % 4];
        let mut pair = Pair::new(catalogue::test_part([9, 14][seed as usize / 2 % 2], unit_bytes), config);
        let mut random = fastrand::Rng::with_seed(seed);
        for number in 0..operations {
            let op = pair.draw(&mut random);
            // Collections leave scratch units, which cost an erase each; pointers are notified of moves; transactions
            // are as large as one likes.
            if matches!(op, Op::Collect { .. } | Op::Point(..) | Op::Begin) {
                continue;
            }
            let object = match &op {
                Op::Delete(reference)
                | Op::Put { reference, .. }
                | Op::PutMany { reference, .. }
                | Op::WriteHeader(reference, _)
                | Op::SetRepresentation(reference, _) => pair.committed.objects.get(reference),
                Op::Fill { to, .. } => pair.committed.objects.get(&to.array),
                Op::Copy { to, .. } => pair.committed.objects.get(&to.0),
                _ => None,
            };
            let (erases, programs) = bound(&worst(&op, object, &config), u64::from(unit_bytes), &config);
            let before = pair.heap.device().counters();
            let context =
                || format!("operation {number}; replay: NORN_SEED={seed} cargo test --test suite bounded_work::");
            assert_ne!(pair.step(&op, &context), Outcome::PowerLost);
            let cost = pair.heap.device().counters() - before;
            assert!(
                cost.erases <= erases && cost.programs() <= programs,
                "{op:?} took {cost}: more than {erases} erases or {programs} programs; {}",
                context()
            );
            if (cost.erases, cost.programs()) > (worst_seen.erases, worst_seen.programs()) {
                worst_seen = cost;
            }
        }
        let committed = pair.committed.clone();
        check(&mut pair.heap, &committed, &|| format!("at the end of seed {seed}"));
    }
    println!("the most expensive operation: {worst_seen}");
    assert!(worst_seen.erases > 1, "the heap was never under pressure");
}

/// A heap that is two thirds full of live data, with its lists as long as they may be.
fn used_heap(random: &mut fastrand::Rng) -> (Heap<NorSim, 64>, Vec<Ref>) {
    let config = Config { wear_period: 16, ..Config::tinystore_2006() };
    let mut heap: Heap<NorSim, 64> = Heap::format(NorSim::new(catalogue::test_part(24, 4096)), config).unwrap();
    let mut objects = Vec::new();
    while heap.store().room_bytes() > 24 * 4096 * 45 / 100 {
        objects.push(heap.create(Layout::uniform(20, 2)).unwrap());
    }
    for _ in 0..20 * objects.len() {
        heap.put_field(*random.choice(&objects).unwrap(), random.usize(0..20), &[random.u8(..); 2]).unwrap();
    }
    assert!(heap.store().used_bytes() * 100 / (24 * 4096) >= 65);
    (heap, objects)
}

#[test]
fn with_a_reserve_no_update_erases() {
    let mut random = fastrand::Rng::with_seed(1);
    let (mut heap, objects) = used_heap(&mut random);
    let (mut steps, mut without) = (0, 0);
    for number in 0..30_000 {
        while heap.ready_bytes() < 4096 {
            let before = heap.device().counters();
            assert!(heap.reclaim_step(200).unwrap(), "update {number}: nothing to reclaim");
            let cost = heap.device().counters() - before;
            assert_eq!(cost.erases, 1, "{cost}");
            assert!(cost.programs() <= 1024 + MOVE_PROGRAMS + 4, "{cost}");
            steps += 1;
        }
        // The log wants its half, too.
        if number % 100 == 0 {
            heap.reclaim_step(u32::MAX).unwrap();
        }
        let before = heap.device().counters().erases;
        heap.put_field(*random.choice(&objects).unwrap(), random.usize(0..20), &[random.u8(..); 2]).unwrap();
        without += u64::from(heap.device().counters().erases > before);
    }
    assert!(steps > 100, "{steps} steps");
    assert_eq!(without, 0, "updates that erased");
}

#[test]
fn a_step_that_wins_too_little_or_comes_inside_a_transaction_does_nothing() {
    let mut heap: Heap<NorSim, 64> =
        Heap::format(NorSim::new(catalogue::test_part(12, 2048)), Config::default()).unwrap();
    let object = heap.create(Layout::uniform(20, 2).with_representation(Representation::ReadOptimized)).unwrap();
    for value in 0..20 {
        heap.put_field(object, 0, &[value; 2]).unwrap();
    }
    let before = heap.device().counters();
    assert_eq!(heap.reclaim_step(100_000), Ok(false));
    heap.begin().unwrap();
    heap.put_field(object, 0, &[77; 2]).unwrap();
    assert_eq!(heap.reclaim_step(1), Ok(false));
    heap.abort().unwrap();
    assert_eq!((heap.device().counters() - before).erases, 0);
    assert_eq!(heap.reclaim_step(100), Ok(true));
    assert_eq!((heap.device().counters() - before).erases, 1);
    let mut value = [0; 2];
    heap.get_field(object, 0, &mut value).unwrap();
    assert_eq!(value, [19; 2]);
}
