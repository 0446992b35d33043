//! All objects of a card: those on flash, transient arrays, and the runtime's own in RAM.
//!
//! ```text
//! a transient array on flash   kind and TRANSIENT_RESET or TRANSIENT_DESELECT │ package │ class │ owner
//!                              fields: u16 offset in RAM, u16 elements
//! end of what is used of RAM   an object with one field of 2 bytes, found by the root "tr"
//! ```
//!
//! Invariant: no transient array ends beyond what the object of "tr" says; it is moved before an array is made, so that
//! a power cut between the two loses room until the next collection, and nothing else.

use norn_card_package::format;

use crate::end::Failure;
use crate::heap::{HEADER_BYTES, PersistentHeap};
use crate::objects::{ClassId, Form, Objects, PACKAGE_OWNER, Places, RUNTIME, Standing, TEMPORARY_END};
use crate::persistent::{ObjectError, Persistent, TransactionRefusal, form, value};
use crate::ram::{APDU_BUFFER, Block, Known, Place, Ram, block_bytes};

/// In the first byte of a header: an array that a reset clears.
pub(crate) const TRANSIENT_RESET: u8 = 0x40;
/// In the first byte of a header: an array that deselection clears.
pub(crate) const TRANSIENT_DESELECT: u8 = 0x20;
/// Both.
pub(crate) const TRANSIENT: u8 = TRANSIENT_RESET | TRANSIENT_DESELECT;
/// The object that says how much of the RAM for transient arrays is used.
const USED_ROOT: [u8; 2] = *b"tr";
/// In place of a package, in headers of the runtime's own objects without references.
const PLAIN: [u8; HEADER_BYTES] = [format::TYPE_CLASS, format::NONE, format::NONE, 0];

/// What an object on the heap is, as its header says, for those who count objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// An instance of a class.
    Object(ClassId),
    /// An array of a kind of [`norn_card_package::format`]; of references, with their class.
    Array {
        /// What an element is.
        kind: u8,
        /// The class of references.
        class: ClassId,
        /// Whether its elements are in RAM.
        is_transient: bool,
    },
    /// The runtime's own: an entry of the registry, static fields, a record.
    Runtime,
}

impl Stored {
    /// What a header says.
    #[must_use]
    pub fn of(header: [u8; HEADER_BYTES]) -> Stored {
        let [first, package, class, owner] = header;
        match form([first & !TRANSIENT, package, class, owner], 0) {
            Form::Object(_) if package == format::NONE || class == format::NONE => Stored::Runtime,
            Form::Object(class) => Stored::Object(class),
            Form::Array { kind, class, .. } => Stored::Array { kind, class, is_transient: first & TRANSIENT != 0 },
        }
    }
}

/// What is known of an object, so that its header is not read again.
#[derive(Clone, Copy, Debug)]
struct Looked {
    /// 0 for none.
    reference: i32,
    header: [u8; HEADER_BYTES],
    /// Where a transient array is in RAM.
    offset: u16,
    /// Elements of an array.
    length: u16,
}

/// Objects of which that is known: a power of two. Each has one place.
const LOOKED: usize = 4;

const NOTHING: Looked = Looked { reference: 0, header: [0; HEADER_BYTES], offset: 0, length: 0 };

/// Where an object is among those that are known: neighbours have different places.
fn looked_place(reference: i32) -> usize {
    (reference ^ (reference >> 16)) as usize % LOOKED
}

/// Objects on a heap `H` of at most `PACKAGES` packages, with `TRANSIENT` bytes of RAM for transient arrays.
#[derive(Debug)]
pub struct Memory<H: PersistentHeap, const PACKAGES: usize, const TRANSIENT_BYTES: usize> {
    pub(crate) persistent: Persistent<H, PACKAGES>,
    pub(crate) ram: Ram<TRANSIENT_BYTES>,
    /// Where free RAM for transient arrays starts.
    used: u16,
    owner: u8,
    /// The instance that is being installed; 0 for none.
    pub(crate) installing: u8,
    looked: [Looked; LOOKED],
    /// There may be a note that something of a key is left.
    pub(crate) may_have_old_keys: bool,
    /// The context of each owner, for arrays that deselection clears.
    pub(crate) contexts: Contexts,
}

