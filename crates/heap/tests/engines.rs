//! Proves that every engine does what the trait says: random calls, transactions among them, on a heap of each engine
//! and on a model in plain memory, and calls with every kind of bad argument, which are refused alike and change
//! nothing.
//!
//! One test drives all engines by the trait alone; what an engine has beside it, and power cuts, its own tests prove.

use std::collections::BTreeMap;

use norn_baselines::EepromHeap;
use norn_conformance::seeds;
use norn_flash_sim::{EepromSim, NorSim, catalogue};
use norn_heap::{AccessError, CreateError, Elements, Kind, Layout, ObjectHeap, Ref, StoreError, TransactionError};
use norn_log_heap::LogHeap;
use norn_object_heap::{Config, Heap};

const REPLAY: &str = "-p norn-heap --test engines";
const CALLS: usize = 600;

/// An object, or an array and its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Object {
    kind: Kind,
    header: Vec<u8>,
    fields: Vec<Vec<u8>>,
}

/// What a heap holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Model {
    objects: BTreeMap<Ref, Object>,
    roots: BTreeMap<Vec<u8>, Ref>,
}

/// One call of the trait.
#[derive(Clone, Debug)]
enum Call {
    Create { widths: Vec<u8>, header: Vec<u8> },
    CreateArray { count: usize, width: u8, header: Vec<u8> },
    Delete(Ref),
    Put { reference: Ref, index: usize, value: Vec<u8> },
    PutMany { reference: Ref, first: usize, values: Vec<Vec<u8>> },
    Fill { to: Elements, value: Vec<u8> },
    Copy { from: Elements, to: (Ref, usize), is_atomic: bool },
    WriteHeader(Ref, Vec<u8>),
    SetRoot(Vec<u8>, Option<Ref>),
    Begin,
    Commit,
    Abort,
}

/// Why a call had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Failure {
    /// No room, in the part or in the transaction.
    Full,
    /// An earlier failure has undone the transaction.
    Undone,
    Other(String),
}

fn of_store<E: std::fmt::Debug>(error: &StoreError<E>) -> Failure {
    match error {
        StoreError::Full | StoreError::TransactionTooLarge => Failure::Full,
        other => Failure::Other(format!("{other:?}")),
    }
}

impl<E: std::fmt::Debug> From<CreateError<E>> for Failure {
    fn from(error: CreateError<E>) -> Failure {
        match error {
            CreateError::Store(error) => of_store(&error),
            CreateError::TransactionAborted => Failure::Undone,
            other => Failure::Other(format!("{other:?}")),
        }
    }
}

impl<E: std::fmt::Debug> From<AccessError<E>> for Failure {
    fn from(error: AccessError<E>) -> Failure {
        match error {
            AccessError::Store(error) => of_store(&error),
            AccessError::TransactionAborted => Failure::Undone,
            other => Failure::Other(format!("{other:?}")),
        }
    }
}

impl<E: std::fmt::Debug> From<TransactionError<E>> for Failure {
    fn from(error: TransactionError<E>) -> Failure {
        match error {
            TransactionError::Store(error) => of_store(&error),
            TransactionError::Aborted => Failure::Undone,
            other => Failure::Other(format!("{other:?}")),
        }
    }
}

/// Makes a call of the heap; a creation returns its reference.
fn perform<H: ObjectHeap>(heap: &mut H, call: &Call) -> Result<Option<Ref>, Failure> {
    match call {
        Call::Create { widths, header } => {
            return Ok(Some(heap.create(Layout::fields(widths).with_header(header))?));
        }
        Call::CreateArray { count, width, header } => return Ok(Some(heap.create_array(*count, *width, header)?)),
        Call::Delete(reference) => heap.delete(*reference)?,
        Call::Put { reference, index, value } => match heap.info(*reference)?.kind {
            Kind::Object => heap.put_field(*reference, *index, value)?,
            Kind::Array => heap.array_store(*reference, *index, value)?,
        },
        Call::PutMany { reference, first, values } => match heap.info(*reference)?.kind {
            Kind::Object => heap.put_fields(*reference, *first, &values.concat())?,
            Kind::Array => heap.array_write(*reference, *first, &values.concat())?,
        },
        Call::Fill { to, value } => heap.array_fill_non_atomic(*to, value)?,
        Call::Copy { from, to, is_atomic: true } => heap.array_copy(*from, *to)?,
        Call::Copy { from, to, is_atomic: false } => heap.array_copy_non_atomic(*from, *to)?,
        Call::WriteHeader(reference, header) => heap.write_header(*reference, header)?,
        Call::SetRoot(name, reference) => heap.set_root(name, *reference)?,
        Call::Begin => heap.begin()?,
        Call::Commit => heap.commit()?,
        Call::Abort => heap.abort()?,
    }
    Ok(None)
}

