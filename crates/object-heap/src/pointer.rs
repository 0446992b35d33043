//! Physical pointers: where values and headers are on flash (section 5.4).
//!
//! *Short-lived* pointers are for parts whose bytes are mapped into memory. They are borrows of the heap, so that no
//! call that might move the value can come between. A default value, which need not be on flash, is a borrow of zeros.
//! Nothing is programmed.
//!
//! Pointers *with notification* are addresses, on any part, and stay valid until the heap's [`Listener`] is notified
//! otherwise. To make one to a field:
//! 1. where the values of its list are spread over several records, compact the list;
//! 2. where some are there by default, program zeros for them and clear their initialization flags: from here on all
//!    bytes of the list, from the field to the end, are where the pointer says;
//! 3. note the reference in the bucket of that unit (`notify.rs`); where that took room, and so may have moved things,
//!    look again.
//!
//! Each step leaves every value as it was, whenever the power fails.

use norn_flash::{Address, Nor};
use norn_heap::{AccessError, Kind, Listener, PhysicalPointer, PointerError, Ref};
use norn_nor_store::{ErrorDetection, Features, Sector, StoreError, UnitRows};

use crate::compact::Change;
use crate::form::Object;
use crate::format::{CHUNK_BYTES, flag_bytes, widths_offset};
use crate::heap::HeapIn;

/// What default values are.
static ZEROS: [u8; 255] = [0; 255];

/// How often a pointer is noted again because noting it moved the value. Once is enough unless the part is all but
/// full.
const ATTEMPTS: usize = 4;

/// Where a value is.
enum ValuePlace {
    Flash(Address, usize),
    Zeros(usize),
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// The value of field `index` of an object, in place.
    ///
    /// Cost: as [`get_field`](Self::get_field), without the value's words.
    ///
    /// # Errors
    /// `NotMapped` where the part's bytes cannot be read in place; else as `get_field`.
    pub fn field_bytes(&mut self, object: Ref, index: usize) -> Result<&[u8], AccessError<D::Error>> {
        let (list, index) = self.list_of(object, Kind::Object, index)?;
        let place = self.place_of_value(&list, index)?;
        self.bytes_at(place)
    }

    /// The values of elements from `index` on, in place: as many as are contiguous, and at least one.
    ///
    /// Cost: as [`array_load`](Self::array_load), without the value's words, once for each element.
    ///
    /// # Errors
    /// `NotMapped` where the part's bytes cannot be read in place; else as `array_load`.
    pub fn array_bytes(&mut self, array: Ref, index: usize) -> Result<&[u8], AccessError<D::Error>> {
        let (list, index) = self.list_of(array, Kind::Array, index)?;
        let place = match self.place_of_value(&list, index)? {
            ValuePlace::Flash(address, width) => ValuePlace::Flash(address, width * self.values_in_row(&list, index)?),
            ValuePlace::Zeros(width) => {
                ValuePlace::Zeros(width * self.defaults_in_row(&list, index, ZEROS.len() / width)?)
            }
        };
        self.bytes_at(place)
    }

    /// The header, in place; empty where there is none.
    ///
    /// Cost: as [`read_header`](Self::read_header), without the bytes' words.
    ///
    /// # Errors
    /// `NotMapped` where the part's bytes cannot be read in place; else as `read_header`.
    pub fn header_bytes(&mut self, reference: Ref) -> Result<&[u8], AccessError<D::Error>> {
        let place = match self.place_of_header(reference)? {
            Some(pointer) => ValuePlace::Flash(pointer.address, pointer.len),
            None => ValuePlace::Zeros(0),
        };
        self.bytes_at(place)
    }

    /// Where the value of field `index` of an object is, with those of the fields after it, until the [`Listener`] is
    /// notified of the object. A second call returns the same address.
    ///
    /// Cost: a look-up, about 20 reads, and the bucket's words; programs 1 word. Where the bucket of the erase unit is
    /// new or full: a new one, 11 words and what is in it, and 8 for each new tree node. Where the value has been
    /// updated since the last pointer, also a compaction as in [`put_field`](Self::put_field); and once zeros for the
    /// fields that were never set.
    ///
    /// # Errors
    /// `TransactionOpen`, `NoListener`; `Stale`, `WrongKind`, `OutOfRange`; the store's, `Full` among them: no pointer
    /// is noted then, and other pointers are as they were.
    pub fn field_pointer(&mut self, object: Ref, index: usize) -> Result<PhysicalPointer, PointerError<D::Error>> {
        let made = self.note_value(object, Kind::Object, index);
        self.conclude(made)
    }

