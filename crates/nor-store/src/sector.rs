//! Sectors: chunks of variable size inside data units, found through descriptors, addressed by logical pointers.
//!
//! Descriptors grow up from the header, sectors down from the end; they never collide. Allocating a sector:
//! 1. find a unit with room (the one being filled, another with a gap, a free one, or one that is reclaimed), and room in the
//!    log: after that only the device can fail;
//! 2. append `New` to the log: from here on an abort or a power cut frees the sector;
//! 3. program the descriptor, one word that checks itself. The sector's bytes are erased.
//!
//! Invariants: live and obsolete sectors of a unit are disjoint and lie between the descriptors and the unit's end; a gap is
//! erased; when allocations say `Full`, room for tree nodes remains for what frees more than it takes.

use norn_flash::{Address, EraseUnit, Nor};

use crate::error::StoreError;
use crate::features::Features;
use crate::format::{
    DESCRIPTOR_LIVE, Descriptor, ERASED_WORD, Entry, LINK_BYTES, Link, LogicalUnit, SECTOR_GRANULES_MAX, SectorKind,
    SectorPtr,
};
use crate::log::Slot;
use crate::medium::Target;
use crate::store::{NODES_RESERVED, Store};
use crate::units::Role;

/// On a full part, replacing sectors leaves about so many of them for each descriptor of nothing.
const HOLES_PART: u32 = 8;

/// Which space an allocation may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// All but the reserve: room for ten tree nodes, two paths through a tree of the largest height, however what is free comes
    /// to be spread over the units. So for what grows.
    Ordinary,
    /// All but room for five tree nodes, where it is now: for a new form of something whose old form the commit frees.
    Replacing,
    /// All: for what frees more than it takes.
    Reserved,
}

/// A sector's size and kind, as wanted.
#[derive(Clone, Copy, Debug)]
pub struct SectorSpec {
    /// Size in bytes, at least 1.
    pub bytes: u32,
    /// What it will hold.
    pub kind: SectorKind,
}

/// Whether a chain's new sector is complete in itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// It stays, whatever becomes of an open transaction: as long as it is erased it says nothing.
    Alone,
    /// The open transaction has allocated the rest of the chain, too.
    OfTransaction,
}

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

/// The unit in which sectors are allocated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    pub unit: EraseUnit,
    pub logical: LogicalUnit,
    /// No descriptor below this index is erased.
    pub scan: u16,
    /// Length of the descriptor array.
    pub descriptors: u16,
    /// Offset of the lowest sector in granules.
    pub low: u32,
}

/// How many descriptors all data units have, and how many of them are of live sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    pub descriptors: u32,
    pub live: u32,
}

impl Census {
    pub fn add(&mut self, survey: &UnitSurvey) {
        self.descriptors += u32::from(survey.descriptors);
        self.live += u32::from(survey.live);
    }

    /// Descriptors of nothing that are to be expected beyond those that there are: each wastes a granule until it is used again.
    fn holes_to_come(self) -> u32 {
        (self.live / HOLES_PART).saturating_sub(self.descriptors.saturating_sub(self.live))
    }
}

/// What a walk over a unit's descriptors finds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnitSurvey {
    pub descriptors: u16,
    pub live: u16,
    pub first_erased: u16,
    pub low: u32,
    pub obsolete: u32,
}

impl<D: Nor, const UNITS: usize, F: Features> Store<D, UNITS, F> {
    /// Allocates a sector; its bytes are erased. An abort frees it.
    ///
    /// Cost: 3 words programmed, plus a reclamation when no unit has room.
    ///
    /// # Errors
    /// `Full` when even a reclamation makes no room.
    pub fn allocate(&mut self, spec: SectorSpec, room: Room) -> Result<SectorPtr, StoreError<D::Error>> {
        self.make_room(&[spec], room)?;
        self.ensure_log_room(1)?;
        let a = self.place(spec)?;
        self.append(Entry::New { a: a.pointer, b: None })?;
        self.program_descriptor(&a, spec)?;
        Ok(a.pointer)
    }

