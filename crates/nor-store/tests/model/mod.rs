//! The store's interface in plain memory, random operations on both, and the comparison of the two.
//!
//! A *value* is a leaf of a tree: some bytes, and a chain of sectors after it. Records of the chain hold more bytes,
//! each whole or absent by one flag; a delta sector at the chain's end holds items. So a value is changed in all the
//! ways that the store has: replaced in a transaction, grown without one, and changed in place within and without.

use std::collections::BTreeMap;

use norn_flash::Collected;
use norn_flash_sim::{NorSim, PartSpec, SimError};
use norn_nor_store::{
    Counting, DELTAS_OFFSET, Delta, DeltaRecords, ErrorDetection, Extension, Link, Room, Sector, SectorKind, SectorPtr,
    SectorSpec, Store, StoreConfig, StoreError, TreeHit, TreeId,
};

/// The store under test: small enough to clone at every operation.
pub type TestStore = Store<NorSim, 16>;
pub type TestError = StoreError<SimError>;

/// Trees that values are in.
pub const TREES: [TreeId; 2] = [TreeId::Ref, TreeId::Name];
/// Bytes after a link before those of a leaf, or of a record: flag and length.
const HEAD_BYTES: u32 = 2;
const LINK_BYTES: u32 = 4;
/// Bytes of a delta sector.
const DELTA_SECTOR_BYTES: u32 = DELTAS_OFFSET + 4 * 6;
/// The flag of a record that counts.
const WHOLE: u8 = 0xFE;

/// A value as the model keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    pub bytes: Vec<u8>,
    pub records: Vec<Vec<u8>>,
    pub items: BTreeMap<u8, u16>,
}

/// What the trees hold, by the number of the tree and the key.
pub type Model = BTreeMap<(usize, u32), Value>;

/// One call, or a few that belong together.
#[derive(Clone, Debug)]
pub enum Op {
    Put {
        place: (usize, u32),
        bytes: Vec<u8>,
    },
    Remove((usize, u32)),
    /// Adds a record to the chain of a value.
    Extend {
        place: (usize, u32),
        bytes: Vec<u8>,
    },
    /// Gives an item of a value another value.
    Set {
        place: (usize, u32),
        item: u8,
        value: u16,
    },
    /// Uses scratch bits; changes nothing that can be seen.
    Scratch {
        bits: u32,
    },
    ReclaimStep {
        least_bytes: u32,
    },
    Begin,
    Commit,
    Abort,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// There was no room, in the part or in the log: the transaction was undone.
    Refused,
    PowerLost,
}

/// A store and what it holds.
#[derive(Clone, Debug)]
pub struct Pair {
    pub store: TestStore,
    pub committed: Model,
    /// With the changes of the open transaction.
    pub open: Option<Model>,
}

impl Pair {
    pub fn new(spec: PartSpec, config: StoreConfig) -> Pair {
        Pair { store: TestStore::format(NorSim::new(spec), config).unwrap(), committed: Model::new(), open: None }
    }

    /// What a reader sees.
    pub fn visible(&self) -> &Model {
        self.open.as_ref().unwrap_or(&self.committed)
    }

    /// An operation that makes sense now.
    pub fn draw(&self, random: &mut fastrand::Rng) -> Op {
        let place = (random.usize(..TREES.len()), random.u32(..12) * random.choice([1, 1, 1, 19, 1009]).unwrap());
        let known = random.choice(self.visible().keys()).copied().unwrap_or(place);
        let bytes = |random: &mut fastrand::Rng| (0..random.usize(1..24)).map(|_| random.u8(..)).collect();
        match random.u8(..24) {
            0..6 => Op::Put { place, bytes: bytes(random) },
            6..9 => Op::Remove(known),
            9..13 => Op::Extend { place: known, bytes: bytes(random) },
            13..19 if self.store.config().delta_records == DeltaRecords::On => {
                Op::Set { place: known, item: random.u8(..4), value: random.u16(..) }
            }
            19 => Op::Scratch { bits: random.u32(1..200) },
            20 => Op::ReclaimStep { least_bytes: random.u32(..300) },
            21 => Op::Begin,
            22 => Op::Commit,
            23 => Op::Abort,
            _ => Op::Remove(known),
        }
    }

