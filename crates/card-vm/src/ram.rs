//! What a card keeps in RAM of objects: the runtime's temporary ones, and the contents of transient arrays.
//!
//! ```text
//! reference   1 … 18   an exception, by its place in the list of known classes; its reason is in RAM
//!             64       the APDU
//!             65       its buffer, a global array; also `bArray` of `install`
//!             32768 …  a global array that an applet has made, by a fourth of its place
//!
//! transient arrays     block │ block │ …          each where its object on flash says, a multiple of 4
//! global arrays        … │ block │ block          from the end of the region down, until the call of the applet ends
//! a block              tag │ kind of a global array, else 0 │ u16 bytes │ elements, up to a multiple of 4
//! ```
//!
//! The tag of a block is 0 until its array is touched, and its elements are 0 then: so that they are found from the
//! start of the region, without a list. It is [`KEPT`] for an array that a reset alone clears, and one more than the
//! context for one that deselection clears.

use norn_card_package::{Image, ImageError, KNOWN_CLASSES, KNOWN_METHODS, Package, format, known_class};

use crate::objects::{ClassId, Form, RUNTIME, Standing};

/// Bytes of the APDU buffer: a header, a length, and 256 bytes.
pub const APDU_BUFFER_BYTES: usize = 261;
/// The APDU.
pub(crate) const APDU: i32 = 64;
/// Its buffer.
pub(crate) const APDU_BUFFER: i32 = 65;

/// The global array at the start of the region, which applets make.
const GLOBALS: i32 = 1 << 15;

/// The first exception in the list of known classes, and the place after the last.
const EXCEPTIONS: core::ops::Range<i32> = 1..19;
/// The tag of an array that a reset alone clears.
const KEPT: u8 = 0xFF;
/// Bytes of a block before its elements.
const BLOCK_HEAD: usize = 4;

/// What the virtual machine knows of the API, by the places of the lists.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    package: u8,
    classes: [u8; KNOWN_CLASSES.len()],
    slots: [u8; KNOWN_METHODS.len()],
}

/// A known class's place, while a constant is made.
pub(crate) const fn known(name: &str) -> u8 {
    match known_class(name) {
        Some(place) => place,
        None => panic!("the list of known classes has it"),
    }
}

impl Known {
    /// Reads the numbers from the image of the API, which has a number on the card.
    ///
    /// # Errors
    ///
    /// If it is not the API, or cannot be read.
    pub fn read<I: Image>(number: u8, package: &Package, image: &mut I) -> Result<Known, ImageError<I::Error>> {
        let mut known = Known { package: number, ..Known::nothing() };
        for (place, class) in (0..).zip(&mut known.classes) {
            *class = package.known_class(image, place)?.unwrap_or(format::NONE);
        }
        for (place, slot) in (0..).zip(&mut known.slots) {
            *slot = package.known_slot(image, place)?.unwrap_or(format::NONE);
        }
        Ok(known)
    }

    /// What is known before there is an API.
    pub fn nothing() -> Known {
        Known { package: 0, classes: [format::NONE; KNOWN_CLASSES.len()], slots: [format::NONE; KNOWN_METHODS.len()] }
    }

    /// A class, by its place in the list of known classes.
    pub(crate) fn class(&self, place: u8) -> ClassId {
        let class = self.classes.get(usize::from(place)).copied().unwrap_or(format::NONE);
        ClassId { package: self.package, class }
    }

    /// A slot, by its place in the list of known methods.
    pub(crate) fn slot(&self, place: u8) -> u8 {
        self.slots.get(usize::from(place)).copied().unwrap_or(format::NONE)
    }
}

/// The runtime's objects, and room of `TRANSIENT` bytes for transient arrays.
#[derive(Debug)]
pub(crate) struct Ram<const TRANSIENT: usize> {
    pub known: Known,
    pub buffer: [u8; APDU_BUFFER_BYTES],
    reasons: [i16; EXCEPTIONS.end as usize],
    transient: [u8; TRANSIENT],
    /// Where global arrays start.
    globals: u16,
}

/// Where an array in RAM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The APDU buffer.
    Buffer,
    /// A transient array.
    Block(Block),
}

/// Where the elements of a transient array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub offset: u16,
    pub bytes: u16,
    /// The context whose deselection clears it; none for one that a reset clears.
    pub context: Option<u8>,
}

/// Bytes that a block for so many bytes of elements takes.
pub(crate) fn block_bytes(bytes: u32) -> u32 {
    (BLOCK_HEAD as u32 + bytes).next_multiple_of(4)
}

impl<const TRANSIENT: usize> Ram<TRANSIENT> {
    /// Where global arrays end.
    const END: u16 = (TRANSIENT & !3) as u16;

    pub fn new(known: Known) -> Self {
        Ram { known, buffer: [0; APDU_BUFFER_BYTES], reasons: [0; _], transient: [0; TRANSIENT], globals: Self::END }
    }

    /// Where transient arrays have to end.
    pub fn end(&self) -> u16 {
        self.globals
    }

