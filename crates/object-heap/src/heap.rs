//! The heap: its state in RAM, formatting, mounting and transactions.
//!
//! Invariant: between calls the store has an open transaction only while the client has.

use norn_flash::{Nor, Violation};
use norn_heap::{AccessError, CreateError, Listener, ObjectHeap, PhysicalPointers, Ref, TransactionError};
use norn_nor_store::{
    AllFeatures, ErrorDetection, Features, MountError, MountRefusal, Sectors, StoreError, StoreIn, TreeId, UnitRows,
};

use crate::check::Checked;
use crate::compact::Compaction;
use crate::config::Config;
use crate::descriptor::Descriptors;
use crate::form::{Object, ObjectForm};
use crate::list::Lists;
use crate::notify::{MarkedBuckets, Pointers};

/// The client's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transaction {
    None,
    Open,
    /// A failure has undone it; the client does not know yet.
    Aborted,
}

/// Persistent objects and arrays on one NOR part. The unit table is in memory `M` that the caller gives: an array, a
/// slice or a `Vec` of at least as many rows as [`UnitRow::count_for`](crate::UnitRow::count_for) returns.
/// [`Heap`](crate::Heap) holds an array itself. `L` is notified of pointers that are no longer valid: see [`Listener`].
///
/// `F` lists the features that the program has [code](Features) for. With [`AllFeatures`] each image is used as it was
/// formatted. With [`LeastFeatures`](crate::LeastFeatures) a fifth less is linked, and an image with [error
/// detection](Config::error_detection) or [delta records](Config::delta_records) gives
/// [`MissingFeature`](MountRefusal::MissingFeature): `Heap<_, 64, (), LeastFeatures>`, made by
/// [`format_with`](crate::Heap::format_with) and [`mount_with`](crate::Heap::mount_with).
///
/// RAM: eight bytes for each erase unit, which are the caller's, and at most 512 besides them and the device. No call
/// recurses.
///
/// Costs are stated with each method, in aligned words of 4 bytes or less. A *look-up* takes *h*(3+*s*)+5 reads, on a
/// REF tree of height *h* (1 up to 16 objects, 2 up to 256, 3 up to 4,096, 4 above) whose nodes have *s* spares in use,
/// at most 8. On top of what is stated, any call that programs may find its erase unit full: it then reclaims one,
/// which copies the live data of a unit at most and erases one unit, or starts a new log unit, 12 words and an erase.
#[derive(Clone, Debug)]
pub struct HeapIn<D: Nor, M: UnitRows, L = (), F = AllFeatures> {
    compaction: Compaction<D, M, L, F>,
    transaction: Transaction,
    /// No slot of the REF tree below this one is free.
    slot_hint: u32,
}

impl<D: Nor, M: UnitRows> HeapIn<D, M> {
    /// As [`format`](crate::Heap::format), with the unit table in `rows`.
    ///
    /// # Errors
    /// As `format`; [`TooSmall`](MountError::TooSmall) when the part has more erase units than there are rows.
    pub fn format_in(device: D, rows: M, config: Config) -> Result<Self, MountError<D::Error>> {
        let mut heap = Self::unmounted_in(device, rows, ());
        heap.reformat(config)?;
        Ok(heap)
    }

    /// As [`mount`](crate::Heap::mount), with the unit table in `rows`.
    ///
    /// # Errors
    /// As `mount`; [`TooSmall`](MountError::TooSmall) when the part has more erase units than there are rows.
    pub fn mount_in(device: D, rows: M) -> Result<Self, MountError<D::Error>> {
        let mut heap = Self::unmounted_in(device, rows, ());
        heap.remount()?;
        Ok(heap)
    }
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// A heap that has not been mounted, with the unit table in `rows`: every call but [`remount`](Self::remount) and
    /// [`reformat`](Self::reformat) returns `Halted`. These two refuse rows that are too few for the part.
    pub fn unmounted_in(device: D, rows: M, listener: L) -> Self {
        let compaction = Compaction::new(StoreIn::unmounted_in(device, rows), listener);
        HeapIn { compaction, transaction: Transaction::None, slot_hint: 0 }
    }

