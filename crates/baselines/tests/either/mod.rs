//! The interface that both heaps have, in plain memory, and random operations on it.

use std::collections::BTreeMap;
use std::fmt::Debug;

use norn_heap::{AccessError, CreateError, Elements, Kind, Layout, ObjectHeap, Ref, StoreError, TransactionError};

/// An object or array: its fields' or elements' values, and its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelObject {
    pub kind: Kind,
    pub fields: Vec<Vec<u8>>,
    pub header: Vec<u8>,
}

/// What a heap holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    pub objects: BTreeMap<Ref, ModelObject>,
    pub roots: BTreeMap<Vec<u8>, Ref>,
}

/// One call.
#[derive(Clone, Debug)]
pub enum Op {
    Create { widths: Vec<u8>, header: Vec<u8> },
    CreateArray { count: usize, width: u8, header: Vec<u8> },
    Delete(Ref),
    Put { reference: Ref, index: usize, value: Vec<u8> },
    WriteHeader(Ref, Vec<u8>),
    SetRoot(Vec<u8>, Option<Ref>),
    Fill { to: Elements, value: Vec<u8> },
    Copy { from: Elements, to: (Ref, usize) },
    CopyNonAtomic { from: Elements, to: (Ref, usize) },
    Begin,
    Commit,
    Abort,
}

/// Why a call had no effect that lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    Full,
    TransactionTooLarge,
    Doomed,
    Device,
    Other(String),
}

fn of_store<E: Debug>(error: StoreError<E>) -> Failure {
    match error {
        StoreError::Full => Failure::Full,
        StoreError::TransactionTooLarge => Failure::TransactionTooLarge,
        StoreError::Device(_) => Failure::Device,
        other => Failure::Other(other.to_string()),
    }
}

impl<E: Debug> From<CreateError<E>> for Failure {
    fn from(error: CreateError<E>) -> Self {
        match error {
            CreateError::Store(error) => of_store(error),
            CreateError::TransactionAborted => Failure::Doomed,
            other => Failure::Other(other.to_string()),
        }
    }
}

impl<E: Debug> From<AccessError<E>> for Failure {
    fn from(error: AccessError<E>) -> Self {
        match error {
            AccessError::Store(error) => of_store(error),
            AccessError::TransactionAborted => Failure::Doomed,
            other => Failure::Other(other.to_string()),
        }
    }
}

impl<E: Debug> From<TransactionError<E>> for Failure {
    fn from(error: TransactionError<E>) -> Self {
        match error {
            TransactionError::Store(error) => of_store(error),
            TransactionError::Aborted => Failure::Doomed,
            other => Failure::Other(other.to_string()),
        }
    }
}

/// Carries out `op`; a creation returns its reference.
pub fn perform<H: ObjectHeap>(heap: &mut H, op: &Op) -> Result<Option<Ref>, Failure> {
    match op {
        Op::Create { widths, header } => {
            return Ok(Some(heap.create(Layout::fields(widths).with_header(header))?));
        }
        Op::CreateArray { count, width, header } => return Ok(Some(heap.create_array(*count, *width, header)?)),
        Op::Delete(reference) => heap.delete(*reference)?,
        Op::Put { reference, index, value } => match heap.info(*reference)?.kind {
            Kind::Object => heap.put_field(*reference, *index, value)?,
            Kind::Array => heap.array_store(*reference, *index, value)?,
        },
        Op::WriteHeader(reference, header) => heap.write_header(*reference, header)?,
        Op::SetRoot(name, reference) => heap.set_root(name, *reference)?,
        Op::Fill { to, value } => heap.array_fill_non_atomic(*to, value)?,
        Op::Copy { from, to } => heap.array_copy(*from, *to)?,
        Op::CopyNonAtomic { from, to } => heap.array_copy_non_atomic(*from, *to)?,
        Op::Begin => heap.begin()?,
        Op::Commit => heap.commit()?,
        Op::Abort => heap.abort()?,
    }
    Ok(None)
}

