//! Reading and updating fields, elements and ranges of arrays, in place.
//!
//! To change bytes atomically: write their old values into records, a record for each aligned window of 8 bytes; write
//! the new ones; end the transaction, if it is the bytes' own. Bytes of an object that the transaction has created need
//! no record; those that it has a record of need no second.
//!
//! Bytes that already have the new value are not written: a read costs almost nothing compared with a write.

use core::cmp::Ordering;

use norn_flash::{Address, Eeprom};
use norn_heap::{AccessError, Elements, Kind, Ref, StoreError};

use super::format::{Record, RecordKind, WINDOW_BYTES};
use super::heap::EepromHeap;
use super::heap::Transaction;
use super::medium::CHUNK_BYTES;
use super::object::{Block, Object};

/// Whether the old values are kept until the change is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Atomicity {
    Atomic,
    NonAtomic,
}

impl<D: Eeprom> EepromHeap<D> {
    /// Reads field `index` of an object into a buffer of its width.
    ///
    /// Cost: 2 reads and the value's words. Where fields differ in width, the widths of those before it.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`; the store's.
    pub fn get_field(&mut self, reference: Ref, index: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        self.get(reference, Kind::Object, index, buffer)
    }

    /// Atomically sets field `index` of an object. `value.len()` must equal the field's width.
    ///
    /// Cost: the old and the new value's words written, and for each window of 8 bytes 2 more; 1 to end it. A field of
    /// two bytes that is aligned takes 5. Nothing where the field has the value already.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`: nothing was changed. The store's: the field has its old value,
    /// and an open transaction is undone.
    pub fn put_field(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        self.put(reference, Kind::Object, index, value)
    }