/// The package of each applet's instance, by its number; [`format::NONE`] where there is none.
#[derive(Clone, Copy, Debug)]
pub struct Contexts(pub(crate) [u8; INSTANCES_MAX as usize + 1]);

/// Instances of applets that a card has at most; their numbers start at 1.
pub const INSTANCES_MAX: u8 = 16;

impl Contexts {
    /// The context of an owner.
    #[inline(never)]
    pub(crate) fn of(&self, owner: u8) -> u8 {
        match owner.checked_sub(PACKAGE_OWNER) {
            Some(package) => package,
            // The runtime's is that of the API, which has no applets.
            None => self.0.get(usize::from(owner)).copied().unwrap_or(format::NONE),
        }
    }
}

/// Why objects cannot be read or changed.
pub(crate) type MemoryError<H> = ObjectError<<H as PersistentHeap>::Error>;
type Change<H> = Result<(), Failure<MemoryError<H>>>;

impl<H: PersistentHeap, const PACKAGES: usize, const TRANSIENT_BYTES: usize> Memory<H, PACKAGES, TRANSIENT_BYTES> {
    /// The objects of a mounted heap, which has not been looked at.
    pub(crate) fn unread(heap: H) -> Self {
        let contexts = Contexts([format::NONE; INSTANCES_MAX as usize + 1]);
        let (persistent, ram) = (Persistent::unread(heap), Ram::new(Known::nothing()));
        Memory {
            persistent,
            ram,
            used: 0,
            owner: 0,
            installing: 0,
            looked: [NOTHING; LOOKED],
            may_have_old_keys: false,
            contexts,
        }
    }

    /// The heap, as [`Persistent::keeper`] gives it.
    pub(crate) fn heap(&mut self) -> &mut H {
        self.persistent.keeper()
    }

    /// Reads again how much of the RAM is used, as after an abort; what is above it is cleared.
    pub(crate) fn read_used(&mut self) -> Result<(), MemoryError<H>> {
        self.forget();
        let mut used = [0; 2];
        if let Some(object) = self.heap().root(USED_ROOT).map_err(ObjectError::Heap)? {
            self.heap().read_field(object, 0, &mut used).map_err(ObjectError::Heap)?;
        }
        self.used = u16::from_le_bytes(used);
        self.ram.clear_from(self.used);
        Ok(())
    }

    /// Says how much of the RAM is used from now on.
    pub(crate) fn set_used(&mut self, used: u16) -> Change<H> {
        let found = self.heap().root(USED_ROOT).map_err(|error| Failure::Error(ObjectError::Heap(error)))?;
        let object = match found {
            Some(object) => object,
            None => {
                let made = self.heap().create(&[2], PLAIN);
                let object = self.changed(made)?;
                let named = self.heap().set_root(USED_ROOT, Some(object));
                self.changed(named)?;
                object
            }
        };
        let written = self.heap().write_field(object, 0, &used.to_le_bytes());
        self.changed(written)?;
        self.used = used;
        Ok(())
    }

    /// Bytes of RAM that are free for transient arrays, their heads included.
    pub(crate) fn free_transient(&self) -> u16 {
        self.ram.end().saturating_sub(self.used)
    }

    /// A transient array whose elements are zero or null; `NoRoom` stands for the RAM, too.
    pub(crate) fn create_transient(
        &mut self,
        (kind, class): (u8, ClassId),
        length: u16,
        event: u8,
    ) -> Result<i32, Failure<MemoryError<H>>> {
        let bytes = u32::from(length) * format::width(kind).unwrap_or(1);
        let end = u32::from(self.used) + block_bytes(bytes);
        let Some(end) = u16::try_from(end).ok().filter(|end| *end <= self.ram.end()) else {
            return Err(Failure::NoRoom);
        };
        let offset = self.used;
        self.set_used(end)?;
        let header = [kind | event, class.package, class.class, self.owner];
        let made = self.heap().create(&[2, 2], header);
        let array = self.changed(made)?;
        for (field, value) in [(0, offset), (1, length)] {
            let written = self.heap().write_field(array, field, &value.to_le_bytes());
            self.changed(written)?;
        }
        Ok(H::bits(array) as i32)
    }

