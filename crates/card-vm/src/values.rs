//! Values of fields that were read lately, so that a field which does not change is read from flash once.
//!
//! Each field has one place, by its object and its slot; another field with the same place takes it. A value leaves its
//! place when the field is changed, and all leave when changes are undone or objects are deleted: what is here is what
//! the heap would say. Against a heap's pointers with notification, which the same fields could have: a value takes as
//! much RAM as its address, costs nothing on flash, and is not read from there at all.

/// Places: a power of two. RAM: 9 bytes each.
const PLACES: usize = 8;

/// Values of fields.
#[derive(Debug)]
pub(crate) struct Values {
    /// The object; 0 in a place that is free.
    objects: [u32; PLACES],
    values: [i32; PLACES],
    slots: [u8; PLACES],
}

impl Values {
    pub fn new() -> Values {
        Values { objects: [0; PLACES], values: [0; PLACES], slots: [0; PLACES] }
    }

    /// Neighbours among slots and among objects have different places.
    fn place(object: u32, slot: u8) -> usize {
        let mixed = object ^ (object >> 16) ^ (object << 2) ^ u32::from(slot);
        mixed as usize % PLACES
    }

    /// A field's value, where it is known.
    pub fn get(&self, object: u32, slot: u8) -> Option<i32> {
        let place = Values::place(object, slot);
        (self.objects[place] == object && self.slots[place] == slot).then_some(self.values[place])
    }

    /// A field has a value, as was read.
    pub fn keep(&mut self, object: u32, slot: u8, value: i32) {
        let place = Values::place(object, slot);
        (self.objects[place], self.slots[place], self.values[place]) = (object, slot, value);
    }

    /// A field is about to change.
    pub fn forget(&mut self, object: u32, slot: u8) {
        let place = Values::place(object, slot);
        if self.slots[place] == slot {
            self.objects[place] = 0;
        }
    }

    /// Changes may have been undone, or objects deleted.
    pub fn forget_all(&mut self) {
        self.objects = [0; PLACES];
    }
}