    /// Performs an operation on both. Outside a transaction each is one of its own.
    pub fn step(&mut self, op: &Op, context: &dyn Fn() -> String) -> Outcome {
        let before = self.clone();
        match self.perform(op) {
            Ok(()) => Outcome::Done,
            Err(StoreError::Full | StoreError::TransactionTooLarge) => {
                match self.store.abort() {
                    Ok(()) => {}
                    Err(StoreError::Device(_)) => return Outcome::PowerLost,
                    Err(error) => panic!("{error} {}", context()),
                }
                (self.committed, self.open) = (before.committed, None);
                Outcome::Refused
            }
            Err(StoreError::Device(_)) => Outcome::PowerLost,
            Err(error) => panic!("{error}: {:?} {}", self.store.corruption(), context()),
        }
    }

    fn perform(&mut self, op: &Op) -> Result<(), TestError> {
        match op {
            Op::Put { place, bytes } => {
                let value = Value { bytes: bytes.clone(), ..Value::default() };
                self.put(*place, value)?;
                self.settle()
            }
            Op::Remove(place) => {
                self.release_chain(*place)?;
                self.store.trees().put(TREES[place.0], place.1, None, Room::Reserved)?;
                self.changed().remove(place);
                self.settle()
            }
            Op::Extend { place, bytes } => self.extend(*place, bytes),
            Op::Set { place, item, value } => self.set(*place, *item, *value),
            Op::Scratch { bits } => self.use_scratch(*bits),
            Op::ReclaimStep { least_bytes } => self.store.reclaim_step(*least_bytes).map(|_| ()),
            Op::Begin => {
                self.open.get_or_insert_with(|| self.committed.clone());
                Ok(())
            }
            Op::Commit => {
                self.store.commit()?;
                self.committed = self.open.take().unwrap_or_else(|| self.committed.clone());
                Ok(())
            }
            Op::Abort => {
                self.store.abort()?;
                self.open = None;
                Ok(())
            }
        }
    }

    /// The model that a change of the open transaction, or one of its own, is made in.
    fn changed(&mut self) -> &mut Model {
        self.open.as_mut().unwrap_or(&mut self.committed)
    }

    /// Makes a change in what a reader sees, and in what an abort leaves.
    fn changed_at_once(&mut self, change: impl Fn(&mut Model)) {
        change(&mut self.committed);
        self.open.iter_mut().for_each(change);
    }

    fn settle(&mut self) -> Result<(), TestError> {
        if self.open.is_some() { Ok(()) } else { self.store.commit() }
    }

    /// Makes a new leaf with all of a value, chain included.
    fn put(&mut self, place: (usize, u32), value: Value) -> Result<(), TestError> {
        self.release_chain(place)?;
        let bytes = LINK_BYTES + HEAD_BYTES + value.bytes.len() as u32;
        let leaf = self.store.space().allocate(SectorSpec { bytes, kind: SectorKind::Leaf }, Room::Ordinary)?;
        self.fill(leaf, &value.bytes)?;
        let mut last = leaf;
        for record in &value.records {
            last = self.add_record(last, record, Extension::OfTransaction)?;
        }
        if !value.items.is_empty() {
            let deltas = self.add_delta_sector(last, Extension::OfTransaction)?;
            for (at, (&item, &value)) in (DELTAS_OFFSET..).step_by(4).zip(&value.items) {
                self.store.versions().add_delta(deltas, at, (item, &value.to_le_bytes()), Counting::AtOnce)?;
            }
        }
        self.store.trees().put(TREES[place.0], place.1, Some(leaf), Room::Ordinary)?;
        self.changed().insert(place, value);
        Ok(())
    }

    /// Programs bytes after a link, then the flag that makes them count.
    fn fill(&mut self, pointer: SectorPtr, bytes: &[u8]) -> Result<(), TestError> {
        let sector = self.store.sectors().get(pointer)?;
        self.store.sectors().program(&sector, LINK_BYTES + 1, &[bytes.len() as u8])?;
        self.store.sectors().program(&sector, LINK_BYTES + HEAD_BYTES, bytes)?;
        self.store.sectors().program(&sector, LINK_BYTES, &[WHOLE])
    }

    fn add_record(&mut self, last: SectorPtr, bytes: &[u8], extension: Extension) -> Result<SectorPtr, TestError> {
        let spec = SectorSpec { bytes: LINK_BYTES + HEAD_BYTES + bytes.len() as u32, kind: SectorKind::Record };
        let pointer = self.store.space().extend_chain(last, spec, extension)?;
        self.fill(pointer, bytes)?;
        Ok(pointer)
    }

