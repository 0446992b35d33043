//! Elements of arrays: one, or a range of them.
//!
//! A range is worked through in *pieces*, the part of it in one sector. A piece of one element is set as a field is; of
//! a larger one the sector is written anew. A copy within one array begins at the end that keeps what is still to be
//! read.

use core::cmp::Ordering;

use norn_flash::Nor;
use norn_heap::{AccessError, Elements, Listener, Ref, StoreError, TransactionError};

use crate::array::SECTION_BYTES_MAX;
use crate::format::{Class, SplitShape};
use crate::heap::{LogHeapIn, expect_width};
use crate::object::Sector;
use crate::units::UnitRows;

/// An array: its first sector, and its shape, which a small one has in one section.
#[derive(Clone, Copy)]
struct Array {
    sector: Sector,
    shape: SplitShape,
}

impl Array {
    const fn width(&self) -> usize {
        self.shape.width as usize
    }

    fn expect<E>(&self, first: usize, count: usize) -> Result<(), AccessError<E>> {
        match first.checked_add(count) {
            Some(end) if end <= self.shape.count as usize => Ok(()),
            _ => Err(AccessError::OutOfRange { count: self.shape.count }),
        }
    }

    /// How many elements `bytes` are.
    fn whole_elements<E>(&self, bytes: &[u8]) -> Result<usize, AccessError<E>> {
        match bytes.len() % self.width() {
            0 => Ok(bytes.len() / self.width()),
            _ => Err(AccessError::WrongWidth { width: u32::from(self.shape.width) }),
        }
    }
}

/// The part of a range in one sector.
#[derive(Clone, Copy)]
struct Piece {
    section: u32,
    /// Index in the section.
    first: usize,
    count: usize,
    /// Which of the range is the first.
    done: usize,
}

