//! Every bit that this crate puts on flash, inside the store's sectors: object descriptors, records, headers, names.
//!
//! `docs/format/object-heap.md` shows the same with examples. Values are little-endian.
//!
//! ```text
//! object descriptor (leaf)   ref 4 │ link to first record 4 │ link to header 4 │ shape 4 │ [crc 2] │
//!                            initialization flags ⌈n/8⌉
//! shape                      bit 0 array · 1 flags · 2 widths · 3 zero · 4 read-optimized · 5 dense · 6..8 zero │
//!                            width 1 │ field count 2
//! array descriptor (leaf)    ref 4 │ link to root node 4 │ link to header 4 │ split shape 4 │ [crc 2 │ crc 2] │
//!                            element count 4
//! split shape                bit 0 array (1) · 1 flags · 3 split (1) · 4 read-optimized, others zero │ width 1 │
//!                            elements a section 1 │ tree height 1
//! section descriptor (leaf)  link to first record 4 │ initialization flags ⌈n/8⌉
//! object record              link to next record 4 │ valid flags ⌈n/8⌉ │ [codes n], padded to 4 │
//!                            data: the fields, without padding
//! header (opaque)            header length 2 │ data length 2 │ [crc 2 │ crc 2] │ widths n (where fields differ) │
//!                            header bytes
//! name (leaf)                ref 4 │ length 1 │ [crc 2] │ name
//! bucket (leaf)              erased 4 │ places of 4: a ref, zeros for one that was taken out, or erased
//! ```
//!
//! What is in brackets is there with error detection only; flags then have two bits each, so that they take ⌈n/4⌉
//! bytes.
//!
//! An array of more elements than the heap's threshold is split into sections, each a list of records of its own, which
//! a tree of the array's leads to by section number.
//!
//! Field *i* has its default value (zeros) if the (section) descriptor has initialization flags and flag *i* is erased;
//! else the value is that of the first record of the list whose valid flag *i* is erased. Flags are bit *i* mod 8 of
//! byte *i*/8; with error detection the two bits from 2(*i* mod 4) on of byte *i*/4, and a flag is erased where both
//! are.
//!
//! Invariant: a slot after the record that holds a field's value is erased, or a power cut left it torn.

use norn_heap::{Kind, Representation};
use norn_nor_store::ErrorDetection;

use crate::config::InitializationFlags;

/// Most fields of an object and elements of a small array.
pub(crate) const COUNT_MAX: usize = 255;
/// Bytes that are copied or filled at a time.
pub(crate) const CHUNK_BYTES: usize = 32;

/// Bytes of an object descriptor without its initialization flags.
pub const DESCRIPTOR_BYTES: u32 = 16;
/// Where the link to the first record is.
pub const FIRST_RECORD_OFFSET: usize = 4;
/// Where the link to the header is.
pub const HEADER_OFFSET: usize = 8;
/// Where the shape is.
pub const SHAPE_OFFSET: usize = 12;
/// Bytes of the code of a descriptor, a header or a name, where error detection is on.
pub const CHECKSUM_BYTES: u32 = 2;
/// Where a record's valid flags are, after the link.
pub const VALID_FLAGS_OFFSET: u32 = 4;
/// Bytes of a header sector before its codes and the widths.
pub const HEADER_LENGTHS_BYTES: u32 = 4;
/// Bytes of a name sector before its code and the name.
pub const NAME_HEAD_BYTES: u32 = 5;
/// Bytes of the number of elements, at the end of an array descriptor.
pub const ELEMENTS_BYTES: u32 = 4;

/// Where the references of a bucket are, after a word that stays erased in the place of a link.
pub const BUCKET_REFERENCES_OFFSET: u32 = 4;

/// How the reference that is all ones is stored in a bucket, where all ones mean an erased place.
pub const BUCKET_LAST_REFERENCE: u32 = 0xFFFF;

/// Where the initialization flags are in a section descriptor, after the link to its first record.
pub const SECTION_FLAGS_OFFSET: u32 = 4;

