//! Sectors: chunks of variable size inside data units, found through descriptors, addressed by logical pointers.
//!
//! Descriptors grow up from the header, sectors down from the end; they never collide. A descriptor is one word that
//! checks itself; a sector is freed by clearing one bit of it. The first word of a sector of a chain is the link to the
//! next.
//!
//! Invariants: live and obsolete sectors of a unit are disjoint and lie between the descriptors and the unit's end; a
//! gap is erased.

use norn_flash::{Address, EraseUnit, Nor};

use super::log::Log;
use super::medium::{Medium, Target};
use super::table::{Role, UnitTable};
use crate::detection::ErrorDetection;
use crate::entry::{Entry, EntryState};
use crate::error::StoreError;
use crate::features::Features;
use crate::format::{DESCRIPTOR_LIVE, Descriptor, LINK_BYTES, Link, SectorKind, SectorPtr};
use crate::geometry::Geometry;
use crate::ground::table::UnitRows;

/// On a full part, replacing sectors leaves about this number of sectors for each unused descriptor.
const HOLES_PART: u32 = 8;

/// Where a sector is at the moment: valid until the next call that allocates.
#[derive(Clone, Copy, Debug)]
pub struct Sector {
    /// Its first byte.
    pub address: Address,
    /// Its size in bytes, rounded up to granules.
    pub bytes: u32,
    /// What it holds.
    pub kind: SectorKind,
    /// Whether it is allocated.
    pub live: bool,
}

/// How many descriptors all data units have, and how many of them are of live sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DescriptorCounts {
    pub descriptors: u32,
    pub live: u32,
}

impl DescriptorCounts {
    pub fn add(&mut self, survey: &UnitSurvey) {
        self.descriptors += u32::from(survey.descriptors);
        self.live += u32::from(survey.live);
    }

    /// Unused descriptors that are expected in addition to the present ones: each wastes a granule until it is used
    /// again.
    pub fn holes_to_come(self) -> u32 {
        (self.live / HOLES_PART).saturating_sub(self.descriptors.saturating_sub(self.live))
    }
}

/// What a walk over a unit's descriptors finds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnitSurvey {
    pub descriptors: u16,
    pub live: u16,
    pub first_erased: u16,
    pub low: u32,
    pub obsolete: u32,
}

/// The sectors of all data units.
#[derive(Clone, Debug)]
pub struct Sectors<D: Nor, M: UnitRows, F> {
    pub(crate) log: Log<D, M, F>,
    counts: DescriptorCounts,
}

impl<D: Nor, M: UnitRows, F: Features> Sectors<D, M, F> {
    pub(super) fn unused(device: D, rows: M) -> Self {
        Sectors { log: Log::unused(device, rows), counts: DescriptorCounts::default() }
    }

    pub(super) fn forget(&mut self) {
        self.counts = DescriptorCounts::default();
    }

    pub(super) fn counts(&self) -> DescriptorCounts {
        self.counts
    }

    /// Counts a descriptor array that has become longer.
    pub(super) fn count_descriptors(&mut self, more: u32) {
        self.counts.descriptors += more;
    }

    /// Counts a descriptor array that has become shorter.
    pub(super) fn discount_descriptors(&mut self, fewer: u32) {
        self.counts.descriptors = self.counts.descriptors.saturating_sub(fewer);
    }

    pub(super) fn medium(&mut self) -> &mut Medium<D, F> {
        &mut self.log.units.medium
    }

    pub(super) fn table(&self) -> &UnitTable<M> {
        &self.log.units.table
    }

    pub(super) fn table_mut(&mut self) -> &mut UnitTable<M> {
        &mut self.log.units.table
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        self.log.units.medium.geometry()
    }

    pub(crate) fn detection(&self) -> ErrorDetection {
        self.log.units.medium.detection()
    }

    pub(crate) fn detects(&self) -> bool {
        self.log.units.medium.detects()
    }

    /// Returns `Corrupted`, and remembers what is wrong at `address`: [`Store::corruption`](crate::Store::corruption)
    /// has it.
    ///
    /// # Errors
    /// Always.
    pub fn corrupted<T>(&mut self, address: Address, what: &'static str) -> Result<T, StoreError<D::Error>> {
        self.medium().corrupted(address, what)
    }

    /// Where the live sector `pointer` is. Cost: 1 word read.
    ///
    /// # Errors
    /// `Corrupted` when there is none.
    pub fn get(&mut self, pointer: SectorPtr) -> Result<Sector, StoreError<D::Error>> {
        match self.find(pointer)? {
            Some(sector) if sector.live => Ok(sector),
            _ => self.corrupted(self.place_of(pointer), "a pointer to no live sector"),
        }
    }

    /// Reads from a sector. Cost: the words touched.
    ///
    /// # Errors
    /// `Corrupted` when the range exceeds the sector.
    pub fn read(&mut self, sector: &Sector, offset: u32, buffer: &mut [u8]) -> Result<(), StoreError<D::Error>> {
        self.check_range(sector, offset, buffer.len())?;
        self.medium().read(sector.address.offset(offset), buffer)
    }

