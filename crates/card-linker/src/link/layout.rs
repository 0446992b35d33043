//! A class with its numbers: what code that names it is linked against, in this package and in others.

use std::collections::BTreeMap;

use norn_card_package::{Aid, format};

use crate::descriptor::ValueType;
use crate::shape::{ClassShape, Flags};

/// A member's name and descriptor.
pub type MemberKey = (String, String);

/// A slot of a class's method table, or a method of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The class whose code it has, or whose declaration where it has none.
    pub owner: String,
    /// The method.
    pub key: MemberKey,
    /// Its access flags.
    pub flags: Flags,
    /// The package and number of the code; none where it is left open.
    pub code: Option<(Aid, u16)>,
}

/// A class with its numbers.
#[derive(Clone, Debug)]
pub struct ClassLayout {
    /// What it is; in an export table with what other packages may know.
    pub shape: ClassShape,
    /// The package that it belongs to.
    pub package: Aid,
    /// Its number there.
    pub number: u8,
    /// Whether it is `Shareable`, or below it.
    pub is_shareable: bool,
    /// The kinds of an instance's fields, those of the classes above first.
    pub kinds: Vec<u8>,
    /// The slots of its own fields.
    pub fields: BTreeMap<MemberKey, u8>,
    /// The slots of its own static fields.
    pub statics: BTreeMap<MemberKey, u16>,
    /// The numbers of its own methods with code.
    pub methods: BTreeMap<MemberKey, u16>,
    /// Its method table; of an interface, its own methods.
    pub table: Vec<Slot>,
}

/// The kind of a field or element in an image.
pub(super) fn kind_of(value: &ValueType) -> u8 {
    match value {
        ValueType::Boolean => format::BOOLEAN,
        ValueType::Byte => format::BYTE,
        ValueType::Short => format::SHORT,
        ValueType::Int => format::INT,
        ValueType::Reference(_) => format::REFERENCE,
    }
}

/// The class that a name of a class or of an array of references names.
pub(super) fn class_of(name: &str) -> Option<&str> {
    name.strip_prefix('[').map_or(Some(name), |array| array.strip_prefix('L')?.strip_suffix(';'))
}
