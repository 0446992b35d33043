//! What the interpreter asks of the keeper of objects, and of the runtime.

use crate::end::{Exception, Failure, Native};

/// A class: the number that the card gave its package, and the class's number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassId {
    /// The package.
    pub package: u8,
    /// The class.
    pub class: u8,
}

/// What an object is, as its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An instance of a class.
    Object(ClassId),
    /// An array of a kind of [`norn_card_package::format`].
    Array {
        /// What an element is.
        kind: u8,
        /// The class of references; of no meaning for primitives.
        class: ClassId,
        /// How many elements.
        length: u16,
    },
}

/// Objects, arrays and static fields. A reference is never 0, which is null. Values go in and come out as ints, with
/// the sign of their kind, one of [`norn_card_package::format`]: `BYTE` also stands for fields that are `boolean`.
pub trait Objects {
    /// Why the keeper fails; the program ends then.
    type Error;

    /// An object whose fields are zero and null; `kinds` are those of [`norn_card_package::format`].
    ///
    /// # Errors
    ///
    /// [`Failure::NoRoom`] and [`Failure::TransactionFull`] become exceptions.
    fn create(&mut self, class: ClassId, kinds: &[u8]) -> Result<i32, Failure<Self::Error>>;

    /// An array whose elements are zero or null.
    ///
    /// # Errors
    ///
    /// As [`Objects::create`].
    fn create_array(&mut self, kind: u8, class: ClassId, length: u16) -> Result<i32, Failure<Self::Error>>;

    /// What a reference leads to.
    ///
    /// # Errors
    ///
    /// If it leads nowhere.
    fn form(&mut self, reference: i32) -> Result<Form, Self::Error>;

    /// A field.
    ///
    /// # Errors
    ///
    /// If there is no such field, or one of another width.
    fn field(&mut self, reference: i32, slot: u8, kind: u8) -> Result<i32, Self::Error>;

    /// Changes a field, which takes the low bits that its kind has.
    ///
    /// # Errors
    ///
    /// If there is no such field, or no room for its new value.
    fn set_field(&mut self, reference: i32, slot: u8, kind: u8, value: i32) -> Result<(), Failure<Self::Error>>;

    /// An element; the index is below the length.
    ///
    /// # Errors
    ///
    /// If there is no such element.
    fn element(&mut self, reference: i32, index: u16, kind: u8) -> Result<i32, Self::Error>;

    /// Changes an element, which takes the low bits that its kind has.
    ///
    /// # Errors
    ///
    /// As [`Objects::set_field`].
    fn set_element(&mut self, reference: i32, index: u16, kind: u8, value: i32) -> Result<(), Failure<Self::Error>>;

    /// A static field of a package.
    ///
    /// # Errors
    ///
    /// If there is no such field.
    fn static_field(&mut self, package: u8, slot: u16, kind: u8) -> Result<i32, Self::Error>;

    /// Changes a static field.
    ///
    /// # Errors
    ///
    /// As [`Objects::set_field`].
    fn set_static_field(&mut self, package: u8, slot: u16, kind: u8, value: i32) -> Result<(), Failure<Self::Error>>;
}

/// What a program meets of the card besides objects.
pub trait Runtime<O: Objects> {
    /// The object that stands for an exception of the virtual machine; its class is that of the exception.
    ///
    /// # Errors
    ///
    /// If there is none; the program ends then.
    fn exception(&mut self, objects: &mut O, exception: Exception) -> Result<i32, O::Error>;

    /// Carries a native method out, by its number in [`norn_card_package::NATIVES`].
    ///
    /// # Errors
    ///
    /// If the keeper of objects fails; the program ends then.
    fn native(&mut self, objects: &mut O, number: u16, arguments: &[i32]) -> Result<Native, O::Error>;
}
