//! Pointers with notification: where values and headers are on the part, until the client hears otherwise.
//!
//! Neither flash nor RAM keeps account of pointers. The [`Listener`] hears of every object whose tail is appended to,
//! and of every sector that the map leads to no longer: `Objects` and `Map` tell it at the one place where either
//! happens. The client, which has a table of what it points to, passes over what is not in it.
//!
//! To make a pointer to a field:
//! 1. where deltas of the object count, write it anew without them;
//! 2. the bytes of the sector from the field on are the values.

use norn_flash::{MountError, Nor};
use norn_heap::{AccessError, Listener, PhysicalPointer, PointerError, Ref, StoreError};

use crate::format::{Entry, ErrorDetection, Owner, SplitShape};
use crate::heap::{LogHeap, LogHeapIn};
use crate::object::{Extent, Replacement, Sector};
use crate::space::Reason;
use crate::units::{UnitRow, UnitRows};

/// What replaces nothing.
const NOTHING: Replacement<'static> = Replacement { at: 0, bytes: &[] };

impl<D: Nor, const UNITS: usize, L: Listener> LogHeap<D, UNITS, L> {
    /// As [`format`](LogHeap::format), with a listener that is notified of pointers that end.
    ///
    /// # Errors
    /// As `format`.
    pub fn format_with(device: D, listener: L) -> Result<Self, MountError<D::Error>> {
        let mut heap = Self::unmounted_with_in(device, [UnitRow::UNUSED; UNITS], listener);
        heap.reformat(ErrorDetection::Off)?;
        Ok(heap)
    }

    /// As [`mount`](LogHeap::mount), with a listener that is notified of pointers that end.
    ///
    /// # Errors
    /// As `mount`.
    pub fn mount_with(device: D, listener: L) -> Result<Self, MountError<D::Error>> {
        let mut heap = Self::unmounted_with_in(device, [UnitRow::UNUSED; UNITS], listener);
        heap.remount()?;
        Ok(heap)
    }
}

impl<D: Nor, M: UnitRows, L: Listener> LogHeapIn<D, M, L> {
    /// The listener, which is notified of pointers.
    pub const fn listener(&self) -> &L {
        &self.map().listener
    }

    /// The listener, for example to store a new pointer in it.
    pub fn listener_mut(&mut self) -> &mut L {
        &mut self.reclamation().objects.map.listener
    }

    /// Where the value of field `index` of an object is, with those of the fields after it, until the [`Listener`] is
    /// notified of the object.
    ///
    /// Cost: a look-up, the tail's used places and up to three more. Where a field was set since the object was
    /// written, also a granule of the log, the object's granules and a map change.
    ///
    /// With a listener each sector that is moved, replaced or deleted costs two words more, which are read. A pointer
    /// is not noted anywhere. What is read through one is not checked for flipped bits.
    ///
    /// # Errors
    /// `TransactionOpen`, `NoListener`; `Stale`, `WrongKind`, `OutOfRange`; the store's.
    pub fn field_pointer(&mut self, object: Ref, index: usize) -> Result<PhysicalPointer, PointerError<D::Error>> {
        self.expect_listener()?;
        let sector = self.find_object(object)?;
        Ok(self.point(sector, index)?)
    }

    /// Where the value of element `index` of an array is, with those after it in its section, until the [`Listener`] is
    /// notified of the section, [`notified`](PhysicalPointer::notified).
    ///
    /// Cost: as [`field_pointer`](Self::field_pointer); of a split array one look-up more.
    ///
    /// # Errors
    /// As [`field_pointer`](Self::field_pointer).
    pub fn array_pointer(&mut self, array: Ref, index: usize) -> Result<PhysicalPointer, PointerError<D::Error>> {
        self.expect_listener()?;
        let (section, index) = self.sector_with(array, index)?;
        Ok(self.point(section, index)?)
    }

    /// Where the header of an object or array is, until the [`Listener`] is notified of it; `None` if there is no
    /// header: the listener is notified all the same when one is set.
    ///
    /// Cost: a look-up, and two bytes of what has a header.
    ///
    /// # Errors
    /// `TransactionOpen`, `NoListener`; `Stale`; the store's.
    pub fn header_pointer(&mut self, reference: Ref) -> Result<Option<PhysicalPointer>, PointerError<D::Error>> {
        self.expect_listener()?;
        let sector = self.find(reference)?;
        let header = self.reclamation().objects.parts(&sector).map_err(AccessError::Store)?.header;
        Ok((header.width > 0).then(|| self.pointer_to(&sector, header)))
    }

    /// A pointer to a field or an element of what is in a sector, and to those after it.
    fn point(&mut self, sector: Sector, index: usize) -> Result<PhysicalPointer, AccessError<D::Error>> {
        self.field(&sector, index)?;
        let sector = self.without_deltas(sector)?;
        let (_, first) = self.field(&sector, index)?;
        let (_, last) = self.field(&sector, usize::from(sector.header.count) - 1)?;
        let values = Extent { at: first.at, width: last.at + last.width - first.at };
        Ok(self.pointer_to(&sector, values))
    }

    /// Makes sure that the values of an object are all in its sector, and returns where that is.
    fn without_deltas(&mut self, sector: Sector) -> Result<Sector, AccessError<D::Error>> {
        if self.reclamation().objects.tail(&sector, None)?.deltas == 0 {
            return Ok(sector);
        }
        self.reclamation().make_room()?;
        let sector = self.find_again(sector)?;
        let tail = self.reclamation().objects.tail(&sector, None)?;
        if tail.deltas > 0 {
            self.replace(sector, Reason::Replaced(tail.used), NOTHING)?;
        }
        self.find_again(sector)
    }

    fn pointer_to(&self, sector: &Sector, bytes: Extent) -> PhysicalPointer {
        PhysicalPointer {
            address: self.log().units.medium.address(sector.at, bytes.at),
            len: bytes.width as usize,
            notified: Ref::new(sector.header.index, sector.header.generation),
        }
    }

    fn expect_listener(&self) -> Result<(), PointerError<D::Error>> {
        self.expect_running().map_err(AccessError::Store)?;
        match self.in_transaction() {
            _ if !L::LISTENS => Err(PointerError::NoListener),
            false => Ok(()),
            true => Err(PointerError::TransactionOpen),
        }
    }

    /// Tells the listener that the sections of an array are about to be deleted.
    ///
    /// Cost: a look-up and a header for each.
    pub(crate) fn invalidate_sections(&mut self, head: &Sector, shape: SplitShape) -> Result<(), StoreError<D::Error>> {
        for slot in u32::from(head.header.index) + 1..=u32::from(head.header.index) + shape.sections() {
            let map = &mut self.reclamation().objects.map;
            let section = map.lookup(Owner::object(slot as u16))?;
            map.led_away(section, Entry::Nowhere(0))?;
        }
        Ok(())
    }
}
