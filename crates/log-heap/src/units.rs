//! Erase units: what each is used for, and how much of it is live.
//!
//! A unit is used only after an erase in the call that opens it: nothing ever has to be known to be erased. So a unit
//! whose erase or head a cut tore is like any other that holds nothing live.
//!
//! Invariants: a row counts the granules of the sectors in its unit that the map leads to; `live` is their sum; no two
//! units have the same sequence number; `free` is the number of units for which `is_free` holds.

use norn_flash::{EraseUnit, Nor};
use norn_heap::StoreError;

use crate::format::{GRANULE_BYTES_MAX, Geometry, Granule, Stream, UNIT_HEAD_BYTES, UnitHead};
use crate::medium::Medium;

/// Free units among which the least worn is looked for, if none of the others is known to be less worn.
const FREE_LOOKED_AT: u16 = 32;

/// What RAM holds of an erase unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct UnitRow {
    live: u16,
    role: Role,
}

/// What a unit is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Role {
    /// It holds sectors, or nothing that is needed.
    Filled,
    /// Sectors are appended to it.
    Open,
    /// It is the log's, now or next.
    Log,
}

impl UnitRow {
    /// A row before mounting, which overwrites it.
    pub const UNUSED: UnitRow = UnitRow { live: 0, role: Role::Filled };

    /// Rows that a heap on `part` needs: one for each erase unit.
    pub const fn count_for(part: &norn_flash::NorPart) -> usize {
        part.unit_count as usize
    }
}

/// Memory for the unit table: an array, a slice that is lent, a `Vec`.
pub trait UnitRows: AsRef<[UnitRow]> + AsMut<[UnitRow]> {}

impl<M: AsRef<[UnitRow]> + AsMut<[UnitRow]>> UnitRows for M {}

/// The unit table, above the device.
#[derive(Clone, Debug)]
pub(crate) struct Units<D, M> {
    pub(crate) medium: Medium<D>,
    rows: M,
    live: u32,
    /// Live sectors of the part.
    sectors: u32,
    free: u16,
    /// Where the next search for a free unit begins.
    next_free: u16,
    /// The fewest erases of a free unit when all were looked at last.
    fewest_erases: u16,
    /// The largest sequence number so far.
    newest: u32,
    /// Whether a call ended after it had counted sectors to which the map does not lead.
    pub(crate) has_lost_count: bool,
}

impl<D: Nor, M: UnitRows> Units<D, M> {
    pub(crate) const fn new(medium: Medium<D>, rows: M) -> Self {
        Units {
            medium,
            rows,
            live: 0,
            sectors: 0,
            free: 0,
            next_free: 0,
            fewest_erases: 0,
            newest: 0,
            has_lost_count: false,
        }
    }

    pub(crate) fn rows_given(&self) -> usize {
        self.rows.as_ref().len()
    }

    pub(crate) fn geometry(&self) -> Geometry {
        *self.medium.geometry()
    }

    /// All units of the part.
    pub(crate) fn all(&self) -> impl Iterator<Item = EraseUnit> + use<D, M> {
        (0..self.medium.geometry().unit_count).map(EraseUnit)
    }

    /// Forgets everything: no unit has anything live or any role.
    pub(crate) fn clear(&mut self, newest: u32) {
        self.rows.as_mut().fill(UnitRow::UNUSED);
        (self.live, self.sectors, self.newest, self.has_lost_count) = (0, 0, newest, false);
        (self.free, self.next_free, self.fewest_erases) = (self.medium.geometry().unit_count, 0, 0);
    }

    /// Forgets what is live, but no role.
    pub(crate) fn clear_live(&mut self) {
        for unit in self.all() {
            self.change(unit, |row| row.live = 0);
        }
        (self.live, self.sectors) = (0, 0);
    }

    pub(crate) fn role(&self, unit: EraseUnit) -> Role {
        self.rows.as_ref()[usize::from(unit.0)].role
    }

    pub(crate) fn set_role(&mut self, unit: EraseUnit, role: Role) {
        self.change(unit, |row| row.role = role);
    }

    /// Live granules of a unit.
    pub(crate) fn live_in(&self, unit: EraseUnit) -> u32 {
        u32::from(self.rows.as_ref()[usize::from(unit.0)].live)
    }

    /// Live granules of the part.
    pub(crate) const fn live(&self) -> u32 {
        self.live
    }

    /// Live sectors of the part.
    pub(crate) const fn sectors(&self) -> u32 {
        self.sectors
    }

    /// Whether a unit may be erased and used.
    pub(crate) fn is_free(&self, unit: EraseUnit) -> bool {
        self.role(unit) == Role::Filled && self.live_in(unit) == 0
    }

    /// Number of units that may be erased and used.
    pub(crate) const fn free_count(&self) -> u32 {
        self.free as u32
    }