    /// A global array whose elements are zero or null, in RAM until the call of the applet ends; none without room.
    pub(crate) fn create_global(&mut self, kind: u8, length: u16) -> Option<i32> {
        let bytes = u32::from(length) * format::width(kind).unwrap_or(1);
        self.ram.create_global(kind, bytes, self.used)
    }

    /// Moves transient arrays down over what none of them has, and returns where they end. A power cut between two of
    /// them is harmless: each is moved below those that are not, and what they have is lost with the power.
    ///
    /// Cost: the header of each object once for each transient array, and a field for each that moves.
    pub(crate) fn compact(&mut self) -> Result<u16, Failure<MemoryError<H>>> {
        let mut end = 0;
        while let Some((array, looked)) = self.lowest_from(end).map_err(Failure::Error)? {
            let width = format::width(looked.header[0] & !TRANSIENT).unwrap_or(1);
            let bytes = block_bytes(u32::from(looked.length) * width) as u16;
            if looked.offset != end {
                self.persistent.set_field(array, 0, format::SHORT, i32::from(end))?;
                self.ram.move_down(looked.offset, end, bytes);
            }
            end += bytes;
        }
        self.forget();
        Ok(end)
    }

    /// The transient array whose place is the lowest from one on.
    fn lowest_from(&mut self, start: u16) -> Result<Option<(i32, Looked)>, MemoryError<H>> {
        let (mut lowest, mut after): (Option<(i32, Looked)>, _) = (None, None);
        while let Some(object) = self.heap().next_object(after).map_err(ObjectError::Heap)? {
            after = Some(object);
            let [first, ..] = self.heap().header(object).map_err(ObjectError::Heap)?;
            if first & TRANSIENT == 0 {
                continue;
            }
            let reference = H::bits(object) as i32;
            let looked = self.look_at(reference)?;
            let is_lower = lowest.is_none_or(|(_, lowest)| looked.offset < lowest.offset);
            if looked.offset >= start && is_lower {
                lowest = Some((reference, looked));
            }
        }
        Ok(lowest)
    }

    /// What kind of transient array a reference leads to: [`TRANSIENT_RESET`], [`TRANSIENT_DESELECT`], or 0 for others.
    pub(crate) fn transience(&mut self, reference: i32) -> Result<u8, MemoryError<H>> {
        if is_temporary(reference) {
            return Ok(self.ram.global(reference).map_or(0, |_| TRANSIENT_RESET));
        }
        let [first, ..] = self.look_up(reference)?.header;
        Ok(first & TRANSIENT)
    }

    #[inline]
    fn look_up(&mut self, reference: i32) -> Result<Looked, MemoryError<H>> {
        let known = self.looked[looked_place(reference)];
        if known.reference == reference { Ok(known) } else { self.look_at(reference) }
    }

    #[inline(never)]
    fn look_at(&mut self, reference: i32) -> Result<Looked, MemoryError<H>> {
        let header = self.persistent.header(reference)?;
        let [first, ..] = header;
        let mut looked = Looked { reference, header, ..NOTHING };
        if first & TRANSIENT != 0 {
            for (slot, place) in [&mut looked.offset, &mut looked.length].into_iter().enumerate() {
                *place = self.persistent.field(reference, slot as u8, format::SHORT)? as u16;
            }
        } else {
            looked.length = self.persistent.length(reference, header)?;
        }
        self.looked[looked_place(reference)] = looked;
        Ok(looked)
    }