impl Model {
    /// Makes a call that changes something.
    fn change(&mut self, call: &Call, created: Option<Ref>) {
        match call {
            Call::Create { widths, header } => {
                let fields = widths.iter().map(|&width| vec![0; usize::from(width)]).collect();
                self.create(created, Object { kind: Kind::Object, header: header.clone(), fields });
            }
            Call::CreateArray { count, width, header } => {
                let fields = vec![vec![0; usize::from(*width)]; *count];
                self.create(created, Object { kind: Kind::Array, header: header.clone(), fields });
            }
            Call::Delete(reference) => drop(self.objects.remove(reference)),
            Call::Put { reference, index, value } => self.fields(reference)[*index].clone_from(value),
            Call::PutMany { reference, first, values } => {
                self.fields(reference)[*first..first + values.len()].clone_from_slice(values);
            }
            Call::Fill { to, value } => self.fields(&to.array)[to.first..to.first + to.count].fill(value.clone()),
            Call::Copy { from, to, .. } => {
                let values = self.fields(&from.array)[from.first..from.first + from.count].to_vec();
                self.fields(&to.0)[to.1..to.1 + from.count].clone_from_slice(&values);
            }
            Call::WriteHeader(reference, header) => {
                self.objects.get_mut(reference).unwrap().header.clone_from(header);
            }
            Call::SetRoot(name, Some(reference)) => {
                self.roots.insert(name.clone(), *reference);
            }
            Call::SetRoot(name, None) => {
                self.roots.remove(name);
            }
            Call::Begin | Call::Commit | Call::Abort => unreachable!("the pair of models handles transactions"),
        }
    }

    fn create(&mut self, reference: Option<Ref>, object: Object) {
        assert_eq!(self.objects.insert(reference.unwrap(), object), None, "a reference given twice");
    }

    fn fields(&mut self, reference: &Ref) -> &mut [Vec<u8>] {
        &mut self.objects.get_mut(reference).unwrap().fields
    }
}

/// What a heap should hold, and would if the open transaction were undone.
#[derive(Clone, Debug, Default)]
struct Models {
    committed: Model,
    open: Option<Model>,
}

impl Models {
    fn now(&self) -> &Model {
        self.open.as_ref().unwrap_or(&self.committed)
    }

    fn change(&mut self, call: &Call, created: Option<Ref>) {
        match call {
            Call::Begin => self.open = Some(self.committed.clone()),
            Call::Commit => self.committed = self.open.take().unwrap(),
            Call::Abort => self.open = None,
            _ => self.open.as_mut().unwrap_or(&mut self.committed).change(call, created),
        }
    }
}

/// What a heap holds, by every way to read it.
fn contents<H: ObjectHeap>(heap: &mut H) -> Model {
    let (mut model, mut after) = (Model::default(), None);
    while let Some(reference) = heap.next_object(after).unwrap() {
        let info = heap.info(reference).unwrap();
        let mut header = vec![0; info.header_bytes + 1];
        assert_eq!(heap.read_header(reference, &mut header).unwrap(), info.header_bytes);
        header.truncate(info.header_bytes);
        let fields: Vec<Vec<u8>> = match info.kind {
            Kind::Object => (0..info.count).map(|index| value(heap, reference, info.kind, index)).collect(),
            Kind::Array => elements(heap, reference, info.count, info.data_bytes as usize / info.count),
        };
        assert_eq!(fields.iter().map(Vec::len).sum::<usize>(), info.data_bytes as usize);
        model.objects.insert(reference, Object { kind: info.kind, header, fields });
        after = Some(reference);
    }
    heap.visit_roots(|name, reference| assert_eq!(model.roots.insert(name.to_vec(), reference), None)).unwrap();
    for (name, &reference) in &model.roots {
        assert_eq!(heap.root(name).unwrap(), Some(reference));
    }
    model
}

