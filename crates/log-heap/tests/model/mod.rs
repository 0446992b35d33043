//! The heap's interface in plain memory, calls drawn at random, and a device whose power can be cut in every shape
//! that any part's contract allows, and in two that none does.

pub mod cuts;

use std::collections::{BTreeMap, BTreeSet};

use norn_conformance::{Context, Powered};
use norn_flash::{Address, Collected, EraseUnit, Nor, NorPart, Reprogramming};
use norn_flash_sim::{NorSim, PartSpec, SimError, Tear, catalogue};
use norn_log_heap::{
    AccessError, CollectError, CreateError, Elements, ErrorDetection, Kind, Layout, LogHeapIn, Ref, StoreError,
    TracerIn, TransactionError, UnitRow,
};

pub type TestHeap = LogHeapIn<Harsh, Vec<UnitRow>>;

/// A NOR part whose tears are those of all kinds of parts. It is never asked for what is outside of it.
#[derive(Clone, Debug)]
pub struct Harsh(pub NorSim);

impl Nor for Harsh {
    type Error = SimError;

    fn part(&self) -> NorPart {
        self.0.part()
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), SimError> {
        let end = u64::from(address.0) + buffer.len() as u64;
        assert!(end <= u64::from(self.0.spec().part.size_bytes()), "a read outside of the part, at {address}");
        self.0.read(address, buffer)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        self.0.program(address, bytes)
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), SimError> {
        self.0.erase(unit)
    }
}

impl Powered for Harsh {
    fn cut_power_after(&mut self, operations: u64, tear: Tear) {
        self.0.cut_power_after(operations, tear);
    }

    fn power_on(&mut self) {
        self.0.power_on();
    }

    fn operations(&self) -> u64 {
        self.0.operations()
    }

    fn refusals(&self) -> u64 {
        self.0.refusals()
    }

    fn draw_tear(random: &mut fastrand::Rng) -> Tear {
        let all = every_shape(random.u64(..));
        all[random.usize(..all.len())]
    }
}

/// One of every shape: those that the contract of NOR parts allows, bits that waver or come back at the second boot,
/// and erases that program zeros first.
pub fn every_shape(seed: u64) -> Vec<Tear> {
    let more = [Tear::ZerosFirst(seed)];
    Tear::allowed(seed).into_iter().chain(Tear::allowed_on_nand(seed)).chain(more).collect()
}

/// Parts of every kind, of at least `units` units.
pub fn parts(units: u16) -> Vec<PartSpec> {
    let limited = catalogue::limited_test_part;
    vec![
        catalogue::test_part(units, 512),
        limited(units, 512, 4, Reprogramming::Times(2)),
        limited(units, 512, 8, Reprogramming::Once),
        limited(units, 1024, 16, Reprogramming::Once),
        limited(units, 2048, 32, Reprogramming::Once),
        limited(units, 1024, 4, Reprogramming::Once),
    ]
}

/// Parts of units of 512 granules or more, where transactions fill tails to the end.
pub fn parts_of_large_units(units: u16) -> Vec<PartSpec> {
    let limited = catalogue::limited_test_part;
    vec![limited(units, 2048, 4, Reprogramming::Once), limited(units, 4096, 8, Reprogramming::Once)]
}

/// What a heap holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    pub objects: BTreeMap<Ref, Object>,
    pub roots: BTreeMap<Vec<u8>, Ref>,
    /// What it held before the transaction that is open.
    pub before: Option<Box<Model>>,
}

impl Model {
    /// What calls see.
    pub fn now(&self) -> Model {
        Model { before: None, ..self.clone() }
    }

    /// What is found after a cut.
    pub fn committed(&self) -> Model {
        self.before.as_deref().unwrap_or(self).clone()
    }
}

/// An object's header, and the values of its fields; or an array's, and those of its elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    pub header: Vec<u8>,
    pub fields: Vec<Vec<u8>>,
    pub is_array: bool,
}