    fn add_delta_sector(&mut self, last: SectorPtr, extension: Extension) -> Result<SectorPtr, TestError> {
        let spec = SectorSpec { bytes: DELTA_SECTOR_BYTES, kind: SectorKind::Opaque };
        self.store.space().extend_chain(last, spec, extension)
    }

    fn extend(&mut self, place: (usize, u32), bytes: &[u8]) -> Result<(), TestError> {
        let Some(leaf) = self.find(place)? else {
            return Ok(());
        };
        let chain = chain(&mut self.store, leaf.pointer)?;
        let last = *chain.last().unwrap();
        let full = chain.iter().any(|sector| sector.1.kind == SectorKind::Opaque)
            || self.store.sectors().link(&last.1)? == Link::Void;
        if full {
            let mut value = self.visible()[&place].clone();
            value.records.push(bytes.to_vec());
            self.put(place, value)?;
            return self.settle();
        }
        let extension = if leaf.open { Extension::OfTransaction } else { Extension::Alone };
        self.add_record(last.0, bytes, extension)?;
        let change = |model: &mut Model| model.get_mut(&place).unwrap().records.push(bytes.to_vec());
        match leaf.open {
            true => change(self.changed()),
            false => self.changed_at_once(change),
        }
        Ok(())
    }

    fn set(&mut self, place: (usize, u32), item: u8, value: u16) -> Result<(), TestError> {
        let Some(leaf) = self.find(place)? else {
            return Ok(());
        };
        let chain = chain(&mut self.store, leaf.pointer)?;
        let (last, sector) = *chain.last().unwrap();
        let extension = if leaf.open { Extension::OfTransaction } else { Extension::Alone };
        let free = match sector.kind {
            SectorKind::Opaque => self.free_delta(&sector)?.map(|at| (last, at)),
            _ if self.store.sectors().link(&sector)? == Link::Void => None,
            _ => Some((self.add_delta_sector(last, extension)?, DELTAS_OFFSET)),
        };
        let Some((deltas, at)) = free else {
            let mut whole = self.visible()[&place].clone();
            whole.items.insert(item, value);
            self.put(place, whole)?;
            return self.settle();
        };
        let counting = if self.open.is_some() && !leaf.open { Counting::WithCommit } else { Counting::AtOnce };
        self.store.versions().add_delta(deltas, at, (item, &value.to_le_bytes()), counting)?;
        self.changed().get_mut(&place).unwrap().items.insert(item, value);
        Ok(())
    }

    /// Where the next delta of a sector can be, if there is room and no torn one in the way.
    fn free_delta(&mut self, sector: &Sector) -> Result<Option<u32>, TestError> {
        let mut at = DELTAS_OFFSET;
        while let Some(delta) = self.store.versions().delta(sector, at)? {
            at = delta.end();
        }
        if at + Delta::bytes(2) > sector.bytes {
            return Ok(None);
        }
        let mut word = [0; 4];
        self.store.sectors().read(sector, at, &mut word)?;
        Ok((word == [0xFF; 4]).then_some(at))
    }

    fn find(&mut self, (tree, key): (usize, u32)) -> Result<Option<TreeHit>, TestError> {
        let root = self.store.tree(TREES[tree]);
        self.store.trees().get(root, key)
    }

    /// Has what hangs on a leaf freed by the commit; the tree frees the leaf itself.
    fn release_chain(&mut self, place: (usize, u32)) -> Result<(), TestError> {
        let Some(leaf) = self.find(place)? else {
            return Ok(());
        };
        match chain(&mut self.store, leaf.pointer)?.get(1) {
            Some((second, _)) => self.store.space().release_chain(*second),
            None => Ok(()),
        }
    }

    /// Clears every third bit of a field, and looks at all.
    fn use_scratch(&mut self, bits: u32) -> Result<(), TestError> {
        if self.store.transaction_is_open() {
            return Ok(());
        }
        let field = self.store.scratch().begin(bits)?;
        for bit in (0..bits).step_by(3) {
            self.store.scratch().clear_bit(&field, bit)?;
        }
        for bit in 0..bits {
            assert_eq!(self.store.scratch().bit(&field, bit)?, !bit.is_multiple_of(3));
        }
        self.store.scratch().end(field);
        Ok(())
    }
}

