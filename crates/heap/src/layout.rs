//! Layouts: what to create, and what there is.

use crate::reference::Ref;

/// What to create: the fields' widths and a header.
///
/// Invariant: widths that are all equal are kept as one.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    widths: Widths<'a>,
    header: &'a [u8],
    representation: Representation,
}

/// The widths of the fields of a [`Layout`], in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Widths<'a> {
    /// All have one width.
    Uniform {
        /// Number of fields.
        count: usize,
        /// Width of each.
        width: u8,
    },
    /// The width of each field.
    Each(&'a [u8]),
}

impl<'a> Widths<'a> {
    /// As one width, where there are some and all are equal.
    const fn of(widths: &'a [u8]) -> Widths<'a> {
        let [width, ..] = *widths else { return Widths::Each(widths) };
        let mut index = 1;
        while index < widths.len() {
            if widths[index] != width {
                return Widths::Each(widths);
            }
            index += 1;
        }
        Widths::Uniform { count: widths.len(), width }
    }
}

impl<'a> Layout<'a> {
    /// `count` fields of `width` bytes each.
    pub const fn uniform(count: usize, width: u8) -> Layout<'a> {
        Layout {
            widths: Widths::Uniform { count, width },
            header: &[],
            representation: Representation::ModifyOptimized,
        }
    }

    /// A field of each of these widths, in bytes. Fields are packed without padding: order them by falling width.
    pub const fn fields(widths: &'a [u8]) -> Layout<'a> {
        Layout { widths: Widths::of(widths), header: &[], representation: Representation::ModifyOptimized }
    }

    /// The same with a header: bytes that the heap does not interpret (a type, in a Java virtual machine).
    pub const fn with_header(mut self, header: &'a [u8]) -> Layout<'a> {
        self.header = header;
        self
    }

    /// The same in another representation. An engine that has one for all ignores it.
    pub const fn with_representation(mut self, representation: Representation) -> Layout<'a> {
        self.representation = representation;
        self
    }

    /// The fields' widths, as one width where all are equal.
    pub const fn widths(&self) -> Widths<'a> {
        self.widths
    }

    /// The header's bytes.
    pub const fn header(&self) -> &'a [u8] {
        self.header
    }

    /// Which accesses are to be cheap.
    pub const fn representation(&self) -> Representation {
        self.representation
    }

    /// Number of fields.
    pub const fn count(&self) -> usize {
        match self.widths {
            Widths::Uniform { count, .. } => count,
            Widths::Each(widths) => widths.len(),
        }
    }

    /// Width of field `index` in bytes.
    ///
    /// # Panics
    /// Where the widths differ and there is no such field.
    pub const fn width(&self, index: usize) -> u8 {
        match self.widths {
            Widths::Uniform { width, .. } => width,
            Widths::Each(widths) => widths[index],
        }
    }

    /// Bytes of all fields of a layout with at most 255.
    pub fn data_bytes(&self) -> u32 {
        match self.widths {
            Widths::Uniform { count, width } => count as u32 * u32::from(width),
            Widths::Each(widths) => widths.iter().map(|&width| u32::from(width)).sum(),
        }
    }
}

/// Object or array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Fields, each of a width of its own.
    Object,
    /// Elements of one width.
    Array,
}

/// Which accesses of an object or array are to be cheap, for an engine that can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Representation {
    /// Updates. What is created is so, unless its layout says otherwise.
    ModifyOptimized,
    /// Reads, and it takes less room.
    ReadOptimized,
}

/// What an object or array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Object or array.
    pub kind: Kind,
    /// Number of fields or elements.
    pub count: usize,
    /// Bytes of all fields or elements together.
    pub data_bytes: u32,
    /// Bytes of the header.
    pub header_bytes: usize,
}

/// A range of elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// The array.
    pub array: Ref,
    /// Index of the first element.
    pub first: usize,
    /// Number of elements; none is allowed.
    pub count: usize,
}

#[cfg(test)]
mod tests {
    //! Proves that equal widths become one, and others stay as they are.
    use super::*;

    #[test]
    fn equal_widths_are_one() {
        let equal = Layout::fields(&[3, 3, 3]);
        assert!(matches!(equal.widths(), Widths::Uniform { count: 3, width: 3 }));
        assert_eq!((equal.count(), equal.width(2), equal.data_bytes()), (3, 3, 9));
        for widths in [&[3, 3, 4][..], &[4, 3], &[]] {
            let layout = Layout::fields(widths);
            assert!(matches!(layout.widths(), Widths::Each(found) if found == widths));
            assert_eq!(layout.count(), widths.len());
            assert_eq!(layout.data_bytes(), widths.iter().map(|&width| u32::from(width)).sum::<u32>());
        }
    }
}