/// One call of the heap's interface.
#[derive(Clone, Debug)]
pub enum Call {
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
    Store {
        reference: Ref,
        index: usize,
        value: Vec<u8>,
    },
    Fill {
        to: Elements,
        value: Vec<u8>,
    },
    Copy {
        from: Elements,
        to: (Ref, usize),
        is_atomic: bool,
    },
    Put {
        reference: Ref,
        index: usize,
        value: Vec<u8>,
    },
    PutMany {
        reference: Ref,
        first: usize,
        values: Vec<Vec<u8>>,
    },
    WriteHeader {
        reference: Ref,
        header: Vec<u8>,
    },
    SetRoot {
        name: Vec<u8>,
        reference: Option<Ref>,
    },
    Rest,
    Begin,
    Commit,
    Abort,
    /// Fields of four bytes are references.
    Collect {
        roots: Vec<Ref>,
    },
}

/// Why a call had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    PowerLost,
    Full,
}

impl From<StoreError<SimError>> for Failure {
    fn from(error: StoreError<SimError>) -> Self {
        match error {
            StoreError::Device(SimError::PowerLost) => Failure::PowerLost,
            StoreError::Full => Failure::Full,
            other => panic!("{other}"),
        }
    }
}

impl From<CreateError<SimError>> for Failure {
    fn from(error: CreateError<SimError>) -> Self {
        match error {
            CreateError::Store(error) => error.into(),
            other => panic!("{other}"),
        }
    }
}

impl From<AccessError<SimError>> for Failure {
    fn from(error: AccessError<SimError>) -> Self {
        match error {
            AccessError::Store(error) => error.into(),
            other => panic!("{other}"),
        }
    }
}

impl From<CollectError<SimError>> for Failure {
    fn from(error: CollectError<SimError>) -> Self {
        match error {
            CollectError::Access(error) => error.into(),
            other => panic!("{other}"),
        }
    }
}

impl From<TransactionError<SimError>> for Failure {
    fn from(error: TransactionError<SimError>) -> Self {
        match error {
            TransactionError::Store(error) => error.into(),
            other => panic!("{other}"),
        }
    }
}

pub fn format(spec: PartSpec) -> TestHeap {
    let rows = vec![UnitRow::UNUSED; usize::from(spec.part.unit_count)];
    LogHeapIn::format_in(Harsh(NorSim::new(spec)), rows).unwrap()
}

/// A heap that notices flipped bits.
pub fn format_detecting(spec: PartSpec) -> TestHeap {
    let rows = vec![UnitRow::UNUSED; usize::from(spec.part.unit_count)];
    LogHeapIn::format_with_in(Harsh(NorSim::new(spec)), rows, ErrorDetection::On).unwrap()
}

pub fn mount(device: Harsh, context: Context<'_>) -> TestHeap {
    let rows = vec![UnitRow::UNUSED; usize::from(device.part().unit_count)];
    LogHeapIn::mount_in(device, rows).unwrap_or_else(|error| panic!("mount: {error}, {}", context()))
}

/// Makes a call of the heap; a creation returns its reference.
pub fn perform(heap: &mut TestHeap, call: &Call) -> Result<Option<Ref>, Failure> {
    match call {
        Call::Create { widths, header } => {
            return Ok(Some(heap.create(Layout::fields(widths).with_header(header))?));
        }
        Call::CreateArray { count, width, header } => return Ok(Some(heap.create_array(*count, *width, header)?)),
        Call::Delete(reference) => heap.delete(*reference)?,
        Call::Store { reference, index, value } => heap.array_store(*reference, *index, value)?,
        Call::Fill { to, value } => heap.array_fill_non_atomic(*to, value)?,
        Call::Copy { from, to, is_atomic: true } => heap.array_copy(*from, *to)?,
        Call::Copy { from, to, is_atomic: false } => heap.array_copy_non_atomic(*from, *to)?,
        Call::Put { reference, index, value } => heap.put_field(*reference, *index, value)?,
        Call::PutMany { reference, first, values } => heap.put_fields(*reference, *first, &values.concat())?,
        Call::WriteHeader { reference, header } => heap.write_header(*reference, header)?,
        Call::SetRoot { name, reference } => heap.set_root(name, *reference)?,
        Call::Rest => heap.rest()?,
        Call::Begin => heap.begin()?,
        Call::Commit => heap.commit()?,
        Call::Abort => heap.abort()?,
        Call::Collect { roots } => drop(heap.collect(roots, trace)?),
    }
    Ok(None)
}

