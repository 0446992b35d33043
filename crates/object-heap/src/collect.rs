//! Garbage collection: mark what roots reach, then delete the rest; the client says what an object refers to.
//!
//! 1. Begin a field of scratch bits: for each slot of the REF tree a bit for *reached* and one for *traced*.
//! 2. Mark the roots as reached: the named ones, and the client's.
//! 3. While there is an object that was reached and not traced, have it traced, which marks what it refers to, and mark
//!    it as traced. A few that were reached last are kept in RAM, so that chains are followed without a search; when
//!    there are none, a cursor walks the bits again and again.
//! 4. Delete every object that was not reached, one by one.
//!
//! RAM is constant, and so is the stack: the structure of what is collected does not matter. Two bits an object are all
//! that is programmed. The paper keeps a sorted array of references with a mark each and a stack of references, four
//! programs an object, and is limited by a single unit; slots are dense, so that their bits are found without
//! searching.
//!
//! Nothing is deleted before every root has been traced; each deletion is a transaction. So a power cut leaves the heap
//! as it was, or without some of the garbage.

use norn_flash::Nor;
use norn_heap::{AccessError, CollectError, Collected, Listener, Ref};
use norn_nor_store::{AllFeatures, Features, ScratchBits, StoreError, TreeId, UnitRow, UnitRows};

use crate::heap::HeapIn;

/// References that were reached last and are kept in RAM.
const PENDING: usize = 8;

/// What a tracing function uses: the heap, and a way to say what it found.
#[derive(Debug)]
pub struct TracerIn<'a, D: Nor, M: UnitRows, L = (), F = AllFeatures> {
    heap: &'a mut HeapIn<D, M, L, F>,
    scratch: &'a ScratchBits,
    pending: &'a mut Pending,
}

/// A [`TracerIn`] for a [`Heap`](crate::Heap) of at most `UNITS` erase units.
pub type Tracer<'a, D, const UNITS: usize, L = (), F = AllFeatures> = TracerIn<'a, D, [UnitRow; UNITS], L, F>;

/// The slots that were reached last, the newest of them last; and whether the cursor has to walk the bits once more.
#[derive(Debug, Default)]
struct Pending {
    slots: [u16; PENDING],
    len: usize,
    overflown: bool,
}

impl Pending {
    fn push(&mut self, slot: u16) {
        match self.slots.get_mut(self.len) {
            Some(place) => {
                *place = slot;
                self.len += 1;
            }
            None => self.overflown = true,
        }
    }

    fn pop(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        Some(u32::from(self.slots[self.len]))
    }
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> TracerIn<'_, D, M, L, F> {
    /// The heap, for reading the object that is traced. The caller must not change it, nor request pointers with
    /// notification.
    pub fn heap(&mut self) -> &mut HeapIn<D, M, L, F> {
        self.heap
    }

