//! What a run of updates takes place under: heap, workload, object size, fullness.

use norn_flash_sim::catalogue;
use serde::{Deserialize, Serialize};

use super::costs::Run;
use super::population::{Shape, full};
use super::subject::{EepromSubject, Flags, FlashHeap, Medium, configuration, eeprom, flash};
use super::workload::{Updates, Workload};
use crate::experiment::Context;

/// Longest list of the baseline configuration (section 6.2).
pub const LIST_LENGTH: u8 = 2;
/// Bytes of the EEPROM heap's commit log: an erase unit of the baseline configuration.
pub const LOG_BYTES: u32 = 8 * 1024;
/// Fullness levels of the paper, in percent.
pub const FULLNESS: [u32; 3] = [20, 50, 90];
/// Erase units of the paper's flash.
pub const UNITS: u64 = 56;

/// The conditions of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Which heap.
    pub medium: Medium,
    /// Which field is updated next.
    pub workload: Workload,
    /// Size of each object or array, of fields or elements of two bytes.
    pub object_bytes: u32,
    /// Objects in percent of what fits when every list has its maximal length.
    pub fullness_percent: u32,
    /// What the workload derives from.
    pub seed: u64,
}

/// A run on either heap.
pub enum EitherRun<'a> {
    /// On flash.
    Flash(Box<Run<'a, FlashHeap>>),
    /// On EEPROM.
    Eeprom(Box<Run<'a, EepromSubject>>),
}

impl Condition {
    /// Fields of each object.
    pub fn shape(&self) -> Shape {
        Shape::of_bytes(self.object_bytes)
    }

    /// Objects of the run.
    ///
    /// # Errors
    /// Says that the configuration cannot hold the objects, and why.
    pub fn objects(&self) -> Result<usize, String> {
        let mut heap = flash(catalogue::tinystore(), configuration(LIST_LENGTH, Flags::On));
        let full = full(&mut heap, self.shape(), LIST_LENGTH);
        let objects = full * self.fullness_percent as usize / 100;
        if objects < self.workload.objects_min() {
            return Err(format!("too few objects: {full} of {} bytes fill the flash", self.object_bytes));
        }
        Ok(objects)
    }

    /// The updates of `objects` objects.
    pub fn updates(&self, objects: usize) -> Updates {
        Updates::new(self.workload, objects, self.shape().fields, self.seed)
    }

    /// The baseline heap with `objects` objects whose fields are all set; on EEPROM with a commit log of `log_bytes`.
    ///
    /// # Errors
    /// Says that they do not fit.
    pub fn run<'a>(&self, objects: usize, log_bytes: u32, context: &'a Context<'a>) -> Result<EitherRun<'a>, String> {
        let (shape, refusal) = (self.shape(), || format!("{objects} objects do not fit"));
        let updates = self.updates(objects);
        match self.medium {
            Medium::Flash => {
                let heap = flash(catalogue::tinystore(), configuration(LIST_LENGTH, Flags::On));
                let run = Run::new(heap, shape, objects, updates, context).ok_or_else(refusal)?;
                run.with_values().map(|run| EitherRun::Flash(Box::new(run)))
            }
            Medium::Eeprom => {
                let run = Run::new(eeprom(log_bytes), shape, objects, updates, context).ok_or_else(refusal)?;
                run.with_values().map(|run| EitherRun::Eeprom(Box::new(run)))
            }
        }
    }
}

/// One line of a legend: heap and fullness.
pub fn series_name(medium: Medium, fullness_percent: u32) -> String {
    match medium {
        Medium::Flash => format!("flash, {fullness_percent}% full"),
        Medium::Eeprom => format!("EEPROM, {fullness_percent}% full"),
    }
}
