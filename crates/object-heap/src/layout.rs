//! Layouts: what to create, and what there is.

/// What to create: the fields' widths and a header.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    pub(crate) widths: Widths<'a>,
    pub(crate) header: &'a [u8],
    pub(crate) representation: Representation,
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
        Layout { widths: Widths::Each(widths), header: &[], representation: Representation::ModifyOptimized }
    }

    /// The same with a header: bytes that the heap does not interpret (a type, in a Java virtual machine).
    pub const fn with_header(mut self, header: &'a [u8]) -> Layout<'a> {
        self.header = header;
        self
    }

    /// The same in another representation.
    pub const fn with_representation(mut self, representation: Representation) -> Layout<'a> {
        self.representation = representation;
        self
    }

    /// The fields' widths, as one width where all are equal.
    pub fn widths(&self) -> Widths<'a> {
        self.simplified().widths
    }

    /// The header's bytes.
    pub fn header(&self) -> &'a [u8] {
        self.header
    }

    /// The same with one width instead of a list of equal ones.
    pub(crate) fn simplified(mut self) -> Layout<'a> {
        if let Widths::Each(widths) = self.widths
            && let Some(&first) = widths.first()
            && widths.iter().all(|&width| width == first)
        {
            self.widths = Widths::Uniform { count: widths.len(), width: first };
        }
        self
    }

    pub(crate) fn count(&self) -> usize {
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

    pub(crate) fn data_bytes(&self) -> u32 {
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

/// Which accesses of an object or array are to be cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Representation {
    /// Updates: its list of records grows to its maximal length before it is compacted. What is created is so, unless
    /// its layout says otherwise.
    ModifyOptimized,
    /// Reads: it has one record, and takes the room of one. The first update of a field is as cheap as any; each
    /// further one compacts it, about 20 words programmed and its data.
    ReadOptimized,
}

/// What an object or array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Object or array.
    pub kind: Kind,
    /// Which accesses are to be cheap.
    pub representation: Representation,
    /// Number of fields or elements.
    pub count: usize,
    /// Bytes of all fields or elements together.
    pub data_bytes: u32,
    /// Bytes of the header.
    pub header_bytes: usize,
    /// Records of its list, at most [`Config::list_length_max`](crate::Config::list_length_max); of a split array,
    /// those of all its sections' lists.
    pub records: usize,
}
