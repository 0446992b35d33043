//! The objects of an experiment, and how many of them are full.
//!
//! *Full* is the number of objects that fit when every list has its maximal length (section 6.2); 20%, 50% and 90% are
//! of that number, and the EEPROM heap holds as many.

use norn_object_heap::{Layout, ObjectHeap, Ref};

use super::subject::Subject;

/// Most fields of an object, and most elements of an array that is not split.
pub const FIELDS_MAX: usize = 255;

/// What an object is like: fields of two bytes, or an array of such elements where an object would have too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Fields or elements.
    pub fields: usize,
    /// Bytes of each.
    pub width: u8,
}

impl Shape {
    /// Fields of two bytes that make up `bytes`.
    pub fn of_bytes(bytes: u32) -> Shape {
        Shape { fields: bytes as usize / 2, width: 2 }
    }

    fn is_array(self) -> bool {
        self.fields > FIELDS_MAX
    }

    /// Lists of records that it has: one, or one a section.
    fn lists(self) -> usize {
        self.fields.div_ceil(FIELDS_MAX)
    }

    /// Creates one; `None` when it does not fit.
    pub fn create<H: ObjectHeap>(self, heap: &mut H) -> Option<Ref> {
        match self.is_array() {
            true => heap.create_array(self.fields, self.width, b"").ok(),
            false => heap.create(Layout::uniform(self.fields, self.width)).ok(),
        }
    }

    /// Updates a field or element with the first bytes of `value`.
    ///
    /// # Errors
    /// As the heap's call.
    pub fn put<H: ObjectHeap>(
        self,
        heap: &mut H,
        object: Ref,
        field: usize,
        value: u16,
    ) -> Result<(), norn_object_heap::AccessError<H::DeviceError>> {
        let bytes = value.to_le_bytes();
        match self.is_array() {
            true => heap.array_store(object, field, &bytes[..usize::from(self.width)]),
            false => heap.put_field(object, field, &bytes[..usize::from(self.width)]),
        }
    }
}

/// Objects that fit when they have just been created.
pub fn fresh<H: ObjectHeap>(heap: &mut H, shape: Shape) -> usize {
    std::iter::from_fn(|| shape.create(heap)).count()
}

/// Objects that fit when each list has `records` records.
pub fn full<H: Subject>(heap: &mut H, shape: Shape, records: u8) -> usize {
    std::iter::from_fn(|| lengthened(heap, shape, records)).count()
}

/// Creates an object and lengthens its lists; `None` where there is no room for that.
fn lengthened<H: Subject>(heap: &mut H, shape: Shape, records: u8) -> Option<Ref> {
    let object = shape.create(heap)?;
    for list in 0..shape.lists() {
        let wanted = (list + 1) * usize::from(records) + (shape.lists() - list - 1);
        let mut value = 0;
        while heap.records(object)? < wanted {
            value += 1;
            if value > u16::from(records) + 1 {
                return None; // Without room for a longer list, the object is compacted instead.
            }
            shape.put(heap, object, list * FIELDS_MAX, value).ok()?;
        }
    }
    Some(object)
}
