//! Reading and updating single fields and elements, each atomic.
//!
//! Updating field *i* outside a transaction:
//! 1. if its initialization flag is erased, program the value into the first record and clear the flag;
//! 2. else find the first record whose valid flag *i* is erased: it holds the value;
//! 3. program the new value into the next record's slot, in a new record if there is none and the list may grow, and clear
//!    the valid flag of the old value;
//! 4. where the list may not grow or finds no room, its last link is void or the slot is torn, [rewrite](crate::rewrite) the
//!    object.
//!
//! Where delta records are on, an update adds a [delta](crate::delta) instead of 3 if the object's fields are set sparsely.
//!
//! A slot is torn when a power cut hit 1 or 3 between value and flag. Inside a transaction an object is rewritten at its first
//! change, unless it takes [deltas](crate::delta), and that representation, which nobody else sees yet, is then changed in place as above. Several elements of an array
//! are stored in place as one is, where all are in the same state.

use core::ops::Range;

use norn_flash::Nor;
use norn_nor_store::{Counting, Extension, Features, Link, Sector, SectorKind, SectorPtr, SectorSpec, StoreError};

use crate::code::ValueCode;
use crate::descriptor::{Named, Object};
use crate::error::AccessError;
use crate::format::{VALID_FLAGS_OFFSET, data_offset, flag_place, widths_offset};
use crate::heap::{Heap, Transaction};
use crate::notify::Listener;
use crate::object::{CHUNK_BYTES, Kind};
use crate::reference::Ref;
use crate::rewrite::{Change, FLAGS_BYTES};

/// A field or element: its index, and where its bytes are in the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub index: usize,
    pub offset: u32,
    pub width: u32,
}

impl<D: Nor, const UNITS: usize, L: Listener, F: Features> Heap<D, UNITS, L, F> {
    /// Reads field `index` of an object into a buffer of its width.
    ///
    /// Cost: a look-up; 2 reads for the initialization flag, if there are any; 3 for each record before the one that holds the
    /// value, 2 and the value's words. Where delta records are on, up to 5 more, and 1 for each delta of the list. Where fields differ
    /// in width, the widths of those before it.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`; the store's.
    pub fn get_field(&mut self, reference: Ref, index: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        self.get(reference, Kind::Object, index, buffer)
    }

    /// Makes field `index` of an object `value`, whose length is the field's width: whole or not at all.
    ///
    /// Cost: the reads of [`get_field`](Self::get_field) and a few more. Programs: the value's words and 1 for a flag; 4 more when
    /// a record is added to the list; when the list is full, as [`Config`](crate::Config) says, the object's data and
    /// 20, and once in nine times a copy of a tree node, at most 24. In a transaction the object's first change costs the
    /// latter, each further one the former. Where [delta records](crate::DeltaRecords) are on, an update of few fields takes 1 word instead of the
    /// value and the flag, or 1 and a wide value's words; and so in transactions, with 2 more for the first of them in an object and 1 at the
    /// commit.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`: nothing was changed. The store's, `Full` among them: the field has its
    /// old value, and an open transaction is undone.
    pub fn put_field(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        self.put(reference, Kind::Object, index, value)
    }

    /// Reads element `index` of an array into a buffer of its width. Cost and errors: as [`get_field`](Self::get_field).
    ///
    /// # Errors
    /// As [`get_field`](Self::get_field).
    pub fn array_load(&mut self, reference: Ref, index: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        self.get(reference, Kind::Array, index, buffer)
    }

    /// Makes element `index` of an array `value`, whose length is the element's width: whole or not at all. Cost: as
    /// [`put_field`](Self::put_field).
    ///
    /// # Errors
    /// As [`put_field`](Self::put_field).
    pub fn array_store(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        self.put(reference, Kind::Array, index, value)
    }