const ARRAY: u8 = 1;
const FLAGS: u8 = 1 << 1;
const WIDTHS: u8 = 1 << 2;
const SPLIT: u8 = 1 << 3;
const READ_OPTIMIZED: u8 = 1 << 4;
const DENSE: u8 = 1 << 5;

/// Bytes of `codes` codes with error detection; 0 without.
pub const fn checksum_bytes(codes: u32, detection: ErrorDetection) -> u32 {
    match detection {
        ErrorDetection::Off => 0,
        ErrorDetection::On => codes * CHECKSUM_BYTES,
    }
}

/// Where the initialization flags are in an object descriptor.
pub const fn initialization_flags_offset(detection: ErrorDetection) -> u32 {
    DESCRIPTOR_BYTES + checksum_bytes(1, detection)
}

/// Where the number of elements is in an array descriptor.
pub const fn elements_offset(detection: ErrorDetection) -> u32 {
    DESCRIPTOR_BYTES + checksum_bytes(2, detection)
}

/// Where the widths are in a header sector.
pub const fn widths_offset(detection: ErrorDetection) -> u32 {
    HEADER_LENGTHS_BYTES + checksum_bytes(2, detection)
}

/// Where the name is in a name's sector.
pub const fn name_offset(detection: ErrorDetection) -> u32 {
    NAME_HEAD_BYTES + checksum_bytes(1, detection)
}

const fn flag_bits(detection: ErrorDetection) -> u32 {
    match detection {
        ErrorDetection::Off => 1,
        ErrorDetection::On => 2,
    }
}

/// Bytes of `count` flags.
pub const fn flag_bytes(count: u16, detection: ErrorDetection) -> u32 {
    (count as u32 * flag_bits(detection)).div_ceil(8)
}

/// In which byte of the flags flag `index` is, and its bits there.
#[inline(never)]
pub const fn flag_place(index: u32, detection: ErrorDetection) -> (u32, u8) {
    let (bits, bit) = (flag_bits(detection), index * flag_bits(detection));
    (bit / 8, ((1 << bits) - 1) << (bit % 8))
}

/// Where the codes of a record's values start, if there are any.
pub const fn codes_offset(count: u16) -> u32 {
    VALID_FLAGS_OFFSET + flag_bytes(count, ErrorDetection::On)
}

/// Where the data of a record with `count` fields starts.
#[inline(never)]
pub const fn data_offset(count: u16, detection: ErrorDetection) -> u32 {
    let end = match detection {
        ErrorDetection::Off => VALID_FLAGS_OFFSET + flag_bytes(count, detection),
        ErrorDetection::On => codes_offset(count) + count as u32,
    };
    end.next_multiple_of(4)
}

/// How many of an object's fields are set between two rewritings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Density {
    /// At least as many as a delta record has room for.
    Dense,
    /// Fewer.
    Sparse,
}

/// What the first byte of a shape says, as it is on flash: that takes less code to keep and copy than a field for each
/// fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form(u8);

impl Form {
    /// The form of an object or a small array, with or without initialization flags.
    pub fn new(kind: Kind, flags: InitializationFlags, representation: Representation) -> Form {
        let kind = if kind == Kind::Array { ARRAY } else { 0 };
        let flags = if flags == InitializationFlags::On { FLAGS } else { 0 };
        Form(kind | flags).with(representation)
    }

    /// The same in another representation.
    pub fn with(self, representation: Representation) -> Form {
        match representation {
            Representation::ModifyOptimized => Form(self.0 & !READ_OPTIMIZED),
            Representation::ReadOptimized => Form(self.0 | READ_OPTIMIZED),
        }
    }

    /// Object or array.
    pub fn kind(self) -> Kind {
        if self.0 & ARRAY != 0 { Kind::Array } else { Kind::Object }
    }

    /// Whether the object or section descriptor has initialization flags.
    pub fn has_flags(self) -> bool {
        self.0 & FLAGS != 0
    }

