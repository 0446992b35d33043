//! The unit table: what RAM knows of each erase unit, eight bytes a unit, in memory that the caller gives.
//!
//! Each unit also carries a mark, which stays when its role changes: see `marks.rs`.
//!
//! Invariants: the homes of logical units and the roles of the units are inverse to each other; a unit's room and
//! obsolete space are those of its descriptors on flash.

use core::fmt;
use core::mem::size_of;

use norn_flash::{EraseUnit, NorPart};

use crate::pointer::{LogicalUnit, SectorPtr};

const NOWHERE: u16 = u16::MAX;

/// What a physical unit serves for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Erased and ready.
    Free,
    /// Part of the log.
    Log,
    /// Holds sectors.
    Data(LogicalUnit),
    /// Holds scratch bits that are not in use: free after an erase.
    Scratch,
    /// Holds scratch bits in use.
    ScratchInUse,
    /// In between: being filled by a reclamation, or waiting to be erased.
    Busy,
}

/// What the store keeps in RAM of one erase unit. A store takes a slice of them from its caller, one for each unit of
/// the part, and is the only one to look into them.
///
/// Rows may hold anything when they are given: the store overwrites them before it reads them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct UnitRow {
    /// The unit's role; the top bit is its mark.
    role: u16,
    gap_granules: u16,
    obsolete_granules: u16,
    /// Where the logical unit is whose number is this row's and 1.
    home: u16,
}

const _: () = assert!(size_of::<UnitRow>() == 8, "eight bytes a unit");

impl UnitRow {
    /// A row to make an array of.
    pub const UNUSED: UnitRow = UnitRow { role: BUSY, gap_granules: 0, obsolete_granules: 0, home: NOWHERE };

    /// How many rows a store on `part` needs: one for each erase unit.
    ///
    /// ```
    /// # use norn_flash_sim::catalogue;
    /// use norn_nor_store::UnitRow;
    ///
    /// let mut rows = vec![UnitRow::UNUSED; UnitRow::count_for(&catalogue::tinystore().part)];
    /// assert_eq!(size_of_val(&rows[..]), 8 * 56);
    /// # rows.clear();
    /// ```
    pub const fn count_for(part: &NorPart) -> usize {
        part.unit_count as usize
    }
}

impl fmt::Debug for UnitRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnitRow").finish_non_exhaustive()
    }
}

/// Memory for a store's [`UnitRow`]s: an array, a slice that the caller lends, or a `Vec`.
pub trait UnitRows: AsRef<[UnitRow]> + AsMut<[UnitRow]> {}

impl<M: AsRef<[UnitRow]> + AsMut<[UnitRow]>> UnitRows for M {}

const FREE: u16 = 0;
const LOG: u16 = 0x7FFF;
const BUSY: u16 = 0x7FFE;
const SCRATCH: u16 = 0x7FFD;
const SCRATCH_IN_USE: u16 = 0x7FFC;
const MARK: u16 = 0x8000;

const _: () = assert!(SectorPtr::UNIT_MAX < SCRATCH_IN_USE, "logical numbers and other roles differ");

/// Role, room and obsolete space of every physical unit, and where every logical unit is.
#[derive(Clone, Debug)]
pub(crate) struct UnitTable<M> {
    rows: M,
    count: u16,
}

impl<M: UnitRows> UnitTable<M> {
    /// A table of no units.
    pub(super) fn new(mut rows: M) -> Self {
        rows.as_mut().fill(UnitRow::UNUSED);
        UnitTable { rows, count: 0 }
    }

    /// Of how many units it can be a table.
    pub(super) fn capacity(&self) -> usize {
        self.rows.as_ref().len()
    }

    /// Makes it a table of `count` units, all of them busy.
    pub(super) fn reset(&mut self, count: u16) {
        assert!(usize::from(count) <= self.capacity());
        self.rows.as_mut().fill(UnitRow::UNUSED);
        self.count = count;
    }

    fn row(&self, unit: EraseUnit) -> &UnitRow {
        &self.rows.as_ref()[usize::from(unit.0)]
    }

    fn row_mut(&mut self, unit: EraseUnit) -> &mut UnitRow {
        &mut self.rows.as_mut()[usize::from(unit.0)]
    }

