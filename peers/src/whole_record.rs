//! A store of values by key as a store of objects: each object is one value.
//!
//! A field is updated by reading its object's value, changing it and storing it again.

use crate::store::{Failure, Record, Store, Update, Value, from_bytes, to_bytes};

/// Values of the size of an object, by the object's number.
pub trait Values {
    /// The value of this key.
    fn load(&mut self, key: usize) -> Result<Record, Failure>;

    /// Makes this the value of the key, atomically.
    fn save(&mut self, key: usize, record: &Record, novelty: Novelty) -> Result<(), Failure>;

    /// Makes these the values of different keys, all or none.
    fn save_group(&mut self, _: &[(usize, Record)]) -> Result<(), Failure> {
        Err(Failure::Unsupported("one key a transaction"))
    }

    /// As [`Store::ram_bytes`].
    fn ram_bytes(&self) -> usize;
}

/// Whether a key has had a value before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// It has none.
    New,
    /// It has one.
    Known,
}

/// A store of objects over values by key.
pub struct WholeRecord<V>(pub V);

impl<V: Values> Store for WholeRecord<V> {
    fn create(&mut self, object: usize, record: &Record) -> Result<(), Failure> {
        self.0.save(object, record, Novelty::New)
    }

    fn put_field(&mut self, update: Update) -> Result<(), Failure> {
        let mut record = self.0.load(update.object)?;
        record[update.field] = update.value;
        self.0.save(update.object, &record, Novelty::Known)
    }

    fn put_object(&mut self, object: usize, record: &Record) -> Result<(), Failure> {
        self.0.save(object, record, Novelty::Known)
    }

    fn put_group(&mut self, updates: &[Update]) -> Result<(), Failure> {
        let mut records = Vec::with_capacity(updates.len());
        for update in updates {
            let mut record = self.0.load(update.object)?;
            record[update.field] = update.value;
            records.push((update.object, record));
        }
        records.sort_by_key(|(object, _)| *object);
        self.0.save_group(&records)
    }

    fn get_field(&mut self, object: usize, field: usize) -> Result<Value, Failure> {
        Ok(self.0.load(object)?[field])
    }

    fn get_object(&mut self, object: usize) -> Result<Record, Failure> {
        self.0.load(object)
    }

    fn ram_bytes(&self) -> usize {
        self.0.ram_bytes()
    }
}

/// The bytes of a record as a vector, for stores that want one.
pub fn to_vec(record: &Record) -> Vec<u8> {
    to_bytes(record).to_vec()
}

/// The record of a value that may be missing.
pub fn present(value: Option<&[u8]>) -> Result<Record, Failure> {
    from_bytes(value.ok_or_else(|| Failure::Failed("a key without a value".to_owned()))?)
}
