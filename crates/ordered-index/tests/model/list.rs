//! A list of either layout behind one interface: with values of one length, or with values that vary.
//!
//! The model's values have three bytes. A list whose values vary keeps each of them as a value whose length follows
//! from it, so that the same random calls and the same comparison serve both.

use std::ops::Bound;

use norn_flash::{Auditor, Nor, Violation};
use norn_flash_sim::{NorSim, SimError};
use norn_ordered_index::fat_list::CallBound;
use norn_ordered_index::fat_list::format::{IDENTITY_BYTES, Identity};
use norn_ordered_index::{
    ByteIndexError, Change, Direction, Entry, FatList, Hint, IndexError, IndexStats, MountError, OrderedIndex,
    Reclaimed, Settings, UpTo, UpToVaried, Varying, VaryingList,
};

/// The longest value where values vary.
pub const LONGEST: usize = 40;

type Fixed<D, const K: usize> = FatList<D, K, 3>;
type Varied<D, const K: usize> = VaryingList<D, K, LONGEST>;
type Outcome<T> = Result<T, IndexError<SimError>>;

/// A list from keys of `K` bytes to values of three.
#[derive(Clone, Debug)]
pub enum EitherList<D: Nor = NorSim, const K: usize = 2> {
    Fixed(Fixed<D, K>),
    Varied(Varied<D, K>),
}

/// Bytes that a value of the model has where values vary.
pub fn length_of(value: &[u8; 3]) -> usize {
    if *value == [0; 3] { 0 } else { 3 + usize::from(value[0]) % (LONGEST - 2) }
}

/// The value of the model as a value of a length of its own.
fn stretched(value: &[u8; 3]) -> Vec<u8> {
    value.iter().copied().cycle().take(length_of(value)).collect()
}

/// The value that stands for bytes that are none of the model's.
pub const DAMAGED: [u8; 3] = [0xDA, 0x3A, 0x6E];

/// The model's value that is kept as `bytes`; `DAMAGED` if they are not what `stretched` returns.
fn shrunk(bytes: &[u8]) -> [u8; 3] {
    let value = bytes.get(..3).map_or([0; 3], |front| front.try_into().unwrap());
    if bytes == stretched(&value) { value } else { DAMAGED }
}

/// The model's entry that is kept as `entry`.
fn owned<const K: usize>((key, value): &(UpTo<K>, UpToVaried<LONGEST>)) -> Entry<K, 3> {
    (key.as_ref().try_into().unwrap(), shrunk(value.as_ref()))
}

fn plain<T>(outcome: Result<T, ByteIndexError<SimError>>) -> Outcome<T> {
    outcome.map_err(|error| match error {
        ByteIndexError::Index(error) => error,
        ByteIndexError::Width { .. } => panic!("{error}"),
    })
}

/// The same expression for either list.
macro_rules! either {
    ($list:expr, $inner:ident => $call:expr) => {
        match $list {
            EitherList::Fixed($inner) => $call,
            EitherList::Varied($inner) => $call,
        }
    };
}

fn widths<const K: usize>(log_bytes: u16) -> Varying<K, LONGEST> {
    Varying { key_bytes: K as u8, value_bytes: LONGEST as u16, log_bytes }
}

impl<D: Nor<Error = SimError>, const K: usize> EitherList<D, K> {
    pub fn format(device: D, settings: Settings) -> Result<Self, MountError<SimError>> {
        FatList::format(device, settings).map(EitherList::Fixed)
    }

    pub fn format_varied(device: D, settings: Settings, log_bytes: u16) -> Result<Self, MountError<SimError>> {
        VaryingList::format(device, widths(log_bytes), settings).map(EitherList::Varied)
    }

