//! Places: bytes of an image, its cache pages, pages of the part that have cache pages; and the two rooms of programs.

use core::fmt;

/// A byte of the image, counted from its first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeAddress(pub u32);

impl fmt::Display for CodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "code {:#07x}", self.0)
    }
}

/// The number of a cache page, counted from the image's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CachePage(pub u16);

/// A page of the part that has cache pages, counted over those of the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImagePage(pub u32);

/// One of two rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomName {
    /// The one that a part's first program goes to.
    A,
    /// The other.
    B,
}

impl RoomName {
    /// The other room.
    pub const fn other(self) -> Self {
        match self {
            RoomName::A => RoomName::B,
            RoomName::B => RoomName::A,
        }
    }
}

impl fmt::Display for RoomName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RoomName::A => f.write_str("room A"),
            RoomName::B => f.write_str("room B"),
        }
    }
}
