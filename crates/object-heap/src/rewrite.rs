//! Compaction: a new representation of an object, with a single record that holds every current value.
//!
//! 1. Allocate a record and an object descriptor.
//! 2. Program the current values, one of them changed, then the descriptor. Fields with their default value stay erased.
//! 3. Let the REF tree's open version lead to the new descriptor; the commit frees the old one.
//! 4. Release the old records.
//!
//! All of it belongs to the open transaction, be it the client's or one of its own.

use norn_flash::Nor;
use norn_nor_store::{ErrorDetection, Features, Room, Sector, SectorKind, SectorPtr, SectorSpec, StoreError};

use crate::access::Field;
use crate::array::Array;
use crate::code::ValueCode;
use crate::delta::FieldSet;
use crate::descriptor::{Named, Object};
use crate::format::{VALID_FLAGS_OFFSET, codes_offset, data_offset, flag_bytes, flag_place, widths_offset};
use crate::heap::Heap;
use crate::notify::Listener;
use crate::object::{CHUNK_BYTES, COUNT_MAX, Layout, Representation};

/// What is different in the new representation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    Field(Field, &'a [u8]),
    Header(&'a [u8]),
    Range(Range<'a>),
    Representation(Representation),
}

/// A stretch of fields or elements that get new values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range<'a> {
    /// Index of the first in its list of records.
    pub first: u32,
    pub count: u32,
    /// Where they are in the data, and how many bytes they take.
    pub offset: u32,
    pub bytes: u32,
    pub source: Source<'a>,
}