    /// Reads as much of the header as `buffer` holds; returns the header's length. Cost: a look-up, 2 reads and the bytes' words.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn read_header(&mut self, reference: Ref, buffer: &mut [u8]) -> Result<usize, AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let Some(header) = named.header() else {
            return Ok(0);
        };
        let (length, _) = self.header_lengths(Some(header), named.widths_bytes())?;
        let sector = self.store.sectors().get(header)?;
        self.expect_header(&sector, named.widths_bytes())?;
        let buffer_bytes = buffer.len().min(length);
        let header_at = widths_offset(self.detection()) + named.widths_bytes();
        self.store.sectors().read(&sector, header_at, &mut buffer[..buffer_bytes])?;
        Ok(length)
    }

    /// Replaces the header, whole or not at all. Cost: as a compaction in [`put_field`](Self::put_field), and the header.
    ///
    /// # Errors
    /// `Stale`, `HeaderTooLarge`: nothing was changed. The store's, `Full` among them: the header is the old one, and an open
    /// transaction is undone.
    pub fn write_header(&mut self, reference: Ref, header: &[u8]) -> Result<(), AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let max = self.store.sector_bytes_max();
        let header_at = widths_offset(self.detection()) + named.widths_bytes();
        if header.len() as u64 + u64::from(header_at) > u64::from(max) {
            return Err(AccessError::HeaderTooLarge { max });
        }
        let written = match &named {
            Named::List(object) => self.rewrite(object, Change::Header(header)),
            Named::Split(array) => self.replace_array_header(array, header),
        };
        self.settle(written.map_err(AccessError::Store))
    }

    fn get(
        &mut self,
        reference: Ref,
        kind: Kind,
        index: usize,
        buffer: &mut [u8],
    ) -> Result<(), AccessError<D::Error>> {
        let (object, field) = self.locate(reference, kind, index, buffer.len())?;
        let Some(holder) = self.find_value(&object, &field)? else {
            buffer.fill(0);
            return Ok(());
        };
        self.store.sectors().read(&holder.sector, holder.at, buffer)?;
        if self.detects() {
            self.expect_code(&object, &holder.sector, &field, ValueCode::of(buffer))?;
        }
        Ok(())
    }

    fn put(&mut self, reference: Ref, kind: Kind, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
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
        let field = self.field(&object, index)?;
        if field.width as usize != given {
            return Err(AccessError::WrongWidth { width: field.width });
        }
        Ok((object, field))
    }

    /// Finds the list of records of an object or array of the wanted kind that has field or element `index`, and its index there.
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
            Named::List(object) => Ok((object, index)),
            Named::Split(array) => {
                let elements = usize::from(array.shape.section_elements);
                Ok((self.section(&array, (index / elements) as u32)?, index % elements))
            }
        }
    }

    /// Where field `index` is in the data. Cost: none where widths are uniform, else their bytes' words up to the field's.
    pub(crate) fn field(&mut self, object: &Object, index: usize) -> Result<Field, StoreError<D::Error>> {
        if let Some(width) = object.shape.width() {
            let width = u32::from(width);
            return Ok(Field { index, offset: index as u32 * width, width });
        }
        let mut widths = [0; CHUNK_BYTES];
        let mut field = Field { index, offset: 0, width: 0 };
        for start in (0..=index).step_by(CHUNK_BYTES) {
            let len = CHUNK_BYTES.min(index + 1 - start);
            self.read_widths(object, start, &mut widths[..len])?;
            field.offset += widths[..len].iter().map(|&width| u32::from(width)).sum::<u32>();
            field.width = u32::from(widths[len - 1]);
        }
        field.offset -= field.width;
        Ok(field)
    }

    /// Reads the widths of the fields from `start` on, of an object whose header lists them.
    pub(crate) fn read_widths(
        &mut self,
        object: &Object,
        start: usize,
        widths: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        let Some(header) = object.header else {
            widths.fill(0);
            return Ok(());
        };
        let sector = self.store.sectors().get(header)?;
        let at = widths_offset(self.detection()) + start as u32;
        self.store.sectors().read(&sector, at, widths)
    }

    /// Where the value of a field stands; `None` for a default value (steps 1 and 2).
    pub(crate) fn find_value(
        &mut self,
        object: &Object,
        field: &Field,
    ) -> Result<Option<Holder>, StoreError<D::Error>> {
        if self.has_deltas()
            && let Some(delta) = self.find_delta(object, field.index)?
        {
            return Ok(Some(delta));
        }
        let index = field.index;
        if self.is_default(object, index)? {
            return Ok(None);
        }
        let (mut record, mut half) = (object.first, None);
        for position in 1.. {
            let sector = self.record(record)?;
            if self.read_flag(&sector, VALID_FLAGS_OFFSET, index)? {
                return Ok(Some(Holder { sector, at: self.slot_offset(object, field), half }));
            }
            if self.is_half(&sector, VALID_FLAGS_OFFSET, index)? {
                half = Some(sector);
            }
            match self.next_record(&sector, position)? {
                Some(next) => record = next,
                None => {
                    return self.store.sectors().corrupted(sector.address, "a list of records without a field's value");
                }
            }
        }
        unreachable!()
    }

    pub(crate) fn record(&mut self, pointer: SectorPtr) -> Result<Sector, StoreError<D::Error>> {
        let sector = self.store.sectors().get(pointer)?;
        match sector.kind {
            SectorKind::Record => Ok(sector),
            _ => self.store.sectors().corrupted(sector.address, "a sector that is not a record"),
        }
    }

    /// Updates a field: in place (steps 1 to 4) if that goes, else by a new representation.
    pub(crate) fn update(&mut self, object: &Object, field: &Field, value: &[u8]) -> Result<(), StoreError<D::Error>> {
        self.forget_values(object)?;
        let in_place = self.transaction != Transaction::Open || object.fresh;
        if in_place && !self.prefers_delta(object, field)? && self.store_in_place(object, field, 1, value)? {
            return Ok(());
        }
        let counting = if in_place { Counting::AtOnce } else { Counting::WithCommit };
        if self.put_delta(object, field, value, counting)? {
            return Ok(());
        }
        self.rewrite(object, Change::Field(*field, value))
    }

    /// Stores values in place, of `field` and of those behind it, `count` in all: in the first record where all have their default value,
    /// or behind the record that holds all. `false` where they are not all in one state, or there is no room.
    pub(crate) fn store_in_place(
        &mut self,
        object: &Object,
        field: &Field,
        count: u32,
        values: &[u8],
    ) -> Result<bool, StoreError<D::Error>> {
        let fields = field.index as u32..field.index as u32 + count;
        let mut place = None;
        if object.shape.form.has_flags() {
            let (leaf, offset) = (self.store.sectors().get(object.leaf)?, object.flags_offset(self.detection()));
            match self.flags_state(&leaf, offset, &fields)? {
                FlagsState::Mixed => return Ok(false),
                FlagsState::Cleared => {}
                FlagsState::Erased => place = Some((object.leaf, offset, object.first)),
            }
        }
        if place.is_none() {
            let found = self.holder_and_next(object, &fields)?;
            place = found.map(|(holder, next)| (holder, VALID_FLAGS_OFFSET, next));
        }
        let Some((flagged, offset, record)) = place else {
            return Ok(false);
        };
        let record = self.record(record)?;
        if !self.slots_are_erased(object, &record, field, values.len() as u32)? {
            return Ok(false);
        }
        self.program_slots(object, &record, field, values)?;
        let flagged = self.store.sectors().get(flagged)?;
        self.clear_flags(&flagged, offset, &fields)?;
        Ok(true)
    }

    /// The record that holds all fields of a row, and the one behind it, added to the list if that may grow.
    fn holder_and_next(
        &mut self,
        object: &Object,
        fields: &Range<u32>,
    ) -> Result<Option<(SectorPtr, SectorPtr)>, StoreError<D::Error>> {
        let mut record = object.first;
        let limit = self.list_limit(object);
        for position in 1..=limit {
            let sector = self.record(record)?;
            match (self.flags_state(&sector, VALID_FLAGS_OFFSET, fields)?, self.store.sectors().link(&sector)?) {
                (FlagsState::Cleared, Link::To(next)) => record = next,
                (FlagsState::Erased, Link::To(next)) if position < limit => return Ok(Some((record, next))),
                (FlagsState::Erased, Link::Erased) if position < limit => {
                    let bytes = data_offset(object.shape.count, self.detection()) + self.data_bytes(object)?;
                    let spec = SectorSpec { bytes, kind: SectorKind::Record };
                    return Ok(self.extend_list(object, record, spec)?.map(|next| (record, next)));
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    fn flags_state(
        &mut self,
        sector: &Sector,
        offset: u32,
        fields: &Range<u32>,
    ) -> Result<FlagsState, StoreError<D::Error>> {
        let detection = self.detection();
        let (first, mut bytes) = (flag_place(fields.start, detection).0, [0; FLAGS_BYTES]);
        let len = (flag_place(fields.end - 1, detection).0 - first + 1) as usize;
        self.store.sectors().read(sector, offset + first, &mut bytes[..len])?;
        let (mut all_erased, mut all_cleared) = (true, true);
        for index in fields.clone() {
            let (at, mask) = flag_place(index, detection);
            let bits = bytes[(at - first) as usize] & mask;
            (all_erased, all_cleared) = (all_erased && bits == mask, all_cleared && bits == 0);
        }
        Ok(match (all_erased, all_cleared) {
            (true, _) => FlagsState::Erased,
            (_, true) => FlagsState::Cleared,
            _ => FlagsState::Mixed,
        })
    }

    fn clear_flags(&mut self, sector: &Sector, offset: u32, fields: &Range<u32>) -> Result<(), StoreError<D::Error>> {
        let detection = self.detection();
        let (first, mut bytes) = (flag_place(fields.start, detection).0, [0; FLAGS_BYTES]);
        let len = (flag_place(fields.end - 1, detection).0 - first + 1) as usize;
        self.store.sectors().read(sector, offset + first, &mut bytes[..len])?;
        for index in fields.clone() {
            let (at, mask) = flag_place(index, detection);
            bytes[(at - first) as usize] &= !mask;
        }
        self.store.sectors().program(sector, offset + first, &bytes[..len])
    }

    /// Adds a record behind `last`, the last of a list; `None` on a full part. Compaction takes room only until its commit, so that
    /// a device full of short lists takes updates.
    pub(crate) fn extend_list(
        &mut self,
        object: &Object,
        last: SectorPtr,
        spec: SectorSpec,
    ) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        let extension = if object.fresh { Extension::OfTransaction } else { Extension::Alone };
        match self.store.space().extend_chain(last, spec, extension) {
            Ok(record) => Ok(Some(record)),
            Err(StoreError::Full) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether one of the two bits of a flag is cleared and the other is not. Cost: 1 read where error detection is on.
    pub(crate) fn is_half(&mut self, sector: &Sector, offset: u32, index: usize) -> Result<bool, StoreError<D::Error>> {
        if !self.detects() {
            return Ok(false);
        }
        let (at, mask) = flag_place(index as u32, self.detection());
        let mut byte = [0];
        self.store.sectors().read(sector, offset + at, &mut byte)?;
        Ok(byte[0] & mask != 0 && byte[0] & mask != mask)
    }

    pub(crate) fn is_erased(&mut self, sector: &Sector, offset: u32, bytes: u32) -> Result<bool, StoreError<D::Error>> {
        let mut buffer = [0; CHUNK_BYTES];
        for start in (0..bytes).step_by(CHUNK_BYTES) {
            let chunk = &mut buffer[..CHUNK_BYTES.min((bytes - start) as usize)];
            self.store.sectors().read(sector, offset + start, chunk)?;
            if chunk.iter().any(|&byte| byte != 0xFF) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Programs a value, unless it is what an erased slot reads anyway.
    pub(crate) fn program_value(
        &mut self,
        sector: &Sector,
        offset: u32,
        value: &[u8],
    ) -> Result<(), StoreError<D::Error>> {
        if value.iter().all(|&byte| byte == 0xFF) {
            return Ok(());
        }
        self.store.sectors().program(sector, offset, value)
    }

    pub(crate) fn program_zeros(
        &mut self,
        sector: &Sector,
        offset: u32,
        bytes: u32,
    ) -> Result<(), StoreError<D::Error>> {
        for start in (0..bytes).step_by(CHUNK_BYTES) {
            let zeros = [0; CHUNK_BYTES];
            self.store.sectors().program(
                sector,
                offset + start,
                &zeros[..CHUNK_BYTES.min((bytes - start) as usize)],
            )?;
        }
        Ok(())
    }
}

/// The flags of a row of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlagsState {
    Erased,
    Cleared,
    Mixed,
}

/// Where a value stands.
pub(crate) struct Holder {
    pub sector: Sector,
    /// Where the value starts in it.
    pub at: u32,
    /// A record before it whose flag is half cleared.
    pub half: Option<Sector>,
}

impl Named {
    /// Bytes that the list of widths takes in the header sector.
    pub fn widths_bytes(&self) -> u32 {
        match self {
            Named::List(object) => object.widths_bytes(),
            Named::Split(_) => 0,
        }
    }
}

impl Object {
    /// Bytes that the list of widths takes in the header sector.
    pub(crate) fn widths_bytes(&self) -> u32 {
        if self.shape.width().is_none() { u32::from(self.shape.count) } else { 0 }
    }
}
