//! The list whose keys and values are arrays, of widths that are known when a program is compiled.

use core::ops::Bound;

use norn_flash::{Nor, Violation};

use crate::error::{MountError, Outcome};
use crate::fat_list::batch::Change;
use crate::fat_list::layout::Settings;
use crate::fat_list::list::FatListOf;
use crate::fat_list::widths::Fixed;
use crate::index::{Entry, IndexStats, OrderedIndex, Reclaimed};
use crate::step::{Direction, Hint};

/// A fat list on `device`: a sorted map from keys of `K` bytes to values of `V` bytes.
pub type FatList<D, const K: usize, const V: usize> = FatListOf<D, Fixed<K, V>>;

impl<D: Nor, const K: usize, const V: usize, const WITHOUT: u8> FatListOf<D, Fixed<K, V, WITHOUT>> {
    /// Lays out an empty list. What the part held is lost, except the erase counts of blocks of a list.
    ///
    /// Cost: an erase and some 25 words programmed for each erase unit.
    ///
    /// # Errors
    /// When the part, the settings or the widths cannot be used, or the device fails.
    pub fn format(device: D, settings: Settings) -> Result<Self, MountError<D::Error>> {
        Self::format_of(device, Fixed, settings)
    }

    /// Mounts what the device holds, completing what a power cut interrupted.
    ///
    /// Cost after a [`stop`](Self::stop): reads only, those of a climb to the head; of a list of few objects on a large
    /// part, up to a word for each cell besides ([`boot_bound`](Self::boot_bound)). After a cut: all block heads, a
    /// word of each cell, all slots in use and one walk along the list are read; at most one block's move, two erases
    /// and one structural change are completed ([`recovery_bound`](Self::recovery_bound)).
    ///
    /// # Errors
    /// Names what is wrong with the image or the part; see [`MountError`].
    pub fn mount(device: D) -> Result<Self, MountError<D::Error>> {
        Self::mount_of(device, Fixed)
    }
}

impl<D: Nor, const K: usize, const V: usize> FatList<D, K, V> {
    /// Adds a key to a ring: a list whose keys ascend, as those of a log do, and which drops its least keys before it
    /// is full. Returns how many it dropped. They go as their objects do, some `slots` keys at a time.
    ///
    /// A ring keeps a block's cells free or dead, so that the block with the oldest keys is dead as a whole when it is
    /// reclaimed. A cut leaves the new key there or not; if it is not, keys may have been dropped for it already.
    ///
    /// Cost: a slot programmed; for each object some 25 words besides, and for each block of objects one erase, which
    /// copies next to nothing, if the part has some sixty blocks or large ones; with sixteen blocks of 4 KB, two to
    /// four erases ([`ring_bound`](Self::ring_bound)).
    ///
    /// # Errors
    /// `KeyExists`, `Corrupted` and the device's. `BelowRing` if the ring is full and the key would be the first one to
    /// drop. `Full` on a part that has no room for an object.
    pub fn insert_in_ring(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<u32, D> {
        self.insert_entry_in_ring(key, value)
    }

    /// Takes least keys away that are below `key`, as many as go at a time, and returns how many: 0 when none is left.
    /// For what a program keeps for a time only, a month of readings say, of which it names the first key. Whole
    /// objects go together, for some words programmed each, where [`remove`](OrderedIndex::remove) clears a bit a key.
    ///
    /// ```
    /// # use norn_flash_sim::{NorSim, catalogue};
    /// # use norn_ordered_index::{FatList, OrderedIndex, Settings};
    /// # let part = NorSim::new(catalogue::w25q());
    /// let mut readings: FatList<_, 4, 2> = FatList::format(part, Settings::log()).unwrap();
    /// for minute in 0..3_000_u32 {
    ///     readings.insert(&minute.to_be_bytes(), &[20, 1]).unwrap();
    /// }
    /// let (mut removed, today) = (0, 1_440_u32.to_be_bytes());
    /// loop {
    ///     match readings.remove_below(&today).unwrap() {
    ///         0 => break,
    ///         keys => removed += keys,
    ///     }
    /// }
    /// assert_eq!((removed, readings.first().unwrap().unwrap().0, readings.len().unwrap()), (1_440, today, 1_560));
    /// ```
    ///
    /// A cut leaves some of these keys away, the least ones first.
    ///
    /// Cost: up to an eighth of a block's objects or a 128th of the part's, two words each and a pointer of the head
    /// for each level, or the bits of one object's keys; [`ring_bound`](Self::ring_bound) is more.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn remove_below(&mut self, key: &[u8; K]) -> Outcome<u32, D> {
        self.remove_entries_below(key)
    }

    /// Makes several changes together: a cut leaves all of them or none.
    ///
    /// ```
    /// # use norn_flash_sim::{NorSim, catalogue};
    /// # use norn_ordered_index::{Change, FatList, OrderedIndex, Settings};
    /// # let part = NorSim::new(catalogue::w25q());
    /// let mut accounts: FatList<_, 4, 2> = FatList::format(part, Settings::paper_2011()).unwrap();
    /// accounts.insert(b"from", &[0, 90]).unwrap();
    /// accounts.apply(&[Change::Put(*b"from", [0, 60]), Change::Put(*b"to  ", [0, 30])]).unwrap();
    /// accounts.apply(&[Change::Remove(*b"from"), Change::Put(*b"to  ", [0, 90])]).unwrap();
    /// assert_eq!((accounts.len().unwrap(), accounts.get(b"to  ").unwrap()), (1, Some([0, 90])));
    /// ```
    ///
    /// Cost: an object written with a slot for each change, then that of each change; a word read for each cell
    /// ([`batch_bound`](Self::batch_bound)). A mount after a cut makes the changes again that were not made yet.
    ///
    /// # Errors
    /// `Full` if cells for one object, and for two more for each key to put, are neither free nor dead, nor can become
    /// so by merging neighbours: then nothing has changed. With fewer keys than
    /// [`guaranteed_keys_with_batch`](Self::guaranteed_keys_with_batch) that does not happen. `Corrupted` and the
    /// device's.
    ///
    /// # Panics
    /// When there are more changes than [`changes_max`](Self::changes_max).
    pub fn apply(&mut self, changes: &[Change<[u8; K], [u8; V]>]) -> Outcome<(), D> {
        self.apply_changes(changes.len(), |at| changes[at])
    }
}

impl<D: Nor, const K: usize, const V: usize, const WITHOUT: u8> OrderedIndex<K, V>
    for FatListOf<D, Fixed<K, V, WITHOUT>>
{
    type Device = D;

    fn insert(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        self.insert_entry(key, value)
    }

    fn update(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        self.update_entry(key, value)
    }

    fn get(&mut self, key: &[u8; K]) -> Outcome<Option<[u8; V]>, D> {
        self.look_up(key)
    }

    fn remove(&mut self, key: &[u8; K]) -> Outcome<(), D> {
        self.remove_entry(key)
    }

    fn neighbour(
        &mut self,
        bound: Bound<&[u8; K]>,
        direction: Direction,
        hint: &mut Hint,
    ) -> Outcome<Option<Entry<K, V>>, D> {
        self.step(bound, direction, hint)
    }

    fn len(&mut self) -> Outcome<u32, D> {
        self.count_keys()
    }

    fn stats(&mut self) -> Outcome<IndexStats, D> {
        self.count_all()
    }

    fn reclaim_step(&mut self) -> Outcome<Reclaimed, D> {
        self.reclaim_ahead()
    }

    fn corruption(&self) -> Option<Violation> {
        FatListOf::corruption(self)
    }
}
