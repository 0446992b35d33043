//! The unit table: what RAM knows of each erase unit, eight bytes a unit.
//!
//! Each unit also carries a mark, which stays when its role changes: see `marks.rs`.
//!
//! Invariants: `by_logical` and the roles of the units are inverse to each other; a unit's room and obsolete space are
//! those of its descriptors on flash.

use norn_flash::EraseUnit;

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
    /// Holds scratch bits that nobody needs: as good as free, after an erase.
    Scratch,
    /// Holds scratch bits in use.
    ScratchInUse,
    /// In between: being filled by a reclamation, or waiting to be erased.
    Busy,
}

/// One row of the table: six of the eight bytes. The top bit of the role is the unit's mark.
#[derive(Clone, Copy, Debug)]
struct Row {
    role: u16,
    gap_granules: u16,
    obsolete_granules: u16,
}

const FREE: u16 = 0;
const LOG: u16 = 0x7FFF;
const BUSY: u16 = 0x7FFE;
const SCRATCH: u16 = 0x7FFD;
const SCRATCH_IN_USE: u16 = 0x7FFC;
const MARK: u16 = 0x8000;

const _: () = assert!(SectorPtr::UNIT_MAX < SCRATCH_IN_USE, "logical numbers and other roles differ");

/// Role, room and obsolete space of every physical unit, and where every logical unit is.
#[derive(Clone, Debug)]
pub(crate) struct UnitTable<const UNITS: usize> {
    rows: [Row; UNITS],
    by_logical: [u16; UNITS],
    count: u16,
}

impl<const UNITS: usize> UnitTable<UNITS> {
    /// A table of no units.
    pub(super) fn new() -> Self {
        let row = Row { role: BUSY, gap_granules: 0, obsolete_granules: 0 };
        UnitTable { rows: [row; UNITS], by_logical: [NOWHERE; UNITS], count: 0 }
    }

    /// Makes it a table of `count` units, all of them busy.
    pub(super) fn reset(&mut self, count: u16) {
        assert!(usize::from(count) <= UNITS);
        self.rows.fill(Row { role: BUSY, gap_granules: 0, obsolete_granules: 0 });
        self.by_logical.fill(NOWHERE);
        self.count = count;
    }

    pub fn all(&self) -> impl Iterator<Item = EraseUnit> + use<UNITS> {
        (0..self.count).map(EraseUnit)
    }

    pub fn role(&self, unit: EraseUnit) -> Role {
        match self.rows[usize::from(unit.0)].role & !MARK {
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
            && self.by_logical[usize::from(logical.0) - 1] == unit.0
        {
            self.by_logical[usize::from(logical.0) - 1] = NOWHERE;
        }
        let role = match role {
            Role::Free => FREE,
            Role::Log => LOG,
            Role::Busy => BUSY,
            Role::Scratch => SCRATCH,
            Role::ScratchInUse => SCRATCH_IN_USE,
            Role::Data(logical) => {
                self.by_logical[usize::from(logical.0) - 1] = unit.0;
                logical.0
            }
        };
        let row = &mut self.rows[usize::from(unit.0)];
        *row = Row { role: role | row.role & MARK, gap_granules: 0, obsolete_granules: 0 };
    }

    pub fn is_marked(&self, unit: EraseUnit) -> bool {
        self.rows[usize::from(unit.0)].role & MARK != 0
    }

    pub fn mark(&mut self, unit: EraseUnit) {
        self.rows[usize::from(unit.0)].role |= MARK;
    }

    pub fn clear_mark(&mut self, unit: EraseUnit) {
        self.rows[usize::from(unit.0)].role &= !MARK;
    }

    /// Where logical unit `logical` is.
    pub fn home(&self, logical: LogicalUnit) -> Option<EraseUnit> {
        let home = *self.by_logical.get(usize::from(logical.0).checked_sub(1)?)?;
        (home != NOWHERE).then_some(EraseUnit(home))
    }

    /// A logical number that no unit has. There is one whenever a unit is free.
    pub(super) fn unused_logical(&self) -> Option<LogicalUnit> {
        let index = self.by_logical[..usize::from(self.count)].iter().position(|&home| home == NOWHERE)?;
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
        u32::from(self.rows[usize::from(unit.0)].gap_granules)
    }

    pub(super) fn set_gap_granules(&mut self, unit: EraseUnit, granules: u32) {
        self.rows[usize::from(unit.0)].gap_granules = granules as u16;
    }

    pub fn obsolete_granules(&self, unit: EraseUnit) -> u32 {
        u32::from(self.rows[usize::from(unit.0)].obsolete_granules)
    }

    pub(super) fn set_obsolete_granules(&mut self, unit: EraseUnit, granules: u32) {
        self.rows[usize::from(unit.0)].obsolete_granules = granules as u16;
    }

    pub(super) fn add_obsolete_granules(&mut self, unit: EraseUnit, granules: u32) {
        let row = &mut self.rows[usize::from(unit.0)];
        // Only damage makes sectors overlap; a unit is never more than wholly obsolete.
        row.obsolete_granules = row.obsolete_granules.saturating_add(granules as u16);
    }
}
