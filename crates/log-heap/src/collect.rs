//! Garbage collection: mark what roots reach, then delete the rest; the client says what an object refers to.
//!
//! 1. Mark the roots as reached: the named ones, and the client's.
//! 2. While there is an object that was reached and not traced, have it traced, which marks what it refers to. A few
//!    that were reached last are kept in RAM, so that chains are followed without a search; when there are none, a
//!    cursor walks the [marks](crate::marks) again and again.
//! 3. Delete every object that was not reached: six or more of one leaf of the map by a new leaf, others one by one.
//!
//! RAM is constant, and so is the stack: the structure of what is collected does not matter. Nothing is deleted before
//! every object that roots reach has been traced, and each deletion is atomic. So a cut leaves the heap as it was, or
//! without some of the garbage; the next collection finds the rest.

use norn_flash::Nor;
use norn_heap::{AccessError, CollectError, Collected, Listener, Ref, StoreError};

use crate::format::{Class, DIRECTORY, Entry, FANOUT, Header, Owner};
use crate::heap::LogHeapIn;
use crate::log::Intent;
use crate::map::SLOTS_BY_TOP;
use crate::marks::{Mark, Marks, WINDOW};
use crate::object::Sector;
use crate::reclaim::{Reclamation, SIBLINGS_MIN};
use crate::root::RootCursor;
use crate::slots::FreeSlots;
use crate::units::{UnitRow, UnitRows};

/// References that were reached last and are kept in RAM.
const PENDING: usize = 8;

/// What a tracing function uses: the heap, and a way to say what it found.
#[derive(Debug)]
pub struct TracerIn<'a, D, M, L = ()> {
    heap: &'a mut LogHeapIn<D, M, L>,
    marks: &'a mut Marks,
    pending: Pending,
}

/// A [`TracerIn`] for a [`LogHeap`](crate::LogHeap) of at most `UNITS` erase units.
pub type Tracer<'a, D, const UNITS: usize, L = ()> = TracerIn<'a, D, [UnitRow; UNITS], L>;

/// The slots that were reached last, the newest of them last; and whether the cursor has to walk the marks.
#[derive(Debug, Default)]
struct Pending {
    slots: [u16; PENDING],
    len: usize,
    has_overflown: bool,
    /// One more than the last slot that was reached.
    end: u32,
}

impl Pending {
    fn push(&mut self, slot: u16) {
        self.end = self.end.max(u32::from(slot) + 1);
        match self.slots.get_mut(self.len) {
            Some(place) => {
                *place = slot;
                self.len += 1;
            }
            None => self.has_overflown = true,
        }
    }

    fn pop(&mut self) -> Option<u16> {
        self.len = self.len.checked_sub(1)?;
        Some(self.slots[self.len])
    }
}

