//! Norn for Python: heaps, sensor logs and block devices in images of flash parts, for tools on the host.
//!
//! Each class has its part in memory. [`image`] reads it from a simulator's file or a dump, and writes it; what a call
//! changes is in no file before `save` or `dump`. [`failure`] turns errors of the crates into exceptions,
//! and [`contents`] says what a file holds that a class does not open.
//!
//! What a caller of Python sees is documented in `norn_flash.pyi` and on each method here.
#![forbid(unsafe_code)]

mod contents;
mod disk;
mod failure;
mod heap;
mod image;
mod log;
mod reference;

/// Persistent objects, sensor logs and block devices in images of flash memory.
#[pyo3::pymodule]
mod norn_flash {
    use norn_flash_sim::{catalogue, nand_catalogue};
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::disk::BlockDevice;
    #[pymodule_export]
    use super::failure::{CorruptedError, FullError, ImageError, NornError, StaleReferenceError};
    #[pymodule_export]
    use super::heap::{Heap, Info, Transaction};
    #[pymodule_export]
    use super::log::{Reading, SensorLog};
    #[pymodule_export]
    use super::reference::Ref;

    /// The names of the NOR parts of the catalogue. `NAME:UNITS` is one with another number of erase units, and
    /// `test-UNITSxBYTES` a part for tests.
    #[pyfunction]
    fn nor_parts() -> Vec<String> {
        catalogue::all().into_iter().map(|part| part.name).collect()
    }

    /// The names of the NAND parts of the catalogue. `nandtest-BLOCKSxPAGESxBYTES` is a part for tests.
    #[pyfunction]
    fn nand_parts() -> Vec<String> {
        nand_catalogue::all().into_iter().map(|part| part.name).collect()
    }
}
