//! Compaction: a new representation of an object, with a single record that holds every current value.
//!
//! 1. Allocate a record and an object descriptor.
//! 2. Program the current values, one of them changed, then the descriptor. Fields with their default value stay
//!    erased.
//! 3. Let the REF tree's open version lead to the new descriptor; the commit frees the old one.
//! 4. Release the old records.
//!
//! All of it belongs to the open transaction, be it the client's or one of its own.

use norn_flash::Nor;
use norn_heap::{Layout, Listener, Representation};
use norn_nor_store::{
    ErrorDetection, Features, Link, Room, SectorKind, SectorPtr, SectorSpec, Sectors, StoreError, StoreIn, TreeId,
    UnitRows,
};

use crate::check::{Checked, ValueCheck};
use crate::descriptor::{Descriptors, descriptor_bytes};
use crate::form::{Array, Field, Object, ObjectForm, Owner};
use crate::format::{
    CHECKSUM_BYTES, CHUNK_BYTES, COUNT_MAX, DESCRIPTOR_BYTES, ELEMENTS_BYTES, codes_offset, data_offset,
    elements_offset, flag_bytes, flag_place, widths_offset,
};
use crate::list::Lists;
use crate::list::delta::FieldSet;
use crate::list::stretch::Stretch;
use crate::notify::Pointers;

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
    /// Their values, one after the other.
    Bytes(&'a [u8]),
    /// The elements of an array of the same width, from this index on.
    Array(&'a ObjectForm, u32),
}

/// Bytes of the flags of most fields.
const FLAGS_BYTES_MAX: usize = flag_bytes(COUNT_MAX as u16, ErrorDetection::On) as usize;

/// New representations of objects, arrays and sections.
#[derive(Clone, Debug)]
pub(crate) struct Compaction<D: Nor, M: UnitRows, L, F> {
    pub pointers: Pointers<D, M, L, F>,
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> Compaction<D, M, L, F> {
    pub fn new(store: StoreIn<D, M, F>, listener: L) -> Self {
        Compaction { pointers: Pointers::new(store, listener) }
    }

    fn lists(&mut self) -> &mut Lists<D, M, F> {
        &mut self.pointers.lists
    }

    fn descriptors(&mut self) -> &mut Descriptors<D, M, F> {
        &mut self.pointers.lists.descriptors
    }

    fn checked(&mut self) -> &mut Checked<D, M, F> {
        &mut self.pointers.lists.descriptors.checked
    }

    fn store_mut(&mut self) -> &mut StoreIn<D, M, F> {
        &mut self.pointers.lists.descriptors.checked.store
    }

    fn sectors(&mut self) -> &mut Sectors<D, M, F> {
        self.store_mut().sectors()
    }

    fn detection(&self) -> ErrorDetection {
        self.pointers.lists.descriptors.detection()
    }

    fn detects(&self) -> bool {
        self.pointers.lists.descriptors.detects()
    }

    fn has_deltas(&self) -> bool {
        self.pointers.lists.descriptors.has_deltas()
    }

    /// Rewrites an object, with a change.
    pub(crate) fn compact(&mut self, object: &Object, change: Change<'_>) -> Result<(), StoreError<D::Error>> {
        self.pointers.forget_values(object)?;
        let data_bytes = self.descriptors().data_bytes(object)?;
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
        let [first, leaf] = self.store_mut().space().allocate_pair(specs, Room::Replacing)?;
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
        let updated = if self.has_deltas() { self.lists().fields_with_deltas(object)? } else { FieldSet::default() };
        match change {
            Change::Representation(representation) => new.shape.form = object.shape.form.with(representation),
            Change::Field(..) if self.has_deltas() => new.shape.form = self.lists().next_form(object, updated)?,
            _ => {}
        }
        self.descriptors().write_leaf(&new)?;
        self.copy_initialization_flags(object, leaf, change, updated)
    }

    /// Replaces the header of a split array: a new header sector and a new array descriptor.
    pub(crate) fn replace_array_header(&mut self, array: &Array, header: &[u8]) -> Result<(), StoreError<D::Error>> {
        self.pointers.forget_header(array.reference, array.header)?;
        let pointer = self.checked().build_header(&Layout::uniform(0, array.shape.width).with_header(header))?;
        self.write_array(&Array { header: pointer, ..*array }, Room::Replacing)?;
        match array.header {
            Some(old) => self.store_mut().space().release(old, None),
            None => Ok(()),
        }
    }

    fn replace_header(&mut self, object: &Object, header: &[u8]) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        self.pointers.forget_header(object.reference, object.header)?;
        let widths_bytes = object.widths_bytes();
        if header.is_empty() && widths_bytes == 0 {
            return Ok(None);
        }
        let data_bytes = self.descriptors().data_bytes(object)?;
        let pointer = self.checked().begin_header(widths_bytes, header, data_bytes)?;
        let (sector, widths_at) = (self.sectors().get(pointer)?, widths_offset(self.detection()));
        let mut widths = [0; CHUNK_BYTES];
        for start in (0..widths_bytes as usize).step_by(CHUNK_BYTES) {
            let widths = &mut widths[..CHUNK_BYTES.min(widths_bytes as usize - start)];
            self.descriptors().read_widths(object, start, widths)?;
            self.sectors().program(&sector, widths_at + start as u32, widths)?;
        }
        self.checked().seal_header(&sector, widths_bytes)?;
        Ok(Some(pointer))
    }

    fn copy_values(
        &mut self,
        object: &Object,
        to: SectorPtr,
        data_bytes: u32,
        change: Change<'_>,
    ) -> Result<(), StoreError<D::Error>> {
        let to = self.lists().record(to)?;
        let base = data_offset(object.shape.count, self.detection());
        // The field that the next stretch starts in, and where that field ends.
        let (mut index, mut end) = (0, self.descriptors().field_width(object, 0)?);
        for start in (0..data_bytes).step_by(CHUNK_BYTES) {
            let len = CHUNK_BYTES.min((data_bytes - start) as usize);
            let mut stretch = Stretch::new(base, start, len);
            for at in 0..len {
                while start + at as u32 >= end {
                    index += 1;
                    end += self.descriptors().field_width(object, index)?;
                }
                stretch.owners[at] = index as u8;
            }
            self.apply(object, &mut stretch, change)?;
            self.lists().gather(object, &mut stretch)?;
            self.sectors().program_new(&to, base + start, &stretch.bytes[..len])?;
        }
        Ok(())
    }

    /// Copies the codes of values, where there are any: also those that do not agree, so that damage is not made to
    /// look sound.
    fn copy_codes(&mut self, object: &Object, to: SectorPtr, change: Change<'_>) -> Result<(), StoreError<D::Error>> {
        if !self.detects() {
            return Ok(());
        }
        let count = u32::from(object.shape.count);
        let (to, base) = (self.lists().record(to)?, codes_offset(object.shape.count));
        for start in (0..count).step_by(CHUNK_BYTES) {
            let len = CHUNK_BYTES.min((count - start) as usize);
            let mut stretch = Stretch::uniform(base, start, len, 1);
            for at in 0..len {
                if let Some(code) = self.changed_code(object, start + at as u32, change)? {
                    stretch.bytes[at] = code;
                    stretch.known |= 1 << at;
                }
            }
            self.lists().gather(object, &mut stretch)?;
            self.sectors().program_new(&to, base + start, &stretch.bytes[..len])?;
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
            Change::Field(field, value) if field.index == index as usize => ValueCheck::of(value),
            Change::Range(range) if (range.first..range.first + range.count).contains(&index) => {
                let (mut code, field) = (ValueCheck::default(), self.descriptors().field(object, index as usize)?);
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
            Source::Array(named, first) => self.lists().read_elements(named, width, first * width + offset, bytes),
        }
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
        let (from, to) = (self.sectors().get(object.leaf)?, self.sectors().get(to)?);
        self.sectors().read(&from, flags_at, flags)?;
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
        self.sectors().program_new(&to, flags_at, flags)
    }

    /// Makes the tree that leads to an object lead to a new representation.
    fn point_to(&mut self, object: &Object, leaf: SectorPtr) -> Result<(), StoreError<D::Error>> {
        match &object.owner {
            Owner::RefTree => {
                self.store_mut().trees().put(TreeId::Ref, object.reference.slot().into(), Some(leaf), Room::Replacing)
            }
            Owner::Array(array, number) => self.point_to_section(array, *number, leaf),
        }
    }

    /// Makes the array's tree lead to a new section descriptor; where that gives it another root, writes the array
    /// descriptor again.
    fn point_to_section(&mut self, array: &Array, number: u32, leaf: SectorPtr) -> Result<(), StoreError<D::Error>> {
        let tree = self.store_mut().trees().set(array.tree, number, Some(leaf), Room::Replacing)?;
        if tree == array.tree {
            return Ok(());
        }
        self.write_array(&Array { tree, ..*array }, Room::Replacing)
    }

    /// Writes an array descriptor, and makes the REF tree lead to it; the commit frees the one before.
    pub(crate) fn write_array(&mut self, array: &Array, room: Room) -> Result<(), StoreError<D::Error>> {
        let elements_at = elements_offset(self.detection());
        let spec = SectorSpec { bytes: elements_at + ELEMENTS_BYTES, kind: SectorKind::Leaf };
        let leaf = self.store_mut().space().allocate(spec, room)?;
        let sector = self.sectors().get(leaf)?;
        let links = (array.tree.node, array.header);
        let (bytes, count) =
            (descriptor_bytes(array.reference, links, array.shape.encode()), array.count.to_le_bytes());
        self.sectors().program_new(&sector, 0, &bytes)?;
        let checked = self.checked();
        checked.program_checksum(&sector, DESCRIPTOR_BYTES, checked.checksum_of(&bytes))?;
        checked.program_checksum(&sector, DESCRIPTOR_BYTES + CHECKSUM_BYTES, checked.checksum_of(&count))?;
        self.sectors().program_new(&sector, elements_at, &count)?;
        self.store_mut().trees().put(TreeId::Ref, array.reference.slot().into(), Some(leaf), room)
    }

    /// Frees a list of records, and one more sector, at the commit: one entry for two sectors, two for more.
    pub(crate) fn release_records(
        &mut self,
        first: SectorPtr,
        also: Option<SectorPtr>,
    ) -> Result<(), StoreError<D::Error>> {
        let second = self.linked_record(first)?;
        let third = match second {
            Some(second) => self.linked_record(second)?,
            None => None,
        };
        match (second, also) {
            (None, also) => self.store_mut().space().release(first, also),
            (second, None) if third.is_none() => self.store_mut().space().release(first, second),
            (_, None) => self.store_mut().space().release_chain(first),
            (_, Some(also)) => {
                self.store_mut().space().release_chain(first)?;
                self.store_mut().space().release(also, None)
            }
        }
    }

    fn linked_record(&mut self, record: SectorPtr) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        let sector = self.sectors().get(record)?;
        Ok(match self.sectors().link(&sector)? {
            Link::To(next) => Some(next),
            Link::Erased | Link::Void => None,
        })
    }
}

const _: () = assert!(FLAGS_BYTES_MAX <= 64, "flags are copied on the stack");