impl<D: Nor, M: UnitRows, L: Listener> TracerIn<'_, D, M, L> {
    /// The heap, for reading the object that is traced. The caller must not change it.
    pub fn heap(&mut self) -> &mut LogHeapIn<D, M, L> {
        self.heap
    }

    /// Says that the object that is traced refers to `reference`. A stale reference is passed over.
    ///
    /// Cost: a look-up. Where there are more than 4,096 slots, pages of marks may have to be read and programmed.
    ///
    /// # Errors
    /// The store's; `Full` where marks find no room.
    pub fn reached(&mut self, reference: Ref) -> Result<(), AccessError<D::Error>> {
        match self.heap.find(reference) {
            Ok(_) => {}
            Err(AccessError::Stale(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
        let (space, slot) = (&mut self.heap.reclamation().objects.map.space, reference.slot());
        if self.marks.get(space, slot)? == Mark::Unreached {
            self.marks.set(space, slot, Mark::Reached)?;
            self.pending.push(slot);
        }
        Ok(())
    }
}

impl<D: Nor, M: UnitRows, L: Listener> LogHeapIn<D, M, L> {
    /// Deletes every object and array that neither the named roots nor `roots` reach. `trace` is called once for each
    /// object that is reached, and passes its references to the tracer; where there are more than 4,096 slots, once for
    /// each 4,096 of them.
    ///
    /// Works on a full part. Cost: for each object three look-ups, and what `trace` reads; for each deleted one a
    /// granule of the log and a map change, or less where six or more of a leaf are deleted. Up to 4,096 slots nothing
    /// else is programmed. Beyond, up to 8 granules for each object that is reached and for each that is traced, an
    /// erase once in as many as fit into a unit, and all of that for each 4,096 slots.
    ///
    /// # Errors
    /// `TransactionOpen`; `TooManyObjects` where the free units cannot hold two bits for each slot; what `trace`
    /// returns, and the store's. Nothing reachable has been deleted then; some garbage may have been.
    pub fn collect(
        &mut self,
        roots: &[Ref],
        mut trace: impl FnMut(&mut TracerIn<'_, D, M, L>, Ref) -> Result<(), AccessError<D::Error>>,
    ) -> Result<Collected, CollectError<D::Error>> {
        self.expect_running()?;
        if self.in_transaction() {
            return Err(CollectError::TransactionOpen);
        }
        let slots = SLOTS_BY_TOP[usize::from(self.reclamation().objects.map.top())];
        let (mut marks, mut collected, mut first) = (Marks::new(), Collected::default(), 0);
        while self.reclamation().objects.map.next_slot(first)?.is_some() {
            if slots > WINDOW {
                self.make_room_for_marks()?;
            }
            match self.mark(&mut marks, first, roots, &mut trace) {
                Ok(()) => {}
                Err(AccessError::Store(StoreError::Full)) => return Err(CollectError::TooManyObjects { slots }),
                Err(error) => return Err(error.into()),
            }
            self.delete_unreached(&mut marks, first, &mut collected)?;
            first += WINDOW;
        }
        self.slots = FreeSlots::UNKNOWN;
        Ok(collected)
    }

    /// Units for marks are those that are free beyond what deletions need.
    fn make_room_for_marks(&mut self) -> Result<(), StoreError<D::Error>> {
        match self.reclamation().make_room() {
            Err(StoreError::Full) => Ok(()),
            made => made.map(|_| ()),
        }
    }

    /// Steps 1 and 2. Afterwards the marks of a window of slots are in RAM, and no unit is taken.
    fn mark(
        &mut self,
        marks: &mut Marks,
        first: u32,
        roots: &[Ref],
        trace: &mut impl FnMut(&mut TracerIn<'_, D, M, L>, Ref) -> Result<(), AccessError<D::Error>>,
    ) -> Result<(), AccessError<D::Error>> {
        *marks = Marks::new();
        let marked = self.mark_all(marks, roots, trace);
        let space = &mut self.reclamation().objects.map.space;
        match marked {
            Ok(()) => Ok(marks.keep(space, first)?),
            Err(error) => {
                marks.end(space);
                Err(error)
            }
        }
    }

    fn mark_all(
        &mut self,
        marks: &mut Marks,
        roots: &[Ref],
        trace: &mut impl FnMut(&mut TracerIn<'_, D, M, L>, Ref) -> Result<(), AccessError<D::Error>>,
    ) -> Result<(), AccessError<D::Error>> {
        let mut tracer = TracerIn { heap: self, marks, pending: Pending::default() };
        for &root in roots {
            tracer.reached(root)?;
        }
        tracer.reach_named_roots()?;
        let mut cursor = 0;
        loop {
            let slot = match tracer.pending.pop() {
                Some(slot) => slot,
                None if !tracer.pending.has_overflown => return Ok(()),
                None => match tracer.next_untraced(&mut cursor)? {
                    Some(slot) => slot,
                    None => return Ok(()),
                },
            };
            tracer.trace(slot, trace)?;
        }
    }

    /// Step 3, in a window of slots.
    fn delete_unreached(
        &mut self,
        marks: &mut Marks,
        first: u32,
        collected: &mut Collected,
    ) -> Result<(), CollectError<D::Error>> {
        let mut from = first;
        while let Some(slot) = self.reclamation().objects.map.next_slot(from)?
            && u32::from(slot) < first + WINDOW
        {
            let leaf = slot >> 4;
            self.delete_of_leaf(leaf, marks, collected)?;
            from = u32::from(leaf + 1) << 4;
        }
        Ok(())
    }

    /// Deletes what was not reached in the slots of a leaf.
    fn delete_of_leaf(
        &mut self,
        leaf: u16,
        marks: &mut Marks,
        collected: &mut Collected,
    ) -> Result<(), CollectError<D::Error>> {
        let mut unreached = 0u16;
        for digit in 0..FANOUT as u16 {
            let Some(sector) = self.sector_in(leaf << 4 | digit)? else { continue };
            let Header { index, generation, class, .. } = sector.header;
            if generation == DIRECTORY || class == Class::Section || !self.is_there(&sector)? {
                continue;
            }
            if marks.get(&mut self.reclamation().objects.map.space, index)? != Mark::Unreached {
                collected.live += 1;
                continue;
            }
            collected.deleted += 1;
            match class {
                Class::Split => self.delete(Ref::new(index, generation))?,
                _ => unreached |= 1 << digit,
            }
        }
        Ok(self.reclamation().delete_slots(leaf, unreached)?)
    }
}

impl<D: Nor, M: UnitRows, L: Listener> Reclamation<D, M, L> {
    /// Deletes objects of a leaf: several by a new leaf, few by a change for each.
    fn delete_slots(&mut self, leaf: u16, digits: u16) -> Result<(), StoreError<D::Error>> {
        self.make_room_for_nodes()?;
        let owner = Owner { level: 1, index: leaf };
        let Entry::At(at) = self.objects.map.lookup(owner)? else { return Ok(()) };
        let entries = self.objects.map.node(at, owner)?.entries;
        let mut without = entries;
        for digit in (0..FANOUT as usize).filter(|digit| digits >> digit & 1 == 1) {
            let Entry::At(at) = entries[digit] else { continue };
            without[digit] = Entry::Nowhere(self.objects.map.stated_header(at)?.generation);
        }
        if digits.count_ones() >= SIBLINGS_MIN {
            return self.replace_leaf(owner, at, &entries, &without);
        }
        for digit in (0..FANOUT as usize).filter(|&digit| without[digit] != entries[digit]) {
            self.make_room_for_nodes()?;
            let object = Owner::object(leaf << 4 | digit as u16);
            if let Entry::At(at) = self.objects.map.lookup(object)? {
                let sector = Sector { at, header: self.objects.map.stated_header(at)? };
                self.objects.map.space.log.intend(Intent::Rewrite(object))?;
                self.lead_to(object, without[digit], Some(sector))?;
            }
        }
        Ok(())
    }
}

impl<D: Nor, M: UnitRows, L: Listener> TracerIn<'_, D, M, L> {
    fn reach_named_roots(&mut self) -> Result<(), AccessError<D::Error>> {
        let mut cursor = RootCursor::default();
        while let Some(reference) = self.heap.next_root(&mut cursor)? {
            self.reached(reference)?;
        }
        Ok(())
    }

    /// Has the object in `slot` traced.
    fn trace(
        &mut self,
        slot: u16,
        trace: &mut impl FnMut(&mut TracerIn<'_, D, M, L>, Ref) -> Result<(), AccessError<D::Error>>,
    ) -> Result<(), AccessError<D::Error>> {
        self.marks.set(&mut self.heap.reclamation().objects.map.space, slot, Mark::Traced)?;
        match self.heap.sector_in(slot)? {
            Some(sector) => trace(self, Ref::new(slot, sector.header.generation)),
            None => Ok(()),
        }
    }

    /// The next slot after the cursor that was reached and not traced; `None` once there are none at all.
    fn next_untraced(&mut self, cursor: &mut u32) -> Result<Option<u16>, AccessError<D::Error>> {
        let space = &mut self.heap.reclamation().objects.map.space;
        let end = self.pending.end;
        for passed in 0..end {
            let slot = ((*cursor + passed) % end) as u16;
            if self.marks.get(space, slot)? == Mark::Reached {
                *cursor = u32::from(slot) + 1;
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }
}
