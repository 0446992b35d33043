//! How programs, calls and steps end.

use norn_card_package::{ImageError, Wrong};

/// An exception that the virtual machine throws itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    /// `ArithmeticException`: a division by zero.
    Arithmetic,
    /// `ArrayIndexOutOfBoundsException`.
    Bounds,
    /// `ArrayStoreException`: an element of the wrong class.
    ArrayStore,
    /// `ClassCastException`; also a call through an interface that the object's class does not implement.
    ClassCast,
    /// `NegativeArraySizeException`.
    NegativeSize,
    /// `NullPointerException`.
    Null,
    /// `SystemException` with the reason `NO_RESOURCE`.
    NoRoom,
    /// `SecurityException`: the firewall refuses.
    Security,
    /// `TransactionException` with the reason `BUFFER_FULL`: the open transaction was undone for want of room.
    TransactionFull,
}

/// Why an object is not made or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure<E> {
    /// There is no room; the program can go on.
    NoRoom,
    /// There is no room within a transaction, which is undone now; the program can go on.
    TransactionFull,
    /// The keeper of objects fails.
    Error(E),
}

/// How a native method ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// With a value; a method without result has any.
    Returns(i32),
    /// By throwing an object.
    Throws(i32),
    /// By an exception of the virtual machine.
    Exception(Exception),
    /// By calling a method, whose end is its own.
    Calls(NativeCalls),
}

/// A method that a native one calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeCalls {
    /// On whose behalf.
    pub owner: u8,
    /// The card's number of its package.
    pub package: u8,
    /// Its number there.
    pub method: u16,
    /// Its arguments: the object, and others.
    pub arguments: [i32; 3],
}

/// How a method ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It returned; with a value, if it has one.
    Returned(Option<i32>),
    /// It threw an object.
    Thrown(i32),
}

/// Why a program was stopped. No handler is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop<O, C> {
    /// It carried out as many bytecodes as it may.
    Limit,
    /// There is no room for another frame.
    Stack,
    /// The objects' keeper failed.
    Objects(O),
    /// An image cannot be read, or is damaged.
    Image(ImageError<C>),
}

/// What keeps a step from leading to the next bytecode.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trap<O, C> {
    Exception(Exception),
    Throw(i32),
    Stop(Stop<O, C>),
}

impl<O, C> Trap<O, C> {
    /// Damage at a position of an image.
    pub(crate) fn damaged(at: u32, what: Wrong) -> Self {
        Trap::Stop(Stop::Image(ImageError::Wrong { at, what }))
    }

    pub(crate) fn objects(error: O) -> Self {
        Trap::Stop(Stop::Objects(error))
    }

    // In the code once: most changes of objects may fail.
    #[inline(never)]
    pub(crate) fn failure(failure: Failure<O>) -> Self {
        match failure {
            Failure::NoRoom => Trap::Exception(Exception::NoRoom),
            Failure::TransactionFull => Trap::Exception(Exception::TransactionFull),
            Failure::Error(error) => Trap::Stop(Stop::Objects(error)),
        }
    }
}

impl<O, C> From<ImageError<C>> for Trap<O, C> {
    fn from(error: ImageError<C>) -> Self {
        Trap::Stop(Stop::Image(error))
    }
}
