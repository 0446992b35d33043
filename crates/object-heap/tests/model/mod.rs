//! The heap's interface in plain memory, random operations on both, and the comparison of the two. The heap's client
//! keeps every physical pointer until it is notified, so that each comparison also looks for stale bytes.

pub mod device;

use std::collections::{BTreeMap, HashSet};

use device::TestDevice;
use norn_flash::{Collected, Nor};
use norn_flash_sim::{PartSpec, SimError};
use norn_nor_store::{TreeId, TreeRoot};
use norn_object_heap::{
    AccessError, CollectError, Config, CreateError, DeltaRecords, Elements, ErrorDetection, Heap, InitializationFlags,
    Kind, Layout, Listener, MountError, PhysicalPointer, PointerError, Ref, Representation, SectorPtr, StoreError,
    Tracer, TransactionError,
};

/// The heap under test: small enough to clone at every operation.
pub type TestHeap<D = TestDevice> = Heap<D, 64, Cache>;

/// What a client keeps of addresses: forgotten by the rules of `Listener`, and by no others.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// To values from the element or field with this index on, or to headers.
    pub pointers: BTreeMap<(Ref, Option<usize>), PhysicalPointer>,
    /// References of which the client was notified.
    pub notified: Vec<Ref>,
}

impl Listener for Cache {
    fn invalidated(&mut self, reference: Ref) {
        self.pointers.retain(|(other, _), _| *other != reference);
        self.notified.push(reference);
    }

    fn all_invalidated(&mut self) {
        self.pointers.clear();
    }
}

/// Mounts with a client that keeps nothing yet. No pointer is noted then.
pub fn mount<D: Nor<Error = SimError>>(device: D) -> Result<TestHeap<D>, MountError<SimError>> {
    let heap = TestHeap::mount_with(device, Cache::default())?;
    assert_eq!(heap.store().tree(TreeId::Notify), TreeRoot::default(), "notes of pointers outlive a mount");
    Ok(heap)
}

/// An object or array as the model keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelObject {
    pub kind: Kind,
    pub representation: Representation,
    pub fields: Vec<Vec<u8>>,
    pub header: Vec<u8>,
}

/// What a heap holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    pub objects: BTreeMap<Ref, ModelObject>,
    pub roots: BTreeMap<Vec<u8>, Ref>,
}

/// One call of the heap's interface.
#[derive(Clone, Debug)]
pub enum Op {
    Create {
        widths: Vec<u8>,
        header: Vec<u8>,
    },
    CreateArray {
        count: usize,
        width: u8,
        header: Vec<u8>,
    },
    Delete(Ref),
    Put {
        reference: Ref,
        index: usize,
        value: Vec<u8>,
    },
    /// Writes several fields or elements at once.
    PutMany {
        reference: Ref,
        first: usize,
        values: Vec<Vec<u8>>,
    },
    WriteHeader(Ref, Vec<u8>),
    SetRepresentation(Ref, Representation),
    /// Takes a pointer to values from this index on, or to the header, and keeps it.
    Point(Ref, Option<usize>),
    SetRoot(Vec<u8>, Option<Ref>),
    Fill {
        to: Elements,
        value: Vec<u8>,
    },
    Copy {
        from: Elements,
        to: (Ref, usize),
        atomicity: Atomicity,
    },
    /// Deletes what neither named roots nor these reach; a field of four bytes may hold a reference.
    Collect {
        roots: Vec<Ref>,
    },
    /// Changes nothing that can be seen.
    ReclaimStep {
        least_bytes: u32,
    },
    Begin,
    Commit,
    Abort,
}

/// Whether an operation is whole or absent, or each of its elements or deletions is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomicity {
    Whole,
    EachElement,
}

impl Op {
    /// What of the operation a power cut leaves whole.
    pub fn atomicity(&self) -> Atomicity {
        match self {
            Op::Fill { .. } | Op::Collect { .. } => Atomicity::EachElement,
            Op::Copy { atomicity, .. } => *atomicity,
            _ => Atomicity::Whole,
        }
    }
}

/// Why a call had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    Store(StoreError<SimError>),
    Doomed,
    Other(String),
}

impl Failure {
    pub fn is_power_loss(&self) -> bool {
        matches!(self, Failure::Store(StoreError::Device(SimError::PowerLost)))
    }
}

