//! What has been looked up: an object or array, or a section, and its form.

use norn_heap::{Kind, Ref, Representation};
use norn_nor_store::{ErrorDetection, SectorPtr, TreeRoot};

use crate::format::{SECTION_FLAGS_OFFSET, Shape, SplitShape, flag_bytes, initialization_flags_offset};

/// An object, a small array, or a section of a split array that has been looked up: what is a list of records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub reference: Ref,
    /// The object descriptor or section descriptor.
    pub leaf: SectorPtr,
    /// Whether the open transaction made this representation.
    pub fresh: bool,
    pub first: SectorPtr,
    pub header: Option<SectorPtr>,
    pub shape: Shape,
    pub owner: Owner,
}

/// How an object or array is kept, beside what [`Info`](crate::Info) says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListInfo {
    /// Which accesses are cheap: the list of a modify-optimized object grows to its maximal length before it is
    /// compacted, that of a read-optimized one has one record, whose fields can be updated once before each compaction,
    /// about 20 words programmed and its data.
    pub representation: Representation,
    /// Records of its list, at most [`Config::list_length_max`](crate::Config::list_length_max); of a split array,
    /// those of all its sections' lists.
    pub records: usize,
}

/// The reference of a slot of the REF tree and the number of the creation.
///
/// The generation is that number modulo 65,535, plus one: a stale reference is reported, unless a multiple of 65,535
/// objects were created in between and the last of them took its slot.
pub(crate) const fn reference_of(slot: u32, serial: u32) -> Ref {
    debug_assert!(slot < Ref::SLOTS);
    Ref::new(slot as u16, (serial % 0xFFFF + 1) as u16)
}

/// Where the pointer to a list's descriptor is kept.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Owner {
    /// In the REF tree.
    RefTree,
    /// In a split array's own tree, under the section's number.
    Array(Array, u32),
}

/// What a reference names. As in all that is copied much, its tag is a word: that takes less code to copy than bytes.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum ObjectForm {
    List(Object),
    Split(Array),
}

impl ObjectForm {
    pub fn reference(&self) -> Ref {
        match self {
            ObjectForm::List(object) => object.reference,
            ObjectForm::Split(array) => array.reference,
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            ObjectForm::List(object) => object.shape.form.kind(),
            ObjectForm::Split(_) => Kind::Array,
        }
    }

    pub fn representation(&self) -> Representation {
        match self {
            ObjectForm::List(object) => object.shape.form.representation(),
            ObjectForm::Split(array) => array.shape.form.representation(),
        }
    }

    /// Bytes of each element of an array.
    pub fn element_bytes(&self) -> u32 {
        match self {
            ObjectForm::List(object) => object.shape.element_bytes(),
            ObjectForm::Split(array) => u32::from(array.shape.width),
        }
    }

    pub fn count(&self) -> usize {
        match self {
            ObjectForm::List(object) => usize::from(object.shape.count),
            ObjectForm::Split(array) => array.count as usize,
        }
    }

    /// Elements of an array's sections; a small array is one section.
    pub fn section_elements(&self) -> u32 {
        match self {
            ObjectForm::List(object) => u32::from(object.shape.count),
            ObjectForm::Split(array) => u32::from(array.shape.section_elements),
        }
    }

    pub fn header(&self) -> Option<SectorPtr> {
        match self {
            ObjectForm::List(object) => object.header,
            ObjectForm::Split(array) => array.header,
        }
    }

    /// Bytes that the list of widths takes in the header sector.
    pub fn widths_bytes(&self) -> u32 {
        match self {
            ObjectForm::List(object) => object.widths_bytes(),
            ObjectForm::Split(_) => 0,
        }
    }
}

impl Object {
    /// Bytes of the descriptor.
    pub fn leaf_bytes(&self, detection: ErrorDetection) -> u32 {
        self.flags_offset(detection)
            + if self.shape.form.has_flags() { flag_bytes(self.shape.count, detection) } else { 0 }
    }

    /// Where the initialization flags are in the descriptor.
    pub fn flags_offset(&self, detection: ErrorDetection) -> u32 {
        match self.owner {
            Owner::RefTree => initialization_flags_offset(detection),
            Owner::Array(..) => SECTION_FLAGS_OFFSET,
        }
    }

    /// Bytes that the list of widths takes in the header sector.
    pub fn widths_bytes(&self) -> u32 {
        if self.shape.width().is_none() { u32::from(self.shape.count) } else { 0 }
    }
}

/// A split array that has been looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    pub reference: Ref,
    /// The tree that leads to the sections.
    pub tree: TreeRoot,
    pub header: Option<SectorPtr>,
    pub shape: SplitShape,
    /// Number of elements.
    pub count: u32,
}

impl Array {
    /// Number of sections.
    pub fn sections(&self) -> u32 {
        self.count.div_ceil(u32::from(self.shape.section_elements))
    }

    /// The form of section `number`: that of a small array.
    pub fn section_shape(&self, number: u32) -> Shape {
        let elements = u32::from(self.shape.section_elements);
        let count = (self.count - number * elements).min(elements) as u16;
        self.shape.of_section(count)
    }
}

/// A field or element: its index, and where its bytes are in the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub index: usize,
    pub offset: u32,
    pub width: u32,
}