    /// Programs bytes of a sector: the caller clears bits only. Cost: the words touched.
    ///
    /// # Errors
    /// `Corrupted` when the range exceeds the sector.
    pub fn program(&mut self, sector: &Sector, offset: u32, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        self.check_range(sector, offset, bytes.len())?;
        self.medium().program(sector.address.offset(offset), bytes)
    }

    /// Programs bytes of a sector whose words are erased, except words that are to stay so. Cost: a word for each
    /// other one; parts with larger program units take fewer.
    ///
    /// # Errors
    /// `Corrupted` when the range exceeds the sector.
    pub fn program_new(&mut self, sector: &Sector, offset: u32, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        self.check_range(sector, offset, bytes.len())?;
        self.medium().program_new(sector.address.offset(offset), bytes, Target::Erased)
    }

    fn check_range(&mut self, sector: &Sector, offset: u32, len: usize) -> Result<(), StoreError<D::Error>> {
        match sector.bytes.checked_sub(offset) {
            Some(room) if len <= room as usize => Ok(()),
            _ => self.corrupted(sector.address, "a sector too small for what it should hold"),
        }
    }

    /// A word of a sector whose size the caller has checked.
    pub(crate) fn word(&mut self, sector: &Sector, offset: u32) -> Result<u32, StoreError<D::Error>> {
        self.medium().read_word(sector.address.offset(offset))
    }

    /// What follows `sector` in its chain. Cost: 1 word read.
    ///
    /// # Errors
    /// The device's, and `Corrupted`.
    pub fn link(&mut self, sector: &Sector) -> Result<Link, StoreError<D::Error>> {
        let word = self.link_word(sector)?;
        if self.is_damaged_link(word) {
            return self.corrupted(sector.address, "a damaged link");
        }
        Ok(Link::decode(word))
    }

