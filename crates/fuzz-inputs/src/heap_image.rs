//! Damaged images, and what a program does with them.
//!
//! Arbitrary bytes choose the damage, so that a fuzzer can steer it. Much of it is made of records whose codes are
//! right, which is what gets past the first line of checks.

use std::sync::LazyLock;

use norn_flash::{Address, Collected};
use norn_flash_sim::{NorSim, SimError, catalogue};
use norn_nor_store::format::{Entry, LogicalUnit, SectorPtr};
use norn_object_heap::{
    AccessError, CollectError, Config, CreateError, Elements, ErrorDetection, Heap, Kind, Layout, Listener, Ref,
    SectorPtr as Pointer, StoreError,
};

/// Size of the images that are damaged: twelve units of 1 KB.
const UNITS: u16 = 12;
const UNIT_BYTES: u32 = 1024;
/// A walk over an image of this size that reads more words than this has lost its bound.
const READS_MAX: u64 = 40_000_000;

type SimHeap = Heap<NorSim, 64, Deaf>;

/// Hears of pointers, and keeps none.
#[derive(Debug)]
struct Deaf;

impl Listener for Deaf {
    fn invalidated(&mut self, _: Ref) {}

    fn all_invalidated(&mut self) {}
}

/// The choices of a fuzzer, zeros at the end.
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.word() % bound
    }

    fn pointer(&mut self) -> SectorPtr {
        let (unit, sector) = (self.below(u32::from(UNITS) + 2).max(1), self.below(40));
        SectorPtr::new(LogicalUnit(unit as u16), sector as u16)
    }

    fn entry(&mut self) -> Entry {
        let unit = |choices: &mut Self| choices.below(u32::from(UNITS) + 1) as u16;
        let optional = |choices: &mut Self| choices.byte().is_multiple_of(2).then(|| choices.pointer());
        match self.byte() % 16 {
            0 => Entry::LogUnit { sequence: self.below(6) },
            1 => Entry::DataUnit { logical: LogicalUnit(unit(self)), descriptors: self.below(300) as u16 },
            2 => Entry::Chain { first: self.below(6) },
            3 => Entry::Setting { key: self.byte() % 4, value: self.word() },
            4 => Entry::Root { tree: self.byte() % 4, height: self.byte() % 7, node: optional(self) },
            5 => Entry::Serial { serial: self.below(1 << 24) },
            6 => Entry::Ready,
            7 => Entry::Erase { unit: unit(self), count: self.below(100) },
            8 => Entry::Move { from: unit(self), to: unit(self) },
            9 => Entry::New { a: self.pointer(), b: optional(self) },
            10 => Entry::Swap { node: self.pointer(), freed: optional(self) },
            11 => Entry::Release { a: self.pointer(), b: optional(self) },
            12 => Entry::Link { last: self.pointer(), new: self.pointer() },
            13 => Entry::ReleaseTree { node: self.pointer(), height: self.byte() % 7 },
            14 => Entry::Commit { serial: self.below(1 << 24) },
            _ => Entry::Abort { serial: self.below(1 << 24) },
        }
    }

    /// A word with right codes or without: a descriptor, a link, a tree word, or anything.
    fn coded_word(&mut self) -> u32 {
        let fields = self.word();
        match self.byte() % 5 {
            0 => {
                let data = fields & 0x3FF_FFFF;
                data | (26 - data.count_ones()) << 26 | u32::from(self.byte() % 2) << 31
            }
            1 => {
                let pointer = self.pointer().bits();
                pointer | (24 - pointer.count_ones()) << 24 | 7 << 29
            }
            2 => self.pointer().bits() | (fields & 15) << 24 | 15 << 28,
            3 => self.pointer().bits() | fields & 0xFF00_0000,
            _ => fields,
        }
    }
}

/// Images to damage.
pub const IMAGES_COUNT: usize = 24;

/// The images to damage.
static IMAGES: LazyLock<[NorSim; IMAGES_COUNT]> = LazyLock::new(|| std::array::from_fn(|variant| image(variant as u8)));