    /// As [`format`](crate::Heap::format), in place.
    ///
    /// # Errors
    /// As `format`; the heap is as [`unmounted_in`](Self::unmounted_in) then.
    pub fn reformat(&mut self, config: Config) -> Result<(), MountError<D::Error>> {
        self.store_mut().halt();
        if config.list_length_max == 0 {
            return Err(MountError::Unsuitable("lists of no records"));
        }
        if config.array_threshold == 0 {
            return Err(MountError::Unsuitable("an array threshold of no elements"));
        }
        self.forget();
        let config = config.consistent();
        self.descriptors().set_config(config);
        self.store_mut().reformat(config.settings())
    }

    /// As [`mount`](crate::Heap::mount), in place. It also recovers after a device error, which halts a heap. Earlier
    /// pointers are no longer valid, and an open transaction is undone.
    ///
    /// # Errors
    /// As `mount`; the heap is as [`unmounted_in`](Self::unmounted_in) then.
    pub fn remount(&mut self) -> Result<(), MountError<D::Error>> {
        self.forget();
        self.store_mut().remount()?;
        match Config::from_settings(&self.store().config()) {
            Some(config) => {
                self.descriptors().set_config(config.consistent());
                Ok(())
            }
            None => {
                self.store_mut().halt();
                Err(MountError::Refused(MountRefusal::UnknownSettings))
            }
        }
    }

    /// Forgets the state in RAM.
    fn forget(&mut self) {
        (self.transaction, self.slot_hint) = (Transaction::None, 0);
        self.pointers().listener_mut().all_invalidated();
    }

    /// The listener, which is notified of pointers.
    pub fn listener(&self) -> &L {
        self.compaction.pointers.listener()
    }

    /// The listener, which is notified of pointers, for example to store a new pointer in it.
    pub fn listener_mut(&mut self) -> &mut L {
        self.pointers().listener_mut()
    }

    /// What the image was formatted with.
    pub fn config(&self) -> Config {
        *self.compaction.pointers.lists.descriptors.config()
    }

    /// The store below, for reading its state.
    pub fn store(&self) -> &StoreIn<D, M, F> {
        &self.compaction.pointers.lists.descriptors.checked.store
    }

    pub(crate) fn store_mut(&mut self) -> &mut StoreIn<D, M, F> {
        &mut self.checked().store
    }

    pub(crate) fn sectors(&mut self) -> &mut Sectors<D, M, F> {
        self.store_mut().sectors()
    }

    pub(crate) fn compaction(&mut self) -> &mut Compaction<D, M, L, F> {
        &mut self.compaction
    }

    pub(crate) fn pointers(&mut self) -> &mut Pointers<D, M, L, F> {
        &mut self.compaction.pointers
    }

    pub(crate) fn lists(&mut self) -> &mut Lists<D, M, F> {
        &mut self.compaction.pointers.lists
    }

    pub(crate) fn descriptors(&mut self) -> &mut Descriptors<D, M, F> {
        &mut self.compaction.pointers.lists.descriptors
    }

    pub(crate) fn checked(&mut self) -> &mut Checked<D, M, F> {
        &mut self.compaction.pointers.lists.descriptors.checked
    }

    pub(crate) fn detection(&self) -> ErrorDetection {
        self.compaction.pointers.lists.descriptors.detection()
    }

    pub(crate) fn detects(&self) -> bool {
        self.detection().is_on()
    }

    pub(crate) fn has_deltas(&self) -> bool {
        self.compaction.pointers.lists.descriptors.has_deltas()
    }

    /// What the last call that failed with `Corrupted` found, and where.
    pub fn corruption(&self) -> Option<Violation> {
        self.store().corruption()
    }

    /// The device.
    pub fn device(&self) -> &D {
        self.store().device()
    }

    /// The device, for what does not change the part's contents.
    pub fn device_mut(&mut self) -> &mut D {
        self.store_mut().device_mut()
    }

    /// Returns the device. An open transaction is undone at the next mount.
    pub fn into_device(self) -> D {
        self.compaction.pointers.lists.descriptors.checked.store.into_device()
    }

