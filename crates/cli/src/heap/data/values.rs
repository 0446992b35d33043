//! Types of fields and elements: how a value is in JSON, and in a heap.
//!
//! `u8` … `u64` and `i8` … `i64` are numbers, little-endian; `f32` and `f64` too; `ref` is the name of an object or
//! null; `text16` is text in 16 bytes, followed by zeros; `bytes12` are 12 bytes, in hexadecimal digits.

use norn_heap::Ref;
use serde_json::{Number, Value};

use super::document::{DataError, bytes_of};
use super::failure::{quoted, shown};
use crate::report::digits_of;

/// The type of a field or element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Unsigned(u8),
    Signed(u8),
    Float(u8),
    Reference,
    Text(u8),
    Bytes(u8),
}

/// Bytes of a reference.
const REFERENCE_BYTES: u8 = 4;

impl Type {
    /// The type of this name.
    pub fn named(name: &str) -> Result<Type, DataError> {
        let width = |prefix: &str| name.strip_prefix(prefix)?.parse::<u8>().ok().filter(|&width| width > 0);
        let found = match name {
            "ref" => Some(Type::Reference),
            "u8" | "u16" | "u32" | "u64" => width("u").map(|bits| Type::Unsigned(bits / 8)),
            "i8" | "i16" | "i32" | "i64" => width("i").map(|bits| Type::Signed(bits / 8)),
            "f32" | "f64" => width("f").map(|bits| Type::Float(bits / 8)),
            _ => width("text").map(Type::Text).or_else(|| width("bytes").map(Type::Bytes)),
        };
        // A number may be written in other ways.
        found.filter(|found| found.name() == name).ok_or_else(|| {
            DataError::new(format!(
                "{} is not a type: the types are u8 to u64, i8 to i64, f32, f64, ref, and textN and bytesN of N bytes, \
                 such as text16",
                quoted(name)
            ))
        })
    }

    /// What a width is taken for, where no type is known.
    pub fn of_width(width: u8) -> Type {
        if matches!(width, 1 | 2 | 4 | 8) { Type::Unsigned(width) } else { Type::Bytes(width) }
    }

    /// Its name.
    pub fn name(self) -> String {
        match self {
            Type::Unsigned(bytes) => format!("u{}", u32::from(bytes) * 8),
            Type::Signed(bytes) => format!("i{}", u32::from(bytes) * 8),
            Type::Float(bytes) => format!("f{}", u32::from(bytes) * 8),
            Type::Reference => "ref".to_owned(),
            Type::Text(bytes) => format!("text{bytes}"),
            Type::Bytes(bytes) => format!("bytes{bytes}"),
        }
    }

    /// Bytes of a value.
    pub fn width(self) -> u8 {
        match self {
            Type::Unsigned(bytes) | Type::Signed(bytes) | Type::Float(bytes) => bytes,
            Type::Text(bytes) | Type::Bytes(bytes) => bytes,
            Type::Reference => REFERENCE_BYTES,
        }
    }

    /// A value of this type in JSON; hexadecimal digits where the bytes are none of it.
    pub fn to_json(self, bytes: &[u8]) -> Value {
        let hexadecimal = || Value::from(format!("{HEXADECIMAL}{}", digits_of(bytes)));
        let mut wide = [0; 8];
        wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        let number = u64::from_le_bytes(wide);
        match self {
            Type::Unsigned(_) => Value::from(number),
            Type::Signed(width) => {
                let shift = 64 - 8 * u32::from(width);
                Value::from((number << shift) as i64 >> shift)
            }
            Type::Float(width) => {
                let float = if width == 4 { f64::from(f32::from_bits(number as u32)) } else { f64::from_bits(number) };
                Number::from_f64(float)
                    .filter(|_| float.to_bits() != (-0.0_f64).to_bits())
                    .map_or_else(hexadecimal, Value::from)
            }
            Type::Reference if number == 0 => Value::Null,
            Type::Reference => Ref::from_bits(number as u32).map_or_else(hexadecimal, |at| Value::from(at.to_string())),
            Type::Text(_) => text_of(bytes).map_or_else(hexadecimal, Value::from),
            Type::Bytes(_) => Value::from(digits_of(bytes)),
        }
    }

