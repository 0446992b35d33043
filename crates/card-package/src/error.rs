//! What is wrong with an image.

use core::fmt;

/// What is wrong at a place of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It does not begin as a package.
    NoPackage,
    /// It ends too early.
    Ends,
    /// A section or record is not where the format puts it.
    Place,
    /// A count or length that the format excludes.
    Count,
    /// A package's or applet's identifier of another length than 5 to 16 bytes.
    Aid,
    /// A reference to a class, interface or array type that is not there.
    Class,
    /// A reference to a method that is not there, or of another kind.
    Method,
    /// A reference to a static field that is not there, or of another width.
    Static,
    /// A kind of value that no field or array has.
    Kind,
    /// A byte that is no bytecode.
    Opcode,
    /// A local variable beyond those of the method.
    Local,
    /// A branch, or an end of a handler's range, that leads to no bytecode.
    Target,
    /// Flags that the format excludes.
    Flags,
    /// A native method that the virtual machine does not have.
    Native,
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Wrong::NoPackage => "no package image",
            Wrong::Ends => "the image ends too early",
            Wrong::Place => "a section or record out of its place",
            Wrong::Count => "a count or length that is not allowed",
            Wrong::Aid => "an AID that has not 5 to 16 bytes",
            Wrong::Class => "a class that is not there",
            Wrong::Method => "a method that is not there, or of another kind",
            Wrong::Static => "a static field that is not there, or of another width",
            Wrong::Kind => "an unknown kind of value",
            Wrong::Opcode => "an unknown bytecode",
            Wrong::Local => "a local variable that the method does not have",
            Wrong::Target => "a branch or handler that leads to no bytecode",
            Wrong::Flags => "flags that are not allowed",
            Wrong::Native => "a native method that is not known",
        })
    }
}

/// Why a package cannot be used; `E` is the error of what holds the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageError<E> {
    /// The image could not be read.
    Read(E),
    /// The image is no package, or a damaged one.
    Wrong {
        /// The byte where it was found.
        at: u32,
        /// What is wrong.
        what: Wrong,
    },
}

impl<E: fmt::Display> fmt::Display for ImageError<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Read(error) => write!(out, "the image cannot be read: {error}"),
            ImageError::Wrong { at, what } => write!(out, "byte {at}: {what}"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for ImageError<E> {}