    /// Allocates two sectors in one unit, with one log entry; as two where no unit has room for both.
    ///
    /// Cost: 4 words programmed, plus a reclamation when no unit has room.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate).
    pub fn allocate_pair(
        &mut self,
        specs: [SectorSpec; 2],
        room: Room,
    ) -> Result<[SectorPtr; 2], StoreError<D::Error>> {
        match self.make_room(&specs, room) {
            Err(StoreError::Full) => {
                return Ok([self.allocate(specs[0], room)?, self.allocate(specs[1], room)?]);
            }
            made => made?,
        };
        self.ensure_log_room(1)?;
        let (a, b) = (self.place(specs[0])?, self.place(specs[1])?);
        self.append(Entry::New { a: a.pointer, b: Some(b.pointer) })?;
        self.program_descriptor(&a, specs[0])?;
        self.program_descriptor(&b, specs[1])?;
        Ok([a.pointer, b.pointer])
    }

    /// Allocates a sector and links it behind `last`, the last of a chain. It is atomic without a commit, and stays when an open
    /// transaction aborts; or it is part of that transaction, as `last` is, and an abort frees both.
    ///
    /// Cost: 4 words programmed, plus a reclamation when no unit has room.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate).
    pub fn extend_chain(
        &mut self,
        last: SectorPtr,
        spec: SectorSpec,
        extension: Extension,
    ) -> Result<SectorPtr, StoreError<D::Error>> {
        self.make_room(&[spec], Room::Ordinary)?;
        self.ensure_log_room(1)?;
        let placed = self.place(spec)?;
        self.append_reserved(match extension {
            Extension::OfTransaction => Entry::New { a: placed.pointer, b: None },
            Extension::Alone => Entry::Link { last, new: placed.pointer },
        })?;
        if let Err(error) = self.program_descriptor(&placed, spec) {
            if matches!(error, StoreError::Corrupted) && extension == Extension::Alone {
                self.free_sector(placed.pointer)?;
            }
            return Err(error);
        }
        let sector = self.sector(last)?;
        self.program(&sector, 0, &Link::encode(placed.pointer).to_le_bytes())?;
        Ok(placed.pointer)
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

    /// Frees up to two sectors when the open transaction commits. Cost: 2 words programmed, and 1 a sector at the commit.
    ///
    /// # Errors
    /// The device's, and `TransactionTooLarge`.
    pub fn release(&mut self, a: SectorPtr, b: Option<SectorPtr>) -> Result<(), StoreError<D::Error>> {
        self.append(Entry::Release { a, b })
    }

    /// Where the live sector `pointer` is. Cost: 1 word read.
    ///
    /// # Errors
    /// `Corrupted` when there is none.
    pub fn sector(&mut self, pointer: SectorPtr) -> Result<Sector, StoreError<D::Error>> {
        match self.find_sector(pointer)? {
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
        self.medium.read(sector.address.offset(offset), buffer)
    }

    /// Programs bytes of a sector: the caller clears bits only. Cost: the words touched.
    ///
    /// # Errors
    /// `Corrupted` when the range exceeds the sector.
    pub fn program(&mut self, sector: &Sector, offset: u32, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        self.check_range(sector, offset, bytes.len())?;
        self.medium.program(sector.address.offset(offset), bytes)
    }

    /// Programs bytes of a sector whose words are erased, but for words that are to stay so. Cost: a word for each other one; parts
    /// with larger program units take fewer.
    ///
    /// # Errors
    /// `Corrupted` when the range exceeds the sector.
    pub fn program_new(&mut self, sector: &Sector, offset: u32, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        self.check_range(sector, offset, bytes.len())?;
        self.medium.program_new(sector.address.offset(offset), bytes, Target::Erased)
    }

    fn check_range(&mut self, sector: &Sector, offset: u32, len: usize) -> Result<(), StoreError<D::Error>> {
        match sector.bytes.checked_sub(offset) {
            Some(room) if len <= room as usize => Ok(()),
            _ => self.corrupted(sector.address, "a sector too small for what it should hold"),
        }
    }

    /// The address to name in an error about `pointer`: its descriptor's, or the part's end when its unit is nowhere.
    pub fn place_of(&self, pointer: SectorPtr) -> Address {
        match self.units.home(pointer.unit()) {
            Some(unit) => self.geometry.descriptor_address(unit, pointer.sector()),
            None => Address(self.geometry.part.size_bytes()),
        }
    }

    /// The sector with this number, live or obsolete; `None` where its descriptor is erased, void or out of the unit.
    pub(crate) fn find_sector(&mut self, pointer: SectorPtr) -> Result<Option<Sector>, StoreError<D::Error>> {
        let Some(unit) = self.units.home(pointer.unit()) else {
            return Ok(None);
        };
        let low = self.geometry.low_granules(u32::from(pointer.sector()) + 1);
        if low > self.geometry.unit_granules {
            return Ok(None);
        }
        let address = self.geometry.descriptor_address(unit, pointer.sector());
        let Descriptor::Sector { offset, granules, kind, live } = Descriptor::decode(self.medium.read_word(address)?)
        else {
            return Ok(None);
        };
        if u32::from(offset) < low || u32::from(offset) + u32::from(granules) > self.geometry.unit_granules {
            return self.corrupted(address, "a descriptor of a sector outside its unit");
        }
        Ok(Some(Sector {
            address: self.geometry.part.start_of(unit).offset(u32::from(offset) * self.geometry.granule_bytes),
            bytes: u32::from(granules) * self.geometry.granule_bytes,
            kind,
            live,
        }))
    }

    /// Makes a sector obsolete; nothing where it is already, or was never described.
    pub(crate) fn free_sector(&mut self, pointer: SectorPtr) -> Result<(), StoreError<D::Error>> {
        let Some(sector) = self.find_sector(pointer)? else {
            return Ok(());
        };
        if !sector.live {
            return Ok(());
        }
        let address = self.place_of(pointer);
        let word = self.medium.read_word(address)? & !DESCRIPTOR_LIVE;
        self.medium.program(address.offset(3), &[(word >> 24) as u8])?;
        if let Some(unit) = self.units.home(pointer.unit()) {
            self.units.add_obsolete_granules(unit, self.geometry.granules(sector.bytes));
        }
        self.census.live = self.census.live.saturating_sub(1);
        Ok(())
    }

    fn program_descriptor(&mut self, placed: &Placed, spec: SectorSpec) -> Result<(), StoreError<D::Error>> {
        // The log may have moved on, but nothing was reclaimed since the sector was placed.
        let word = Descriptor::encode(placed.offset, placed.granules, spec.kind);
        self.medium.program_word(self.place_of(placed.pointer), word)?;
        self.census.live += 1;
        if self.detects() {
            let sector = self.sector(placed.pointer)?;
            if let Some(address) = self.first_programmed_of(&sector)? {
                // The sector is obsolete when this is undone, and the place is erased with its unit.
                return self.corrupted(address, "unused space that is not erased");
            }
        }
        Ok(())
    }

    /// Takes the next place in the unit being filled. `make_room` has made sure that there is one.
    fn place(&mut self, spec: SectorSpec) -> Result<Placed, StoreError<D::Error>> {
        self.find_erased_descriptor()?;
        let granules = self.geometry.granules(spec.bytes);
        let detects = self.detects();
        let Some(filling) = &mut self.filling else {
            return Err(StoreError::Full);
        };
        let (unit, index) = (filling.unit, filling.scan);
        let address = self.geometry.descriptor_address(unit, index);
        if detects && self.medium.read_word(address)? != ERASED_WORD {
            self.filling = None; // To be surveyed again.
            return self.corrupted(address, "unused space that is not erased");
        }
        filling.scan += 1;
        self.census.descriptors += u32::from(filling.scan.saturating_sub(filling.descriptors));
        filling.descriptors = filling.descriptors.max(filling.scan);
        filling.low -= granules;
        let pointer = SectorPtr::new(filling.logical, index);
        let (offset, filling) = (filling.low as u16, *filling);
        self.units.set_gap_granules(filling.unit, self.gap(&filling));
        Ok(Placed { pointer, offset, granules: granules as u16 })
    }

    fn gap(&self, filling: &Filling) -> u32 {
        filling.low.saturating_sub(self.geometry.low_granules(u32::from(filling.descriptors)))
    }

    /// Moves the filled unit's scan to its next erased descriptor.
    fn find_erased_descriptor(&mut self) -> Result<(), StoreError<D::Error>> {
        let Some(mut filling) = self.filling else {
            return Ok(());
        };
        while filling.scan < filling.descriptors {
            let address = self.geometry.descriptor_address(filling.unit, filling.scan);
            if Descriptor::decode(self.medium.read_word(address)?) == Descriptor::Erased {
                break;
            }
            filling.scan += 1;
        }
        self.filling = Some(filling);
        Ok(())
    }

    /// Makes the unit being filled have room for `specs`.
    fn make_room(&mut self, specs: &[SectorSpec], room: Room) -> Result<(), StoreError<D::Error>> {
        let (mut need, mut largest) = (0, 0);
        for spec in specs {
            let granules = self.geometry.granules(spec.bytes);
            (need, largest) = (need + granules, largest.max(granules));
        }
        let sectors = specs.len() as u32;
        let low = self.geometry.low_granules(sectors);
        if largest > SECTOR_GRANULES_MAX
            || low + need > self.geometry.unit_granules
            || !self.leaves_reserve(need + sectors, room)
        {
            return Err(StoreError::Full);
        }
        if self.filled_unit_fits(need, sectors)? {
            return Ok(());
        }
        let descriptors = low - self.geometry.low_granules(0);
        if let Some(unit) = self.unit_with_gap(need + descriptors) {
            self.start_filling(unit)?;
            if self.filled_unit_fits(need, sectors)? {
                return Ok(());
            }
        }
        if self.units.available() > self.free_floor() {
            let unit = self.take_free_unit()?;
            return self.start_data_unit(unit);
        }
        self.reclaim_for(need, sectors)
    }

    /// Whether the unit being filled has `need` granules and descriptors for that many sectors.
    pub(crate) fn filled_unit_fits(&mut self, need: u32, sectors: u32) -> Result<bool, StoreError<D::Error>> {
        self.find_erased_descriptor()?;
        let Some(filling) = self.filling else {
            return Ok(false);
        };
        let reused = u32::from(filling.scan < filling.descriptors);
        let descriptors = u32::from(filling.descriptors) + sectors - reused;
        Ok(descriptors <= u32::from(SectorPtr::SECTOR_MAX) + 1
            && self.geometry.low_granules(descriptors) + need <= filling.low)
    }

    /// The unit with the largest gap, if that is of so many granules.
    fn unit_with_gap(&self, granules: u32) -> Option<EraseUnit> {
        let (mut found, mut largest) = (None, granules);
        for unit in self.units.data() {
            let gap = self.units.gap_granules(unit);
            if gap >= largest {
                (found, largest) = (Some(unit), gap);
            }
        }
        found
    }

    /// Whether the reserve remains once `granules` are taken, wherever that is.
    fn leaves_reserve(&self, granules: u32, room: Room) -> bool {
        let node = self.geometry.node_granules(self.detection());
        let body = self.geometry.unit_granules - self.geometry.low_granules(0);
        let spare_units = self.units.available().saturating_sub(self.free_floor());
        let (mut units, mut free, mut nodes) = (spare_units, spare_units * body, spare_units * (body / node));
        for unit in self.units.data() {
            let room = self.units.gap_granules(unit) + self.units.obsolete_granules(unit);
            (units, free, nodes) = (units + 1, free + room, nodes + room / node);
        }
        match room {
            // Each unit may come to have a little less free than a node takes, and the rest is still enough for ten.
            Room::Ordinary => {
                free >= granules + units * (node - 1) + NODES_RESERVED * node + self.census.holes_to_come()
            }
            Room::Replacing => nodes >= NODES_RESERVED / 2 + granules.div_ceil(node),
            Room::Reserved => true,
        }
    }

    /// Makes the busy, erased unit `unit` a data unit and the one being filled.
    fn start_data_unit(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let Some(logical) = self.units.unused_logical() else {
            return self.corrupted(self.geometry.part.start_of(unit), "no logical number left for a free unit");
        };
        self.write_assignment(unit, Entry::DataUnit { logical, descriptors: 0 })?;
        self.units.set_role(unit, Role::Data(logical));
        let low = self.geometry.unit_granules;
        let filling = Filling { unit, logical, scan: 0, descriptors: 0, low };
        self.units.set_gap_granules(unit, self.gap(&filling));
        self.filling = Some(filling);
        Ok(())
    }

    /// Makes the data unit `unit` the one being filled. Cost: 1 word read a descriptor.
    pub(crate) fn start_filling(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let Role::Data(logical) = self.units.role(unit) else {
            return Ok(());
        };
        let survey = self.survey(unit)?;
        self.filling = Some(Filling {
            unit,
            logical,
            scan: survey.first_erased,
            descriptors: survey.descriptors,
            low: survey.low,
        });
        Ok(())
    }

    /// Walks the descriptors of a data unit. Cost: 1 word read a descriptor, and the assignment.
    pub(crate) fn survey(&mut self, unit: EraseUnit) -> Result<UnitSurvey, StoreError<D::Error>> {
        let Slot::Entry(Entry::DataUnit { descriptors: sparse, .. }) = self.read_assignment(unit)? else {
            return self.corrupted(self.geometry.part.start_of(unit), "a data unit without an assignment");
        };
        let mut survey = UnitSurvey { low: self.geometry.unit_granules, ..UnitSurvey::default() };
        let mut first_erased = None;
        loop {
            let index = survey.descriptors;
            let bottom = self.geometry.low_granules(u32::from(index) + 1);
            if bottom > survey.low || index > SectorPtr::SECTOR_MAX {
                break;
            }
            let address = self.geometry.descriptor_address(unit, index);
            let word = self.medium.read_word(address)?;
            match Descriptor::decode(word) {
                Descriptor::Erased if index >= sparse => break,
                Descriptor::Erased => first_erased = first_erased.or(Some(index)),
                Descriptor::Void if self.is_damaged_descriptor(word) => {
                    return self.corrupted(address, "a damaged descriptor");
                }
                Descriptor::Void => {}
                Descriptor::Sector { offset, granules, live, .. } => {
                    let (offset, granules) = (u32::from(offset), u32::from(granules));
                    if granules == 0 || offset < bottom || offset + granules > self.geometry.unit_granules {
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

    /// Brings the unit table's row of a data unit in line with its descriptors.
    pub(crate) fn tally(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let survey = self.survey(unit)?;
        let top = self.geometry.low_granules(u32::from(survey.descriptors));
        if survey.low < top || survey.obsolete > self.geometry.unit_granules - survey.low {
            return self.corrupted(self.geometry.part.start_of(unit), "descriptors and sectors of a unit collide");
        }
        self.units.set_gap_granules(unit, survey.low - top);
        self.units.set_obsolete_granules(unit, survey.obsolete);
        self.census.add(&survey);
        Ok(())
    }
}

/// A sector that has a place but no descriptor yet.
struct Placed {
    pointer: SectorPtr,
    offset: u16,
    granules: u16,
}
