//! What a host or a reader asks of a card.

use norn_card_package::Aid;

/// Why a package or an applet is not installed or deleted. Nothing is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallError<E> {
    /// The card cannot do that.
    Unsupported,
    /// No package or applet has the AID.
    Missing(Aid),
    /// A package or applet has the AID already.
    Exists(Aid),
    /// The image is damaged, or not one.
    Image,
    /// A package that the image imports is not on the card, or its version does not serve.
    Import(Aid),
    /// There is no room for a package's code, its objects or its number.
    NoRoom,
    /// The parameters of an applet have so many bytes too many.
    TooLong(usize),
    /// The applet's `install` threw, or ended without registering: the status word that a reader would see.
    Refused(u16),
    /// Others refer to it, or it is selected on another channel.
    InUse,
    /// A memory of the card fails.
    Memory(E),
}

impl<E> InstallError<E> {
    /// The same with another error of the memory.
    pub fn map_memory<F>(self, map: impl FnOnce(E) -> F) -> InstallError<F> {
        match self {
            InstallError::Unsupported => InstallError::Unsupported,
            InstallError::Missing(aid) => InstallError::Missing(aid),
            InstallError::Exists(aid) => InstallError::Exists(aid),
            InstallError::Image => InstallError::Image,
            InstallError::Import(aid) => InstallError::Import(aid),
            InstallError::NoRoom => InstallError::NoRoom,
            InstallError::TooLong(bytes) => InstallError::TooLong(bytes),
            InstallError::Refused(status) => InstallError::Refused(status),
            InstallError::InUse => InstallError::InUse,
            InstallError::Memory(error) => InstallError::Memory(map(error)),
        }
    }
}

/// A card with its power on. What fails with an error of a memory has to be reset before it is used again.
pub trait Card {
    /// Why a memory fails.
    type Error;

    /// Installs a package, whose imports are there already. A power cut leaves it whole or absent.
    ///
    /// # Errors
    ///
    /// [`InstallError`].
    fn install_package(&mut self, image: &[u8]) -> Result<(), InstallError<Self::Error>>;

    /// Makes an instance of an applet of an installed package, by the applet's AID there. `instance` is the AID that
    /// the instance has, unless the applet registers itself by another one. `bArray` is length and AID of the instance,
    /// length 0 of control data, length and bytes of the parameters: 127 bytes at most.
    ///
    /// # Errors
    ///
    /// [`InstallError`].
    fn install_applet(
        &mut self,
        applet: Aid,
        instance: Aid,
        parameters: &[u8],
    ) -> Result<(), InstallError<Self::Error>>;

    /// Deletes an instance of an applet, or a package whose applets have no instances.
    ///
    /// # Errors
    ///
    /// [`InstallError`].
    fn delete(&mut self, aid: Aid) -> Result<(), InstallError<Self::Error>>;

    /// The power goes and comes again: transient arrays are cleared, nothing is selected, what was open is undone. Also
    /// recovers from an error of a memory.
    ///
    /// # Errors
    ///
    /// If a memory fails.
    fn reset(&mut self) -> Result<(), Self::Error>;

    /// Carries a command out and returns the length of its response, status word included. `command` is a whole APDU,
    /// short or extended; anything else is answered 6700. A response takes 258 bytes at most for a short command, and
    /// 32,769 for an extended one; one longer than `response` is answered 6F00.
    ///
    /// # Errors
    ///
    /// If a memory fails: the reader sees a card that does not answer.
    fn process(&mut self, command: &[u8], response: &mut [u8]) -> Result<usize, Self::Error>;
}