    /// Where the value of element `index` of an array is, with those after it in its section, until the [`Listener`] is
    /// notified of the array. Cost: as [`field_pointer`](Self::field_pointer).
    ///
    /// # Errors
    /// As [`field_pointer`](Self::field_pointer).
    pub fn array_pointer(&mut self, array: Ref, index: usize) -> Result<PhysicalPointer, PointerError<D::Error>> {
        let made = self.note_value(array, Kind::Array, index);
        self.conclude(made)
    }

    /// Where the header of an object or array is, until the [`Listener`] is notified of it; `None` if there is no
    /// header. That answer is not noted: the listener is not notified when a header is set. Cost: as
    /// [`field_pointer`](Self::field_pointer), without compaction.
    ///
    /// # Errors
    /// `TransactionOpen`, `NoListener`; `Stale`; the store's.
    pub fn header_pointer(&mut self, reference: Ref) -> Result<Option<PhysicalPointer>, PointerError<D::Error>> {
        let made = self.note_header(reference);
        self.conclude(made)
    }

    fn note_header(&mut self, reference: Ref) -> Result<Option<PhysicalPointer>, PointerError<D::Error>> {
        self.expect_no_transaction()?;
        for _ in 0..ATTEMPTS {
            let Some(pointer) = self.place_of_header(reference)? else {
                return Ok(None);
            };
            if self.note(reference, pointer.address)? {
                return Ok(Some(pointer));
            }
        }
        Err(StoreError::Full.into())
    }

    fn note_value(
        &mut self,
        reference: Ref,
        kind: Kind,
        index: usize,
    ) -> Result<PhysicalPointer, PointerError<D::Error>> {
        self.expect_no_transaction()?;
        for _ in 0..ATTEMPTS {
            let pointer = self.place_whole(reference, kind, index)?;
            if self.note(reference, pointer.address)? {
                return Ok(pointer);
            }
        }
        Err(StoreError::Full.into())
    }

    fn expect_no_transaction(&self) -> Result<(), PointerError<D::Error>> {
        match self.in_transaction() {
            _ if !L::LISTENS => Err(PointerError::NoListener),
            false => Ok(()),
            true => Err(PointerError::TransactionOpen),
        }
    }

    /// Notes that there is a pointer to `address`, in the object `reference`. Returns whether nothing can have moved
    /// meanwhile; else the caller looks where the object is now, and whether it is noted there.
    fn note(&mut self, reference: Ref, address: Address) -> Result<bool, StoreError<D::Error>> {
        let unit = self.pointers().unit_of(address);
        if self.pointers().note(unit, reference)? {
            return Ok(true);
        }
        let written = self.pointers().write_bucket(unit, reference);
        self.settle(written)?;
        Ok(false)
    }