    /// Where the home of a logical unit is kept.
    fn home_mut(&mut self, logical: LogicalUnit) -> &mut u16 {
        &mut self.rows.as_mut()[usize::from(logical.0) - 1].home
    }

    pub fn all(&self) -> impl Iterator<Item = EraseUnit> + use<M> {
        (0..self.count).map(EraseUnit)
    }

    pub fn role(&self, unit: EraseUnit) -> Role {
        match self.row(unit).role & !MARK {
            FREE => Role::Free,
            LOG => Role::Log,
            BUSY => Role::Busy,
            SCRATCH => Role::Scratch,
            SCRATCH_IN_USE => Role::ScratchInUse,
            logical => Role::Data(LogicalUnit(logical)),
        }
    }

    /// Gives `unit` a role. A data unit becomes the home of its logical number; room and obsolete space start at
    /// nothing.
    pub(super) fn set_role(&mut self, unit: EraseUnit, role: Role) {
        if let Role::Data(logical) = self.role(unit)
            && *self.home_mut(logical) == unit.0
        {
            *self.home_mut(logical) = NOWHERE;
        }
        let role = match role {
            Role::Free => FREE,
            Role::Log => LOG,
            Role::Busy => BUSY,
            Role::Scratch => SCRATCH,
            Role::ScratchInUse => SCRATCH_IN_USE,
            Role::Data(logical) => {
                *self.home_mut(logical) = unit.0;
                logical.0
            }
        };
        let row = self.row_mut(unit);
        (row.role, row.gap_granules, row.obsolete_granules) = (role | row.role & MARK, 0, 0);
    }

    pub fn is_marked(&self, unit: EraseUnit) -> bool {
        self.row(unit).role & MARK != 0
    }

    pub fn mark(&mut self, unit: EraseUnit) {
        self.row_mut(unit).role |= MARK;
    }

    pub fn clear_mark(&mut self, unit: EraseUnit) {
        self.row_mut(unit).role &= !MARK;
    }

    /// Where logical unit `logical` is.
    pub fn home(&self, logical: LogicalUnit) -> Option<EraseUnit> {
        let home = self.rows.as_ref().get(usize::from(logical.0).checked_sub(1)?)?.home;
        (home != NOWHERE).then_some(EraseUnit(home))
    }

    /// A logical number that no unit has. There is one whenever a unit is free.
    pub(super) fn unused_logical(&self) -> Option<LogicalUnit> {
        let rows = &self.rows.as_ref()[..usize::from(self.count)];
        let index = rows.iter().position(|row| row.home == NOWHERE)?;
        Some(LogicalUnit(index as u16 + 1))
    }

    pub fn count_of(&self, role: Role) -> u32 {
        self.all().filter(|&unit| self.role(unit) == role).count() as u32
    }

    /// Units that are free, or would be after an erase.
    pub fn available(&self) -> u32 {
        self.count_of(Role::Free) + self.count_of(Role::Scratch)
    }

    pub fn data(&self) -> impl Iterator<Item = EraseUnit> + '_ {
        self.all().filter(|&unit| matches!(self.role(unit), Role::Data(_)))
    }

    pub fn gap_granules(&self, unit: EraseUnit) -> u32 {
        u32::from(self.row(unit).gap_granules)
    }

    pub(super) fn set_gap_granules(&mut self, unit: EraseUnit, granules: u32) {
        self.row_mut(unit).gap_granules = granules as u16;
    }

    pub fn obsolete_granules(&self, unit: EraseUnit) -> u32 {
        u32::from(self.row(unit).obsolete_granules)
    }

    pub(super) fn set_obsolete_granules(&mut self, unit: EraseUnit, granules: u32) {
        self.row_mut(unit).obsolete_granules = granules as u16;
    }

    pub(super) fn add_obsolete_granules(&mut self, unit: EraseUnit, granules: u32) {
        let row = self.row_mut(unit);
        // Only damage makes sectors overlap; a unit is never more than wholly obsolete.
        row.obsolete_granules = row.obsolete_granules.saturating_add(granules as u16);
    }
}
