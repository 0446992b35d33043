//! Layouts: what to create, and what there is.

use crate::format::{HEADED_AT, HEADER_BYTES};

/// What to create: the fields' widths and a header.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    pub(crate) widths: Widths<'a>,
    pub(crate) header: &'a [u8],
}

/// The widths of the fields of a [`Layout`], in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Widths<'a> {
    /// All have one width.
    Uniform {
        /// Number of fields.
        count: usize,
        /// Width of each in bytes.
        width: u8,
    },
    /// The width of each field in bytes.
    Each(&'a [u8]),
}

impl<'a> Layout<'a> {
    /// `count` fields of `width` bytes each.
    pub const fn uniform(count: usize, width: u8) -> Layout<'a> {
        Layout { widths: Widths::Uniform { count, width }, header: &[] }
    }

    /// A field of each of these widths, in bytes, one after the other without padding.
    pub const fn fields(widths: &'a [u8]) -> Layout<'a> {
        Layout { widths: Widths::Each(widths), header: &[] }
    }

    /// The same with a header: up to 255 bytes that the heap does not interpret (a type, in a Java virtual machine).
    pub const fn with_header(mut self, header: &'a [u8]) -> Layout<'a> {
        self.header = header;
        self
    }

    /// The same with one width instead of a list of equal ones.
    pub(crate) fn simplified(mut self) -> Layout<'a> {
        if let Widths::Each([first, rest @ ..]) = self.widths
            && rest.iter().all(|width| width == first)
        {
            self.widths = Widths::Uniform { count: rest.len() + 1, width: *first };
        }
        self
    }

    pub(crate) const fn count(&self) -> usize {
        match self.widths {
            Widths::Uniform { count, .. } => count,
            Widths::Each(widths) => widths.len(),
        }
    }

    pub(crate) fn width(&self, index: usize) -> u8 {
        match self.widths {
            Widths::Uniform { width, .. } => width,
            Widths::Each(widths) => widths[index],
        }
    }

    /// Bytes of the fields, of the table of their widths where there is one, and of the header with its lengths.
    pub(crate) fn content_bytes(&self) -> u32 {
        let fields = match self.widths {
            Widths::Uniform { count, width } => count as u32 * u32::from(width),
            Widths::Each(widths) => widths.len() as u32 + widths.iter().map(|&width| u32::from(width)).sum::<u32>(),
        };
        let header = if self.header.is_empty() { 0 } else { HEADED_AT - HEADER_BYTES + self.header.len() as u32 };
        fields + header
    }
}

/// Whether something is an object or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An object: fields.
    Object,
    /// An array: elements of one width.
    Array,
}

/// What an object or an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Which of the two.
    pub kind: Kind,
    /// Number of fields or elements.
    pub count: usize,
    /// Bytes of all fields or elements together.
    pub data_bytes: u32,
    /// Sections of an array that is split; 0 of what is in one sector.
    pub sections: u32,
    /// How many places of its tail are used, and how many it has; of the first sector of a split array.
    pub tail: (u8, u8),
}
