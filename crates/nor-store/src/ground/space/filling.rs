//! The unit being filled: the next sectors are allocated in it.
//!
//! Unused descriptors are used again, the first one first; sectors are taken from the unit's end downwards.

use norn_flash::{EraseUnit, Nor};

use super::{Filling, SectorSpec, Space};
use crate::entry::Entry;
use crate::error::StoreError;
use crate::features::Features;
use crate::format::{Descriptor, ERASED_WORD, SectorPtr};
use crate::ground::table::Role;
use crate::ground::table::UnitRows;

/// A sector that has a place but no descriptor yet.
pub(super) struct Placed {
    pub pointer: SectorPtr,
    offset: u16,
    granules: u16,
}

impl<D: Nor, M: UnitRows, F: Features> Space<D, M, F> {
    /// Takes the next place in the unit being filled. `make_room` has made sure that there is one.
    pub(super) fn place(&mut self, spec: SectorSpec) -> Result<Placed, StoreError<D::Error>> {
        self.find_erased_descriptor()?;
        let granules = self.sectors.geometry().granules(spec.bytes);
        let Some(filling) = &mut self.filling else {
            return Err(StoreError::Full);
        };
        let (unit, index) = (filling.unit, filling.scan);
        let address = self.sectors.geometry().descriptor_address(unit, index);
        if self.sectors.detects() && self.sectors.medium().read_word(address)? != ERASED_WORD {
            self.filling = None; // To be surveyed again.
            return self.sectors.corrupted(address, "unused space that is not erased");
        }
        filling.scan += 1;
        self.sectors.count_descriptors(u32::from(filling.scan.saturating_sub(filling.descriptors)));
        filling.descriptors = filling.descriptors.max(filling.scan);
        filling.low -= granules;
        let pointer = SectorPtr::new(filling.logical, index);
        let (offset, filling) = (filling.low as u16, *filling);
        self.set_gap(&filling);
        Ok(Placed { pointer, offset, granules: granules as u16 })
    }

    /// Programs the descriptor of a sector that has its place.
    pub(super) fn describe(&mut self, placed: &Placed, spec: SectorSpec) -> Result<(), StoreError<D::Error>> {
        // The log may have moved on, but nothing was reclaimed since the sector was placed.
        let word = Descriptor::encode(placed.offset, placed.granules, spec.kind);
        self.sectors.describe(placed.pointer, word)
    }

    fn set_gap(&mut self, filling: &Filling) {
        let top = self.sectors.geometry().low_granules(u32::from(filling.descriptors));
        self.sectors.table_mut().set_gap_granules(filling.unit, filling.low.saturating_sub(top));
    }

    /// Moves the filled unit's scan to its next erased descriptor.
    fn find_erased_descriptor(&mut self) -> Result<(), StoreError<D::Error>> {
        let Some(mut filling) = self.filling else {
            return Ok(());
        };
        while filling.scan < filling.descriptors {
            let address = self.sectors.geometry().descriptor_address(filling.unit, filling.scan);
            if Descriptor::decode(self.sectors.medium().read_word(address)?) == Descriptor::Erased {
                break;
            }
            filling.scan += 1;
        }
        self.filling = Some(filling);
        Ok(())
    }

    /// Whether the unit being filled has `need` granules and descriptors for that many sectors.
    pub(super) fn filled_unit_fits(&mut self, need: u32, sectors: u32) -> Result<bool, StoreError<D::Error>> {
        self.find_erased_descriptor()?;
        let Some(filling) = self.filling else {
            return Ok(false);
        };
        let reused = u32::from(filling.scan < filling.descriptors);
        let descriptors = u32::from(filling.descriptors) + sectors - reused;
        Ok(descriptors <= u32::from(SectorPtr::SECTOR_MAX) + 1
            && self.sectors.geometry().low_granules(descriptors) + need <= filling.low)
    }

    /// Makes the busy, erased unit `unit` a data unit and the one being filled.
    pub(super) fn start_data_unit(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let Some(logical) = self.sectors.table().unused_logical() else {
            let address = self.sectors.geometry().part.start_of(unit);
            return self.sectors.corrupted(address, "no logical number left for a free unit");
        };
        self.sectors.log.units.assign(unit, Entry::DataUnit { logical, descriptors: 0 })?;
        self.sectors.table_mut().set_role(unit, Role::Data(logical));
        let low = self.sectors.geometry().unit_granules;
        let filling = Filling { unit, logical, scan: 0, descriptors: 0, low };
        self.set_gap(&filling);
        self.filling = Some(filling);
        Ok(())
    }

    /// Makes the data unit `unit` the one being filled. Cost: 1 word read a descriptor.
    pub(super) fn start_filling(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let Role::Data(logical) = self.sectors.table().role(unit) else {
            return Ok(());
        };
        let survey = self.sectors.survey(unit)?;
        self.filling = Some(Filling {
            unit,
            logical,
            scan: survey.first_erased,
            descriptors: survey.descriptors,
            low: survey.low,
        });
        Ok(())
    }
}
