//! References to objects and arrays.

use pyo3::prelude::*;

use crate::failure::Exception;

/// Names an object or array. It is a number of 32 bits, which fields may hold; 0 is the number of none.
#[pyclass(frozen, eq, ord, hash, module = "norn_flash")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(pub norn_heap::Ref);

#[pymethods]
impl Ref {
    /// The reference of a number. Raises ValueError for one that no reference has.
    #[new]
    fn new(bits: u32) -> PyResult<Ref> {
        let reference = norn_heap::Ref::from_bits(bits).map(Ref);
        reference.ok_or_else(|| Exception::Value.with(format!("{bits:#x} is no reference: its generation is 0")))
    }

    /// Its number.
    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    /// Its slot of the heap.
    #[getter]
    fn slot(&self) -> u16 {
        self.0.slot()
    }

    /// Counts what the slot has held.
    #[getter]
    fn generation(&self) -> u16 {
        self.0.generation()
    }

    fn __int__(&self) -> u32 {
        self.0.bits()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Ref {}>", self.0)
    }
}