    /// A global array of so many bytes, zero or null, above transient arrays that end at `used`; none without room.
    pub fn create_global(&mut self, kind: u8, bytes: u32, used: u16) -> Option<i32> {
        let block = u16::try_from(block_bytes(bytes)).ok()?;
        let start = self.globals.checked_sub(block).filter(|start| *start >= used)?;
        let [low, high, ..] = bytes.to_le_bytes();
        *self.transient.get_mut(usize::from(start)..)?.first_chunk_mut()? = [KEPT, kind, low, high];
        self.globals = start;
        Some(GLOBALS + i32::from(start / 4))
    }

    /// The call in which they were made has ended: no global arrays are left.
    pub fn end_globals(&mut self) {
        self.transient[usize::from(self.globals)..].fill(0);
        self.globals = Self::END;
    }

    /// The kind of elements of a global array that an applet has made, and where they are.
    pub fn global(&self, reference: i32) -> Option<(u8, Block)> {
        let offset = u16::try_from(reference.checked_sub(GLOBALS)? * 4).ok().filter(|at| *at >= self.globals)?;
        let [_, kind, low, high] = *self.transient.get(usize::from(offset)..)?.first_chunk()?;
        Some((kind, Block { offset, bytes: u16::from_le_bytes([low, high]), context: None }))
    }

    /// What a reference below [`crate::TEMPORARY_END`] leads to.
    pub fn form(&self, reference: i32) -> Option<Form> {
        match reference {
            APDU => Some(Form::Object(self.known.class(const { known("javacard/framework/APDU") }))),
            APDU_BUFFER => {
                let class = ClassId { package: 0, class: 0 };
                Some(Form::Array { kind: format::BYTE, class, length: APDU_BUFFER_BYTES as u16 })
            }
            exception if EXCEPTIONS.contains(&exception) => {
                let class = self.known.class(exception as u8);
                (class.class != format::NONE).then_some(Form::Object(class))
            }
            _ => {
                let (kind, block) = self.global(reference)?;
                let class = match kind {
                    format::REFERENCE => self.known.class(const { known("java/lang/Object") }),
                    _ => ClassId { package: 0, class: 0 },
                };
                let width = format::width(kind).unwrap_or(1) as u16;
                Some(Form::Array { kind, class, length: block.bytes / width })
            }
        }
    }

    /// The firewall's view of it.
    pub fn standing(reference: i32) -> Standing {
        let is_global = reference == APDU_BUFFER || reference >= GLOBALS;
        Standing { owner: RUNTIME, is_global, needs_selection: false }
    }

    /// The exception of a known class, with a reason.
    pub fn exception(&mut self, place: u8, reason: i16) -> i32 {
        if let Some(kept) = self.reasons.get_mut(usize::from(place)) {
            *kept = reason;
        }
        i32::from(place)
    }

    /// The reason of an exception; its only field, where it has any.
    pub fn reason(&mut self, reference: i32) -> Option<&mut i16> {
        let place = usize::try_from(reference).ok().filter(|_| EXCEPTIONS.contains(&reference))?;
        self.reasons.get_mut(place)
    }

    /// The elements of an array, which is in use from now on; none where a damaged object says a wrong place.
    pub fn elements(&mut self, place: Place) -> Option<&mut [u8]> {
        let Place::Block(block) = place else { return Some(&mut self.buffer) };
        let start = usize::from(block.offset);
        let whole = self.transient.get_mut(start..start + BLOCK_HEAD + usize::from(block.bytes))?;
        let (head, elements) = whole.split_at_mut(BLOCK_HEAD);
        let (tag, bytes) = (block.context.map_or(KEPT, |context| context.wrapping_add(1)), block.bytes.to_le_bytes());
        head[0] = tag;
        head[2..].copy_from_slice(&bytes);
        Some(elements)
    }

    /// Bytes of the elements of a transient array.
    pub fn peek(&self, offset: u16, bytes: u16) -> Option<&[u8]> {
        let start = usize::from(offset) + BLOCK_HEAD;
        self.transient.get(start..start + usize::from(bytes))
    }

    /// Clears the arrays that the deselection of a context clears.
    pub fn deselect(&mut self, context: u8) {
        let mut at = 0;
        while let Some([tag, _, low, high]) = self.transient.get(at..).and_then(<[u8]>::first_chunk).copied() {
            let bytes = if tag == 0 { 0 } else { u16::from_le_bytes([low, high]) };
            let end = if tag == 0 { at + BLOCK_HEAD } else { at + block_bytes(bytes.into()) as usize };
            if tag == context.wrapping_add(1) && tag != KEPT {
                let end = end.min(TRANSIENT);
                self.transient[at..end].fill(0);
            }
            at = end;
        }
    }

    /// Moves a block down.
    pub fn move_down(&mut self, from: u16, to: u16, bytes: u16) {
        for at in 0..usize::from(bytes) {
            let Some(&byte) = self.transient.get(usize::from(from) + at) else { break };
            if let Some(place) = self.transient.get_mut(usize::from(to) + at) {
                *place = byte;
            }
        }
    }

    /// Clears every array from a place on, where none is any more.
    pub fn clear_from(&mut self, offset: u16) {
        if let Some(free) = self.transient.get_mut(usize::from(offset)..usize::from(self.globals)) {
            free.fill(0);
        }
    }

    /// A reset: nothing is left.
    pub fn reset(&mut self) {
        self.buffer.fill(0);
        self.reasons.fill(0);
        self.transient.fill(0);
        self.globals = Self::END;
    }
}
