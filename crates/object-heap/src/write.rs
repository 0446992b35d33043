//! Writing several fields or elements at once, from RAM: all of them or none.
//!
//! 1. A few fields become deltas, where the list has room for them: open ones, which the commit makes count together.
//! 2. A representation that the open transaction has made is changed in place, as far as possible.
//! 3. Else the list is [compacted](crate::compact) with all of them: its data once, and one transaction for all.

use norn_flash::Nor;
use norn_heap::{AccessError, Elements, Kind, Listener, Ref};
use norn_nor_store::{Counting, Features, StoreError, UnitRows};

use crate::compact::{Change, Range, Source};
use crate::form::{Field, Object};
use crate::heap::HeapIn;
use crate::range::{Direction, check_range, piece, pieces};

/// Fields that are set by deltas at most: a new representation takes less for more of them.
const FEW: u32 = 8;

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// Sets the fields of an object from `first` on to the values that follow each other in `values`: all of them or
    /// none.
    ///
    /// Cost: for up to eight fields, where delta records are on and there is room, 2 words programmed a field (and a
    /// wide value's words), and 4; else as a compaction in [`put_field`](Self::put_field): the object's data, and 20
    /// words.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth` where the values end within a field: nothing was changed. The
    /// store's, `Full` among them: the fields have their old values, and an open transaction is aborted.
    pub fn put_fields(&mut self, reference: Ref, first: usize, values: &[u8]) -> Result<(), AccessError<D::Error>> {
        let (object, _) = self.list_of(reference, Kind::Object, first)?;
        let range = self.fields_of(&object, first, values)?;
        let stored = self.store_whole(&object, range);
        self.settle(stored.map_err(AccessError::Store))
    }

    /// Makes the elements of an array from `first` on the values in `values`: all of them or none.
    ///
    /// Cost: as [`put_fields`](Self::put_fields), for each section that is touched.
    ///
    /// # Errors
    /// As [`put_fields`](Self::put_fields).
    pub fn array_write(&mut self, array: Ref, first: usize, values: &[u8]) -> Result<(), AccessError<D::Error>> {
        let named = self.array_of(array)?;
        let width = named.element_bytes();
        if !values.len().is_multiple_of(width as usize) {
            return Err(AccessError::WrongWidth { width });
        }
        let to = Elements { array, first, count: values.len() / width as usize };
        check_range(&named, to)?;
        let written = self.write_sections(to, named.section_elements(), values);
        self.settle(written)
    }

    fn write_sections(&mut self, to: Elements, elements: u32, values: &[u8]) -> Result<(), AccessError<D::Error>> {
        for number in 0..pieces(to, elements) {
            let piece = piece(to, elements, Direction::Upwards, number);
            // The array may have moved with the section before.
            let section = self.list_at(to.array, piece.section)?;
            let width = section.shape.element_bytes();
            let source = Source::Bytes(&values[(piece.done * width) as usize..]);
            self.store_whole(&section, Range::of_elements(piece.first, piece.count, width, source))?;
        }
        Ok(())
    }

    /// The fields from `first` on that take the bytes of `values`.
    fn fields_of<'a>(
        &mut self,
        object: &Object,
        first: usize,
        values: &'a [u8],
    ) -> Result<Range<'a>, AccessError<D::Error>> {
        let offset = self.descriptors().field(object, first)?.offset;
        let (mut count, mut bytes) = (0, 0);
        while bytes < values.len() as u32 {
            if first + count >= usize::from(object.shape.count) {
                return Err(AccessError::OutOfRange { count: u32::from(object.shape.count) });
            }
            let width = self.descriptors().field_width(object, first + count)?;
            (count, bytes) = (count + 1, bytes + width);
            if bytes > values.len() as u32 {
                return Err(AccessError::WrongWidth { width });
            }
        }
        Ok(Range { first: first as u32, count: count as u32, offset, bytes, source: Source::Bytes(values) })
    }

    /// Stores a range of one list: all of it takes effect when the transaction commits.
    fn store_whole(&mut self, list: &Object, range: Range<'_>) -> Result<(), StoreError<D::Error>> {
        if range.count == 0 || self.put_deltas(list, &range)? {
            return Ok(());
        }
        match list.fresh && list.shape.width().is_some() {
            true => self.store_range(list, range, Direction::Upwards),
            false => self.compaction().compact(list, Change::Range(range)),
        }
    }

    /// Step 1; `false` where there are too many fields, or no room for all of them: a new representation takes the
    /// place of those that were added.
    fn put_deltas(&mut self, list: &Object, range: &Range<'_>) -> Result<bool, StoreError<D::Error>> {
        let Source::Bytes(values) = range.source else {
            return Ok(false);
        };
        if range.count > FEW || list.fresh || !self.has_deltas() {
            return Ok(false);
        }
        self.pointers().forget_values(list)?;
        let mut at = 0;
        for index in range.first..range.first + range.count {
            let width = self.descriptors().field_width(list, index as usize)?;
            let field = Field { index: index as usize, offset: range.offset + at, width };
            let value = &values[at as usize..(at + width) as usize];
            if !self.lists().put_delta(list, &field, value, Counting::WithCommit)? {
                return Ok(false);
            }
            at += width;
        }
        Ok(true)
    }
}
