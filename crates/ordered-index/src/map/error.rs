//! What can go wrong with a map, beside what can with bytes.

use core::fmt;

use norn_flash::Nor;

use crate::error::IndexError;
use crate::fat_list::UpTo;
use crate::map::value::{TooLong, Value};
use crate::map::widths::MapWidths;

/// Why an operation on a mounted [`Map`](crate::Map) failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError<E> {
    /// As with keys and values that are bytes.
    Index(IndexError<E>),
    /// The key or the value that was given needs more bytes than its type has. Nothing has changed.
    TooLong,
    /// The bytes of this part of an entry, `"key"` or `"value"`, are nothing of its type: another program wrote them,
    /// with other types.
    OtherType(&'static str),
}

impl<E: fmt::Debug> fmt::Display for MapError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::Index(error) => error.fmt(f),
            MapError::TooLong => f.write_str("a key or a value that needs more bytes than its type has"),
            MapError::OtherType(what) => {
                write!(f, "a {what} whose bytes are nothing of its type: another program wrote them")
            }
        }
    }
}

impl<E: fmt::Debug> core::error::Error for MapError<E> {}

impl<E> From<IndexError<E>> for MapError<E> {
    fn from(error: IndexError<E>) -> Self {
        MapError::Index(error)
    }
}

impl<E> From<TooLong> for MapError<E> {
    fn from(_: TooLong) -> Self {
        MapError::TooLong
    }
}

/// What a call on a map on a device `D` returns.
pub(super) type Outcome<T, D> = Result<T, MapError<<D as Nor>::Error>>;

/// The bytes of a key, in place of zeros.
pub(super) fn encoded<const N: usize>(key: &impl Value, mut zeros: UpTo<N>) -> Result<UpTo<N>, TooLong> {
    key.encode(zeros.as_mut()).map(|()| zeros)
}

/// The key and the value that these bytes are.
pub(super) fn decoded_entry<K, V, E, W, const KEY_MAX: usize, const VALUE_MAX: usize>(
    (key, value): &(W::Key, W::Value),
) -> Result<(K, V), MapError<E>>
where
    K: Value,
    V: Value,
    W: MapWidths<KEY_MAX, VALUE_MAX>,
{
    let key = K::decode(key.as_ref()).ok_or(MapError::OtherType("key"))?;
    Ok((key, W::decoded(value).ok_or(MapError::OtherType("value"))?))
}
