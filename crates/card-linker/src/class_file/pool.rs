//! The constant pool, each entry resolved to its text.

use std::collections::BTreeMap;

use noak::MStr;
use noak::error::DecodeError;
use noak::reader::cpool::{ConstantPool, Index, Item, value::NameAndType};

use crate::descriptor::{ValueType, is_class_name};
use crate::refusal::Reason;

/// A field or method as the bytecode names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberName {
    /// The class by its internal name, or an array by its descriptor.
    pub class: String,
    /// The member's name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
}

/// An entry that bytecode can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    /// An int.
    Int(i32),
    /// A class by its internal name, or an array by its descriptor.
    Class(String),
    /// A field.
    Field(MemberName),
    /// A method of a class.
    Method(MemberName),
    /// A method of an interface.
    InterfaceMethod(MemberName),
    /// A kind that a card lacks, by its name.
    Lacking(&'static str),
}

/// The entries by their numbers. What is wrong with one is reported where bytecode names it, so with method and line.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    entries: BTreeMap<u16, Result<Constant, Reason>>,
}

impl Pool {
    pub(super) fn read(pool: &ConstantPool<'_>) -> Pool {
        let read = |(index, item): (Index<Item<'_>>, &_)| Some((index.as_u16(), constant(pool, item).transpose()?));
        Pool { entries: pool.iter_indices().filter_map(read).collect() }
    }

    /// An entry of any kind.
    ///
    /// # Errors
    ///
    /// [`Reason::Malformed`] where there is none that bytecode can name; [`Reason::NotOnCards`] for types that a card
    /// lacks.
    pub fn get(&self, entry: u16) -> Result<&Constant, Reason> {
        let found = self.entries.get(&entry).ok_or_else(|| wrong(entry, "a constant"))?;
        found.as_ref().map_err(Clone::clone)
    }

    /// All entries that bytecode can name.
    pub fn constants(&self) -> impl Iterator<Item = &Constant> {
        self.entries.values().filter_map(|entry| entry.as_ref().ok())
    }

    /// A class or array.
    ///
    /// # Errors
    ///
    /// As [`Pool::get`].
    pub fn class(&self, entry: u16) -> Result<&str, Reason> {
        match self.get(entry)? {
            Constant::Class(name) => Ok(name),
            _ => Err(wrong(entry, "a class")),
        }
    }

    /// A field.
    ///
    /// # Errors
    ///
    /// As [`Pool::get`].
    pub fn field(&self, entry: u16) -> Result<&MemberName, Reason> {
        match self.get(entry)? {
            Constant::Field(member) => Ok(member),
            _ => Err(wrong(entry, "a field")),
        }
    }
}

fn wrong(entry: u16, expected: &str) -> Reason {
    Reason::Malformed(format!("entry {entry} of the constant pool is not {expected}"))
}

/// Entries that only other entries name are none of ours.
fn constant(pool: &ConstantPool<'_>, item: &Item<'_>) -> Result<Option<Constant>, Reason> {
    Ok(Some(match item {
        Item::Integer(integer) => Constant::Int(integer.value),
        Item::Class(class) => Constant::Class(class_text(decoded(pool.retrieve(class.name))?)?),
        Item::FieldRef(field) => {
            let class = decoded(pool.retrieve(field.class))?.name;
            Constant::Field(member(class, &decoded(pool.retrieve(field.name_and_type))?)?)
        }
        Item::MethodRef(method) => {
            let class = decoded(pool.retrieve(method.class))?.name;
            Constant::Method(member(class, &decoded(pool.retrieve(method.name_and_type))?)?)
        }
        Item::InterfaceMethodRef(method) => {
            let class = decoded(pool.retrieve(method.class))?.name;
            Constant::InterfaceMethod(member(class, &decoded(pool.retrieve(method.name_and_type))?)?)
        }
        Item::String(_) => Constant::Lacking("String"),
        Item::Long(_) => Constant::Lacking("long"),
        Item::Float(_) | Item::Double(_) => Constant::Lacking("floating point"),
        Item::MethodHandle(_) | Item::MethodType(_) | Item::Dynamic(_) => Constant::Lacking("method handles"),
        _ => return Ok(None),
    }))
}

/// What the class-file reader reports, as a refusal.
pub(super) fn decoded<T>(result: Result<T, DecodeError>) -> Result<T, Reason> {
    result.map_err(|error| Reason::Malformed(error.to_string()))
}

/// A text of the class file, where it is plain UTF-8.
pub(super) fn text(name: &MStr) -> Result<String, Reason> {
    let plain = name.to_str().ok_or_else(|| Reason::Malformed("a name has characters beyond UTF-8".to_owned()))?;
    Ok(plain.to_owned())
}

/// The name of a member: it has no character with a meaning in class files.
pub(super) fn member_name(name: &MStr) -> Result<String, Reason> {
    let name = text(name)?;
    let special = name == "<init>" || name == "<clinit>";
    if name.is_empty() || !special && name.contains(['.', ';', '[', '/', '<', '>']) {
        return Err(Reason::Malformed(format!("`{name}` cannot be the name of a member")));
    }
    Ok(name)
}

/// A class's name; an array's descriptor stays as it is, and is one of a card's arrays.
fn class_text(name: &MStr) -> Result<String, Reason> {
    let name = text(name)?;
    if name.starts_with('[') {
        ValueType::parse(&name)?;
    } else if !is_class_name(&name) {
        return Err(Reason::Malformed(format!("`{name}` cannot be the name of a class")));
    }
    Ok(name)
}

fn member(class: &MStr, named: &NameAndType<'_>) -> Result<MemberName, Reason> {
    Ok(MemberName { class: class_text(class)?, name: member_name(named.name)?, descriptor: text(named.descriptor)? })
}
