//! Single records of a leaf.

use norn_flash::{EraseUnit, Nor};

use super::format::{CODE_BYTES, ENTRY_BYTES_MAX, Kind, Mark, may_be_torn};
use super::leaves::{Leaf, Leaves, Shape};
use crate::error::Outcome;

/// A record's bytes on the stack, rounded up to the largest program unit.
const RECORD_BYTES_MAX: usize = (ENTRY_BYTES_MAX + CODE_BYTES).next_multiple_of(32);

/// A record that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<const K: usize, const V: usize> {
    pub mark: Mark,
    pub key: [u8; K],
    pub value: [u8; V],
}

impl<D: Nor, const K: usize, const V: usize> Leaves<D, K, V> {
    /// A record, if it is whole.
    pub fn record_at(&mut self, unit: EraseUnit, place: u16) -> Outcome<Option<Record<K, V>>, D> {
        let mut bytes = [0; RECORD_BYTES_MAX];
        let bytes = &mut bytes[..K + V + CODE_BYTES];
        self.flash.read(self.layout.record(unit, place), bytes)?;
        let (data, code) = bytes.split_at(K + V);
        Ok(Mark::decode(u16::from_le_bytes([code[0], code[1]]), data).map(|mark| {
            let (mut key, mut value) = ([0; K], [0; V]);
            key.copy_from_slice(&data[..K]);
            value.copy_from_slice(&data[K..]);
            Record { mark, key, value }
        }))
    }

    /// A record that has to be whole.
    pub fn whole_record(&mut self, unit: EraseUnit, place: u16) -> Outcome<Record<K, V>, D> {
        match self.record_at(unit, place)? {
            Some(record) => Ok(record),
            None => Err(self.flash.damage(self.layout.record(unit, place), "a record whose code is wrong")),
        }
    }

    /// The key of a record, unchecked.
    pub fn key_at(&mut self, unit: EraseUnit, place: u16) -> Outcome<[u8; K], D> {
        let mut key = [0; K];
        self.flash.read(self.layout.record(unit, place), &mut key)?;
        Ok(key)
    }

    /// Whether nothing was programmed at a place, as far as can be read.
    pub fn is_erased_at(&mut self, unit: EraseUnit, place: u16) -> Outcome<bool, D> {
        let mut bytes = [0; RECORD_BYTES_MAX];
        let bytes = &mut bytes[..self.layout.record_bytes()];
        self.flash.read(self.layout.record(unit, place), bytes)?;
        Ok(bytes.iter().all(|&byte| byte == 0xFF))
    }

    /// Whether a cut can have left what is at a place where no record is whole.
    pub fn may_be_torn_at(&mut self, unit: EraseUnit, place: u16) -> Outcome<bool, D> {
        let mut bytes = [0; RECORD_BYTES_MAX];
        let bytes = &mut bytes[..K + V + CODE_BYTES];
        self.flash.read(self.layout.record(unit, place), bytes)?;
        let (data, code) = bytes.split_at(K + V);
        Ok(may_be_torn(u16::from_le_bytes([code[0], code[1]]), data))
    }

    /// Programs a record where nothing is.
    pub fn write_record(&mut self, unit: EraseUnit, place: u16, record: &Record<K, V>) -> Outcome<(), D> {
        let mut bytes = [0xFF; RECORD_BYTES_MAX];
        bytes[..K].copy_from_slice(&record.key);
        bytes[K..K + V].copy_from_slice(&record.value);
        let code = record.mark.encode(&bytes[..K + V]);
        bytes[K + V..K + V + CODE_BYTES].copy_from_slice(&code.to_le_bytes());
        self.flash.program(self.layout.record(unit, place), &bytes[..self.layout.record_bytes()])
    }

    /// Adds a record of a key to a leaf that has a place for it. Cost: a program.
    pub fn append(
        &mut self,
        leaf: &Leaf<K>,
        shape: &Shape,
        kind: Kind,
        (key, value): (&[u8; K], &[u8; V]),
    ) -> Outcome<(), D> {
        let place = match kind {
            Kind::Floor => self.layout.places - 1 - shape.floors,
            _ => shape.written,
        };
        if !self.is_erased_at(leaf.unit, place)? {
            return Err(self.flash.damage(self.layout.record(leaf.unit, place), "a free place that is not erased"));
        }
        let ascends = kind == Kind::Put && self.continues_run(leaf.unit, shape, key)?;
        let record = Record { mark: Mark { kind, ascends }, key: *key, value: *value };
        self.write_record(leaf.unit, place, &record)?;
        if let Some((entered, shape)) = &mut self.entered
            && entered.unit == leaf.unit
        {
            shape.add(kind, ascends);
        }
        Ok(())
    }

    /// Whether the keys of a leaf ascend, and `key` is above them.
    pub fn continues_run(&mut self, unit: EraseUnit, shape: &Shape, key: &[u8; K]) -> Outcome<bool, D> {
        if shape.ascending < shape.written {
            return Ok(false);
        }
        Ok(shape.written == 0 || self.key_at(unit, shape.written - 1)? < *key)
    }
}