/// The elements of an array, all read together, and some each by itself.
fn elements<H: ObjectHeap>(heap: &mut H, array: Ref, count: usize, width: usize) -> Vec<Vec<u8>> {
    let mut bytes = vec![0; count * width];
    heap.array_read(array, 0, &mut bytes).unwrap();
    for index in (0..count).step_by(count.div_ceil(9)) {
        assert_eq!(value(heap, array, Kind::Array, index), bytes[index * width..][..width], "{array} at {index}");
    }
    bytes.chunks(width).map(<[u8]>::to_vec).collect()
}

fn value<H: ObjectHeap>(heap: &mut H, reference: Ref, kind: Kind, index: usize) -> Vec<u8> {
    let mut value = vec![0; heap.width(reference, index).unwrap()];
    match kind {
        Kind::Object => heap.get_field(reference, index, &mut value).unwrap(),
        Kind::Array => heap.array_load(reference, index, &mut value).unwrap(),
    }
    value
}

fn bytes(count: usize, random: &mut fastrand::Rng) -> Vec<u8> {
    (0..count).map(|_| random.u8(..)).collect()
}

fn draw_header(random: &mut fastrand::Rng) -> Vec<u8> {
    let count = [0, 0, 3, 25][random.usize(..4)];
    bytes(count, random)
}

fn draw_creation(random: &mut fastrand::Rng) -> Call {
    let header = draw_header(random);
    match random.u8(..3) {
        0 => {
            let most = if random.bool() { 20 } else { 300 };
            Call::CreateArray { count: random.usize(1..most), width: random.u8(1..5), header }
        }
        1 => Call::Create { widths: vec![random.u8(1..5); random.usize(1..20)], header },
        _ => Call::Create { widths: (0..random.usize(1..12)).map(|_| random.u8(1..9)).collect(), header },
    }
}

/// A call that makes sense on what a heap holds: about twenty objects in the long run.
fn draw(models: &Models, random: &mut fastrand::Rng) -> Call {
    let model = models.now();
    let references: Vec<Ref> = model.objects.keys().copied().collect();
    let grows = random.usize(..40) >= references.len();
    let Some(&reference) = random.choice(&references) else { return draw_creation(random) };
    let Object { kind, fields, .. } = &model.objects[&reference];
    let (index, width) = (random.usize(..fields.len()), fields[0].len());
    let most = if random.bool() { 3 } else { 500 };
    let count = random.usize(..=(fields.len() - index).min(most));
    match random.u8(..40) {
        0..5 if grows => draw_creation(random),
        0..5 => Call::Delete(reference),
        5..8 => Call::WriteHeader(reference, draw_header(random)),
        8..11 => {
            let name = vec![b'a' + random.u8(..5); random.usize(1..20)];
            Call::SetRoot(name, random.bool().then_some(reference))
        }
        11..16 => match (&models.open, random.u8(..3)) {
            (None, _) => Call::Begin,
            (Some(_), 0) => Call::Abort,
            (Some(_), _) => Call::Commit,
        },
        16..22 => {
            let values = fields[index..index + count].iter().map(|field| bytes(field.len(), random)).collect();
            Call::PutMany { reference, first: index, values }
        }
        22..25 if *kind == Kind::Array => {
            Call::Fill { to: Elements { array: reference, first: index, count }, value: bytes(width, random) }
        }
        25..29 if *kind == Kind::Array => {
            let is_like = |object: &Object| object.kind == Kind::Array && object.fields[0].len() == width;
            let like: Vec<Ref> = references.iter().copied().filter(|other| is_like(&model.objects[other])).collect();
            let to = if random.bool() { reference } else { like[random.usize(..like.len())] };
            let room = model.objects[&to].fields.len();
            let first = random.usize(..room);
            let from = Elements { array: reference, first: index, count: count.min(room - first) };
            Call::Copy { from, to: (to, first), is_atomic: random.bool() }
        }
        _ => Call::Put { reference, index, value: bytes(fields[index].len(), random) },
    }
}

