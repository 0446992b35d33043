//! The paper's five workloads (section 6.2): which field is updated next.

use serde::{Deserialize, Serialize};

/// Which field is updated next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Workload {
    /// All the fields of one object, again and again.
    SingleObjectAllFields,
    /// One field of one object.
    SingleObjectSingleField,
    /// A random field of a random object.
    TotallyRandom,
    /// All fields of an object, which is with probability 0.9 from the first fifth.
    #[serde(rename = "20/80AllFields")]
    HotAndCold,
    /// All fields of all objects, in the order in which they were created.
    SequentialObjectsAllFields,
}

impl Workload {
    /// All five, in the paper's order.
    pub const ALL: [Workload; 5] = [
        Workload::SingleObjectAllFields,
        Workload::SingleObjectSingleField,
        Workload::TotallyRandom,
        Workload::HotAndCold,
        Workload::SequentialObjectsAllFields,
    ];

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Workload::SingleObjectAllFields => "SingleObjectAllFields",
            Workload::SingleObjectSingleField => "SingleObjectSingleField",
            Workload::TotallyRandom => "TotallyRandom",
            Workload::HotAndCold => "20/80AllFields",
            Workload::SequentialObjectsAllFields => "SequentialObjectsAllFields",
        }
    }

    /// Fewest objects with which it can run.
    pub fn objects_min(self) -> usize {
        match self {
            Workload::HotAndCold => 2,
            _ => 1,
        }
    }
}

/// The updates of a workload, without end.
pub struct Updates {
    workload: Workload,
    objects: usize,
    fields: usize,
    hot: usize,
    number: u64,
    object: usize,
    random: fastrand::Rng,
}

/// One update: indexes of object and field, and the new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// Index of the object.
    pub object: usize,
    /// Index of the field.
    pub field: usize,
    /// The new value.
    pub value: u16,
}

impl Updates {
    /// Updates of the given number of objects with the given number of fields.
    ///
    /// # Panics
    /// If the workload needs more objects.
    pub fn new(workload: Workload, objects: usize, fields: usize, seed: u64) -> Updates {
        assert!(objects >= workload.objects_min(), "{} objects for {}", objects, workload.name());
        let (hot, random) = ((objects / 5).max(1), fastrand::Rng::with_seed(seed));
        Updates { workload, objects, fields, hot, number: 0, object: 0, random }
    }

    /// The next update.
    pub fn draw(&mut self) -> Update {
        let (round, field) = (self.number / self.fields as u64, (self.number % self.fields as u64) as usize);
        self.number += 1;
        let (object, field) = match self.workload {
            Workload::SingleObjectSingleField => (0, 0),
            Workload::SingleObjectAllFields => (0, field),
            Workload::TotallyRandom => (self.random.usize(..self.objects), self.random.usize(..self.fields)),
            Workload::HotAndCold if field > 0 => (self.object, field),
            Workload::HotAndCold if self.random.f64() < 0.9 => (self.random.usize(..self.hot), 0),
            Workload::HotAndCold => (self.random.usize(self.hot..self.objects), 0),
            Workload::SequentialObjectsAllFields => ((round % self.objects as u64) as usize, field),
        };
        self.object = object;
        Update { object, field, value: self.random.u16(..) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(workload: Workload, count: usize) -> Vec<(usize, usize)> {
        let mut updates = Updates::new(workload, 10, 3, 1);
        (0..count).map(|_| updates.draw()).map(|update| (update.object, update.field)).collect()
    }

    #[test]
    fn each_workload_updates_what_its_name_says() {
        assert_eq!(first(Workload::SingleObjectSingleField, 3), [(0, 0); 3]);
        assert_eq!(first(Workload::SingleObjectAllFields, 4), [(0, 0), (0, 1), (0, 2), (0, 0)]);
        assert_eq!(first(Workload::SequentialObjectsAllFields, 4), [(0, 0), (0, 1), (0, 2), (1, 0)]);
        let hot_and_cold = first(Workload::HotAndCold, 30_000);
        assert!(
            hot_and_cold.chunks(3).all(|chunk| chunk.iter().map(|update| update.0).all(|object| object == chunk[0].0))
        );
        let hot = hot_and_cold.iter().filter(|update| update.0 < 2).count() as f64 / 30_000.0;
        assert!((hot - 0.9).abs() < 0.02, "{hot} of the updates go to a fifth of the objects");
        let random = first(Workload::TotallyRandom, 30_000);
        for object in 0..10 {
            let share = random.iter().filter(|update| update.0 == object).count() as f64 / 30_000.0;
            assert!((share - 0.1).abs() < 0.02, "{share} of the updates go to object {object}");
        }
    }
}
