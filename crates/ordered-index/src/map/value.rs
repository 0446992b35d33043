//! Types that are keys and values of maps, as bytes on flash.

use core::cmp::Reverse;
use core::time::Duration;

use crate::fat_list::ENTRY_BYTES_MAX;

/// A value needs more bytes than those of its type have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// A type whose values are values of a [`Map`](crate::Map).
///
/// The contract: `encode` fills its bytes; `decode` returns what was encoded, and of bytes that `encode` does not write
/// nothing, or anything.
///
/// Here are numbers, `bool`, `char`, arrays of bytes, [`Text`](crate::Text), [`Duration`], tuples of up to four of
/// these, and `()` for a set, whose entries are keys only. With the feature `zerocopy` structures are values as
/// `Plain`, with the feature `postcard` what Serde serialises as `Postcard`.
pub trait Value: Sized {
    /// Bytes of a value.
    const BYTES: usize;

    /// Writes the value into `bytes`, which are [`BYTES`](Self::BYTES) long.
    ///
    /// # Errors
    /// [`TooLong`] if it needs more. Types of a fixed length do not.
    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong>;

    /// The value that `bytes` are, which are [`BYTES`](Self::BYTES) long.
    fn decode(bytes: &[u8]) -> Option<Self>;

    /// Writes the value to the front of `bytes`, which are [`BYTES`](Self::BYTES) long, in as few bytes as it takes,
    /// and returns how many: for maps whose values vary. Types of a fixed length take all of them.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn encode_shortly(&self, bytes: &mut [u8]) -> Result<usize, TooLong> {
        self.encode(bytes).map(|()| Self::BYTES)
    }

    /// The value that was written shortly as `bytes`.
    fn decode_short(bytes: &[u8]) -> Option<Self> {
        if bytes.len() == Self::BYTES { Self::decode(bytes) } else { None }
    }
}

/// A type whose values are keys of a [`Map`](crate::Map): two of them compare as their bytes do, from the first byte
/// on.
///
/// Here are integers, `bool`, `char`, arrays of bytes, [`Text`](crate::Text), [`Duration`] as the time since 1970 or
/// since the start, tuples of up to four of these, which sort by the first one first, and [`Reverse`] of each, so that
/// the greatest comes first, the newest say. A structure of one's own delegates to a tuple:
///
/// ```
/// use norn_ordered_index::{Key, TooLong, Value};
///
/// #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
/// struct Sample {
///     sensor: u8,
///     second: u32,
/// }
///
/// impl Value for Sample {
///     const BYTES: usize = <(u8, u32)>::BYTES;
///
///     fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
///         (self.sensor, self.second).encode(bytes)
///     }
///
///     fn decode(bytes: &[u8]) -> Option<Self> {
///         Value::decode(bytes).map(|(sensor, second)| Sample { sensor, second })
///     }
/// }
///
/// impl Key for Sample {}
///
/// let mut bytes = [0; Sample::BYTES];
/// Sample { sensor: 3, second: 600 }.encode(&mut bytes).unwrap();
/// assert_eq!(bytes, [3, 0, 0, 2, 88]);
/// ```
pub trait Key: Value + Ord {}

impl Value for () {
    const BYTES: usize = 0;

    fn encode(&self, _: &mut [u8]) -> Result<(), TooLong> {
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.is_empty().then_some(())
    }
}

/// Big-endian, so that they sort as numbers.
macro_rules! big_endian {
    ($($number:ty)*) => {$(
        impl Value for $number {
            const BYTES: usize = size_of::<$number>();

            fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
                self.to_be_bytes().encode(bytes)
            }

            fn decode(bytes: &[u8]) -> Option<Self> {
                Value::decode(bytes).map(<$number>::from_be_bytes)
            }
        }
    )*};
}

big_endian!(u8 u16 u32 u64 u128 f32 f64);

/// As the unsigned number that counts from the least, so that negative ones come first.
macro_rules! signed {
    ($($number:ty as $unsigned:ty),*) => {$(
        impl Value for $number {
            const BYTES: usize = size_of::<$number>();

            fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
                (*self as $unsigned ^ 1 << (<$number>::BITS - 1)).encode(bytes)
            }

            fn decode(bytes: &[u8]) -> Option<Self> {
                <$unsigned>::decode(bytes).map(|number| (number ^ 1 << (<$number>::BITS - 1)) as $number)
            }
        }
    )*};
}

signed!(i8 as u8, i16 as u16, i32 as u32, i64 as u64, i128 as u128);

impl Value for bool {
    const BYTES: usize = 1;

    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
        u8::from(*self).encode(bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

impl Value for char {
    const BYTES: usize = u32::BYTES;

    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
        u32::from(*self).encode(bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        u32::decode(bytes).and_then(char::from_u32)
    }
}

impl<const N: usize> Value for [u8; N] {
    const BYTES: usize = N;

    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
        bytes.copy_from_slice(self);
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok()
    }
}

/// Seconds and nanoseconds.
impl Value for Duration {
    const BYTES: usize = <(u64, u32)>::BYTES;

    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
        (self.as_secs(), self.subsec_nanos()).encode(bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (seconds, nanoseconds) = Value::decode(bytes)?;
        (nanoseconds < 1_000_000_000).then(|| Duration::new(seconds, nanoseconds))
    }
}

/// Every bit inverted.
impl<T: Value> Value for Reverse<T> {
    const BYTES: usize = T::BYTES;

    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
        self.0.encode(bytes)?;
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut inverted = [0; ENTRY_BYTES_MAX];
        let inverted = inverted.get_mut(..bytes.len())?;
        inverted.iter_mut().zip(bytes).for_each(|(to, from)| *to = !from);
        T::decode(inverted).map(Reverse)
    }
}

/// The bytes of one after the other.
macro_rules! tuples {
    ($($part:ident $value:ident),*) => {
        impl<$($part: Value),*> Value for ($($part,)*) {
            const BYTES: usize = 0 $(+ $part::BYTES)*;

            fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
                let ($($value,)*) = self;
                let rest = bytes;
                $(
                    let (bytes, rest) = rest.split_at_mut($part::BYTES);
                    $value.encode(bytes)?;
                )*
                debug_assert!(rest.is_empty(), "bytes of another type");
                Ok(())
            }

            fn decode(bytes: &[u8]) -> Option<Self> {
                let rest = bytes;
                $(
                    let (bytes, rest) = rest.split_at_checked($part::BYTES)?;
                    let $value = $part::decode(bytes)?;
                )*
                rest.is_empty().then_some(($($value,)*))
            }
        }

        impl<$($part: Key),*> Key for ($($part,)*) {}
    };
}

tuples!(A a, B b);
tuples!(A a, B b, C c);
tuples!(A a, B b, C c, D d);

macro_rules! keys {
    ($($key:ty)*) => {$(impl Key for $key {})*};
}

keys!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 bool char Duration);

impl<const N: usize> Key for [u8; N] {}

impl<K: Key> Key for Reverse<K> {}
