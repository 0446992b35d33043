//! References: the numbers by which a client names objects and arrays.

use core::fmt;

/// Names an object or array (TinyStore's REF): a slot of the REF tree, and the generation of what it holds.
///
/// 32 bits: the slot in the low half, the generation in the high half. Deleting frees the slot, which the next creation
/// may take; its generation, the number of creations modulo 65,535 plus one, is another one then, so that a stale
/// reference is reported, unless a multiple of 65,535 objects were created in between and the last of them took its
/// slot. That holds for references from undone transactions, too. At most 65,536 objects, arrays included, exist at a
/// time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(u32);

impl Ref {
    pub(crate) const SLOTS: u32 = 1 << 16;

    pub(crate) fn new(slot: u32, serial: u32) -> Ref {
        debug_assert!(slot < Self::SLOTS);
        Ref(slot | (serial % 0xFFFF + 1) << 16)
    }

    /// The reference as a number, for keeping it in a field. Never 0, which a client may use for null.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The reference of a number that [`bits`](Self::bits) gave; `None` for one that it cannot have given.
    pub const fn from_bits(bits: u32) -> Option<Ref> {
        if bits >> 16 == 0 { None } else { Some(Ref(bits)) }
    }

    pub(crate) const fn slot(self) -> u32 {
        self.0 & 0xFFFF
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}.{}", self.slot(), self.0 >> 16)
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
