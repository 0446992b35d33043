//! The sensor log of an image.

use std::path::PathBuf;

use norn_flash::Collected;
use norn_flash_sim::NorSim;
use norn_sensor_log::{Appended, Seconds, SensorLog as PartLog};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::contents;
use crate::failure::{Exception, Failure, Origin};
use crate::image::{self, Part};

/// A sensor's readings, one a second at most, on a NOR part in memory.
#[pyclass(module = "norn_flash")]
#[derive(Debug)]
pub struct SensorLog {
    log: PartLog<NorSim>,
    origin: Origin,
}

/// A reading.
#[pyclass(frozen, get_all, eq, module = "norn_flash")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// When it was taken, in seconds since 1970 or since any other start.
    at: Seconds,
    /// Thousandths of the sensor's unit.
    milli: i32,
}

#[pymethods]
impl Reading {
    /// A reading.
    #[new]
    fn new(at: Seconds, milli: i32) -> Reading {
        Reading { at, milli }
    }

    fn __repr__(&self) -> String {
        format!("Reading(at={}, milli={})", self.at, self.milli)
    }
}

#[pymethods]
impl SensorLog {
    /// An empty log on a part of this name.
    #[staticmethod]
    fn create(part: &str) -> PyResult<SensorLog> {
        let device = NorSim::blank(NorSim::spec_by_name(part)?);
        let origin = Origin(format!("a new {part}"));
        let log = PartLog::format(device).map_err(|error| origin.failed("format", error))?;
        Ok(SensorLog { log, origin })
    }

    /// The log in a file, which stays as it is.
    #[staticmethod]
    #[pyo3(signature = (path, part = None))]
    fn open(path: PathBuf, part: Option<&str>) -> PyResult<SensorLog> {
        let device: NorSim = contents::open(&path, part)?;
        let origin = Origin(path.display().to_string());
        let log = PartLog::mount(device).map_err(|error| contents::not_mounted(error, &path, part))?;
        Ok(SensorLog { log, origin })
    }

    /// Writes the image to a new simulator's file.
    fn save(&mut self, path: PathBuf) -> PyResult<()> {
        self.sleep()?;
        self.device().write(&path)
    }

    /// Writes the image to a simulator's file, in place of what is there.
    fn replace(&mut self, path: PathBuf) -> PyResult<()> {
        self.sleep()?;
        image::replace(self.device(), &path)
    }

    /// The part's bytes, for a chip's programmer.
    fn dump(&mut self) -> PyResult<Vec<u8>> {
        self.sleep()?;
        Ok(self.device().dump())
    }

    /// The part's name.
    #[getter]
    fn part(&mut self) -> String {
        Part::name(self.device()).to_owned()
    }

    /// Keeps a reading: "new", "replaced" where there was another of that second, or "known".
    fn append(&mut self, at: Seconds, milli: i32) -> PyResult<&'static str> {
        // No range has it, since its end is exclusive.
        if at == Seconds::MAX {
            return Err(PyValueError::new_err(format!("append at {at}: the last second is {}", Seconds::MAX - 1)));
        }
        let appended = self.log.append(norn_sensor_log::Reading { at, milli });
        Ok(match self.done(format!("append at {at}"), appended)? {
            Appended::New => "new",
            Appended::Replaced => "replaced",
            Appended::Known => "known",
        })
    }

    /// The readings from `start` on, up to `end`, which is exclusive; the oldest first.
    #[pyo3(signature = (start = 0, end = 4_294_967_295))]
    fn readings(&mut self, start: Seconds, end: Seconds) -> PyResult<Vec<Reading>> {
        let mut found = Vec::new();
        let read = self.log.each(start..end, |reading| found.push(Reading { at: reading.at, milli: reading.milli }));
        self.done(format!("readings {start}..{end}"), read)?;
        Ok(found)
    }

    /// Old readings that had to make room since the log was opened.
    #[getter]
    fn forgotten(&self) -> u32 {
        self.log.forgotten()
    }

    /// Checks every invariant of the log on flash; what is violated, and where.
    fn check(&mut self) -> PyResult<Vec<String>> {
        let mut found = Collected::<()>::default();
        let audited = self.log.index().audit(&mut found);
        self.done("check", audited)?;
        Ok(found.violations.iter().map(ToString::to_string).collect())
    }
}

impl SensorLog {
    fn device(&mut self) -> &NorSim {
        self.log.index().device_mut()
    }

    /// Before the image is written.
    fn sleep(&mut self) -> PyResult<()> {
        let slept = self.log.sleep();
        self.done("sleep", slept)
    }

    /// What a call returned; a failure as an exception, with its place on flash where there is one.
    fn done<T, F: Failure>(&self, call: impl std::fmt::Display, result: Result<T, F>) -> PyResult<T> {
        result.map_err(|failure| match (failure.exception(), self.log.corruption()) {
            (Exception::Corrupted, Some(violation)) => self.origin.corrupted(call, violation),
            _ => self.origin.failed(call, failure),
        })
    }
}
