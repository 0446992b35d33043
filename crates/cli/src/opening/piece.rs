//! Bytes at an address, as a dump has them.

use super::region::Region;

/// Bytes at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Address of the first.
    pub start: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Piece {
    /// Where they are.
    pub fn region(&self) -> Region {
        Region { start: self.start, end: self.start + self.bytes.len() as u64 }
    }
}
