//! A heap in an image file, of either engine.

use std::cmp::Ordering;

use norn_flash::Violation;
use norn_heap::{AccessError, CreateError, Elements, Info, Layout, ObjectHeap, PlacementError, Ref, TransactionError};
use norn_log_heap::LogHeapIn;
use norn_object_heap::{ErrorDetection, HeapIn};

use crate::engine::Engine;
use crate::part::{Part, PartError};

/// A heap with TinyStore's structure.
pub type TinyStoreHeap<'a> = HeapIn<Part<'a>, Vec<norn_object_heap::UnitRow>>;
/// A log-structured heap.
pub type LogStructuredHeap<'a> = LogHeapIn<Part<'a>, Vec<norn_log_heap::UnitRow>>;

/// A heap whose image stays open when the heap is dropped, as after a power cut. Its calls are those of [`ObjectHeap`].
#[derive(Debug)]
pub enum ImageHeap<'a> {
    /// A log-structured one.
    Log(Box<LogStructuredHeap<'a>>),
    /// One with TinyStore's structure.
    TinyStore(Box<TinyStoreHeap<'a>>),
}

/// The same expression on the heap of either engine.
macro_rules! on_either {
    ($heap:expr, $either:ident => $of:expr) => {
        match $heap {
            ImageHeap::Log($either) => $of,
            ImageHeap::TinyStore($either) => $of,
        }
    };
}

impl<'a> ImageHeap<'a> {
    /// Which engine's it is.
    pub const fn engine(&self) -> Engine {
        match self {
            ImageHeap::Log(_) => Engine::Log,
            ImageHeap::TinyStore(_) => Engine::TinyStore,
        }
    }

    /// Whether it notices flipped bits.
    pub fn error_detection(&self) -> ErrorDetection {
        match self {
            ImageHeap::Log(heap) => match heap.error_detection() {
                norn_log_heap::ErrorDetection::Off => ErrorDetection::Off,
                norn_log_heap::ErrorDetection::On => ErrorDetection::On,
            },
            ImageHeap::TinyStore(heap) => heap.config().error_detection,
        }
    }

    /// The part.
    pub fn device(&self) -> &Part<'a> {
        on_either!(self, heap => heap.device())
    }

    /// The part, for what does not change its contents.
    pub fn device_mut(&mut self) -> &mut Part<'a> {
        on_either!(self, heap => heap.device_mut())
    }

    /// Creates an object with this reference.
    pub(crate) fn create_at(&mut self, reference: Ref, layout: Layout<'_>) -> Result<(), PlacementError<PartError>> {
        on_either!(self, heap => heap.create_at(reference, layout))
    }

    /// Creates an array with this reference.
    pub(crate) fn create_array_at(
        &mut self,
        reference: Ref,
        (count, width): (usize, u8),
        header: &[u8],
    ) -> Result<(), PlacementError<PartError>> {
        on_either!(self, heap => heap.create_array_at(reference, count, width, header))
    }
}

/// The trait's calls, as those of the engine.
macro_rules! calls_of_the_engine {
    ($($name:ident($($argument:ident: $type:ty),*) -> $value:ty, $family:ident;)*) => {
        $(
            fn $name(&mut self, $($argument: $type),*) -> Result<$value, $family<PartError>> {
                on_either!(self, heap => heap.$name($($argument),*))
            }
        )*
    };
}

impl ObjectHeap for ImageHeap<'_> {
    type DeviceError = PartError;

    fn in_transaction(&self) -> bool {
        on_either!(self, heap => heap.in_transaction())
    }

    fn corruption(&self) -> Option<Violation> {
        on_either!(self, heap => heap.corruption())
    }

    calls_of_the_engine! {
        create(layout: Layout<'_>) -> Ref, CreateError;
        create_array(count: usize, width: u8, header: &[u8]) -> Ref, CreateError;
        delete(reference: Ref) -> (), AccessError;
        next_object(after: Option<Ref>) -> Option<Ref>, AccessError;
        info(reference: Ref) -> Info, AccessError;
        get_field(reference: Ref, index: usize, buffer: &mut [u8]) -> (), AccessError;
        put_field(reference: Ref, index: usize, value: &[u8]) -> (), AccessError;
        put_fields(reference: Ref, first: usize, values: &[u8]) -> (), AccessError;
        array_load(reference: Ref, index: usize, buffer: &mut [u8]) -> (), AccessError;
        array_store(reference: Ref, index: usize, value: &[u8]) -> (), AccessError;
        array_read(array: Ref, first: usize, buffer: &mut [u8]) -> (), AccessError;
        array_write(array: Ref, first: usize, values: &[u8]) -> (), AccessError;
        array_fill_non_atomic(to: Elements, value: &[u8]) -> (), AccessError;
        array_copy_non_atomic(from: Elements, to: (Ref, usize)) -> (), AccessError;
        array_copy(from: Elements, to: (Ref, usize)) -> (), AccessError;
        array_compare(from: Elements, to: (Ref, usize)) -> Ordering, AccessError;
        read_header(reference: Ref, buffer: &mut [u8]) -> usize, AccessError;
        write_header(reference: Ref, header: &[u8]) -> (), AccessError;
        set_root(name: &[u8], reference: Option<Ref>) -> (), AccessError;
        root(name: &[u8]) -> Option<Ref>, AccessError;
        visit_roots(visit: impl FnMut(&[u8], Ref)) -> (), AccessError;
        begin() -> (), TransactionError;
        commit() -> (), TransactionError;
        abort() -> (), TransactionError;
    }
}