    /// Begins a transaction: everything up to [`commit`](Self::commit) takes effect at once, or not at all.
    ///
    /// Cost: none.
    ///
    /// # Errors
    /// `AlreadyOpen`: transactions do not nest. `Aborted` until an aborted one is closed.
    pub fn begin(&mut self) -> Result<(), TransactionError<D::Error>> {
        match self.transaction {
            Transaction::Open => return Err(TransactionError::AlreadyOpen),
            Transaction::Aborted => return Err(TransactionError::Aborted),
            Transaction::None => {}
        }
        if self.store().is_halted() {
            return Err(TransactionError::Store(StoreError::Halted));
        }
        self.transaction = Transaction::Open;
        Ok(())
    }

    /// Makes the transaction's changes permanent.
    ///
    /// Cost: 2 words programmed, and 1 for each changed tree word, delta and freed sector; two reads for each log
    /// entry.
    ///
    /// # Errors
    /// `Aborted` when a failure had undone the transaction, `NotOpen`; `TransactionTooLarge`, which undoes it. It stays
    /// open then until [`abort`](Self::abort). The device's, `Corrupted`: the heap is halted, and the next mount finds
    /// whether the transaction was committed.
    pub fn commit(&mut self) -> Result<(), TransactionError<D::Error>> {
        let ended = self.end_with_commit();
        let concluded = self.conclude(ended);
        if let Err(TransactionError::Store(StoreError::Corrupted)) = concluded {
            self.store_mut().halt();
        }
        concluded
    }

    fn end_with_commit(&mut self) -> Result<(), TransactionError<D::Error>> {
        match self.transaction {
            Transaction::None => return Err(TransactionError::NotOpen),
            Transaction::Aborted => return Err(TransactionError::Aborted),
            Transaction::Open => {}
        }
        let committed = self.store_mut().commit();
        match committed {
            Ok(()) => self.transaction = Transaction::None,
            Err(StoreError::TransactionTooLarge) => {
                self.transaction = Transaction::Aborted;
                self.undo()?;
            }
            Err(_) => {}
        }
        Ok(committed?)
    }

    /// Undoes the transaction; objects that it created are gone.
    ///
    /// Cost: 2 words programmed, and 1 for each changed tree word, delta and created sector; two reads for each log
    /// entry.
    ///
    /// # Errors
    /// `NotOpen`; the store's: the transaction is still open.
    pub fn abort(&mut self) -> Result<(), TransactionError<D::Error>> {
        if self.transaction == Transaction::None {
            return Err(TransactionError::NotOpen);
        }
        self.transaction = Transaction::Aborted;
        let undone = self.undo().map_err(TransactionError::Store);
        if undone.is_ok() {
            self.transaction = Transaction::None;
        }
        self.conclude(undone)
    }

    /// Does housekeeping ahead of time that other calls would do when they need room: begins a new log unit if more
    /// than half of the current one is used; else reclaims one unit, if that frees at least `least_bytes`. Returns
    /// whether there was something to do. Does nothing while a transaction is open.
    ///
    /// A caller with deadlines calls it when there is time, until it returns `false`. While `ready_bytes()` and half a
    /// log unit remain, no call erases. The larger `least_bytes`, the fewer units are reclaimed. With units of *n*
    /// bytes and two of them as a reserve:
    ///
    /// ```text
    /// loop {
    ///     let least = match heap.ready_bytes() / n {
    ///         0 => 1,
    ///         1 => n / 16,
    ///         _ => n, // nothing but a new log unit, or a unit that holds nothing
    ///     };
    ///     if !heap.reclaim_step(least)? {
    ///         break;
    ///     }
    /// }
    /// ```
    ///
    /// Cost: an erase, two where a collection was made before; the live words of a unit programmed at most, and 12.
    ///
    /// # Errors
    /// The store's.
    pub fn reclaim_step(&mut self, least_bytes: u32) -> Result<bool, StoreError<D::Error>> {
        if self.transaction != Transaction::None {
            return Ok(false);
        }
        let step = self.store_mut().reclaim_step(least_bytes);
        self.conclude(step)
    }

    /// Bytes that can be allocated before a unit has to be reclaimed. They may be in many pieces: one for each unit
    /// that is in use. Cost: RAM only.
    pub fn ready_bytes(&self) -> u64 {
        self.store().ready_bytes()
    }

