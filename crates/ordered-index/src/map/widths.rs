//! Whether the values of a map have one length on flash, or differ.

use crate::fat_list::{AtMost, UpTo, UpToVaried, Varying, Widths};
use crate::map::value::{Key, TooLong, Value};

/// The widths of a [`Map`](crate::Map) with keys of up to `KEY_MAX` bytes in RAM and values of up to `VALUE_MAX`:
/// [`AtMost`], where each value takes the bytes of its type, or [`Varying`], where each takes what it needs.
pub trait MapWidths<const KEY_MAX: usize, const VALUE_MAX: usize>: Widths<Key = UpTo<KEY_MAX>> {
    /// The widths of a map from `K` to `V`.
    fn of<K: Key, V: Value>() -> Self;

    /// The bytes of a value.
    ///
    /// # Errors
    /// [`TooLong`] if there are too many.
    fn encoded<V: Value>(&self, value: &V) -> Result<Self::Value, TooLong>;

    /// The value that these bytes are.
    fn decoded<V: Value>(bytes: &Self::Value) -> Option<V>;
}

impl<const KEY_MAX: usize, const VALUE_MAX: usize> MapWidths<KEY_MAX, VALUE_MAX> for AtMost<KEY_MAX, VALUE_MAX> {
    fn of<K: Key, V: Value>() -> Self {
        const {
            check_max::<K, V>(KEY_MAX, VALUE_MAX);
            assert!(V::BYTES <= u8::MAX as usize, "more bytes than a list has room for");
        }
        AtMost { key_bytes: K::BYTES as u8, value_bytes: V::BYTES as u8 }
    }

    fn encoded<V: Value>(&self, value: &V) -> Result<UpTo<VALUE_MAX>, TooLong> {
        let mut bytes = self.zero_value();
        value.encode(bytes.as_mut()).map(|()| bytes)
    }

    fn decoded<V: Value>(bytes: &UpTo<VALUE_MAX>) -> Option<V> {
        V::decode(bytes.as_ref())
    }
}

impl<const KEY_MAX: usize, const VALUE_MAX: usize> MapWidths<KEY_MAX, VALUE_MAX> for Varying<KEY_MAX, VALUE_MAX> {
    fn of<K: Key, V: Value>() -> Self {
        const { check_max::<K, V>(KEY_MAX, VALUE_MAX) };
        Varying { key_bytes: K::BYTES as u8, value_bytes: V::BYTES as u16, log_bytes: 0 }
    }

    fn encoded<V: Value>(&self, value: &V) -> Result<UpToVaried<VALUE_MAX>, TooLong> {
        let mut bytes = self.value_of(V::BYTES);
        let length = value.encode_shortly(bytes.as_mut())?;
        let mut short = self.value_of(length);
        short.as_mut().copy_from_slice(bytes.as_ref().get(..length).ok_or(TooLong)?);
        Ok(short)
    }

    fn decoded<V: Value>(bytes: &UpToVaried<VALUE_MAX>) -> Option<V> {
        V::decode_short(bytes.as_ref())
    }
}

/// Refuses types with more bytes than a map has in RAM.
const fn check_max<K: Key, V: Value>(key_max: usize, value_max: usize) {
    assert!(K::BYTES <= key_max, "keys of this type need a greater KEY_MAX: Map<_, Key, Value, 64>");
    assert!(V::BYTES <= value_max, "values of this type need a greater VALUE_MAX: Map<_, Key, Value, 16, 100>");
    assert!(K::BYTES <= u8::MAX as usize && V::BYTES <= u16::MAX as usize, "more bytes than a list has room for");
}