    /// Whether its list grows by records with a slot for each field, where delta records are on.
    pub fn is_dense(self) -> bool {
        self.0 & DENSE != 0
    }

    /// The same for a list of which many fields are set between two rewritings, or few.
    pub fn of_density(self, density: Density) -> Form {
        match density {
            Density::Dense => Form(self.0 | DENSE),
            Density::Sparse => Form(self.0 & !DENSE),
        }
    }

    /// Whether updates or reads are to be cheap.
    pub fn representation(self) -> Representation {
        if self.0 & READ_OPTIMIZED == 0 { Representation::ModifyOptimized } else { Representation::ReadOptimized }
    }
}

/// What a descriptor says of an object's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Object or array, flags, representation.
    pub form: Form,
    /// Bytes of each field, or 0 where they differ and the header sector lists them.
    width: u8,
    /// Number of fields or elements.
    pub count: u16,
}

impl Shape {
    /// The shape of `count` fields of `width` bytes, or of widths that differ.
    pub fn new(form: Form, width: Option<u8>, count: u16) -> Shape {
        let form = if width.is_none() { Form(form.0 | WIDTHS) } else { form };
        Shape { form, width: width.unwrap_or(0), count }
    }

    /// Bytes of each field, or `None` where they differ.
    pub fn width(&self) -> Option<u8> {
        (self.width != 0).then_some(self.width)
    }

    /// Bytes of each element of an array.
    pub fn element_bytes(&self) -> u32 {
        u32::from(self.width).max(1)
    }

    /// The shape's four bytes.
    pub fn encode(&self) -> [u8; 4] {
        let count = self.count.to_le_bytes();
        [self.form.0, self.width, count[0], count[1]]
    }

    /// The shape that `bytes` hold, or `None` for an impossible one.
    pub fn decode(bytes: [u8; 4]) -> Option<Shape> {
        let [form, width, low, high] = bytes;
        let count = u16::from_le_bytes([low, high]);
        let differing = form & WIDTHS != 0;
        if form & !(ARRAY | FLAGS | WIDTHS | READ_OPTIMIZED | DENSE) != 0 || count == 0 || differing != (width == 0) {
            return None;
        }
        Some(Shape { form: Form(form), width, count })
    }

    /// Bytes of the descriptor.
    pub fn descriptor_bytes(&self, detection: ErrorDetection) -> u32 {
        let flags = if self.form.has_flags() { flag_bytes(self.count, detection) } else { 0 };
        initialization_flags_offset(detection) + flags
    }
}

/// What a descriptor says of the form of an array that is split into sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitShape {
    /// Flags of section descriptors, and representation.
    pub form: Form,
    /// Bytes of an element.
    pub width: u8,
    /// Elements of each section except the last one.
    pub section_elements: u8,
    /// Levels of the array's tree.
    pub height: u8,
}

impl SplitShape {
    /// The form of an array of sections.
    pub fn form(flags: InitializationFlags, representation: Representation) -> Form {
        Form(Form::new(Kind::Array, flags, representation).0 | SPLIT)
    }

    /// The shape of a section with `count` elements: that of a small array.
    pub fn of_section(&self, count: u16) -> Shape {
        Shape { form: Form(self.form.0 & !SPLIT | DENSE), width: self.width, count }
    }

    /// The shape's four bytes.
    pub fn encode(&self) -> [u8; 4] {
        [self.form.0, self.width, self.section_elements, self.height]
    }

    /// The shape that `bytes` hold, or `None` for an impossible one, or one that is not split.
    pub fn decode(bytes: [u8; 4]) -> Option<SplitShape> {
        let [form, width, section_elements, height] = bytes;
        if form & !(FLAGS | READ_OPTIMIZED) != ARRAY | SPLIT
            || width == 0
            || section_elements == 0
            || !(1..=5).contains(&height)
        {
            return None;
        }
        Some(SplitShape { form: Form(form), width, section_elements, height })
    }
}
