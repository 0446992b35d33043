//! Arrays: elements of one width, in one sector or in several.
//!
//! A small array is a sector like an object's. A larger one is *split*: a head, and sections in the slots after it, so
//! that the map leads to them without a structure of their own.
//!
//! ```text
//!  slot 40 ┌──────────────────────┐  slot 41 ┌───────────────┐  slot 42 ┌───────────────┐  slot 43 ┌───────┐
//!          │ head: 700 × 1 byte,  │          │ elements      │          │ elements      │          │ …     │
//!          │ 240 a section, there │          │ 0 to 239      │          │ 240 to 479    │          │       │
//!          └──────────────────────┘          └───────────────┘          └───────────────┘          └───────┘
//! ```
//!
//! 1. A creation writes the head, which says that the array is not there yet, then the sections, and then sets that it
//!    is there.
//! 2. A deletion sets that it is not there. Then it takes away the sections, the first one first, and then the head.
//!
//! So a cut leaves an array whole, or one that is not there: a mount takes that away. Within a transaction only the
//! field that says whether the array is there has a note. What is not there any more is taken away after the commit,
//! and what was not to be created after the abort.
//!
//! Invariants: a section belongs to a head; an array that is there has all of its sections; no slot of an array had a
//! note when it was created; before a slot is given to something new, all that is not there was taken away.

use norn_flash::Nor;
use norn_heap::{AccessError, CreateError, Layout, Listener, Ref, StoreError};

use crate::format::{
    Class, Entry, FANOUT, HEADED_AT, HEADER_BYTES, Header, LEVELS_MAX, Owner, SectorKind, SplitShape, Stream,
};
use crate::heap::{HEADER_MAX, LogHeapIn};
use crate::log::Intent;
use crate::map::{SLOTS_BY_TOP, next_generation};
use crate::object::{Replacement, Sector, Source};
use crate::reclaim::Reclamation;
use crate::slots::FreeSlots;
use crate::space::Reason;
use crate::units::UnitRows;

/// Bytes of the elements of a small array, and of a section.
pub(crate) const SECTION_BYTES_MAX: usize = 255;
/// A section takes at most this share of a unit, so that few granules are left over.
const SECTIONS_OF_UNIT: u32 = 8;
/// The field of a split array's head that says whether the array is there.
const SHAPE_FIELD: usize = 1;

impl<D: Nor, M: UnitRows, L: Listener> LogHeapIn<D, M, L> {
    /// Creates an array of `count` elements of `width` bytes, which are zero. `header` is up to 255 bytes that the heap
    /// does not interpret.
    ///
    /// Once it is created there is room for every store of a single element outside of transactions. It takes up to 255
    /// bytes of elements in one sector. A larger array has sections of at most 255 bytes and an eighth of a unit, each
    /// with a reference that no object can have then.
    ///
    /// Cost: a look-up for each slot that is tried; for each sector its granules, a granule of the log and a map
    /// change; of a split array two more places. A creation that is undone deletes each sector.
    ///
    /// # Errors
    /// `NoFields` for no elements, `ZeroWidth`, `HeaderTooLarge`; `TooLarge` where the part never has room, with the
    /// bytes of elements that no array exceeds; `NoReferences` where there are not so many free ones in a row; the
    /// store's, `Full` among them.
    pub fn create_array(&mut self, count: usize, width: u8, header: &[u8]) -> Result<Ref, CreateError<D::Error>> {
        self.expect_creation()?;
        if self.is_split(count, width, header) {
            return self.create_split(count, width, header);
        }
        self.create_as(Layout::uniform(count, width).with_header(header), Class::Array)
    }

    /// Whether an array takes more than one sector.
    pub(crate) fn is_split(&self, count: usize, width: u8, header: &[u8]) -> bool {
        if count == 0 || width == 0 || header.len() > HEADER_MAX {
            return false;
        }
        let layout = Layout::uniform(count, width).with_header(header);
        let is_small = count.saturating_mul(usize::from(width)) <= SECTION_BYTES_MAX;
        !is_small || matches!(self.header_of(&layout), Err(CreateError::TooLarge { .. }))
    }

