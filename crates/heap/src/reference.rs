//! References: the numbers by which a client names objects and arrays.

use core::fmt;

/// Names an object or array (TinyStore's REF): a slot of the heap, and the generation of what it holds.
///
/// 32 bits: the slot in the low half, the generation in the high half. Deleting frees the slot, which a later creation
/// may take; the generation is another one then, so that a stale reference is reported, unless it comes round again.
/// The engines say after how many creations that may be: 65,534 in the same slot at least, or 65,535 in the heap. That
/// holds for references from undone transactions, too, with one exception in the log-structured heap: where a
/// transaction deletes an object, creates another in its slot, and is undone. After the first object's next deletion
/// the same reference is given again. At most [`SLOTS`](Self::SLOTS) objects, arrays included, exist at a time. In
/// memory it is its number, as other languages see it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Ref(u32);

impl Ref {
    /// Slots that a reference can name.
    pub const SLOTS: u32 = 1 << 16;

    /// The reference of a slot and a generation, for engines. Generation 0 is that of no object.
    pub const fn new(slot: u16, generation: u16) -> Ref {
        Ref(slot as u32 | (generation as u32) << 16)
    }

    /// The reference as a number, for keeping it in a field. Never 0, which a client may use for null.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The reference of a number that [`bits`](Self::bits) gave; `None` for one that it cannot have given.
    pub const fn from_bits(bits: u32) -> Option<Ref> {
        if bits >> 16 == 0 { None } else { Some(Ref(bits)) }
    }

    /// The slot.
    pub const fn slot(self) -> u16 {
        self.0 as u16
    }

    /// The generation.
    pub const fn generation(self) -> u16 {
        (self.0 >> 16) as u16
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}.{}", self.slot(), self.generation())
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    //! Proves that a reference is its slot and its generation, and that 0 is none.
    use super::*;

    #[test]
    fn bits_name_slot_and_generation() {
        for (slot, generation) in [(0, 1), (7, 9), (0xFFFF, 1), (0, 0xFFFF), (0xFFFF, 0xFFFF)] {
            let reference = Ref::new(slot, generation);
            assert_eq!((reference.slot(), reference.generation()), (slot, generation));
            assert_eq!(Ref::from_bits(reference.bits()), Some(reference));
        }
        assert_eq!([0, 1, 0xFFFF].map(Ref::from_bits), [None; 3]);
    }
}
