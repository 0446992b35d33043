//! A sorted map of either layout behind one interface: with values of one length, or with values that vary.

use std::ops::Bound;

use norn_flash::{Auditor, Nor, Violation};
use norn_flash_sim::{NorSim, SimError};
use norn_ordered_index::fat_list::format::{IDENTITY_BYTES, Identity};
use norn_ordered_index::{
    ByteIndexError, Change, Direction, Entry, FatList, Hint, IndexError, IndexStats, MountError, OrderedIndex,
    Reclaimed, Settings, Varying, VaryingList,
};

/// The longest value where values vary.
const LONGEST: usize = 20;

type Key = [u8; 2];
type Value = [u8; 3];
type Outcome<T> = Result<T, IndexError<SimError>>;

/// A map from keys of two bytes to values of three on a small simulated part. Where values vary, each value is kept
/// with a length of its own, which follows from its bytes.
#[derive(Clone, Debug)]
pub(crate) enum SimList {
    Fixed(FatList<NorSim, 2, 3>),
    Varied(VaryingList<NorSim, 2, LONGEST>),
}

/// The value with a length of its own.
fn stretched(value: &Value) -> Vec<u8> {
    let length = if *value == [0; 3] { 0 } else { 3 + usize::from(value[0]) % (LONGEST - 2) };
    value.iter().copied().cycle().take(length).collect()
}

/// The value that was stretched to `bytes`: damage may have made others of them.
fn shrunk(bytes: &[u8]) -> Value {
    bytes.get(..3).map_or([0; 3], |front| front.try_into().expect("three bytes"))
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
            SimList::Fixed($inner) => $call,
            SimList::Varied($inner) => $call,
        }
    };
}

fn widths(log_bytes: u16) -> Varying<2, LONGEST> {
    Varying { key_bytes: 2, value_bytes: LONGEST as u16, log_bytes }
}

impl SimList {
    pub fn format(device: NorSim, settings: Settings, log_bytes: Option<u16>) -> Result<Self, MountError<SimError>> {
        match log_bytes {
            None => FatList::format(device, settings).map(SimList::Fixed),
            Some(log_bytes) => VaryingList::format(device, widths(log_bytes), settings).map(SimList::Varied),
        }
    }

    /// Mounts the list of the kind that the device's first identity names.
    pub fn mount(device: NorSim) -> Result<Self, MountError<SimError>> {
        let part = device.part();
        let varies = (0..part.unit_count).map(norn_flash::EraseUnit).find_map(|unit| {
            let bytes = device.peek(part.start_of(unit), IDENTITY_BYTES);
            let identity = Identity::decode(bytes.as_slice().try_into().expect("as many as were asked for"))?;
            identity.ok().map(|identity| identity.log_bytes > 0)
        });
        match varies {
            Some(true) => VaryingList::mount(device, widths(0)).map(SimList::Varied),
            _ => FatList::mount(device).map(SimList::Fixed),
        }
    }

    pub fn device(&self) -> &NorSim {
        either!(self, list => list.device())
    }

    pub fn device_mut(&mut self) -> &mut NorSim {
        either!(self, list => list.device_mut())
    }

    pub fn into_device(self) -> NorSim {
        either!(self, list => list.into_device())
    }

    pub fn stop(&mut self) -> Outcome<()> {
        either!(self, list => list.stop())
    }

    pub fn audit(&mut self, auditor: &mut impl Auditor) -> Outcome<()> {
        either!(self, list => list.audit(auditor))
    }

    pub fn insert_in_ring(&mut self, key: &Key, value: &Value) -> Outcome<u32> {
        match self {
            SimList::Fixed(list) => list.insert_in_ring(key, value),
            SimList::Varied(list) => plain(list.insert_in_ring(key, &stretched(value))),
        }
    }

    pub fn apply(&mut self, changes: &[Change<Key, Value>]) -> Outcome<()> {
        match self {
            SimList::Fixed(list) => list.apply(changes),
            SimList::Varied(list) => {
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
}

impl OrderedIndex<2, 3> for SimList {
    type Device = NorSim;

    fn insert(&mut self, key: &Key, value: &Value) -> Outcome<()> {
        match self {
            SimList::Fixed(list) => list.insert(key, value),
            SimList::Varied(list) => plain(list.insert(key, &stretched(value))),
        }
    }

    fn update(&mut self, key: &Key, value: &Value) -> Outcome<()> {
        match self {
            SimList::Fixed(list) => list.update(key, value),
            SimList::Varied(list) => plain(list.update(key, &stretched(value))),
        }
    }

    fn get(&mut self, key: &Key) -> Outcome<Option<Value>> {
        match self {
            SimList::Fixed(list) => list.get(key),
            SimList::Varied(list) => {
                let mut value = [0; LONGEST];
                Ok(plain(list.get(key, &mut value))?.map(|length| shrunk(&value[..length])))
            }
        }
    }

    fn remove(&mut self, key: &Key) -> Outcome<()> {
        match self {
            SimList::Fixed(list) => list.remove(key),
            SimList::Varied(list) => plain(list.remove(key)),
        }
    }

    fn neighbour(&mut self, bound: Bound<&Key>, direction: Direction, hint: &mut Hint) -> Outcome<Option<Entry<2, 3>>> {
        match self {
            SimList::Fixed(list) => list.neighbour(bound, direction, hint),
            SimList::Varied(list) => {
                let (mut key, mut value) = ([0; 2], [0; LONGEST]);
                let bound = bound.map(|key| &key[..]);
                let found = plain(list.neighbour(bound, direction, hint, (&mut key, &mut value)))?;
                Ok(found.map(|length| (key, shrunk(&value[..length]))))
            }
        }
    }

    fn len(&mut self) -> Outcome<u32> {
        match self {
            SimList::Fixed(list) => list.len(),
            SimList::Varied(list) => plain(list.len()),
        }
    }

    fn stats(&mut self) -> Outcome<IndexStats> {
        match self {
            SimList::Fixed(list) => list.stats(),
            SimList::Varied(list) => plain(list.stats()),
        }
    }

    fn reclaim_step(&mut self) -> Outcome<Reclaimed> {
        match self {
            SimList::Fixed(list) => list.reclaim_step(),
            SimList::Varied(list) => plain(list.reclaim_step()),
        }
    }

    fn corruption(&self) -> Option<Violation> {
        either!(self, list => list.corruption())
    }
}
