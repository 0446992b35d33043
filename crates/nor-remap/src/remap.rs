//! The virtual part's state in RAM.
//!
//! Invariants: every virtual unit has one home; nothing in RAM is the only copy of anything.

use norn_flash::{EraseUnit, Guard, Nor};

use crate::format::Representation;
use crate::hints::Hints;
use crate::homes::{Homes, RemapRows};
use crate::layout::Layout;

/// How to lay out a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemapConfig {
    /// Units beyond the virtual ones: at least 1, which every erase and every move goes to; each further one replaces a
    /// unit that fails.
    pub spare_units: u16,
}

/// The unit that the next move or erase goes to: erased wholly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spare {
    pub unit: EraseUnit,
    pub erase_count: u32,
}

/// A part without limits, on a NOR part that has some. The table of homes is in memory `M` that the caller gives: an
/// array, a slice or a `Vec` of at least as many rows as [`RemapRow::count_for`](crate::RemapRow::count_for) returns.
/// [`Remap`](crate::Remap) holds an array itself.
///
/// RAM: four bytes for each erase unit, which are the caller's, and about 160 besides them and the device.
///
/// After a call that failed because the device did not answer, programs and erases say
/// [`RemapError::Halted`](crate::RemapError::Halted) until the device is mounted again, or in place by
/// [`restart`](Nor::restart), as a heap's `remount` does.
#[derive(Clone, Debug)]
pub struct RemapIn<D: Nor, M: RemapRows> {
    /// Halts when the device does not answer; one unit's failure is no reason, so that calls are made unguarded.
    pub(crate) guard: Guard<D>,
    pub(crate) layout: Layout,
    pub(crate) homes: Homes<M>,
    /// The home with the highest generation, whose header names the spare.
    pub(crate) newest: EraseUnit,
    pub(crate) generation: u32,
    /// The next place for a state in the newest home.
    pub(crate) next_state: u32,
    /// Whether the last state there says that a spare is ready.
    pub(crate) says_ready: bool,
    pub(crate) spare: Option<Spare>,
    pub(crate) hints: Hints,
}

impl<D: Nor, M: RemapRows> RemapIn<D, M> {
    /// The device below.
    pub fn device(&self) -> &D {
        self.guard.device()
    }

    /// The device below, for what does not change the part's contents.
    pub fn device_mut(&mut self) -> &mut D {
        self.guard.device_mut()
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.guard.into_device()
    }

    /// The physical unit where a virtual one is. Cost: RAM only.
    pub fn home(&self, unit: EraseUnit) -> Option<EraseUnit> {
        (unit.0 < self.virtual_units()).then(|| self.homes.home(unit))
    }

    /// Delta records that a virtual unit has, and how many it may have before it is switched. Cost: RAM only.
    pub fn deltas(&self, unit: EraseUnit) -> (u32, u32) {
        let records = if unit.0 < self.virtual_units() { self.homes.records(unit) } else { 0 };
        (u32::from(records), self.layout.places_max())
    }

    /// The unit that the next erase or move goes to; `None` when every spare has been retired. Cost: RAM only.
    pub fn spare(&self) -> Option<EraseUnit> {
        self.spare.map(|spare| spare.unit)
    }

    /// Units that are retired, as far as that is known since mounting. Cost: RAM only.
    pub fn retired_units(&self) -> impl Iterator<Item = EraseUnit> + '_ {
        (0..self.layout.part.unit_count).map(EraseUnit).filter(|&unit| self.is_retired(unit))
    }

    /// How virtual units lie in physical ones.
    pub fn representation(&self) -> Representation {
        self.layout.representation
    }

    pub(crate) fn is_retired(&self, unit: EraseUnit) -> bool {
        self.homes.is_retired(unit)
    }

    pub(crate) fn virtual_units(&self) -> u16 {
        self.layout.part.unit_count - self.layout.spare_units
    }

    pub(crate) fn is_home(&self, unit: EraseUnit) -> bool {
        self.homes.is_home(unit, self.virtual_units())
    }
}
