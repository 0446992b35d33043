//! The log-structured heap of an image, and its transactions as a `with` statement has them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use norn_flash::{Collected, Nor};
use norn_flash_sim::NorSim;
use norn_heap::{Kind, Layout, ObjectHeap};
use norn_log_heap::{ErrorDetection, LogHeapIn, UnitRow};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyType};

use crate::contents;
use crate::failure::{Exception, Failure, Origin};
use crate::image::{self, Part};
use crate::reference::Ref;

type PartHeap = LogHeapIn<NorSim, Vec<UnitRow>>;

/// A log-structured heap of persistent objects on a NOR part in memory.
#[pyclass(module = "norn_flash")]
#[derive(Debug)]
pub struct Heap {
    heap: PartHeap,
    origin: Origin,
}

/// What an object or array is.
#[pyclass(frozen, get_all, module = "norn_flash")]
#[derive(Clone, Debug)]
pub struct Info {
    /// "object" or "array".
    kind: &'static str,
    /// Number of fields or elements.
    count: usize,
    /// Bytes of each field; of an array the one width of its elements.
    widths: Vec<usize>,
    /// Bytes of all values together.
    data_bytes: u32,
    /// Bytes that the heap does not interpret.
    header: Vec<u8>,
}

#[pymethods]
impl Info {
    fn __repr__(&self) -> String {
        format!("<{} of {} values, {} bytes>", self.kind, self.count, self.data_bytes)
    }
}

fn rows(device: &NorSim) -> Vec<UnitRow> {
    vec![UnitRow::UNUSED; usize::from(device.part().unit_count)]
}

fn detection(name: &str) -> PyResult<ErrorDetection> {
    match name {
        "off" => Ok(ErrorDetection::Off),
        "on" => Ok(ErrorDetection::On),
        _ => Err(Exception::Value.with(format!("error_detection is \"on\" or \"off\", not {name:?}"))),
    }
}

#[pymethods]
impl Heap {
    /// An empty heap on a part of this name.
    #[staticmethod]
    #[pyo3(signature = (part, *, error_detection = "off"))]
    fn create(part: &str, error_detection: &str) -> PyResult<Heap> {
        let device = NorSim::blank(NorSim::spec_by_name(part)?);
        let (origin, rows) = (Origin(format!("a new {part}")), rows(&device));
        let heap = PartHeap::format_with_in(device, rows, detection(error_detection)?)
            .map_err(|error| origin.failed("format", error))?;
        Ok(Heap { heap, origin })
    }

    /// The heap in a file, which stays as it is.
    #[staticmethod]
    #[pyo3(signature = (path, part = None))]
    fn open(path: PathBuf, part: Option<&str>) -> PyResult<Heap> {
        let device: NorSim = contents::open(&path, part)?;
        let (origin, rows) = (Origin(path.display().to_string()), rows(&device));
        let heap = PartHeap::mount_in(device, rows).map_err(|error| contents::not_mounted(error, &path, part))?;
        Ok(Heap { heap, origin })
    }

    /// Writes the image to a new simulator's file.
    fn save(&mut self, path: PathBuf) -> PyResult<()> {
        self.rest()?;
        self.heap.device().write(&path)
    }

    /// Writes the image to a simulator's file, in place of what is there.
    fn replace(&mut self, path: PathBuf) -> PyResult<()> {
        self.rest()?;
        image::replace(self.heap.device(), &path)
    }

    /// The part's bytes, for a chip's programmer.
    fn dump(&mut self) -> PyResult<Vec<u8>> {
        self.rest()?;
        Ok(self.heap.device().dump())
    }

    /// The part's name.
    #[getter]
    fn part(&self) -> &str {
        Part::name(self.heap.device())
    }

    /// Creates an object of fields of these widths, all zeros.
    #[pyo3(signature = (widths, header = vec![]), text_signature = "($self, widths, header=b'')")]
    fn create_object(&mut self, widths: Vec<u8>, header: Vec<u8>) -> PyResult<Ref> {
        let created = self.heap.create(Layout::fields(&widths).with_header(&header));
        self.done("create_object", created).map(Ref)
    }

