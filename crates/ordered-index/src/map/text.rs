//! Short text as a key or a value.

use core::fmt;

use crate::map::value::{Key, TooLong, Value};

/// Text of at most `N` bytes without the character zero: a name. It sorts by its bytes, which is by code points.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const N: usize> {
    /// UTF-8, and zeros after it.
    bytes: [u8; N],
}

impl<const N: usize> Text<N> {
    /// The text, unless it is longer than `N` bytes or has the character zero.
    pub fn new(text: &str) -> Option<Self> {
        let mut bytes = [0; N];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        (!text.contains('\0')).then_some(Text { bytes })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        let length = self.bytes.iter().position(|&byte| byte == 0).unwrap_or(N);
        core::str::from_utf8(&self.bytes[..length]).expect("bytes of a text")
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl<const N: usize> Value for Text<N> {
    const BYTES: usize = N;

    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
        self.bytes.encode(bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = <[u8; N]>::decode(bytes)?;
        Text::new(core::str::from_utf8(&bytes).ok()?.trim_end_matches('\0'))
    }

    /// Without the zeros after it.
    fn encode_shortly(&self, bytes: &mut [u8]) -> Result<usize, TooLong> {
        let text = self.as_str().as_bytes();
        bytes.get_mut(..text.len()).ok_or(TooLong)?.copy_from_slice(text);
        Ok(text.len())
    }

    fn decode_short(bytes: &[u8]) -> Option<Self> {
        Text::new(core::str::from_utf8(bytes).ok()?)
    }
}

impl<const N: usize> Key for Text<N> {}