    fn place_of_header(&mut self, reference: Ref) -> Result<Option<PhysicalPointer>, AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let (len, _) = self.checked().header_lengths(named.header(), named.widths_bytes())?;
        let Some(header) = named.header().filter(|_| len > 0) else {
            return Ok(None);
        };
        let sector = self.sectors().get(header)?;
        let offset = widths_offset(self.detection()) + named.widths_bytes();
        if len as u64 + u64::from(offset) > u64::from(sector.bytes) {
            return Ok(self.sectors().corrupted(sector.address, "a header longer than its sector")?);
        }
        self.checked().expect_header(&sector, named.widths_bytes())?;
        Ok(Some(PhysicalPointer { address: sector.address.offset(offset), len, notified: reference }))
    }

    /// Steps 1 and 2 of the module's head.
    fn place_whole(
        &mut self,
        reference: Ref,
        kind: Kind,
        index: usize,
    ) -> Result<PhysicalPointer, AccessError<D::Error>> {
        if self.detects() {
            self.store_defaults(reference, kind, index)?;
        }
        let (mut list, mut at) = self.list_of(reference, kind, index)?;
        if self.lists().whole_record(&list)?.is_none() {
            let compacted = self.compaction().compact(&list, Change::Representation(list.shape.form.representation()));
            self.settle(compacted.map_err(AccessError::Store))?;
            (list, at) = self.list_of(reference, kind, index)?;
        }
        let Some(record) = self.lists().whole_record(&list)? else {
            let leaf = self.sectors().get(list.leaf)?;
            return Ok(self.sectors().corrupted(leaf.address, "a compacted list of several records")?);
        };
        if list.shape.form.has_flags() && !self.detects() {
            self.program_defaults(&list, &record)?;
        }
        let (field, end) = (self.descriptors().field(&list, at)?, self.descriptors().data_bytes(&list)?);
        let at = self.descriptors().slot_offset(&list, &field);
        if end < field.offset + field.width || at + (end - field.offset) > record.bytes {
            return Ok(self.sectors().corrupted(record.address, "a record too small for its fields")?);
        }
        let address = record.address.offset(at);
        Ok(PhysicalPointer { address, len: (end - field.offset) as usize, notified: reference })
    }

    /// Stores a zero in each field of a list that was never set, one by one, and checks the others: with error
    /// detection a torn code cannot become that of zeros.
    fn store_defaults(&mut self, reference: Ref, kind: Kind, index: usize) -> Result<(), AccessError<D::Error>> {
        let (list, at) = self.list_of(reference, kind, index)?;
        let first = index - at;
        for index in first..first + usize::from(list.shape.count) {
            let (list, at) = self.list_of(reference, kind, index)?;
            let field = self.descriptors().field(&list, at)?;
            let stored = match self.descriptors().is_default(&list, at)? {
                true => self.update(&list, &field, &ZEROS[..field.width as usize]),
                false => self.lists().check_value(&list, at),
            };
            self.settle(stored.map_err(AccessError::Store))?;
        }
        Ok(())
    }

    /// Programs the zeros of all fields that were never set, up to eight at a time, and then clears their flags.
    fn program_defaults(&mut self, list: &Object, record: &Sector) -> Result<(), StoreError<D::Error>> {
        let (leaf, flags_at) = (self.sectors().get(list.leaf)?, list.flags_offset(ErrorDetection::Off));
        let mut buffer = [0; CHUNK_BYTES];
        let flags = &mut buffer[..flag_bytes(list.shape.count, ErrorDetection::Off) as usize];
        self.sectors().read(&leaf, flags_at, flags)?;
        let mut index = 0;
        while index < usize::from(list.shape.count) {
            let is_erased = |index: usize| flags[index / 8] >> (index % 8) & 1 == 1;
            let byte_end = (index + 1).next_multiple_of(8).min(usize::from(list.shape.count));
            let end = (index..byte_end).find(|&index| !is_erased(index)).unwrap_or(byte_end);
            if end == index {
                index += 1;
                continue;
            }
            let (from, to) = (self.descriptors().field(list, index)?, self.descriptors().field(list, end - 1)?);
            let at = self.descriptors().slot_offset(list, &from);
            self.checked().program_zeros(record, at, to.offset + to.width - from.offset)?;
            (index..end).for_each(|index| flags[index / 8] &= !(1 << (index % 8)));
            self.sectors().program(&leaf, flags_at + index as u32 / 8, &flags[index / 8..=index / 8])?;
            index = end;
        }
        Ok(())
    }

    fn place_of_value(&mut self, list: &Object, index: usize) -> Result<ValuePlace, AccessError<D::Error>> {
        let field = self.descriptors().field(list, index)?;
        let Some(holder) = self.lists().find_value(list, &field)? else {
            return Ok(ValuePlace::Zeros(field.width as usize));
        };
        self.lists().check_value(list, index)?;
        Ok(ValuePlace::Flash(holder.sector.address.offset(holder.at), field.width as usize))
    }

    /// How many elements from `index` on have their values in the record that holds its value.
    fn values_in_row(&mut self, list: &Object, index: usize) -> Result<usize, AccessError<D::Error>> {
        let mut last = self.address_of_value(list, index)?;
        let mut count = 1;
        while index + count < usize::from(list.shape.count) {
            let next = self.address_of_value(list, index + count)?;
            let width = self.descriptors().field(list, index)?.width;
            if next.is_none() || next != last.map(|last| last.offset(width)) {
                break;
            }
            self.lists().check_value(list, index + count)?;
            (last, count) = (next, count + 1);
        }
        Ok(count)
    }

    /// Where the value of an element is; `None` for a default value.
    fn address_of_value(&mut self, list: &Object, index: usize) -> Result<Option<Address>, StoreError<D::Error>> {
        let field = self.descriptors().field(list, index)?;
        Ok(self.lists().find_value(list, &field)?.map(|holder| holder.sector.address.offset(holder.at)))
    }

    /// How many elements from `index` on have their default value, up to `max`.
    fn defaults_in_row(&mut self, list: &Object, index: usize, max: usize) -> Result<usize, AccessError<D::Error>> {
        let mut count = 1;
        while count < max
            && index + count < usize::from(list.shape.count)
            && self.address_of_value(list, index + count)?.is_none()
        {
            count += 1;
        }
        Ok(count)
    }

    fn bytes_at(&self, place: ValuePlace) -> Result<&[u8], AccessError<D::Error>> {
        let mapped = self.store().mapped().ok_or(AccessError::NotMapped)?;
        match place {
            ValuePlace::Zeros(len) => Ok(&ZEROS[..len]),
            ValuePlace::Flash(address, len) => match mapped.get(address.0 as usize..address.0 as usize + len) {
                Some(bytes) => Ok(bytes),
                None => Err(AccessError::NotMapped),
            },
        }
    }
}
