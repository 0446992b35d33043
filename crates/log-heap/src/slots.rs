//! Free slots: where the next object is named.
//!
//! The slot that was freed last comes first. So a heap in which objects come and go at random looks for none. Else it
//! is the lowest one, which is looked for leaf by leaf.
//!
//! Invariant: no slot below [`FreeSlots::lowest`] is free, but perhaps [`FreeSlots::freed`].

use norn_flash::Nor;
use norn_heap::{Listener, StoreError};

use crate::format::{Entry, Owner};
use crate::map::{Map, next_generation};
use crate::units::UnitRows;

/// The first slot of objects; the one before is that of the first directory of roots.
const FIRST: u16 = 1;

/// What is known of free slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeSlots {
    /// The lowest one that may be free; 0 where none is.
    lowest: u16,
    /// The one that was freed last, unless it was given since; 0 where there is none.
    freed: u16,
}

impl FreeSlots {
    pub(crate) const UNKNOWN: FreeSlots = FreeSlots::from(FIRST);

    /// Slots are looked for from this one on.
    pub(crate) const fn from(slot: u16) -> FreeSlots {
        FreeSlots { lowest: slot, freed: 0 }
    }

    pub(crate) fn take(&mut self, slot: u16) {
        if slot == self.lowest {
            self.lowest = slot.wrapping_add(1);
        }
        if slot == self.freed {
            self.freed = 0;
        }
    }

    pub(crate) fn free(&mut self, slot: u16) {
        let lowest = if self.lowest == 0 { slot } else { self.lowest.min(slot) };
        *self = FreeSlots { lowest, freed: slot };
    }

    /// A slot that leads nowhere, and the generation of its next object; `None` where there is none.
    ///
    /// Cost: as [`find_lowest`](Self::find_lowest); a look-up more, and that alone where a slot was freed last.
    pub(crate) fn find<D: Nor, M: UnitRows, L: Listener>(
        &mut self,
        map: &mut Map<D, M, L>,
    ) -> Result<Option<(u16, u16)>, StoreError<D::Error>> {
        if self.freed > 0
            && let Entry::Nowhere(last) = map.lookup(Owner::object(self.freed))?
        {
            return Ok(Some((self.freed, next_generation(last))));
        }
        self.freed = 0;
        self.find_lowest(map)
    }

    /// The lowest slot that leads nowhere, and the generation of its next object.
    ///
    /// Cost: as [`Map::free_slot`].
    pub(crate) fn find_lowest<D: Nor, M: UnitRows, L: Listener>(
        &mut self,
        map: &mut Map<D, M, L>,
    ) -> Result<Option<(u16, u16)>, StoreError<D::Error>> {
        let found = match self.lowest {
            0 => None,
            from => map.free_slot(from)?,
        };
        self.lowest = found.map_or(0, |(slot, _)| slot);
        Ok(found.map(|(slot, last)| (slot, next_generation(last))))
    }
}