/// Random calls on a heap and the model; now and then the heap is mounted again, which undoes the open transaction.
fn agree<H: ObjectHeap>(engine: &str, format: impl Fn(u64) -> H, mount: impl Fn(H) -> H) {
    for run in seeds(0..9, REPLAY) {
        let mut random = run.random();
        let (mut heap, mut models, mut refused) = (format(run.seed), Models::default(), 0);
        for number in 0..CALLS {
            let call = draw(&models, &mut random);
            let context = || format!("{engine}, call {number}, {call:?}; replay: {}", run.replay());
            match perform(&mut heap, &call) {
                Ok(created) => models.change(&call, created),
                Err(Failure::Full) => {
                    refused += 1;
                    settle_refusal(&mut heap, &mut models, &call);
                }
                Err(failure) => panic!("{failure:?}: {}", context()),
            }
            assert_eq!(heap.in_transaction(), models.open.is_some(), "{}", context());
            if number % 7 == 0 {
                assert!(contents(&mut heap) == *models.now(), "{}", context());
            }
            if number % 40 == 39 {
                heap = mount(heap);
                models.open = None;
                assert!(contents(&mut heap) == models.committed, "after a mount, {}", context());
            }
        }
        assert!(refused * 5 < CALLS, "{engine}: the heap was full most of the time; replay: {}", run.replay());
    }
}

/// After a refusal for want of room the transaction may be undone, and open or closed: whichever, it ends here. Outside
/// of transactions, what is not atomic may have been done in part.
fn settle_refusal<H: ObjectHeap>(heap: &mut H, models: &mut Models, call: &Call) {
    if models.open.is_some() {
        match perform(heap, &Call::Abort) {
            Ok(_) | Err(Failure::Undone) => {}
            Err(Failure::Other(_)) if !heap.in_transaction() => {}
            Err(failure) => panic!("{failure:?}"),
        }
        models.open = None;
    } else if matches!(call, Call::Fill { .. } | Call::Copy { is_atomic: false, .. }) {
        models.committed = contents(heap);
    }
    assert!(contents(heap) == models.committed, "{call:?} was refused, and changed something");
}

/// Everything that a caller can get wrong, in and out of a transaction.
fn refuse_bad_input<H: ObjectHeap>(engine: &str, heap: &mut H) {
    let object = heap.create(Layout::fields(&[2, 1, 4]).with_header(b"object")).unwrap();
    let array = heap.create_array(10, 3, b"array").unwrap();
    let other = heap.create_array(5, 2, b"").unwrap();
    let stale = heap.create(Layout::uniform(1, 1)).unwrap();
    heap.delete(stale).unwrap();
    for is_open in [false, true] {
        if is_open {
            heap.begin().unwrap();
            assert!(matches!(heap.begin(), Err(TransactionError::AlreadyOpen)), "{engine}");
        } else {
            assert!(matches!(heap.commit(), Err(TransactionError::NotOpen)), "{engine}");
            assert!(matches!(heap.abort(), Err(TransactionError::NotOpen)), "{engine}");
        }
        let before = contents(heap);
        refuse_creations(engine, heap);
        refuse_accesses(engine, heap, [object, array, other, stale]);
        assert_eq!(heap.in_transaction(), is_open, "{engine}: a mistake ended the transaction");
        assert!(contents(heap) == before, "{engine}: a refused call changed something");
    }
    heap.put_field(object, 1, &[9]).unwrap();
    heap.commit().unwrap();
    assert_eq!(value(heap, object, Kind::Object, 1), [9], "{engine}: mistakes undid the transaction");
}