/// What elements are set to.
#[derive(Clone, Copy)]
enum Values<'a> {
    /// All to one value.
    Fill(&'a [u8]),
    /// Each to an element of another range.
    Copy(Elements),
    /// To these, one after the other.
    Bytes(&'a [u8]),
}

impl<D: Nor, M: UnitRows, L: Listener> LogHeapIn<D, M, L> {
    /// Reads element `index` into `buffer`, which has its width.
    ///
    /// Cost: as [`get_field`](Self::get_field); of a split array two look-ups.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`; the store's.
    pub fn array_load(&mut self, reference: Ref, index: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        let (sector, index) = self.sector_with(reference, index)?;
        self.get(&sector, index, buffer)
    }

    /// Atomically sets element `index`. `value` has its width.
    ///
    /// Cost: as [`put_field`](Self::put_field) of an object of the section's size; of a split array one look-up more.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`; the store's.
    pub fn array_store(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        let (sector, index) = self.sector_with(reference, index)?;
        self.set(sector, index, value)
    }

    /// Reads elements from `first` on into a buffer of some whole elements.
    ///
    /// Cost: for each section a look-up, its tail twice, and the bytes.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth` for a buffer of no whole elements; the store's.
    pub fn array_read(&mut self, array: Ref, first: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        let array = self.array(array)?;
        array.expect(first, array.whole_elements(buffer)?)?;
        self.read(&array, first, buffer)
    }

    /// Gives every element of a range the same value: each atomically, and all of one section together.
    ///
    /// Cost: each section touched is written anew: a look-up, a granule of the log, its granules and a map change.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth`: nothing was changed. The store's: a part of the range may have
    /// been changed; an open transaction may be aborted.
    pub fn array_fill_non_atomic(&mut self, to: Elements, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        let array = self.array(to.array)?;
        expect_width(value.len(), u32::from(array.shape.width))?;
        array.expect(to.first, to.count)?;
        self.set_pieces(to, Values::Fill(value))
    }

    /// Copies elements of `from` to `to`, an array and the index of the first: each atomically, and all of one section
    /// together. The arrays may be the same, and the ranges overlap.
    ///
    /// Cost: as [`array_fill_non_atomic`](Self::array_fill_non_atomic) and [`array_read`](Self::array_read).
    ///
    /// # Errors
    /// As `array_fill_non_atomic`; `WrongWidth` where the elements differ in width.
    pub fn array_copy_non_atomic(&mut self, from: Elements, to: (Ref, usize)) -> Result<(), AccessError<D::Error>> {
        let to = self.expect_copy(from, to)?;
        self.set_pieces(to, Values::Copy(from))
    }

    /// Copies elements of `from` to `to`, an array and the index of the first: all of them or none. The arrays may be
    /// the same, and the ranges overlap.
    ///
    /// Cost: as [`array_copy_non_atomic`](Self::array_copy_non_atomic); in several sections a transaction, with room
    /// for what each was before.
    ///
    /// # Errors
    /// As `array_copy_non_atomic`, but nothing was changed.
    pub fn array_copy(&mut self, from: Elements, to: (Ref, usize)) -> Result<(), AccessError<D::Error>> {
        let to = self.expect_copy(from, to)?;
        self.set_whole(to, Values::Copy(from))
    }

    /// Makes the elements of an array from `first` on the values in `values`: all of them or none.
    ///
    /// Cost: as [`array_fill_non_atomic`](Self::array_fill_non_atomic); in several sections a transaction, with room
    /// for what each was before.
    ///
    /// # Errors
    /// As `array_fill_non_atomic`, but nothing was changed; `WrongWidth` where the values end within an element.
    pub fn array_write(&mut self, array: Ref, first: usize, values: &[u8]) -> Result<(), AccessError<D::Error>> {
        let named = self.array(array)?;
        let count = named.whole_elements(values)?;
        named.expect(first, count)?;
        self.set_whole(Elements { array, first, count }, Values::Bytes(values))
    }

    /// Compares elements of `from` with as many of `to`, an array and the index of the first: byte by byte without
    /// sign, as `Ord` does for slices.
    ///
    /// Cost: as [`array_load`](Self::array_load) of each element, up to the first difference.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`, `WrongWidth` where the elements differ in width; the store's.
    pub fn array_compare(&mut self, from: Elements, to: (Ref, usize)) -> Result<Ordering, AccessError<D::Error>> {
        let to = self.expect_copy(from, to)?;
        let (left, right) = (self.array(from.array)?, self.array(to.array)?);
        let (mut one, mut other) = ([0; SECTION_BYTES_MAX], [0; SECTION_BYTES_MAX]);
        let (one, other) = (&mut one[..left.width()], &mut other[..left.width()]);
        for number in 0..to.count {
            self.read(&left, from.first + number, one)?;
            self.read(&right, to.first + number, other)?;
            if one != other {
                return Ok((*one).cmp(other));
            }
        }
        Ok(Ordering::Equal)
    }

    /// The range that is copied to.
    fn expect_copy(&mut self, from: Elements, to: (Ref, usize)) -> Result<Elements, AccessError<D::Error>> {
        let (source, target) = (self.array(from.array)?, self.array(to.0)?);
        expect_width(source.width(), u32::from(target.shape.width))?;
        source.expect(from.first, from.count)?;
        target.expect(to.1, from.count)?;
        Ok(Elements { array: to.0, first: to.1, count: from.count })
    }

    /// Sets a range: all of it or nothing.
    fn set_whole(&mut self, to: Elements, values: Values<'_>) -> Result<(), AccessError<D::Error>> {
        let array = self.array(to.array)?;
        let is_one = to.count == 0 || piece(&array, to.first, to.count, 0).count == to.count;
        if is_one || self.in_transaction() {
            return self.set_pieces(to, values);
        }
        self.begin().map_err(into_access)?;
        let set = self.set_pieces(to, values).and_then(|()| self.commit().map_err(into_access));
        if set.is_err() && self.in_transaction() && self.expect_running().is_ok() {
            self.abort().map_err(into_access)?;
        }
        set
    }

    /// Sets a range, piece by piece. Where a later one fails within a transaction, that is aborted.
    fn set_pieces(&mut self, to: Elements, values: Values<'_>) -> Result<(), AccessError<D::Error>> {
        let array = self.array(to.array)?;
        // Upwards, unless that would overwrite what is still to be read.
        let is_downwards = matches!(values, Values::Copy(from) if from.array == to.array && from.first < to.first);
        let (mut start, mut end) = (0, to.count);
        while start < end {
            let piece = if is_downwards {
                let last = to.first + end - 1;
                let within = last % usize::from(array.shape.section_elements) + 1;
                end -= within.min(end);
                piece(&array, to.first + end, last + 1 - (to.first + end), end)
            } else {
                let piece = piece(&array, to.first + start, end - start, start);
                start += piece.count;
                piece
            };
            let set = self.set_piece(to.array, piece, values);
            if set.is_err() && piece.count < to.count {
                self.abort_later();
            }
            set?;
        }
        Ok(())
    }

    fn set_piece(&mut self, target: Ref, piece: Piece, values: Values<'_>) -> Result<(), AccessError<D::Error>> {
        let array = self.array(target)?;
        let mut bytes = [0; SECTION_BYTES_MAX];
        let bytes = &mut bytes[..piece.count * array.width()];
        match values {
            Values::Fill(value) => bytes.chunks_exact_mut(value.len()).for_each(|bytes| bytes.copy_from_slice(value)),
            Values::Copy(from) => {
                let source = self.array(from.array)?;
                self.read(&source, from.first + piece.done, bytes)?;
            }
            Values::Bytes(values) => bytes.copy_from_slice(&values[piece.done * array.width()..][..bytes.len()]),
        }
        let sector = self.section(&array, piece.section)?;
        match piece.count {
            1 => self.set(sector, piece.first, bytes),
            _ => self.set_range(sector, piece.first, bytes),
        }
    }

    /// Reads elements from `first` on, which the array has.
    fn read(&mut self, array: &Array, first: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        let (width, mut done) = (array.width(), 0);
        let count = buffer.len() / width;
        while done < count {
            let piece = piece(array, first + done, count - done, done);
            let sector = self.section(array, piece.section)?;
            let bytes = &mut buffer[done * width..(done + piece.count) * width];
            self.reclamation().objects.read_values(&sector, (piece.first * width) as u32, bytes)?;
            done += piece.count;
        }
        Ok(())
    }

    /// The sector that has element `index` of an array, and the element's number in it.
    pub(crate) fn sector_with(&mut self, array: Ref, index: usize) -> Result<(Sector, usize), AccessError<D::Error>> {
        let array = self.array(array)?;
        array.expect(index, 1)?;
        let piece = piece(&array, index, 1, 0);
        Ok((self.section(&array, piece.section)?, piece.first))
    }

    fn array(&mut self, reference: Ref) -> Result<Array, AccessError<D::Error>> {
        self.expect_access()?;
        let sector = self.find(reference)?;
        let shape = match sector.header.class {
            Class::Split => self.reclamation().shape(&sector)?,
            Class::Array => {
                let (count, width) = (sector.header.count, self.reclamation().objects.extent(&sector, 0)?.width as u8);
                SplitShape { count: u32::from(count), width, section_elements: count, is_there: true }
            }
            _ => return Err(AccessError::WrongKind(reference)),
        };
        if shape.width == 0 || u32::from(shape.section_elements.max(1)) * u32::from(shape.width) > MAX {
            return Err(self.broken(&sector, "an array whose elements no section can hold"));
        }
        Ok(Array { sector, shape })
    }

    /// The sector that has a section's elements.
    fn section(&mut self, array: &Array, number: u32) -> Result<Sector, AccessError<D::Error>> {
        if array.sector.header.class == Class::Array {
            return Ok(array.sector);
        }
        let slot = u32::from(array.sector.header.index) + 1 + number;
        let section = if slot < Ref::SLOTS { self.sector_in(slot as u16)? } else { None };
        section
            .filter(|section| section.header.class == Class::Section)
            .ok_or_else(|| self.broken(&array.sector, "a split array without one of its sections"))
    }

    fn broken(&mut self, sector: &Sector, what: &'static str) -> AccessError<D::Error> {
        self.reclamation().objects.map.medium().corrupted(sector.at, what).into()
    }
}

const MAX: u32 = SECTION_BYTES_MAX as u32;

/// The first piece of a range, whose first element is number `done` of a larger one.
fn piece(array: &Array, first: usize, count: usize, done: usize) -> Piece {
    let section_elements = usize::from(array.shape.section_elements);
    let within = first % section_elements;
    Piece {
        section: (first / section_elements) as u32,
        first: within,
        count: count.min(section_elements - within),
        done,
    }
}

fn into_access<E>(error: TransactionError<E>) -> AccessError<E> {
    match error {
        TransactionError::Store(error) => AccessError::Store(error),
        _ => AccessError::Store(StoreError::Halted),
    }
}