/// What the heap holds, read through its interface.
pub fn read_back<H: ObjectHeap>(heap: &mut H) -> Result<Model, AccessError<H::DeviceError>> {
    let mut model = Model::default();
    let mut after = None;
    while let Some(reference) = heap.next_object(after)? {
        let info = heap.info(reference)?;
        let mut header = vec![0; info.header_bytes];
        assert_eq!(heap.read_header(reference, &mut header)?, info.header_bytes);
        let mut fields = Vec::new();
        for index in 0..info.count {
            let get = |heap: &mut H, value: &mut [u8]| match info.kind {
                Kind::Object => heap.get_field(reference, index, value),
                Kind::Array => heap.array_load(reference, index, value),
            };
            let width = match get(heap, &mut []) {
                Err(AccessError::WrongWidth { width }) => width,
                other => panic!("a field of no bytes gave {other:?}"),
            };
            let mut value = vec![0; width as usize];
            get(heap, &mut value)?;
            fields.push(value);
        }
        assert_eq!(fields.concat().len(), info.data_bytes as usize);
        if info.kind == Kind::Array {
            let mut whole = vec![0; info.data_bytes as usize];
            heap.array_read(reference, 0, &mut whole)?;
            assert_eq!(whole, fields.concat());
        }
        assert!(model.objects.insert(reference, ModelObject { kind: info.kind, fields, header }).is_none());
        after = Some(reference);
    }
    heap.visit_roots(|name, reference| assert!(model.roots.insert(name.to_vec(), reference).is_none()))?;
    for (name, reference) in &model.roots {
        assert_eq!(heap.root(name)?, Some(*reference));
    }
    Ok(model)
}

impl Model {
    /// Carries out a change, which is not the begin or end of a transaction.
    pub fn change(&mut self, op: &Op, created: Option<Ref>) {
        let mut create = |kind, fields, header: &Vec<u8>| {
            let object = ModelObject { kind, fields, header: header.clone() };
            assert!(self.objects.insert(created.unwrap(), object).is_none(), "a reference given twice");
        };
        match op {
            Op::Create { widths, header } => {
                create(Kind::Object, widths.iter().map(|&width| vec![0; usize::from(width)]).collect(), header);
            }
            Op::CreateArray { count, width, header } => {
                create(Kind::Array, vec![vec![0; usize::from(*width)]; *count], header);
            }
            Op::Delete(reference) => assert!(self.objects.remove(reference).is_some()),
            Op::Put { reference, index, value } => {
                self.objects.get_mut(reference).unwrap().fields[*index] = value.clone();
            }
            Op::WriteHeader(reference, header) => self.objects.get_mut(reference).unwrap().header = header.clone(),
            Op::SetRoot(name, Some(reference)) => {
                self.roots.insert(name.clone(), *reference);
            }
            Op::SetRoot(name, None) => {
                self.roots.remove(name);
            }
            Op::Fill { to, value } => {
                self.objects.get_mut(&to.array).unwrap().fields[to.first..to.first + to.count].fill(value.clone());
            }
            Op::Copy { from, to } | Op::CopyNonAtomic { from, to } => {
                let values = self.objects[&from.array].fields[from.first..from.first + from.count].to_vec();
                let target = &mut self.objects.get_mut(&to.0).unwrap().fields;
                target[to.1..to.1 + from.count].clone_from_slice(&values);
            }
            Op::Begin | Op::Commit | Op::Abort => unreachable!(),
        }
    }

    /// An operation that this model can carry out, or one of `ends`: those that begin or end a transaction.
    pub fn draw(&self, random: &mut fastrand::Rng, ends: &[Op]) -> Op {
        let bytes = |random: &mut fastrand::Rng, len: usize| -> Vec<u8> { (0..len).map(|_| random.u8(..)).collect() };
        let header = |random: &mut fastrand::Rng| {
            let len = if random.bool() { 0 } else { random.usize(1..20) };
            bytes(random, len)
        };
        let objects: Vec<Ref> = self.objects.keys().copied().collect();
        let Some(&reference) = random.choice(&objects).filter(|_| self.objects.len() > 1 || random.bool()) else {
            let widths = (0..random.usize(1..9)).map(|_| random.u8(1..12)).collect();
            return Op::Create { widths, header: header(random) };
        };
        match random.u8(0..32) {
            0..=2 => random.choice(ends).unwrap().clone(),
            3 | 4 => {
                let uniform = random.bool();
                let (count, width) = (random.usize(1..9), random.u8(1..6));
                let widths = (0..count).map(|_| if uniform { width } else { random.u8(1..12) }).collect();
                Op::Create { widths, header: header(random) }
            }
            5 | 6 => Op::CreateArray { count: random.usize(1..40), width: random.u8(1..6), header: header(random) },
            7..=9 => Op::Delete(reference),
            10 | 11 => Op::WriteHeader(reference, header(random)),
            12 => Op::SetRoot(vec![b'a' + random.u8(0..3); 5], Some(reference)),
            13 => Op::SetRoot(vec![b'a' + random.u8(0..3); 5], None),
            14..=18 => self.draw_range(random).unwrap_or(Op::Delete(reference)),
            _ => {
                let fields = &self.objects[&reference].fields;
                let index = random.usize(..fields.len());
                let value = bytes(random, fields[index].len());
                Op::Put { reference, index, value }
            }
        }
    }

