//! Calls every operation of the heap once, over a device that does nothing, so that a linker keeps all of their code; features say
//! which operations.
//!
//! `tools/size` builds it for Cortex-M and reports the sections. It is not meant to run.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::mem::size_of;

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
#[cfg(feature = "remap")]
use norn_nor_remap::{Remap, RemapConfig};
#[cfg(feature = "pointers")]
use norn_object_heap::Listener;
use norn_object_heap::{Config, Features, HeapIn, Layout, Ref, Representation, UnitRow};
#[cfg(feature = "arrays")]
use norn_object_heap::{Elements, TracerIn};

/// A device whose calls are cheap and whose answers the compiler cannot foresee.
struct Device;

impl Nor for Device {
    type Error = ();

    fn part(&self) -> NorPart {
        black_box(NorPart {
            unit_count: 56,
            unit_size_bytes: 8192,
            program_unit_bytes: 4,
            reprogramming: if cfg!(feature = "remap") {
                black_box(Reprogramming::Once)
            } else {
                Reprogramming::Unlimited
            },
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
#[cfg(feature = "pointers")]
struct Client;

#[cfg(not(feature = "pointers"))]
type Client = ();

#[cfg(feature = "pointers")]
impl Listener for Client {
    fn invalidated(&mut self, reference: Ref) {
        black_box(reference);
    }

    fn all_invalidated(&mut self) {
        black_box(());
    }
}

#[cfg(feature = "remap")]
type Part = Remap<Device, 64>;
#[cfg(not(feature = "remap"))]
type Part = Device;

/// What images may need.
struct Linked;

impl Features for Linked {
    const ERROR_DETECTION: bool = cfg!(feature = "codes");
    const DELTA_RECORDS: bool = cfg!(feature = "deltas");
}

/// The unit table: in the heap, or lent by the caller as a slice of a length that is known at run time.
#[cfg(not(feature = "lent"))]
type Rows = [UnitRow; 64];
#[cfg(feature = "lent")]
type Rows = &'static mut [UnitRow];

type DeviceHeap = HeapIn<Part, Rows, Client, Linked>;

/// Bytes of RAM of a mounted heap for 64 units, or of what is beside a unit table that is lent, as the size of a symbol.
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

/// An object or array that the compiler knows nothing of.
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
    #[cfg(feature = "remap")]
    call_remap_mount(_heap) { Remap::<Device, 64>::mount(Device).is_ok() }
    #[cfg(feature = "remap")]
    call_remap_format(_heap) { Remap::<Device, 64>::format(Device, RemapConfig { spare_units: 1 }).is_ok() }
    call_format(heap) { heap.reformat(Config::default()) }
    call_mount(heap) { heap.remount() }
    call_create(heap) { heap.create(Layout::fields(black_box(&[4, 2, 1])).with_header(black_box(&[7; 3]))) }
    #[cfg(feature = "arrays")]
    call_create_array(heap) { heap.create_array(black_box(1000), black_box(4), black_box(&[7; 3])) }
    call_delete(heap) { heap.delete(any()) }
    call_get_field(heap) { heap.get_field(any(), black_box(0), black_box(&mut [0; 4])) }
    call_put_field(heap) { heap.put_field(any(), black_box(0), black_box(&[0; 4])) }
    #[cfg(feature = "deltas")]
    call_put_fields(heap) { heap.put_fields(any(), black_box(0), black_box(&[0; 4])) }
    #[cfg(feature = "deltas")]
    call_array_write(heap) { heap.array_write(any(), black_box(0), black_box(&[0; 4])) }
    #[cfg(feature = "arrays")]
    call_array_load(heap) { heap.array_load(any(), black_box(0), black_box(&mut [0; 4])) }
    #[cfg(feature = "arrays")]
    call_array_store(heap) { heap.array_store(any(), black_box(0), black_box(&[0; 4])) }
    call_read_header(heap) { heap.read_header(any(), black_box(&mut [0; 4])) }
    call_write_header(heap) { heap.write_header(any(), black_box(&[0; 4])) }
    #[cfg(feature = "arrays")]
    call_array_read(heap) { heap.array_read(any(), black_box(0), black_box(&mut [0; 4])) }
    #[cfg(feature = "arrays")]
    call_array_fill(heap) { heap.array_fill_non_atomic(range(), black_box(&[0; 4])) }
    #[cfg(feature = "arrays")]
    call_array_copy(heap) { heap.array_copy(range(), (any(), black_box(0))) }
    #[cfg(feature = "arrays")]
    call_array_copy_non_atomic(heap) { heap.array_copy_non_atomic(range(), (any(), black_box(0))) }
    #[cfg(feature = "arrays")]
    call_array_compare(heap) { heap.array_compare(range(), (any(), black_box(0))) }
    call_set_representation(heap) { heap.set_representation(any(), black_box(Representation::ReadOptimized)) }
    call_field_bytes(heap) { heap.field_bytes(any(), black_box(0)).map(<[u8]>::len) }
    #[cfg(feature = "arrays")]
    call_array_bytes(heap) { heap.array_bytes(any(), black_box(0)).map(<[u8]>::len) }
    call_header_bytes(heap) { heap.header_bytes(any()).map(<[u8]>::len) }
    #[cfg(feature = "pointers")]
    call_field_pointer(heap) { heap.field_pointer(any(), black_box(0)) }
    #[cfg(feature = "pointers")]
    call_array_pointer(heap) { heap.array_pointer(any(), black_box(0)) }
    #[cfg(feature = "pointers")]
    call_header_pointer(heap) { heap.header_pointer(any()) }
    call_info(heap) { heap.info(any()) }
    call_next_object(heap) { heap.next_object(Some(any())) }
    call_root(heap) { heap.root(black_box(b"root")) }
    call_set_root(heap) { heap.set_root(black_box(b"root"), Some(any())) }
    call_visit_roots(heap) { heap.visit_roots(|name, reference| { black_box((name, reference)); }) }
    call_begin(heap) { heap.begin() }
    call_commit(heap) { heap.commit() }
    call_abort(heap) { heap.abort() }
    call_reclaim_step(heap) { heap.reclaim_step(black_box(100)) }
    #[cfg(feature = "arrays")]
    call_collect(heap) {
        heap.collect(&[any()], |tracer: &mut TracerIn<'_, Part, Rows, Client, Linked>, reference| tracer.reached(black_box(reference)))
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
