//! The checker: walks everything on flash and reports each invariant that does not hold.
//!
//! It allocates nothing: the caller's [`Auditor`] remembers which sectors were reached. The order is
//! [`audit_units`](Store::audit_units), [`audit_tree`](Store::audit_tree) for each tree, the client's walk over what the
//! trees hold, then [`audit_reachability`](Store::audit_reachability). It wants a store with no open transaction.

use norn_flash::{Address, Auditor, EraseUnit, Marks, Nor, Violation};

use crate::error::StoreError;
use crate::features::Features;
use crate::format::{Descriptor, ENTRY_BYTES, HEADER_BYTES, NODE_SLOTS, NODE_SPARES, SectorKind, SectorPtr};
use crate::log::Slot;
use crate::sector::Census;
use crate::store::Store;
use crate::tree::{HEIGHT_MAX, TreeRoot};
use crate::units::Role;

impl<D: Nor, const UNITS: usize, F: Features> Store<D, UNITS, F> {
    /// Reports that `what` is wrong with the sector `pointer`.
    pub fn report(&self, auditor: &mut (impl Auditor + Marks<SectorPtr>), pointer: SectorPtr, what: &'static str) {
        auditor.violation(Violation { address: self.place_of(pointer), what });
    }

    /// Marks a live sector of the expected kind as reached; `false` when it is something else or was reached before. Cost: 1 word
    /// read.
    ///
    /// # Errors
    /// The device's.
    pub fn audit_sector(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        pointer: SectorPtr,
        kind: SectorKind,
    ) -> Result<bool, StoreError<D::Error>> {
        let what = match self.find_sector(pointer)? {
            Some(sector) if !sector.live => "a pointer to a freed sector",
            Some(sector) if sector.kind != kind => "a pointer to a sector of another kind",
            Some(_) if auditor.mark(pointer) => "two pointers to one sector",
            Some(_) => return Ok(true),
            None => "a pointer to no sector",
        };
        self.report(auditor, pointer, what);
        Ok(false)
    }

    /// Checks units: identities, roles, the packing of sectors, erased gaps, and the unit table. Cost: reads descriptors twice, and
    /// all that is erased.
    ///
    /// # Errors
    /// The device's.
    pub fn audit_units(&mut self, auditor: &mut (impl Auditor + Marks<SectorPtr>)) -> Result<(), StoreError<D::Error>> {
        if self.transaction_is_open() {
            let address = self.entry_address(self.log.unit, self.log.next);
            auditor.violation(Violation { address, what: "an open transaction" });
        }
        let mut census = Census::default();
        for unit in self.units.all() {
            let address = self.geometry.part.start_of(unit);
            let mut fail = |what| auditor.violation(Violation { address, what });
            if self.read_identity(unit)?.is_none() {
                fail("a unit without an identity");
            }
            match self.units.role(unit) {
                Role::Data(logical) if self.units.home(logical) != Some(unit) => fail("a logical unit with two homes"),
                Role::Data(_) => self.audit_data_unit(auditor, unit, &mut census)?,
                Role::Free => self.audit_erased(auditor, unit, HEADER_BYTES - 8, self.geometry.part.unit_size_bytes)?,
                Role::Log if unit != self.log.unit => fail("a log unit too many"),
                Role::Log => {
                    self.audit_log(auditor)?;
                    let next = self.log.next + u16::from(self.log.torn);
                    let from = HEADER_BYTES + u32::from(next) * ENTRY_BYTES;
                    self.audit_erased(auditor, unit, from, self.geometry.part.unit_size_bytes)?;
                }
                Role::Scratch => {}
                Role::Busy | Role::ScratchInUse => fail("a unit that is neither free nor in use"),
            }
        }
        if census != self.census {
            auditor.violation(Violation { address: Address(0), what: "the numbers of descriptors are wrong" });
        }
        if self.units.available() < self.free_floor() {
            auditor.violation(Violation { address: Address(0), what: "fewer free units than must stay free" });
        }
        Ok(())
    }

    fn audit_data_unit(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        unit: EraseUnit,
        census: &mut Census,
    ) -> Result<(), StoreError<D::Error>> {
        let address = self.geometry.part.start_of(unit);
        let survey = match self.survey(unit) {
            Err(StoreError::Corrupted) => {
                self.report_corruption(auditor);
                return Ok(());
            }
            other => other?,
        };
        census.add(&survey);
        let mut packed = 0;
        for index in 0..survey.descriptors {
            let word = self.medium.read_word(self.geometry.descriptor_address(unit, index))?;
            if let Descriptor::Sector { granules, .. } = Descriptor::decode(word) {
                packed += u32::from(granules);
            }
        }
        let top = self.geometry.low_granules(u32::from(survey.descriptors));
        let mut expect = |holds: bool, what| {
            if !holds {
                auditor.violation(Violation { address, what });
            }
        };
        expect(survey.low + packed == self.geometry.unit_granules, "sectors overlap or leave holes");
        expect(self.units.gap_granules(unit) == survey.low.saturating_sub(top), "the unit table's gap is wrong");
        expect(self.units.obsolete_granules(unit) == survey.obsolete, "the unit table's obsolete space is wrong");
        let granule = self.geometry.granule_bytes;
        let gap = HEADER_BYTES + u32::from(survey.descriptors) * 4;
        self.audit_erased(auditor, unit, gap, survey.low * granule)
    }

