//! What the flash heap and the EEPROM heap have in common, so that a workload or a test runs on either.
//!
//! Each call is the method of the same name of [`HeapIn`] and [`EepromHeap`], where costs and errors are stated. What
//! differs: the non-atomic operations change each element atomically on flash, and not on EEPROM.

use core::cmp::Ordering;
use core::fmt;

use norn_flash::{Eeprom, Nor};
use norn_object_heap::{
    AccessError, CreateError, Elements, Features, HeapIn, Info, Layout, Listener, Ref, TransactionError, UnitRows,
};

use crate::eeprom_heap::EepromHeap;

/// Persistent objects and arrays on some device.
#[expect(missing_docs, reason = "the module's head says where each call is described")]
pub trait ObjectHeap {
    /// What goes wrong on the device.
    type DeviceError: fmt::Debug;

    fn create(&mut self, layout: Layout<'_>) -> Result<Ref, CreateError<Self::DeviceError>>;
    fn create_array(&mut self, count: usize, width: u8, header: &[u8]) -> Result<Ref, CreateError<Self::DeviceError>>;
    fn delete(&mut self, reference: Ref) -> Result<(), AccessError<Self::DeviceError>>;
    fn next_object(&mut self, after: Option<Ref>) -> Result<Option<Ref>, AccessError<Self::DeviceError>>;
    fn info(&mut self, reference: Ref) -> Result<Info, AccessError<Self::DeviceError>>;
    fn get_field(
        &mut self,
        reference: Ref,
        index: usize,
        buffer: &mut [u8],
    ) -> Result<(), AccessError<Self::DeviceError>>;
    fn put_field(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<Self::DeviceError>>;
    fn array_load(
        &mut self,
        reference: Ref,
        index: usize,
        buffer: &mut [u8],
    ) -> Result<(), AccessError<Self::DeviceError>>;
    fn array_store(&mut self, reference: Ref, index: usize, value: &[u8])
    -> Result<(), AccessError<Self::DeviceError>>;
    fn array_read(&mut self, array: Ref, first: usize, buffer: &mut [u8])
    -> Result<(), AccessError<Self::DeviceError>>;
    fn array_fill_non_atomic(&mut self, to: Elements, value: &[u8]) -> Result<(), AccessError<Self::DeviceError>>;
    fn array_copy_non_atomic(&mut self, from: Elements, to: (Ref, usize))
    -> Result<(), AccessError<Self::DeviceError>>;
    fn array_copy(&mut self, from: Elements, to: (Ref, usize)) -> Result<(), AccessError<Self::DeviceError>>;
    fn array_compare(&mut self, from: Elements, to: (Ref, usize)) -> Result<Ordering, AccessError<Self::DeviceError>>;
    fn read_header(&mut self, reference: Ref, buffer: &mut [u8]) -> Result<usize, AccessError<Self::DeviceError>>;
    fn write_header(&mut self, reference: Ref, header: &[u8]) -> Result<(), AccessError<Self::DeviceError>>;
    fn set_root(&mut self, name: &[u8], reference: Option<Ref>) -> Result<(), AccessError<Self::DeviceError>>;
    fn root(&mut self, name: &[u8]) -> Result<Option<Ref>, AccessError<Self::DeviceError>>;
    fn visit_roots(&mut self, visit: impl FnMut(&[u8], Ref)) -> Result<(), AccessError<Self::DeviceError>>;
    fn begin(&mut self) -> Result<(), TransactionError<Self::DeviceError>>;
    fn commit(&mut self) -> Result<(), TransactionError<Self::DeviceError>>;
    fn abort(&mut self) -> Result<(), TransactionError<Self::DeviceError>>;
    fn in_transaction(&self) -> bool;
}

/// Hands each call to the method of the same name.
macro_rules! same_calls {
    () => {
        fn create(&mut self, layout: Layout<'_>) -> Result<Ref, CreateError<D::Error>> {
            self.create(layout)
        }

        fn create_array(&mut self, count: usize, width: u8, header: &[u8]) -> Result<Ref, CreateError<D::Error>> {
            self.create_array(count, width, header)
        }

        fn delete(&mut self, reference: Ref) -> Result<(), AccessError<D::Error>> {
            self.delete(reference)
        }

        fn next_object(&mut self, after: Option<Ref>) -> Result<Option<Ref>, AccessError<D::Error>> {
            self.next_object(after)
        }

        fn info(&mut self, reference: Ref) -> Result<Info, AccessError<D::Error>> {
            self.info(reference)
        }

        fn get_field(&mut self, reference: Ref, index: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
            self.get_field(reference, index, buffer)
        }

        fn put_field(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
            self.put_field(reference, index, value)
        }

        fn array_load(&mut self, reference: Ref, index: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
            self.array_load(reference, index, buffer)
        }

        fn array_store(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
            self.array_store(reference, index, value)
        }

        fn array_read(&mut self, array: Ref, first: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
            self.array_read(array, first, buffer)
        }

        fn array_fill_non_atomic(&mut self, to: Elements, value: &[u8]) -> Result<(), AccessError<D::Error>> {
            self.array_fill_non_atomic(to, value)
        }

        fn array_copy_non_atomic(&mut self, from: Elements, to: (Ref, usize)) -> Result<(), AccessError<D::Error>> {
            self.array_copy_non_atomic(from, to)
        }

        fn array_copy(&mut self, from: Elements, to: (Ref, usize)) -> Result<(), AccessError<D::Error>> {
            self.array_copy(from, to)
        }

        fn array_compare(&mut self, from: Elements, to: (Ref, usize)) -> Result<Ordering, AccessError<D::Error>> {
            self.array_compare(from, to)
        }

        fn read_header(&mut self, reference: Ref, buffer: &mut [u8]) -> Result<usize, AccessError<D::Error>> {
            self.read_header(reference, buffer)
        }

        fn write_header(&mut self, reference: Ref, header: &[u8]) -> Result<(), AccessError<D::Error>> {
            self.write_header(reference, header)
        }

        fn set_root(&mut self, name: &[u8], reference: Option<Ref>) -> Result<(), AccessError<D::Error>> {
            self.set_root(name, reference)
        }

        fn root(&mut self, name: &[u8]) -> Result<Option<Ref>, AccessError<D::Error>> {
            self.root(name)
        }

        fn visit_roots(&mut self, visit: impl FnMut(&[u8], Ref)) -> Result<(), AccessError<D::Error>> {
            self.visit_roots(visit)
        }

        fn begin(&mut self) -> Result<(), TransactionError<D::Error>> {
            self.begin()
        }

        fn commit(&mut self) -> Result<(), TransactionError<D::Error>> {
            self.commit()
        }

        fn abort(&mut self) -> Result<(), TransactionError<D::Error>> {
            self.abort()
        }

        fn in_transaction(&self) -> bool {
            self.in_transaction()
        }
    };
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> ObjectHeap for HeapIn<D, M, L, F> {
    type DeviceError = D::Error;

    same_calls!();
}

impl<D: Eeprom> ObjectHeap for EepromHeap<D> {
    type DeviceError = D::Error;

    same_calls!();
}
