//! Pointers with notification, on each engine that has them, by their trait alone: a client that keeps every pointer
//! until it is notified of its end never reads a stale byte, whatever is called, also on a part that is full and in
//! steady state, and after power cuts. And what reading through a pointer saves.

use crate::model;

use model::{Failure, Models, contents, draw, perform, settle_refusal};
use norn_conformance::seeds;
use norn_flash::{Address, Nor};
use norn_flash_sim::{NorSim, Tear, catalogue};
use norn_heap::{Kind, Layout, Listener, PhysicalPointer, PhysicalPointers, PointerError, Ref, StoreError};
use norn_log_heap::{ErrorDetection, LogHeap};
use norn_object_heap::{Config, Heap};

const REPLAY: &str = "-p norn-heap --test suite pointers::";

/// What a client points to: the values of an object or array from this index on, or its header.
type Target = (Ref, Option<usize>);

/// A client that keeps pointers, and forgets them by the rule of `Listener` alone.
#[derive(Clone, Debug, Default)]
struct Client {
    pointers: Vec<(Target, PhysicalPointer)>,
    /// Of how many pointers it was notified in time.
    ended: usize,
    /// How often all ended.
    all_ended: usize,
}

impl Listener for Client {
    fn invalidated(&mut self, reference: Ref) {
        let before = self.pointers.len();
        self.pointers.retain(|(_, pointer)| pointer.notified != reference);
        self.ended += before - self.pointers.len();
    }

    fn all_invalidated(&mut self) {
        self.pointers.clear();
        self.all_ended += 1;
    }
}

/// A heap whose part can be read beside it.
trait OnFlash: PhysicalPointers<Listener = Client> {
    fn device(&mut self) -> &mut NorSim;
    fn mount_again(&mut self);
}

type Log = LogHeap<NorSim, 64, Client>;
type TinyStore = Heap<NorSim, 64, Client>;

impl OnFlash for Log {
    fn device(&mut self) -> &mut NorSim {
        self.device_mut()
    }

    fn mount_again(&mut self) {
        self.remount().unwrap();
    }
}

impl OnFlash for TinyStore {
    fn device(&mut self) -> &mut NorSim {
        self.device_mut()
    }

    fn mount_again(&mut self) {
        self.remount().unwrap();
    }
}

fn log_heap(seed: u64) -> Log {
    let parts = [catalogue::test_part(24, 2048), catalogue::test_part(16, 4096), catalogue::nrf52840()];
    let mut part = parts[seed as usize % 3].clone();
    part.part.unit_count = part.part.unit_count.min(24);
    let mut heap = LogHeap::format_with(NorSim::new(part), Client::default()).unwrap();
    if seed % 2 == 1 {
        heap.reformat(ErrorDetection::On).unwrap();
    }
    heap
}

fn tinystore(seed: u64) -> TinyStore {
    let part = [catalogue::test_part(24, 2048), catalogue::test_part(16, 4096)][seed as usize % 2].clone();
    let config = [Config::default(), Config::tinystore_2006()][seed as usize / 2 % 2];
    Heap::format_with(NorSim::new(part), config, Client::default()).unwrap()
}

/// Makes a pointer, and keeps it.
fn point<H: OnFlash>(heap: &mut H, (reference, index): Target) -> Result<(), PointerError<H::DeviceError>> {
    let pointer = match (index, heap.info(reference).unwrap().kind) {
        (None, _) => heap.header_pointer(reference)?,
        (Some(index), Kind::Object) => Some(heap.field_pointer(reference, index)?),
        (Some(index), Kind::Array) => Some(heap.array_pointer(reference, index)?),
    };
    let client = heap.listener_mut();
    client.pointers.retain(|&(other, _)| other != (reference, index));
    client.pointers.extend(pointer.map(|pointer| ((reference, index), pointer)));
    Ok(())
}

fn read<H: OnFlash>(heap: &mut H, address: Address, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    heap.device().read(address, &mut bytes).unwrap();
    bytes
}

/// Checks that each pointer shows what the model holds.
fn compare<H: OnFlash>(heap: &mut H, models: &Models, context: &dyn Fn() -> String) {
    for ((reference, index), pointer) in heap.listener_mut().pointers.clone() {
        let Some(object) = models.now().objects.get(&reference) else {
            panic!("a pointer to {reference}, which is not there, {}", context());
        };
        let least = index.map_or(1, |index| object.fields[index].len());
        let expected = index.map_or(object.header.clone(), |index| object.fields[index..].concat());
        let found = read(heap, pointer.address, pointer.len);
        assert!(
            found.len() >= least && expected[..found.len()] == found,
            "{pointer:?} to {index:?} of {reference} shows {found:?}\ninstead of {expected:?}, {}",
            context()
        );
    }
}