    /// Where an array is in RAM; none for one on flash.
    fn place(&mut self, reference: i32) -> Result<Option<Place>, MemoryError<H>> {
        if reference == APDU_BUFFER {
            return Ok(Some(Place::Buffer));
        }
        if is_temporary(reference) {
            let (_, block) = self.ram.global(reference).ok_or(ObjectError::Reference(reference))?;
            return Ok(Some(Place::Block(block)));
        }
        let looked = self.look_up(reference)?;
        let [first, _, _, owner] = looked.header;
        if first & TRANSIENT == 0 {
            return Ok(None);
        }
        let width = format::width(first & !TRANSIENT).unwrap_or(1);
        let context = (first & TRANSIENT == TRANSIENT_DESELECT).then(|| self.contexts.of(owner));
        let bytes = u16::try_from(u32::from(looked.length) * width).map_err(|_| ObjectError::Reference(reference))?;
        Ok(Some(Place::Block(Block { offset: looked.offset, bytes, context })))
    }

    /// The bytes in RAM of an array that is there; none for one on flash.
    pub(crate) fn in_ram(&mut self, reference: i32) -> Result<Option<&mut [u8]>, MemoryError<H>> {
        let Some(place) = self.place(reference)? else { return Ok(None) };
        self.ram.elements(place).map(Some).ok_or(ObjectError::Reference(reference))
    }

    fn ram_element(&mut self, reference: i32, index: u16, kind: u8) -> Result<Option<&mut [u8]>, MemoryError<H>> {
        let width = format::width(kind).unwrap_or(1) as usize;
        let start = usize::from(index) * width;
        match self.in_ram(reference)? {
            None => Ok(None),
            Some(bytes) => match bytes.get_mut(start..start + width) {
                Some(element) => Ok(Some(element)),
                None => Err(ObjectError::Reference(reference)),
            },
        }
    }

    /// After a change: where it has undone the open transaction, arrays that were made in it are gone.
    pub(crate) fn settled<T>(
        &mut self,
        changed: Result<T, Failure<MemoryError<H>>>,
    ) -> Result<T, Failure<MemoryError<H>>> {
        if let Err(Failure::TransactionFull) = changed {
            self.read_used().map_err(Failure::Error)?;
        }
        changed
    }

    /// After a change of the heap itself.
    pub(crate) fn changed<T>(&mut self, result: Result<T, Failure<H::Error>>) -> Result<T, Failure<MemoryError<H>>> {
        let changed = self.persistent.refused(result);
        self.settled(changed)
    }

