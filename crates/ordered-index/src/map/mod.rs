//! The map whose keys and values have types.

mod blob;
#[cfg(any(feature = "zerocopy", feature = "postcard"))]
mod codecs;
mod error;
mod range;
mod text;
mod value;
mod widths;

use core::marker::PhantomData;
use core::ops::RangeBounds;

use norn_flash::{Nor, Violation};

pub use blob::Blob;
#[cfg(feature = "zerocopy")]
pub use codecs::Plain;
#[cfg(feature = "postcard")]
pub use codecs::Postcard;
pub use error::MapError;
pub use range::MapRange;
pub use text::Text;
pub use value::{Key, TooLong, Value};
pub use widths::MapWidths;

use crate::error::{IndexError, MountError};
use crate::fat_list::{AtMost, Change, FatListOf, Settings, UpTo, Varying};
use crate::index::{IndexStats, Reclaimed};
use crate::map::error::{Outcome, encoded};

/// A sorted map on `device` from keys of the type `K` to values of the type `V`. What is on flash is a
/// [`FatList`](crate::FatList) from `K::BYTES` bytes to `V::BYTES` bytes; the types themselves are not written down.
///
/// Keys have `KEY_MAX` bytes in RAM, values `VALUE_MAX`: a call holds up to a dozen such keys and two such values on
/// the stack. Types that need more do not compile until the map names more.
///
/// ```
/// use std::cmp::Reverse;
///
/// use norn_flash_sim::{NorSim, catalogue};
/// use norn_ordered_index::{Map, Settings, Text};
///
/// // The best scores of each player, the highest first.
/// type Scores = Map<NorSim, (Text<8>, Reverse<u16>), u32>;
/// let mut scores = Scores::format(NorSim::new(catalogue::w25q()), Settings::paper_2011()).unwrap();
/// let (skuld, urd) = (Text::new("Skuld").unwrap(), Text::new("Urd").unwrap());
/// for (day, (player, score)) in (1..).zip([(urd, 70), (skuld, 90), (urd, 95), (skuld, 10)]) {
///     scores.insert(&(player, Reverse(score)), &day).unwrap();
/// }
/// let of_urd = (urd, Reverse(u16::MAX))..=(urd, Reverse(0));
/// let best = scores.range(of_urd).next().unwrap().unwrap();
/// assert_eq!(best, ((urd, Reverse(95)), 3));
/// ```
#[derive(Clone, Debug)]
pub struct Map<
    D: Nor,
    K,
    V,
    const KEY_MAX: usize = 16,
    const VALUE_MAX: usize = 32,
    W: MapWidths<KEY_MAX, VALUE_MAX> = AtMost<KEY_MAX, VALUE_MAX>,
> {
    list: FatListOf<D, W>,
    types: PhantomData<fn(K) -> V>,
}

/// A [`Map`] whose values vary: each takes the bytes that it needs, up to `V::BYTES`, and four more beside its key.
/// What is on flash is a [`VaryingList`](crate::VaryingList).
///
/// ```
/// use norn_flash_sim::{NorSim, catalogue};
/// use norn_ordered_index::{Blob, Settings, Text, VaryingMap};
///
/// // What was said, by the second.
/// type Said = VaryingMap<NorSim, u32, Text<200>>;
/// let mut said = Said::format(NorSim::new(catalogue::w25q()), Settings::paper_2011()).unwrap();
/// said.insert(&7, &Text::new("door open").unwrap()).unwrap();
/// said.insert(&9, &Text::new("door closed, since somebody has leant against it").unwrap()).unwrap();
/// assert_eq!(said.get(&7).unwrap().unwrap().as_str(), "door open");
/// assert_eq!((said.list().record_bytes(9), said.list().record_bytes(48)), (18, 56));
///
/// // Bytes of any length, by a name.
/// type Files = VaryingMap<NorSim, Text<16>, Blob<100>, 16, 100>;
/// let mut files = Files::format(NorSim::new(catalogue::w25q()), Settings::paper_2011()).unwrap();
/// files.put(&Text::new("key").unwrap(), &Blob::new(&[7; 33]).unwrap()).unwrap();
/// assert_eq!(files.get(&Text::new("key").unwrap()).unwrap().unwrap().as_bytes(), [7; 33]);
/// ```
pub type VaryingMap<D, K, V, const KEY_MAX: usize = 16, const VALUE_MAX: usize = 200> =
    Map<D, K, V, KEY_MAX, VALUE_MAX, Varying<KEY_MAX, VALUE_MAX>>;

