//! The EEPROM heap: its state in RAM, formatting, mounting and transactions.
//!
//! Mounting:
//! 1. the allocator puts back the words of a change that was interrupted;
//! 2. the log finds its head, and the records after the last obsolete one;
//! 3. where the newest of them is a commit marker, what the others delete is freed;
//! 4. else they are undone, the newest first: old bytes go back to their places, created blocks are freed;
//! 5. they become obsolete.
//!
//! Each step may be cut and done again: old bytes go to blocks that are older than the transaction, which nothing frees
//! in 4; a block that is free already is left alone in 3 and 4, where nothing is allocated.
//!
//! Invariant: between calls the log has valid records only while the client has a transaction open.

use core::ops::Range;

use norn_flash::{Address, Eeprom, Violation};
use norn_heap::{ObjectHeap, StoreError, TransactionError};

use super::allocator::Allocator;
use super::error::{EepromMountError, explained};
use super::format::{
    GRANULE_BYTES, LOG_AT, LOG_SLOTS_MIN, MAGIC, MAGIC_AT, PART_BYTES_MAX, Record, RecordKind, SIZE_AT, SLOT_BYTES,
    SLOTS_AT, VERSION, VERSION_AT, WINDOW_BYTES,
};
use super::log::Log;
use super::medium::Medium;

/// The state of the client's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transaction {
    None,
    Open,
    /// A failure has undone it; the client does not know yet.
    Aborted,
}

/// Objects and arrays that are overwritten in place on an EEPROM part of up to 512 KB, with the same calls as
/// the heaps on flash: what TinyStore (LCTES 2006, section 6.1) is compared with.
///
/// RAM: at most 100 bytes besides the device. No call recurses.
///
/// Costs are stated with each method, in aligned words of 4 bytes or less. Reads are stated only where they grow with
/// something: a word written takes as long as 35,300 words read.
///
/// ```
/// use norn_flash_sim::{EepromSim, catalogue};
/// use norn_baselines::EepromHeap;
/// use norn_heap::Layout;
///
/// let mut heap = EepromHeap::format(EepromSim::new(catalogue::tinystore_eeprom()), 8 * 1024).unwrap();
/// let purse = heap.create(Layout::uniform(3, 4)).unwrap(); // three fields of four bytes
/// heap.set_root(b"purse", Some(purse)).unwrap();
/// heap.begin().unwrap();
/// heap.put_field(purse, 0, &250u32.to_le_bytes()).unwrap();
///
/// // The power fails before the commit.
/// let mut heap = EepromHeap::mount(heap.into_device()).unwrap();
/// let purse = heap.root(b"purse").unwrap().unwrap();
/// let mut balance = [7; 4];
/// heap.get_field(purse, 0, &mut balance).unwrap();
/// assert_eq!(balance, [0; 4]);
/// ```
#[derive(Clone, Debug)]
pub struct EepromHeap<D> {
    pub(crate) medium: Medium<D>,
    pub(crate) allocator: Allocator,
    pub(crate) log: Log,
    pub(crate) transaction: Transaction,
}

impl<D: Eeprom> EepromHeap<D> {
    /// Lays out an empty heap with a commit log of `log_bytes`, a multiple of 16; each 16 bytes hold 8 old bytes or one
    /// creation or deletion of a transaction. What the part held is lost. Give `&mut device` to have the device back
    /// when this fails.
    ///
    /// Cost: at most 10 words written, and 1 for each 16 bytes of the log.
    ///
    /// # Errors
    /// When the part or the log cannot be used, or the device fails.
    pub fn format(device: D, log_bytes: u32) -> Result<Self, EepromMountError<D::Error>> {
        let size_bytes = suitable(&device)?;
        let mut heap = Self::laid_out(device, size_bytes, log_bytes / SLOT_BYTES)?;
        match heap.lay_out(size_bytes) {
            Ok(()) => Ok(heap),
            Err(error) => Err(explained(error, heap.medium.corruption)),
        }
    }

