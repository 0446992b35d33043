//! A sensor logger to copy: readings by the second they were taken, on raw NOR flash, without an allocator.
//!
//! Every reading is durable when [`append`](SensorLog::append) returns; one that a power cut hits is there wholly or
//! not at all. Before the part is full, the oldest readings make room for the new, some hundreds at a time. `norn log`
//! is this file with a command line.
//!
//! Invariant: there is one reading a second at most.
#![no_std]
#![forbid(unsafe_code)]

use core::ops::{Bound, Range};

use norn_flash::{Nor, Violation};
use norn_ordered_index::{ErrorOf, FatList, IndexError, MountError, OrderedIndex, Settings};

/// Seconds since 1970, or since any other start of a device's clock.
pub type Seconds = u32;

/// A reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// When it was taken.
    pub at: Seconds,
    /// Thousandths of the sensor's unit.
    pub milli: i32,
}

/// The outcome of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It is new.
    New,
    /// There was another of the same second, which is gone.
    Replaced,
    /// It was there already: as when a transfer is repeated that a power cut had ended.
    Known,
}

/// Readings of a span of time in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many there are; at least one.
    pub count: u32,
    /// Their sum in thousandths.
    pub sum_milli: i64,
    /// The least.
    pub min_milli: i32,
    /// The greatest.
    pub max_milli: i32,
}

impl Summary {
    fn of(reading: Reading) -> Self {
        Summary { count: 1, sum_milli: reading.milli.into(), min_milli: reading.milli, max_milli: reading.milli }
    }

    /// With a further reading.
    pub fn with(before: Option<Self>, reading: Reading) -> Self {
        let one = Summary::of(reading);
        before.map_or(one, |sum| Summary {
            count: sum.count + 1,
            sum_milli: sum.sum_milli + one.sum_milli,
            min_milli: sum.min_milli.min(one.min_milli),
            max_milli: sum.max_milli.max(one.max_milli),
        })
    }

    /// The mean, to the nearest thousandth towards zero.
    pub fn mean_milli(&self) -> i32 {
        (self.sum_milli / i64::from(self.count)) as i32
    }
}

/// Keys are written big-endian, so that they sort as numbers; values in any way.
type Readings<D> = FatList<D, 4, 4>;

/// The logger. It takes about a hundred bytes of RAM, whatever it holds.
#[derive(Debug)]
pub struct SensorLog<D> {
    readings: Readings<D>,
    forgotten: u32,
}

impl<D: Nor> SensorLog<D> {
    /// Lays out an empty log: once in the life of a part.
    pub fn format(device: D) -> Result<Self, MountError<D::Error>> {
        // One block of sixteen is kept free for moving others.
        let blocks = device.part().unit_count.clamp(2, 16) as u8;
        let settings = Settings { turnstile_blocks: blocks, ..Settings::log() }.fitted_to(&device.part(), 4, 4);
        Ok(SensorLog { readings: FatList::format(device, settings)?, forgotten: 0 })
    }

    /// At every start: finds the log, and completes or undoes what a power cut interrupted.
    pub fn mount(device: D) -> Result<Self, MountError<D::Error>> {
        Ok(SensorLog { readings: FatList::mount(device)?, forgotten: 0 })
    }

    /// Keeps a reading.
    pub fn append(&mut self, reading: Reading) -> Result<Appended, ErrorOf<D>> {
        let (key, value) = (reading.at.to_be_bytes(), reading.milli.to_le_bytes());
        match self.readings.insert_in_ring(&key, &value) {
            Ok(forgotten) => {
                self.forgotten += forgotten;
                return Ok(Appended::New);
            }
            Err(IndexError::KeyExists) => {}
            Err(error) => return Err(error),
        }
        if self.readings.get(&key)? == Some(value) {
            return Ok(Appended::Known);
        }
        self.readings.update(&key, &value)?;
        Ok(Appended::Replaced)
    }

    /// Old readings that had to make room, since the mount.
    pub fn forgotten(&self) -> u32 {
        self.forgotten
    }

    /// Shows every reading of a span of time, the oldest first. Only the objects that have them are read: a reading
    /// that damage to the part has hidden is left out, which an audit of the [index](Self::index) finds.
    pub fn each(&mut self, span: Range<Seconds>, mut show: impl FnMut(Reading)) -> Result<(), ErrorOf<D>> {
        let (from, to) = (span.start.to_be_bytes(), span.end.to_be_bytes());
        let mut cursor = self.readings.range(Bound::Included(from), Bound::Excluded(to));
        while let Some(entry) = cursor.next_entry()? {
            show(reading(entry));
        }
        Ok(())
    }

    /// The readings of a span of time in short, if there are any: "the mean of yesterday, ten to eleven".
    pub fn summary(&mut self, span: Range<Seconds>) -> Result<Option<Summary>, ErrorOf<D>> {
        let mut summary = None;
        self.each(span, |reading| summary = Some(Summary::with(summary, reading)))?;
        Ok(summary)
    }

    /// The oldest reading.
    pub fn oldest(&mut self) -> Result<Option<Reading>, ErrorOf<D>> {
        Ok(self.readings.first()?.map(reading))
    }

    /// The newest reading.
    pub fn newest(&mut self) -> Result<Option<Reading>, ErrorOf<D>> {
        Ok(self.readings.last()?.map(reading))
    }

    /// Before power is taken away on purpose: the next mount is fast.
    pub fn sleep(&mut self) -> Result<(), ErrorOf<D>> {
        self.readings.stop()
    }

    /// What the last call that failed with `Corrupted` found, and where.
    pub fn corruption(&self) -> Option<Violation> {
        self.readings.corruption()
    }

    /// The index below, for a checker or `reclaim_step`.
    pub fn index(&mut self) -> &mut Readings<D> {
        &mut self.readings
    }
}

fn reading((key, value): ([u8; 4], [u8; 4])) -> Reading {
    Reading { at: u32::from_be_bytes(key), milli: i32::from_le_bytes(value) }
}
