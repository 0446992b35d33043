//! What the micro-benchmark asks of a sorted map, and what a map says of itself.
//!
//! Keys and values are numbers of 32 bits. Every call is durable when it returns, and takes up to [`SortedMap::batch`]
//! different keys, in ascending order.

use crate::device::Device;

/// Why a map did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// There is no room.
    #[error("full after {0} calls")]
    Full(u64),
    /// The map has no such operation, or none that ends.
    #[error("{0}")]
    Unsupported(&'static str),
    /// Something else, in the map's words.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    /// What a map's own error says.
    pub fn of(error: impl std::fmt::Debug) -> Failure {
        Failure::Failed(format!("{error:?}"))
    }
}

/// A sorted map on a [`Device`].
pub trait SortedMap {
    /// Keys of a call that changes something.
    fn batch(&self) -> usize {
        1
    }

    /// Adds keys that are not there, all or none.
    fn insert(&mut self, entries: &[(u32, u32)]) -> Result<(), Failure>;

    /// Gives keys that are there other values, all or none.
    fn update(&mut self, entries: &[(u32, u32)]) -> Result<(), Failure>;

    /// Takes keys away that are there, all or none.
    fn remove(&mut self, keys: &[u32]) -> Result<(), Failure>;

    /// The value of a key.
    fn get(&mut self, key: u32) -> Result<Option<u32>, Failure>;

    /// Reads all entries by ascending keys, and counts them.
    fn count_in_order(&mut self) -> Result<u32, Failure>;

    /// Makes the next mount fast, where there is a way.
    fn stop(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// RAM that the map keeps between calls, with the buffers that its interface wants, without the device: bytes on
    /// this machine.
    fn ram_bytes(&self) -> usize;
}

/// Whether a map is to be laid out or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Lay out an empty map.
    Format,
    /// Mount the one that is there.
    Mount,
}

/// How a map is opened.
pub type Open = Box<dyn Fn(Device, Opening) -> Result<Box<dyn SortedMap>, Failure>>;

/// A map in one configuration.
pub struct Contender {
    /// Name and configuration, short.
    pub name: &'static str,
    /// Version of its crate.
    pub version: &'static str,
    /// Its configuration and what had to be chosen.
    pub notes: &'static str,
    /// Opens it.
    pub open: Open,
    /// Opens a configuration that leaves the same on flash and fills faster, where insertions are not measured.
    pub fill: Option<Open>,
}

/// A call on a map with a batch of one.
pub fn single<T: Copy>(batch: &[T]) -> Result<T, Failure> {
    match batch {
        [one] => Ok(*one),
        _ => Err(Failure::Failed(format!("{} keys in a call that takes one", batch.len()))),
    }
}
