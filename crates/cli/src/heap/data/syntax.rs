//! JSON of a text, in which no object has a member twice: of two, one would be lost. Errors say in which member they
//! are, besides line and column.
//!
//! The members of `objects` are most of a document. Each can be replaced by something smaller as soon as it is read.

use std::cell::RefCell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::failure::{DataError, named, quoted};

/// The value of a text, after `pack` has had each member of its `objects`.
///
/// # Errors
/// When it is no JSON, or an object in it has a member twice.
pub fn parsed(text: &str, mut pack: impl FnMut(&str, &mut Value)) -> Result<Value, DataError> {
    let (place, pack) = (RefCell::new(Vec::new()), RefCell::new(&mut pack as Packer<'_>));
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Within { place: &place, pack: &pack }.deserialize(&mut deserializer);
    let value = value.and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| placed(error, &place.into_inner()))
}

type Packer<'a> = &'a mut dyn FnMut(&str, &mut Value);

/// What reads the next value.
struct Within<'a, 'p> {
    /// The names of members and the indices of elements, within which the value is.
    place: &'a RefCell<Vec<String>>,
    pack: &'a RefCell<Packer<'p>>,
}

impl Within<'_, '_> {
    fn enter(&self, name: String) {
        self.place.borrow_mut().push(name);
    }

    /// Not where there is an error: then it is known where.
    fn leave(&self) {
        self.place.borrow_mut().pop();
    }
}

impl<'de> DeserializeSeed<'de> for &Within<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &Within<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            self.enter(format!("[{}]", values.len()));
            let element = elements.next_element_seed(self)?;
            self.leave();
            match element {
                Some(value) => values.push(value),
                None => return Ok(values.into()),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if values.contains_key(&name) {
                return Err(A::Error::custom(format!("{} is there twice", quoted(&name))));
            }
            self.enter(name.clone());
            let mut value = members.next_value_seed(self)?;
            self.leave();
            if *self.place.borrow() == ["objects"] {
                (self.pack.borrow_mut())(&name, &mut value);
            }
            values.insert(name, value);
        }
        Ok(values.into())
    }
}

/// Steps from a document to its innermost value. What is further within is no place that a message helps to find.
const STEPS_MAX: usize = 5;

/// An error with its place, as other errors of a document name theirs.
fn placed(error: serde_json::Error, path: &[String]) -> DataError {
    let (mut places, mut path) = (Vec::<String>::new(), path.iter().take(STEPS_MAX).peekable());
    while let Some(step) = path.next() {
        let one = match step.as_str() {
            "objects" => "object",
            "roots" => "root",
            "fields" => "field",
            other => other,
        };
        match path.next_if(|next| next.starts_with('[') || one != step) {
            Some(index) if index.starts_with('[') => places.push(format!("{step}{index}")),
            Some(name) => places.push(named(one, name)),
            None => places.push(step.clone()),
        }
    }
    // What the library calls the depth at which it stops.
    let problem = error.to_string().replace("recursion limit exceeded", "nested too deeply");
    places.iter().rev().fold(DataError::new(problem), |error, place| error.within(place))
}
