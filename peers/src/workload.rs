//! The workload 20/80: one object in five is hot, and an update goes to a hot one with probability 0.9.
//!
//! Invariant: what is drawn depends on the seed and the number of objects alone, so that every store gets the same
//! updates.

use crate::store::{Record, Shape, Update, Value};

/// Objects that a group transaction updates, one field each.
pub const GROUP: usize = 10;

/// Draws updates for objects of one shape.
#[derive(Clone, Debug)]
pub struct Workload {
    random: fastrand::Rng,
    objects: usize,
    shape: Shape,
}

impl Workload {
    /// The sequence of this seed.
    pub fn new(seed: u64, objects: usize, shape: Shape) -> Self {
        Workload { random: fastrand::Rng::with_seed(seed), objects, shape }
    }

    /// What its objects consist of.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// An object, hot with probability 0.9.
    pub fn object(&mut self) -> usize {
        let hot = (self.objects / 5).max(1);
        if hot == self.objects || self.random.f32() < 0.9 {
            self.random.usize(..hot)
        } else {
            self.random.usize(hot..self.objects)
        }
    }

    /// Any object and field, all equally often.
    pub fn any_field(&mut self) -> (usize, usize) {
        (self.random.usize(..self.objects), self.random.usize(..self.shape.fields))
    }

    fn value(&mut self) -> Value {
        Value::new(&self.random.u32(..).to_le_bytes()[..self.shape.width])
    }

    /// A new value for one field of a drawn object.
    pub fn update(&mut self) -> Update {
        Update { object: self.object(), field: self.random.usize(..self.shape.fields), value: self.value() }
    }

    /// New values for all fields.
    pub fn record(&mut self) -> Record {
        let mut record = vec![0; self.shape.bytes()];
        self.random.fill(&mut record);
        record
    }

    /// A new value for one field in each of [`GROUP`] different objects, or of all if there are fewer.
    pub fn group(&mut self) -> Vec<Update> {
        let mut group: Vec<Update> = Vec::with_capacity(GROUP);
        while group.len() < GROUP.min(self.objects) {
            let update = self.update();
            if group.iter().all(|other| other.object != update.object) {
                group.push(update);
            }
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_in_ten_updates_go_to_one_object_in_five() {
        let mut workload = Workload::new(1, 500, Shape::STANDARD);
        let hot = (0..10_000).filter(|_| workload.object() < 100).count();
        assert!((8_900..9_100).contains(&hot), "{hot}");
    }

    #[test]
    fn a_group_is_of_different_objects() {
        let mut workload = Workload::new(1, 30, Shape::STANDARD);
        for _ in 0..100 {
            let mut objects: Vec<usize> = workload.group().iter().map(|update| update.object).collect();
            objects.sort_unstable();
            objects.dedup();
            assert_eq!(objects.len(), GROUP);
        }
    }
}
