//! A store of values by key as a store of objects: each object is one value.
//!
//! A field is updated by reading its object's value, changing it and storing it again.

use crate::store::{Failure, Record, Shape, Store, Update, Value};

/// Values of the size of an object, by the object's number.
pub trait Values {
    /// The value of this key.
    fn load(&mut self, key: usize) -> Result<Record, Failure>;

    /// Makes this the value of the key, atomically.
    fn save(&mut self, key: usize, record: &[u8], novelty: Novelty) -> Result<(), Failure>;

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
pub struct WholeRecord<V> {
    /// The store of values.
    pub values: V,
    /// What each of them consists of.
    pub shape: Shape,
}

impl<V: Values> WholeRecord<V> {
    fn load(&mut self, object: usize) -> Result<Record, Failure> {
        let record = self.values.load(object)?;
        if record.len() == self.shape.bytes() {
            Ok(record)
        } else {
            Err(Failure::Failed(format!("a record of {} bytes", record.len())))
        }
    }

    /// The record as it is to be after an update.
    fn updated(&mut self, update: Update) -> Result<Record, Failure> {
        let mut record = self.load(update.object)?;
        record[self.shape.range(update.field)].copy_from_slice(&update.value);
        Ok(record)
    }
}

impl<V: Values> Store for WholeRecord<V> {
    fn create(&mut self, object: usize, record: &[u8]) -> Result<(), Failure> {
        self.values.save(object, record, Novelty::New)
    }

    fn put_field(&mut self, update: Update) -> Result<(), Failure> {
        let record = self.updated(update)?;
        self.values.save(update.object, &record, Novelty::Known)
    }

    fn put_object(&mut self, object: usize, record: &[u8]) -> Result<(), Failure> {
        self.values.save(object, record, Novelty::Known)
    }

    fn put_group(&mut self, updates: &[Update]) -> Result<(), Failure> {
        let mut records = Vec::with_capacity(updates.len());
        for &update in updates {
            records.push((update.object, self.updated(update)?));
        }
        records.sort_by_key(|(object, _)| *object);
        self.values.save_group(&records)
    }

    fn get_field(&mut self, object: usize, field: usize) -> Result<Value, Failure> {
        Ok(Value::new(&self.load(object)?[self.shape.range(field)]))
    }

    fn get_object(&mut self, object: usize) -> Result<Record, Failure> {
        self.load(object)
    }

    fn ram_bytes(&self) -> usize {
        self.values.ram_bytes()
    }
}

/// The record of a value that may be missing.
pub fn present(value: Option<&[u8]>) -> Result<Record, Failure> {
    value.map(<[u8]>::to_vec).ok_or_else(|| Failure::Failed("a key without a value".to_owned()))
}
