//! Bytes of any length as a value.

use core::fmt;

use crate::map::value::{TooLong, Value};

/// Up to `N` bytes, for maps whose values vary: a [`VaryingMap`](crate::VaryingMap) keeps as many as there are. In a
/// [`Map`](crate::Map) whose values have one length only those of `N` bytes are values.
#[derive(Clone, Copy)]
pub struct Blob<const N: usize> {
    /// How many there are: `N` at most.
    length: u16,
    bytes: [u8; N],
}

impl<const N: usize> Blob<N> {
    /// These bytes, unless they are more than `N`.
    pub fn new(from: &[u8]) -> Option<Self> {
        let mut bytes = [0; N];
        bytes.get_mut(..from.len())?.copy_from_slice(from);
        Some(Blob { length: from.len().try_into().ok()?, bytes })
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl<const N: usize> PartialEq for Blob<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const N: usize> Eq for Blob<N> {}

impl<const N: usize> fmt::Debug for Blob<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().fmt(f)
    }
}

impl<const N: usize> Value for Blob<N> {
    const BYTES: usize = N;

    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
        if self.as_bytes().len() != bytes.len() {
            return Err(TooLong);
        }
        bytes.copy_from_slice(self.as_bytes());
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Blob::new(bytes)
    }

    fn encode_shortly(&self, bytes: &mut [u8]) -> Result<usize, TooLong> {
        let length = self.as_bytes().len();
        bytes.get_mut(..length).ok_or(TooLong)?.copy_from_slice(self.as_bytes());
        Ok(length)
    }

    fn decode_short(bytes: &[u8]) -> Option<Self> {
        Blob::new(bytes)
    }
}