    /// Mounts the list of the kind that the device holds.
    pub fn mount(mut device: D) -> Result<Self, MountError<SimError>> {
        let part = device.part();
        let varies = (0..part.unit_count).find_map(|unit| {
            let mut bytes = [0; IDENTITY_BYTES];
            device.read(part.start_of(norn_flash::EraseUnit(unit)), &mut bytes).ok()?;
            Identity::decode(&bytes)?.ok().map(|identity| identity.log_bytes > 0)
        });
        match varies {
            Some(true) => VaryingList::mount(device, widths(0)).map(EitherList::Varied),
            _ => FatList::mount(device).map(EitherList::Fixed),
        }
    }

    pub fn device(&self) -> &D {
        either!(self, list => list.device())
    }

    pub fn device_mut(&mut self) -> &mut D {
        either!(self, list => list.device_mut())
    }

    pub fn into_device(self) -> D {
        either!(self, list => list.into_device())
    }

    pub fn stop(&mut self) -> Outcome<()> {
        either!(self, list => list.stop())
    }

    pub fn audit(&mut self, auditor: &mut impl Auditor) -> Outcome<()> {
        either!(self, list => list.audit(auditor))
    }

    pub fn insert_in_ring(&mut self, key: &[u8; K], value: &[u8; 3]) -> Outcome<u32> {
        match self {
            EitherList::Fixed(list) => list.insert_in_ring(key, value),
            EitherList::Varied(list) => plain(list.insert_in_ring(key, &stretched(value))),
        }
    }

    pub fn remove_below(&mut self, key: &[u8; K]) -> Outcome<u32> {
        match self {
            EitherList::Fixed(list) => list.remove_below(key),
            EitherList::Varied(list) => plain(list.remove_below(key)),
        }
    }

    /// As many changes as may be made together, whatever they are.
    pub fn changes_max(&self) -> usize {
        match self {
            EitherList::Fixed(list) => list.changes_max(),
            EitherList::Varied(list) => {
                list.changes_max().min(usize::from(list.log_bytes() / list.record_bytes(LONGEST)))
            }
        }
    }

    pub fn apply(&mut self, changes: &[Change<[u8; K], [u8; 3]>]) -> Outcome<()> {
        match self {
            EitherList::Fixed(list) => list.apply(changes),
            EitherList::Varied(list) => {
                let values: Vec<Vec<u8>> = changes
                    .iter()
                    .map(|change| match change {
                        Change::Put(_, value) => stretched(value),
                        Change::Remove(_) => Vec::new(),
                    })
                    .collect();
                let changes: Vec<Change<&[u8], &[u8]>> = changes
                    .iter()
                    .zip(&values)
                    .map(|(change, value)| match change {
                        Change::Put(key, _) => Change::Put(&key[..], &value[..]),
                        Change::Remove(key) => Change::Remove(&key[..]),
                    })
                    .collect();
                plain(list.apply(&changes))
            }
        }
    }

    pub fn guaranteed_keys(&self) -> u32 {
        either!(self, list => list.guaranteed_keys())
    }

    pub fn guaranteed_keys_with_batch(&self, puts: u32) -> u32 {
        either!(self, list => list.guaranteed_keys_with_batch(puts))
    }

    pub fn call_bound(&self, objects: u32) -> CallBound {
        either!(self, list => list.call_bound(objects))
    }

    pub fn bound_with_cells(&self, objects: u32) -> CallBound {
        either!(self, list => list.bound_with_cells(objects))
    }

    pub fn paced_bound(&self, objects: u32) -> CallBound {
        either!(self, list => list.paced_bound(objects))
    }

    pub fn batch_bound(&self, objects: u32, changes: u32) -> CallBound {
        either!(self, list => list.batch_bound(objects, changes))
    }

    pub fn ring_bound(&self, objects: u32) -> CallBound {
        either!(self, list => list.ring_bound(objects))
    }

    pub fn recovery_bound(&self, objects: u32) -> CallBound {
        either!(self, list => list.recovery_bound(objects))
    }

    pub fn get_bound(&self, objects: u32) -> u64 {
        either!(self, list => list.get_bound(objects))
    }