impl From<CreateError<SimError>> for Failure {
    fn from(error: CreateError<SimError>) -> Self {
        match error {
            CreateError::Store(error) => Failure::Store(error),
            CreateError::TransactionAborted => Failure::Doomed,
            other => Failure::Other(other.to_string()),
        }
    }
}

impl From<AccessError<SimError>> for Failure {
    fn from(error: AccessError<SimError>) -> Self {
        match error {
            AccessError::Store(error) => Failure::Store(error),
            AccessError::TransactionAborted => Failure::Doomed,
            other => Failure::Other(other.to_string()),
        }
    }
}

impl From<PointerError<SimError>> for Failure {
    fn from(error: PointerError<SimError>) -> Self {
        match error {
            PointerError::Access(error) => error.into(),
            other => Failure::Other(other.to_string()),
        }
    }
}

impl From<CollectError<SimError>> for Failure {
    fn from(error: CollectError<SimError>) -> Self {
        match error {
            CollectError::Access(error) => error.into(),
            other => Failure::Other(other.to_string()),
        }
    }
}

impl From<TransactionError<SimError>> for Failure {
    fn from(error: TransactionError<SimError>) -> Self {
        match error {
            TransactionError::Store(error) => Failure::Store(error),
            TransactionError::Aborted => Failure::Doomed,
            other => Failure::Other(other.to_string()),
        }
    }
}

/// Carries out `op` on the heap; a creation returns its reference.
pub fn perform<D: Nor<Error = SimError>>(heap: &mut TestHeap<D>, op: &Op) -> Result<Option<Ref>, Failure> {
    match op {
        Op::Create { widths, header } => Ok(Some(heap.create(Layout::fields(widths).with_header(header))?)),
        Op::CreateArray { count, width, header } => Ok(Some(heap.create_array(*count, *width, header)?)),
        Op::Delete(reference) => Ok(heap.delete(*reference).map(|()| None)?),
        Op::Put { reference, index, value } => match heap.info(*reference)?.kind {
            Kind::Object => Ok(heap.put_field(*reference, *index, value).map(|()| None)?),
            Kind::Array => Ok(heap.array_store(*reference, *index, value).map(|()| None)?),
        },
        Op::PutMany { reference, first, values } => match heap.info(*reference)?.kind {
            Kind::Object => Ok(heap.put_fields(*reference, *first, &values.concat()).map(|()| None)?),
            Kind::Array => Ok(heap.array_write(*reference, *first, &values.concat()).map(|()| None)?),
        },
        Op::WriteHeader(reference, header) => Ok(heap.write_header(*reference, header).map(|()| None)?),
        Op::SetRepresentation(reference, wanted) => Ok(heap.set_representation(*reference, *wanted).map(|()| None)?),
        Op::Point(reference, index) => {
            let pointer = match (index, heap.info(*reference)?.kind) {
                (None, _) => heap.header_pointer(*reference)?,
                (Some(index), Kind::Object) => Some(heap.field_pointer(*reference, *index)?),
                (Some(index), Kind::Array) => Some(heap.array_pointer(*reference, *index)?),
            };
            if let Some(pointer) = pointer {
                heap.listener_mut().pointers.insert((*reference, *index), pointer);
            }
            Ok(None)
        }
        Op::SetRoot(name, reference) => Ok(heap.set_root(name, *reference).map(|()| None)?),
        Op::Fill { to, value } => Ok(heap.array_fill_non_atomic(*to, value).map(|()| None)?),
        Op::Copy { from, to, atomicity: Atomicity::Whole } => Ok(heap.array_copy(*from, *to).map(|()| None)?),
        Op::Copy { from, to, .. } => Ok(heap.array_copy_non_atomic(*from, *to).map(|()| None)?),
        Op::Collect { roots } => Ok(heap.collect(roots, trace).map(|_| None)?),
        Op::ReclaimStep { least_bytes } => heap.reclaim_step(*least_bytes).map(|_| None).map_err(Failure::Store),
        Op::Begin => Ok(heap.begin().map(|()| None)?),
        Op::Commit => Ok(heap.commit().map(|()| None)?),
        Op::Abort => Ok(heap.abort().map(|()| None)?),
    }
}