    /// Creates an array of zeros.
    #[pyo3(signature = (count, width, header = vec![]), text_signature = "($self, count, width, header=b'')")]
    fn create_array(&mut self, count: usize, width: u8, header: Vec<u8>) -> PyResult<Ref> {
        let created = self.heap.create_array(count, width, &header);
        self.done("create_array", created).map(Ref)
    }

    /// Deletes an object or array.
    fn delete(&mut self, reference: Ref) -> PyResult<()> {
        let deleted = self.heap.delete(reference.0);
        self.done(format!("delete {}", reference.0), deleted)
    }

    /// The references of all objects and arrays, in their order.
    fn objects(&mut self) -> PyResult<Vec<Ref>> {
        let (mut found, mut after) = (Vec::new(), None);
        while let Some(reference) = {
            let next = self.heap.next_object(after);
            self.done("objects", next)?
        } {
            found.push(Ref(reference));
            after = Some(reference);
        }
        Ok(found)
    }

    /// What an object or array is.
    fn info(&mut self, reference: Ref) -> PyResult<Info> {
        let call = || format!("info {}", reference.0);
        let info = self.heap.info(reference.0);
        let info = self.done(call(), info)?;
        let mut header = vec![0; info.header_bytes];
        let read = self.heap.read_header(reference.0, &mut header);
        self.done(call(), read)?;
        let (kind, number) = match info.kind {
            Kind::Object => ("object", info.count),
            Kind::Array => ("array", 1),
        };
        let widths = (0..number).map(|index| self.width(reference, index)).collect::<PyResult<_>>()?;
        Ok(Info { kind, count: info.count, widths, data_bytes: info.data_bytes, header })
    }

    /// The value of a field.
    fn get_field(&mut self, reference: Ref, index: usize) -> PyResult<Vec<u8>> {
        let mut value = vec![0; self.width(reference, index)?];
        let got = self.heap.get_field(reference.0, index, &mut value);
        self.done(format!("get_field {}[{index}]", reference.0), got)?;
        Ok(value)
    }

    /// Sets a field.
    fn put_field(&mut self, reference: Ref, index: usize, value: Vec<u8>) -> PyResult<()> {
        let put = self.heap.put_field(reference.0, index, &value);
        self.done(format!("put_field {}[{index}] of {} bytes", reference.0, value.len()), put)
    }

    /// The values of all fields, in their order.
    fn fields(&mut self, reference: Ref) -> PyResult<Vec<Vec<u8>>> {
        let count = self.info(reference)?.count;
        (0..count).map(|index| self.get_field(reference, index)).collect()
    }

    /// Sets the fields from `first` on at once: `values` has their values one after the other.
    fn put_fields(&mut self, reference: Ref, first: usize, values: Vec<u8>) -> PyResult<()> {
        let put = self.heap.put_fields(reference.0, first, &values);
        self.done(format!("put_fields {}[{first}..] of {} bytes", reference.0, values.len()), put)
    }

    /// Elements of an array, one after the other: `count` of them, or all up to the last.
    #[pyo3(signature = (reference, first = 0, count = None))]
    fn array_read(&mut self, reference: Ref, first: usize, count: Option<usize>) -> PyResult<Vec<u8>> {
        let call = || format!("array_read {}[{first}..]", reference.0);
        let info = self.heap.info(reference.0);
        let info = self.done(call(), info)?;
        let rest = info.count.saturating_sub(first);
        if count.is_some_and(|count| count > rest) || first > info.count {
            return Err(Exception::Index.with(format!(
                "{}: {}: it has {} elements",
                self.origin.0,
                call(),
                info.count
            )));
        }
        let width = self.width(reference, 0)?;
        let mut values = vec![0; count.unwrap_or(rest) * width];
        let read = self.heap.array_read(reference.0, first, &mut values);
        self.done(call(), read)?;
        Ok(values)
    }

    /// Sets elements of an array from `first` on: all or none.
    fn array_write(&mut self, reference: Ref, first: usize, values: Vec<u8>) -> PyResult<()> {
        let written = self.heap.array_write(reference.0, first, &values);
        self.done(format!("array_write {}[{first}..] of {} bytes", reference.0, values.len()), written)
    }

    /// Replaces the header of an object or array.
    fn write_header(&mut self, reference: Ref, header: Vec<u8>) -> PyResult<()> {
        let written = self.heap.write_header(reference.0, &header);
        self.done(format!("write_header {} of {} bytes", reference.0, header.len()), written)
    }

