//! What a heap of any engine should hold, in plain memory, and calls of the trait drawn at random.

use std::collections::BTreeMap;

use norn_heap::{AccessError, CreateError, Elements, Kind, Layout, ObjectHeap, Ref, StoreError, TransactionError};

/// An object, or an array and its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub kind: Kind,
    pub header: Vec<u8>,
    pub fields: Vec<Vec<u8>>,
}

/// What a heap holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    pub objects: BTreeMap<Ref, Object>,
    pub roots: BTreeMap<Vec<u8>, Ref>,
}

/// One call of the trait.
#[derive(Clone, Debug)]
pub enum Call {
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
pub enum Failure {
    /// No room, in the part or in the transaction.
    Full,
    /// An earlier failure has undone the transaction.
    Undone,
    Other(String),
}

pub fn of_store<E: std::fmt::Debug>(error: &StoreError<E>) -> Failure {
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
pub fn perform<H: ObjectHeap>(heap: &mut H, call: &Call) -> Result<Option<Ref>, Failure> {
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
    pub fn change(&mut self, call: &Call, created: Option<Ref>) {
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
pub struct Models {
    pub committed: Model,
    pub open: Option<Model>,
}

impl Models {
    pub fn now(&self) -> &Model {
        self.open.as_ref().unwrap_or(&self.committed)
    }

    pub fn change(&mut self, call: &Call, created: Option<Ref>) {
        match call {
            Call::Begin => self.open = Some(self.committed.clone()),
            Call::Commit => self.committed = self.open.take().unwrap(),
            Call::Abort => self.open = None,
            _ => self.open.as_mut().unwrap_or(&mut self.committed).change(call, created),
        }
    }
}

/// What a heap holds, by every way to read it.
pub fn contents<H: ObjectHeap>(heap: &mut H) -> Model {
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
pub fn elements<H: ObjectHeap>(heap: &mut H, array: Ref, count: usize, width: usize) -> Vec<Vec<u8>> {
    let mut bytes = vec![0; count * width];
    heap.array_read(array, 0, &mut bytes).unwrap();
    for index in (0..count).step_by(count.div_ceil(9)) {
        assert_eq!(value(heap, array, Kind::Array, index), bytes[index * width..][..width], "{array} at {index}");
    }
    bytes.chunks(width).map(<[u8]>::to_vec).collect()
}

pub fn value<H: ObjectHeap>(heap: &mut H, reference: Ref, kind: Kind, index: usize) -> Vec<u8> {
    let mut value = vec![0; heap.width(reference, index).unwrap()];
    match kind {
        Kind::Object => heap.get_field(reference, index, &mut value).unwrap(),
        Kind::Array => heap.array_load(reference, index, &mut value).unwrap(),
    }
    value
}

pub fn bytes(count: usize, random: &mut fastrand::Rng) -> Vec<u8> {
    (0..count).map(|_| random.u8(..)).collect()
}

pub fn draw_header(random: &mut fastrand::Rng) -> Vec<u8> {
    let count = [0, 0, 3, 25][random.usize(..4)];
    bytes(count, random)
}

pub fn draw_creation(random: &mut fastrand::Rng) -> Call {
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
pub fn draw(models: &Models, random: &mut fastrand::Rng) -> Call {
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

/// After a refusal for want of room a transaction is as it was, or aborted: then it refuses every call until it is
/// aborted. Outside of transactions, what is not atomic may have been done in part.
pub fn settle_refusal<H: ObjectHeap>(heap: &mut H, models: &mut Models, call: &Call) {
    assert_eq!(heap.in_transaction(), models.open.is_some(), "{call:?} was refused, and ended the transaction");
    if models.open.is_some() && perform(heap, &Call::Commit) == Err(Failure::Undone) {
        assert_eq!(heap.next_object(None).map_err(Failure::from), Err(Failure::Undone), "after {call:?}");
        perform(heap, &Call::Abort).unwrap();
        models.open = None;
    } else if models.open.is_some() {
        models.change(&Call::Commit, None);
    } else if matches!(call, Call::Fill { .. } | Call::Copy { is_atomic: false, .. }) {
        models.committed = contents(heap);
    }
    assert!(contents(heap) == models.committed, "{call:?} was refused, and changed something");
}
