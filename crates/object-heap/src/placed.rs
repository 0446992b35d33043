//! Creations at references that the caller chooses: for the copy of a heap, whose objects hold each other's references.
//!
//! A creation takes the first free slot from a hint on, and the generation of the next serial number. So the hint gets
//! the slot, and the serial numbers pass on to the next one of that generation; then the ordinary creation gives the
//! wanted reference.

use norn_flash::Nor;
use norn_heap::{CreateError, Layout, Listener, PlacementError, Ref};
use norn_nor_store::{Features, TreeId, UnitRows};

use crate::form::reference_of;
use crate::heap::HeapIn;

/// Generations that serial numbers go through before they come round.
const GENERATIONS: u32 = 0xFFFF;

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// As [`create`](Self::create), with this reference, whose slot is free.
    ///
    /// References of objects that are deleted afterwards may come round sooner, as up to 65,534 creations are passed
    /// over: copy objects in the order of their generations, and those after the last one are the last to come again.
    ///
    /// Cost: two look-ups more.
    ///
    /// # Errors
    /// `Unavailable` where the slot is taken; as `create`.
    pub fn create_at(&mut self, reference: Ref, layout: Layout<'_>) -> Result<(), PlacementError<D::Error>> {
        self.prepare(reference)?;
        let created = self.create(layout);
        self.expect_placed(reference, created)
    }

    /// As [`create_array`](Self::create_array), with this reference, whose slot is free.
    ///
    /// Cost: as [`create_at`](Self::create_at).
    ///
    /// # Errors
    /// As `create_at`; as `create_array`.
    pub fn create_array_at(
        &mut self,
        reference: Ref,
        count: usize,
        width: u8,
        header: &[u8],
    ) -> Result<(), PlacementError<D::Error>> {
        self.prepare(reference)?;
        let created = self.create_array(count, width, header);
        self.expect_placed(reference, created)
    }

    /// Makes the next creation give this reference.
    fn prepare(&mut self, reference: Ref) -> Result<(), PlacementError<D::Error>> {
        if self.is_aborted() {
            return Err(CreateError::TransactionAborted.into());
        }
        let (slot, root) = (u32::from(reference.slot()), self.store().tree(TreeId::Ref));
        if self.store_mut().trees().vacant(root, slot)? != Some(slot) {
            return Err(PlacementError::Unavailable(reference));
        }
        let next = self.store().next_serial();
        let wanted = u32::from(reference.generation()) - 1;
        self.store_mut().set_next_serial(next + (GENERATIONS + wanted - next % GENERATIONS) % GENERATIONS);
        self.look_for_slots_from(slot);
        debug_assert_eq!(reference_of(slot, self.store().next_serial()), reference);
        Ok(())
    }

    /// A creation that was prepared gives the reference that it was prepared for.
    fn expect_placed(
        &mut self,
        wanted: Ref,
        created: Result<Ref, CreateError<D::Error>>,
    ) -> Result<(), PlacementError<D::Error>> {
        self.look_for_slots_from(0);
        let given = created?;
        debug_assert_eq!(given, wanted);
        Ok(())
    }
}
