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
    free: u32,
    /// The largest sequence number so far.
    newest: u32,
    /// Whether a call ended after it had counted sectors to which the map does not lead.
    pub(crate) has_lost_count: bool,
}

impl<D: Nor, M: UnitRows> Units<D, M> {
    pub(crate) const fn new(medium: Medium<D>, rows: M) -> Self {
        Units { medium, rows, live: 0, sectors: 0, free: 0, newest: 0, has_lost_count: false }
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
        self.free = u32::from(self.medium.geometry().unit_count);
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
        self.free
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
        self.free -= u32::from(self.is_free(unit));
        change(&mut self.rows.as_mut()[usize::from(unit.0)]);
        self.free += u32::from(self.is_free(unit));
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

    /// The free unit with the fewest erases. Reads the head of each.
    pub(crate) fn least_worn_free(&mut self) -> Result<Option<EraseUnit>, StoreError<D::Error>> {
        let mut least: Option<(u32, EraseUnit)> = None;
        for unit in self.all() {
            if self.is_free(unit) {
                let erases = self.head(unit)?.map_or(0, |head| head.erases);
                if least.is_none_or(|(fewest, _)| erases < fewest) {
                    least = Some((erases, unit));
                }
            }
        }
        Ok(least.map(|(_, unit)| unit))
    }

    /// Erases a unit and programs its head. Where there is no head, because the unit is new
    /// or a cut left none, its erases are taken to be the mean of those that are known.
    pub(crate) fn open(&mut self, unit: EraseUnit, stream: Stream) -> Result<(), StoreError<D::Error>> {
        let erases = match self.head(unit)? {
            Some(head) => head.erases,
            None => self.erases_mean()?,
        };
        self.medium.erase(unit)?;
        self.newest += 1;
        let geometry = self.geometry();
        let detection = geometry.detection;
        let head = UnitHead { sequence: self.newest, erases: erases + 1, stream, detection };
        let bytes: [u8; GRANULE_BYTES_MAX] = head.encode(&geometry);
        self.medium.program(geometry.start(unit), &bytes[..(geometry.head() * geometry.granule_bytes) as usize])
    }

    /// The mean of the erases that are known, rounded down.
    fn erases_mean(&mut self) -> Result<u32, StoreError<D::Error>> {
        let (mut least, mut above, mut count) = (u32::MAX, 0u32, 0);
        for unit in self.all() {
            if let Some(head) = self.head(unit)? {
                // The sum is that of the least for each unit, and what others have above it.
                let lower = head.erases.min(least);
                above = above.saturating_add(head.erases - lower).saturating_add((least - lower).saturating_mul(count));
                (least, count) = (lower, count + 1);
            }
        }
        Ok(above.checked_div(count).map_or(0, |mean| least.saturating_add(mean)))
    }
}