    /// Makes a change of the runtime's in the open transaction, or in one of its own: all of it or nothing.
    pub(crate) fn atomically<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<T, Failure<MemoryError<H>>>,
    ) -> Result<T, Failure<MemoryError<H>>> {
        let is_open = self.persistent.in_transaction();
        if !is_open {
            self.persistent.begin().map_err(refused)?;
        }
        let (owner, installing) = (self.owner, self.installing);
        self.installing = 0;
        self.set_owner(RUNTIME);
        let changed = change(self);
        self.set_owner(owner);
        self.installing = installing;
        if !is_open {
            match &changed {
                Ok(_) => self.commit().map_err(refused)?,
                Err(_) if self.persistent.in_transaction() => self.abort().map_err(refused)?,
                Err(_) => {}
            }
        }
        changed
    }

    /// Commits the open transaction.
    pub(crate) fn commit(&mut self) -> Result<(), TransactionRefusal<H::Error>> {
        let ended = self.persistent.commit();
        self.ended(ended)
    }

    /// Undoes the open transaction.
    pub(crate) fn abort(&mut self) -> Result<(), TransactionRefusal<H::Error>> {
        let ended = self.persistent.abort();
        match self.ended(ended) {
            Ok(()) => self.read_used().map_err(heap_failure),
            refused => refused,
        }
    }

    fn ended(&mut self, end: Result<(), TransactionRefusal<H::Error>>) -> Result<(), TransactionRefusal<H::Error>> {
        if let Err(TransactionRefusal::Full) = end {
            self.read_used().map_err(heap_failure)?;
        }
        end
    }

    /// Reads from an array of bytes on flash.
    pub(crate) fn read_bytes(&mut self, array: i32, first: u16, into: &mut [u8]) -> Result<(), MemoryError<H>> {
        let array = self.persistent.reference(array)?;
        self.heap().read_elements(array, first, into).map_err(ObjectError::Heap)
    }

    /// Writes to an array of bytes on flash, all or nothing.
    pub(crate) fn write_bytes(&mut self, array: i32, first: u16, from: &[u8]) -> Change<H> {
        self.keep_old(bytes_of(array, first, from.len() as u16))?;
        let array = self.persistent.reference(array).map_err(Failure::Error)?;
        let written = self.heap().write_elements(array, first, from);
        self.changed(written)
    }

    /// Writes to an array of bytes on flash what stays, whatever becomes of an open transaction.
    pub(crate) fn write_bytes_outside(&mut self, array: i32, first: u16, from: &[u8]) -> Change<H> {
        let array = self.persistent.reference(array).map_err(Failure::Error)?;
        let written = self.heap().write_outside(array, first, from);
        self.changed(written)
    }

    /// Copies bytes from an array in RAM to one on flash, all or nothing.
    pub(crate) fn write_from_ram(&mut self, (from, at): (i32, u16), (to, first): (i32, u16), count: u16) -> Change<H> {
        self.keep_old(bytes_of(to, first, count))?;
        let array = self.persistent.reference(to).map_err(Failure::Error)?;
        let place = self.place(from).map_err(Failure::Error)?;
        let elements = place.and_then(|place| self.ram.elements(place));
        let bytes = elements.and_then(|bytes| bytes.get(usize::from(at)..)?.get(..usize::from(count)));
        let bytes = bytes.ok_or(Failure::Error(ObjectError::Reference(from)))?;
        let written = self.persistent.keeper().write_elements(array, first, bytes);
        self.changed(written)
    }

    /// Copies bytes between arrays on flash, all or nothing.
    pub(crate) fn copy_bytes(&mut self, (from, at): (i32, u16), (to, first): (i32, u16), count: u16) -> Change<H> {
        self.keep_old(bytes_of(to, first, count))?;
        self.copy_on_flash((from, at), (to, first), count)
    }

    /// As [`Memory::copy_bytes`], but keeps nothing of what is overwritten.
    pub(crate) fn copy_on_flash(&mut self, (from, at): (i32, u16), (to, first): (i32, u16), count: u16) -> Change<H> {
        let from = self.persistent.reference(from).map_err(Failure::Error)?;
        let to = self.persistent.reference(to).map_err(Failure::Error)?;
        let copied = self.heap().copy_elements((from, at), (to, first), count);
        self.changed(copied)
    }

    /// What the objects' keeper knows of headers is void: objects were deleted, or an abort has taken some back.
    pub(crate) fn forget(&mut self) {
        self.looked = [NOTHING; LOOKED];
    }
}

fn refused<E>(refusal: TransactionRefusal<E>) -> Failure<ObjectError<E>> {
    match refusal {
        TransactionRefusal::Heap(error) => Failure::Error(ObjectError::Heap(error)),
        _ => Failure::TransactionFull,
    }
}

fn heap_failure<E>(error: ObjectError<E>) -> TransactionRefusal<E> {
    match error {
        ObjectError::Heap(error) => TransactionRefusal::Heap(error),
        // The object of "tr" is there, or the heap would say so.
        _ => TransactionRefusal::NotInProgress,
    }
}

fn bytes_of(array: i32, first: u16, count: u16) -> Places {
    Places { object: array, kind: format::BYTE, first, count }
}

/// Whether a reference is one of the runtime's temporary objects, or null.
pub(crate) fn is_temporary(reference: i32) -> bool {
    (0..TEMPORARY_END).contains(&reference)
}

