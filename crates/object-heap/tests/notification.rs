//! Pointers with notification: a client that keeps every pointer until it is notified never reads a stale byte,
//! whatever it does, on a mapped part and on one that is not, with room and without. And what they cost.

use crate::model;

use std::collections::BTreeSet;

use model::{Cache, Op, Outcome, Pair, TestHeap, compare, compare_pointers, configs, delta_configs};
use norn_conformance::from_environment;
use norn_flash::{Address, EraseUnit, Nor, NorPart};
use norn_flash_sim::{NorSim, SimError, Tear, catalogue};
use norn_nor_store::{TreeId, TreeRoot};
use norn_object_heap::{
    AccessError, Config, Elements, ErrorDetection, Heap, InitializationFlags, Layout, PhysicalPointer, PointerError,
    Ref, Representation, StoreError,
};

/// A simulated part that is mapped into memory: the cells' contents are in an array, too.
#[derive(Clone)]
struct Mapped {
    sim: NorSim,
    memory: Vec<u8>,
}

impl Mapped {
    fn new(sim: NorSim) -> Self {
        let memory = sim.peek(Address(0), sim.spec().part.size_bytes() as usize);
        Mapped { sim, memory }
    }

    fn refresh(&mut self, address: Address, len: usize) {
        self.memory[address.0 as usize..][..len].copy_from_slice(&self.sim.peek(address, len));
    }
}

impl Nor for Mapped {
    type Error = SimError;

    fn part(&self) -> NorPart {
        NorPart { mapped: true, ..self.sim.part() }
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), SimError> {
        self.sim.read(address, buffer)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        let programmed = self.sim.program(address, bytes);
        self.refresh(address, bytes.len());
        programmed
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), SimError> {
        let erased = self.sim.erase(unit);
        let part = self.sim.part();
        self.refresh(part.start_of(unit), part.unit_size_bytes as usize);
        erased
    }

    fn mapped(&self) -> Option<&[u8]> {
        Some(&self.memory)
    }
}

/// What random runs did.
#[derive(Debug, Default)]
struct Tally {
    operations: u32,
    refused: u32,
    pointers: u32,
    notified: usize,
}

/// Random operations of all kinds, with a client that points to much of what there is.
fn run<D: Nor<Error = SimError> + Clone>(device: D, config: Config, seed: u64, tally: &mut Tally) {
    let mut pair = Pair::on(device, config);
    let mut random = fastrand::Rng::with_seed(seed);
    for number in 0..250 {
        let mut ops = vec![pair.draw(&mut random)];
        if pair.open.is_none() {
            for (&reference, object) in &pair.committed.objects {
                let index = random.usize(0..object.fields.len());
                if random.u8(0..3) == 0 {
                    ops.insert(0, Op::Point(reference, (random.u8(0..4) > 0).then_some(index)));
                }
            }
        }
        for op in ops {
            let context = || {
                format!(
                    "after operation {number}, {op:?}; replay: NORN_SEED={seed} cargo test --test suite notification::"
                )
            };
            tally.refused += u32::from(pair.step(&op, &context) == Outcome::Refused);
            tally.operations += 1;
            let visible = pair.visible().clone();
            compare_pointers(&mut pair.heap, &visible, &context);
            if random.u8(0..8) == 0 || !matches!(op, Op::Point(..)) {
                compare(&mut pair.heap, &visible, &context);
            }
            tally.pointers += u32::from(matches!(op, Op::Point(..)));
        }
        tally.notified += std::mem::take(&mut pair.heap.listener_mut().notified).len();
        if pair.open.is_none() && random.u8(0..30) == 0 {
            pair.heap = model::mount(pair.heap.device().clone()).unwrap();
        }
    }
}

