//! Calls every operation of the heap once, over a device that does nothing, so that a linker keeps all of their code.
//!
//! `tools/size` builds it for Cortex-M and reports the sections. It is not meant to run.
#![no_std]
#![no_main]

mod calls;

use core::hint::black_box;
use core::mem::size_of;

use calls::{Device, arrays, transact};
use norn_flash::Reprogramming;
use norn_object_heap::{Config, Heap};

type DeviceHeap = Heap<Device, 64>;

/// Bytes of RAM of a mounted heap for 64 units, as the size of a symbol.
#[unsafe(no_mangle)]
static NORN_HEAP_RAM: [u8; size_of::<DeviceHeap>()] = [1; size_of::<DeviceHeap>()];

#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    black_box(&NORN_HEAP_RAM);
    if let Ok(mut heap) = DeviceHeap::format(Device(Reprogramming::Unlimited), Config::default()) {
        let _ = black_box(transact(&mut heap));
    }
    if let Ok(mut heap) = DeviceHeap::mount(Device(Reprogramming::Unlimited)) {
        let _ = black_box(transact(&mut heap));
        let _ = black_box(arrays(&mut heap));
    }
    loop {}
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
