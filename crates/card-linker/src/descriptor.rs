//! Descriptors of fields and methods, restricted to the types of a card.

use crate::refusal::Reason;

/// What a field, a parameter or an element of an array holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// `boolean`, one byte.
    Boolean,
    /// `byte`, one byte.
    Byte,
    /// `short`, two bytes.
    Short,
    /// `int`, four bytes.
    Int,
    /// A class by its internal name (`java/lang/Object`), or an array by its descriptor (`[B`).
    Reference(String),
}

impl ValueType {
    /// Reads the descriptor of a field.
    ///
    /// # Errors
    ///
    /// [`Reason::Malformed`] where it is no descriptor; [`Reason::NotOnCards`] for `char`, `long`, `float`, `double`
    /// and arrays of arrays.
    pub fn parse(descriptor: &str) -> Result<ValueType, Reason> {
        match Cursor(descriptor).value()? {
            (value, "") => Ok(value),
            _ => Err(malformed(descriptor)),
        }
    }

    /// The type of an element, where this is an array.
    #[must_use]
    pub fn element(&self) -> Option<ValueType> {
        match self {
            ValueType::Reference(name) => ValueType::parse(name.strip_prefix('[')?).ok(),
            _ => None,
        }
    }
}

/// Parameters and result of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The parameters without the object that the method is called on.
    pub parameters: Vec<ValueType>,
    /// The result; none for `void`.
    pub result: Option<ValueType>,
}

impl Signature {
    /// Reads the descriptor of a method.
    ///
    /// # Errors
    ///
    /// As [`ValueType::parse`]; [`Reason::Malformed`] for more than 254 parameters, which is what a class file allows
    /// beside `this`.
    pub fn parse(descriptor: &str) -> Result<Signature, Reason> {
        let mut rest = descriptor.strip_prefix('(').ok_or_else(|| malformed(descriptor))?;
        let mut parameters = Vec::new();
        while !rest.starts_with(')') {
            let (parameter, after) = Cursor(rest).value()?;
            parameters.push(parameter);
            rest = after;
        }
        if parameters.len() > 254 {
            return Err(malformed(descriptor));
        }
        let result = if rest == ")V" { None } else { Some(ValueType::parse(&rest[1..])?) };
        Ok(Signature { parameters, result })
    }
}

/// Whether a name can be that of a class: parts between slashes, none empty.
pub(crate) fn is_class_name(name: &str) -> bool {
    name.split('/').all(|part| !part.is_empty() && !part.contains(['.', ';', '[']))
}

fn malformed(descriptor: &str) -> Reason {
    Reason::Malformed(format!("`{descriptor}` is no descriptor"))
}

/// The rest of a descriptor.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    /// The next type, and what follows it.
    fn value(&self) -> Result<(ValueType, &'a str), Reason> {
        let text = self.0;
        let first = text.chars().next().ok_or_else(|| malformed(text))?;
        let rest = &text[first.len_utf8()..];
        match first {
            'Z' => Ok((ValueType::Boolean, rest)),
            'B' => Ok((ValueType::Byte, rest)),
            'S' => Ok((ValueType::Short, rest)),
            'I' => Ok((ValueType::Int, rest)),
            'C' => Err(lacking("char", "use byte or short")),
            'J' => Err(lacking("long", "use int, or an array of bytes")),
            'F' | 'D' => Err(lacking("floating point", "count in the smallest unit in an int")),
            'L' => Self(rest).class(),
            '[' => Self(rest).array(text),
            _ => Err(malformed(text)),
        }
    }

    /// A class's name up to its semicolon.
    fn class(&self) -> Result<(ValueType, &'a str), Reason> {
        let (name, after) = self.0.split_once(';').ok_or_else(|| malformed(self.0))?;
        if !is_class_name(name) {
            return Err(malformed(self.0));
        }
        Ok((ValueType::Reference(name.to_owned()), after))
    }

    /// An array whose element comes next; `whole` starts with its bracket.
    fn array(&self, whole: &'a str) -> Result<(ValueType, &'a str), Reason> {
        if self.0.starts_with('[') {
            return Err(lacking("arrays of arrays", "use one array and compute the index"));
        }
        let (_, after) = self.value()?;
        Ok((ValueType::Reference(whole[..whole.len() - after.len()].to_owned()), after))
    }
}

fn lacking(what: &str, instead: &'static str) -> Reason {
    Reason::NotOnCards { what: what.to_owned(), instead }
}