    /// Mounts the heap that the device holds, completing or undoing what a power cut interrupted. Give `&mut device` to
    /// have the device back when this fails.
    ///
    /// Cost: 1 read for each 16 bytes of the log. Words written only where a cut left work: those of an abort or a
    /// commit.
    ///
    /// # Errors
    /// Names what is wrong with the image or the part.
    pub fn mount(device: D) -> Result<Self, EepromMountError<D::Error>> {
        let size_bytes = suitable(&device)?;
        let mut medium = Medium::new(device);
        let mut words = [0; 4];
        for (word, address) in words.iter_mut().zip([MAGIC_AT, VERSION_AT, SIZE_AT, SLOTS_AT]) {
            *word = medium.read_word(address).map_err(|error| explained(error, None))?;
        }
        let slots = match words {
            [MAGIC, VERSION, size, slots] if size == size_bytes => slots,
            [MAGIC, VERSION, image, _] => {
                return Err(EepromMountError::WrongGeometry { what: "bytes in the part", image, expected: size_bytes });
            }
            [MAGIC, found, ..] => return Err(EepromMountError::OtherVersion { found, known: VERSION }),
            _ => return Err(EepromMountError::NotFormatted),
        };
        let mut heap = Self::laid_out(medium.guard.into_device(), size_bytes, slots)?;
        match heap.recover() {
            Ok(()) => Ok(heap),
            Err(error) => Err(explained(error, heap.medium.corruption)),
        }
    }

    fn laid_out(device: D, size_bytes: u32, slots: u32) -> Result<Self, EepromMountError<D::Error>> {
        let end = size_bytes / GRANULE_BYTES * GRANULE_BYTES;
        let start = slots.checked_mul(SLOT_BYTES).map(|bytes| u64::from(LOG_AT.0) + u64::from(bytes));
        let start = match start {
            Some(start) if slots >= LOG_SLOTS_MIN && start < u64::from(end) => start as u32,
            _ => return Err(EepromMountError::Unsuitable("a log of fewer than 64 bytes, or without room for a heap")),
        };
        let (allocator, log) = (Allocator { heap: start..end }, Log::new(slots));
        Ok(EepromHeap { medium: Medium::new(device), allocator, log, transaction: Transaction::None })
    }

    fn lay_out(&mut self, size_bytes: u32) -> Result<(), StoreError<D::Error>> {
        self.medium.write_word(MAGIC_AT, 0)?;
        self.log.format(&mut self.medium)?;
        self.allocator.format(&mut self.medium)?;
        self.medium.write_word(VERSION_AT, VERSION)?;
        self.medium.write_word(SIZE_AT, size_bytes)?;
        self.medium.write_word(SLOTS_AT, self.log.slots)?;
        self.medium.write_word(MAGIC_AT, MAGIC)
    }

    /// Steps 1 to 5 of mounting.
    fn recover(&mut self) -> Result<(), StoreError<D::Error>> {
        self.allocator.recover(&mut self.medium)?;
        self.log.mount(&mut self.medium)?;
        if !self.log.is_open() {
            return Ok(());
        }
        match self.log.record(&mut self.medium, 1)?.kind {
            RecordKind::CommitMarker => self.redo(),
            _ => self.undo(),
        }
    }

    /// What the last call that failed with `Corrupted` found, and where.
    pub fn corruption(&self) -> Option<Violation> {
        self.medium.corruption
    }

    /// Where the commit log is.
    pub fn log_range(&self) -> Range<Address> {
        self.log.address(0)..self.log.address(self.log.slots)
    }

    /// The device.
    pub fn device(&self) -> &D {
        self.medium.guard.device()
    }

    /// The device, for what does not change the part's contents.
    pub fn device_mut(&mut self) -> &mut D {
        self.medium.guard.device_mut()
    }

    /// Returns the device. An open transaction is undone at the next mount.
    pub fn into_device(self) -> D {
        self.medium.guard.into_device()
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
        self.transaction = Transaction::Open;
        Ok(())
    }