/// Makes a call of the model.
pub fn change(model: &mut Model, call: &Call, created: Option<Ref>) {
    match call {
        Call::Create { widths, header } => {
            let fields = widths.iter().map(|&width| vec![0; usize::from(width)]).collect();
            let object = Object { header: header.clone(), fields, is_array: false };
            assert_eq!(model.objects.insert(created.unwrap(), object), None, "a reference given twice");
        }
        Call::CreateArray { count, width, header } => {
            let fields = vec![vec![0; usize::from(*width)]; *count];
            let object = Object { header: header.clone(), fields, is_array: true };
            assert_eq!(model.objects.insert(created.unwrap(), object), None, "a reference given twice");
        }
        Call::Store { reference, index, value } => {
            model.objects.get_mut(reference).unwrap().fields[*index] = value.clone();
        }
        Call::Fill { to, value } => {
            model.objects.get_mut(&to.array).unwrap().fields[to.first..to.first + to.count].fill(value.clone());
        }
        Call::Copy { from, to: (to, first), .. } => {
            let values = model.objects[&from.array].fields[from.first..from.first + from.count].to_vec();
            model.objects.get_mut(to).unwrap().fields[*first..first + from.count].clone_from_slice(&values);
        }
        Call::Delete(reference) => {
            model.objects.remove(reference);
        }
        Call::Put { reference, index, value } => {
            model.objects.get_mut(reference).unwrap().fields[*index] = value.clone();
        }
        Call::PutMany { reference, first, values } => {
            let fields = &mut model.objects.get_mut(reference).unwrap().fields;
            fields[*first..first + values.len()].clone_from_slice(values);
        }
        Call::WriteHeader { reference, header } => {
            model.objects.get_mut(reference).unwrap().header.clone_from(header);
        }
        Call::SetRoot { name, reference: Some(reference) } => {
            model.roots.insert(name.clone(), *reference);
        }
        Call::SetRoot { name, reference: None } => {
            model.roots.remove(name);
        }
        Call::Rest => {}
        Call::Begin => model.before = Some(Box::new(model.clone())),
        Call::Commit => model.before = None,
        Call::Abort => *model = model.committed(),
        Call::Collect { roots } => {
            let live = reached(model, roots);
            model.objects.retain(|reference, _| live.contains(reference));
        }
    }
}

/// Passes what an object's fields of four bytes refer to.
pub fn trace(tracer: &mut TracerIn<'_, Harsh, Vec<UnitRow>>, object: Ref) -> Result<(), AccessError<SimError>> {
    let info = tracer.heap().info(object)?;
    for index in 0..info.count {
        let mut bytes = [0; 4];
        if info.kind == Kind::Object && tracer.heap().field_width(object, index)? == bytes.len() {
            tracer.heap().get_field(object, index, &mut bytes)?;
            if let Some(reference) = Ref::from_bits(u32::from_le_bytes(bytes)) {
                tracer.reached(reference)?;
            }
        }
    }
    Ok(())
}

/// What the model's roots and others reach.
pub fn reached(model: &Model, roots: &[Ref]) -> BTreeSet<Ref> {
    let mut reached = BTreeSet::new();
    let mut pending: Vec<Ref> = roots.iter().chain(model.roots.values()).copied().collect();
    while let Some(reference) = pending.pop() {
        let Some(object) = model.objects.get(&reference) else { continue };
        if !reached.insert(reference) || object.is_array {
            continue;
        }
        let words = object.fields.iter().filter_map(|field| field.as_slice().try_into().ok());
        pending.extend(words.filter_map(|word| Ref::from_bits(u32::from_le_bytes(word))));
    }
    reached
}

