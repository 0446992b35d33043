//! A device that does nothing, and a call of every operation of a heap on it.

use core::hint::black_box;

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
use norn_object_heap::{AccessError, Elements, Heap, Layout, Tracer};

/// A device whose calls are cheap and whose answers the compiler cannot foresee.
pub struct Device(pub Reprogramming);

impl Nor for Device {
    type Error = ();

    fn part(&self) -> NorPart {
        black_box(NorPart {
            unit_count: 56,
            unit_size_bytes: 8192,
            program_unit_bytes: 4,
            reprogramming: self.0,
            mapped: false,
            endurance_erases: None,
        })
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), ()> {
        black_box(address);
        black_box(buffer);
        black_box(Ok(()))
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), ()> {
        black_box((address, bytes));
        black_box(Ok(()))
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), ()> {
        black_box(unit);
        black_box(Ok(()))
    }
}

/// Calls what objects have.
#[inline(never)]
pub fn transact<D: Nor>(heap: &mut Heap<D, 64>) -> Result<(), AccessError<D::Error>> {
    let widths = black_box([4, 2, 1]);
    let Ok(object) = heap.create(Layout::fields(&widths).with_header(&widths)) else {
        return Ok(());
    };
    let _ = black_box(heap.begin());
    let mut value = black_box([0; 4]);
    heap.put_field(object, 0, &value)?;
    heap.get_field(object, 0, &mut value)?;
    heap.write_header(object, &value)?;
    heap.read_header(object, &mut value)?;
    heap.set_root(&value, Some(object))?;
    black_box(heap.root(&value)?);
    heap.visit_roots(|name, reference| {
        black_box((name, reference));
    })?;
    let _ = black_box(heap.commit());
    let _ = black_box(heap.abort());
    black_box(heap.info(object)?);
    black_box(heap.next_object(Some(object))?);
    heap.delete(object)
}

/// Calls what arrays have.
#[inline(never)]
pub fn arrays<D: Nor>(heap: &mut Heap<D, 64>) -> Result<(), AccessError<D::Error>> {
    let mut value = black_box([0; 4]);
    let Ok(array) = heap.create_array(black_box(1000), 4, &value) else {
        return Ok(());
    };
    heap.array_store(array, 7, &value)?;
    heap.array_load(array, 7, &mut value)?;
    heap.array_read(array, 7, &mut value)?;
    let range = Elements { array, first: 0, count: black_box(10) };
    heap.array_fill_non_atomic(range, &value)?;
    heap.array_copy(range, (array, 20))?;
    heap.array_copy_non_atomic(range, (array, 20))?;
    black_box(heap.array_compare(range, (array, 20))?);
    let trace = |tracer: &mut Tracer<'_, D, 64>, reference| tracer.reached(black_box(reference));
    let _ = black_box(heap.collect(&[array], trace));
    Ok(())
}
