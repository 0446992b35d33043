//! Where the images of a card's packages are kept.

use norn_card_package::{Aid, ImageError};

use crate::code::{Code, CodeError};

/// Why an image is not kept. Nothing is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddError<E> {
    /// There is no room for its bytes, or no number for it.
    NoRoom,
    /// A package has its AID already.
    Exists(Aid),
    /// A package that it imports is not there, or its version does not serve.
    Import(Aid),
    /// It is damaged, or not an image; or the memory fails.
    Image(ImageError<E>),
}

/// Packages that are added and removed; a power cut leaves each whole or absent.
pub trait PackageStore: Code {
    /// Finds the packages of the numbers that are installed, unless they are known already. One whose image is damaged
    /// is left out, and so are those that import it.
    ///
    /// # Errors
    ///
    /// If the memory fails.
    fn open(&mut self, is_installed: impl Fn(u8) -> bool) -> Result<(), CodeError<Self>>
    where
        Self: Sized;

    /// Keeps an image, whose imports are there already, and returns the number that the package has from now on. Of the
    /// image it looks at the header and the imports: who adds it checks the rest where it is then.
    ///
    /// # Errors
    ///
    /// [`AddError`].
    fn add(&mut self, image: &[u8]) -> Result<u8, AddError<CodeError<Self>>>
    where
        Self: Sized;

    /// Removes a package that no other imports. Nothing happens where there is none.
    ///
    /// # Errors
    ///
    /// If the memory fails.
    fn remove(&mut self, number: u8) -> Result<(), CodeError<Self>>
    where
        Self: Sized;
}
