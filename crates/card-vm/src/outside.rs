//! Changes that an abort does not take back: a heap with a journal beside it.
//!
//! A heap's transaction undoes all that was changed in it. A card's non-atomic changes, and with them the tries of a
//! PIN, stay. So what is changed outside an open transaction is written to a journal first, then to the heap, where it
//! becomes permanent if the transaction does; otherwise it is taken from the journal again, at once or when power
//! comes.
//!
//! ```text
//! the journal     one erase unit:  head │ record │ record │ … │ erased           slots of 48 bytes
//! head            u32 MAGIC                                programmed after an erase, zeroed before the next
//! record          u32 serial │ u32 reference │ u16 first │ u8 bytes │ FF │ 32 bytes │ u32 CRC-32
//! the heap        an object with one field of 4 bytes, found by the root "jn": the last serial that is settled
//! ```
//!
//! A serial is a transaction in which something was changed outside. Its records count until the heap's field has the
//! serial: the transaction sets the field if it is committed; otherwise it is set when they have been taken from the
//! journal. A power cut before that makes them be taken again, which changes nothing more.
//!
//! The unit is erased for the first record after power comes where it is not known to be erased, and outside
//! transactions, once half of it is used. A transaction that fills it gets no room.

use core::fmt;
use core::marker::PhantomData;

use crc::{CRC_32_ISO_HDLC, Crc};
use norn_flash::{Address, EraseUnit, Nor};

use crate::end::Failure;
use crate::heap::{HEADER_BYTES, PersistentHeap, Tracer, Tracing};
use crate::objects::RUNTIME;

/// The first word of a unit that is in use.
const MAGIC: [u8; 4] = *b"NJ01";
/// Bytes of a slot.
const SLOT: usize = 48;
/// Bytes of data in a record at most.
const DATA: usize = 32;
/// Where they start.
const DATA_AT: usize = 12;
/// Where the check is.
const CRC_AT: usize = DATA_AT + DATA;
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
/// The object with the last settled serial.
const ROOT: [u8; 2] = *b"jn";
/// Its header: of the runtime's own, without references.
const HEADER: [u8; HEADER_BYTES] =
    [norn_card_package::format::TYPE_CLASS, norn_card_package::format::NONE, norn_card_package::format::NONE, RUNTIME];
/// Slots of a journal at least: a head, and as many as leave half of it.
const SLOTS_MIN: u32 = 8;

/// Why a heap with a journal fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalError<H, J> {
    /// The heap.
    Heap(H),
    /// The journal's device.
    Journal(J),
    /// The journal's erase unit is smaller than 384 bytes.
    TooSmall,
    /// What was changed outside a transaction finds no room after the transaction was undone. It stays in the journal.
    NoRoom,
}

impl<H: fmt::Display, J: fmt::Debug> fmt::Display for JournalError<H, J> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JournalError::Heap(error) => error.fmt(out),
            JournalError::Journal(error) => write!(out, "the journal's device: {error:?}"),
            JournalError::TooSmall => out.write_str("an erase unit of less than 384 bytes for the journal"),
            JournalError::NoRoom => out.write_str("no room to make changes again that an abort has undone"),
        }
    }
}

/// A heap `H`, and the first erase unit of `J` as its journal. RAM: 16 bytes beside the two, and 48 of stack.
#[derive(Debug)]
pub struct Journaled<H: PersistentHeap, J> {
    heap: H,
    journal: J,
    /// Where the next record goes; none where the unit has to be erased first.
    next: Option<u32>,
    /// The last settled serial.
    settled: u32,
    /// There are records that are not settled.
    is_used: bool,
    serial_object: H::Reference,
}

type Error<H, J> = JournalError<<H as PersistentHeap>::Error, <J as Nor>::Error>;

/// A record that is whole.
struct Record {
    serial: u32,
    reference: u32,
    first: u16,
    count: usize,
    data: [u8; DATA],
}

fn encode(serial: u32, reference: u32, first: u16, bytes: &[u8]) -> [u8; SLOT] {
    let mut slot = [0xFF; SLOT];
    slot[..4].copy_from_slice(&serial.to_le_bytes());
    slot[4..8].copy_from_slice(&reference.to_le_bytes());
    slot[8..10].copy_from_slice(&first.to_le_bytes());
    slot[10] = bytes.len() as u8;
    slot[DATA_AT..DATA_AT + bytes.len()].copy_from_slice(bytes);
    let check = CRC.checksum(&slot[..CRC_AT]);
    slot[CRC_AT..].copy_from_slice(&check.to_le_bytes());
    slot
}

