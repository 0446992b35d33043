//! Calls every operation of the heap once, over a device that does nothing, so that a linker keeps all of their code.
//!
//! `tools/size` builds it for Cortex-M and reports the sections. It is not meant to run.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::mem::size_of;

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
use norn_object_heap::{AccessError, Config, Elements, Heap, Layout, Listener, PointerError, Ref, Tracer};

/// A device whose calls are cheap and whose answers the compiler cannot foresee.
struct Device;

impl Nor for Device {
    type Error = ();

    fn part(&self) -> NorPart {
        black_box(NorPart {
            unit_count: 56,
            unit_size_bytes: 8192,
            program_unit_bytes: 1,
            reprogramming: Reprogramming::Unlimited,
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

/// Who is told of pointers, without a cache of its own.
struct Client;

impl Listener for Client {
    fn invalidated(&mut self, reference: Ref) {
        black_box(reference);
    }

    fn all_invalidated(&mut self) {
        black_box(());
    }
}

type DeviceHeap = Heap<Device, 64, Client>;

/// Bytes of RAM of a mounted heap for 64 units, as the size of a symbol.
#[unsafe(no_mangle)]
static NORN_HEAP_RAM: [u8; size_of::<DeviceHeap>()] = [1; size_of::<DeviceHeap>()];

#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    black_box(&NORN_HEAP_RAM);
    if let Ok(mut heap) = DeviceHeap::format_with(Device, Config::default(), Client) {
        let _ = black_box(transact(&mut heap));
    }
    if let Ok(mut heap) = DeviceHeap::mount_with(Device, Client) {
        let _ = black_box(transact(&mut heap));
        let _ = black_box(arrays(&mut heap));
        let _ = black_box(pointers(&mut heap));
    }
    loop {}
}

#[inline(never)]
fn transact(heap: &mut DeviceHeap) -> Result<(), AccessError<()>> {
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

#[inline(never)]
fn arrays(heap: &mut DeviceHeap) -> Result<(), AccessError<()>> {
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
    let trace = |tracer: &mut Tracer<'_, Device, 64, Client>, reference| tracer.reached(black_box(reference));
    let _ = black_box(heap.collect(&[array], trace));
    Ok(())
}

#[inline(never)]
fn pointers(heap: &mut DeviceHeap) -> Result<(), PointerError<()>> {
    let Ok(Some(reference)) = heap.next_object(None) else {
        return Ok(());
    };
    black_box(heap.field_pointer(reference, 1)?);
    black_box(heap.array_pointer(reference, 1)?);
    black_box(heap.header_pointer(reference)?);
    black_box(heap.field_bytes(reference, 1)?.len());
    black_box(heap.array_bytes(reference, 1)?.len());
    black_box(heap.header_bytes(reference)?.len());
    Ok(())
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
