//! What is served: a store of bytes at addresses.

/// Whether zeros may be left to holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holes {
    /// Room may be given up.
    Allowed,
    /// The client wants to be sure of the room.
    Unwanted,
}

/// Why a store did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It cannot be read or written.
    #[error("input or output failed")]
    Io,
    /// There is no room.
    #[error("no room is left")]
    NoSpace,
}

/// A store of bytes. Ranges given to it lie within [`size_bytes`](Self::size_bytes): the server refuses others. What is
/// done counts for every later call, from whichever connection.
pub trait BlockStore: Send {
    /// Its size, which does not change.
    fn size_bytes(&self) -> u64;

    /// The length and alignment that it handles best: a power of two of at least 512.
    fn preferred_bytes(&self) -> u32;

    /// Reads from `at` on into all of `data`.
    ///
    /// # Errors
    /// [`StoreError`].
    fn read(&mut self, at: u64, data: &mut [u8]) -> Result<(), StoreError>;

    /// Writes `data` from `at` on.
    ///
    /// # Errors
    /// [`StoreError`].
    fn write(&mut self, at: u64, data: &[u8]) -> Result<(), StoreError>;

    /// Makes `len` bytes from `at` on zeros.
    ///
    /// # Errors
    /// [`StoreError`].
    fn write_zeroes(&mut self, at: u64, len: u32, holes: Holes) -> Result<(), StoreError>;

    /// Called when no client needs `len` bytes from `at` on any more: they may be anything from now on, until they are
    /// written.
    ///
    /// # Errors
    /// [`StoreError`].
    fn trim(&mut self, at: u64, len: u32) -> Result<(), StoreError>;

    /// Makes everything that was done so far durable.
    ///
    /// # Errors
    /// [`StoreError`].
    fn flush(&mut self) -> Result<(), StoreError>;
}