    /// Whether the client has a transaction open.
    pub fn in_transaction(&self) -> bool {
        self.transaction != Transaction::None
    }

    /// Whether a failure has undone the client's transaction, and the client does not know yet.
    pub(crate) fn is_aborted(&self) -> bool {
        self.transaction == Transaction::Aborted
    }

    /// Whether a list is changed in place: outside transactions, and where the open transaction has made it.
    pub(crate) fn changes_in_place(&self, list: &Object) -> bool {
        self.transaction != Transaction::Open || list.fresh
    }

    /// Refuses an access while the client's transaction is aborted.
    pub(crate) fn expect_access(&self) -> Result<(), AccessError<D::Error>> {
        if self.is_aborted() { Err(AccessError::TransactionAborted) } else { Ok(()) }
    }

    /// Finds what `reference` names. Cost: a look-up.
    pub(crate) fn look_up(&mut self, reference: Ref) -> Result<ObjectForm, AccessError<D::Error>> {
        self.expect_access()?;
        self.descriptors().find(reference)
    }

    /// The lowest slot of the REF tree that is free.
    pub(crate) fn free_slot(&mut self) -> Result<u32, CreateError<D::Error>> {
        let root = self.store().tree(TreeId::Ref);
        for from in [self.slot_hint, 0] {
            match self.store_mut().trees().vacant(root, from)? {
                Some(slot) if slot < Ref::SLOTS => return Ok(slot),
                _ => {}
            }
        }
        Err(CreateError::NoReferences)
    }

    /// Looks for a free slot from this one on the next time.
    pub(crate) fn look_for_slots_from(&mut self, slot: u32) {
        self.slot_hint = slot;
    }

    /// Notes that the lowest free slot was taken.
    pub(crate) fn slot_is_taken(&mut self, slot: u32) {
        self.slot_hint = slot + 1;
    }

    /// Notes that a slot was freed.
    pub(crate) fn slot_is_free(&mut self, slot: u32) {
        self.slot_hint = self.slot_hint.min(slot);
    }

    fn undo(&mut self) -> Result<(), StoreError<D::Error>> {
        self.slot_hint = 0;
        self.store_mut().abort()
    }

    /// Ends a call, whose result this returns unless the notification fails.
    pub(crate) fn conclude<T, E>(&mut self, result: Result<T, E>) -> Result<T, E>
    where
        E: From<StoreError<D::Error>>,
    {
        let buckets = match self.transaction {
            Transaction::Open => MarkedBuckets::Stay,
            Transaction::None | Transaction::Aborted => MarkedBuckets::Leave,
        };
        self.compaction.pointers.conclude(result, buckets)
    }

    /// Ends a change: commits it if the client has no transaction; a failed one is undone, with the client's
    /// transaction. Then notifies of the pointers that reclamations have made invalid.
    pub(crate) fn settle<T, E>(&mut self, result: Result<T, E>) -> Result<T, E>
    where
        E: From<StoreError<D::Error>>,
    {
        let ended = self.end_change(result);
        self.conclude(ended)
    }

    fn end_change<T, E>(&mut self, result: Result<T, E>) -> Result<T, E>
    where
        E: From<StoreError<D::Error>>,
    {
        let error = match result {
            Ok(value) if self.transaction != Transaction::None => return Ok(value),
            Ok(value) => match self.store_mut().commit() {
                Ok(()) => return Ok(value),
                Err(StoreError::TransactionTooLarge) => E::from(StoreError::TransactionTooLarge),
                Err(error) => return Err(error.into()),
            },
            Err(error) => error,
        };
        if self.transaction == Transaction::Open {
            self.transaction = Transaction::Aborted;
        }
        match self.undo() {
            // Where the device had failed already, the first failure is the news.
            Ok(()) | Err(StoreError::Halted) => Err(error),
            Err(failure) => Err(failure.into()),
        }
    }
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> ObjectHeap for HeapIn<D, M, L, F> {
    norn_heap::object_heap_by_methods!(D::Error);
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> PhysicalPointers for HeapIn<D, M, L, F> {
    norn_heap::physical_pointers_by_methods!(L);
}