/// Whether a call may find no room: only what makes something larger.
pub fn can_grow(call: &Call) -> bool {
    match call {
        Call::Create { .. } | Call::CreateArray { .. } | Call::WriteHeader { .. } => true,
        Call::SetRoot { reference, .. } => reference.is_some(),
        // What the elements were has to be kept until all are copied.
        Call::Copy { is_atomic, .. } => *is_atomic,
        _ => false,
    }
}

/// What a call that was refused leaves behind: nothing; or an aborted transaction, where it sets several elements. That
/// refuses everything else, and is aborted here.
pub fn refuse(heap: &mut TestHeap, model: &mut Model, call: &Call) {
    assert_eq!(heap.in_transaction(), model.before.is_some(), "{call:?} was refused, and ended the transaction");
    if heap.next_object(None) == Err(AccessError::TransactionAborted) {
        assert!(matches!(call, Call::Fill { .. } | Call::Copy { .. }), "{call:?} aborted the transaction");
        assert_eq!(heap.commit(), Err(TransactionError::Aborted), "after {call:?}");
        assert_eq!(heap.abort(), Ok(()), "after {call:?}");
        *model = model.committed();
    }
}

/// Whether a heap may hold this after a cut: what it held before the call or after it, or, where a call sets each
/// element by itself, some elements of both.
pub fn admits(before: &Model, after: &Model, call: &Call, found: &Model) -> bool {
    let (before_call, before, after) = (before, before.committed(), after.committed());
    if let Call::Collect { .. } = call {
        // Some of the garbage.
        let is_between = after.objects.iter().all(|(reference, object)| found.objects.get(reference) == Some(object))
            && found.objects.iter().all(|(reference, object)| before.objects.get(reference) == Some(object));
        return is_between && found.roots == before.roots;
    }
    let target = match call {
        Call::Fill { to, .. } => to.array,
        Call::Copy { to, is_atomic: false, .. } => to.0,
        _ => return *found == before || *found == after,
    };
    if before_call.before.is_some() {
        return *found == before;
    }
    let mut found = found.clone();
    let (old, new) = (&before.objects[&target], &after.objects[&target]);
    let Some(object) = found.objects.get_mut(&target) else { return false };
    let pairs = old.fields.iter().zip(&new.fields);
    if object.fields.len() != old.fields.len()
        || !object.fields.iter().zip(pairs).all(|(field, (old, new))| field == old || field == new)
    {
        return false;
    }
    object.fields.clone_from(&old.fields);
    found == before
}

/// What a heap holds, read through its interface, after every invariant was checked.
pub fn contents(heap: &mut TestHeap, context: Context<'_>) -> Model {
    heap.device_mut().0.freeze_counters();
    let mut collected = Collected::default();
    heap.audit(&mut collected).unwrap_or_else(|error| panic!("audit: {error}, {}", context()));
    assert_eq!(collected.violations, [], "{}", context());
    let (mut model, mut after) = (Model::default(), None);
    while let Some(reference) = heap.next_object(after).unwrap() {
        let info = heap.info(reference).unwrap();
        let is_array = info.kind == Kind::Array;
        let field = |index| {
            let mut value = vec![0; heap.field_width(reference, index).unwrap()];
            heap.get_field(reference, index, &mut value).unwrap();
            value
        };
        let fields = if is_array {
            elements(heap, reference, info.count, info.data_bytes as usize / info.count)
        } else {
            (0..info.count).map(field).collect()
        };
        let mut header = vec![0; 255];
        let length = heap.read_header(reference, &mut header).unwrap();
        header.truncate(length);
        model.objects.insert(reference, Object { header, fields, is_array });
        after = Some(reference);
    }
    heap.visit_roots(|name, reference| assert_eq!(model.roots.insert(name.to_vec(), reference), None)).unwrap();
    for (name, &reference) in &model.roots {
        assert_eq!(heap.root(name).unwrap(), Some(reference), "{}", context());
    }
    heap.device_mut().0.thaw_counters();
    model
}

