//! Objects of two-byte fields, and updates of them: 90% go to a fifth of the objects.

use std::fmt;

use norn_flash_sim::SimError;
use norn_log_heap::{AccessError, CreateError, Layout, Ref, StoreError, TransactionError};
use serde::{Deserialize, Serialize};

use super::subject::Subject;
use crate::error::JobError;

/// Bytes of a field.
const WIDTH: usize = 2;
/// Objects that a transaction updates.
const TOGETHER: usize = 10;

/// What is updated at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    /// A field of an object.
    OneField,
    /// Every field of an object, each by itself.
    AllFields,
    /// Every field of an object, by one call.
    WholeObject,
    /// A field in each of ten objects, in a transaction.
    TenObjects,
}

impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Update::OneField => "one field",
            Update::AllFields => "all fields, each by itself",
            Update::WholeObject => "whole object",
            Update::TenObjects => "ten objects in a transaction",
        })
    }
}

/// Why an update did not take place.
#[derive(Debug)]
pub enum Refusal {
    /// There is no room.
    Full,
    /// Something that is no result.
    Failed(JobError),
}

impl From<Refusal> for JobError {
    fn from(refusal: Refusal) -> JobError {
        match refusal {
            Refusal::Full => JobError::Failed("the heap is full".to_owned()),
            Refusal::Failed(error) => error,
        }
    }
}

impl From<JobError> for Refusal {
    fn from(error: JobError) -> Refusal {
        Refusal::Failed(error)
    }
}

impl From<AccessError<SimError>> for Refusal {
    fn from(error: AccessError<SimError>) -> Refusal {
        match error {
            AccessError::Store(StoreError::Full) => Refusal::Full,
            other => Refusal::Failed(JobError::Failed(format!("updating: {other:?}"))),
        }
    }
}

impl From<TransactionError<SimError>> for Refusal {
    fn from(error: TransactionError<SimError>) -> Refusal {
        match error {
            TransactionError::Store(StoreError::Full) => Refusal::Full,
            other => Refusal::Failed(JobError::Failed(format!("updating: {other:?}"))),
        }
    }
}

/// Objects, and what chooses among them.
pub struct Population {
    references: Vec<Ref>,
    fields: usize,
    random: fastrand::Rng,
}

impl Population {
    /// Creates objects until there are so many, or no more fit.
    ///
    /// # Errors
    /// What is not `Full`.
    pub fn create(heap: &mut impl Subject, objects: usize, object_bytes: u32, seed: u64) -> Result<Self, JobError> {
        let (fields, random) = (object_bytes as usize / WIDTH, fastrand::Rng::with_seed(seed));
        let mut references = Vec::new();
        while references.len() < objects {
            match heap.create(Layout::uniform(fields, WIDTH as u8)) {
                Ok(reference) => references.push(reference),
                Err(CreateError::Store(StoreError::Full)) => break,
                Err(error) => return Err(JobError::Failed(format!("creating: {error:?}"))),
            }
        }
        Ok(Population { references, fields, random })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.references.len()
    }

    /// One of them, of the hot fifth nine times in ten.
    fn draw(&mut self) -> Ref {
        let hot = (self.references.len() / 5).max(1);
        let range = if self.random.f64() < 0.9 { 0..hot } else { hot..self.references.len() };
        self.references[self.random.usize(range)]
    }

    /// Updates what is drawn; returns how many fields.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn update(&mut self, heap: &mut impl Subject, update: Update) -> Result<u64, Refusal> {
        let (object, value) = (self.draw(), self.random.u16(..).to_le_bytes());
        let fields = self.fields;
        match update {
            Update::OneField => heap.put_field(object, self.random.usize(..fields), &value)?,
            Update::AllFields => (0..fields).try_for_each(|field| heap.put_field(object, field, &value))?,
            Update::WholeObject => heap.put_fields(object, 0, &vec![value[0]; WIDTH * fields])?,
            Update::TenObjects => self.transaction(heap, object, value)?,
        }
        Ok(match update {
            Update::OneField => 1,
            Update::TenObjects => TOGETHER as u64,
            Update::AllFields | Update::WholeObject => fields as u64,
        })
    }

    /// Sets a field of an object, and of nine more.
    fn transaction(&mut self, heap: &mut impl Subject, first: Ref, value: [u8; WIDTH]) -> Result<(), Refusal> {
        heap.begin()?;
        for number in 0..TOGETHER {
            let object = if number == 0 { first } else { self.draw() };
            heap.put_field(object, self.random.usize(..self.fields), &value)?;
        }
        Ok(heap.commit()?)
    }

    /// Words that reading fields reads, on average and at most.
    ///
    /// # Errors
    /// The heap's.
    pub fn reads(&mut self, heap: &mut impl Subject, fields: u64) -> Result<(f64, u64), JobError> {
        let (mut sum, mut most) = (0, 0);
        for _ in 0..fields {
            let (object, field) = (self.draw(), self.random.usize(..self.fields));
            let before = heap.part().counters();
            heap.get_field(object, field, &mut [0; WIDTH]).map_err(JobError::while_doing("reading"))?;
            let read = (heap.part().counters() - before).reads();
            (sum, most) = (sum + read, most.max(read));
        }
        Ok((sum as f64 / fields as f64, most))
    }
}
