//! Leaf maps: sorted maps on parts whose words are programmed once, without a layer below.
//!
//! Each erase unit is a leaf: a range of keys, and a log of records in which the newest record of a key counts. No word
//! is programmed twice between two erases:
//!
//! ```text
//! map        all that clients call
//! ring       dropping the least keys
//! room       what to do about a leaf without room: a new leaf, a copy, a split, a merger
//! leaves     which leaf counts for a key; writing a leaf
//! records    the records of a leaf
//! flash      the device: refuses every call after its first failure
//! ```
//!
//! A leaf that is written counts from its seal on, and hides what older leaves say of its range. So one program makes
//! each change, of one key or of a range: a record, or a seal. `docs/design/leaf-map.md` has the decisions.

mod audit;
mod entry;
mod flash;
pub mod format;
mod layout;
mod leaves;
mod map;
mod mount;
mod records;
mod ring;
mod room;
mod search;
mod write;

pub use map::LeafMap;