    /// Says that the object that is traced refers to `reference`. A stale reference is passed over.
    ///
    /// Cost: a look-up, 2 words read; the first time for each object 1 word programmed.
    ///
    /// # Errors
    /// The store's.
    pub fn reached(&mut self, reference: Ref) -> Result<(), AccessError<D::Error>> {
        match self.heap.look_up(reference) {
            Ok(_) => {}
            Err(AccessError::Stale(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
        let bit = reached_bit(reference.slot().into());
        // What was created since the collection began is live; it has no bit.
        if bit < self.scratch.len() && self.heap.store_mut().scratch().bit(self.scratch, bit)? {
            self.heap.store_mut().scratch().clear_bit(self.scratch, bit)?;
            self.pending.push(reference.slot());
        }
        Ok(())
    }
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// Deletes every object and array that neither the named roots nor `roots` reach. `trace` is called once for each
    /// object that is reached, and passes its references to the tracer.
    ///
    /// Works on a full device. Cost: for each object two look-ups, what `trace` reads, and 2 words programmed; for each
    /// deleted one a [`delete`](Self::delete); an erase once in several collections.
    ///
    /// # Errors
    /// `TransactionOpen`; `TooManyObjects` where the free units cannot hold two bits for each slot; what `trace`
    /// returns, and the store's. Nothing reachable has been deleted then; some garbage may have been.
    pub fn collect(
        &mut self,
        roots: &[Ref],
        mut trace: impl FnMut(&mut TracerIn<'_, D, M, L, F>, Ref) -> Result<(), AccessError<D::Error>>,
    ) -> Result<Collected, CollectError<D::Error>> {
        if self.in_transaction() {
            return Err(CollectError::TransactionOpen);
        }
        let root = self.store().tree(TreeId::Ref);
        let Some(last) = self.store_mut().trees().last(root)? else {
            return Ok(Collected::default());
        };
        let scratch = match self.store_mut().scratch().begin(2 * (last + 1)) {
            Err(StoreError::Full) => return Err(CollectError::TooManyObjects { slots: last + 1 }),
            other => other?,
        };
        let marked = self.mark(&scratch, roots, &mut trace);
        let swept = match marked {
            Ok(()) => self.sweep(&scratch, last),
            Err(error) => Err(error),
        };
        self.store_mut().scratch().end(scratch);
        Ok(swept?)
    }

    /// Steps 2 and 3.
    #[inline(never)]
    fn mark(
        &mut self,
        scratch: &ScratchBits,
        roots: &[Ref],
        trace: &mut impl FnMut(&mut TracerIn<'_, D, M, L, F>, Ref) -> Result<(), AccessError<D::Error>>,
    ) -> Result<(), AccessError<D::Error>> {
        let mut pending = Pending::default();
        let mut tracer = TracerIn { heap: self, scratch, pending: &mut pending };
        for &root in roots {
            tracer.reached(root)?;
        }
        let mut from = 0;
        while let Some(root) = tracer.heap.checked().next_root(from)? {
            tracer.reached(root.reference)?;
            from = root.key + 1;
        }
        let mut cursor = 0;
        loop {
            let popped = tracer.pending.pop();
            let Some(slot) = (match popped {
                Some(slot) => Some(slot),
                None if tracer.pending.overflown => tracer.next_untraced(&mut cursor)?,
                None => return Ok(()),
            }) else {
                return Ok(());
            };
            tracer.trace(slot, trace)?;
        }
    }

    /// Step 4.
    fn sweep(&mut self, scratch: &ScratchBits, last: u32) -> Result<Collected, AccessError<D::Error>> {
        let mut collected = Collected::default();
        let mut from = 0;
        loop {
            let root = self.store().tree(TreeId::Ref);
            let Some((slot, leaf)) = self.store_mut().trees().next(root, from)?.filter(|(slot, _)| *slot <= last)
            else {
                return Ok(collected);
            };
            from = slot + 1;
            let marks = self.store_mut().scratch().word(scratch, reached_bit(slot))? >> (reached_bit(slot) % 32) & 0b11;
            if self.detects() && marks != 0b00 && marks != 0b11 {
                // What is reached is traced, too, by now.
                let address = self.store().place_of(leaf);
                return Ok(self.sectors().corrupted(address, "a damaged mark of a collection")?);
            }
            if marks & 1 == 1 {
                let named = self.descriptors().read_descriptor(leaf, slot, false)?;
                // While scratch bits are in use the log must not need another unit in the middle of a transaction.
                self.store_mut().make_log_room()?;
                self.delete(named.reference())?;
                collected.deleted += 1;
            } else {
                collected.live += 1;
            }
        }
    }
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> TracerIn<'_, D, M, L, F> {
    /// Has the object in `slot` traced.
    fn trace(
        &mut self,
        slot: u32,
        trace: &mut impl FnMut(&mut TracerIn<'_, D, M, L, F>, Ref) -> Result<(), AccessError<D::Error>>,
    ) -> Result<(), AccessError<D::Error>> {
        let store = self.heap.store_mut();
        let root = store.tree(TreeId::Ref);
        if let Some(found) = store.trees().get(root, slot)? {
            let reference = self.heap.descriptors().read_descriptor(found.pointer, slot, false)?.reference();
            trace(self, reference)?;
        }
        Ok(self.heap.store_mut().scratch().clear_bit(self.scratch, traced_bit(slot))?)
    }

    /// The next slot after the cursor that was reached and not traced; `None` once there are none at all.
    fn next_untraced(&mut self, cursor: &mut u32) -> Result<Option<u32>, AccessError<D::Error>> {
        let slots = self.scratch.len() / 2;
        let mut passed = 0;
        while passed < slots {
            let slot = *cursor % slots;
            let word = self.heap.store_mut().scratch().word(self.scratch, reached_bit(slot))?;
            let start = slot % 16;
            let in_word = (16 - start).min(slots - slot);
            let untraced = |at: u32| word >> (2 * at) & 0b11 == 0b10;
            if let Some(at) = (start..start + in_word).find(|&at| untraced(at)) {
                *cursor = slot - start + at + 1;
                return Ok(Some(slot - start + at));
            }
            *cursor = slot + in_word;
            passed += in_word;
        }
        Ok(None)
    }
}

fn reached_bit(slot: u32) -> u32 {
    2 * slot
}

fn traced_bit(slot: u32) -> u32 {
    2 * slot + 1
}
