//! Short-lived pointers: values read in place, on parts whose bytes are mapped into memory.
//!
//! A pointer is a borrow of the heap, so that no call that might move the value can come between. A default value, which need
//! not stand on flash, is a borrow of zeros.

use norn_flash::{Address, Nor};

use crate::descriptor::Object;
use crate::error::AccessError;
use crate::format::VALID_FLAGS_OFFSET;
use crate::heap::Heap;
use crate::object::Kind;
use crate::reference::Ref;

/// What default values are.
static ZEROS: [u8; 255] = [0; 255];

/// Where a value is.
enum Place {
    Flash(Address, usize),
    Zeros(usize),
}

impl<D: Nor, const UNITS: usize> Heap<D, UNITS> {
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

    /// The values of elements from `index` on, in place: as many as stand one behind the other, and at least one.
    ///
    /// Cost: as [`array_load`](Self::array_load), without the value's words, and 2 reads an element at most.
    ///
    /// # Errors
    /// `NotMapped` where the part's bytes cannot be read in place; else as `array_load`.
    pub fn array_bytes(&mut self, array: Ref, index: usize) -> Result<&[u8], AccessError<D::Error>> {
        let (list, index) = self.list_of(array, Kind::Array, index)?;
        let place = match self.place_of_value(&list, index)? {
            Place::Flash(address, width) => Place::Flash(address, width * self.values_in_row(&list, index)?),
            Place::Zeros(width) => Place::Zeros(width * self.defaults_in_row(&list, index, ZEROS.len() / width)?),
        };
        self.bytes_at(place)
    }

    fn place_of_value(&mut self, list: &Object, index: usize) -> Result<Place, AccessError<D::Error>> {
        let field = self.field(list, index)?;
        if self.is_default(list, index)? {
            return Ok(Place::Zeros(field.width as usize));
        }
        let holder = self.find_value(list, index)?;
        self.check_value(list, index)?;
        let address = holder.sector.address.offset(self.slot_offset(list, &field));
        Ok(Place::Flash(address, field.width as usize))
    }

    /// How many elements from `index` on have their values in the record that holds its value.
    fn values_in_row(&mut self, list: &Object, index: usize) -> Result<usize, AccessError<D::Error>> {
        let holder = self.find_value(list, index)?;
        let mut count = 1;
        while index + count < usize::from(list.shape.count) && !self.is_default(list, index + count)? {
            let found = self.find_value(list, index + count)?;
            if found.record != holder.record || !self.read_flag(&holder.sector, VALID_FLAGS_OFFSET, index + count)? {
                break;
            }
            self.check_value(list, index + count)?;
            count += 1;
        }
        Ok(count)
    }

    /// How many elements from `index` on have their default value, up to `max`.
    fn defaults_in_row(&mut self, list: &Object, index: usize, max: usize) -> Result<usize, AccessError<D::Error>> {
        let mut count = 1;
        while count < max && index + count < usize::from(list.shape.count) && self.is_default(list, index + count)? {
            count += 1;
        }
        Ok(count)
    }

    fn bytes_at(&self, place: Place) -> Result<&[u8], AccessError<D::Error>> {
        let mapped = self.store.device().mapped().ok_or(AccessError::NotMapped)?;
        match place {
            Place::Zeros(len) => Ok(&ZEROS[..len]),
            Place::Flash(address, len) => match mapped.get(address.0 as usize..address.0 as usize + len) {
                Some(bytes) => Ok(bytes),
                None => Err(AccessError::NotMapped),
            },
        }
    }
}
