//! The list whose values differ in length.

use core::ops::Bound;

use norn_flash::Nor;

use crate::error::MountError;
use crate::fat_list::batch::Change;
use crate::fat_list::bytes::{ByteIndexError, Outcome, check_width, copied};
use crate::fat_list::layout::Settings;
use crate::fat_list::list::FatListOf;
use crate::fat_list::widths::{UpToVaried, Varying, Widths};
use crate::step::{Direction, Hint};

/// A fat list on `device` from keys of one width, at most `K` bytes, to values of any length up to a greatest one, at
/// most `V` bytes. A value takes as many bytes on flash as it has, and four beside its key.
///
/// Stack: each of its calls holds up to a dozen keys of `K` bytes and two values of `V` bytes, and a record of up to
/// 580 bytes.
///
/// ```
/// use norn_flash_sim::{NorSim, catalogue};
/// use norn_ordered_index::{Settings, Varying, VaryingList};
///
/// let part = NorSim::new(catalogue::w25q());
/// let widths = Varying { key_bytes: 4, value_bytes: 200, log_bytes: 0 };
/// let mut notes: VaryingList<_, 4, 200> = VaryingList::format(part, widths, Settings::paper_2011()).unwrap();
/// notes.put(b"door", b"open").unwrap();
/// notes.put(b"door", b"closed, since somebody has leant against it").unwrap();
/// notes.put(b"lamp", b"").unwrap();
/// let mut value = [0; 200];
/// assert_eq!(notes.get(b"door", &mut value).unwrap(), Some(43));
/// assert_eq!(value[..6], *b"closed");
/// assert_eq!(notes.get(b"lamp", &mut value).unwrap(), Some(0));
/// ```
pub type VaryingList<D, const K: usize, const V: usize> = FatListOf<D, Varying<K, V>>;

/// Copies `from` to the front of `to`; returns its length.
fn give<E>(from: &[u8], to: &mut [u8]) -> Result<usize, ByteIndexError<E>> {
    let given = to.len();
    let Some(front) = to.get_mut(..from.len()) else {
        return Err(ByteIndexError::Width { what: "buffer for a value", needed: from.len(), given });
    };
    front.copy_from_slice(from);
    Ok(from.len())
}

impl<D: Nor, const K: usize, const V: usize> VaryingList<D, K, V> {
    /// As [`FatList::format`](crate::FatList::format), for keys and values of these widths.
    ///
    /// # Errors
    /// As there; [`TooSmall`](MountError::TooSmall) when the widths are more than `K` and `V`.
    pub fn format(device: D, widths: Varying<K, V>, settings: Settings) -> Result<Self, MountError<D::Error>> {
        Self::format_of(device, widths, settings)
    }

    /// As [`FatList::mount`](crate::FatList::mount), for keys and values of these widths.
    ///
    /// # Errors
    /// As there; [`TooSmall`](MountError::TooSmall) when the widths are more than `K` and `V`, and
    /// [`WrongGeometry`](MountError::WrongGeometry) when the list has others.
    pub fn mount(device: D, widths: Varying<K, V>) -> Result<Self, MountError<D::Error>> {
        Self::mount_of(device, widths)
    }

    /// Bytes of an object's log of records.
    pub fn log_bytes(&self) -> u16 {
        self.widths().log_bytes()
    }

    /// Bytes that a key with a value of this length takes in a log.
    pub fn record_bytes(&self, value_bytes: usize) -> u16 {
        self.cells_ref().record_bytes(value_bytes)
    }

    fn value_of(&self, value: &[u8]) -> Outcome<UpToVaried<V>, D> {
        let (needed, given) = (self.widths().value_bytes(), value.len());
        if given > needed {
            return Err(ByteIndexError::Width { what: "value", needed, given });
        }
        Ok(copied(self.widths().value_of(given), value))
    }

    /// Adds a key.
    ///
    /// # Errors
    /// `Width`, `KeyExists`, `Full`, `Corrupted` and the device's.
    pub fn insert(&mut self, key: &[u8], value: &[u8]) -> Outcome<(), D> {
        let (key, value) = (self.key_of(key)?, self.value_of(value)?);
        Ok(self.insert_entry(&key, &value)?)
    }