fn runs(seeds: std::ops::Range<u64>) {
    let mut tally = Tally::default();
    for seed in from_environment("NORN_SEED").map_or(seeds, |seed| seed..seed + 1) {
        let (units, unit_bytes) = [(8, 512), (6, 1024), (24, 512), (12, 2048)][seed as usize % 4];
        let sim = NorSim::new(catalogue::test_part(units, unit_bytes));
        let configs = if seed.is_multiple_of(2) { configs() } else { delta_configs() };
        let config = configs[seed as usize / 4 % 4];
        if seed / 16 % 2 == 0 {
            run(sim, config, seed, &mut tally);
        } else {
            run(Mapped::new(sim), config, seed, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.pointers > 100 && tally.notified > 100 && tally.refused * 3 < tally.operations);
}

#[test]
fn no_pointer_ever_shows_a_stale_byte() {
    runs(0..32);
}

#[test]
#[ignore = "long: a million operations"]
fn no_pointer_ever_shows_a_stale_byte_in_long_runs() {
    runs(1000..3000);
}

/// On a part that is full, with pointers to all objects: every update reclaims, and every reclamation notifies.
#[test]
fn a_full_part_notifies_of_what_it_moves() {
    for seed in 0..4 {
        let mut random = fastrand::Rng::with_seed(seed);
        let config = Config { wear_period: 4, ..Config::tinystore_2006() };
        let mut pair = Pair::new(catalogue::test_part(8, 1024), config);
        let create = Op::Create { widths: vec![4; 6], header: vec![7; 3] };
        let mut count = 0;
        while pair.step(&create, &String::new) == Outcome::Done {
            count += 1;
        }
        let objects: Vec<Ref> = pair.committed.objects.keys().copied().collect();
        objects.iter().take(count / 3).for_each(|&object| {
            assert_eq!(pair.step(&Op::Delete(object), &String::new), Outcome::Done);
        });
        let objects: Vec<Ref> = pair.committed.objects.keys().copied().collect();
        let (mut refused, mut told_of_others) = (0, 0);
        for number in 0..600 {
            let context = || format!("at operation {number} with seed {seed}");
            let changed = *random.choice(&objects).unwrap();
            let op = Op::Put { reference: changed, index: random.usize(0..6), value: vec![random.u8(..); 4] };
            refused += u32::from(pair.step(&op, &context) == Outcome::Refused);
            let model = pair.committed.clone();
            compare_pointers(&mut pair.heap, &model, &context);
            let told = std::mem::take(&mut pair.heap.listener_mut().notified);
            told_of_others += told.iter().filter(|&&reference| reference != changed).count();
            for _ in 0..3 {
                let index = random.bool().then_some(random.usize(0..6));
                let op = Op::Point(*random.choice(&objects).unwrap(), index);
                refused += u32::from(pair.step(&op, &context) == Outcome::Refused);
                compare_pointers(&mut pair.heap, &model, &context);
            }
            compare(&mut pair.heap, &model, &context);
        }
        let erases = pair.heap.device().counters().erases;
        println!("{count} objects, {erases} erases, {refused} refused, told {told_of_others} times of others");
        assert!(erases > 100 && told_of_others > 100);
    }
}

type PointerHeap = TestHeap<NorSim>;

fn heap_of(config: Config) -> PointerHeap {
    TestHeap::format_with(NorSim::new(catalogue::tinystore()), config, Cache::default()).unwrap()
}

fn is_told<T>(heap: &mut PointerHeap, of: Ref, call: impl FnOnce(&mut PointerHeap) -> T) -> bool {
    heap.listener_mut().notified.clear();
    call(heap);
    heap.listener().notified.contains(&of)
}

fn has_no_notes(heap: &PointerHeap) -> bool {
    heap.store().tree(TreeId::Notify) == TreeRoot::default()
}

fn bytes_at(heap: &PointerHeap, pointer: PhysicalPointer) -> Vec<u8> {
    heap.device().peek(pointer.address, pointer.len)
}

type Call = fn(&mut PointerHeap, Ref);

#[test]
fn whatever_changes_an_object_notifies_once() {
    let mut heap = heap_of(Config { list_length_max: 4, ..Config::default() });
    let layout = Layout::uniform(5, 2).with_header(b"type");
    let (object, other) = (heap.create(layout).unwrap(), heap.create(layout).unwrap());
    let calls: [(&str, Call); 6] = [
        ("an update", |heap, object| heap.put_field(object, 3, &[1, 2]).unwrap()),
        ("an update in a transaction", |heap, object| {
            heap.begin().unwrap();
            heap.put_field(object, 0, &[3, 4]).unwrap();
        }),
        ("a header", |heap, object| heap.write_header(object, b"another").unwrap()),
        ("a representation", |heap, object| heap.set_representation(object, Representation::ReadOptimized).unwrap()),
        ("a header that ends", |heap, object| heap.write_header(object, b"").unwrap()),
        ("a deletion", |heap, object| heap.delete(object).unwrap()),
    ];
    for (name, call) in calls {
        heap.field_pointer(object, 1).unwrap();
        heap.field_pointer(other, 1).unwrap();
        assert!(!is_told(&mut heap, object, |heap| heap.put_field(other, 1, &[5, 5]).unwrap()), "{name}: not its own");
        assert!(is_told(&mut heap, object, |heap| call(heap, object)), "{name}");
        if heap.in_transaction() {
            assert!(!is_told(&mut heap, object, |heap| heap.put_field(object, 0, &[6, 4]).unwrap()), "told already");
            assert_eq!(heap.field_pointer(object, 0), Err(PointerError::TransactionOpen));
            heap.abort().unwrap();
        }
        assert!(has_no_notes(&heap), "{name}: the last pointer takes the tree away");
    }
}

#[test]
fn a_header_is_not_its_objects_values() {
    let mut heap = heap_of(Config::default());
    let object = heap.create(Layout::fields(&[4, 2, 1]).with_header(b"class 7")).unwrap();
    let pointer = heap.header_pointer(object).unwrap().unwrap();
    assert_eq!(bytes_at(&heap, pointer), b"class 7");
    // Fill the unit up, so that the values are in another one than the header.
    let filler: Vec<Ref> = (0..120).map(|_| heap.create(Layout::uniform(60, 1)).unwrap()).collect();
    for value in 0..3 {
        heap.put_field(object, 0, &[value; 4]).unwrap();
    }
    assert_eq!(heap.header_pointer(object).unwrap(), Some(pointer), "a header stays where it is when values change");
    let values = heap.field_pointer(object, 0).unwrap();
    assert_eq!(bytes_at(&heap, values), [2, 2, 2, 2, 0, 0, 0], "the fields behind it, default values among them");
    let unit = |address: Address| address.0 / heap.device().spec().part.unit_size_bytes;
    assert_ne!(unit(values.address), unit(pointer.address));
    assert!(is_told(&mut heap, object, |heap| heap.put_field(object, 2, &[1]).unwrap()));
    assert!(!is_told(&mut heap, object, |heap| heap.put_field(object, 2, &[2]).unwrap()));
    assert!(!has_no_notes(&heap), "the header's note stands");
    assert!(is_told(&mut heap, object, |heap| heap.write_header(object, b"class 8").unwrap()));
    assert!(has_no_notes(&heap));
    let none = filler[0];
    assert_eq!(heap.header_pointer(none), Ok(None));
    assert!(has_no_notes(&heap));
}

#[test]
fn sections_of_an_array_are_told_apart_by_their_units() {
    let mut heap = heap_of(Config::default());
    let array = heap.create_array(20_000, 2, b"samples").unwrap();
    let to = Elements { array, first: 0, count: 20_000 };
    heap.array_fill_non_atomic(to, &[1, 2]).unwrap();
    let (first, last) = (heap.array_pointer(array, 10).unwrap(), heap.array_pointer(array, 19_990).unwrap());
    assert_eq!((first.len, last.len), (2 * 245, 2 * 10), "to the end of the section, and of the array");
    assert_eq!(bytes_at(&heap, last), [1, 2].repeat(10));
    assert!(!is_told(&mut heap, array, |heap| heap.array_store(array, 9_000, &[9, 9]).unwrap()), "no pointer there");
    assert!(is_told(&mut heap, array, |heap| heap.array_store(array, 250, &[9, 9]).unwrap()));
    assert!(!has_no_notes(&heap), "the other section's note stands");
    assert!(is_told(&mut heap, array, |heap| heap.array_copy(Elements { array, first: 0, count: 9 }, (array, 19_980))));
    assert!(has_no_notes(&heap));
    for index in [0, 5_000, 10_000, 15_000] {
        heap.array_pointer(array, index).unwrap();
    }
    assert!(is_told(&mut heap, array, |heap| heap.collect(&[], |_, _| Ok(())).unwrap()));
    assert!(has_no_notes(&heap), "a deleted array is in no bucket");
}

#[test]
fn an_aborted_transaction_leaves_no_note_behind() {
    let mut heap = heap_of(Config::default());
    let object = heap.create(Layout::uniform(2, 4)).unwrap();
    let before = heap.field_pointer(object, 0).unwrap();
    heap.begin().unwrap();
    assert!(is_told(&mut heap, object, |heap| heap.delete(object).unwrap()));
    assert!(!has_no_notes(&heap), "the bucket is empty, and leaves the tree at the end");
    heap.abort().unwrap();
    assert!(has_no_notes(&heap));
    assert_eq!(heap.field_pointer(object, 0).unwrap(), before, "the old representation is back");
}

/// On a device that fails, it is unknown what a call has moved: all pointers end.
#[test]
fn a_failing_device_ends_all_pointers() {
    let mut held = 0;
    for cut in (0..3000).step_by(11) {
        let mut pair = Pair::new(catalogue::test_part(8, 512), Config { wear_period: 1, ..Config::default() });
        let context = || format!("cut at {cut}");
        while pair.step(&Op::Create { widths: vec![2; 4], header: vec![] }, &context) == Outcome::Done {}
        let objects: Vec<Ref> = pair.committed.objects.keys().copied().collect();
        objects[..6].iter().for_each(|&object| assert_eq!(pair.step(&Op::Delete(object), &context), Outcome::Done));
        let put = |value| Op::Put { reference: objects[7], index: 0, value: vec![value; 2] };
        let points = objects[6..].iter().map(|&object| Op::Point(object, Some(0)));
        let round: Vec<Op> = points.chain((0..4).map(put)).collect();
        pair.heap.device_mut().cut_power_after(cut, Tear::Nothing);
        let mut random = fastrand::Rng::with_seed(cut);
        let before = loop {
            let pointers = pair.heap.listener().pointers.len();
            if pair.step(random.choice(&round).unwrap(), &context) == Outcome::PowerLost {
                break pointers;
            }
        };
        held += before;
        assert!(pair.heap.listener().pointers.is_empty(), "{before} pointers before, {}", context());
    }
    println!("{held} pointers ended");
    assert!(held > 500);
}

#[test]
fn without_a_listener_there_are_no_pointers() {
    let mut heap: Heap<NorSim, 64> = Heap::format(NorSim::new(catalogue::tinystore()), Config::default()).unwrap();
    let object = heap.create(Layout::uniform(3, 2).with_header(b"head")).unwrap();
    assert_eq!(heap.field_pointer(object, 0), Err(PointerError::NoListener));
    assert_eq!(heap.header_pointer(object), Err(PointerError::NoListener));
}

#[test]
fn wrong_and_impossible_pointers() {
    let mut heap = heap_of(Config::default());
    let object = heap.create(Layout::uniform(2, 4)).unwrap();
    let beyond = AccessError::OutOfRange { count: 2 };
    assert_eq!(heap.field_pointer(object, 2), Err(PointerError::Access(beyond)));
    assert_eq!(heap.array_pointer(object, 0), Err(PointerError::Access(AccessError::WrongKind(object))));
    heap.begin().unwrap();
    assert_eq!(heap.field_pointer(object, 0), Err(PointerError::TransactionOpen));
    assert_eq!(heap.header_pointer(object), Err(PointerError::TransactionOpen));
    heap.abort().unwrap();
    heap.delete(object).unwrap();
    assert_eq!(heap.field_pointer(object, 0), Err(PointerError::Access(AccessError::Stale(object))));
    assert_eq!(heap.header_pointer(object), Err(PointerError::Access(AccessError::Stale(object))));
    assert!(has_no_notes(&heap));
}

/// Without room for a bucket there is no pointer, and nothing is lost; deleting makes room.
#[test]
fn a_part_without_room_refuses_pointers() {
    let mut pair = Pair::new(catalogue::test_part(8, 512), Config::default());
    let context = String::new;
    while pair.step(&Op::Create { widths: vec![1], header: vec![] }, &context) == Outcome::Done {}
    let objects: Vec<Ref> = pair.committed.objects.keys().copied().collect();
    // Lists that grow take the rest of what is given out for anything but replacing.
    for &reference in &objects {
        for value in 1..3 {
            let op = Op::Put { reference, index: 0, value: vec![value] };
            assert_eq!(pair.step(&op, &context), Outcome::Done);
        }
    }
    let refused = pair.heap.field_pointer(objects[0], 0);
    assert!(matches!(refused, Err(PointerError::Access(AccessError::Store(StoreError::Full)))), "{refused:?}");
    let model = pair.committed.clone();
    compare(&mut pair.heap, &model, &context);
    assert_eq!(pair.heap.store().tree(TreeId::Notify), TreeRoot::default());
    for &object in &objects[1..9] {
        assert_eq!(pair.step(&Op::Delete(object), &context), Outcome::Done);
    }
    pair.heap.field_pointer(objects[0], 0).unwrap();
    let model = pair.committed.clone();
    compare(&mut pair.heap, &model, &context);
}

/// Many pointers into one unit: the bucket grows, names each object once, and is worth the place of one object or two.
#[test]
fn a_bucket_grows_and_shrinks() {
    let mut heap = heap_of(Config::default());
    let objects: Vec<Ref> = (0..100).map(|_| heap.create(Layout::uniform(4, 1)).unwrap()).collect();
    for _ in 0..2 {
        for &object in &objects {
            heap.field_pointer(object, 0).unwrap();
        }
    }
    let mut collected = model::HeapCollected::default();
    heap.audit(&mut collected).unwrap();
    assert!(collected.violations.is_empty(), "{:?}", collected.violations);
    // Pointers come and go a thousand times; the bucket is written anew now and then.
    for round in 0..1000 {
        heap.put_field(objects[round % 7], 0, &[round as u8]).unwrap();
        heap.field_pointer(objects[round % 7], 0).unwrap();
    }
    let mut store = heap.store().clone();
    let (mut from, mut bytes) = (0, Vec::new());
    let root = store.tree(TreeId::Notify);
    while let Some((unit, bucket)) = store.trees().next(root, from).unwrap() {
        bytes.push(store.sectors().get(bucket).unwrap().bytes);
        from = unit + 1;
    }
    println!("buckets of {bytes:?} bytes for 100 pointers");
    assert!(bytes.iter().sum::<u32>() <= 4 * 100 * 2 + 32 * bytes.len() as u32);
    for &object in &objects {
        heap.put_field(object, 0, &[1]).unwrap();
    }
    assert!(has_no_notes(&heap));
}

#[test]
fn what_pointers_cost() {
    let cost = |heap: &mut PointerHeap, call: &mut dyn FnMut(&mut PointerHeap)| {
        let before = heap.device().counters();
        call(heap);
        let counters = heap.device().counters() - before;
        (counters.reads(), counters.programs())
    };
    let mut heap = heap_of(Config { initialization_flags: InitializationFlags::On, ..Config::default() });
    let objects: Vec<Ref> = (0..200).map(|_| heap.create(Layout::uniform(50, 2)).unwrap()).collect();
    for (at, &object) in objects.iter().enumerate() {
        (0..50).for_each(|index| heap.put_field(object, index, &[at as u8, 1]).unwrap());
    }
    let object = objects[100];
    let mut table = Vec::new();
    table.push(("get_field", cost(&mut heap, &mut |heap| heap.get_field(object, 7, &mut [0; 2]).unwrap())));
    table.push((
        "an update, no pointers at all",
        cost(&mut heap, &mut |heap| heap.put_field(objects[151], 7, &[1, 2]).unwrap()),
    ));
    table.push(("first pointer on the part", cost(&mut heap, &mut |heap| _ = heap.field_pointer(object, 7).unwrap())));
    table.push(("the same again", cost(&mut heap, &mut |heap| _ = heap.field_pointer(object, 7).unwrap())));
    let pointer = heap.field_pointer(object, 7).unwrap();
    table.push((
        "a read through it",
        cost(&mut heap, &mut |heap| heap.device_mut().read(pointer.address, &mut [0; 2]).unwrap()),
    ));
    let next = objects[101];
    table.push(("one more into the unit", cost(&mut heap, &mut |heap| _ = heap.field_pointer(next, 7).unwrap())));
    table.push(("an update that notifies", cost(&mut heap, &mut |heap| heap.put_field(next, 7, &[1, 2]).unwrap())));
    table.push((
        "an update, pointers to others",
        cost(&mut heap, &mut |heap| heap.put_field(objects[150], 7, &[1, 2]).unwrap()),
    ));
    table.push(("a pointer that compacts", cost(&mut heap, &mut |heap| _ = heap.field_pointer(next, 7).unwrap())));
    table.push((
        "an update that notifies again",
        cost(&mut heap, &mut |heap| heap.put_field(next, 7, &[1, 2]).unwrap()),
    ));
    table.push(("the last one's update", cost(&mut heap, &mut |heap| heap.put_field(object, 7, &[1, 2]).unwrap())));
    assert!(has_no_notes(&heap));
    let (_, programs) = cost(&mut heap, &mut |heap| {
        // Except those that were updated.
        objects[..100].iter().for_each(|&object| {
            let pointer = heap.field_pointer(object, 0).unwrap();
            heap.listener_mut().pointers.insert((object, Some(0)), pointer);
        });
    });
    let units: BTreeSet<u32> = heap.listener().pointers.values().map(|pointer| pointer.address.0 / 8192).collect();
    let units = units.len();
    let before = heap.device().counters();
    let mounted = model::mount(heap.into_device()).unwrap();
    let counters = mounted.device().counters() - before;
    table.push(("a mount that forgets them", (counters.reads(), counters.programs())));
    for (name, (reads, programs)) in &table {
        println!("{name:32} {reads:4} reads {programs:4} words programmed");
    }
    println!("100 pointers into {units} units       {:.2} words programmed each", programs as f64 / 100.0);
    let of = |name: &str| table.iter().find(|(found, _)| *found == name).unwrap().1;
    assert_eq!(of("a read through it").0, 1);
    assert_eq!((of("the same again").1, of("one more into the unit").1), (0, 1));
    assert!(of("first pointer on the part").1 <= 1 + 18);
    assert!(programs <= 100 * 4, "{programs} words for 100 pointers");
}

/// Units that moved before there were pointers are no news: the first pointer is noted at once.
#[test]
fn moves_of_the_time_before_are_forgotten() {
    let mut quiet = 0;
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(catalogue::test_part(8, 1024), Config::default());
        let context = || format!("with seed {seed}");
        let create = Op::Create { widths: vec![4; 6], header: vec![] };
        (0..20).for_each(|_| assert_eq!(pair.step(&create, &context), Outcome::Done));
        let objects: Vec<Ref> = pair.committed.objects.keys().copied().collect();
        while pair.heap.device().counters().erases < 60 {
            let reference = *random.choice(&objects).unwrap();
            pair.step(&Op::Put { reference, index: random.usize(0..6), value: vec![random.u8(..); 4] }, &context);
        }
        let erases = pair.heap.device().counters().erases;
        pair.heap.field_pointer(objects[3], 0).unwrap();
        if pair.heap.device().counters().erases == erases {
            quiet += 1;
            assert_eq!(pair.heap.listener().notified, [], "{}", context());
        }
    }
    assert!(quiet > 20);
}

#[test]
fn a_pointer_to_defaults_programs_them() {
    let mut heap =
        PointerHeap::format_with(NorSim::new(catalogue::tinystore()), Config::default(), Cache::default()).unwrap();
    let array = heap.create_array(21, 3, b"").unwrap();
    heap.array_store(array, 9, &[1, 2, 3]).unwrap();
    let pointer = heap.array_pointer(array, 0).unwrap();
    let mut expected = vec![0; 63];
    expected[27..30].copy_from_slice(&[1, 2, 3]);
    assert_eq!(heap.device().peek(pointer.address, pointer.len), expected);
    let mut whole = vec![0xFF; 63];
    heap.array_read(array, 0, &mut whole).unwrap();
    assert_eq!(whole, expected);
}

/// With error detection no flipped bit keeps a client from hearing of an update: it is notified, or the update fails.
#[test]
fn a_flipped_bit_hides_no_update() {
    let config = Config { error_detection: ErrorDetection::On, ..Config::default() };
    let mut heap =
        PointerHeap::format_with(NorSim::new(catalogue::test_part(12, 512)), config, Cache::default()).unwrap();
    let objects = [2, 3].map(|count| heap.create(Layout::uniform(count, 2)).unwrap());
    heap.put_field(objects[0], 0, &[1, 2]).unwrap();
    for object in objects {
        heap.field_pointer(object, 0).unwrap();
    }
    let (mut told, mut failed) = (0, 0);
    for at in 0..12 * 512u32 {
        let byte = heap.device().peek(Address(at), 1)[0];
        for bit in (0..8).filter(|_| byte != 0xFF) {
            let mut damaged = heap.clone();
            damaged.device_mut().poke(Address(at), &[byte ^ 1 << bit]);
            let updated = damaged.put_field(objects[1], 0, &[3, 4]);
            let heard = damaged.listener().notified.contains(&objects[1]);
            assert!(heard || updated.is_err(), "bit {bit} at {at:#x}: {updated:?}, and nobody was told");
            (told, failed) = (told + u32::from(heard), failed + u32::from(updated.is_err()));
        }
    }
    println!("told {told} times, failed {failed} times");
    assert!(told > 1000 && failed > 100, "{told}, {failed}");
}