/// Passes an object's references to a collection: every field or element of four bytes may hold a reference.
fn trace<D: Nor<Error = SimError>>(
    tracer: &mut Tracer<'_, D, 64, Cache>,
    reference: Ref,
) -> Result<(), AccessError<SimError>> {
    let info = tracer.heap().info(reference)?;
    for index in 0..info.count {
        let mut value = [0; 4];
        let read = match info.kind {
            Kind::Object => tracer.heap().get_field(reference, index, &mut value),
            Kind::Array => tracer.heap().array_load(reference, index, &mut value),
        };
        match read {
            Ok(()) => {}
            Err(AccessError::WrongWidth { .. }) => continue,
            Err(error) => return Err(error),
        }
        if let Some(found) = Ref::from_bits(u32::from_le_bytes(value)) {
            tracer.reached(found)?;
        }
    }
    Ok(())
}

impl Model {
    /// Removes what neither named roots nor `roots` reach.
    fn collect(&mut self, roots: &[Ref]) {
        let mut reached = HashSet::new();
        let mut waiting: Vec<Ref> = self.roots.values().chain(roots).copied().collect();
        while let Some(reference) = waiting.pop() {
            let Some(object) = self.objects.get(&reference) else {
                continue;
            };
            if reached.insert(reference) {
                let fields = object.fields.iter().filter_map(|field| <[u8; 4]>::try_from(&field[..]).ok());
                waiting.extend(fields.filter_map(|bytes| Ref::from_bits(u32::from_le_bytes(bytes))));
            }
        }
        self.objects.retain(|reference, _| reached.contains(reference));
    }

    /// Carries out a change, which is not the begin or end of a transaction.
    fn change(&mut self, op: &Op, created: Option<Ref>) {
        match op {
            Op::Create { widths, header } => {
                let fields = widths.iter().map(|&width| vec![0; usize::from(width)]).collect();
                let object = ModelObject {
                    kind: Kind::Object,
                    representation: Representation::ModifyOptimized,
                    fields,
                    header: header.clone(),
                };
                assert!(self.objects.insert(created.unwrap(), object).is_none(), "a reference given twice");
            }
            Op::CreateArray { count, width, header } => {
                let fields = vec![vec![0; usize::from(*width)]; *count];
                let array = ModelObject {
                    kind: Kind::Array,
                    representation: Representation::ModifyOptimized,
                    fields,
                    header: header.clone(),
                };
                assert!(self.objects.insert(created.unwrap(), array).is_none(), "a reference given twice");
            }
            Op::Delete(reference) => {
                self.objects.remove(reference);
            }
            Op::Put { reference, index, value } => {
                self.objects.get_mut(reference).unwrap().fields[*index] = value.clone();
            }
            Op::PutMany { reference, first, values } => {
                self.objects.get_mut(reference).unwrap().fields[*first..first + values.len()].clone_from_slice(values);
            }
            Op::WriteHeader(reference, header) => {
                self.objects.get_mut(reference).unwrap().header = header.clone();
            }
            Op::SetRepresentation(reference, wanted) => {
                self.objects.get_mut(reference).unwrap().representation = *wanted;
            }
            Op::SetRoot(name, Some(reference)) => {
                self.roots.insert(name.clone(), *reference);
            }
            Op::SetRoot(name, None) => {
                self.roots.remove(name);
            }
            Op::Fill { to, value } => {
                self.objects.get_mut(&to.array).unwrap().fields[to.first..to.first + to.count].fill(value.clone());
            }
            Op::Copy { from, to, .. } => {
                let values = self.objects[&from.array].fields[from.first..from.first + from.count].to_vec();
                let target = &mut self.objects.get_mut(&to.0).unwrap().fields;
                target[to.1..to.1 + from.count].clone_from_slice(&values);
            }
            Op::Collect { roots } => self.collect(roots),
            Op::ReclaimStep { .. } => {}
            Op::Point(..) => {}
            Op::Begin | Op::Commit | Op::Abort => unreachable!(),
        }
    }
}

impl Model {
    /// Whether this is something between `before` and `after`: every field as in one or the other, and every object
    /// that only `before` has there or not.
    pub fn is_between(&self, before: &Model, after: &Model) -> bool {
        let agrees = |found: &ModelObject, reference: &Ref| {
            let old = &before.objects[reference];
            let new = after.objects.get(reference).unwrap_or(old);
            found.header == old.header
                && found.fields.len() == old.fields.len()
                && (found.fields.iter().zip(&old.fields).zip(&new.fields))
                    .all(|((found, old), new)| found == old || found == new)
        };
        self.roots == before.roots
            && before.roots == after.roots
            && after.objects.keys().all(|reference| self.objects.contains_key(reference))
            && self.objects.keys().all(|reference| before.objects.contains_key(reference))
            && self.objects.iter().all(|(reference, found)| agrees(found, reference))
    }