    /// All names, and what they lead to.
    fn roots(&mut self) -> PyResult<BTreeMap<Vec<u8>, Ref>> {
        let mut roots = BTreeMap::new();
        let visited = self.heap.visit_roots(|name, reference| {
            roots.insert(name.to_vec(), Ref(reference));
        });
        self.done("roots", visited)?;
        Ok(roots)
    }

    /// What a name leads to.
    fn root(&mut self, name: &[u8]) -> PyResult<Option<Ref>> {
        let root = self.heap.root(name);
        Ok(self.done("root", root)?.map(Ref))
    }

    /// Makes a name lead to an object or array, or to nothing.
    #[pyo3(signature = (name, reference))]
    fn set_root(&mut self, name: &[u8], reference: Option<Ref>) -> PyResult<()> {
        let set = self.heap.set_root(name, reference.map(|reference| reference.0));
        self.done("set_root", set)
    }

    /// Makes what happens in a `with` statement one change.
    fn transaction(heap: Py<Heap>) -> Transaction {
        Transaction { heap }
    }

    /// Checks every invariant of the heap on flash; what is violated, and where.
    fn check(&mut self) -> PyResult<Vec<String>> {
        let mut found = Collected::default();
        self.heap.device_mut().freeze_counters();
        let audited = self.heap.audit(&mut found);
        self.heap.device_mut().thaw_counters();
        self.done("check", audited)?;
        Ok(found.violations.iter().map(ToString::to_string).collect())
    }

    fn __len__(&mut self) -> PyResult<usize> {
        Ok(self.objects()?.len())
    }

    fn __contains__(&mut self, reference: Ref) -> PyResult<bool> {
        match self.heap.info(reference.0) {
            Ok(_) => Ok(true),
            Err(norn_heap::AccessError::Stale(_)) => Ok(false),
            failed => self.done("in", failed).map(|_| true),
        }
    }
}

impl Heap {
    fn begin(&mut self) -> PyResult<()> {
        let begun = self.heap.begin();
        self.done("begin", begun)
    }

    fn commit(&mut self) -> PyResult<()> {
        let committed = self.heap.commit();
        self.done("commit", committed)
    }

    fn abort(&mut self) -> PyResult<()> {
        let aborted = self.heap.abort();
        self.done("abort", aborted)
    }

    fn in_transaction(&self) -> bool {
        self.heap.in_transaction()
    }

    /// Before the image is written.
    fn rest(&mut self) -> PyResult<()> {
        if self.heap.in_transaction() {
            return Err(Exception::Other.with(format!("{}: a transaction is open", self.origin.0)));
        }
        let rested = self.heap.rest();
        self.done("rest", rested)
    }

    fn width(&mut self, reference: Ref, index: usize) -> PyResult<usize> {
        let width = self.heap.width(reference.0, index);
        self.done(format!("{}[{index}]", reference.0), width)
    }

    /// What a call returned; a failure as an exception, with its place on flash where there is one.
    fn done<T, F: Failure>(&self, call: impl std::fmt::Display, result: Result<T, F>) -> PyResult<T> {
        result.map_err(|failure| match (failure.exception(), self.heap.corruption()) {
            (Exception::Corrupted, Some(violation)) => self.origin.corrupted(call, violation),
            _ => self.origin.failed(call, failure),
        })
    }
}

/// A transaction of a heap: begun by `with`, committed at its end, and undone where an exception leaves it.
#[pyclass(frozen, module = "norn_flash")]
#[derive(Debug)]
pub struct Transaction {
    heap: Py<Heap>,
}

#[pymethods]
impl Transaction {
    fn __enter__(&self, py: Python<'_>) -> PyResult<Py<Heap>> {
        self.heap.borrow_mut(py).begin()?;
        Ok(self.heap.clone_ref(py))
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        exception: Option<Bound<'_, PyType>>,
        _value: Option<Bound<'_, PyAny>>,
        _traceback: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut heap = self.heap.borrow_mut(py);
        if exception.is_some() {
            return heap.abort();
        }
        let committed = heap.commit();
        // A commit that fails leaves the transaction open.
        if committed.is_err() && heap.in_transaction() {
            heap.abort()?;
        }
        committed
    }
}
