//! What other classes may know of a class: its name, parents and members, without code.
//!
//! The verifier resolves names against shapes alone, so that a class of an imported package needs no code.

use crate::descriptor::{Signature, ValueType};

/// Access flags as class files have them, of classes, fields and methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(pub u16);

#[expect(missing_docs, reason = "each asks for the flag that it is named after")]
impl Flags {
    #[must_use]
    pub const fn is_public(self) -> bool {
        self.0 & 0x0001 != 0
    }
    #[must_use]
    pub const fn is_private(self) -> bool {
        self.0 & 0x0002 != 0
    }
    #[must_use]
    pub const fn is_protected(self) -> bool {
        self.0 & 0x0004 != 0
    }
    #[must_use]
    pub const fn is_static(self) -> bool {
        self.0 & 0x0008 != 0
    }
    #[must_use]
    pub const fn is_final(self) -> bool {
        self.0 & 0x0010 != 0
    }
    #[must_use]
    pub const fn is_synchronized(self) -> bool {
        self.0 & 0x0020 != 0
    }
    #[must_use]
    pub const fn is_native(self) -> bool {
        self.0 & 0x0100 != 0
    }
    #[must_use]
    pub const fn is_interface(self) -> bool {
        self.0 & 0x0200 != 0
    }
    #[must_use]
    pub const fn is_abstract(self) -> bool {
        self.0 & 0x0400 != 0
    }
    #[must_use]
    pub const fn is_enum(self) -> bool {
        self.0 & 0x4000 != 0
    }
}

/// A field without its value.
#[derive(Clone, Debug)]
pub struct FieldShape {
    /// The name.
    pub name: String,
    /// The descriptor as the class file has it.
    pub descriptor: String,
    /// What it holds.
    pub value: ValueType,
    /// Its access flags.
    pub flags: Flags,
}

/// A method without its code.
#[derive(Clone, Debug)]
pub struct MethodShape {
    /// The name; `<init>` for constructors.
    pub name: String,
    /// The descriptor as the class file has it.
    pub descriptor: String,
    /// Parameters and result.
    pub signature: Signature,
    /// Its access flags.
    pub flags: Flags,
}

/// A class or interface without code.
#[derive(Clone, Debug)]
pub struct ClassShape {
    /// The internal name, with slashes.
    pub name: String,
    /// The class above; none for `java/lang/Object`.
    pub parent: Option<String>,
    /// The interfaces that it names itself.
    pub interfaces: Vec<String>,
    /// Its access flags.
    pub flags: Flags,
    /// Its own fields.
    pub fields: Vec<FieldShape>,
    /// Its own methods.
    pub methods: Vec<MethodShape>,
    /// The class whose nest it says it belongs to; it may use that nest's private members.
    pub nest_host: Option<String>,
    /// The classes that it accepts into the nest that it hosts.
    pub nest_members: Vec<String>,
}

impl ClassShape {
    /// The package's internal name, empty for the unnamed one.
    #[must_use]
    pub fn package(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |(package, _)| package)
    }

    /// The class's own field of a name and descriptor.
    #[must_use]
    pub fn field(&self, name: &str, descriptor: &str) -> Option<&FieldShape> {
        self.fields.iter().find(|field| field.name == name && field.descriptor == descriptor)
    }

    /// The class's own method of a name and descriptor.
    #[must_use]
    pub fn method(&self, name: &str, descriptor: &str) -> Option<&MethodShape> {
        self.methods.iter().find(|method| method.name == name && method.descriptor == descriptor)
    }
}