/// A heap with objects, arrays, lists, headers, roots and pointers, and an open transaction for even `variant`s; error
/// detection for the upper half of them.
fn image(variant: u8) -> NorSim {
    let sim = NorSim::new(catalogue::test_part(UNITS, UNIT_BYTES));
    let error_detection = if variant < 12 { ErrorDetection::Off } else { ErrorDetection::On };
    let variant = variant % 12;
    let config =
        Config { list_length_max: 3, wear_period: 4, array_threshold: 10, error_detection, ..Config::default() };
    let mut heap = SimHeap::format_with(sim, config, Deaf).expect("the part is suitable");
    let mut objects = Vec::new();
    for count in 1..20 {
        let object = heap.create(Layout::uniform(count, 2).with_header(&[1; 7][..count % 7])).expect("room");
        heap.set_root(&[b'a' + count as u8 % 5], Some(object)).expect("room");
        objects.push(object);
    }
    objects.push(heap.create(Layout::fields(&[4, 2, 1, 8])).expect("room"));
    let array = heap.create_array(60, 2, &[3; 5]).expect("room");
    heap.array_fill_non_atomic(Elements { array, first: 3, count: 40 }, &[7; 2]).expect("room");
    for number in 0..usize::from(variant) * 4 {
        let object = objects[number % 6];
        heap.put_field(object, 0, &[number as u8; 2]).expect("room");
        if number % 7 == 0 {
            heap.delete(objects.remove(8)).expect("it is there");
            objects.push(heap.create(Layout::uniform(3, 4)).expect("room"));
        }
    }
    for &object in objects.iter().step_by(3) {
        heap.field_pointer(object, 0).expect("room");
    }
    if variant.is_multiple_of(2) {
        heap.begin().expect("none is open");
        heap.put_field(objects[1], 0, &[0; 2]).expect("room");
        heap.delete(objects[2]).expect("it is there");
    }
    heap.into_device()
}

fn damage(device: &mut NorSim, choices: &mut Choices<'_>) {
    let size = u32::from(UNITS) * UNIT_BYTES;
    match choices.byte() % 6 {
        0 => {
            let at = Address(choices.below(size));
            let byte = device.peek(at, 1)[0] ^ 1 << (choices.byte() % 8);
            device.poke(at, &[byte]);
        }
        1 => {
            let unit = choices.below(u32::from(UNITS)) * UNIT_BYTES;
            let at = Address(unit + 16 + 8 * choices.below((UNIT_BYTES - 16) / 8));
            device.poke(at, &choices.entry().encode());
        }
        2 => {
            // After the last entry of a log unit, where it counts.
            let unit = choices.below(u32::from(UNITS)) * UNIT_BYTES;
            let end = (24..UNIT_BYTES).step_by(8).find(|at| device.peek(Address(unit + at), 8) == [0xFF; 8]);
            device.poke(Address(unit + end.unwrap_or(UNIT_BYTES - 8)), &choices.entry().encode());
        }
        3 => {
            let at = Address(4 * choices.below(size / 4));
            device.poke(at, &choices.coded_word().to_le_bytes());
        }
        4 => {
            let at = choices.below(size);
            let len = choices.below(64).min(size - at);
            device.poke(Address(at), &vec![choices.byte(); len as usize]);
        }
        _ => {
            let (from, to) = (choices.below(size / 4) * 4, choices.below(size / 4) * 4);
            let len = choices.below(256).min(size - from).min(size - to);
            let bytes = device.peek(Address(from), len as usize);
            device.poke(Address(to), &bytes);
        }
    }
}

/// The outcome of a damaged image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Mounting refused it.
    Refused,
    /// It was mounted, and the checker found the damage, or an access did.
    Noticed,
    /// The heap is consistent.
    Consistent,
}

/// Damages an image as `bytes` say, if they do, and uses it.
///
/// # Panics
/// If the heap panics, loops, or reaches outside the part. An error is the right answer to damage, and the part's
/// refusal to program what the damage made impossible is one.
pub fn try_damaged(bytes: &[u8]) -> Fate {
    let mut choices = Choices(bytes);
    let mut device = IMAGES[usize::from(choices.byte()) % IMAGES_COUNT].clone();
    for _ in 0..choices.byte() % 5 {
        damage(&mut device, &mut choices);
    }
    let mut heap = match SimHeap::mount_with(device, Deaf) {
        Ok(heap) => heap,
        Err(error) => {
            assert!(!error.to_string().contains("leave the part"), "{error}");
            return Fate::Refused;
        }
    };
    let mut found = Collected::<Pointer>::default();
    let audited = heap.audit(&mut found);
    let used = exercise(&mut heap, &mut choices);
    assert!(heap.device().counters().reads() < READS_MAX, "no bound on reads");
    match (audited, used) {
        (Ok(()), Ok(())) if found.violations.is_empty() => Fate::Consistent,
        (audited, used) => {
            for error in [audited, used].into_iter().filter_map(Result::err) {
                assert!(
                    !matches!(error, AccessError::Store(StoreError::Device(SimError::OutOfRange { .. }))),
                    "{error}"
                );
            }
            Fate::Noticed
        }
    }
}

