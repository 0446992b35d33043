//! Values that other crates encode.

#[cfg(any(feature = "zerocopy", feature = "postcard"))]
use crate::map::value::{TooLong, Value};

/// A structure as its bytes in memory, of those that derive zerocopy's `IntoBytes`, `TryFromBytes` and `Immutable`. Its
/// numbers are as the processor has them; those of `zerocopy::little_endian` are the same on all.
#[cfg(feature = "zerocopy")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain<T>(pub T);

#[cfg(feature = "zerocopy")]
impl<T: zerocopy::IntoBytes + zerocopy::TryFromBytes + zerocopy::Immutable> Value for Plain<T> {
    const BYTES: usize = size_of::<T>();

    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
        bytes.copy_from_slice(self.0.as_bytes());
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        T::try_read_from_bytes(bytes).ok().map(Plain)
    }
}

/// What Serde serialises, in Postcard's format. A value takes `N` bytes; those that it does not
/// need are zeros, and are left out where values vary.
#[cfg(feature = "postcard")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Postcard<T, const N: usize>(pub T);

#[cfg(feature = "postcard")]
impl<T: serde::Serialize + serde::de::DeserializeOwned, const N: usize> Value for Postcard<T, N> {
    const BYTES: usize = N;

    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
        let length = postcard::to_slice(&self.0, bytes).map_err(|_| TooLong)?.len();
        bytes[length..].fill(0);
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok().map(Postcard)
    }

    /// Without the zeros after it.
    fn encode_shortly(&self, bytes: &mut [u8]) -> Result<usize, TooLong> {
        Ok(postcard::to_slice(&self.0, bytes).map_err(|_| TooLong)?.len())
    }

    fn decode_short(bytes: &[u8]) -> Option<Self> {
        Self::decode(bytes)
    }
}