    /// Whether an operation that may have been done can be done once more.
    pub fn can_repeat(&self, op: &Op) -> bool {
        let there = |reference| self.objects.contains_key(reference);
        match op {
            Op::Put { reference, .. }
            | Op::PutMany { reference, .. }
            | Op::WriteHeader(reference, _)
            | Op::SetRepresentation(reference, _)
            | Op::Point(reference, _) => there(reference),
            Op::Fill { to, .. } => there(&to.array),
            Op::Copy { from, to, .. } => there(&from.array) && there(&to.0),
            Op::Collect { .. } => true,
            _ => false,
        }
    }

    /// A range of an array, and another array or the same with elements of the same width, with where to copy it there.
    fn draw_copy(&self, random: &mut fastrand::Rng) -> Option<(Elements, (Ref, usize))> {
        let arrays: Vec<(&Ref, &ModelObject)> =
            self.objects.iter().filter(|(_, object)| object.kind == Kind::Array).collect();
        let (&array, source) = *random.choice(&arrays)?;
        let width = source.fields[0].len();
        let targets: Vec<_> = arrays.iter().filter(|(_, target)| target.fields[0].len() == width).collect();
        let (&to, target) = **random.choice(&targets)?;
        let (first, at) = (random.usize(..source.fields.len()), random.usize(..target.fields.len()));
        let room = (source.fields.len() - first).min(target.fields.len() - at);
        Some((Elements { array, first, count: random.usize(..=room) }, (to, at)))
    }
}

/// What the heap's checker finds.
pub type HeapCollected = Collected<SectorPtr>;

/// What the heap holds, read through its interface.
pub fn read_back<D: Nor<Error = SimError>>(heap: &mut TestHeap<D>) -> Result<Model, AccessError<SimError>> {
    let mut model = Model::default();
    let mut after = None;
    while let Some(reference) = heap.next_object(after)? {
        let info = heap.info(reference)?;
        let mut header = vec![0; info.header_bytes];
        assert_eq!(heap.read_header(reference, &mut header)?, info.header_bytes);
        let mut fields = Vec::new();
        for index in 0..info.count {
            let mut value = vec![0; width_of(heap, reference, index)?];
            match info.kind {
                Kind::Object => heap.get_field(reference, index, &mut value)?,
                Kind::Array => heap.array_load(reference, index, &mut value)?,
            }
            fields.push(value);
        }
        if info.kind == Kind::Array {
            let mut whole = vec![0; info.data_bytes as usize];
            heap.array_read(reference, 0, &mut whole)?;
            assert!(whole == fields.concat(), "{reference} read at once differs from its elements");
        }
        assert_eq!(fields.iter().map(Vec::len).sum::<usize>(), info.data_bytes as usize);
        let representation = heap.list_info(reference)?.representation;
        model.objects.insert(reference, ModelObject { kind: info.kind, representation, fields, header });
        after = Some(reference);
    }
    heap.visit_roots(|name, reference| {
        model.roots.insert(name.to_vec(), reference);
    })?;
    Ok(model)
}

/// The width of a field, from the error for a wrong one.
fn width_of<D: Nor<Error = SimError>>(
    heap: &mut TestHeap<D>,
    reference: Ref,
    index: usize,
) -> Result<usize, AccessError<SimError>> {
    let wrong = match heap.info(reference)?.kind {
        Kind::Object => heap.get_field(reference, index, &mut []),
        Kind::Array => heap.array_load(reference, index, &mut []),
    };
    match wrong {
        Err(AccessError::WrongWidth { width }) => Ok(width as usize),
        Err(other) => Err(other),
        Ok(()) => unreachable!("no field is empty"),
    }
}

/// Asserts that the heap holds what the model does. The checker, too, has to be silent, where no transaction is open.
pub fn check(heap: &mut TestHeap, model: &Model, context: &dyn Fn() -> String) {
    heap.device_mut().freeze_counters();
    compare(heap, model, context);
    let violations = heap.device_mut().violations();
    assert!(violations.is_empty(), "{violations:?} {}", context());
    heap.device_mut().thaw_counters();
}