/// The elements of an array, all read together, and some each by itself.
fn elements(heap: &mut TestHeap, array: Ref, count: usize, width: usize) -> Vec<Vec<u8>> {
    let mut bytes = vec![0; count * width];
    heap.array_read(array, 0, &mut bytes).unwrap();
    let mut element = vec![0; width];
    for index in (0..count).step_by(count.div_ceil(9)) {
        heap.array_load(array, index, &mut element).unwrap();
        assert_eq!(element, bytes[index * width..][..width]);
    }
    bytes.chunks(width).map(<[u8]>::to_vec).collect()
}

/// A call that fits what a heap holds: about `most` objects in the long run.
pub fn draw(model: &Model, most: usize, random: &mut fastrand::Rng) -> Call {
    let references: Vec<&Ref> = model.objects.keys().collect();
    let grows = random.usize(..=2 * most) >= references.len();
    let Some(&&reference) = random.choice(&references) else { return draw_creation(random) };
    let fields = &model.objects[&reference].fields;
    let value = |width: usize, random: &mut fastrand::Rng| (0..width).map(|_| random.u8(..)).collect::<Vec<u8>>();
    match random.u8(..20) {
        0..3 if grows => draw_creation(random),
        0..3 => Call::Delete(reference),
        3..6 if model.objects[&reference].is_array => draw_range(model, reference, random),
        3..6 => {
            let first = random.usize(..fields.len());
            let end = random.usize(first + 1..=fields.len());
            let values = fields[first..end].iter().map(|field| value(field.len(), random)).collect();
            Call::PutMany { reference, first, values }
        }
        6 => Call::Rest,
        7 => Call::WriteHeader { reference, header: draw_header(random) },
        8 => Call::SetRoot { name: draw_name(random), reference: (random.u8(..3) > 0).then_some(reference) },
        _ if model.objects[&reference].is_array => {
            let index = random.usize(..fields.len());
            Call::Store { reference, index, value: value(fields[index].len(), random) }
        }
        _ => {
            let index = random.usize(..fields.len());
            Call::Put { reference, index, value: value(fields[index].len(), random) }
        }
    }
}

/// A call that fits what a heap holds, mostly of a root or a header.
pub fn draw_root_or_header(model: &Model, most: usize, random: &mut fastrand::Rng) -> Call {
    let references: Vec<&Ref> = model.objects.keys().collect();
    match random.choice(&references) {
        Some(&&reference) if random.u8(..8) > 0 => match random.u8(..8) {
            0 => Call::WriteHeader { reference, header: draw_header(random) },
            1 => Call::SetRoot { name: draw_name(random), reference: None },
            _ => Call::SetRoot { name: draw_name(random), reference: Some(reference) },
        },
        _ => draw(model, most, random),
    }
}

/// A call that fits what a heap holds, mostly one that changes which objects refer to which, and collections.
pub fn draw_reference(model: &Model, most: usize, random: &mut fastrand::Rng) -> Call {
    let references: Vec<&Ref> = model.objects.keys().collect();
    let Some(&&reference) = random.choice(&references) else { return draw(model, most, random) };
    let fields = &model.objects[&reference].fields;
    match random.u8(..16) {
        0 => Call::Collect { roots: (0..random.usize(..3)).map(|_| **random.choice(&references).unwrap()).collect() },
        1..4 if references.len() < 3 * most => {
            Call::Create { widths: vec![4; random.usize(1..6)], header: draw_header(random) }
        }
        4..11 => match (0..fields.len()).rfind(|&index| fields[index].len() == 4) {
            Some(last) if !model.objects[&reference].is_array => {
                let index = random.usize(..=last);
                if fields[index].len() != 4 {
                    return draw(model, most, random);
                }
                let other = **random.choice(&references).unwrap();
                let value = if random.u8(..8) == 0 { vec![0; 4] } else { other.bits().to_le_bytes().to_vec() };
                Call::Put { reference, index, value }
            }
            _ => draw(model, most, random),
        },
        11 => Call::SetRoot { name: draw_name(random), reference: Some(reference) },
        _ => draw(model, most, random),
    }
}