    /// Makes the transaction's changes permanent.
    ///
    /// Cost: 1 word written; where the transaction deletes, 2 more and 8 to 11 for each block.
    ///
    /// # Errors
    /// `Aborted` when a failure had undone the transaction, `NotOpen`; the store's. It stays open until
    /// [`abort`](Self::abort).
    pub fn commit(&mut self) -> Result<(), TransactionError<D::Error>> {
        match self.transaction {
            Transaction::None => return Err(TransactionError::NotOpen),
            Transaction::Aborted => return Err(TransactionError::Aborted),
            Transaction::Open => {}
        }
        self.finish()?;
        self.transaction = Transaction::None;
        Ok(())
    }

    /// Undoes the transaction; objects that it created are gone.
    ///
    /// Cost: 1 word written, the old bytes' words, and 8 to 11 for each block that was created.
    ///
    /// # Errors
    /// `NotOpen`; the store's.
    pub fn abort(&mut self) -> Result<(), TransactionError<D::Error>> {
        if self.transaction == Transaction::None {
            return Err(TransactionError::NotOpen);
        }
        self.transaction = Transaction::Aborted;
        self.undo()?;
        self.transaction = Transaction::None;
        Ok(())
    }

    /// Whether the client has a transaction open.
    pub fn in_transaction(&self) -> bool {
        self.transaction != Transaction::None
    }

    /// Commits what the log has. A marker is needed only where something is left to be done.
    fn finish(&mut self) -> Result<(), StoreError<D::Error>> {
        if !self.log.deletes() {
            return self.log.end(&mut self.medium);
        }
        self.log.append(&mut self.medium, Record::of(RecordKind::CommitMarker, Address(0)), &[])?;
        self.redo()
    }

    /// Frees what a committed transaction deletes (step 3).
    fn redo(&mut self) -> Result<(), StoreError<D::Error>> {
        for number in 1..=self.log.open() {
            let record = self.log.record(&mut self.medium, number)?;
            if record.kind == RecordKind::DeleteObject {
                self.allocator.free(&mut self.medium, record.address)?;
            }
        }
        self.log.end(&mut self.medium)
    }

    /// Undoes the log's records, the newest first (step 4).
    fn undo(&mut self) -> Result<(), StoreError<D::Error>> {
        for number in 1..=self.log.open() {
            let record = self.log.record(&mut self.medium, number)?;
            match record.kind {
                RecordKind::NewObject | RecordKind::NewHeader => {
                    self.allocator.free(&mut self.medium, record.address)?;
                }
                RecordKind::OldValue | RecordKind::OldHeaderPointer => {
                    let mut buffer = [0; WINDOW_BYTES as usize];
                    let old = self.log.old(&mut self.medium, number, record, &mut buffer)?;
                    let end = u64::from(record.address.0) + old.len() as u64;
                    if record.address.0 < self.allocator.heap.start || end > u64::from(self.allocator.heap.end) {
                        return self.medium.corrupted(record.address, "old bytes of a place outside the heap");
                    }
                    self.medium.write(record.address, old)?;
                }
                RecordKind::DeleteObject | RecordKind::CommitMarker => {}
            }
        }
        self.log.end(&mut self.medium)
    }

    /// Ends a change: commits it if the client has no transaction; a failed one is undone, with the client's
    /// transaction.
    pub(crate) fn settle<T, E>(&mut self, result: Result<T, E>) -> Result<T, E>
    where
        E: From<StoreError<D::Error>>,
    {
        let error = match result {
            Ok(value) if self.transaction != Transaction::None => return Ok(value),
            Ok(value) => return self.finish().map(|()| value).map_err(E::from),
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

impl<D: Eeprom> ObjectHeap for EepromHeap<D> {
    norn_heap::object_heap_by_methods!(D::Error);
}

fn suitable<D: Eeprom>(device: &D) -> Result<u32, EepromMountError<D::Error>> {
    let part = device.part();
    part.validate().map_err(EepromMountError::Part)?;
    if part.size_bytes > PART_BYTES_MAX {
        return Err(EepromMountError::Unsuitable("a part of more than 512 KB"));
    }
    Ok(part.size_bytes)
}

const _: () = assert!(core::mem::size_of::<EepromHeap<()>>() <= 100, "the mounted heap takes at most 100 bytes");