fn decode(slot: &[u8; SLOT]) -> Option<Record> {
    let word = |at: usize| slot.get(at..at + 4)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    let count = usize::from(slot[10]);
    let mut data = [0; DATA];
    data.copy_from_slice(slot.get(DATA_AT..CRC_AT)?);
    let is_whole = word(CRC_AT)? == CRC.checksum(&slot[..CRC_AT]) && count <= DATA;
    let first = u16::from_le_bytes([slot[8], slot[9]]);
    is_whole.then_some(Record { serial: word(0)?, reference: word(4)?, first, count, data })
}

impl<H: PersistentHeap, J: Nor> Journaled<H, J> {
    /// A mounted heap, and its journal. Makes again what was changed outside a transaction that a power cut has undone.
    ///
    /// # Errors
    ///
    /// [`JournalError`].
    pub fn mount(mut heap: H, journal: J) -> Result<Self, Error<H, J>> {
        if journal.part().unit_size_bytes / (SLOT as u32) < SLOTS_MIN {
            return Err(JournalError::TooSmall);
        }
        let found = heap.root(ROOT).map_err(JournalError::Heap)?;
        let serial_object = match found {
            Some(object) => object,
            None => {
                let made = heap.create(&[4], HEADER).map_err(failed)?;
                heap.set_root(ROOT, Some(made)).map_err(failed)?;
                made
            }
        };
        let mut settled = [0; 4];
        heap.read_field(serial_object, 0, &mut settled).map_err(JournalError::Heap)?;
        let settled = u32::from_le_bytes(settled);
        let mut journaled = Journaled { heap, journal, next: None, settled, is_used: false, serial_object };
        journaled.next = journaled.find_end()?;
        match journaled.settle() {
            // A full heap can still be read; the next transaction does not begin without.
            Err(JournalError::NoRoom) => journaled.is_used = true,
            settled => settled?,
        }
        Ok(journaled)
    }

    /// The heap.
    pub fn heap(&mut self) -> &mut H {
        &mut self.heap
    }

    /// The heap and the journal's device.
    pub fn into_parts(self) -> (H, J) {
        (self.heap, self.journal)
    }

    fn slots(&self) -> u32 {
        self.journal.part().unit_size_bytes / SLOT as u32
    }

    #[inline(never)]
    fn read_slot(&mut self, number: u32) -> Result<[u8; SLOT], Error<H, J>> {
        let mut slot = [0; SLOT];
        self.journal.read(Address(number * SLOT as u32), &mut slot).map_err(JournalError::Journal)?;
        Ok(slot)
    }

    /// Where records end; none in a unit without a head.
    fn find_end(&mut self) -> Result<Option<u32>, Error<H, J>> {
        let head = self.read_slot(0)?;
        if head[..4] != MAGIC {
            return Ok(None);
        }
        let mut end = 1;
        for number in 1..self.slots() {
            if self.read_slot(number)? != [0xFF; SLOT] {
                end = number + 1;
            }
        }
        Ok(Some(end))
    }

    /// Makes what is not settled, in the order in which it was made.
    fn settle(&mut self) -> Result<(), Error<H, J>> {
        let Some(end) = self.next else { return Ok(()) };
        let mut last = self.settled;
        for number in 1..end {
            let slot = self.read_slot(number)?;
            let Some(record) = decode(&slot).filter(|record| record.serial > self.settled) else { continue };
            last = last.max(record.serial);
            let Some(array) = H::reference(record.reference) else { continue };
            match self.heap.write_elements(array, record.first, &record.data[..record.count]) {
                Ok(()) => {}
                // The array was made in the transaction that was undone.
                Err(Failure::Error(error)) if H::is_missing(&error) => {}
                Err(failure) => return Err(failed(failure)),
            }
        }
        if last != self.settled {
            self.heap.write_field(self.serial_object, 0, &last.to_le_bytes()).map_err(failed)?;
            self.settled = last;
        }
        self.is_used = false;
        Ok(())
    }

    /// Erases the unit, whose records are all settled.
    fn renew(&mut self) -> Result<(), Error<H, J>> {
        let head = [0; SLOT];
        let unit = self.journal.part().program_unit_bytes.max(MAGIC.len() as u8);
        let head = head.get(..usize::from(unit)).unwrap_or(&head);
        if self.next.take().is_some() {
            self.journal.program(Address(0), head).map_err(JournalError::Journal)?;
        }
        self.journal.erase(EraseUnit(0)).map_err(JournalError::Journal)?;
        let mut magic = [0xFF; SLOT];
        magic[..MAGIC.len()].copy_from_slice(&MAGIC);
        self.journal.program(Address(0), &magic[..usize::from(unit)]).map_err(JournalError::Journal)?;
        self.next = Some(1);
        Ok(())
    }

