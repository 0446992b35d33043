//! The table of homes: where each virtual unit is, how full its home's table is, and which physical units failed; four
//! bytes a unit, in memory that the caller gives.
//!
//! Invariants: between calls every virtual unit has one home, which has not failed; the count of a home's delta records
//! is at least that of the places in use on flash.

use core::fmt;
use core::mem::size_of;

use norn_flash::{EraseUnit, NorPart};

const NOWHERE: u16 = u16::MAX;

/// What a [`RemapIn`](crate::RemapIn) keeps in RAM of one erase unit. It takes a slice of them from its caller, one for
/// each unit of the part, and is the only one to look into them.
///
/// Rows may hold anything when they are given: they are overwritten before they are read.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RemapRow {
    /// Where the virtual unit of this row's number is.
    home: u16,
    /// Places of that home's table that are in use. The top bit says that the physical unit of this row's number
    /// failed.
    records: u16,
}

const _: () = assert!(size_of::<RemapRow>() == 4, "four bytes a unit");

const RETIRED: u16 = 0x8000;

/// The highest count of delta records, which no layout has places for.
pub(crate) const RECORDS_MAX: u16 = RETIRED - 1;

impl RemapRow {
    /// A row to make an array of.
    pub const UNUSED: RemapRow = RemapRow { home: NOWHERE, records: 0 };

    /// How many rows a [`RemapIn`](crate::RemapIn) on `part` needs: one for each erase unit.
    ///
    /// ```
    /// # use norn_flash_sim::catalogue;
    /// use norn_nor_remap::RemapRow;
    ///
    /// let mut rows = vec![RemapRow::UNUSED; RemapRow::count_for(&catalogue::stm32l4().part)];
    /// assert_eq!(size_of_val(&rows[..]), 4 * 256);
    /// # rows.clear();
    /// ```
    pub const fn count_for(part: &NorPart) -> usize {
        part.unit_count as usize
    }
}

impl fmt::Debug for RemapRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemapRow").finish_non_exhaustive()
    }
}

/// Memory for the [`RemapRow`]s of a [`RemapIn`](crate::RemapIn): an array, a slice that the caller lends, or a `Vec`.
pub trait RemapRows: AsRef<[RemapRow]> + AsMut<[RemapRow]> {}

impl<M: AsRef<[RemapRow]> + AsMut<[RemapRow]>> RemapRows for M {}

/// Home and delta records of every virtual unit, and the physical units that failed.
#[derive(Clone, Debug)]
pub(crate) struct Homes<M> {
    rows: M,
}

impl<M: RemapRows> Homes<M> {
    /// A table of no homes.
    pub fn new(rows: M) -> Self {
        let mut homes = Homes { rows };
        homes.forget();
        homes
    }

    /// Forgets all homes and failures.
    pub fn forget(&mut self) {
        self.rows.as_mut().fill(RemapRow::UNUSED);
    }

    fn row(&self, unit: EraseUnit) -> &RemapRow {
        &self.rows.as_ref()[usize::from(unit.0)]
    }

    fn row_mut(&mut self, unit: EraseUnit) -> &mut RemapRow {
        &mut self.rows.as_mut()[usize::from(unit.0)]
    }

    /// Where a virtual unit of a mounted part is.
    pub fn home(&self, unit: EraseUnit) -> EraseUnit {
        EraseUnit(self.row(unit).home)
    }

    /// Where a virtual unit is; `None` while no home of it has been found.
    pub fn found(&self, unit: EraseUnit) -> Option<EraseUnit> {
        Some(self.home(unit)).filter(|home| home.0 != NOWHERE)
    }

    /// Whether a physical unit is the home of one of the first `count` virtual units.
    pub fn is_home(&self, unit: EraseUnit, count: u16) -> bool {
        self.rows.as_ref()[..usize::from(count)].iter().any(|row| row.home == unit.0)
    }

    /// Makes `home` the home of a virtual unit, without delta records.
    pub fn set(&mut self, unit: EraseUnit, home: EraseUnit) {
        self.row_mut(unit).home = home.0;
        self.set_records(unit, 0);
    }

    /// Places that are in use in the table of a virtual unit's home.
    pub fn records(&self, unit: EraseUnit) -> u16 {
        self.row(unit).records & !RETIRED
    }

    /// Sets how many places are in use.
    pub fn set_records(&mut self, unit: EraseUnit, count: u16) {
        debug_assert!(count <= RECORDS_MAX);
        let row = self.row_mut(unit);
        row.records = row.records & RETIRED | count;
    }

    pub fn is_retired(&self, unit: EraseUnit) -> bool {
        self.row(unit).records & RETIRED != 0
    }

    pub fn retire(&mut self, unit: EraseUnit) {
        self.row_mut(unit).records |= RETIRED;
    }
}