    fn create_split(&mut self, count: usize, width: u8, header: &[u8]) -> Result<Ref, CreateError<D::Error>> {
        let section_elements = self.section_elements(width);
        let section = self.header_of(&Layout::uniform(usize::from(section_elements), width))?;
        let head = self.header_of(&Layout::uniform(2, 4).with_header(header))?;
        let head = Header { tail: self.head_tail(&head), ..head };
        let sections = count.div_ceil(usize::from(section_elements));
        let geometry = self.reclamation().objects.map.space.log.units.geometry();
        // What is left over at the end of units, too.
        let share = geometry.room().div_ceil(geometry.room() / section.bare_granules(&geometry));
        let capacity = self.reclamation().objects.map.space.capacity_max();
        // With the nodes of the lowest level. The slots of the root directory and of the head are no sections.
        let most = (capacity / (share + geometry.node_granules() / FANOUT)).min(Ref::SLOTS - 2);
        if sections > most as usize {
            return Err(CreateError::TooLarge { max: most * u32::from(section_elements) * u32::from(width) });
        }
        let shape = SplitShape { count: count as u32, width, section_elements, is_there: false };
        let (slot, generation) = self.find_slots(sections as u32 + 1)?;
        // One more, because a node that is replaced is live until the new one is.
        let nodes = (self.missing_nodes(slot, sections as u16)? + 1) * geometry.node_granules();
        // In small units open ones leave more over than the capacity allows for.
        let over = if geometry.has_large_units() { 0 } else { geometry.room() };
        let granules = sections as u32 * share + head.granules(&geometry) + nodes + over;
        if granules > self.reclamation().objects.map.space.capacity() {
            return Err(StoreError::Full.into());
        }
        self.reclamation().make_room_for(granules, sections as u32 + 1)?;
        let tail = self.reclamation().objects.map.space.tail_beside(Reason::Created, granules);
        let head = Header { class: Class::Split, index: slot, generation, ..head };
        let result = self.build(head, header, shape, Header { class: Class::Section, tail, ..section });
        if let Err(error) = result {
            self.reclamation().leftover.now = true;
            self.slots = FreeSlots::UNKNOWN;
            // What does not fit now is taken away later.
            return Err(match self.take_away() {
                Err(failed @ StoreError::Device(_)) => failed.into(),
                _ => error,
            });
        }
        Ok(Ref::new(slot, generation))
    }

    /// How many nodes the map needs more for the slots from `first` on, so many after it.
    fn missing_nodes(&mut self, first: u16, more: u16) -> Result<u32, StoreError<D::Error>> {
        let (mut missing, mut first, mut last) = (0, first, first + more);
        for level in 1..=LEVELS_MAX as u8 {
            (first, last) = (first >> 4, last >> 4);
            for index in first..=last {
                let node = self.reclamation().objects.map.lookup(Owner { level, index })?;
                missing += u32::from(!matches!(node, Entry::At(_)));
            }
            if last == 0 {
                break;
            }
        }
        Ok(missing)
    }

    /// The tail of a new head: it is set twice.
    fn head_tail(&mut self, head: &Header) -> u8 {
        let geometry = self.reclamation().objects.map.space.log.units.geometry();
        let wanted = 3 * geometry.delta_places(4);
        wanted.min(geometry.room() - head.bare_granules(&geometry)) as u8
    }

    /// Writes a split array. Neither the head nor the sections have notes.
    fn build(
        &mut self,
        head: Header,
        bytes: &[u8],
        shape: SplitShape,
        section: Header,
    ) -> Result<(), CreateError<D::Error>> {
        let at = if bytes.is_empty() { HEADER_BYTES } else { HEADED_AT + bytes.len() as u32 };
        let values = Some(Replacement { at, bytes: &shape.encode() });
        let layout = Layout::uniform(2, 4).with_header(bytes);
        self.reclamation().leftover.if_undone |= self.in_transaction();
        self.reclamation().write_without_note(head, layout, values)?;
        for number in 0..shape.sections() {
            let (index, count) = (head.index + 1 + number as u16, shape.elements_of(number));
            let generation = match self.reclamation().objects.map.lookup(Owner::object(index))? {
                Entry::Nowhere(last) => next_generation(last),
                Entry::At(_) => return Err(CreateError::NoReferences),
            };
            let layout = Layout::uniform(usize::from(count), shape.width);
            self.reclamation().write_without_note(Header { index, generation, count, ..section }, layout, None)?;
        }
        let sector = self.sector_in(head.index)?.ok_or(CreateError::NoReferences)?;
        self.set_shape(sector, SplitShape { is_there: true, ..shape }).map_err(|error| match error {
            AccessError::Store(error) => CreateError::Store(error),
            _ => CreateError::NoReferences,
        })
    }

