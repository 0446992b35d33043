//! What an object refers to: for collection, and for the question whether anybody still uses an applet's objects.
//!
//! | object | its references |
//! |---|---|
//! | of a class | fields whose kind is a reference, as the class says |
//! | array of references | its elements, on flash or in RAM |
//! | static fields of a package | those whose kind is a reference, as the package says |
//! | the runtime's | the applet and the AID of an instance; what a record of a pending installation names |

use core::marker::PhantomData;

use norn_card_package::format;

use crate::code::Code;
use crate::heap::{HEADER_BYTES, PersistentHeap, Tracer, Tracing};
use crate::memory::TRANSIENT;
use crate::objects::ClassId;
use crate::persistent::{EMPTY, value};
use crate::ram::Ram;
use crate::types;

/// In place of a class, in the header of the object of an applet's instance; the package is [`format::NONE`].
pub(crate) const INSTANCE: u8 = 0;
/// In the same place, in the header of a record of what a pending installation has changed.
pub(crate) const PENDING: u8 = 1;
/// References of an instance's object: the applet, and its AID.
const INSTANCE_REFERENCES: u8 = 2;
/// References of a record: an object, another record, and an array.
const PENDING_REFERENCES: u8 = 3;

/// RAM of the transient arrays that were traced.
#[derive(Clone, Copy, Default)]
pub(crate) struct Used {
    /// At least the end of each.
    pub end: u16,
    /// Bytes of all of them.
    pub bytes: u16,
}

/// Says what an object refers to; false where an image does not know. `used` takes in a transient array.
pub(crate) fn trace<H: PersistentHeap, C: Code, const BYTES: usize>(
    heap: &mut impl Tracing<H::Reference, H::Error>,
    (code, ram, used): (&mut C, &Ram<BYTES>, &mut Used),
    reference: H::Reference,
) -> Result<bool, H::Error> {
    let [first, package, class, _]: [u8; HEADER_BYTES] = heap.header(reference)?;
    if first & TRANSIENT != 0 {
        let mut numbers = [0; 2];
        for (field, number) in (0..).zip(&mut numbers) {
            let mut bytes = [0; 2];
            heap.read_field(reference, field, &mut bytes)?;
            *number = u16::from_le_bytes(bytes);
        }
        let [offset, length] = numbers;
        let kind = first & !TRANSIENT;
        let bytes = length.saturating_mul(format::width(kind).unwrap_or(1) as u16);
        let block = crate::ram::block_bytes(bytes.into()) as u16;
        used.end = used.end.max(offset.saturating_add(block));
        used.bytes = used.bytes.saturating_add(block);
        if kind == format::REFERENCE {
            for element in ram.peek(offset, bytes).unwrap_or(&[]).chunks_exact(4) {
                reach::<H, _>(heap, value(format::REFERENCE, element))?;
            }
        }
        return Ok(true);
    }
    match first & !EMPTY {
        _ if first & EMPTY != 0 => Ok(true),
        format::REFERENCE => {
            let count = heap.count(reference)?;
            for index in 0..u16::try_from(count).unwrap_or(u16::MAX) {
                let mut bytes = [0; 4];
                heap.read_element(reference, index, &mut bytes)?;
                reach::<H, _>(heap, i32::from_le_bytes(bytes))?;
            }
            Ok(true)
        }
        format::TYPE_CLASS => {
            let count = u8::try_from(heap.count(reference)?).unwrap_or(u8::MAX);
            for slot in 0..count {
                match is_reference(code, ClassId { package, class }, slot) {
                    None => return Ok(false),
                    Some(false) => continue,
                    Some(true) => {}
                }
                let mut bytes = [0; 4];
                heap.read_field(reference, slot, &mut bytes)?;
                reach::<H, _>(heap, i32::from_le_bytes(bytes))?;
            }
            Ok(true)
        }
        _ => Ok(true),
    }
}

/// Whether a field is a reference, by what its object's header says; none where an image does not know.
fn is_reference<C: Code>(code: &mut C, id: ClassId, slot: u8) -> Option<bool> {
    match id {
        ClassId { package: format::NONE, class: INSTANCE } => Some(slot < INSTANCE_REFERENCES),
        ClassId { package: format::NONE, class: PENDING } => Some(slot < PENDING_REFERENCES),
        ClassId { package: format::NONE, .. } => Some(false),
        ClassId { package, class: format::NONE } => {
            let (package, image) = code.package(package)?;
            Some(package.static_kind(image, slot.into()).ok()? == format::REFERENCE)
        }
        id => {
            let class = types::record(code, id).ok()?;
            let (package, image) = code.package(id.package)?;
            Some(package.field_kind(image, &class, slot).ok()? == format::REFERENCE)
        }
    }
}

fn reach<H: PersistentHeap, T: Tracing<H::Reference, H::Error>>(heap: &mut T, bits: i32) -> Result<(), H::Error> {
    match H::reference(bits as u32) {
        Some(found) => heap.reached(found),
        None => Ok(()),
    }
}

/// The tracer of a card's objects.
pub(crate) struct Objects<'a, H, C, const BYTES: usize> {
    pub packages: &'a mut C,
    pub ram: &'a Ram<BYTES>,
    pub used: Used,
    pub heap: PhantomData<H>,
}

impl<H: PersistentHeap, C: Code, const BYTES: usize> Tracer<H::Reference, H::Error> for Objects<'_, H, C, BYTES> {
    fn trace(
        &mut self,
        heap: &mut impl Tracing<H::Reference, H::Error>,
        object: H::Reference,
    ) -> Result<bool, H::Error> {
        trace::<H, C, BYTES>(heap, (self.packages, self.ram, &mut self.used), object)
    }
}

/// A heap outside collection, which says whether a reference leads to what an owner has.
pub(crate) struct Users<'a, H: PersistentHeap> {
    pub heap: &'a mut H,
    pub owner: u8,
    pub found: bool,
}

impl<H: PersistentHeap> Tracing<H::Reference, H::Error> for Users<'_, H> {
    fn header(&mut self, reference: H::Reference) -> Result<[u8; HEADER_BYTES], H::Error> {
        self.heap.header(reference)
    }

    fn count(&mut self, reference: H::Reference) -> Result<usize, H::Error> {
        self.heap.count(reference)
    }

    fn read_field(&mut self, object: H::Reference, index: u8, value: &mut [u8]) -> Result<(), H::Error> {
        self.heap.read_field(object, index, value)
    }

    fn read_element(&mut self, array: H::Reference, index: u16, value: &mut [u8]) -> Result<(), H::Error> {
        self.heap.read_element(array, index, value)
    }

    fn reached(&mut self, reference: H::Reference) -> Result<(), H::Error> {
        match self.heap.header(reference) {
            Ok([_, _, _, owner]) => self.found |= owner == self.owner,
            Err(error) if H::is_missing(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