fn refuse_creations<H: ObjectHeap>(engine: &str, heap: &mut H) {
    let created = |result: Result<Ref, CreateError<H::DeviceError>>| match result {
        Ok(reference) => panic!("{engine}: {reference} was created"),
        Err(error) => format!("{error:?}"),
    };
    assert_eq!(created(heap.create(Layout::fields(&[]))), "NoFields", "{engine}");
    assert_eq!(created(heap.create(Layout::uniform(0, 4))), "NoFields", "{engine}");
    assert_eq!(created(heap.create_array(0, 4, b"")), "NoFields", "{engine}");
    assert_eq!(created(heap.create(Layout::fields(&[1; 256]))), "TooManyFields { count: 256 }", "{engine}");
    assert_eq!(created(heap.create(Layout::fields(&[3, 0]))), "ZeroWidth { field: 1 }", "{engine}");
    assert_eq!(created(heap.create(Layout::uniform(3, 0))), "ZeroWidth { field: 0 }", "{engine}");
    assert_eq!(created(heap.create_array(3, 0, b"")), "ZeroWidth { field: 0 }", "{engine}");
}

/// On flash an object fits an erase unit.
fn refuse_a_large_object<H: ObjectHeap>(engine: &str, heap: &mut H) {
    let created = heap.create(Layout::uniform(255, 255));
    assert!(matches!(created, Err(CreateError::TooLarge { .. })), "{engine}: {created:?}");
}

fn refuse_accesses<H: ObjectHeap>(engine: &str, heap: &mut H, [object, array, other, stale]: [Ref; 4]) {
    let mut buffer = [0; 9];
    let expect = |what: &str, expected: String, result: Result<(), AccessError<H::DeviceError>>| match result {
        Ok(()) => panic!("{engine}: {what} was accepted"),
        Err(error) => assert_eq!(format!("{error:?}"), expected, "{engine}: {what}"),
    };
    let (wrong_kind, gone) = (|reference| format!("WrongKind({reference:?})"), format!("Stale({stale:?})"));
    let beyond = |count: u32| format!("OutOfRange {{ count: {count} }}");
    let width = |width: u32| format!("WrongWidth {{ width: {width} }}");
    let all_of = |array, first, count| Elements { array, first, count };

    expect("a field of an array", wrong_kind(array), heap.get_field(array, 0, &mut buffer[..3]));
    expect("a field of an array", wrong_kind(array), heap.put_field(array, 0, &[1; 3]));
    expect("fields of an array", wrong_kind(array), heap.put_fields(array, 0, &[1; 3]));
    expect("an element of an object", wrong_kind(object), heap.array_load(object, 0, &mut buffer[..2]));
    expect("an element of an object", wrong_kind(object), heap.array_store(object, 0, &[1; 2]));
    expect("elements of an object", wrong_kind(object), heap.array_read(object, 0, &mut buffer[..2]));
    expect("elements of an object", wrong_kind(object), heap.array_write(object, 0, &[1; 2]));
    expect("a fill of an object", wrong_kind(object), heap.array_fill_non_atomic(all_of(object, 0, 1), &[1; 2]));

    expect("field 3 of 3", beyond(3), heap.get_field(object, 3, &mut buffer[..1]));
    expect("field 3 of 3", beyond(3), heap.put_field(object, 3, &[1]));
    expect("fields from 3 of 3", beyond(3), heap.put_fields(object, 3, &[1]));
    expect("more than the last fields", beyond(3), heap.put_fields(object, 1, &[1; 6]));
    expect("field 65,536", beyond(3), heap.put_field(object, 1 << 16, &[1]));
    expect("element 10 of 10", beyond(10), heap.array_load(array, 10, &mut buffer[..3]));
    expect("element 10 of 10", beyond(10), heap.array_store(array, 10, &[1; 3]));
    expect("elements beyond the last", beyond(10), heap.array_read(array, 8, &mut buffer[..9]));
    expect("elements beyond the last", beyond(10), heap.array_write(array, 8, &[1; 9]));
    expect("a huge index", beyond(10), heap.array_write(array, usize::MAX, &[1; 3]));
    expect("a huge range", beyond(10), heap.array_fill_non_atomic(all_of(array, 1, usize::MAX), &[1; 3]));
    expect("a copy beyond the last", beyond(10), heap.array_copy(all_of(array, 0, 5), (array, 6)));

    expect("a wrong width", width(1), heap.get_field(object, 1, &mut buffer[..2]));
    expect("a wrong width", width(4), heap.put_field(object, 2, &[1; 3]));
    expect("no bytes", width(2), heap.put_field(object, 0, &[]));
    expect("values that end within a field", width(4), heap.put_fields(object, 1, &[1; 3]));
    expect("a wrong width", width(3), heap.array_load(array, 1, &mut buffer[..4]));
    expect("a wrong width", width(3), heap.array_store(array, 1, &[1; 2]));
    expect("a buffer that ends within an element", width(3), heap.array_read(array, 1, &mut buffer[..4]));
    expect("values that end within an element", width(3), heap.array_write(array, 1, &[1; 4]));
    expect("a wrong width", width(3), heap.array_fill_non_atomic(all_of(array, 0, 2), &[1; 2]));
    let copied = heap.array_copy(all_of(array, 0, 2), (other, 0)).map_err(|error| format!("{error:?}"));
    assert!(copied.clone().is_err_and(|error| error.starts_with("WrongWidth")), "{engine}: {copied:?}");

    expect("a stale reference", gone.clone(), heap.info(stale).map(drop));
    expect("a stale reference", gone.clone(), heap.delete(stale));
    expect("a stale reference", gone.clone(), heap.put_fields(stale, 0, &[1]));
    expect("a stale reference", gone.clone(), heap.array_write(stale, 0, &[1]));
    expect("a stale reference", gone.clone(), heap.write_header(stale, b"header"));
    expect("a stale reference", gone.clone(), heap.read_header(stale, &mut buffer).map(drop));
    expect("a root that is stale", gone.clone(), heap.set_root(b"root", Some(stale)));
    for name in [&b""[..], &[b'n'; 33]] {
        let expected = format!("NameLength({})", name.len());
        expect("a name", expected.clone(), heap.set_root(name, Some(object)));
        expect("a name", expected, heap.root(name).map(drop));
    }

    // Nothing to set is no mistake.
    heap.put_fields(object, 2, &[]).unwrap();
    heap.array_write(array, 10, &[]).unwrap();
    heap.array_fill_non_atomic(all_of(array, 10, 0), &[1; 3]).unwrap();
    heap.set_root(b"never set", None).unwrap();
}