    fn set_shape(&mut self, sector: Sector, shape: SplitShape) -> Result<(), AccessError<D::Error>> {
        self.set(sector, SHAPE_FIELD, &shape.encode()[4..])
    }

    /// Elements of a section, at least one.
    pub(crate) fn section_elements(&self, width: u8) -> u8 {
        let geometry = self.log().units.geometry();
        let granules = (geometry.room() / SECTIONS_OF_UNIT).max(geometry.sector_granules(HEADER_BYTES) + 1);
        let bytes =
            (granules * geometry.granule_bytes - HEADER_BYTES - geometry.check_bytes()).min(SECTION_BYTES_MAX as u32);
        (bytes / u32::from(width)).max(1) as u8
    }

    /// The first of so many free slots in a row without notes, and the generation of its next object.
    fn find_slots(&mut self, count: u32) -> Result<(u16, u16), CreateError<D::Error>> {
        self.take_away()?;
        let (first, _) = self.find_lowest_slot()?;
        let (mut start, mut generation) = (u32::from(first), 0);
        for slot in u32::from(first)..Ref::SLOTS {
            match self.reclamation().objects.map.lookup(Owner::object(slot as u16))? {
                Entry::Nowhere(last) if !self.reclamation().has_note(slot as u16)? => {
                    if slot == start {
                        generation = next_generation(last);
                    }
                    if slot + 1 - start == count {
                        return Ok((start as u16, generation));
                    }
                }
                _ => start = slot + 1,
            }
        }
        Err(CreateError::NoReferences)
    }

    /// Deletes a split array, within a transaction once that is committed.
    pub(crate) fn delete_split(&mut self, sector: Sector) -> Result<(), AccessError<D::Error>> {
        let shape = self.reclamation().shape(&sector)?;
        if L::LISTENS {
            self.invalidate_sections(&sector, shape)?;
        }
        self.set_shape(sector, SplitShape { is_there: false, ..shape })?;
        if self.in_transaction() {
            self.reclamation().leftover.if_committed = true;
            return Ok(());
        }
        self.reclamation().leftover.now = true;
        let taken = match self.reclamation().take_away_split(sector.header.index) {
            Ok(()) => {
                self.reclamation().leftover.now = false;
                Ok(())
            }
            // It is deleted. What is left of it is taken away later.
            Err(StoreError::Full) => Ok(()),
            Err(error) => Err(error.into()),
        };
        self.slots = FreeSlots::UNKNOWN;
        taken
    }

    /// Takes away what is left of arrays that are not there.
    pub(crate) fn take_away(&mut self) -> Result<(), StoreError<D::Error>> {
        if self.reclamation().leftover.now {
            self.slots = FreeSlots::UNKNOWN;
            self.reclamation().take_away()?;
        }
        Ok(())
    }

    /// Whether what is in a sector has a reference.
    pub(crate) fn is_there(&mut self, sector: &Sector) -> Result<bool, StoreError<D::Error>> {
        Ok(match sector.header.class {
            Class::Object | Class::Array => true,
            Class::Split => self.reclamation().shape(sector)?.is_there,
            Class::Section => false,
        })
    }

    /// Checks that each section belongs to an array, and that each array has its sections. Returns whether it is so.
    pub(crate) fn audit_arrays(&mut self, slots: u32) -> Result<bool, StoreError<D::Error>> {
        let (mut wanted, mut all) = (0, 0);
        for slot in 0..slots {
            let Some(sector) = self.sector_in(slot as u16)? else { continue };
            all += u32::from(sector.header.class == Class::Section);
            if sector.header.class != Class::Split {
                continue;
            }
            let shape = self.reclamation().shape(&sector)?;
            let is_whole = shape.is_there || self.reclamation().has_note(slot as u16)?;
            for number in 0..shape.sections() {
                let section = self.sector_in((slot + 1 + number) as u16)?.map(|sector| sector.header);
                let is_section = section.is_some_and(|section| {
                    let is_shape = (section.count, section.width) == (shape.elements_of(number), shape.width);
                    section.class == Class::Section && is_shape
                });
                wanted += u32::from(is_section);
                if is_whole && !is_section {
                    return Ok(false);
                }
            }
            if !is_whole && !self.reclamation().leftover.now {
                return Ok(false);
            }
        }
        Ok(wanted == all)
    }
}

