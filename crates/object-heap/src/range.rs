//! Operations on ranges of array elements: read, fill, copy, compare, each cheaper than element by element.
//!
//! The atomic copy rewrites every section that it touches, in one transaction. The others work through the range in
//! chunks of up to 32 bytes. A chunk is changed in place where all its elements are in the same state, that is
//! 1. at their default value, with room in the first record: program the chunk there, then clear the initialization
//!    flags; or
//! 2. all in one record, with room in the next: program the chunk there, then clear the valid flags.
//!
//! A chunk that is in neither state, or finds no room, makes the rest of its section be rewritten with the rest of the
//! range in it. Flags are cleared for eight elements at once, after all values: a power cut leaves each element old or
//! new.
//!
//! Copies within one array proceed from the end that keeps what is still to be read: by sections, and by chunks in
//! them.

use core::cmp::Ordering;

use norn_flash::Nor;
use norn_heap::{AccessError, Elements, Kind, Listener, Ref};
use norn_nor_store::{Features, StoreError, UnitRows};

use crate::compact::{Change, Range, Source};
use crate::form::{Field, Object, ObjectForm};
use crate::format::CHUNK_BYTES;
use crate::heap::HeapIn;

/// Which way a copy proceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Upwards,
    Downwards,
}

/// The part of a range in one list of records: from element `first` of it, which is number `done` of the range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub section: u32,
    pub first: u32,
    pub count: u32,
    pub done: u32,
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// Reads elements from `first` on into a buffer of some whole elements.
    ///
    /// Cost: for each 32 bytes about 10 reads and the bytes' words.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth` for a buffer of no whole elements; the store's.
    pub fn array_read(&mut self, array: Ref, first: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        let named = self.array_of(array)?;
        let width = named.element_bytes();
        if !buffer.len().is_multiple_of(width as usize) {
            return Err(AccessError::WrongWidth { width });
        }
        check_range(&named, Elements { array, first, count: buffer.len() / width as usize })?;
        Ok(self.lists().read_elements(&named, width, first as u32 * width, buffer)?)
    }

    /// Gives every element of a range the same value, each atomically.
    ///
    /// Cost: in place the range's words and a word for every 32 flags; a section is compacted where it has no room.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`: nothing was changed. The store's: a part of the range may have
    /// been changed; an open transaction is aborted.
    pub fn array_fill_non_atomic(&mut self, to: Elements, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        let named = self.array_of(to.array)?;
        let width = named.element_bytes();
        if value.len() != width as usize {
            return Err(AccessError::WrongWidth { width });
        }
        check_range(&named, to)?;
        self.store_pieces(to, Direction::Upwards, None, value)
    }

    /// Copies elements of `from` to `to.array`, each atomically; the two may be the same array, and overlap.
    ///
    /// Cost: as [`array_fill_non_atomic`](Self::array_fill_non_atomic), and [`array_read`](Self::array_read).
    ///
    /// # Errors
    /// As `array_fill_non_atomic`; `WrongWidth` where the arrays' elements differ in width.
    pub fn array_copy_non_atomic(&mut self, from: Elements, to: (Ref, usize)) -> Result<(), AccessError<D::Error>> {
        let to = self.check_copy(from, to)?;
        let direction = direction(from, to);
        self.store_pieces(to, direction, Some(from), &[])
    }

    /// Copies elements of `from` to `to.array`, all of them or none; the two may be the same array, and overlap.
    ///
    /// Cost: each section touched is compacted: its data and about 20 words; and the reads of
    /// [`array_read`](Self::array_read).
    ///
    /// # Errors
    /// As [`array_copy_non_atomic`](Self::array_copy_non_atomic), but nothing was changed.
    pub fn array_copy(&mut self, from: Elements, to: (Ref, usize)) -> Result<(), AccessError<D::Error>> {
        let to = self.check_copy(from, to)?;
        let copied = self.copy_sections(from, to);
        self.settle(copied)
    }

    /// Compares elements of `from` with as many of `to.array`, byte by byte without sign, as `Ord` does for slices.
    ///
    /// Cost: as twice [`array_read`](Self::array_read), up to the first difference.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth` where the arrays' elements differ in width; the store's.
    pub fn array_compare(&mut self, from: Elements, to: (Ref, usize)) -> Result<Ordering, AccessError<D::Error>> {
        let to = self.check_copy(from, to)?;
        let (a, b) = (self.array_of(from.array)?, self.array_of(to.array)?);
        let width = a.element_bytes();
        let (mut left, mut right) = ([0; CHUNK_BYTES], [0; CHUNK_BYTES]);
        let bytes = from.count as u32 * width;
        for offset in (0..bytes).step_by(CHUNK_BYTES) {
            let len = CHUNK_BYTES.min((bytes - offset) as usize);
            self.lists().read_elements(&a, width, from.first as u32 * width + offset, &mut left[..len])?;
            self.lists().read_elements(&b, width, to.first as u32 * width + offset, &mut right[..len])?;
            match left[..len].cmp(&right[..len]) {
                Ordering::Equal => {}
                different => return Ok(different),
            }
        }
        Ok(Ordering::Equal)
    }

    pub(crate) fn array_of(&mut self, reference: Ref) -> Result<ObjectForm, AccessError<D::Error>> {
        let found = self.look_up(reference);
        match &found {
            Ok(named) if named.kind() != Kind::Array => Err(AccessError::WrongKind(reference)),
            _ => found,
        }
    }

    fn check_copy(&mut self, from: Elements, to: (Ref, usize)) -> Result<Elements, AccessError<D::Error>> {
        let (source, target) = (self.array_of(from.array)?, self.array_of(to.0)?);
        let to = Elements { array: to.0, first: to.1, count: from.count };
        check_range(&source, from)?;
        check_range(&target, to)?;
        if source.element_bytes() != target.element_bytes() {
            return Err(AccessError::WrongWidth { width: source.element_bytes() });
        }
        Ok(to)
    }

    /// Section `number` of the array `reference` as it is now.
    #[inline(never)]
    pub(crate) fn list_at(&mut self, reference: Ref, number: u32) -> Result<Object, AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        Ok(self.descriptors().list_of_section(&named, number)?)
    }

    /// Copies by rewriting each section of the target, in the open transaction.
    fn copy_sections(&mut self, from: Elements, to: Elements) -> Result<(), AccessError<D::Error>> {
        let direction = direction(from, to);
        let elements = self.look_up(to.array)?.section_elements();
        for number in 0..pieces(to, elements) {
            let piece = piece(to, elements, direction, number);
            // Either may have moved with the section before.
            let (source, section) = (self.look_up(from.array)?, self.list_at(to.array, piece.section)?);
            let source = Source::Array(&source, from.first as u32 + piece.done);
            let range = Range::of_elements(piece.first, piece.count, section.shape.element_bytes(), source);
            self.compaction().compact(&section, Change::Range(range))?;
        }
        Ok(())
    }

    /// Stores a range piece by piece, each a change of its own unless the client has a transaction. The elements come
    /// from `from`, or are all `value`.
    fn store_pieces(
        &mut self,
        to: Elements,
        direction: Direction,
        from: Option<Elements>,
        value: &[u8],
    ) -> Result<(), AccessError<D::Error>> {
        let elements = self.look_up(to.array)?.section_elements();
        for number in 0..pieces(to, elements) {
            let piece = piece(to, elements, direction, number);
            // Either may have moved with the section before.
            let section = self.list_at(to.array, piece.section)?;
            let named;
            let source = match from {
                Some(from) => {
                    named = self.look_up(from.array)?;
                    Source::Array(&named, from.first as u32 + piece.done)
                }
                None => Source::Value(value),
            };
            let range = Range::of_elements(piece.first, piece.count, section.shape.element_bytes(), source);
            let stored = self.store_range(&section, range, direction).map_err(AccessError::Store);
            self.settle(stored)?;
        }
        Ok(())
    }

    /// Stores a range of one list of records, in place as far as possible.
    pub(crate) fn store_range(
        &mut self,
        section: &Object,
        range: Range<'_>,
        direction: Direction,
    ) -> Result<(), StoreError<D::Error>> {
        self.pointers().forget_values(section)?;
        let done = self.store_chunks(section, &range, direction)?;
        if done == range.count {
            return Ok(());
        }
        self.compaction().compact(section, Change::Range(range.part(direction, done, range.count - done)))
    }

    /// Stores as many elements of a range in place as possible; returns their number.
    #[inline(never)]
    fn store_chunks(
        &mut self,
        section: &Object,
        range: &Range<'_>,
        direction: Direction,
    ) -> Result<u32, StoreError<D::Error>> {
        let width = section.shape.element_bytes();
        let has_room = self.changes_in_place(section);
        let in_place = has_room && self.lists().deltas(section)?.sector().is_none();
        let step = CHUNK_BYTES as u32 / width;
        let mut done = 0;
        while in_place && step > 0 && done < range.count {
            let count = step.min(range.count - done);
            let chunk = range.part(direction, done, count);
            let mut bytes = [0; CHUNK_BYTES];
            let bytes = &mut bytes[..(count * width) as usize];
            self.compaction().read_source(&chunk, width, 0, bytes)?;
            let field = Field { index: chunk.first as usize, offset: chunk.first * width, width };
            if !self.lists().store_in_place(section, &field, count, bytes)? {
                break;
            }
            done += count;
        }
        Ok(done)
    }
}