    /// Counts a sector as live.
    pub(crate) fn add_live(&mut self, sector: Granule, granules: u32) {
        let unit = self.medium.geometry().unit_of(sector);
        self.change(unit, |row| row.live += granules as u16);
        (self.live, self.sectors) = (self.live + granules, self.sectors + 1);
    }

    /// Counts a sector as dead.
    pub(crate) fn remove_live(&mut self, sector: Granule, granules: u32) {
        let unit = self.medium.geometry().unit_of(sector);
        self.change(unit, |row| row.live -= granules as u16);
        (self.live, self.sectors) = (self.live - granules, self.sectors - 1);
    }

    /// Counts all sectors of a unit as dead; so many were not yet.
    pub(crate) fn give_up(&mut self, unit: EraseUnit, sectors: u32) {
        let live = self.live_in(unit);
        self.change(unit, |row| row.live = 0);
        (self.live, self.sectors) = (self.live - live, self.sectors - sectors);
    }

    /// Changes a row, and with it the number of free units.
    fn change(&mut self, unit: EraseUnit, change: impl FnOnce(&mut UnitRow)) {
        self.free -= u16::from(self.is_free(unit));
        change(&mut self.rows.as_mut()[usize::from(unit.0)]);
        self.free += u16::from(self.is_free(unit));
    }

    /// The head of a unit, if it has one.
    pub(crate) fn head(&mut self, unit: EraseUnit) -> Result<Option<UnitHead>, StoreError<D::Error>> {
        let mut bytes = [0; UNIT_HEAD_BYTES as usize];
        let start = self.geometry().start(unit);
        self.medium.read(start, 0, &mut bytes)?;
        Ok(UnitHead::decode(&bytes, self.medium.geometry()))
    }

    /// The log's unit that was opened first.
    pub(crate) fn oldest_log(&mut self) -> Result<Option<EraseUnit>, StoreError<D::Error>> {
        let mut oldest: Option<(u32, EraseUnit)> = None;
        for unit in self.all() {
            if let Some(head) = self.head(unit)?.filter(|head| head.stream == Stream::Log)
                && oldest.is_none_or(|(sequence, _)| head.sequence < sequence)
            {
                oldest = Some((head.sequence, unit));
            }
        }
        Ok(oldest.map(|(_, unit)| unit))
    }

    /// The sequence number of the unit opened last.
    pub(crate) const fn newest(&self) -> u32 {
        self.newest
    }

    /// The free unit with the fewest erases, for a call that cannot go on without: what it has counted is lost then.
    ///
    /// # Errors
    /// `Full`.
    pub(crate) fn expect_free(&mut self) -> Result<EraseUnit, StoreError<D::Error>> {
        let least = self.least_worn_free()?;
        self.has_lost_count |= least.is_none();
        least.ok_or(StoreError::Full)
    }

    /// The least worn of the next free units after the one found last, if no free unit was less worn when all were
    /// looked at last; else the least worn of all. A unit that became free since then, and is still less worn, waits
    /// for the search to come by: on parts with few free units there is none.
    ///
    /// Cost: the heads of [`FREE_LOOKED_AT`] units, and now and then of each free one.
    pub(crate) fn least_worn_free(&mut self) -> Result<Option<EraseUnit>, StoreError<D::Error>> {
        let unit_count = self.medium.geometry().unit_count;
        let (mut least, mut fewest, mut looked_at) = (None, u32::MAX, 0);
        let mut number = self.next_free;
        for _ in 0..unit_count {
            if self.is_free(EraseUnit(number)) {
                let erases = self.head(EraseUnit(number))?.map_or(0, |head| head.erases);
                if erases < fewest {
                    (least, fewest) = (Some(EraseUnit(number)), erases);
                }
                looked_at += 1;
                if looked_at >= FREE_LOOKED_AT && fewest <= u32::from(self.fewest_erases) {
                    break;
                }
            }
            number = if number + 1 < unit_count { number + 1 } else { 0 };
        }
        if let Some(unit) = least {
            self.next_free = unit.0;
            // From 65,535 erases on, each search looks at all.
            self.fewest_erases = fewest.min(u16::MAX.into()) as u16;
        }
        Ok(least)
    }

    /// Erases a unit and programs its head. Where there is no head, because the unit is new or a cut left none, its
    /// erases are taken to be the mean of all: an erase came with each sequence number.
    pub(crate) fn open(&mut self, unit: EraseUnit, stream: Stream) -> Result<(), StoreError<D::Error>> {
        let erases = match self.head(unit)? {
            Some(head) => head.erases,
            None => self.newest / u32::from(self.medium.geometry().unit_count),
        };
        self.medium.erase(unit)?;
        self.newest += 1;
        let geometry = self.geometry();
        let detection = geometry.detection;
        let head = UnitHead { sequence: self.newest, erases: erases + 1, stream, detection };
        let bytes: [u8; GRANULE_BYTES_MAX] = head.encode(&geometry);
        self.medium.program(geometry.start(unit), &bytes[..(geometry.head() * geometry.granule_bytes) as usize])
    }
}