    fn append(&mut self, reference: u32, first: u16, bytes: &[u8]) -> Result<(), Failure<Error<H, J>>> {
        let next = match self.next {
            Some(next) => next,
            None => {
                self.renew().map_err(Failure::Error)?;
                1
            }
        };
        if next >= self.slots() {
            return Err(Failure::NoRoom);
        }
        let slot = encode(self.settled + 1, reference, first, bytes);
        // From here on the slot is used, whatever becomes of it.
        self.next = Some(next + 1);
        let at = Address(next * SLOT as u32);
        self.journal.program(at, &slot).map_err(|error| Failure::Error(JournalError::Journal(error)))?;
        self.is_used = true;
        Ok(())
    }
}

fn failed<H, J>(failure: Failure<H>) -> JournalError<H, J> {
    match failure {
        Failure::Error(error) => JournalError::Heap(error),
        Failure::NoRoom | Failure::TransactionFull => JournalError::NoRoom,
    }
}

fn of_heap<H, J>(failure: Failure<H>) -> Failure<JournalError<H, J>> {
    match failure {
        Failure::Error(error) => Failure::Error(JournalError::Heap(error)),
        Failure::NoRoom => Failure::NoRoom,
        Failure::TransactionFull => Failure::TransactionFull,
    }
}

/// A heap whose garbage is collected, with the journal's errors beside its own.
struct Outer<'a, T>(&'a mut T);

impl<R, E, J, T: Tracing<R, E>> Tracing<R, JournalError<E, J>> for Outer<'_, T> {
    fn header(&mut self, reference: R) -> Result<[u8; HEADER_BYTES], JournalError<E, J>> {
        self.0.header(reference).map_err(JournalError::Heap)
    }

    fn count(&mut self, reference: R) -> Result<usize, JournalError<E, J>> {
        self.0.count(reference).map_err(JournalError::Heap)
    }

    fn read_field(&mut self, object: R, index: u8, value: &mut [u8]) -> Result<(), JournalError<E, J>> {
        self.0.read_field(object, index, value).map_err(JournalError::Heap)
    }

    fn read_element(&mut self, array: R, index: u16, value: &mut [u8]) -> Result<(), JournalError<E, J>> {
        self.0.read_element(array, index, value).map_err(JournalError::Heap)
    }

    fn reached(&mut self, reference: R) -> Result<(), JournalError<E, J>> {
        self.0.reached(reference).map_err(JournalError::Heap)
    }
}

/// A tracer that knows the journal's errors, for a heap that does not.
struct Inner<'a, T, J>(&'a mut T, PhantomData<J>);

impl<R, E, J, T: Tracer<R, JournalError<E, J>>> Tracer<R, E> for Inner<'_, T, J> {
    fn trace(&mut self, heap: &mut impl Tracing<R, E>, object: R) -> Result<bool, E> {
        match self.0.trace(&mut Outer(heap), object) {
            Ok(is_known) => Ok(is_known),
            Err(JournalError::Heap(error)) => Err(error),
            // The journal takes no part in a collection.
            Err(_) => Ok(false),
        }
    }
}

impl<H: PersistentHeap, J: Nor> PersistentHeap for Journaled<H, J> {
    type Reference = H::Reference;
    type Error = Error<H, J>;

    fn reference(bits: u32) -> Option<Self::Reference> {
        H::reference(bits)
    }

    fn bits(reference: Self::Reference) -> u32 {
        H::bits(reference)
    }

    fn create(&mut self, widths: &[u8], header: [u8; HEADER_BYTES]) -> Result<Self::Reference, Failure<Self::Error>> {
        self.heap.create(widths, header).map_err(of_heap)
    }

    fn create_array(
        &mut self,
        count: u16,
        width: u8,
        header: [u8; HEADER_BYTES],
    ) -> Result<Self::Reference, Failure<Self::Error>> {
        self.heap.create_array(count, width, header).map_err(of_heap)
    }

    fn header(&mut self, reference: Self::Reference) -> Result<[u8; HEADER_BYTES], Self::Error> {
        self.heap.header(reference).map_err(JournalError::Heap)
    }

    fn count(&mut self, reference: Self::Reference) -> Result<usize, Self::Error> {
        self.heap.count(reference).map_err(JournalError::Heap)
    }

    fn read_field(&mut self, object: Self::Reference, index: u8, value: &mut [u8]) -> Result<(), Self::Error> {
        self.heap.read_field(object, index, value).map_err(JournalError::Heap)
    }

    fn write_field(&mut self, object: Self::Reference, index: u8, value: &[u8]) -> Result<(), Failure<Self::Error>> {
        self.heap.write_field(object, index, value).map_err(of_heap)
    }