    /// The first word of a sector, be it a whole link or not.
    #[inline(never)]
    pub(crate) fn link_word(&mut self, sector: &Sector) -> Result<u32, StoreError<D::Error>> {
        let mut bytes = [0; LINK_BYTES as usize];
        self.read(sector, 0, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Whether a word that is no link is damage: recovery makes torn ones void.
    pub(crate) fn is_damaged_link(&self, word: u32) -> bool {
        self.detects() && Link::decode(word) == Link::Void && !Link::is_marked_void(word)
    }

    /// Whether a word that is no descriptor is damage.
    fn is_damaged_descriptor(&self, word: u32) -> bool {
        self.detects() && Descriptor::decode(word) == Descriptor::Void && !Descriptor::is_marked_void(word)
    }

    /// The address to name in an error about `pointer`: its descriptor's, or the part's end when its unit is nowhere.
    pub fn place_of(&self, pointer: SectorPtr) -> Address {
        match self.table().home(pointer.unit()) {
            Some(unit) => self.geometry().descriptor_address(unit, pointer.sector()),
            None => Address(self.geometry().part.size_bytes()),
        }
    }

    /// The sector with this number, live or obsolete; `None` where its descriptor is erased, void or out of the unit.
    pub(crate) fn find(&mut self, pointer: SectorPtr) -> Result<Option<Sector>, StoreError<D::Error>> {
        let Some(unit) = self.table().home(pointer.unit()) else {
            return Ok(None);
        };
        let low = self.geometry().low_granules(u32::from(pointer.sector()) + 1);
        if low > self.geometry().unit_granules {
            return Ok(None);
        }
        let address = self.geometry().descriptor_address(unit, pointer.sector());
        let Descriptor::Sector { offset, granules, kind, live } = Descriptor::decode(self.medium().read_word(address)?)
        else {
            return Ok(None);
        };
        if u32::from(offset) < low || u32::from(offset) + u32::from(granules) > self.geometry().unit_granules {
            return self.corrupted(address, "a descriptor of a sector outside its unit");
        }
        let geometry = self.geometry();
        Ok(Some(Sector {
            address: geometry.part.start_of(unit).offset(u32::from(offset) * geometry.granule_bytes),
            bytes: u32::from(granules) * geometry.granule_bytes,
            kind,
            live,
        }))
    }

    /// Makes a sector obsolete; nothing where it is already, or was never described.
    pub(crate) fn free(&mut self, pointer: SectorPtr) -> Result<(), StoreError<D::Error>> {
        let Some(sector) = self.find(pointer)? else {
            return Ok(());
        };
        if !sector.live {
            return Ok(());
        }
        let address = self.place_of(pointer);
        let word = self.medium().read_word(address)? & !DESCRIPTOR_LIVE;
        self.medium().program(address.offset(3), &[(word >> 24) as u8])?;
        if let Some(unit) = self.table().home(pointer.unit()) {
            let granules = self.geometry().granules(sector.bytes);
            self.table_mut().add_obsolete_granules(unit, granules);
        }
        self.counts.live = self.counts.live.saturating_sub(1);
        Ok(())
    }

    /// Makes a descriptor that a power cut may have torn void, or frees the sector that it describes.
    pub(crate) fn void_or_free(&mut self, pointer: SectorPtr) -> Result<(), StoreError<D::Error>> {
        if self.detects() && self.table().home(pointer.unit()).is_some() && self.find(pointer)?.is_none() {
            let address = self.place_of(pointer);
            let word = self.medium().read_word(address)?;
            if Descriptor::decode(word) == Descriptor::Void {
                return self.clear_upper_bit(address, word);
            }
        }
        self.free(pointer)
    }

    /// Makes a link void that a power cut has torn. What it was to lead to holds nothing then.
    pub(crate) fn void_link(&mut self, sector: &Sector, new: SectorPtr) -> Result<(), StoreError<D::Error>> {
        if let Some(new) = self.find(new)?
            && let Some(address) = self.first_programmed_of(&new)?
        {
            return self.corrupted(address, "data in a sector whose link is torn");
        }
        let word = self.link_word(sector)?;
        self.clear_upper_bit(sector.address, word)
    }

    /// Nothing where that was done before: a mount that finds the same last entry comes here again.
    fn clear_upper_bit(&mut self, address: Address, word: u32) -> Result<(), StoreError<D::Error>> {
        if word >> 31 == 0 {
            return Ok(());
        }
        self.medium().program(address.offset(3), &[(word >> 24) as u8 & 0x7F])
    }

    /// The first word of a sector that is not erased.
    fn first_programmed_of(&mut self, sector: &Sector) -> Result<Option<Address>, StoreError<D::Error>> {
        let part = self.geometry().part;
        let unit = part.unit_of(sector.address);
        let offset = sector.address.0 - part.start_of(unit).0;
        self.medium().first_programmed(unit, offset, offset + sector.bytes)
    }

    /// Programs the word that describes a sector: from here on it is live.
    pub(super) fn describe(&mut self, pointer: SectorPtr, word: u32) -> Result<(), StoreError<D::Error>> {
        let address = self.place_of(pointer);
        self.medium().program_word(address, word)?;
        self.counts.live += 1;
        if self.detects() {
            let sector = self.get(pointer)?;
            if let Some(address) = self.first_programmed_of(&sector)? {
                // The sector is obsolete when this is undone, and the place is erased with its unit.
                return self.corrupted(address, "unused space that is not erased");
            }
        }
        Ok(())
    }

    /// Walks the descriptors of a data unit. Cost: 1 word read a descriptor, and the assignment.
    pub(super) fn survey(&mut self, unit: EraseUnit) -> Result<UnitSurvey, StoreError<D::Error>> {
        let EntryState::Whole(Entry::DataUnit { descriptors: sparse, .. }) = self.log.units.assignment(unit)? else {
            let address = self.geometry().part.start_of(unit);
            return self.corrupted(address, "a data unit without an assignment");
        };
        let mut survey = UnitSurvey { low: self.geometry().unit_granules, ..UnitSurvey::default() };
        let mut first_erased = None;
        loop {
            let index = survey.descriptors;
            let bottom = self.geometry().low_granules(u32::from(index) + 1);
            if bottom > survey.low || index > SectorPtr::SECTOR_MAX {
                break;
            }
            let address = self.geometry().descriptor_address(unit, index);
            let word = self.medium().read_word(address)?;
            match Descriptor::decode(word) {
                Descriptor::Erased if index >= sparse => break,
                Descriptor::Erased => first_erased = first_erased.or(Some(index)),
                Descriptor::Void if self.is_damaged_descriptor(word) => {
                    return self.corrupted(address, "a damaged descriptor");
                }
                Descriptor::Void => {}
                Descriptor::Sector { offset, granules, live, .. } => {
                    let (offset, granules) = (u32::from(offset), u32::from(granules));
                    if granules == 0 || offset < bottom || offset + granules > self.geometry().unit_granules {
                        return self.corrupted(address, "a descriptor of a sector outside its unit");
                    }
                    survey.low = survey.low.min(offset);
                    survey.obsolete += if live { 0 } else { granules };
                    survey.live += u16::from(live);
                }
            }
            survey.descriptors += 1;
        }
        survey.first_erased = first_erased.unwrap_or(survey.descriptors);
        Ok(survey)
    }

    /// Brings the counts, and the unit table's rows of all data units, in line with their descriptors.
    pub(crate) fn tally(&mut self) -> Result<(), StoreError<D::Error>> {
        self.counts = DescriptorCounts::default();
        for unit in self.table().all() {
            if let Role::Data(_) = self.table().role(unit) {
                self.tally_unit(unit)?;
            }
        }
        Ok(())
    }

    fn tally_unit(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let survey = self.survey(unit)?;
        let top = self.geometry().low_granules(u32::from(survey.descriptors));
        if survey.low < top || survey.obsolete > self.geometry().unit_granules - survey.low {
            let address = self.geometry().part.start_of(unit);
            return self.corrupted(address, "descriptors and sectors of a unit collide");
        }
        self.table_mut().set_gap_granules(unit, survey.low - top);
        self.table_mut().set_obsolete_granules(unit, survey.obsolete);
        self.counts.add(&survey);
        Ok(())
    }
}
