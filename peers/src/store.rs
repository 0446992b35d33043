//! What a workload asks of a store, and what a store says of itself.
//!
//! All objects of a store have one [`Shape`]; an object is named by its number in the order of creation. Every call is
//! durable when it returns. Keys and handles that a client keeps anyway (a number, a `Ref`) count as no RAM of the
//! store.

use std::ops::{Deref, Range};

use crate::device::Device;

/// Bytes of a field at most.
const WIDTH_MAX: usize = 4;
/// Fields of an object at most: our heaps' limit.
const FIELDS_MAX: usize = 255;

/// What objects consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Fields.
    pub fields: usize,
    /// Bytes of each.
    pub width: usize,
}

impl Shape {
    /// Fifty fields of two bytes, as in TinyStore's evaluation.
    pub const STANDARD: Shape = Shape { fields: 50, width: 2 };

    /// Objects of so many bytes, in fields of two, or of four where they would be too many.
    pub fn of(bytes: usize) -> Shape {
        let width = if bytes <= 2 * FIELDS_MAX { 2 } else { WIDTH_MAX };
        Shape { fields: bytes / width, width }
    }

    /// Bytes of an object.
    pub const fn bytes(self) -> usize {
        self.fields * self.width
    }

    /// Where a field's bytes are in a record.
    pub fn range(self, field: usize) -> Range<usize> {
        field * self.width..(field + 1) * self.width
    }
}

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    bytes: [u8; WIDTH_MAX],
    width: usize,
}

impl Value {
    /// Of these bytes, at most [`WIDTH_MAX`].
    pub fn new(from: &[u8]) -> Value {
        let mut bytes = [0; WIDTH_MAX];
        bytes[..from.len()].copy_from_slice(from);
        Value { bytes, width: from.len() }
    }
}

impl Deref for Value {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.width]
    }
}

/// An object's values, field after field.
pub type Record = Vec<u8>;

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
    fn create(&mut self, object: usize, record: &[u8]) -> Result<(), Failure>;

    /// Gives one field a value, atomically.
    fn put_field(&mut self, update: Update) -> Result<(), Failure>;

    /// Gives all fields of an object values, atomically.
    fn put_object(&mut self, object: usize, record: &[u8]) -> Result<(), Failure>;

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
pub enum Begin {
    /// Lay out an empty store.
    Format,
    /// Mount the existing one.
    Mount,
}

/// How a store is opened, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Laid out or found.
    pub begin: Begin,
    /// Objects that there are, or will be at most.
    pub objects: usize,
    /// Their shape.
    pub shape: Shape,
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