    fn read_element(&mut self, array: Self::Reference, index: u16, value: &mut [u8]) -> Result<(), Self::Error> {
        self.heap.read_element(array, index, value).map_err(JournalError::Heap)
    }

    fn write_element(&mut self, array: Self::Reference, index: u16, value: &[u8]) -> Result<(), Failure<Self::Error>> {
        self.heap.write_element(array, index, value).map_err(of_heap)
    }

    fn read_elements(&mut self, array: Self::Reference, first: u16, into: &mut [u8]) -> Result<(), Self::Error> {
        self.heap.read_elements(array, first, into).map_err(JournalError::Heap)
    }

    fn write_elements(&mut self, array: Self::Reference, first: u16, from: &[u8]) -> Result<(), Failure<Self::Error>> {
        self.heap.write_elements(array, first, from).map_err(of_heap)
    }

    fn write_outside(&mut self, array: Self::Reference, first: u16, from: &[u8]) -> Result<(), Failure<Self::Error>> {
        if self.heap.in_transaction() {
            for (chunk, at) in from.chunks(DATA).zip((first..).step_by(DATA)) {
                self.append(H::bits(array), at, chunk)?;
            }
        }
        self.heap.write_elements(array, first, from).map_err(of_heap)
    }

    fn copy_elements(
        &mut self,
        from: (Self::Reference, u16),
        to: (Self::Reference, u16),
        count: u16,
    ) -> Result<(), Failure<Self::Error>> {
        self.heap.copy_elements(from, to, count).map_err(of_heap)
    }

    fn rewrite(&mut self, reference: Self::Reference) -> Result<(), Failure<Self::Error>> {
        self.heap.rewrite(reference).map_err(of_heap)
    }

    fn erase_unused(&mut self) -> Result<(), Failure<Self::Error>> {
        self.heap.erase_unused().map_err(of_heap)
    }

    fn delete(&mut self, reference: Self::Reference) -> Result<(), Failure<Self::Error>> {
        self.heap.delete(reference).map_err(of_heap)
    }

    fn next_object(&mut self, after: Option<Self::Reference>) -> Result<Option<Self::Reference>, Self::Error> {
        self.heap.next_object(after).map_err(JournalError::Heap)
    }

    fn collect(
        &mut self,
        tracer: &mut impl Tracer<Self::Reference, Self::Error>,
    ) -> Result<Option<u32>, Failure<Self::Error>> {
        self.heap.collect(&mut Inner::<_, J::Error>(tracer, PhantomData)).map_err(of_heap)
    }

    fn is_missing(error: &Self::Error) -> bool {
        matches!(error, JournalError::Heap(error) if H::is_missing(error))
    }

    fn is_misuse(error: &Self::Error) -> bool {
        matches!(error, JournalError::Heap(error) if H::is_misuse(error))
    }

    fn free_bytes(&self) -> u32 {
        self.heap.free_bytes()
    }

    fn root(&mut self, name: [u8; 2]) -> Result<Option<Self::Reference>, Self::Error> {
        self.heap.root(name).map_err(JournalError::Heap)
    }

    fn set_root(&mut self, name: [u8; 2], object: Option<Self::Reference>) -> Result<(), Failure<Self::Error>> {
        self.heap.set_root(name, object).map_err(of_heap)
    }

    fn in_transaction(&self) -> bool {
        self.heap.in_transaction()
    }

    fn begin(&mut self) -> Result<(), Self::Error> {
        if self.is_used {
            self.settle()?;
        }
        if self.next.is_some_and(|next| next > self.slots() / 2) {
            self.renew()?;
        }
        self.heap.begin().map_err(JournalError::Heap)
    }

    fn commit(&mut self) -> Result<(), Failure<Self::Error>> {
        if !self.is_used {
            return self.heap.commit().map_err(of_heap);
        }
        let serial = self.settled + 1;
        let written = self.heap.write_field(self.serial_object, 0, &serial.to_le_bytes());
        match written.and_then(|()| self.heap.commit()) {
            Ok(()) => {
                self.settled = serial;
                self.is_used = false;
                Ok(())
            }
            Err(Failure::Error(error)) => Err(Failure::Error(JournalError::Heap(error))),
            Err(_) => {
                // Too large: what was changed outside it stays.
                self.abort().map_err(Failure::Error)?;
                Err(Failure::NoRoom)
            }
        }
    }

    fn abort(&mut self) -> Result<(), Self::Error> {
        if self.heap.in_transaction() {
            self.heap.abort().map_err(JournalError::Heap)?;
        }
        if self.is_used { self.settle() } else { Ok(()) }
    }
}