/// As [`check`], on any device.
pub fn compare<D: Nor<Error = SimError>>(heap: &mut TestHeap<D>, model: &Model, context: &dyn Fn() -> String) {
    if !heap.in_transaction() {
        let mut collected = HeapCollected::default();
        if let Err(error) = heap.audit(&mut collected) {
            panic!("{error} during the audit {}", context());
        }
        assert!(collected.violations.is_empty(), "{:?} {}", collected.violations, context());
    }
    match read_back(heap) {
        Ok(found) => assert!(found == *model, "holds {found:?}\ninstead of {model:?} {}", context()),
        Err(error) => panic!("{error} {}", context()),
    }
    compare_pointers(heap, model, context);
}

/// Asserts that what the client's pointers lead to is what the model holds.
pub fn compare_pointers<D: Nor<Error = SimError>>(heap: &mut TestHeap<D>, model: &Model, context: &dyn Fn() -> String) {
    for (&(reference, index), pointer) in &heap.listener().pointers.clone() {
        let Some(object) = model.objects.get(&reference) else {
            panic!("a pointer to {reference}, which is not there, {}", context());
        };
        let expected = index.map_or(object.header.clone(), |index| object.fields[index..].concat());
        let mut found = vec![0; pointer.len];
        heap.device_mut().read(pointer.address, &mut found).unwrap();
        assert!(
            pointer.len > 0 && expected[..pointer.len] == found,
            "{pointer:?} to {index:?} of {reference} shows {found:?}\ninstead of {expected:?} {}",
            context()
        );
        if let Some(mapped) = heap.device().mapped() {
            assert_eq!(mapped[pointer.address.0 as usize..][..pointer.len], found);
        }
    }
}

/// A heap, what it should hold, and what it would if the open transaction were undone.
#[derive(Clone)]
pub struct Pair<D: Nor = TestDevice> {
    pub heap: TestHeap<D>,
    pub committed: Model,
    pub open: Option<Model>,
}

/// What one operation did.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The store is full, the transaction too large: nothing was done, and the transaction, if open, is doomed.
    Refused,
    PowerLost,
}

impl Pair {
    pub fn new(spec: PartSpec, config: Config) -> Pair {
        Pair::on(TestDevice::new(spec), config)
    }
}

impl<D: Nor<Error = SimError>> Pair<D> {
    pub fn on(device: D, config: Config) -> Pair<D> {
        let heap = TestHeap::format_with(device, config, Cache::default()).unwrap();
        Pair { heap, committed: Model::default(), open: None }
    }

    /// What the heap should show now.
    pub fn visible(&self) -> &Model {
        self.open.as_ref().unwrap_or(&self.committed)
    }

    /// Carries out `op` on both.
    pub fn step(&mut self, op: &Op, context: &dyn Fn() -> String) -> Outcome {
        match perform(&mut self.heap, op) {
            Ok(created) => {
                match op {
                    Op::Begin => self.open = Some(self.committed.clone()),
                    Op::Commit => self.committed = self.open.take().unwrap(),
                    Op::Abort => self.open = None,
                    _ => self.open.as_mut().unwrap_or(&mut self.committed).change(op, created),
                }
                Outcome::Done
            }
            Err(failure) if failure.is_power_loss() => Outcome::PowerLost,
            Err(Failure::Store(StoreError::Full | StoreError::TransactionTooLarge)) => {
                // It is open until it is aborted.
                if self.open.take().is_some() {
                    assert_eq!(perform(&mut self.heap, &Op::Commit), Err(Failure::Doomed), "{}", context());
                    assert_eq!(perform(&mut self.heap, &Op::Abort), Ok(None), "{}", context());
                }
                Outcome::Refused
            }
            Err(other) => panic!("{op:?}: {other:?} {}", context()),
        }
    }