/// A call that fits what a heap holds, mostly in a transaction.
pub fn draw_in_transaction(model: &Model, most: usize, random: &mut fastrand::Rng) -> Call {
    match (model.before.is_some(), random.u8(..16)) {
        (true, 0) => Call::Commit,
        (true, 1) => Call::Abort,
        (false, 0..8) => Call::Begin,
        (_, 8..12) => draw_put(model, most, random),
        _ => draw(model, most, random),
    }
}

/// A call that fits what a heap holds, mostly of a field in a transaction: tails are filled.
pub fn draw_put_in_transaction(model: &Model, most: usize, random: &mut fastrand::Rng) -> Call {
    match (model.before.is_some(), random.u8(..40)) {
        (true, 0) => Call::Commit,
        (true, 1) => Call::Abort,
        (false, 0..20) => Call::Begin,
        _ => draw_put(model, most, random),
    }
}

/// A call that fits what a heap holds, mostly of a field.
pub fn draw_put(model: &Model, most: usize, random: &mut fastrand::Rng) -> Call {
    loop {
        let call = draw(model, most, random);
        if matches!(call, Call::Put { .. } | Call::Store { .. } | Call::Create { .. })
            || random.u8(..30) == 0 && !matches!(call, Call::Rest)
        {
            return call;
        }
    }
}

/// A fill of a range of an array, or a copy to it from itself or another one of elements of the same width.
fn draw_range(model: &Model, array: Ref, random: &mut fastrand::Rng) -> Call {
    let fields = &model.objects[&array].fields;
    let (count, width) = (fields.len(), fields[0].len());
    let first = random.usize(..count);
    let most = if random.bool() { count } else { count.min(first + 5) };
    if random.bool() {
        let to = Elements { array, first, count: random.usize(first..=most.max(first)) - first };
        return Call::Fill { to, value: (0..width).map(|_| random.u8(..)).collect() };
    }
    let is_like = |object: &Object| object.is_array && object.fields[0].len() == width;
    let like: Vec<Ref> = model.objects.iter().filter(|(_, object)| is_like(object)).map(|(&array, _)| array).collect();
    let from = if random.bool() { array } else { like[random.usize(..like.len())] };
    let others = model.objects[&from].fields.len();
    let start = random.usize(..others);
    let from = Elements { array: from, first: start, count: random.usize(..=(most - first).min(others - start)) };
    Call::Copy { from, to: (array, first), is_atomic: random.bool() }
}

fn draw_name(random: &mut fastrand::Rng) -> Vec<u8> {
    let length = [1, 5, 17, 31, 31][random.usize(..5)];
    [&vec![b'r'; length][..], &[random.u8(..6)]].concat()
}

fn draw_creation(random: &mut fastrand::Rng) -> Call {
    let header = if random.bool() { draw_header(random) } else { Vec::new() };
    if random.u8(..3) == 0 {
        let (widest, bytes) = ([2, 4, 70][random.usize(..3)], [5, 60, 600][random.usize(..3)]);
        let width = random.u8(1..=widest);
        let count = random.usize(1..=bytes / usize::from(width) + 1);
        return Call::CreateArray { count, width, header };
    }
    Call::Create { widths: draw_widths(random), header }
}

fn draw_header(random: &mut fastrand::Rng) -> Vec<u8> {
    (0..[0, 1, 4, 30][random.usize(..4)]).map(|_| random.u8(..)).collect()
}

fn draw_widths(random: &mut fastrand::Rng) -> Vec<u8> {
    let most = [2, 4, 12][random.usize(..3)];
    let count = random.usize(1..12);
    match random.bool() {
        true => vec![random.u8(1..=most); count],
        false => (0..count).map(|_| random.u8(1..=most)).collect(),
    }
}
