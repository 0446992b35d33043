//! The checker: walks a map and reports every invariant that does not hold.
//!
//! Between two operations:
//! - each unit but the next one is erased, or has a seal and a header that are whole, with a number of its own;
//! - the leaves that count are as many as the newest one says, and lead from the floor to the last key;
//! - their records are whole, those at the beginning ascend, and nothing is after them but floors at the end;
//! - if the number of keys is known, there are as many.

use norn_flash::{Auditor, Nor, Violation};

use super::leaves::{Leaf, Leaves, Shape};
use super::map::LeafMap;
use crate::error::Outcome;
use crate::index::OrderedIndex;

impl<D: Nor, const K: usize, const V: usize> LeafMap<D, K, V> {
    /// Reports every invariant that does not hold. Cost: reads all of the part.
    ///
    /// # Errors
    /// `Corrupted` where the walk cannot continue, and the device's.
    pub fn audit(&mut self, auditor: &mut impl Auditor) -> Outcome<(), D> {
        let leaves = &mut self.leaves;
        for unit in leaves.layout.units() {
            if let Some(what) = leaves.damage_of(unit)? {
                auditor.violation(Violation { address: leaves.layout.seal(unit), what });
            }
        }
        leaves.entered = None;
        let newest = leaves.layout.seal(leaves.newest.1);
        if leaves.count_leaves()? != leaves.count {
            auditor.violation(Violation { address: newest, what: "a wrong number of leaves" });
        }
        let mut leaf = Some(leaves.first_leaf()?);
        while let Some(current) = leaf {
            let shape = leaves.shape(&current)?;
            leaves.audit_leaf(&current, &shape, auditor)?;
            leaf = leaves.leaf_after(&current)?;
        }
        let known = self.keys.take();
        let counted = self.len()?;
        if known.is_some_and(|known| known != counted) {
            auditor.violation(Violation { address: newest, what: "a wrong number of keys" });
        }
        Ok(())
    }
}

impl<D: Nor, const K: usize, const V: usize> Leaves<D, K, V> {
    fn audit_leaf(&mut self, leaf: &Leaf<K>, shape: &Shape, auditor: &mut impl Auditor) -> Outcome<(), D> {
        let mut last = None;
        for place in 0..self.layout.places {
            let is_floor = place + shape.floors >= self.layout.places;
            let is_torn = !self.is_of_session(leaf) && shape.is_closed && !is_floor && {
                let is_next = place == shape.written || place + shape.floors + 1 == self.layout.places;
                is_next && self.record_at(leaf.unit, place)?.is_none()
            };
            let what = match self.record_at(leaf.unit, place)? {
                _ if is_torn => None,
                None if place < shape.written || is_floor => Some("a record whose code is wrong"),
                None if self.is_erased_at(leaf.unit, place)? => None,
                Some(record) if place < shape.ascending => {
                    let ascends = last < Some(record.key);
                    last = Some(record.key);
                    (!ascends).then_some("keys that do not ascend")
                }
                Some(_) if place < shape.written || is_floor => None,
                _ => Some("something after the end of a leaf"),
            };
            if let Some(what) = what {
                auditor.violation(Violation { address: self.layout.record(leaf.unit, place), what });
            }
        }
        Ok(())
    }
}
