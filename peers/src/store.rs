//! What a workload asks of a store, and what a store says of itself.
//!
//! An object is [`FIELDS`] fields of [`WIDTH`] bytes, named by its number in the order of creation. Every call is
//! durable when it returns. Keys and handles that a client keeps anyway (a number, a `Ref`) count as no RAM of the
//! store.

use crate::device::Device;

/// Fields of an object.
pub const FIELDS: usize = 50;
/// Bytes of a field.
pub const WIDTH: usize = 2;

/// A field's value.
pub type Value = [u8; WIDTH];
/// An object's values.
pub type Record = [Value; FIELDS];

/// One field of one object and the value that it is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The object's number.
    pub object: usize,
    /// The field's index.
    pub field: usize,
    /// The value.
    pub value: Value,
}

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// There is no room.
    #[error("full")]
    Full,
    /// The store has no such operation.
    #[error("{0}")]
    Unsupported(&'static str),
    /// Something else, in the store's words.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    /// What a store's own error says.
    pub fn of(error: impl std::fmt::Debug) -> Failure {
        Failure::Failed(format!("{error:?}"))
    }
}

/// A store of objects on a [`Device`].
pub trait Store {
    /// Creates the object of this number with these values.
    fn create(&mut self, object: usize, record: &Record) -> Result<(), Failure>;

    /// Gives one field a value, atomically.
    fn put_field(&mut self, update: Update) -> Result<(), Failure>;

    /// Gives all fields of an object values, atomically.
    fn put_object(&mut self, object: usize, record: &Record) -> Result<(), Failure>;

    /// Gives fields of different objects values, all or none.
    fn put_group(&mut self, updates: &[Update]) -> Result<(), Failure>;

    /// The value of one field.
    fn get_field(&mut self, object: usize, field: usize) -> Result<Value, Failure>;

    /// The values of an object.
    fn get_object(&mut self, object: usize) -> Result<Record, Failure>;

    /// The values of all of a number of objects.
    fn get_all(&mut self, objects: usize) -> Result<Vec<Record>, Failure> {
        (0..objects).map(|object| self.get_object(object)).collect()
    }

    /// RAM that the store keeps between calls, with the buffers that its interface wants, without the device: bytes on
    /// this machine, whose pointers have 8 bytes.
    fn ram_bytes(&self) -> usize;

    /// What each kind of update costs, if the store reports it: of a number of updates drawn, or until a number of
    /// words was read.
    fn causes(&mut self, _: &mut dyn FnMut() -> Update, _: u64, _: u64) -> Option<crate::causes::Causes> {
        None
    }
}

/// Whether a store is to be laid out or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Lay out an empty store for at most the given number of objects.
    Format {
        /// Objects that will be created at most.
        objects: usize,
    },
    /// Mount the existing one, with the given number of objects.
    Mount {
        /// Objects in it.
        objects: usize,
    },
}

impl Opening {
    /// Objects that there are or will be.
    pub fn objects(self) -> usize {
        match self {
            Opening::Format { objects } | Opening::Mount { objects } => objects,
        }
    }
}

/// How a peer is opened.
pub type Open = Box<dyn Fn(Device, Opening) -> Result<Box<dyn Store>, Failure> + Send + Sync>;

/// Whose store it is, and whether it has a map of everything in RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Norn's.
    Ours,
    /// Another.
    Peer,
    /// Another, in a configuration that keeps every key's place in RAM.
    PeerWithMap,
}

/// A store in one configuration.
pub struct Peer {
    /// Whose it is.
    pub kind: Kind,
    /// Name and configuration, short.
    pub name: &'static str,
    /// Version of its crate.
    pub version: &'static str,
    /// Its configuration and what had to be chosen.
    pub notes: &'static str,
    /// Opens it.
    pub open: Open,
    /// Opens a configuration that leaves the same on flash and fills faster, where there is one.
    pub fill: Option<Open>,
}

/// The bytes of a record, fields in order.
pub fn to_bytes(record: &Record) -> [u8; FIELDS * WIDTH] {
    let mut bytes = [0; FIELDS * WIDTH];
    for (piece, value) in bytes.chunks_exact_mut(WIDTH).zip(record) {
        piece.copy_from_slice(value);
    }
    bytes
}

/// The record of these bytes.
pub fn from_bytes(bytes: &[u8]) -> Result<Record, Failure> {
    if bytes.len() != FIELDS * WIDTH {
        return Err(Failure::Failed(format!("a record of {} bytes", bytes.len())));
    }
    Ok(std::array::from_fn(|field| std::array::from_fn(|byte| bytes[field * WIDTH + byte])))
}
