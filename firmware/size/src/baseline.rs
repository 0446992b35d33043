//! Calls every operation that TinyStore's two heaps have in common once, over a device that does nothing: the heap on
//! EEPROM, or with a feature the one on flash as published.
//!
//! `tools/size` builds it for Cortex-M and reports code. It is not meant to run.
#![no_std]
#![no_main]

use core::hint::black_box;

#[cfg(not(feature = "flash"))]
use norn_baselines::EepromHeap;
use norn_flash::Address;
#[cfg(not(feature = "flash"))]
use norn_flash::{Eeprom, EepromPart};
#[cfg(feature = "flash")]
use norn_flash::{EraseUnit, Nor, NorPart, Reprogramming};
#[cfg(feature = "flash")]
use norn_object_heap::{Config, Features, HeapIn, UnitRow};
use norn_object_heap::{Elements, Layout, ObjectHeap, Ref};

/// A device whose calls are cheap and whose answers the compiler cannot foresee.
struct Device;

#[cfg(not(feature = "flash"))]
impl Eeprom for Device {
    type Error = ();

    fn part(&self) -> EepromPart {
        black_box(EepromPart { size_bytes: 448 * 1024, word_bytes: 4, endurance_writes: None })
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), ()> {
        black_box((address, buffer));
        black_box(Ok(()))
    }

    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), ()> {
        black_box((address, bytes));
        black_box(Ok(()))
    }
}

#[cfg(feature = "flash")]
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
        black_box((address, buffer));
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

#[cfg(not(feature = "flash"))]
type Heap = EepromHeap<Device>;

/// What the published structure needs.
#[cfg(feature = "flash")]
struct Published;

#[cfg(feature = "flash")]
impl Features for Published {
    const ERROR_DETECTION: bool = false;
    const DELTA_RECORDS: bool = false;
}

#[cfg(feature = "flash")]
type Heap = HeapIn<Device, [UnitRow; 64], (), Published>;

#[cfg(not(feature = "flash"))]
fn format(heap: &mut Heap) {
    if let Ok(new) = EepromHeap::format(Device, 8192) {
        *heap = new;
    }
    if let Ok(new) = EepromHeap::mount(Device) {
        *heap = new;
    }
}

#[cfg(feature = "flash")]
fn format(heap: &mut Heap) {
    black_box(heap.reformat(Config::tinystore_2006()).is_ok());
    black_box(heap.remount().is_ok());
}

/// An object or array that the compiler knows nothing of.
fn any() -> Ref {
    match Ref::from_bits(black_box(0x10000)) {
        Some(reference) => reference,
        None => loop {},
    }
}

fn range() -> Elements {
    Elements { array: any(), first: black_box(0), count: black_box(10) }
}

fn call_all(heap: &mut impl ObjectHeap) {
    let _ = black_box(heap.create(Layout::fields(black_box(&[4, 2, 1])).with_header(black_box(&[7; 3]))));
    let _ = black_box(heap.create_array(black_box(1000), black_box(4), black_box(&[7; 3])));
    let _ = black_box(heap.delete(any()));
    let _ = black_box(heap.next_object(black_box(None)));
    let _ = black_box(heap.info(any()));
    let _ = black_box(heap.get_field(any(), black_box(0), black_box(&mut [0; 4])));
    let _ = black_box(heap.put_field(any(), black_box(0), black_box(&[0; 4])));
    let _ = black_box(heap.array_load(any(), black_box(0), black_box(&mut [0; 4])));
    let _ = black_box(heap.array_store(any(), black_box(0), black_box(&[0; 4])));
    let _ = black_box(heap.array_read(any(), black_box(0), black_box(&mut [0; 4])));
    let _ = black_box(heap.array_fill_non_atomic(range(), black_box(&[0; 4])));
    let _ = black_box(heap.array_copy_non_atomic(range(), (any(), black_box(0))));
    let _ = black_box(heap.array_copy(range(), (any(), black_box(0))));
    let _ = black_box(heap.array_compare(range(), (any(), black_box(0))));
    let _ = black_box(heap.read_header(any(), black_box(&mut [0; 4])));
    let _ = black_box(heap.write_header(any(), black_box(&[0; 4])));
    let _ = black_box(heap.set_root(black_box(b"root"), black_box(None)));
    let _ = black_box(heap.root(black_box(b"root")));
    let _ = black_box(heap.visit_roots(|name, reference| {
        black_box((name, reference));
    }));
    let _ = black_box(heap.begin());
    let _ = black_box(heap.commit());
    let _ = black_box(heap.abort());
}

#[unsafe(no_mangle)]
extern "C" fn _start(heap: &mut Heap) {
    format(heap);
    call_all(heap);
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