/// Where the new values of a range come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// One value for all.
    Value(&'a [u8]),
    /// Their values, one behind the other.
    Bytes(&'a [u8]),
    /// The elements of an array of the same width, from this index on.
    Array(&'a Named, u32),
}

/// Bytes that the flags of the fields of a stretch take at most.
pub(crate) const FLAGS_BYTES: usize = CHUNK_BYTES / 4 + 1;
/// Bytes of the flags of most fields.
const FLAGS_BYTES_MAX: usize = flag_bytes(COUNT_MAX as u16, ErrorDetection::On) as usize;

/// A stretch of the data or of the codes: its bytes, whose field each is, and which are known already.
pub(crate) struct Stretch {
    /// Where the data or the codes start in a record.
    base: u32,
    pub start: u32,
    pub len: usize,
    pub bytes: [u8; CHUNK_BYTES],
    pub owners: [u8; CHUNK_BYTES],
    pub known: u32,
    /// Bytes of fields that have their default value.
    defaults: u32,
}

/// Flag bytes of the fields that a stretch touches, from byte `first` of the flags on.
struct Flags {
    first: u32,
    bytes: [u8; FLAGS_BYTES],
    detection: ErrorDetection,
}

impl Flags {
    fn is_erased(&self, index: u8) -> bool {
        let (at, mask) = flag_place(u32::from(index), self.detection);
        self.bytes[(at - self.first) as usize] & mask == mask
    }
}

impl Stretch {
    /// Bytes `start` to `start + len` of fields of `width` bytes, of what starts at `base` in a record.
    pub fn uniform(base: u32, start: u32, len: usize, width: u32) -> Self {
        let mut owners = [0; CHUNK_BYTES];
        for (at, owner) in (start..).zip(&mut owners[..len]) {
            *owner = (at / width) as u8;
        }
        Stretch { base, start, len, bytes: [0xFF; CHUNK_BYTES], owners, known: 0, defaults: 0 }
    }

    /// Which bytes these are.
    pub fn range(&self) -> core::ops::Range<u32> {
        self.start..self.start + self.len as u32
    }

    /// Some of them, as they stand in records.
    pub fn part(&self, range: core::ops::Range<u32>) -> &[u8] {
        &self.bytes[(range.start - self.start) as usize..(range.end - self.start) as usize]
    }

    /// Whether byte `at` of all is of a field that has its default value.
    pub fn is_default(&self, at: u32) -> bool {
        self.defaults >> (at - self.start) & 1 == 1
    }

    /// The values of the bytes, which all are known.
    pub fn values(&self) -> impl Iterator<Item = u8> + '_ {
        (0..self.len).map(|at| if self.defaults >> at & 1 == 1 { 0 } else { self.bytes[at] })
    }

    fn all_known(&self) -> bool {
        self.known == u32::MAX >> (CHUNK_BYTES - self.len)
    }

    fn unknown(&self) -> impl Iterator<Item = usize> + use<> {
        let (known, len) = (self.known, self.len);
        (0..len).filter(move |&at| known >> at & 1 == 0)
    }
}

impl<D: Nor, const UNITS: usize, L: Listener, F: Features> Heap<D, UNITS, L, F> {
    pub(crate) fn rewrite(&mut self, object: &Object, change: Change<'_>) -> Result<(), StoreError<D::Error>> {
        self.forget_values(object)?;
        let data_bytes = self.data_bytes(object)?;
        let (header, replaced) = match change {
            Change::Header(bytes) => (self.replace_header(object, bytes)?, object.header),
            Change::Field(..) | Change::Range(_) | Change::Representation(_) => (object.header, None),
        };
        let detection = self.detection();
        let record = data_offset(object.shape.count, detection) + data_bytes;
        let specs = [
            SectorSpec { bytes: record, kind: SectorKind::Record },
            SectorSpec { bytes: object.leaf_bytes(detection), kind: SectorKind::Leaf },
        ];
        let [first, leaf] = self.store.space().allocate_pair(specs, Room::Replacing)?;
        self.fill(object, (leaf, first, header), data_bytes, change)?;
        self.point_to(object, leaf)?;
        self.release_records(object.first, replaced)
    }

    /// Step 2. A function of its own, so that what it copies through is not on the stack while room is made.
    #[inline(never)]
    fn fill(
        &mut self,
        object: &Object,
        (leaf, first, header): (SectorPtr, SectorPtr, Option<SectorPtr>),
        data_bytes: u32,
        change: Change<'_>,
    ) -> Result<(), StoreError<D::Error>> {
        self.copy_values(object, first, data_bytes, change)?;
        self.copy_codes(object, first, change)?;
        let mut new = Object { leaf, first, header, ..*object };
        let updated = if self.has_deltas() { self.fields_with_deltas(object)? } else { FieldSet::default() };
        match change {
            Change::Representation(representation) => new.shape.form = object.shape.form.with(representation),
            Change::Field(..) if self.has_deltas() => new.shape.form = self.next_form(object, updated)?,
            _ => {}
        }
        self.write_leaf(&new)?;
        self.copy_initialization_flags(object, leaf, change, updated)
    }

    /// Replaces the header of a split array: a new header sector and a new array descriptor.
    pub(crate) fn replace_array_header(&mut self, array: &Array, header: &[u8]) -> Result<(), StoreError<D::Error>> {
        self.forget_header(array.reference, array.header)?;
        let pointer = self.build_header(&Layout::uniform(0, array.shape.width).with_header(header))?;
        self.write_array(&Array { header: pointer, ..*array }, Room::Replacing)?;
        match array.header {
            Some(old) => self.store.space().release(old, None),
            None => Ok(()),
        }
    }

    fn replace_header(&mut self, object: &Object, header: &[u8]) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        self.forget_header(object.reference, object.header)?;
        let widths_bytes = object.widths_bytes();
        if header.is_empty() && widths_bytes == 0 {
            return Ok(None);
        }
        let data_bytes = self.data_bytes(object)?;
        let pointer = self.begin_header(widths_bytes, header, data_bytes)?;
        let (sector, widths_at) = (self.store.sectors().get(pointer)?, widths_offset(self.detection()));
        let mut widths = [0; CHUNK_BYTES];
        for start in (0..widths_bytes as usize).step_by(CHUNK_BYTES) {
            let widths = &mut widths[..CHUNK_BYTES.min(widths_bytes as usize - start)];
            self.read_widths(object, start, widths)?;
            self.store.sectors().program(&sector, widths_at + start as u32, widths)?;
        }
        self.seal_header(&sector, widths_bytes)?;
        Ok(Some(pointer))
    }

    fn copy_values(
        &mut self,
        object: &Object,
        to: SectorPtr,
        data_bytes: u32,
        change: Change<'_>,
    ) -> Result<(), StoreError<D::Error>> {
        let to = self.record(to)?;
        let base = data_offset(object.shape.count, self.detection());
        // The field that the next stretch starts in, and where that field ends.
        let (mut index, mut end) = (0, self.field_width(object, 0)?);
        for start in (0..data_bytes).step_by(CHUNK_BYTES) {
            let len = CHUNK_BYTES.min((data_bytes - start) as usize);
            let mut stretch = Stretch {
                base,
                start,
                len,
                bytes: [0xFF; CHUNK_BYTES],
                owners: [0; CHUNK_BYTES],
                known: 0,
                defaults: 0,
            };
            for at in 0..len {
                while start + at as u32 >= end {
                    index += 1;
                    end += self.field_width(object, index)?;
                }
                stretch.owners[at] = index as u8;
            }
            self.apply(object, &mut stretch, change)?;
            self.gather(object, &mut stretch)?;
            self.store.sectors().program_new(&to, base + start, &stretch.bytes[..len])?;
        }
        Ok(())
    }

    /// Copies the codes of values, where there are any: also those that do not agree, so that damage is not made to look sound.
    fn copy_codes(&mut self, object: &Object, to: SectorPtr, change: Change<'_>) -> Result<(), StoreError<D::Error>> {
        if !self.detects() {
            return Ok(());
        }
        let count = u32::from(object.shape.count);
        let (to, base) = (self.record(to)?, codes_offset(object.shape.count));
        for start in (0..count).step_by(CHUNK_BYTES) {
            let len = CHUNK_BYTES.min((count - start) as usize);
            let mut stretch = Stretch::uniform(base, start, len, 1);
            for at in 0..len {
                if let Some(code) = self.changed_code(object, start + at as u32, change)? {
                    stretch.bytes[at] = code;
                    stretch.known |= 1 << at;
                }
            }
            self.gather(object, &mut stretch)?;
            self.store.sectors().program_new(&to, base + start, &stretch.bytes[..len])?;
        }
        Ok(())
    }

    /// The code of field `index`, if the change gives it a value.
    fn changed_code(
        &mut self,
        object: &Object,
        index: u32,
        change: Change<'_>,
    ) -> Result<Option<u8>, StoreError<D::Error>> {
        let code = match change {
            Change::Field(field, value) if field.index == index as usize => ValueCode::of(value),
            Change::Range(range) if (range.first..range.first + range.count).contains(&index) => {
                let (mut code, field) = (ValueCode::default(), self.field(object, index as usize)?);
                for start in (0..field.width).step_by(CHUNK_BYTES) {
                    let mut buffer = [0; CHUNK_BYTES];
                    let chunk = &mut buffer[..CHUNK_BYTES.min((field.width - start) as usize)];
                    self.read_source(&range, field.width, field.offset - range.offset + start, chunk)?;
                    code = code.with(chunk);
                }
                code
            }
            _ => return Ok(None),
        };
        Ok(Some(code.at(index as usize)))
    }

    pub(crate) fn field_width(&mut self, object: &Object, index: usize) -> Result<u32, StoreError<D::Error>> {
        if let Some(width) = object.shape.width() {
            return Ok(u32::from(width));
        }
        let leaf = self.store.sectors().get(object.leaf)?;
        let mut width = [0];
        if index >= usize::from(object.shape.count) {
            return self.store.sectors().corrupted(leaf.address, "an object whose widths are less than its data");
        }
        self.read_widths(object, index, &mut width)?;
        match width[0] {
            0 => self.store.sectors().corrupted(leaf.address, "an object with a field of no bytes"),
            width => Ok(u32::from(width)),
        }
    }

    /// Puts the new values of a change into a stretch.
    fn apply(
        &mut self,
        object: &Object,
        stretch: &mut Stretch,
        change: Change<'_>,
    ) -> Result<(), StoreError<D::Error>> {
        match change {
            Change::Header(_) | Change::Representation(_) => {}
            Change::Field(field, value) => {
                for at in 0..stretch.len {
                    if usize::from(stretch.owners[at]) == field.index {
                        stretch.bytes[at] = value[(stretch.start + at as u32 - field.offset) as usize];
                        stretch.known |= 1 << at;
                    }
                }
            }
            Change::Range(range) => {
                let width = object.shape.element_bytes();
                let from = range.offset.max(stretch.start);
                let to = (range.offset + range.bytes).min(stretch.start + stretch.len as u32);
                if from < to {
                    let into = (from - stretch.start) as usize..(to - stretch.start) as usize;
                    into.clone().for_each(|at| stretch.known |= 1 << at);
                    self.read_source(&range, width, from - range.offset, &mut stretch.bytes[into])?;
                }
            }
        }
        Ok(())
    }

    /// Reads bytes of what a range gets, from byte `offset` of it on.
    pub(crate) fn read_source(
        &mut self,
        range: &Range<'_>,
        width: u32,
        offset: u32,
        bytes: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        match range.source {
            Source::Value(value) => {
                let value = value.iter().cycle().skip((offset % width) as usize);
                bytes.iter_mut().zip(value).for_each(|(byte, &new)| *byte = new);
                Ok(())
            }
            Source::Bytes(values) => {
                bytes.copy_from_slice(&values[offset as usize..offset as usize + bytes.len()]);
                Ok(())
            }
            Source::Array(named, first) => self.read_elements(named, width, first * width + offset, bytes),
        }
    }

    /// Finds the current value of every byte of a stretch that is not known.
    pub(crate) fn gather(&mut self, object: &Object, stretch: &mut Stretch) -> Result<(), StoreError<D::Error>> {
        if self.has_deltas() {
            self.take_deltas(object, stretch)?;
        }
        if object.shape.form.has_flags() {
            let leaf = self.store.sectors().get(object.leaf)?;
            let flags = self.read_flags(&leaf, object.flags_offset(self.detection()), stretch)?;
            for at in stretch.unknown() {
                if flags.is_erased(stretch.owners[at]) {
                    stretch.known |= 1 << at;
                    stretch.defaults |= 1 << at;
                }
            }
        }
        let mut record = object.first;
        for position in 1.. {
            if stretch.all_known() {
                break;
            }
            let sector = self.record(record)?;
            self.take_values(&sector, stretch)?;
            match self.next_record(&sector, position)? {
                Some(next) => record = next,
                None if stretch.all_known() => break,
                None => {
                    return self.store.sectors().corrupted(sector.address, "a list of records without a field's value");
                }
            }
        }
        Ok(())
    }

    /// Takes from one record the bytes of a stretch that are not known from an earlier one.
    fn take_values(&mut self, record: &Sector, stretch: &mut Stretch) -> Result<(), StoreError<D::Error>> {
        let flags = self.read_flags(record, VALID_FLAGS_OFFSET, stretch)?;
        if !stretch.unknown().any(|at| flags.is_erased(stretch.owners[at])) {
            return Ok(());
        }
        let mut bytes = [0; CHUNK_BYTES];
        self.store.sectors().read(record, stretch.base + stretch.start, &mut bytes[..stretch.len])?;
        for at in stretch.unknown() {
            if flags.is_erased(stretch.owners[at]) {
                stretch.bytes[at] = bytes[at];
                stretch.known |= 1 << at;
            }
        }
        Ok(())
    }

    fn read_flags(&mut self, sector: &Sector, offset: u32, stretch: &Stretch) -> Result<Flags, StoreError<D::Error>> {
        let detection = self.detection();
        let (first, _) = flag_place(u32::from(stretch.owners[0]), detection);
        let (last, _) = flag_place(u32::from(stretch.owners[stretch.len - 1]), detection);
        let mut flags = Flags { first, bytes: [0; FLAGS_BYTES], detection };
        self.store.sectors().read(sector, offset + first, &mut flags.bytes[..=(last - first) as usize])?;
        Ok(flags)
    }

    fn copy_initialization_flags(
        &mut self,
        object: &Object,
        to: SectorPtr,
        change: Change<'_>,
        updated: FieldSet,
    ) -> Result<(), StoreError<D::Error>> {
        if !object.shape.form.has_flags() {
            return Ok(());
        }
        let (detection, mut buffer) = (self.detection(), [0; FLAGS_BYTES_MAX]);
        let flags = &mut buffer[..flag_bytes(object.shape.count, detection) as usize];
        let flags_at = object.flags_offset(detection);
        let (from, to) = (self.store.sectors().get(object.leaf)?, self.store.sectors().get(to)?);
        self.store.sectors().read(&from, flags_at, flags)?;
        // Where there are deltas, a flag is a bit.
        flags.iter_mut().zip(updated).for_each(|(flags, updated)| *flags &= !updated);
        let changed = match change {
            Change::Field(field, _) => field.index..field.index + 1,
            Change::Range(range) => range.first as usize..(range.first + range.count) as usize,
            Change::Header(_) | Change::Representation(_) => 0..0,
        };
        for index in 0..usize::from(object.shape.count) {
            let (at, mask) = flag_place(index as u32, detection);
            let flags = &mut flags[at as usize];
            // One that is half cleared becomes a cleared one.
            if changed.contains(&index) || *flags & mask != mask {
                *flags &= !mask;
            }
        }
        self.store.sectors().program_new(&to, flags_at, flags)
    }
}

const _: () = assert!(CHUNK_BYTES == 32, "one bit of a u32 for each byte of a chunk");
const _: () = assert!(FLAGS_BYTES_MAX <= 64, "flags are copied on the stack");