    /// Recovery leaves no place torn but the last.
    fn audit_log(&mut self, auditor: &mut (impl Auditor + Marks<SectorPtr>)) -> Result<(), StoreError<D::Error>> {
        for index in 0..self.log.next {
            if self.detects() && self.read_log(self.log.unit, index)? == Slot::Torn {
                let address = self.entry_address(self.log.unit, index);
                auditor.violation(Violation { address, what: "a damaged log entry" });
            }
        }
        Ok(())
    }

    fn audit_erased(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        unit: EraseUnit,
        from: u32,
        to: u32,
    ) -> Result<(), StoreError<D::Error>> {
        if let Some(address) = self.first_programmed(unit, from, to)? {
            auditor.violation(Violation { address, what: "unused space that is not erased" });
        }
        Ok(())
    }

    /// Checks a tree's nodes and marks them. What the tree holds is for the client, who knows its form. Cost: up to 18 times 24 words
    /// read for each node.
    ///
    /// # Errors
    /// The device's.
    pub fn audit_tree(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        root: TreeRoot,
    ) -> Result<(), StoreError<D::Error>> {
        // The path from the root down: a node and the digit to look at next, for each level.
        let mut path = [(None, 0); HEIGHT_MAX as usize];
        let mut level = root.height;
        if let Some(node) = root.node
            && self.audit_node(auditor, node)?
        {
            level -= 1;
            path[usize::from(level)] = (Some(node), 0);
        }
        while level < root.height {
            let (node, digit) = path[usize::from(level)];
            let Some(node) = node.filter(|_| digit < NODE_SLOTS) else {
                level += 1;
                continue;
            };
            path[usize::from(level)].1 += 1;
            let child = self.standing_child(node, digit)?;
            let Some(child) = child else {
                continue;
            };
            if level > 0 && self.audit_node(auditor, child)? {
                level -= 1;
                path[usize::from(level)] = (Some(child), 0);
            }
        }
        Ok(())
    }

    fn audit_node(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        node: SectorPtr,
    ) -> Result<bool, StoreError<D::Error>> {
        if !self.audit_sector(auditor, node, SectorKind::Node)? {
            return Ok(false);
        }
        let sector = self.sector(node)?;
        let (mut children, mut spare_ended) = (0u32, false);
        for position in 0..NODE_SLOTS + NODE_SPARES {
            let address = self.tree_word_address(&sector, position);
            let Some(word) = self.find_tree_word(&sector, position)? else {
                auditor.violation(Violation { address, what: "a damaged tree word" });
                continue;
            };
            let is_spare = position >= NODE_SLOTS;
            let mut expect = |holds: bool, what| {
                if !holds {
                    auditor.violation(Violation { address, what });
                }
            };
            expect(!spare_ended || word.is_erased(), "a spare pointer used out of order");
            expect(!(word.stands() && word.is_open()), "an open word outside a transaction");
            expect(!word.stands() || is_spare || word.index() == position, "a slot with another slot's index");
            spare_ended |= is_spare && word.is_erased();
            if word.stands() {
                let bit = 1 << word.index();
                children = if word.pointer().is_some() { children | bit } else { children & !bit };
            }
        }
        if children == 0 {
            self.report(auditor, node, "a tree node without children");
        }
        Ok(true)
    }

    /// Checks that every live sector was marked. Cost: 2 words read a descriptor.
    ///
    /// # Errors
    /// The device's.
    pub fn audit_reachability(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
    ) -> Result<(), StoreError<D::Error>> {
        for unit in self.units.all() {
            let Role::Data(logical) = self.units.role(unit) else {
                continue;
            };
            for index in self.sector_numbers(unit)? {
                let pointer = SectorPtr::new(logical, index);
                let live = self.find_sector(pointer)?.is_some_and(|sector| sector.live);
                if live && !auditor.is_marked(pointer) {
                    self.report(auditor, pointer, "a live sector that nothing reaches");
                }
            }
        }
        Ok(())
    }

    /// Reports what a call that said `Corrupted` came upon.
    pub fn report_corruption(&self, auditor: &mut (impl Auditor + Marks<SectorPtr>)) {
        if let Some(violation) = self.corruption {
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

    /// Calls `visit` for every entry of the newest log unit, with its index; `None` for one torn or void. Cost: 2 words read an entry.
    ///
    /// # Errors
    /// The device's.
    pub fn visit_log(
        &mut self,
        mut visit: impl FnMut(u16, Option<crate::format::Entry>),
    ) -> Result<(), StoreError<D::Error>> {
        for index in 0..self.log.next {
            match self.read_log(self.log.unit, index)? {
                Slot::Entry(entry) => visit(index, Some(entry)),
                Slot::Torn | Slot::Void => visit(index, None),
                Slot::Erased => {}
            }
        }
        if self.log.torn {
            visit(self.log.next, None);
        }
        Ok(())
    }
}