    /// Adds a key to a ring: [`FatList::insert_in_ring`](crate::FatList::insert_in_ring) has the contract.
    ///
    /// # Errors
    /// As there, and `Width`.
    pub fn insert_in_ring(&mut self, key: &[u8], value: &[u8]) -> Outcome<u32, D> {
        let (key, value) = (self.key_of(key)?, self.value_of(value)?);
        Ok(self.insert_entry_in_ring(&key, &value)?)
    }

    /// Makes several changes together: [`FatList::apply`](crate::FatList::apply) has the contract. Their records, those
    /// of keys to take away without a value, have to fit into one log.
    ///
    /// # Errors
    /// As there, and `Width`.
    ///
    /// # Panics
    /// When there are more changes than an object has slots.
    pub fn apply(&mut self, changes: &[Change<&[u8], &[u8]>]) -> Outcome<(), D> {
        let mut needed = 0;
        for change in changes {
            check_width("key", self.widths().key_bytes(), change.key().len())?;
            needed += usize::from(match change {
                Change::Put(_, value) => self.record_bytes(self.value_of(value)?.as_ref().len()),
                Change::Remove(_) => self.record_bytes(0),
            });
        }
        if !self.has_room_in_batch(needed as u32) {
            let given = self.log_bytes().into();
            return Err(ByteIndexError::Width { what: "log for a batch", needed, given });
        }
        let widths = *self.widths();
        let change_at = |at: usize| match changes[at] {
            Change::Put(key, value) => {
                Change::Put(copied(widths.zero_key(), key), copied(widths.value_of(value.len()), value))
            }
            Change::Remove(key) => Change::Remove(copied(widths.zero_key(), key)),
        };
        Ok(self.apply_changes(changes.len(), change_at)?)
    }

    /// Changes the value of a key. One that does not become longer never finds the list full.
    ///
    /// # Errors
    /// `Width`, `KeyAbsent`, `Full`, `Corrupted` and the device's.
    pub fn update(&mut self, key: &[u8], value: &[u8]) -> Outcome<(), D> {
        let (key, value) = (self.key_of(key)?, self.value_of(value)?);
        Ok(self.update_entry(&key, &value)?)
    }

    /// Adds a key or changes its value, whichever it takes.
    ///
    /// # Errors
    /// `Width`, `Full`, `Corrupted` and the device's.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Outcome<(), D> {
        let (key, value) = (self.key_of(key)?, self.value_of(value)?);
        Ok(self.put_entry(&key, &value)?)
    }

    /// Copies the value of a key to the front of `value`, and returns its length if the key is there.
    ///
    /// # Errors
    /// `Width` if `value` is shorter, `Corrupted` and the device's.
    pub fn get(&mut self, key: &[u8], value: &mut [u8]) -> Outcome<Option<usize>, D> {
        let key = self.key_of(key)?;
        self.look_up(&key)?.map(|found| give(found.as_ref(), value)).transpose()
    }

    /// Copies the entry next to `bound` into `key` and to the front of `value`, and returns the value's length if there
    /// is one. [`OrderedIndex::neighbour`](crate::OrderedIndex::neighbour) says which, and what `hint` is.
    ///
    /// # Errors
    /// `Width`, `Corrupted` and the device's.
    pub fn neighbour(
        &mut self,
        bound: Bound<&[u8]>,
        direction: Direction,
        hint: &mut Hint,
        (key, value): (&mut [u8], &mut [u8]),
    ) -> Outcome<Option<usize>, D> {
        check_width("key", self.widths().key_bytes(), key.len())?;
        let bound = self.bound(bound)?;
        let Some((found_key, found_value)) = self.step(bound.as_ref(), direction, hint)? else { return Ok(None) };
        key.copy_from_slice(found_key.as_ref());
        give(found_value.as_ref(), value).map(Some)
    }

    /// Bytes of records that fit whatever was inserted and removed before, if records are not so short that an object
    /// has no slot left: with no more of them an insertion does not say `Full`.
    pub fn guaranteed_bytes(&self) -> u32 {
        self.guaranteed_pairs() * u32::from(self.log_bytes() - self.record_bytes(self.widths().value_bytes()))
    }
}