/// Points to some of what there is.
fn point_somewhere<H: OnFlash>(
    heap: &mut H,
    models: &Models,
    random: &mut fastrand::Rng,
    context: &dyn Fn() -> String,
) {
    for (&reference, object) in &models.now().objects {
        if random.u8(..3) > 0 {
            continue;
        }
        let index = (random.u8(..4) > 0).then(|| random.usize(..object.fields.len()));
        match point(heap, (reference, index)) {
            Ok(()) => assert!(models.open.is_none(), "a pointer within a transaction, {}", context()),
            Err(PointerError::TransactionOpen) => assert!(models.open.is_some(), "{}", context()),
            Err(error) => panic!("{error:?}, {}", context()),
        }
    }
}

/// Random calls and pointers; now and then the power fails, at any operation of a call, or the heap is mounted again.
fn no_stale_byte<H: OnFlash>(engine: &str, format: impl Fn(u64) -> H) {
    let (mut ended, mut cuts) = (0, 0);
    for run in seeds(0..8, REPLAY) {
        let mut random = run.random();
        let (mut heap, mut models) = (format(run.seed), Models::default());
        for number in 0..500 {
            let call = draw(&models, &mut random);
            let context = || format!("{engine}, call {number}, {call:?}; replay: {}", run.replay());
            point_somewhere(&mut heap, &models, &mut random, &context);
            compare(&mut heap, &models, &context);
            if random.u8(..6) == 0 {
                heap.device().cut_power_after(random.u64(..30), Tear::Prefix(random.u64(..)));
            }
            let made = perform(&mut heap, &call);
            heap.device().cut_power_after(u64::MAX, Tear::Nothing);
            match made {
                Ok(created) => models.change(&call, created),
                Err(Failure::Full) => settle_refusal(&mut heap, &mut models, &call),
                Err(_) => {
                    heap.device().power_on();
                    heap.mount_again();
                    assert!(heap.listener_mut().pointers.is_empty(), "pointers outlive a mount, {}", context());
                    // Whether the call took effect is for other tests to check.
                    models = Models { committed: contents(&mut heap), open: None };
                    cuts += 1;
                }
            }
            compare(&mut heap, &models, &context);
            if number % 60 == 59 {
                heap.mount_again();
                models.open = None;
                assert!(heap.listener_mut().pointers.is_empty(), "pointers outlive a mount, {}", context());
            }
        }
        ended += heap.listener_mut().ended;
    }
    println!("{engine}: {ended} pointers ended, {cuts} cuts");
    assert!(ended > 1000 && cuts > 50, "{engine}: {ended} pointers ended, {cuts} cuts");
}

#[test]
fn the_log_structured_heap_never_shows_a_stale_byte() {
    no_stale_byte("log", log_heap);
}

#[test]
fn tinystores_structure_never_shows_a_stale_byte() {
    no_stale_byte("tinystore", tinystore);
}

/// To what a client keeps pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    None,
    /// To what is not updated.
    Cold,
    All,
}

/// What calls cost in a steady state, in words.
#[derive(Debug)]
struct Costs {
    /// Read by a read, with what making a pointer takes where there is none.
    read: f64,
    /// The share of reads through a pointer that was there.
    found: f64,
    /// Programmed for an update, with what the pointers take that are made meanwhile.
    programmed: f64,
    erases: u64,
}

/// Objects of which a fifth is updated; each is read, four times for each update of any.
fn steady_state<H: OnFlash>(heap: &mut H, kept: Kept) -> Costs {
    const UPDATES: u32 = 30_000;
    let mut random = fastrand::Rng::with_seed(22);
    let objects: Vec<Ref> = (0..200).map(|_| heap.create(Layout::uniform(50, 2)).unwrap()).collect();
    let mut values = vec![[0u16; 50]; objects.len()];
    let is_hot = |object: usize| object < objects.len() / 5;
    let (mut words, mut found) = (0, 0);
    let first = heap.device().counters();
    for number in 0..UPDATES {
        let (object, field, value) = (random.usize(..objects.len() / 5), random.usize(..50), random.u16(..));
        heap.put_field(objects[object], field, &value.to_le_bytes()).unwrap();
        values[object][field] = value;
        for _ in 0..4 {
            let (object, field) = (random.usize(..objects.len()), random.usize(..50));
            let target = (objects[object], Some(0));
            let pointers = heap.listener_mut().pointers.iter();
            let known = pointers.clone().find(|(other, _)| *other == target).map(|(_, pointer)| *pointer);
            let before = heap.device().counters();
            let mut bytes = [0; 2];
            if kept == Kept::None || kept == Kept::Cold && is_hot(object) {
                heap.get_field(objects[object], field, &mut bytes).unwrap();
            } else {
                if known.is_none() {
                    point(heap, target).unwrap();
                }
                let pointer = known.unwrap_or_else(|| heap.listener_mut().pointers.last().unwrap().1);
                heap.device().read(pointer.address.offset(2 * field as u32), &mut bytes).unwrap();
                found += u32::from(known.is_some());
            }
            words += (heap.device().counters() - before).reads();
            assert_eq!(u16::from_le_bytes(bytes), values[object][field], "{kept:?}, update {number}");
        }
    }
    let counted = heap.device().counters() - first;
    Costs {
        read: words as f64 / f64::from(4 * UPDATES),
        found: f64::from(found) / f64::from(4 * UPDATES),
        programmed: counted.programs() as f64 / f64::from(UPDATES),
        erases: counted.erases,
    }
}

