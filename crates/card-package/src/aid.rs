//! Identifiers and versions of packages.

use core::fmt;

/// An application identifier of ISO/IEC 7816-4: 5 to 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Aid {
    bytes: [u8; 16],
    length: u8,
}

impl Aid {
    /// The identifier of these bytes; none for another number than 5 to 16.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Aid> {
        if !(5..=16).contains(&bytes.len()) {
            return None;
        }
        let mut padded = [0; 16];
        padded[..bytes.len()].copy_from_slice(bytes);
        Some(Aid { bytes: padded, length: bytes.len() as u8 })
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl fmt::Display for Aid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(out, "{byte:02X}"))
    }
}

impl fmt::Debug for Aid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// A package's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Changes with what breaks those that import the package.
    pub major: u8,
    /// Grows with what is added.
    pub minor: u8,
}

impl Version {
    /// Whether a package of this version serves one that was linked against another: the same major, the minor not
    /// lower.
    #[must_use]
    pub fn serves(self, linked_against: Version) -> bool {
        self.major == linked_against.major && self.minor >= linked_against.minor
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}