impl<'a> Range<'a> {
    /// `count` elements of `width` bytes from `first` on.
    pub fn of_elements(first: u32, count: u32, width: u32, source: Source<'a>) -> Range<'a> {
        Range { first, count, offset: first * width, bytes: count * width, source }
    }

    /// A part of the range: `count` elements, after `done` from the end where it begins.
    fn part(&self, direction: Direction, done: u32, count: u32) -> Range<'a> {
        let skipped = match direction {
            Direction::Upwards => done,
            Direction::Downwards => self.count - done - count,
        };
        let width = self.bytes / self.count;
        let source = match self.source {
            Source::Value(value) => Source::Value(value),
            Source::Bytes(values) => Source::Bytes(&values[(skipped * width) as usize..]),
            Source::Array(named, first) => Source::Array(named, first + skipped),
        };
        Range::of_elements(self.first + skipped, count, width, source)
    }
}

pub(crate) fn check_range<E>(named: &ObjectForm, elements: Elements) -> Result<(), AccessError<E>> {
    let count = named.count();
    match elements.first.checked_add(elements.count) {
        Some(end) if end <= count => Ok(()),
        _ => Err(AccessError::OutOfRange { count: count as u32 }),
    }
}

fn direction(from: Elements, to: Elements) -> Direction {
    if from.array == to.array && from.first < to.first { Direction::Downwards } else { Direction::Upwards }
}

/// Number of sections that a range touches.
pub(crate) fn pieces(range: Elements, elements: u32) -> u32 {
    match range.count as u32 {
        0 => 0,
        count => (range.first as u32 + count - 1) / elements - range.first as u32 / elements + 1,
    }
}

/// Piece `number` of a range, counted from where it begins.
pub(crate) fn piece(range: Elements, elements: u32, direction: Direction, number: u32) -> Piece {
    let (start, end) = (range.first as u32, (range.first + range.count) as u32);
    let section = match direction {
        Direction::Upwards => start / elements + number,
        Direction::Downwards => (end - 1) / elements - number,
    };
    let (from, to) = (start.max(section * elements), end.min((section + 1) * elements));
    Piece { section, first: from - section * elements, count: to - from, done: from - start }
}
