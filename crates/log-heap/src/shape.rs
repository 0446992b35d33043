//! Arrays on flash: what a sector is to a client, and what the head of a split array says.
//!
//! ```text
//! head, two fields of 4 bytes   count 4 │ width 1 │ elements of a section 1 │ 1 once it is there │ 0
//! slot of the head + 1 + n      section n: a sector of fields of one width, the elements
//! ```

/// What a sector that is no map node is to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// An object, or a directory of roots.
    Object = 0,
    /// An array in one sector.
    Array = 1,
    /// The head of an array of several sections: two fields of four bytes, see [`SplitShape`].
    Split = 2,
    /// A section of such an array, which no reference names.
    Section = 3,
}

/// What the first sector of a split array says. Its sections are in the slots after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitShape {
    /// Number of elements.
    pub count: u32,
    /// Bytes of an element.
    pub width: u8,
    /// Elements of a section; the last may have fewer.
    pub section_elements: u8,
    /// Whether the array is there: not before all of its sections are, and not once it is deleted.
    pub is_there: bool,
}

impl SplitShape {
    /// Bytes of the two fields.
    pub const BYTES: usize = 8;

    /// Number of sections.
    pub const fn sections(&self) -> u32 {
        self.count.div_ceil(self.section_elements as u32)
    }

    /// Elements of section `number`.
    pub const fn elements_of(&self, number: u32) -> u8 {
        let rest = self.count - number * self.section_elements as u32;
        if rest < self.section_elements as u32 { rest as u8 } else { self.section_elements }
    }

    pub(crate) fn encode(&self) -> [u8; SplitShape::BYTES] {
        let [a, b, c, d] = self.count.to_le_bytes();
        [a, b, c, d, self.width, self.section_elements, self.is_there as u8, 0]
    }

    /// The shape that the fields say, if it is one.
    pub(crate) fn decode(bytes: [u8; SplitShape::BYTES]) -> Option<SplitShape> {
        let [a, b, c, d, width, section_elements, is_there, _] = bytes;
        let shape =
            SplitShape { count: u32::from_le_bytes([a, b, c, d]), width, section_elements, is_there: is_there == 1 };
        let is_possible = shape.count > 0 && width > 0 && section_elements > 0 && shape.sections() < 0xFFFF;
        is_possible.then_some(shape)
    }
}