    pub fn step_bound(&self, objects: u32) -> u64 {
        either!(self, list => list.step_bound(objects))
    }

    pub fn len_bound(&self, objects: u32) -> u64 {
        either!(self, list => list.len_bound(objects))
    }

    pub fn stats_bound(&self, objects: u32) -> u64 {
        either!(self, list => list.stats_bound(objects))
    }

    pub fn boot_bound(&self, objects: u32) -> u64 {
        either!(self, list => list.boot_bound(objects))
    }
}

impl<D: Nor<Error = SimError>, const K: usize> OrderedIndex<K, 3> for EitherList<D, K> {
    type Device = D;

    fn insert(&mut self, key: &[u8; K], value: &[u8; 3]) -> Outcome<()> {
        match self {
            EitherList::Fixed(list) => list.insert(key, value),
            EitherList::Varied(list) => plain(list.insert(key, &stretched(value))),
        }
    }

    fn update(&mut self, key: &[u8; K], value: &[u8; 3]) -> Outcome<()> {
        match self {
            EitherList::Fixed(list) => list.update(key, value),
            EitherList::Varied(list) => plain(list.update(key, &stretched(value))),
        }
    }

    fn get(&mut self, key: &[u8; K]) -> Outcome<Option<[u8; 3]>> {
        match self {
            EitherList::Fixed(list) => list.get(key),
            EitherList::Varied(list) => {
                let mut value = [0; LONGEST];
                Ok(plain(list.get(key, &mut value))?.map(|length| shrunk(&value[..length])))
            }
        }
    }

    fn remove(&mut self, key: &[u8; K]) -> Outcome<()> {
        match self {
            EitherList::Fixed(list) => list.remove(key),
            EitherList::Varied(list) => plain(list.remove(key)),
        }
    }

    fn neighbour(
        &mut self,
        bound: Bound<&[u8; K]>,
        direction: Direction,
        hint: &mut Hint,
    ) -> Outcome<Option<Entry<K, 3>>> {
        match self {
            EitherList::Fixed(list) => list.neighbour(bound, direction, hint),
            EitherList::Varied(list) => {
                let (mut key, mut value) = ([0; K], [0; LONGEST]);
                let bound = bound.map(|key| &key[..]);
                let found = plain(list.neighbour(bound, direction, hint, (&mut key, &mut value)))?;
                Ok(found.map(|length| (key, shrunk(&value[..length]))))
            }
        }
    }

    fn len(&mut self) -> Outcome<u32> {
        match self {
            EitherList::Fixed(list) => list.len(),
            EitherList::Varied(list) => plain(list.len()),
        }
    }

    fn is_empty(&mut self) -> Outcome<bool> {
        match self {
            EitherList::Fixed(list) => list.is_empty(),
            EitherList::Varied(list) => plain(list.is_empty()),
        }
    }

    fn first(&mut self) -> Outcome<Option<Entry<K, 3>>> {
        match self {
            EitherList::Fixed(list) => list.first(),
            EitherList::Varied(list) => Ok(plain(list.first())?.map(|entry| owned(&entry))),
        }
    }

    fn last(&mut self) -> Outcome<Option<Entry<K, 3>>> {
        match self {
            EitherList::Fixed(list) => list.last(),
            EitherList::Varied(list) => Ok(plain(list.last())?.map(|entry| owned(&entry))),
        }
    }

    fn stats(&mut self) -> Outcome<IndexStats> {
        match self {
            EitherList::Fixed(list) => list.stats(),
            EitherList::Varied(list) => plain(list.stats()),
        }
    }

    fn reclaim_step(&mut self) -> Outcome<Reclaimed> {
        match self {
            EitherList::Fixed(list) => list.reclaim_step(),
            EitherList::Varied(list) => plain(list.reclaim_step()),
        }
    }

    fn corruption(&self) -> Option<Violation> {
        either!(self, list => list.corruption())
    }
}
