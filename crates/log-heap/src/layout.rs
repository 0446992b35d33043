//! Layouts: what to create, and what there is.

/// What to create: the fields' widths.
#[derive(Clone, Copy, Debug)]
pub enum Layout<'a> {
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
        Layout::Uniform { count, width }
    }

    /// A field of each of these widths, in bytes, one after the other without padding.
    pub const fn fields(widths: &'a [u8]) -> Layout<'a> {
        Layout::Each(widths)
    }

    /// The same with one width instead of a list of equal ones.
    pub(crate) fn simplified(self) -> Layout<'a> {
        match self {
            Layout::Each([first, rest @ ..]) if rest.iter().all(|width| width == first) => {
                Layout::Uniform { count: rest.len() + 1, width: *first }
            }
            other => other,
        }
    }

    pub(crate) const fn count(&self) -> usize {
        match self {
            Layout::Uniform { count, .. } => *count,
            Layout::Each(widths) => widths.len(),
        }
    }

    pub(crate) fn width(&self, index: usize) -> u8 {
        match self {
            Layout::Uniform { width, .. } => *width,
            Layout::Each(widths) => widths[index],
        }
    }

    /// Bytes of the fields, and of the table of their widths where there is one.
    pub(crate) fn content_bytes(&self) -> u32 {
        match self {
            Layout::Uniform { count, width } => *count as u32 * u32::from(*width),
            Layout::Each(widths) => widths.len() as u32 + widths.iter().map(|&width| u32::from(width)).sum::<u32>(),
        }
    }
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Number of fields.
    pub count: usize,
    /// Bytes of all fields together.
    pub data_bytes: u32,
    /// Places of its tail, and how many of them are used.
    pub tail: (u8, u8),
}