/// Reads everything, updates something, creates and deletes.
fn exercise(heap: &mut SimHeap, choices: &mut Choices<'_>) -> Result<(), AccessError<SimError>> {
    let mut after = None;
    while let Some(object) = heap.next_object(after)? {
        assert!(after.is_none_or(|after| object.bits() & 0xFFFF > after.bits() & 0xFFFF), "enumeration goes round");
        after = Some(object);
        let info = heap.info(object)?;
        heap.read_header(object, &mut [0; 16])?;
        let mut value = vec![0; 255];
        for index in 0..info.count {
            let mut access = |heap: &mut SimHeap, width: usize| match info.kind {
                Kind::Object => heap.get_field(object, index, &mut value[..width]),
                Kind::Array => heap.array_load(object, index, &mut value[..width]),
            };
            let width = match access(heap, 0) {
                Err(AccessError::WrongWidth { width }) => width as usize,
                other => return other,
            };
            access(heap, width)?;
            if info.kind == Kind::Object && choices.byte() % 4 == 1 {
                ignore_full(heap.put_field(object, index, &vec![choices.byte(); width]))?;
            }
        }
        if info.kind == Kind::Array {
            exercise_ranges(heap, object, info.count, choices)?;
        }
        if choices.byte() % 8 == 1 {
            heap.delete(object)?;
        }
    }
    if choices.byte() % 4 == 1 {
        exercise_collection(heap, after)?;
    }
    heap.visit_roots(|_, _| ())?;
    match heap.create(Layout::uniform(4, 4)) {
        Ok(object) => ignore_full(heap.set_root(b"new", Some(object))),
        Err(CreateError::Store(StoreError::Full | StoreError::TransactionTooLarge)) => Ok(()),
        Err(CreateError::Store(error)) => Err(AccessError::Store(error)),
        Err(other) => panic!("{other}"),
    }
}

/// Reads, fills, copies and compares a range of an array.
fn exercise_ranges(
    heap: &mut SimHeap,
    array: Ref,
    count: usize,
    choices: &mut Choices<'_>,
) -> Result<(), AccessError<SimError>> {
    let first = choices.below(count as u32) as usize;
    let range = Elements { array, first, count: (count - first) / 2 };
    let width = heap.info(array)?.data_bytes as usize / count;
    heap.array_read(array, first, &mut vec![0; width * range.count])?;
    match choices.byte() % 4 {
        1 => ignore_full(heap.array_fill_non_atomic(range, &vec![choices.byte(); width])),
        2 => ignore_full(heap.array_copy(range, (array, first / 2))),
        3 => ignore_full(heap.array_copy_non_atomic(range, (array, first / 2))),
        _ => heap.array_compare(range, (array, first / 2)).map(|_| ()),
    }
}

/// Collects all but `root`, where every object refers to itself.
fn exercise_collection(heap: &mut SimHeap, root: Option<Ref>) -> Result<(), AccessError<SimError>> {
    let roots: Vec<Ref> = root.into_iter().collect();
    match heap.collect(&roots, |tracer, object| tracer.reached(object)) {
        Ok(_) | Err(CollectError::TooManyObjects { .. }) => Ok(()),
        Err(CollectError::Access(error)) => ignore_full(Err(error)),
        Err(CollectError::TransactionOpen) => panic!("no transaction is open"),
    }
}

fn ignore_full(result: Result<(), AccessError<SimError>>) -> Result<(), AccessError<SimError>> {
    match result {
        Err(AccessError::Store(StoreError::Full | StoreError::TransactionTooLarge)) => Ok(()),
        other => other,
    }
}
