//! Calls every operation of the log-structured heap once, over a device that does nothing, so that a linker keeps their
//! code; those of arrays, the collector and housekeeping behind a feature.
//!
//! `tools/size` builds it for Cortex-M and reports the sections. It is not meant to run.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::mem::size_of;

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
#[cfg(feature = "arrays")]
use norn_log_heap::{Elements, Tracer};
use norn_log_heap::{Layout, LogHeap, Ref};

/// A device whose calls are cheap and whose answers the compiler cannot foresee.
struct Device;

impl Nor for Device {
    type Error = ();

    fn part(&self) -> NorPart {
        black_box(NorPart {
            unit_count: 56,
            unit_size_bytes: 8192,
            program_unit_bytes: 4,
            reprogramming: Reprogramming::Once,
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

type DeviceHeap = LogHeap<Device, 64>;

/// Bytes of RAM of a mounted heap for 64 units, as the size of a symbol.
#[unsafe(no_mangle)]
static NORN_HEAP_RAM: [u8; size_of::<DeviceHeap>()] = [1; size_of::<DeviceHeap>()];

/// A call of the heap: a function of its own, so that its stack can be told from the others'.
macro_rules! calls {
    ($($(#[$condition:meta])? $name:ident($heap:ident) $body:block)*) => {
        $(
            $(#[$condition])?
            #[inline(never)]
            fn $name($heap: &mut DeviceHeap) {
                let _ = black_box($body);
            }
        )*

        #[unsafe(no_mangle)]
        extern "C" fn _start(heap: &mut DeviceHeap) {
            black_box(&NORN_HEAP_RAM);
            $(
                $(#[$condition])?
                $name(heap);
            )*
        }
    };
}

/// An object that the compiler knows nothing of.
fn any() -> Ref {
    match Ref::from_bits(black_box(0x10000)) {
        Some(reference) => reference,
        None => loop {},
    }
}

#[cfg(feature = "arrays")]
fn range() -> Elements {
    Elements { array: any(), first: black_box(0), count: black_box(10) }
}

calls! {
    call_format(_heap) { DeviceHeap::format(Device).is_ok() }
    call_mount(_heap) { DeviceHeap::mount(Device).is_ok() }
    call_remount(heap) { heap.remount() }
    call_rest(heap) { heap.rest() }
    call_create(heap) { heap.create(Layout::uniform(black_box(3), black_box(2)).with_header(black_box(&[1]))) }
    call_create_fields(heap) { heap.create(Layout::fields(black_box(&[1, 2, 4]))) }
    call_delete(heap) { heap.delete(any()) }
    call_next_object(heap) { heap.next_object(black_box(None)) }
    call_info(heap) { heap.info(any()) }
    call_field_width(heap) { heap.field_width(any(), black_box(1)) }
    call_get_field(heap) { heap.get_field(any(), black_box(1), black_box(&mut [0; 4])) }
    call_put_field(heap) { heap.put_field(any(), black_box(1), black_box(&[0; 4])) }
    call_put_fields(heap) { heap.put_fields(any(), black_box(1), black_box(&[0; 4])) }
    call_read_header(heap) { heap.read_header(any(), black_box(&mut [0; 4])) }
    call_write_header(heap) { heap.write_header(any(), black_box(&[0; 4])) }
    call_set_root(heap) { heap.set_root(black_box(b"name"), black_box(None)) }
    call_root(heap) { heap.root(black_box(b"name")) }
    call_begin(heap) { heap.begin() }
    call_commit(heap) { heap.commit() }
    call_abort(heap) { heap.abort() }
    #[cfg(feature = "arrays")]
    call_create_array(heap) { heap.create_array(black_box(1000), black_box(4), black_box(&[7; 3])) }
    #[cfg(feature = "arrays")]
    call_array_load(heap) { heap.array_load(any(), black_box(0), black_box(&mut [0; 4])) }
    #[cfg(feature = "arrays")]
    call_array_store(heap) { heap.array_store(any(), black_box(0), black_box(&[0; 4])) }
    #[cfg(feature = "arrays")]
    call_array_read(heap) { heap.array_read(any(), black_box(0), black_box(&mut [0; 4])) }
    #[cfg(feature = "arrays")]
    call_array_write(heap) { heap.array_write(any(), black_box(0), black_box(&[0; 4])) }
    #[cfg(feature = "arrays")]
    call_array_fill(heap) { heap.array_fill_non_atomic(range(), black_box(&[0; 4])) }
    #[cfg(feature = "arrays")]
    call_array_copy(heap) { heap.array_copy(range(), (any(), black_box(0))) }
    #[cfg(feature = "arrays")]
    call_array_copy_non_atomic(heap) { heap.array_copy_non_atomic(range(), (any(), black_box(0))) }
    #[cfg(feature = "arrays")]
    call_array_compare(heap) { heap.array_compare(range(), (any(), black_box(0))) }
    #[cfg(feature = "arrays")]
    call_collect(heap) {
        heap.collect(&[any()], |tracer: &mut Tracer<'_, Device, 64>, reference| tracer.reached(black_box(reference)))
    }
    #[cfg(feature = "arrays")]
    call_reclaim_step(heap) { heap.reclaim_step(black_box(100)) }
    call_visit_roots(heap) { heap.visit_roots(|name, reference| { black_box((name, reference)); }) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
