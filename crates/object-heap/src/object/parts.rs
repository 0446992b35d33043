//! What a layout says, for heaps that place fields in another way than as records on flash.

use super::{Layout, Widths};

impl<'a> Layout<'a> {
    /// The fields' widths, as one width where all are equal.
    pub(crate) fn widths(&self) -> Widths<'a> {
        self.simplified().widths
    }

    /// The header's bytes.
    pub(crate) fn header(&self) -> &'a [u8] {
        self.header
    }
}
