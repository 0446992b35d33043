//! What a list remembers of a log of records: how full it is, and where a record was found.

/// Bytes of an object's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// Where the next record begins, from the log's start on; its last byte, if there is none.
    pub end: u16,
    /// Bytes of the records that count.
    pub live: u16,
}

/// The record that a walk found last, so that the next walk in the same object goes on there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// The cell and the record's number, if `at` is not 0.
    pub cell: u32,
    pub slot: u8,
    /// Where it begins, from the cell's start on.
    pub at: u16,
}
