//! Garbage collection: what it reports, and a collection in bounded steps between other calls.
//!
//! The engines' own `collect` stops the world and keeps its marks on flash. A [`Collection`] keeps two bits for each
//! slot in memory that the caller lends it, and works on every engine. The paper's collector has five calls: start,
//! mark, push, pop and sweep (TinyStore, section 5.5). Here [`Collection::start`] is the first,
//! [`Collection::mark`] the next two, and [`Collection::step`] the last two.
//!
//! ```text
//!                mark                  step: Trace              marks of an object
//!  unreached ──────────────▶ reached ──────────────▶ traced
//!      │
//!      └─ step, once nothing is reached and not traced: deleted
//! ```
//!
//! What changes between two steps is seen by a *write barrier*, which is the caller's: it marks each reference that it
//! stores, in an object, in an array, or as a named root. References in variables need no barrier. They are passed to
//! each step, and so are those that a variable got since the last one. Why that is enough: when a step finds nothing to
//! trace, it marks the named roots and what is in variables. If all of that was traced, each object that can be reached
//! is marked: a reference in a field was there when its object was traced, or it was stored later and so marked. From
//! then on nothing unmarked can be reached, and new objects are marked while they are in a variable, and when they are
//! stored.

use crate::error::{AccessError, CollectError};
use crate::object_heap::ObjectHeap;
use crate::reference::Ref;

/// What a collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Objects and arrays that roots reach.
    pub live: u32,
    /// Objects and arrays that were deleted.
    pub deleted: u32,
}

/// What a step of a [`Collection`] did, or asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionStep {
    /// This object is live: [`mark`](Collection::mark) each reference in it before the next step.
    Trace(Ref),
    /// An object was passed, or deleted.
    Swept,
    /// Nothing is left.
    Done(Collected),
}

/// Slots whose marks are in a word.
const SLOTS_BY_WORD: u32 = 16;
/// Of each pair of bits, the one that says *reached*; the other one says *traced*.
const REACHED: u32 = 0x5555_5555;
/// Slots that were reached last and are kept beside the marks, so that chains are followed without a search.
const PENDING: usize = 8;

/// A mark-and-sweep collection in bounded steps, between which the heap is used as always.
///
/// It ends with the memory that it borrows; to give one up, drop it. After a loss of power the next one begins anew:
/// nothing of it is on flash but its deletions, each of which is atomic.
///
/// ```
/// use norn_heap::{AccessError, CollectError, Collected, Collection, CollectionStep, ObjectHeap, Ref};
///
/// /// Collects all at once: cells have a reference in their first field, or zeros.
/// fn collect<H: ObjectHeap>(heap: &mut H, held: &[Ref]) -> Result<Collected, CollectError<H::DeviceError>> {
///     let mut marks = [0; Collection::words(4096)];
///     let mut collection = Collection::start(&mut marks);
///     loop {
///         match collection.step(heap, held)? {
///             CollectionStep::Trace(cell) => {
///                 let mut next = [0; 4];
///                 heap.get_field(cell, 0, &mut next)?;
///                 Ref::from_bits(u32::from_le_bytes(next)).map(|next| collection.mark(next));
///             }
///             CollectionStep::Swept => {}
///             CollectionStep::Done(collected) => return Ok(collected),
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Collection<'m> {
    marks: &'m mut [u32],
    pending: [u16; PENDING],
    pending_count: usize,
    /// Where the search for what was reached and not traced goes on.
    cursor: u32,
    /// Reached and not traced; those in `pending` are among them.
    untraced: u32,
    /// The last slot that the marks have no room for, and that was reached.
    beyond: Option<u16>,
    phase: Phase,
    collected: Collected,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Marking,
    /// The object that was passed last, or the place of the one that was deleted last.
    Sweeping(Option<Ref>),
    Done,
}

impl<'m> Collection<'m> {
    /// Words of memory for the marks of slots 0 to `slots` − 1, two bits each.
    ///
    /// Slots are given out densely; in the log-structured heap each section of a large array has one, too. If a slot
    /// turns out to have no mark, [`step`](Self::step) says how many slots there are.
    pub const fn words(slots: u32) -> usize {
        slots.div_ceil(SLOTS_BY_WORD) as usize
    }

    /// Begins a collection, with [`words`](Self::words) of memory for its marks. Cost: none of the device.
    pub fn start(marks: &'m mut [u32]) -> Self {
        marks.fill(0);
        Collection {
            marks,
            pending: [0; PENDING],
            pending_count: 0,
            cursor: 0,
            untraced: 0,
            beyond: None,
            phase: Phase::Marking,
            collected: Collected::default(),
        }
    }

    /// Says that `reference` can be reached: it was found in an object that is traced, or is being stored in an object,
    /// in an array, or as a named root. A stale one keeps alive what is in its slot now.
    ///
    /// Cost: none of the device.
    pub fn mark(&mut self, reference: Ref) {
        let slot = reference.slot();
        let Some(word) = self.marks.get_mut((u32::from(slot) / SLOTS_BY_WORD) as usize) else {
            self.beyond = self.beyond.max(Some(slot));
            return;
        };
        let reached = 1 << (2 * (u32::from(slot) % SLOTS_BY_WORD));
        if *word & reached == 0 {
            *word |= reached;
            self.untraced += 1;
            if let Some(place) = self.pending.get_mut(self.pending_count) {
                *place = slot;
                self.pending_count += 1;
            }
        }
    }