    /// Sets the fields of an object from `first` on to the values that follow each other in `values`: all of them or
    /// none.
    ///
    /// Cost: for each window of 8 bytes that changes 6 words written; 1 to end it. Where fields differ in width, the
    /// widths of those before each.
    ///
    /// # Errors
    /// As [`put_field`](Self::put_field), and `TransactionTooLarge`; `WrongWidth` where the values end within a field.
    pub fn put_fields(&mut self, reference: Ref, first: usize, values: &[u8]) -> Result<(), AccessError<D::Error>> {
        let object = self.look_up_kind(reference, Kind::Object)?;
        let (start, _) = self.field(&object, first)?;
        let (mut index, mut end) = (first, start);
        while ((end - start) as usize) < values.len() {
            let (offset, width) = self.field(&object, index)?;
            (index, end) = (index + 1, offset + width);
            if (end - start) as usize > values.len() {
                return Err(AccessError::WrongWidth { width });
            }
        }
        self.put_whole(&object, object.data.offset(start), values)
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

    /// Reads elements from `first` on into a buffer of some whole elements. Cost: 2 reads and the bytes' words.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth` for a buffer of no whole elements; the store's.
    pub fn array_read(&mut self, array: Ref, first: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        let (object, width) = self.array_of(array)?;
        if !buffer.len().is_multiple_of(width as usize) {
            return Err(AccessError::WrongWidth { width });
        }
        let start = place(&object, width, Elements { array, first, count: buffer.len() / width as usize })?;
        Ok(self.medium.read(start, buffer)?)
    }

    /// Sets the elements of an array from `first` on to the values that follow each other in `values`: all of them or
    /// none. Cost: as [`put_fields`](Self::put_fields).
    ///
    /// # Errors
    /// As `put_fields`.
    pub fn array_write(&mut self, array: Ref, first: usize, values: &[u8]) -> Result<(), AccessError<D::Error>> {
        let (object, width) = self.array_of(array)?;
        if !values.len().is_multiple_of(width as usize) {
            return Err(AccessError::WrongWidth { width });
        }
        let start = place(&object, width, Elements { array, first, count: values.len() / width as usize })?;
        self.put_whole(&object, start, values)
    }

    /// Gives every element of a range the same value. Outside a transaction nothing is logged: a power cut leaves the
    /// elements in one word of the part with any value, those before it new and those after it old.
    ///
    /// Cost: the words that hold something else. In a transaction as [`array_copy`](Self::array_copy).
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`: nothing was changed. The store's: a part of the range may have
    /// been changed; an open transaction is undone.
    pub fn array_fill_non_atomic(&mut self, to: Elements, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        let (object, width) = self.array_of(to.array)?;
        if value.len() != width as usize {
            return Err(AccessError::WrongWidth { width });
        }
        let start = place(&object, width, to)?;
        let bytes = to.count as u32 * width;
        let filled = self.store_windows(&object, start, bytes, Atomicity::NonAtomic, |_, offset, window| {
            window.iter_mut().zip(offset as usize..).for_each(|(byte, at)| *byte = value[at % value.len()]);
            Ok(())
        });
        self.settle(filled.map_err(AccessError::Store))
    }

    /// Copies elements of `from` to `to.array`; the two may be the same array, and overlap. A power cut leaves what it
    /// leaves in [`array_fill_non_atomic`](Self::array_fill_non_atomic).
    ///
    /// Cost: the words that hold something else. In a transaction as [`array_copy`](Self::array_copy).
    ///
    /// # Errors
    /// As `array_fill_non_atomic`; `WrongWidth` where the arrays' elements differ in width.
    pub fn array_copy_non_atomic(&mut self, from: Elements, to: (Ref, usize)) -> Result<(), AccessError<D::Error>> {
        self.copy(from, to, Atomicity::NonAtomic)
    }

    /// Copies elements of `from` to `to.array`, all of them or none; the two may be the same array, and overlap.
    ///
    /// Cost: for each window of 8 bytes that changes 6 words written; 1 to end it. The range has to fit the log, which
    /// has room for 8 bytes a slot; each window reads the records of those before it.
    ///
    /// # Errors
    /// As [`array_copy_non_atomic`](Self::array_copy_non_atomic), and `TransactionTooLarge`; nothing was changed.
    pub fn array_copy(&mut self, from: Elements, to: (Ref, usize)) -> Result<(), AccessError<D::Error>> {
        self.copy(from, to, Atomicity::Atomic)
    }

    /// Compares elements of `from` with as many of `to.array`, byte by byte without sign, as `Ord` does for slices.
    /// Cost: 4 reads, and both ranges' words, up to the first difference.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth` where the arrays' elements differ in width; the store's.
    pub fn array_compare(&mut self, from: Elements, to: (Ref, usize)) -> Result<Ordering, AccessError<D::Error>> {
        let (_, source, target, bytes) = self.places(from, to)?;
        let (mut left, mut right) = ([0; CHUNK_BYTES], [0; CHUNK_BYTES]);
        for offset in (0..bytes).step_by(CHUNK_BYTES) {
            let len = CHUNK_BYTES.min((bytes - offset) as usize);
            self.medium.read(source.offset(offset), &mut left[..len])?;
            self.medium.read(target.offset(offset), &mut right[..len])?;
            match left[..len].cmp(&right[..len]) {
                Ordering::Equal => {}
                different => return Ok(different),
            }
        }
        Ok(Ordering::Equal)
    }

    fn get(
        &mut self,
        reference: Ref,
        kind: Kind,
        index: usize,
        buffer: &mut [u8],
    ) -> Result<(), AccessError<D::Error>> {
        let (_, address) = self.locate(reference, kind, index, buffer.len())?;
        Ok(self.medium.read(address, buffer)?)
    }

    fn put(&mut self, reference: Ref, kind: Kind, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        let (object, address) = self.locate(reference, kind, index, value.len())?;
        let written = self.put_bytes(&object.block, address, value);
        self.settle(written.map_err(AccessError::Store))
    }

    /// Finds field or element `index` of an object or array of the wanted kind, whose width must be `given`.
    fn locate(
        &mut self,
        reference: Ref,
        kind: Kind,
        index: usize,
        given: usize,
    ) -> Result<(Object, Address), AccessError<D::Error>> {
        let object = self.look_up_kind(reference, kind)?;
        let (offset, width) = self.field(&object, index)?;
        if width as usize != given {
            return Err(AccessError::WrongWidth { width });
        }
        Ok((object, object.data.offset(offset)))
    }

    fn look_up_kind(&mut self, reference: Ref, kind: Kind) -> Result<Object, AccessError<D::Error>> {
        let object = self.look_up(reference)?;
        if object.kind == kind { Ok(object) } else { Err(AccessError::WrongKind(reference)) }
    }

    /// Offset and width of a field or element.
    fn field(&mut self, object: &Object, index: usize) -> Result<(u32, u32), AccessError<D::Error>> {
        if index >= object.count as usize {
            return Err(AccessError::OutOfRange { count: object.count });
        }
        let (offset, width) = match u32::from(object.block.shape.width) {
            0 => self.listed_field(object, index)?,
            width => (index as u32 * width, width),
        };
        if offset + width > object.data_bytes {
            return Ok(self.medium.corrupted(object.block.address, "fields that leave their block")?);
        }
        Ok((offset, width))
    }

    /// Offset and width of a field of an object that lists its widths.
    fn listed_field(&mut self, object: &Object, index: usize) -> Result<(u32, u32), StoreError<D::Error>> {
        let (mut widths, mut end, mut width) = ([0; CHUNK_BYTES], 0, 0);
        for start in (0..=index).step_by(CHUNK_BYTES) {
            let len = CHUNK_BYTES.min(index + 1 - start);
            self.medium.read(object.block.contents().offset(1 + start as u32), &mut widths[..len])?;
            end += widths[..len].iter().map(|&width| u32::from(width)).sum::<u32>();
            width = u32::from(widths[len - 1]);
        }
        Ok((end - width, width))
    }

    /// Changes bytes of a block atomically, all of them or none of them that differ.
    pub(crate) fn put_bytes(
        &mut self,
        block: &Block,
        address: Address,
        value: &[u8],
    ) -> Result<(), StoreError<D::Error>> {
        if self.holds(address, value)? {
            return Ok(());
        }
        self.keep(block.address, address, value.len() as u32)?;
        self.medium.write(address, value)
    }

    /// Writes the old values of bytes into records, where they are needed.
    fn keep(&mut self, block: Address, address: Address, bytes: u32) -> Result<(), StoreError<D::Error>> {
        if self.is_new(block)? {
            return Ok(());
        }
        for (address, len) in windows(address, bytes) {
            let record = Record { kind: RecordKind::OldValue, address, len: len as u8 };
            if !self.log.has(&mut self.medium, record)? {
                let mut old = [0; WINDOW_BYTES as usize];
                let old = &mut old[..len as usize];
                self.medium.read(address, old)?;
                self.log.append(&mut self.medium, record, old)?;
            }
        }
        Ok(())
    }

    fn holds(&mut self, address: Address, value: &[u8]) -> Result<bool, StoreError<D::Error>> {
        let mut there = [0; CHUNK_BYTES];
        for (at, chunk) in (0..).step_by(CHUNK_BYTES).zip(value.chunks(CHUNK_BYTES)) {
            self.medium.read(address.offset(at), &mut there[..chunk.len()])?;
            if there[..chunk.len()] != *chunk {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn array_of(&mut self, reference: Ref) -> Result<(Object, u32), AccessError<D::Error>> {
        let object = self.look_up(reference)?;
        match object.kind {
            Kind::Array => Ok((object, u32::from(object.block.shape.width))),
            Kind::Object => Err(AccessError::WrongKind(reference)),
        }
    }

    /// The target of a copy, where its source and target are, and their bytes.
    fn places(
        &mut self,
        from: Elements,
        to: (Ref, usize),
    ) -> Result<(Object, Address, Address, u32), AccessError<D::Error>> {
        let ((source, width), (target, given)) = (self.array_of(from.array)?, self.array_of(to.0)?);
        let source = place(&source, width, from)?;
        let target_at = place(&target, given, Elements { array: to.0, first: to.1, count: from.count })?;
        if width != given {
            return Err(AccessError::WrongWidth { width });
        }
        Ok((target, source, target_at, from.count as u32 * width))
    }

    fn copy(&mut self, from: Elements, to: (Ref, usize), atomicity: Atomicity) -> Result<(), AccessError<D::Error>> {
        let (object, source, target, bytes) = self.places(from, to)?;
        let copied = if source < target {
            // From the end, so that what overlaps is read before it is written.
            self.store_backwards(&object, source, target, bytes, atomicity)
        } else {
            self.store_windows(&object, target, bytes, atomicity, |heap, offset, window| {
                heap.medium.read(source.offset(offset), window)
            })
        };
        self.settle(copied.map_err(AccessError::Store))
    }

    /// Stores bytes of an object: all of them or none.
    fn put_whole(&mut self, object: &Object, start: Address, values: &[u8]) -> Result<(), AccessError<D::Error>> {
        let stored = self.store_windows(object, start, values.len() as u32, Atomicity::Atomic, |_, offset, window| {
            window.copy_from_slice(&values[offset as usize..][..window.len()]);
            Ok(())
        });
        self.settle(stored.map_err(AccessError::Store))
    }

    /// Stores a range window by window: `source` gives the bytes from an offset in the range on.
    fn store_windows(
        &mut self,
        object: &Object,
        start: Address,
        bytes: u32,
        atomicity: Atomicity,
        mut source: impl FnMut(&mut Self, u32, &mut [u8]) -> Result<(), StoreError<D::Error>>,
    ) -> Result<(), StoreError<D::Error>> {
        for (address, len) in windows(start, bytes) {
            let mut window = [0; WINDOW_BYTES as usize];
            let window = &mut window[..len as usize];
            source(self, address.0 - start.0, window)?;
            self.store_window(object, address, window, atomicity)?;
        }
        Ok(())
    }

    fn store_backwards(
        &mut self,
        object: &Object,
        source: Address,
        target: Address,
        bytes: u32,
        atomicity: Atomicity,
    ) -> Result<(), StoreError<D::Error>> {
        let mut left = bytes;
        while left > 0 {
            let end = target.0 + left;
            let len = ((end - 1) % WINDOW_BYTES + 1).min(left);
            left -= len;
            let mut window = [0; WINDOW_BYTES as usize];
            let window = &mut window[..len as usize];
            self.medium.read(source.offset(left), window)?;
            self.store_window(object, target.offset(left), window, atomicity)?;
        }
        Ok(())
    }

    fn store_window(
        &mut self,
        object: &Object,
        address: Address,
        window: &[u8],
        atomicity: Atomicity,
    ) -> Result<(), StoreError<D::Error>> {
        if atomicity == Atomicity::Atomic || self.transaction == Transaction::Open {
            return self.put_bytes(&object.block, address, window);
        }
        // The words that hold something else; a word is aligned, and so is a window, except for its ends.
        for (word, len) in pieces(address, window.len() as u32, 4) {
            let bytes = &window[(word.0 - address.0) as usize..][..len as usize];
            if !self.holds(word, bytes)? {
                self.medium.write(word, bytes)?;
            }
        }
        Ok(())
    }
}

/// Where a range of elements begins.
fn place<E>(object: &Object, width: u32, elements: Elements) -> Result<Address, AccessError<E>> {
    match elements.first.checked_add(elements.count) {
        Some(end) if end <= object.count as usize => Ok(object.data.offset(elements.first as u32 * width)),
        _ => Err(AccessError::OutOfRange { count: object.count }),
    }
}

/// The parts of a range in each aligned window.
fn windows(start: Address, bytes: u32) -> impl Iterator<Item = (Address, u32)> {
    pieces(start, bytes, WINDOW_BYTES)
}

/// The parts of a range in each aligned piece of `size` bytes: address and length.
fn pieces(start: Address, bytes: u32, size: u32) -> impl Iterator<Item = (Address, u32)> {
    let (mut at, end) = (start.0, start.0 + bytes);
    core::iter::from_fn(move || {
        let piece = (Address(at), (size - at % size).min(end - at));
        at += piece.1;
        (piece.1 > 0).then_some(piece)
    })
}
