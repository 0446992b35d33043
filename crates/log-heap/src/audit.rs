//! The checker: walks everything from the log's root, and reports what must not be there.
//!
//! 1. Every entry leads to a sector that names its owner, and lies within a unit in use.
//! 2. No two sectors overlap, and none lies in a unit of the log or behind what its open unit has filled.
//! 3. Among spares, whole places come first, and what comes after them is erased: nothing is torn. What comes after
//!    the last delta of a tail is erased; before it, only what a seal leaves out may be torn.
//! 4. The live granules of each unit are those that the table has.
//!    Sectors from before an open transaction are among them.
//! 5. Each directory of roots is in their chain.
//! 6. Each section belongs to a split array, which has all of its sections.

use norn_flash::{Address, Auditor, Marks, Nor, Violation};
use norn_heap::{Listener, StoreError};

use crate::format::{Entry, FANOUT, Granule, Owner, Place, SectorKind};
use crate::heap::LogHeapIn;
use crate::map::SLOTS_BY_TOP;
use crate::object::Sector;
use crate::reclaim::Reclamation;
use crate::units::{Role, UnitRows};

impl<D: Nor, M: UnitRows, L: Listener> LogHeapIn<D, M, L> {
    /// Checks every invariant on the part. Reads all that is live.
    ///
    /// # Errors
    /// The store's.
    pub fn audit(&mut self, auditor: &mut (impl Auditor + Marks<Address>)) -> Result<(), StoreError<D::Error>> {
        let reclamation = self.reclamation();
        reclamation.recount()?;
        let top = reclamation.objects.map.top();
        let mut live = 0;
        for level in (1..=top).rev() {
            for index in 0..FANOUT.pow(u32::from(top - level)) {
                let owner = Owner { level, index: index as u16 };
                if let Entry::At(node) = reclamation.objects.map.lookup(owner)? {
                    live += reclamation.audit_sector(node, owner, auditor)?;
                    live += reclamation.audit_leaf(node, owner, auditor)?;
                }
            }
        }
        let mut walk = reclamation.objects.map.space.log.walk();
        while let Some(note) = reclamation.objects.map.space.log.next_note(&mut walk)? {
            if let Some(sector) = reclamation.replaced(note, &walk)? {
                live += reclamation.audit_sector(sector.at, Owner::object(note.slot), auditor)?;
            }
        }
        if live != reclamation.objects.map.space.log.units.live() {
            auditor.violation(Violation { address: Address(0), what: "live granules that the table does not have" });
        }
        reclamation.audit_units(auditor);
        if !reclamation.has_counted()? {
            auditor.violation(Violation { address: Address(0), what: "live sectors that the table does not have" });
        }
        if !self.audit_directories(SLOTS_BY_TOP[usize::from(top)])? {
            auditor.violation(Violation { address: Address(0), what: "a directory of roots outside of their chain" });
        }
        if !self.audit_arrays(SLOTS_BY_TOP[usize::from(top)])? {
            auditor.violation(Violation { address: Address(0), what: "a split array that has not its sections" });
        }
        Ok(())
    }
}

impl<D: Nor, M: UnitRows, L: Listener> Reclamation<D, M, L> {
    fn address(&self, granule: Granule) -> Address {
        Address(granule.0 * self.objects.map.space.log.units.geometry().granule_bytes)
    }

    /// Checks the objects of a leaf, and the entries of other nodes. Returns the objects' granules.
    fn audit_leaf(
        &mut self,
        node: Granule,
        owner: Owner,
        auditor: &mut (impl Auditor + Marks<Address>),
    ) -> Result<u32, StoreError<D::Error>> {
        let entries = self.objects.map.node(node, owner)?.entries;
        let mut live = 0;
        for (digit, entry) in entries.into_iter().enumerate() {
            let child = Owner { level: owner.level - 1, index: owner.index << 4 | digit as u16 };
            if let (Entry::At(object), 0) = (entry, child.level) {
                live += self.audit_sector(object, child, auditor)?;
            }
        }
        Ok(live)
    }

    /// Checks a sector, and returns its granules.
    fn audit_sector(
        &mut self,
        at: Granule,
        owner: Owner,
        auditor: &mut (impl Auditor + Marks<Address>),
    ) -> Result<u32, StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        let mut report = |what| auditor.violation(Violation { address: Address(at.0 * geometry.granule_bytes), what });
        let header = self.objects.map.header(at)?;
        let (bare, granules) = (header.bare_granules(&geometry), header.granules(&geometry));
        if header.owner() != owner {
            report("a sector of another owner");
        }
        let offset = at.0 % geometry.unit_granules;
        if offset < geometry.head() || offset + granules > geometry.unit_granules {
            report("a sector that is not within its unit");
        }
        let is_log = self.objects.map.space.log.units.role(geometry.unit_of(at)) == Role::Log;
        if is_log && offset < geometry.log_sectors() {
            report("a sector among the records of the log");
        }
        if header.kind == SectorKind::Node {
            self.audit_spares(at.offset(bare), header.tail, auditor)?;
        } else {
            self.audit_tail(Sector { at, header }, auditor)?;
        }
        for number in 0..granules {
            let address = self.address(at.offset(number));
            if auditor.mark(address) {
                auditor.violation(Violation { address, what: "two sectors that overlap" });
            }
        }
        Ok(granules)
    }

    /// Checks the spare places of a node.
    fn audit_spares(
        &mut self,
        first: Granule,
        spares: u8,
        auditor: &mut impl Auditor,
    ) -> Result<(), StoreError<D::Error>> {
        let mut is_erased = false;
        for number in 0..u32::from(spares) {
            let place = self.objects.map.medium().read_place(first.offset(number))?;
            let what = match place {
                Place::Whole(_) if is_erased => "a place after an erased one",
                Place::Broken => "a torn place",
                _ => {
                    is_erased |= place == Place::Erased;
                    continue;
                }
            };
            auditor.violation(Violation { address: self.address(first.offset(number)), what });
        }
        Ok(())
    }

    /// Checks that what follows the deltas of a tail, their seals included, is erased.
    fn audit_tail(&mut self, sector: Sector, auditor: &mut impl Auditor) -> Result<(), StoreError<D::Error>> {
        for number in self.objects.tail(&sector, None)?.used..sector.header.tail {
            if !self.objects.is_erased(&sector, number)? {
                let address = self.address(self.objects.place_at(&sector, number));
                auditor.violation(Violation { address, what: "a place of a tail that neither counts nor is erased" });
            }
        }
        Ok(())
    }

    /// Whether the live sectors of the part are as many as have been counted since the mount.
    fn has_counted(&mut self) -> Result<bool, StoreError<D::Error>> {
        let (counted, leftover) = (self.objects.map.space.log.units.sectors(), self.leftover);
        self.objects.map.space.log.units.clear_live();
        self.count_live()?;
        self.leftover = leftover;
        Ok(self.objects.map.space.log.units.sectors() == counted)
    }

    /// Checks the live granules of each unit.
    fn audit_units(&self, auditor: &mut (impl Auditor + Marks<Address>)) {
        let units = &self.objects.map.space.log.units;
        let geometry = units.geometry();
        for unit in units.all() {
            let start = geometry.start(unit);
            let granules = (0..geometry.unit_granules).map(|number| self.address(start.offset(number)));
            let live = granules.filter(|&address| auditor.is_marked(address)).count() as u32;
            if live != units.live_in(unit) {
                let what = "live granules of a unit that its row does not have";
                auditor.violation(Violation { address: self.address(start), what });
            }
        }
    }
}