type Log = LogHeap<NorSim, 64>;
type TinyStore = Heap<NorSim, 64>;

fn log_heap(seed: u64) -> Log {
    let parts = [catalogue::test_part(24, 2048), catalogue::test_part(16, 4096), catalogue::stm32l4()];
    let part = parts[seed as usize % 3].clone();
    let units = part.part.unit_count.min(64);
    let part = norn_flash_sim::PartSpec { part: norn_flash::NorPart { unit_count: units, ..part.part }, ..part };
    LogHeap::format(NorSim::new(part)).unwrap()
}

fn tinystore(seed: u64) -> TinyStore {
    let part = [catalogue::test_part(24, 2048), catalogue::test_part(16, 4096), catalogue::tinystore()];
    let config = [Config::default(), Config::tinystore_2006()][seed as usize / 3 % 2];
    Heap::format(NorSim::new(part[seed as usize % 3].clone()), config).unwrap()
}

fn eeprom(_: u64) -> EepromHeap<EepromSim> {
    EepromHeap::format(EepromSim::new(catalogue::tinystore_eeprom()), 8 * 1024).unwrap()
}

#[test]
fn the_log_structured_heap_agrees_with_the_model() {
    agree("log", log_heap, |heap| Log::mount(heap.into_device()).unwrap());
}

#[test]
fn tinystores_structure_agrees_with_the_model() {
    agree("tinystore", tinystore, |heap| TinyStore::mount(heap.into_device()).unwrap());
}

#[test]
fn the_eeprom_heap_agrees_with_the_model() {
    agree("eeprom", eeprom, |heap| EepromHeap::mount(heap.into_device()).unwrap());
}

#[test]
fn bad_input_is_refused_alike_and_changes_nothing() {
    let (mut log, mut tinystore, mut eeprom) = (log_heap(0), tinystore(0), eeprom(0));
    refuse_bad_input("log", &mut log);
    refuse_bad_input("tinystore", &mut tinystore);
    refuse_bad_input("eeprom", &mut eeprom);
    refuse_a_large_object("log", &mut log);
    refuse_a_large_object("tinystore", &mut tinystore);
}