    /// Goes on by one object: asks for the references in one that is live, or deletes or passes one.
    ///
    /// `held` are the references that the program has in variables, at each step all of those that it has then.
    ///
    /// Cost: a [`next_object`](ObjectHeap::next_object), and a [`delete`](ObjectHeap::delete) at most; once the named
    /// roots are read, by the first step that finds nothing to trace and each one after it that does so before sweeping
    /// begins. The marks are searched for what is to be traced, 16 slots a word.
    ///
    /// # Errors
    /// `TransactionOpen`: an abort would bring references back that nothing marked. `TooManyObjects` where an object
    /// was reached whose slot has no mark; begin again with more memory. The heap's. The collection can go on after
    /// each of them but `TooManyObjects` and `Halted`.
    pub fn step<H: ObjectHeap>(
        &mut self,
        heap: &mut H,
        held: &[Ref],
    ) -> Result<CollectionStep, CollectError<H::DeviceError>> {
        if heap.in_transaction() {
            return Err(CollectError::TransactionOpen);
        }
        held.iter().for_each(|&reference| self.mark(reference));
        if let Some(object) = self.next_to_trace(heap)? {
            return Ok(CollectionStep::Trace(object));
        }
        if let Phase::Marking = self.phase {
            heap.visit_roots(|_, reference| self.mark(reference))?;
            if let Some(object) = self.next_to_trace(heap)? {
                return Ok(CollectionStep::Trace(object));
            }
            self.phase = Phase::Sweeping(None);
        }
        match self.phase {
            Phase::Sweeping(after) => self.sweep_one(heap, after),
            Phase::Marking | Phase::Done => Ok(CollectionStep::Done(self.collected)),
        }
    }

    /// An object that was reached and not traced; it is traced then.
    fn next_to_trace<H: ObjectHeap>(&mut self, heap: &mut H) -> Result<Option<Ref>, CollectError<H::DeviceError>> {
        if let Some(slot) = self.beyond {
            return Err(CollectError::TooManyObjects { slots: u32::from(slot) + 1 });
        }
        while let Some(slot) = self.untraced_slot() {
            let object = object_in(heap, slot)?;
            self.set_traced(slot);
            if object.is_some() {
                return Ok(object);
            }
        }
        Ok(None)
    }

    fn untraced_slot(&mut self) -> Option<u16> {
        if self.untraced == 0 {
            return None;
        }
        while let Some(last) = self.pending_count.checked_sub(1) {
            let slot = self.pending[last];
            if self.is_untraced(slot) {
                return Some(slot);
            }
            self.pending_count = last;
        }
        self.search()
    }

    /// The next slot from the cursor on that was reached and not traced; round, once.
    fn search(&mut self) -> Option<u16> {
        let words = self.marks.len() as u32;
        for passed in 0..words {
            let at = (self.cursor + passed) % words;
            let untraced = untraced_of(self.marks[at as usize]);
            if untraced != 0 {
                self.cursor = at;
                return Some((at * SLOTS_BY_WORD + untraced.trailing_zeros() / 2) as u16);
            }
        }
        None
    }

    fn is_untraced(&self, slot: u16) -> bool {
        untraced_of(self.word_of(slot)) >> (2 * (u32::from(slot) % SLOTS_BY_WORD)) & 1 == 1
    }

    fn set_traced(&mut self, slot: u16) {
        self.marks[(u32::from(slot) / SLOTS_BY_WORD) as usize] |= 0b10 << (2 * (u32::from(slot) % SLOTS_BY_WORD));
        self.untraced -= 1;
    }

    /// The marks of a slot's word; none of what lies beyond.
    fn word_of(&self, slot: u16) -> u32 {
        self.marks.get((u32::from(slot) / SLOTS_BY_WORD) as usize).copied().unwrap_or_default()
    }

    /// Passes or deletes the next object.
    fn sweep_one<H: ObjectHeap>(
        &mut self,
        heap: &mut H,
        after: Option<Ref>,
    ) -> Result<CollectionStep, CollectError<H::DeviceError>> {
        let Some(object) = heap.next_object(after)? else {
            self.phase = Phase::Done;
            return Ok(CollectionStep::Done(self.collected));
        };
        if self.word_of(object.slot()) >> (2 * (u32::from(object.slot()) % SLOTS_BY_WORD)) & 1 == 1 {
            self.collected.live += 1;
        } else {
            heap.delete(object)?;
            self.collected.deleted += 1;
        }
        self.phase = Phase::Sweeping(Some(object));
        Ok(CollectionStep::Swept)
    }
}

/// The lower bit of each pair whose slot was reached and not traced.
const fn untraced_of(word: u32) -> u32 {
    word & !(word >> 1) & REACHED
}

/// The object in a slot.
fn object_in<H: ObjectHeap>(heap: &mut H, slot: u16) -> Result<Option<Ref>, AccessError<H::DeviceError>> {
    let before = slot.checked_sub(1).map(|slot| Ref::new(slot, 1));
    Ok(heap.next_object(before)?.filter(|object| object.slot() == slot))
}