impl<D: Nor, M: UnitRows, L: Listener> Reclamation<D, M, L> {
    /// What the head of a split array says.
    ///
    /// Reads its tail, and its two fields.
    pub(crate) fn shape(&mut self, sector: &Sector) -> Result<SplitShape, StoreError<D::Error>> {
        let mut bytes = [0; SplitShape::BYTES];
        let (low, high) = bytes.split_at_mut(4);
        let count = self.objects.extent(sector, 0)?;
        if count.width == 4 && sector.header.count == 2 {
            self.objects.map.medium().read(sector.at, count.at, low)?;
            let rest = self.objects.extent(sector, SHAPE_FIELD as u8)?;
            self.objects.read_field(sector, SHAPE_FIELD as u8, rest, high)?;
        }
        let what = "the head of an array of no shape";
        SplitShape::decode(bytes).ok_or_else(|| self.objects.map.medium().corrupted(sector.at, what))
    }

    fn has_note(&mut self, slot: u16) -> Result<bool, StoreError<D::Error>> {
        let log = &mut self.objects.map.space.log;
        Ok(log.is_open() && log.note_of(slot)?.is_some())
    }

    /// Writes the first sector of a slot that leads nowhere and has no note. It gets none.
    fn write_without_note(
        &mut self,
        header: Header,
        layout: Layout<'_>,
        values: Option<Replacement<'_>>,
    ) -> Result<(), StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        self.make_room_for(header.bare_granules(&geometry) + geometry.node_granules(), 0)?;
        let owner = header.owner();
        self.objects.map.space.log.intend(Intent::Rewrite(owner))?;
        let sector = self.objects.write(header, Source::New(layout), values, Stream::Updated)?;
        self.lead_to(owner, Entry::At(sector), None)
    }

    /// Takes away what is left of arrays that are not there, except those whose head has a note.
    ///
    /// Reads each leaf of the map, and the header of each object.
    pub(crate) fn take_away(&mut self) -> Result<(), StoreError<D::Error>> {
        for slot in 0..SLOTS_BY_TOP[usize::from(self.objects.map.top())] {
            if let Some(sector) = self.sector_of(slot as u16)?
                && sector.header.class == Class::Split
                && self.is_left_over(&sector)?
                && !self.has_note(slot as u16)?
            {
                self.take_away_split(slot as u16)?;
            }
        }
        self.leftover.now = false;
        Ok(())
    }

    /// Whether what is in a sector is the head of an array that is not there. Where it is damaged, nobody knows, and it
    /// stays.
    fn is_left_over(&mut self, head: &Sector) -> Result<bool, StoreError<D::Error>> {
        if !self.objects.is_intact(head)? {
            return Ok(false);
        }
        match self.shape(head) {
            Ok(shape) => Ok(!shape.is_there),
            Err(StoreError::Corrupted) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes away the sections and the head of an array that is not there.
    ///
    /// Programs for each a granule of the log and a map change.
    fn take_away_split(&mut self, slot: u16) -> Result<(), StoreError<D::Error>> {
        let Some(head) = self.sector_of(slot)? else { return Ok(()) };
        for number in 0..self.shape(&head)?.sections() {
            let index = u32::from(slot) + 1 + number;
            if index < Ref::SLOTS {
                self.take_away_sector(index as u16, Class::Section)?;
            }
        }
        self.take_away_sector(slot, Class::Split)
    }

    fn take_away_sector(&mut self, slot: u16, class: Class) -> Result<(), StoreError<D::Error>> {
        if self.sector_of(slot)?.is_none_or(|sector| sector.header.class != class) {
            return Ok(());
        }
        self.make_room_to_delete()?;
        // Reclamation may have moved it.
        let Some(sector) = self.sector_of(slot)? else { return Ok(()) };
        let owner = Owner::object(slot);
        self.objects.map.space.log.intend(Intent::Rewrite(owner))?;
        self.lead_to(owner, Entry::Nowhere(sector.header.generation), Some(sector))
    }

    /// The sector that is in a slot.
    fn sector_of(&mut self, slot: u16) -> Result<Option<Sector>, StoreError<D::Error>> {
        let Entry::At(at) = self.objects.map.lookup(Owner::object(slot))? else { return Ok(None) };
        let header = self.objects.map.stated_header(at)?;
        let is_object = header.kind != SectorKind::Node && header.count > 0;
        Ok(is_object.then_some(Sector { at, header }))
    }
}