/// The sectors of a chain, the leaf first.
fn chain(store: &mut TestStore, leaf: SectorPtr) -> Result<Vec<(SectorPtr, Sector)>, TestError> {
    let mut sectors = vec![(leaf, store.sectors().get(leaf)?)];
    while let Link::To(next) = store.sectors().link(&sectors.last().unwrap().1)? {
        sectors.push((next, store.sectors().get(next)?));
    }
    Ok(sectors)
}

/// The bytes of a leaf or record; `None` for a record that does not count.
fn bytes_of(store: &mut TestStore, sector: &Sector) -> Result<Option<Vec<u8>>, TestError> {
    let mut head = [0; HEAD_BYTES as usize];
    store.sectors().read(sector, LINK_BYTES, &mut head)?;
    let mut bytes = vec![0; usize::from(head[1])];
    if head[0] != WHOLE {
        return Ok(None);
    }
    store.sectors().read(sector, LINK_BYTES + HEAD_BYTES, &mut bytes)?;
    Ok(Some(bytes))
}

/// What a store holds.
pub fn read(store: &mut TestStore) -> Result<Model, TestError> {
    let mut model = Model::new();
    for (tree, id) in TREES.into_iter().enumerate() {
        let (root, mut from) = (store.tree(id), 0);
        while let Some((key, leaf)) = store.trees().next(root, from)? {
            assert_eq!(store.trees().get(root, key)?.map(|hit| hit.pointer), Some(leaf));
            let mut value = Value::default();
            for (pointer, sector) in chain(store, leaf)? {
                match sector.kind {
                    SectorKind::Leaf => value.bytes = bytes_of(store, &sector)?.expect("a leaf is whole"),
                    SectorKind::Record => value.records.extend(bytes_of(store, &sector)?),
                    SectorKind::Opaque => value.items = items_of(store, &sector)?,
                    SectorKind::Node => panic!("a node at {pointer}"),
                }
            }
            model.insert((tree, key), value);
            from = key + 1;
        }
        let last = model.range((tree, 0)..(tree + 1, 0)).next_back().map(|((_, key), _)| *key);
        assert_eq!(store.trees().last(root)?, last);
    }
    Ok(model)
}

fn items_of(store: &mut TestStore, sector: &Sector) -> Result<BTreeMap<u8, u16>, TestError> {
    let (mut items, mut at) = (BTreeMap::new(), DELTAS_OFFSET);
    while let Some(delta) = store.versions().delta(sector, at)? {
        if delta.stands() {
            let mut value = [0; 2];
            store.sectors().read(sector, delta.value_at(), &mut value)?;
            items.insert(delta.index() as u8, u16::from_le_bytes(value));
        }
        at = delta.end();
    }
    Ok(items)
}

/// What the checker finds.
pub type Found = Collected<SectorPtr>;

/// Asserts that a store without an open transaction holds `model`, and that the checker finds nothing.
pub fn check(store: &TestStore, model: &Model, context: &dyn Fn() -> String) {
    let mut store = store.clone();
    store.device_mut().freeze_counters();
    let found = read(&mut store).unwrap_or_else(|error| panic!("{error} {}", context()));
    assert_eq!(&found, model, "{}", context());
    let mut auditor = Found::default();
    audit(&mut store, &mut auditor).unwrap_or_else(|error| panic!("{error} {}", context()));
    assert!(auditor.violations.is_empty(), "{:?} {}", auditor.violations, context());
}

fn audit(store: &mut TestStore, auditor: &mut Found) -> Result<(), TestError> {
    store.sectors().audit_units(auditor)?;
    for tree in [TreeId::Ref, TreeId::Name, TreeId::Notify] {
        let (root, mut from) = (store.tree(tree), 0);
        store.trees().audit(auditor, root)?;
        while let Some((key, leaf)) = store.trees().next(root, from)? {
            for (pointer, sector) in chain(store, leaf)? {
                store.sectors().audit_sector(auditor, pointer, sector.kind)?;
            }
            from = key + 1;
        }
    }
    store.sectors().audit_reachability(auditor)
}

/// The configurations under test.
pub fn configs() -> [StoreConfig; 3] {
    let config = StoreConfig { wear_period: 5, ..StoreConfig::default() };
    [
        config,
        StoreConfig { delta_records: DeltaRecords::On, log_units: 3, ..config },
        StoreConfig { error_detection: ErrorDetection::On, ..config },
    ]
}

/// A number from the environment, for wider runs and for replays.
pub fn from_environment(name: &str, default: u64) -> u64 {
    norn_conformance::from_environment(name).unwrap_or(default)
}
