//! Places in an image: bytes, cache pages, and pages of the part that have cache pages.

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
