//! What the interpreter asks of the keeper of objects, and of the runtime.

use crate::code::{Code, CodeError};
use crate::end::{Exception, Failure, Native, Stop};

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

/// The owner of what belongs to the runtime, whose context may use every object.
pub const RUNTIME: u8 = 0;
/// The first owner that stands for a package instead of an applet's instance: that of the arrays that static fields
/// start with.
pub const PACKAGE_OWNER: u8 = 0x80;
/// References from 1 to below this are the runtime's temporary objects: no field, static field or element takes them.
pub const TEMPORARY_END: i32 = 1 << 16;

/// A field of an object, or elements of an array, by their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub object: i32,
    pub kind: u8,
    pub first: u16,
    pub count: u16,
}

/// What the firewall has to know of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// An applet's instance, [`RUNTIME`], or a package from [`PACKAGE_OWNER`] on.
    pub owner: u8,
    /// Whether every context may use it: a global array.
    pub is_global: bool,
    /// Whether it may be used only while its context is selected: an array that deselection clears.
    pub needs_selection: bool,
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

    /// Whose an object is, for the firewall.
    ///
    /// # Errors
    ///
    /// If the reference leads nowhere.
    fn standing(&mut self, reference: i32) -> Result<Standing, Self::Error>;

    /// Says on whose behalf objects are made from now on.
    fn set_owner(&mut self, owner: u8);

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

/// What a native method is called with.
#[derive(Debug)]
pub struct NativeCall<'a, O, C> {
    /// The objects.
    pub objects: &'a mut O,
    /// The packages.
    pub code: &'a mut C,
    /// Its number in [`norn_card_package::NATIVES`].
    pub number: u16,
    /// On whose behalf it is called.
    pub owner: u8,
    /// On whose behalf the code ran before that, where it called across the firewall; else `owner`.
    pub previous: u8,
    /// Its arguments, the object first where it is called on one.
    pub arguments: &'a [i32],
}

/// What a program meets of the card besides objects.
pub trait Runtime<O: Objects, C: Code> {
    /// The object that stands for an exception of the virtual machine; its class is that of the exception.
    ///
    /// # Errors
    ///
    /// If there is none; the program ends then.
    fn exception(&mut self, objects: &mut O, exception: Exception) -> Result<i32, O::Error>;

    /// Carries a native method out.
    ///
    /// # Errors
    ///
    /// If the keeper of objects or an image fails; the program ends then.
    fn native(&mut self, call: NativeCall<'_, O, C>) -> Result<Native, Stop<O::Error, CodeError<C>>>;

    /// The context of an owner: the number of the package that may use its objects.
    fn context(&self, objects: &O, owner: u8) -> u8;

    /// Whether an applet may be called across the firewall: not one that is active on another channel, and there alone.
    ///
    /// # Errors
    ///
    /// If the keeper of objects or an image fails; the program ends then.
    fn may_call(&mut self, objects: &mut O, code: &mut C, owner: u8) -> Result<bool, Stop<O::Error, CodeError<C>>>;

    /// Whether an applet of a context is selected, so that its arrays may be used that deselection clears.
    fn is_selected(&self, objects: &O, context: u8) -> bool;
}