impl<H: PersistentHeap, const PACKAGES: usize, const TRANSIENT_BYTES: usize> Objects
    for Memory<H, PACKAGES, TRANSIENT_BYTES>
{
    type Error = MemoryError<H>;

    fn create(&mut self, class: ClassId, kinds: &[u8]) -> Result<i32, Failure<Self::Error>> {
        let made = self.persistent.create(class, kinds);
        self.settled(made)
    }

    fn create_array(&mut self, kind: u8, class: ClassId, length: u16) -> Result<i32, Failure<Self::Error>> {
        let made = self.persistent.create_array(kind, class, length);
        self.settled(made)
    }

    fn form(&mut self, reference: i32) -> Result<Form, Self::Error> {
        if is_temporary(reference) {
            return self.ram.form(reference).ok_or(ObjectError::Reference(reference));
        }
        let Looked { header: [first, package, class, owner], length, .. } = self.look_up(reference)?;
        Ok(form([first & !TRANSIENT, package, class, owner], length))
    }

    fn standing(&mut self, reference: i32) -> Result<Standing, Self::Error> {
        if is_temporary(reference) {
            return Ok(Ram::<TRANSIENT_BYTES>::standing(reference));
        }
        let [first, _, _, owner] = self.look_up(reference)?.header;
        Ok(Standing { owner, is_global: false, needs_selection: first & TRANSIENT == TRANSIENT_DESELECT })
    }

    fn set_owner(&mut self, owner: u8) {
        self.owner = owner;
        self.persistent.set_owner(owner);
    }

    fn field(&mut self, reference: i32, slot: u8, kind: u8) -> Result<i32, Self::Error> {
        if is_temporary(reference) {
            let reason = self.ram.reason(reference).filter(|_| slot == 0);
            return reason.map(|reason| i32::from(*reason)).ok_or(ObjectError::Reference(reference));
        }
        self.persistent.field(reference, slot, kind)
    }

    fn set_field(&mut self, reference: i32, slot: u8, kind: u8, value: i32) -> Change<H> {
        if is_temporary(reference) {
            let reason = self.ram.reason(reference).filter(|_| slot == 0);
            let reason = reason.ok_or(Failure::Error(ObjectError::Reference(reference)))?;
            *reason = value as i16;
            return Ok(());
        }
        self.keep_old(Places { object: reference, kind, first: slot.into(), count: 1 })?;
        let changed = self.persistent.set_field(reference, slot, kind, value);
        self.settled(changed)
    }

    fn element(&mut self, reference: i32, index: u16, kind: u8) -> Result<i32, Self::Error> {
        match self.ram_element(reference, index, kind)? {
            Some(element) => {
                let value = value(kind, element);
                if kind != format::REFERENCE || is_temporary(value) {
                    return Ok(value);
                }
                // An object that was made in a transaction which was undone: the array in RAM still names it.
                match self.look_up(value) {
                    Err(ObjectError::Reference(_)) => Ok(0),
                    Err(error) => Err(error),
                    Ok(_) => Ok(value),
                }
            }
            None => self.persistent.element(reference, index, kind),
        }
    }

    fn set_element(&mut self, reference: i32, index: u16, kind: u8, value: i32) -> Change<H> {
        let value = if kind == format::BOOLEAN { value & 1 } else { value };
        match self.ram_element(reference, index, kind).map_err(Failure::Error)? {
            Some(element) => {
                let bytes = value.to_le_bytes();
                element.copy_from_slice(&bytes[..element.len()]);
                Ok(())
            }
            None => {
                self.keep_old(Places { object: reference, kind, first: index, count: 1 })?;
                let changed = self.persistent.set_element(reference, index, kind, value);
                self.settled(changed)
            }
        }
    }

    fn static_field(&mut self, package: u8, slot: u16, kind: u8) -> Result<i32, Self::Error> {
        self.persistent.static_field(package, slot, kind)
    }

    fn set_static_field(&mut self, package: u8, slot: u16, kind: u8, value: i32) -> Change<H> {
        if self.installing != 0 {
            let object = self.persistent.statics_of(package).map_err(Failure::Error)?;
            self.keep_old(Places { object, kind, first: slot, count: 1 })?;
        }
        let changed = self.persistent.set_static_field(package, slot, kind, value);
        self.settled(changed)
    }
}
