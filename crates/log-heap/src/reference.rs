//! References: the numbers by which a client names objects.

use core::fmt;

use crate::format::NEVER;

/// Names an object: a slot of the map, and the generation of what it holds.
///
/// 32 bits: the slot in the low half, the generation in the high half. A slot that is used again has another
/// generation, so that a stale reference is reported, unless its slot was used again a multiple of 65,534 times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(u32);

impl Ref {
    pub(crate) const SLOTS: u32 = 1 << 16;

    pub(crate) const fn new(slot: u16, generation: u16) -> Ref {
        Ref(slot as u32 | (generation as u32) << 16)
    }

    /// The generation of the next object in a slot whose last one had this.
    pub(crate) const fn next_generation(last: u16) -> u16 {
        if last >= NEVER - 1 { 1 } else { last + 1 }
    }

    /// The reference as a number, for keeping it in a field. Never 0, which a client may use for null.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The reference of a number that [`bits`](Self::bits) gave; `None` for one that it cannot have given.
    pub const fn from_bits(bits: u32) -> Option<Ref> {
        if bits >> 16 == 0 { None } else { Some(Ref(bits)) }
    }

    pub(crate) const fn slot(self) -> u16 {
        self.0 as u16
    }

    pub(crate) const fn generation(self) -> u16 {
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