impl<D, K, V, const KEY_MAX: usize, const VALUE_MAX: usize, W> Map<D, K, V, KEY_MAX, VALUE_MAX, W>
where
    D: Nor,
    K: Key,
    V: Value,
    W: MapWidths<KEY_MAX, VALUE_MAX>,
{
    /// As [`FatList::format`](crate::FatList::format).
    ///
    /// # Errors
    /// As there.
    pub fn format(device: D, settings: Settings) -> Result<Self, MountError<D::Error>> {
        Ok(Map { list: FatListOf::format_of(device, W::of::<K, V>(), settings)?, types: PhantomData })
    }

    /// As [`FatList::mount`](crate::FatList::mount).
    ///
    /// # Errors
    /// As there, and [`WrongGeometry`](MountError::WrongGeometry) when keys or values have other numbers of bytes.
    pub fn mount(device: D) -> Result<Self, MountError<D::Error>> {
        Ok(Map { list: FatListOf::mount_of(device, W::of::<K, V>())?, types: PhantomData })
    }

    /// The list of bytes under the map: its bounds, its device, its audit.
    pub fn list(&self) -> &FatListOf<D, W> {
        &self.list
    }

    /// The same, to work on it.
    pub fn list_mut(&mut self) -> &mut FatListOf<D, W> {
        &mut self.list
    }

    /// Gives the device back. Without a [`stop`](Self::stop) the next mount takes the map for cut.
    pub fn into_device(self) -> D {
        self.list.into_device()
    }

    /// Says on flash that nothing is under way, so that the next mount is fast. The map can still be used.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn stop(&mut self) -> Outcome<(), D> {
        Ok(self.list.stop()?)
    }

    /// Adds a key.
    ///
    /// # Errors
    /// `TooLong`, `KeyExists`, `Full`, `Corrupted` and the device's.
    pub fn insert(&mut self, key: &K, value: &V) -> Outcome<(), D> {
        Ok(self.list.insert_entry(&Self::key_bytes(key)?, &Self::value_bytes(value)?)?)
    }

    /// Adds a key to a ring, which drops its least keys before it is full, and returns how many it dropped:
    /// [`FatList::insert_in_ring`](crate::FatList::insert_in_ring) has the contract.
    ///
    /// # Errors
    /// As there, and `TooLong`.
    pub fn insert_in_ring(&mut self, key: &K, value: &V) -> Outcome<u32, D> {
        Ok(self.list.insert_entry_in_ring(&Self::key_bytes(key)?, &Self::value_bytes(value)?)?)
    }

    /// Changes the value of a key.
    ///
    /// # Errors
    /// `TooLong`, `KeyAbsent`, `Full`, `Corrupted` and the device's.
    pub fn update(&mut self, key: &K, value: &V) -> Outcome<(), D> {
        Ok(self.list.update_entry(&Self::key_bytes(key)?, &Self::value_bytes(value)?)?)
    }

    /// Adds a key or changes its value, whichever it takes.
    ///
    /// # Errors
    /// `TooLong`, `Full`, `Corrupted` and the device's.
    pub fn put(&mut self, key: &K, value: &V) -> Outcome<(), D> {
        match self.update(key, value) {
            Err(MapError::Index(IndexError::KeyAbsent)) => self.insert(key, value),
            outcome => outcome,
        }
    }

    /// Makes several changes together: a cut leaves all of them or none. [`FatList::apply`](crate::FatList::apply) has
    /// the contract.
    ///
    /// # Errors
    /// As there, and `TooLong`, also where values vary and the changes together take more bytes than an object's log.
    ///
    /// # Panics
    /// When there are more changes than the [`list`](Self::list)'s `changes_max`.
    pub fn apply(&mut self, changes: &[Change<K, V>]) -> Outcome<(), D> {
        let encoded = |change: &Change<K, V>| match change {
            Change::Put(key, value) => Ok(Change::Put(Self::key_bytes(key)?, Self::value_bytes(value)?)),
            Change::Remove(key) => Self::key_bytes(key).map(Change::Remove),
        };
        let mut size = 0;
        for change in changes {
            size += self.list.size_of_change(&encoded(change)?);
        }
        if !self.list.has_room_in_batch(size) {
            return Err(MapError::TooLong);
        }
        Ok(self.list.apply_changes(changes.len(), |at| encoded(&changes[at]).expect("encoded before"))?)
    }

    /// The value of a key.
    ///
    /// # Errors
    /// `TooLong`, `OtherType`, `Corrupted` and the device's.
    pub fn get(&mut self, key: &K) -> Outcome<Option<V>, D> {
        let found = self.list.look_up(&Self::key_bytes(key)?)?;
        found.map(|value| W::decoded(&value).ok_or(MapError::OtherType("value"))).transpose()
    }

    /// Takes a key away.
    ///
    /// # Errors
    /// `TooLong`, `KeyAbsent`, `Corrupted` and the device's.
    pub fn remove(&mut self, key: &K) -> Outcome<(), D> {
        Ok(self.list.remove_entry(&Self::key_bytes(key)?)?)
    }

    /// Takes least keys away that are below `key`, as many as go at a time, and returns how many:
    /// [`FatList::remove_below`](crate::FatList::remove_below) has the contract.
    ///
    /// # Errors
    /// As there, and `TooLong`.
    pub fn remove_below(&mut self, key: &K) -> Outcome<u32, D> {
        Ok(self.list.remove_entries_below(&Self::key_bytes(key)?)?)
    }

    /// The entry with the least key.
    ///
    /// # Errors
    /// `OtherType`, `Corrupted` and the device's.
    pub fn first(&mut self) -> Outcome<Option<(K, V)>, D> {
        self.range(..).next_entry()
    }

    /// The entry with the greatest key.
    ///
    /// # Errors
    /// `OtherType`, `Corrupted` and the device's.
    pub fn last(&mut self) -> Outcome<Option<(K, V)>, D> {
        self.range(..).next_entry_back()
    }

    /// The entries whose keys are in `keys`, from either end. The map cannot change meanwhile.
    pub fn range(&mut self, keys: impl RangeBounds<K>) -> MapRange<'_, D, K, V, KEY_MAX, VALUE_MAX, W> {
        MapRange::new(&mut self.list, keys)
    }

    /// Whether there are no keys.
    ///
    /// # Errors
    /// `OtherType`, `Corrupted` and the device's.
    pub fn is_empty(&mut self) -> Outcome<bool, D> {
        Ok(self.first()?.is_none())
    }

    /// Counts the keys: [`OrderedIndex::len`](crate::OrderedIndex::len) says at what cost.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn len(&mut self) -> Outcome<u32, D> {
        Ok(self.list.count_keys()?)
    }

    /// Counts what the map holds: [`OrderedIndex::stats`](crate::OrderedIndex::stats).
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn stats(&mut self) -> Outcome<IndexStats, D> {
        Ok(self.list.count_all()?)
    }

    /// Takes a step ahead of need: [`OrderedIndex::reclaim_step`](crate::OrderedIndex::reclaim_step).
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn reclaim_step(&mut self) -> Outcome<Reclaimed, D> {
        Ok(self.list.reclaim_ahead()?)
    }

    /// What the last call that failed with `Corrupted` found, and where.
    pub fn corruption(&self) -> Option<Violation> {
        self.list.corruption()
    }

    fn key_bytes(key: &K) -> Result<UpTo<KEY_MAX>, TooLong> {
        encoded(key, W::of::<K, V>().zero_key())
    }

    fn value_bytes(value: &V) -> Result<W::Value, TooLong> {
        W::of::<K, V>().encoded(value)
    }
}