    /// A fill or copy.
    fn draw_range(&self, random: &mut fastrand::Rng) -> Option<Op> {
        let arrays: Vec<_> = self.objects.iter().filter(|(_, object)| object.kind == Kind::Array).collect();
        let (&array, source) = *random.choice(&arrays)?;
        let first = random.usize(..source.fields.len());
        let width = source.fields[0].len();
        if random.bool() {
            let count = random.usize(..=source.fields.len() - first);
            let value = (0..width).map(|_| random.u8(..)).collect();
            return Some(Op::Fill { to: Elements { array, first, count }, value });
        }
        let targets: Vec<_> = arrays.iter().filter(|(_, target)| target.fields[0].len() == width).collect();
        let (&to, target) = **random.choice(&targets)?;
        let at = random.usize(..target.fields.len());
        let room = (source.fields.len() - first).min(target.fields.len() - at);
        let (from, to) = (Elements { array, first, count: random.usize(..=room) }, (to, at));
        Some(if random.bool() { Op::Copy { from, to } } else { Op::CopyNonAtomic { from, to } })
    }

    /// Whether this is what a cut may leave of a non-atomic change: `before` or `after`, byte by byte, except the
    /// `spoilt` bytes of a word in the data of `array`.
    pub fn is_between(&self, before: &Model, after: &Model, array: Ref, spoilt: usize) -> bool {
        let mut others = self.clone();
        let (Some(found), Some(old), Some(new)) =
            (self.objects.get(&array), before.objects.get(&array), after.objects.get(&array))
        else {
            return false;
        };
        others.objects.insert(array, old.clone());
        let (found, old, new) = (found.fields.concat(), old.fields.concat(), new.fields.concat());
        let is_whole = |at: usize| found[at] == old[at] || found[at] == new[at];
        let first = (0..found.len()).find(|&at| !is_whole(at));
        let last = (0..found.len()).rfind(|&at| !is_whole(at));
        others == *before
            && found.len() == old.len()
            && first.zip(last).is_none_or(|(first, last)| last - first < spoilt)
    }
}

impl Op {
    /// The array that the operation changes element by element, if it does.
    pub fn non_atomic_target(&self) -> Option<Ref> {
        match self {
            Op::Fill { to, .. } => Some(to.array),
            Op::CopyNonAtomic { to, .. } => Some(to.0),
            _ => None,
        }
    }
}

/// A heap and what it should hold.
#[derive(Clone)]
pub struct Pair<H> {
    pub heap: H,
    pub committed: Model,
    pub open: Option<Model>,
}

impl<H: ObjectHeap> Pair<H> {
    pub fn new(heap: H) -> Self {
        Pair { heap, committed: Model::default(), open: None }
    }

    pub fn visible(&self) -> &Model {
        self.open.as_ref().unwrap_or(&self.committed)
    }

    pub fn draw(&self, random: &mut fastrand::Rng) -> Op {
        let ends: &[Op] = if self.open.is_some() { &[Op::Commit, Op::Commit, Op::Abort] } else { &[Op::Begin] };
        self.visible().draw(random, ends)
    }

    /// Carries out `op` on both. Where the heap has no room, the model's transaction is undone too.
    pub fn step(&mut self, op: &Op, context: &dyn Fn() -> String) -> Result<(), Failure> {
        match (perform(&mut self.heap, op), op) {
            (Ok(_), Op::Begin) => self.open = Some(self.committed.clone()),
            (Ok(_), Op::Commit) => self.committed = self.open.take().unwrap(),
            (Ok(_), Op::Abort) => self.open = None,
            (Ok(created), _) => self.open.as_mut().unwrap_or(&mut self.committed).change(op, created),
            (Err(failure @ (Failure::Full | Failure::TransactionTooLarge)), _) => {
                if self.open.take().is_some() {
                    // It is open until it is aborted; one that a commit found too large may be as it was.
                    if !matches!(op, Op::Commit) {
                        assert_eq!(perform(&mut self.heap, &Op::Begin), Err(Failure::Doomed), "{}", context());
                        assert_eq!(perform(&mut self.heap, &Op::Commit), Err(Failure::Doomed), "{}", context());
                    }
                    perform(&mut self.heap, &Op::Abort).unwrap();
                }
                return Err(failure);
            }
            (Err(failure), _) => panic!("{failure:?} {}", context()),
        }
        Ok(())
    }
}

/// A number from the environment, for replaying.
pub fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}