fn saves_reads<H: OnFlash>(engine: &str, format: impl Fn() -> H) {
    let [none, cold, all] = [Kept::None, Kept::Cold, Kept::All].map(|kept| {
        let costs = steady_state(&mut format(), kept);
        println!("{engine}, {kept:?}: {costs:?}");
        assert!(costs.erases > 8 * 24, "{engine}: no steady state");
        costs
    });
    assert!(cold.read < none.read * 0.5 && cold.programmed < none.programmed * 1.25, "{engine}");
    assert!(cold.found > 0.7 && all.found > cold.found, "{engine}");
}

#[test]
fn pointers_to_what_is_not_updated_save_reads_in_steady_state() {
    saves_reads("log", || log_heap(0));
    saves_reads("tinystore", || tinystore(2));
}

/// Makes a pointer to a field that was set since its object was written, and reads it: one word.
fn one_word<H: OnFlash>(engine: &str, heap: &mut H) {
    let object = heap.create(Layout::uniform(10, 4).with_header(b"type")).unwrap();
    heap.put_field(object, 3, &[1, 2, 3, 4]).unwrap();
    point(heap, (object, Some(3))).unwrap();
    point(heap, (object, None)).unwrap();
    let [(_, pointer), (_, header)] = heap.listener_mut().pointers[..] else { panic!("{engine}: no two pointers") };
    assert_eq!((pointer.len, header.len), (28, 4), "{engine}");
    let before = heap.device().counters();
    assert_eq!(read(heap, pointer.address, 4), [1, 2, 3, 4], "{engine}");
    assert_eq!((heap.device().counters() - before).read_bytes(), 4, "{engine}");
    assert_eq!(read(heap, header.address, 4), b"type", "{engine}");
}

#[test]
fn a_read_through_a_pointer_is_one_word() {
    one_word("log", &mut log_heap(0));
    one_word("tinystore", &mut tinystore(0));
}

/// Within a transaction, without a listener, and of what is not there or has no header.
#[test]
fn pointers_are_refused_with_their_reason() {
    let mut heap = log_heap(0);
    let (object, array) = (heap.create(Layout::uniform(2, 4)).unwrap(), heap.create_array(400, 2, b"").unwrap());
    assert!(matches!(heap.field_pointer(array, 0), Err(PointerError::Access(norn_heap::AccessError::WrongKind(_)))));
    assert!(matches!(heap.array_pointer(object, 0), Err(PointerError::Access(norn_heap::AccessError::WrongKind(_)))));
    let beyond = heap.field_pointer(object, 2);
    assert!(matches!(beyond, Err(PointerError::Access(norn_heap::AccessError::OutOfRange { count: 2 }))));
    let beyond = heap.array_pointer(array, 400);
    assert!(matches!(beyond, Err(PointerError::Access(norn_heap::AccessError::OutOfRange { count: 400 }))));
    assert_eq!(heap.header_pointer(object), Ok(None));
    heap.begin().unwrap();
    assert_eq!(heap.field_pointer(object, 0), Err(PointerError::TransactionOpen));
    heap.commit().unwrap();
    heap.delete(object).unwrap();
    assert!(matches!(heap.header_pointer(object), Err(PointerError::Access(norn_heap::AccessError::Stale(_)))));
    heap.device_mut().cut_power_after(0, Tear::Nothing);
    assert!(heap.create(Layout::uniform(2, 4)).is_err());
    let halted = PointerError::Access(norn_heap::AccessError::Store(StoreError::Halted));
    assert_eq!(heap.array_pointer(array, 0), Err(halted));

    let mut heap: LogHeap<_, 64> = LogHeap::format(NorSim::new(catalogue::test_part(24, 2048))).unwrap();
    let object = heap.create(Layout::uniform(2, 4)).unwrap();
    assert_eq!(heap.field_pointer(object, 0), Err(PointerError::NoListener));
}
