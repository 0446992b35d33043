//! Reading and updating single fields and elements, each atomic.
//!
//! Updating field *i* outside a transaction:
//! 1. if its initialization flag is erased, program the value into the first record and clear the flag;
//! 2. else find the first record whose valid flag *i* is erased: it holds the value;
//! 3. program the new value into the next record's slot, in a new record if there is none and the list may grow, and
//!    clear the valid flag of the old value;
//! 4. where the list may not grow or finds no room, its last link is void or the slot is torn,
//!    [compact](crate::compact) the object.
//!
//! Where delta records are on, an update adds a [delta](crate::list::delta) instead of 3 if the object's fields are set
//! sparsely.
//!
//! A slot is torn when a power cut hit 1 or 3 between value and flag. Inside a transaction an object is rewritten at
//! its first change, unless it takes [deltas](crate::list::delta), and that representation, which no other version
//! contains yet, is then changed in place as above. Several elements of an array are stored in place as one is, where
//! all are in the same state.

use norn_flash::Nor;
use norn_heap::{AccessError, Kind, Listener, Ref};
use norn_nor_store::{Counting, Features, StoreError, UnitRows};

use crate::check::ValueCheck;
use crate::compact::Change;
use crate::form::{Field, Object, ObjectForm};
use crate::format::widths_offset;
use crate::heap::HeapIn;

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// Reads field `index` of an object into a buffer of its width.
    ///
    /// Cost: a look-up; 2 reads for the initialization flag, if there are any; 3 for each record before the one that
    /// holds the value, 2 and the value's words. Where delta records are on, up to 5 more, and 1 for each delta of the
    /// list. Where fields differ in width, the widths of those before it.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`; the store's.
    pub fn get_field(&mut self, reference: Ref, index: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        self.get(reference, Kind::Object, index, buffer)
    }

    /// Atomically sets field `index` of an object. `value.len()` must equal the field's width.
    ///
    /// Cost: the reads of [`get_field`](Self::get_field) and a few more. Programs: the value's words and 1 for a flag;
    /// 4 more when a record is added to the list; when the list is full, as [`Config`](crate::Config) says, the
    /// object's data and 20, and once in nine times a copy of a tree node, at most 24. In a transaction the object's
    /// first change costs the latter, each further one the former. Where [delta records](crate::DeltaRecords) are on,
    /// an update of few fields takes 1 word instead of the value and the flag, or 1 and a wide value's words; and so in
    /// transactions, with 2 more for the first of them in an object and 1 at the commit.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`: nothing was changed. The store's, `Full` among them: the field
    /// has its old value, and an open transaction is aborted.
    pub fn put_field(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        self.put(reference, Kind::Object, index, value)
    }

    /// Reads element `index` of an array into a buffer of its width. Cost and errors: as
    /// [`get_field`](Self::get_field).
    ///
    /// # Errors
    /// As [`get_field`](Self::get_field).
    pub fn array_load(&mut self, reference: Ref, index: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        self.get(reference, Kind::Array, index, buffer)
    }

    /// Atomically sets element `index` of an array. `value.len()` must equal the element's width. Cost: as
    /// [`put_field`](Self::put_field).
    ///
    /// # Errors
    /// As [`put_field`](Self::put_field).
    pub fn array_store(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        self.put(reference, Kind::Array, index, value)
    }

    /// Reads as much of the header as `buffer` holds; returns the header's length. Cost: a look-up, 2 reads and the
    /// bytes' words.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn read_header(&mut self, reference: Ref, buffer: &mut [u8]) -> Result<usize, AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let Some(header) = named.header() else {
            return Ok(0);
        };
        let (length, _) = self.checked().header_lengths(Some(header), named.widths_bytes())?;
        let sector = self.sectors().get(header)?;
        self.checked().expect_header(&sector, named.widths_bytes())?;
        let buffer_bytes = buffer.len().min(length);
        let header_at = widths_offset(self.detection()) + named.widths_bytes();
        self.sectors().read(&sector, header_at, &mut buffer[..buffer_bytes])?;
        Ok(length)
    }

    /// Atomically replaces the header. Cost: as a compaction in [`put_field`](Self::put_field), and the header.
    ///
    /// # Errors
    /// `Stale`, `HeaderTooLarge`: nothing was changed. The store's, `Full` among them: the header is the old one, and
    /// an open transaction is aborted.
    pub fn write_header(&mut self, reference: Ref, header: &[u8]) -> Result<(), AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let max = self.store().sector_bytes_max();
        let header_at = widths_offset(self.detection()) + named.widths_bytes();
        if header.len() as u64 + u64::from(header_at) > u64::from(max) {
            return Err(AccessError::HeaderTooLarge { max });
        }
        let written = match &named {
            ObjectForm::List(object) => self.compaction().compact(object, Change::Header(header)),
            ObjectForm::Split(array) => self.compaction().replace_array_header(array, header),
        };
        self.settle(written.map_err(AccessError::Store))
    }

    pub(crate) fn get(
        &mut self,
        reference: Ref,
        kind: Kind,
        index: usize,
        buffer: &mut [u8],
    ) -> Result<(), AccessError<D::Error>> {
        let (object, field) = self.locate(reference, kind, index, buffer.len())?;
        let Some(holder) = self.lists().find_value(&object, &field)? else {
            buffer.fill(0);
            return Ok(());
        };
        self.sectors().read(&holder.sector, holder.at, buffer)?;
        if self.detects() {
            self.lists().expect_code(&object, &holder.sector, &field, ValueCheck::of(buffer))?;
        }
        Ok(())
    }

    pub(crate) fn put(
        &mut self,
        reference: Ref,
        kind: Kind,
        index: usize,
        value: &[u8],
    ) -> Result<(), AccessError<D::Error>> {
        let (object, field) = self.locate(reference, kind, index, value.len())?;
        let updated = self.update(&object, &field, value);
        self.settle(updated.map_err(AccessError::Store))
    }

    /// Finds an object or array of the wanted kind, and its field or element `index`, whose width must be `given`.
    fn locate(
        &mut self,
        reference: Ref,
        kind: Kind,
        index: usize,
        given: usize,
    ) -> Result<(Object, Field), AccessError<D::Error>> {
        let (object, index) = self.list_of(reference, kind, index)?;
        let field = self.descriptors().field(&object, index)?;
        if field.width as usize != given {
            return Err(AccessError::WrongWidth { width: field.width });
        }
        Ok((object, field))
    }

    /// Finds the list of records of an object or array of the wanted kind that has field or element `index`, and its
    /// index there.
    pub(crate) fn list_of(
        &mut self,
        reference: Ref,
        kind: Kind,
        index: usize,
    ) -> Result<(Object, usize), AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let count = named.count();
        if named.kind() != kind {
            return Err(AccessError::WrongKind(reference));
        }
        if index >= count {
            return Err(AccessError::OutOfRange { count: count as u32 });
        }
        match named {
            ObjectForm::List(object) => Ok((object, index)),
            ObjectForm::Split(array) => {
                let elements = usize::from(array.shape.section_elements);
                Ok((self.descriptors().section(&array, (index / elements) as u32)?, index % elements))
            }
        }
    }

    /// Updates a field: in place (steps 1 to 4) if possible, else by a new representation.
    pub(crate) fn update(&mut self, object: &Object, field: &Field, value: &[u8]) -> Result<(), StoreError<D::Error>> {
        self.pointers().forget_values(object)?;
        let in_place = self.changes_in_place(object);
        if in_place
            && !self.lists().prefers_delta(object, field)?
            && self.lists().store_in_place(object, field, 1, value)?
        {
            return Ok(());
        }
        let counting = if in_place { Counting::AtOnce } else { Counting::WithCommit };
        if self.lists().put_delta(object, field, value, counting)? {
            return Ok(());
        }
        self.compaction().compact(object, Change::Field(*field, value))
    }
}
