//! The checker of units and sectors: each invariant of the ground floor, under a sentence.
//!
//! It allocates nothing: the caller's [`Auditor`] remembers which sectors were reached. The order is
//! [`audit_units`](Sectors::audit_units), [`Trees::audit`](crate::Trees::audit) for each tree, the client's walk over
//! what the trees hold, then [`audit_reachability`](Sectors::audit_reachability). It wants a store with no open
//! transaction.

use norn_flash::{Address, Auditor, EraseUnit, Marks, Nor, Violation};

use super::sector::{DescriptorCounts, Sectors};
use super::table::Role;
use crate::error::StoreError;
use crate::features::Features;
use crate::format::{ASSIGNMENT_OFFSET, Descriptor, HEADER_BYTES, SectorKind, SectorPtr};
use crate::ground::table::UnitRows;

impl<D: Nor, M: UnitRows, F: Features> Sectors<D, M, F> {
    /// Reports that `what` is wrong with the sector `pointer`.
    pub fn report(&self, auditor: &mut impl Auditor, pointer: SectorPtr, what: &'static str) {
        auditor.violation(Violation { address: self.place_of(pointer), what });
    }

    /// Marks a live sector of the expected kind as reached; `false` when it is something else or was reached before.
    /// Cost: 1 word read.
    ///
    /// # Errors
    /// The device's.
    pub fn audit_sector(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        pointer: SectorPtr,
        kind: SectorKind,
    ) -> Result<bool, StoreError<D::Error>> {
        let what = match self.find(pointer)? {
            Some(sector) if !sector.live => "a pointer to a freed sector",
            Some(sector) if sector.kind != kind => "a pointer to a sector of another kind",
            Some(_) if auditor.mark(pointer) => "two pointers to one sector",
            Some(_) => return Ok(true),
            None => "a pointer to no sector",
        };
        self.report(auditor, pointer, what);
        Ok(false)
    }

    /// Checks units: identities, roles, the packing of sectors, erased gaps, and the unit table. Cost: reads
    /// descriptors twice, and all that is erased.
    ///
    /// # Errors
    /// The device's.
    pub fn audit_units(&mut self, auditor: &mut impl Auditor) -> Result<(), StoreError<D::Error>> {
        let unit_size_bytes = self.geometry().part.unit_size_bytes;
        let mut counts = DescriptorCounts::default();
        for unit in self.log.units.table.all() {
            let address = self.geometry().part.start_of(unit);
            let mut fail = |what| auditor.violation(Violation { address, what });
            if self.log.units.identity(unit)?.is_none() {
                fail("a unit without an identity");
            }
            match self.table().role(unit) {
                Role::Data(logical) if self.table().home(logical) != Some(unit) => {
                    fail("a logical unit with two homes")
                }
                Role::Data(_) => self.audit_data_unit(auditor, unit, &mut counts)?,
                Role::Free => self.audit_erased(auditor, unit, ASSIGNMENT_OFFSET, unit_size_bytes)?,
                Role::Log if !self.log.is_newest(unit) => fail("a log unit too many"),
                Role::Log => self.log.audit(auditor)?,
                Role::Scratch => {}
                Role::Busy | Role::ScratchInUse => fail("a unit that is neither free nor in use"),
            }
        }
        if counts != self.counts() {
            auditor.violation(Violation { address: Address(0), what: "the numbers of descriptors are wrong" });
        }
        if self.table().available() < self.log.free_floor() {
            auditor.violation(Violation { address: Address(0), what: "fewer free units than must stay free" });
        }
        Ok(())
    }

    fn audit_data_unit(
        &mut self,
        auditor: &mut impl Auditor,
        unit: EraseUnit,
        counts: &mut DescriptorCounts,
    ) -> Result<(), StoreError<D::Error>> {
        let address = self.geometry().part.start_of(unit);
        let survey = match self.survey(unit) {
            Err(StoreError::Corrupted) => {
                self.report_corruption(auditor);
                return Ok(());
            }
            other => other?,
        };
        counts.add(&survey);
        let mut packed = 0;
        for index in 0..survey.descriptors {
            let address = self.geometry().descriptor_address(unit, index);
            let word = self.medium().read_word(address)?;
            if let Descriptor::Sector { granules, .. } = Descriptor::decode(word) {
                packed += u32::from(granules);
            }
        }
        let top = self.geometry().low_granules(u32::from(survey.descriptors));
        let mut expect = |holds: bool, what| {
            if !holds {
                auditor.violation(Violation { address, what });
            }
        };
        expect(survey.low + packed == self.geometry().unit_granules, "sectors overlap or leave holes");
        expect(self.table().gap_granules(unit) == survey.low.saturating_sub(top), "the unit table's gap is wrong");
        expect(self.table().obsolete_granules(unit) == survey.obsolete, "the unit table's obsolete space is wrong");
        let granule = self.geometry().granule_bytes;
        let gap = HEADER_BYTES + u32::from(survey.descriptors) * 4;
        self.audit_erased(auditor, unit, gap, survey.low * granule)
    }

    fn audit_erased(
        &mut self,
        auditor: &mut impl Auditor,
        unit: EraseUnit,
        from: u32,
        to: u32,
    ) -> Result<(), StoreError<D::Error>> {
        if let Some(address) = self.medium().first_programmed(unit, from, to)? {
            auditor.violation(Violation { address, what: "unused space that is not erased" });
        }
        Ok(())
    }

    /// Checks that every live sector was marked. Cost: 2 words read a descriptor.
    ///
    /// # Errors
    /// The device's.
    pub fn audit_reachability(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
    ) -> Result<(), StoreError<D::Error>> {
        for unit in self.log.units.table.all() {
            let Role::Data(logical) = self.log.units.table.role(unit) else {
                continue;
            };
            for index in self.sector_numbers(unit)? {
                let pointer = SectorPtr::new(logical, index);
                let live = self.find(pointer)?.is_some_and(|sector| sector.live);
                if live && !auditor.is_marked(pointer) {
                    self.report(auditor, pointer, "a live sector that nothing reaches");
                }
            }
        }
        Ok(())
    }

    /// Reports what a call that returned `Corrupted` found.
    pub fn report_corruption(&self, auditor: &mut impl Auditor) {
        if let Some(violation) = self.log.units.medium.corruption() {
            auditor.violation(violation);
        }
    }

    fn sector_numbers(&mut self, unit: EraseUnit) -> Result<core::ops::Range<u16>, StoreError<D::Error>> {
        match self.survey(unit) {
            Ok(survey) => Ok(0..survey.descriptors),
            Err(StoreError::Corrupted) => Ok(0..0), // Reported by `audit_units`.
            Err(error) => Err(error),
        }
    }
}