    /// An operation that makes sense on what the heap shows now.
    pub fn draw(&self, random: &mut fastrand::Rng) -> Op {
        let model = self.visible();
        let references: Vec<Ref> = model.objects.keys().copied().collect();
        let any = |random: &mut fastrand::Rng| random.choice(&references).copied();
        let header = |random: &mut fastrand::Rng| match random.u8(0..3) {
            0 => (0..random.usize(1..20)).map(|_| random.u8(..)).collect(),
            _ => Vec::new(),
        };
        let copy = model.draw_copy(random);
        match (random.u8(0..100), any(random)) {
            (0..12, _) | (_, None) => match random.u8(0..3) {
                0 => {
                    let header = header(random);
                    // With a threshold of 20 elements, most of these are split.
                    let count = if random.bool() { random.usize(1..30) } else { random.usize(30..150) };
                    Op::CreateArray { count, width: random.u8(1..5), header }
                }
                1 => Op::Create { widths: vec![random.u8(1..5); random.usize(1..20)], header: header(random) },
                _ => {
                    let widths = (0..random.usize(1..20)).map(|_| random.u8(1..9)).collect();
                    Op::Create { widths, header: header(random) }
                }
            },
            (12..20, Some(reference)) => Op::Delete(reference),
            (20..24, Some(reference)) => Op::WriteHeader(reference, header(random)),
            (53..55, Some(reference)) => {
                let wanted =
                    if random.bool() { Representation::ReadOptimized } else { Representation::ModifyOptimized };
                Op::SetRepresentation(reference, wanted)
            }
            (24..28, Some(reference)) => {
                let reference = random.bool().then_some(reference);
                Op::SetRoot(vec![b'a' + random.u8(0..6); random.usize(1..4)], reference)
            }
            (40..50, Some(_)) if copy.is_some() => match (random.u8(0..3), copy.unwrap()) {
                (0, (from, _)) => {
                    let value = match random.u8(0..4) {
                        0 => 0,
                        1 => 0xFF,
                        _ => random.u8(..),
                    };
                    let width = model.objects[&from.array].fields[0].len();
                    Op::Fill { to: from, value: vec![value; width] }
                }
                (1, (from, to)) => Op::Copy { from, to, atomicity: Atomicity::Whole },
                (_, (from, to)) => Op::Copy { from, to, atomicity: Atomicity::EachElement },
            },
            (50..53, Some(_)) if self.open.is_none() => {
                let roots = references.iter().copied().filter(|_| random.u8(0..3) > 0).collect();
                Op::Collect { roots }
            }
            (55..57, Some(_)) => Op::ReclaimStep { least_bytes: random.u32(1..300) },
            (57..65, Some(reference)) if self.open.is_none() => {
                let fields = model.objects[&reference].fields.len();
                Op::Point(reference, (random.u8(0..4) > 0).then(|| random.usize(0..fields)))
            }
            (65..70, Some(reference)) => {
                let fields = &model.objects[&reference].fields;
                let first = random.usize(0..fields.len());
                let most = if random.bool() { 6 } else { 100 };
                let count = random.usize(0..=(fields.len() - first).min(most));
                let values = fields[first..first + count].iter();
                let values = values.map(|field| field.iter().map(|_| random.u8(..)).collect()).collect();
                Op::PutMany { reference, first, values }
            }
            (28..40, _) => match (&self.open, random.bool()) {
                (None, _) => Op::Begin,
                (Some(_), true) => Op::Abort,
                (Some(_), false) => Op::Commit,
            },
            (_, Some(reference)) => {
                // Few fields of few objects, so that lists grow and are compacted.
                let fields = &model.objects[&reference].fields;
                let index =
                    if random.bool() { random.usize(0..fields.len().min(3)) } else { random.usize(0..fields.len()) };
                let value = match random.u8(0..6) {
                    0 => vec![0; fields[index].len()],
                    1 => vec![0xFF; fields[index].len()],
                    2 | 3 if fields[index].len() == 4 => any(random).unwrap().bits().to_le_bytes().to_vec(),
                    _ => fields[index].iter().map(|_| random.u8(..)).collect(),
                };
                Op::Put { reference, index, value }
            }
        }
    }
}

/// The configurations that tests run with.
pub fn configs() -> [Config; 4] {
    let base = Config { array_threshold: 20, ..Config::tinystore_2006() };
    [
        base,
        Config { list_length_max: 1, initialization_flags: InitializationFlags::Off, ..base },
        Config { list_length_max: 4, wear_period: 2, log_units: 3, ..base },
        Config { list_length_max: 3, initialization_flags: InitializationFlags::Off, ..base },
    ]
}

/// The same with delta records, except for lists of one record.
pub fn delta_configs() -> [Config; 4] {
    let [short, one, long, without_flags] = configs();
    [short, Config { list_length_max: 2, ..one }, long, without_flags]
        .map(|config| Config { delta_records: DeltaRecords::On, ..config })
}

/// The same with error detection.
pub fn detecting_configs() -> [Config; 4] {
    configs().map(|config| Config { error_detection: ErrorDetection::On, ..config })
}