    /// The bytes of a value in JSON; `reference` knows what names mean.
    pub fn to_bytes(self, value: &Value, reference: &dyn Fn(&str) -> Option<Ref>) -> Result<Vec<u8>, DataError> {
        let width = usize::from(self.width());
        if let Some(digits) = value.as_str().and_then(|text| text.strip_prefix(HEXADECIMAL)) {
            return self.whole(bytes_of(digits)?);
        }
        let wrong = || DataError::new(format!("{} is not a value of type {}", shown(&value.to_string()), self.name()));
        match self {
            Type::Unsigned(bytes) => {
                let number =
                    integer(value).as_u64().filter(|number| bytes == 8 || number >> (8 * u32::from(bytes)) == 0);
                Ok(number.ok_or_else(wrong)?.to_le_bytes()[..width].to_vec())
            }
            Type::Signed(bytes) => {
                let shift = 64 - 8 * u32::from(bytes);
                let number = integer(value).as_i64().filter(|number| number << shift >> shift == *number);
                Ok(number.ok_or_else(wrong)?.to_le_bytes()[..width].to_vec())
            }
            Type::Float(4) => {
                let number = value.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
                Ok(number.ok_or_else(wrong)?.to_le_bytes().to_vec())
            }
            Type::Float(_) => Ok(value.as_f64().ok_or_else(wrong)?.to_le_bytes().to_vec()),
            Type::Reference if value.is_null() => Ok(vec![0; width]),
            Type::Reference => {
                let name = value.as_str().ok_or_else(wrong)?;
                let found =
                    reference(name).ok_or_else(|| DataError::new(format!("no object is called {}", quoted(name))))?;
                Ok(found.bits().to_le_bytes().to_vec())
            }
            Type::Text(_) => {
                let mut bytes = value.as_str().ok_or_else(wrong)?.as_bytes().to_vec();
                bytes.resize(bytes.len().max(width), 0);
                self.whole(bytes)
            }
            Type::Bytes(_) => self.whole(bytes_of(value.as_str().ok_or_else(wrong)?)?),
        }
    }

    fn whole(self, bytes: Vec<u8>) -> Result<Vec<u8>, DataError> {
        match bytes.len() == usize::from(self.width()) {
            true => Ok(bytes),
            false => {
                Err(DataError::new(format!("{} bytes are not the {} of {}", bytes.len(), self.width(), self.name())))
            }
        }
    }
}

/// The number -0 of JSON is a float here; as an integer it is 0.
fn integer(value: &Value) -> Value {
    let is_minus_zero = value.as_f64().is_some_and(|number| number == 0.0 && number.is_sign_negative());
    if is_minus_zero { Value::from(0) } else { value.clone() }
}

/// Before the digits of what is no value of its type.
const HEXADECIMAL: &str = "hex:";

/// Text that is followed by zeros only, and reads as such again.
fn text_of(bytes: &[u8]) -> Option<&str> {
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let text = std::str::from_utf8(&bytes[..length]).ok()?;
    (bytes[length..].iter().all(|&byte| byte == 0) && !text.starts_with(HEXADECIMAL)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_are_the_same_after_json() {
        let mut random = fastrand::Rng::with_seed(1);
        let reference = |name: &str| {
            let (slot, generation) = name.strip_prefix('#')?.split_once('.')?;
            Some(Ref::new(slot.parse().ok()?, generation.parse().ok()?))
        };
        for name in ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "ref", "text5", "bytes3"] {
            let kind = Type::named(name).unwrap();
            assert_eq!(kind.name(), name);
            for round in 0..2000 {
                let mut bytes: Vec<u8> = (0..kind.width()).map(|_| random.u8(..)).collect();
                match round % 4 {
                    0 => bytes.iter_mut().for_each(|byte| *byte &= 0x7F),
                    1 => bytes[usize::from(kind.width() / 2)..].fill(0),
                    2 => bytes.fill([0, 0xFF, 0x80][round / 4 % 3]),
                    _ => {}
                }
                let text = serde_json::to_string(&kind.to_json(&bytes)).unwrap();
                let value = serde_json::from_str(&text).unwrap();
                let again = kind.to_bytes(&value, &reference).unwrap();
                let is_nan = name == "f32" && f32::from_le_bytes(bytes.clone().try_into().unwrap_or([0; 4])).is_nan();
                assert!(again == bytes || is_nan, "{name}: {bytes:02x?} as {text} is {again:02x?}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (name, value, said) in [
            ("u8", "256", "256 is not a value of type u8"),
            ("u8", "-1", "-1 is not a value of type u8"),
            ("i8", "128", "128 is not a value of type i8"),
            ("u16", "\"x\"", "\"x\" is not a value of type u16"),
            ("ref", "\"bob\"", "no object is called \"bob\""),
            ("text2", "\"abc\"", "3 bytes are not the 2 of text2"),
            ("bytes2", "\"0g\"", "not hexadecimal digits"),
            ("bytes2", "\"00\"", "1 bytes are not the 2 of bytes2"),
        ] {
            let value = serde_json::from_str(value).unwrap();
            let error = Type::named(name).unwrap().to_bytes(&value, &|_| None).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        for name in ["u24", "text0", "bytes256", "int", "u+8", "text01", "bytes+1", "text"] {
            assert!(Type::named(name).is_err(), "{name}");
        }
    }
}
