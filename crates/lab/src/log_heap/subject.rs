//! A heap of either engine, and its simulated part.

use std::fmt;
use std::mem::size_of;

use norn_flash::Nor;
use norn_flash_sim::{NorSim, PartSpec, SimError};
use norn_log_heap::{ErrorDetection, LogHeapIn, ObjectHeap};
use norn_object_heap::{Config, HeapIn};
use serde::{Deserialize, Serialize};

use crate::error::JobError;

/// A heap in one configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Engine {
    /// Log-structured.
    Log,
    /// The same, which notices flipped bits.
    LogDetecting,
    /// TinyStore's structure with delta records, its default.
    TinyStore,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Engine::Log => "log-structured",
            Engine::LogDetecting => "with error detection",
            Engine::TinyStore => "TinyStore's structure",
        })
    }
}

/// A heap under measurement.
pub trait Subject: ObjectHeap<DeviceError = SimError> {
    /// Its part.
    fn part(&self) -> &NorSim;

    /// Says that nothing is under way, where a heap can.
    fn rest(&mut self) -> Result<(), JobError>;

    /// Mounts again, without a word before.
    fn remount(&mut self) -> Result<(), JobError>;

    /// Does ahead of need whatever there is to do, where a heap can: erases and moves of units; returns the words that
    /// the longest step programmed.
    fn steps(&mut self) -> Result<u64, JobError>;

    /// Bytes of RAM beside the device, on this machine.
    fn ram_bytes(&self) -> usize;
}

/// Below this many bytes ready, a step is taken.
const READY_BYTES: u64 = 1024;

type LogHeap = LogHeapIn<NorSim, Vec<norn_log_heap::UnitRow>>;
type TinyStoreHeap = HeapIn<NorSim, Vec<norn_object_heap::UnitRow>>;

impl Subject for LogHeap {
    fn part(&self) -> &NorSim {
        self.device()
    }

    fn rest(&mut self) -> Result<(), JobError> {
        LogHeapIn::rest(self).map_err(JobError::while_doing("coming to rest"))
    }

    fn remount(&mut self) -> Result<(), JobError> {
        LogHeapIn::remount(self).map_err(JobError::while_doing("mounting"))
    }

    fn steps(&mut self) -> Result<u64, JobError> {
        let mut most = 0;
        loop {
            let before = self.device().counters();
            let least = if self.ready_bytes() < READY_BYTES { 1 } else { self.device().part().unit_size_bytes };
            if !self.reclaim_step(least).map_err(JobError::while_doing("reclaiming"))? {
                return Ok(most);
            }
            most = most.max((self.device().counters() - before).programs());
        }
    }

    fn ram_bytes(&self) -> usize {
        let units = usize::from(self.device().part().unit_count);
        size_of::<Self>() - size_of::<NorSim>() - size_of::<Vec<u8>>() + units * size_of::<norn_log_heap::UnitRow>()
    }
}

impl Subject for TinyStoreHeap {
    fn part(&self) -> &NorSim {
        self.device()
    }

    fn rest(&mut self) -> Result<(), JobError> {
        Ok(())
    }

    fn remount(&mut self) -> Result<(), JobError> {
        HeapIn::remount(self).map_err(JobError::while_doing("mounting"))
    }

    fn steps(&mut self) -> Result<u64, JobError> {
        Ok(0)
    }

    fn ram_bytes(&self) -> usize {
        let units = usize::from(self.device().part().unit_count);
        size_of::<Self>() - size_of::<NorSim>() - size_of::<Vec<u8>>() + units * size_of::<norn_object_heap::UnitRow>()
    }
}

/// What is done with a heap, of whichever engine.
pub trait Work {
    /// What comes of it.
    type Done;

    /// Does it with a heap that has just been formatted.
    ///
    /// # Errors
    /// What is no result.
    fn with(self, heap: impl Subject) -> Result<Self::Done, JobError>;
}

impl Engine {
    /// Formats a part that does not wear out, and works with it.
    ///
    /// # Errors
    /// That of the work, or that the part cannot be formatted.
    pub fn on<W: Work>(self, mut spec: PartSpec, work: W) -> Result<W::Done, JobError> {
        spec.part.endurance_erases = None;
        let device = NorSim::new(spec);
        let units = usize::from(device.part().unit_count);
        let detection = match self {
            Engine::Log => ErrorDetection::Off,
            Engine::LogDetecting => ErrorDetection::On,
            Engine::TinyStore => {
                let rows = vec![norn_object_heap::UnitRow::UNUSED; units];
                let heap = HeapIn::format_in(device, rows, Config::default());
                return work.with(heap.map_err(JobError::while_doing("formatting"))?);
            }
        };
        let rows = vec![norn_log_heap::UnitRow::UNUSED; units];
        let heap = LogHeapIn::format_with_in(device, rows, detection);
        work.with(heap.map_err(JobError::while_doing("formatting"))?)
    }
}
