//! Creations at references that the caller chooses: for the copy of a heap, whose objects hold each other's references.
//!
//! A creation takes the first free slot from a hint on, and the generation after the one that the map has for the slot.
//! So the map gets the generation before the wanted one, and the hint the slot; then the ordinary creation gives the
//! wanted reference. A cut between the two leaves a free slot with another generation, which nothing notices.

use norn_flash::Nor;
use norn_heap::{AccessError, CreateError, Layout, Listener, PlacementError, Ref, StoreError};

use crate::format::{Entry, NEVER, Owner};
use crate::heap::LogHeapIn;
use crate::log::Intent;
use crate::map::next_generation;
use crate::slots::FreeSlots;
use crate::units::UnitRows;

impl<D: Nor, M: UnitRows, L: Listener> LogHeapIn<D, M, L> {
    /// As [`create`](Self::create), with this reference, outside of transactions.
    ///
    /// Cost: two look-ups more, and a map change where the slot's next reference is another one.
    ///
    /// # Errors
    /// `Unavailable` where the slot is 0 or taken, the generation 65,535, or a transaction open; as `create`.
    pub fn create_at(&mut self, reference: Ref, layout: Layout<'_>) -> Result<(), PlacementError<D::Error>> {
        self.prepare(reference, 1)?;
        let created = self.create(layout);
        self.expect_placed(reference, created)
    }

    /// As [`create_array`](Self::create_array), with this reference, outside of transactions.
    ///
    /// Cost: as [`create_at`](Self::create_at), and a look-up for each of [its slots](Self::array_slots).
    ///
    /// # Errors
    /// As `create_at`, and `Unavailable` where one of the slots after it is taken; as `create_array`.
    pub fn create_array_at(
        &mut self,
        reference: Ref,
        count: usize,
        width: u8,
        header: &[u8],
    ) -> Result<(), PlacementError<D::Error>> {
        self.prepare(reference, self.array_slots(count, width, header))?;
        let created = self.create_array(count, width, header);
        self.expect_placed(reference, created)
    }

    /// Slots that an array takes from that of its reference on: 1 where its elements fit a sector, else one more than
    /// it has sections.
    pub fn array_slots(&self, count: usize, width: u8, header: &[u8]) -> u32 {
        if !self.is_split(count, width, header) {
            return 1;
        }
        u32::try_from(count.div_ceil(usize::from(self.section_elements(width)))).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Whether a reference can be given here: neither that of a directory of roots, nor of a generation that this heap
    /// does not use.
    pub const fn can_name(reference: Ref) -> bool {
        reference.slot() != 0 && reference.generation() < NEVER
    }

    /// Makes sure that no creation gives this reference, whose slot is free, until its slot's generations come round:
    /// the next one there gives the reference after it.
    ///
    /// Cost: two look-ups, and a map change.
    ///
    /// # Errors
    /// `Unavailable` as of [`create_at`](Self::create_at); the store's.
    pub fn retire(&mut self, reference: Ref) -> Result<(), PlacementError<D::Error>> {
        let next = next_generation(reference.generation());
        self.prepare(Ref::new(reference.slot(), next), 1)?;
        self.slots = FreeSlots::UNKNOWN;
        Ok(())
    }

    /// Makes the next creation give this reference, if it takes so many slots.
    fn prepare(&mut self, reference: Ref, slots: u32) -> Result<(), PlacementError<D::Error>> {
        self.expect_running()?;
        let unavailable = Err(PlacementError::Unavailable(reference));
        if self.in_transaction() || !Self::can_name(reference) {
            return unavailable;
        }
        self.take_away()?;
        let first = u32::from(reference.slot());
        if slots > Ref::SLOTS - first {
            return unavailable;
        }
        for slot in first..first + slots {
            if let Entry::At(_) = self.entry_of(slot as u16)? {
                return unavailable;
            }
        }
        if let Entry::Nowhere(last) = self.entry_of(reference.slot())?
            && next_generation(last) != reference.generation()
        {
            self.set_last_generation(reference.slot(), reference.generation() - 1)?;
        }
        self.slots = FreeSlots::from(reference.slot());
        Ok(())
    }

    fn entry_of(&mut self, slot: u16) -> Result<Entry, StoreError<D::Error>> {
        self.reclamation().objects.map.lookup(Owner::object(slot))
    }

    fn set_last_generation(&mut self, slot: u16, generation: u16) -> Result<(), StoreError<D::Error>> {
        let owner = Owner::object(slot);
        self.reclamation().make_room()?;
        self.reclamation().objects.map.space.log.intend(Intent::Rewrite(owner))?;
        self.reclamation().lead_to(owner, Entry::Nowhere(generation), None)
    }

    /// A creation that was prepared gives the reference that it was prepared for.
    fn expect_placed(
        &mut self,
        wanted: Ref,
        created: Result<Ref, CreateError<D::Error>>,
    ) -> Result<(), PlacementError<D::Error>> {
        self.slots = FreeSlots::UNKNOWN;
        match created? {
            given if given == wanted => Ok(()),
            given => match self.delete(given) {
                Err(AccessError::Store(error)) => Err(error.into()),
                _ => Err(PlacementError::Unavailable(wanted)),
            },
        }
    }
}
