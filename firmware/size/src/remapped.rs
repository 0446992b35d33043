//! The same as `main.rs` on a part whose words are programmed once: what the layer below the heap adds.
#![no_std]
#![no_main]

mod calls;

use core::hint::black_box;
use core::mem::size_of;

use calls::{Device, arrays, transact};
use norn_flash::Reprogramming;
use norn_nor_remap::{Remap, RemapConfig};
use norn_object_heap::{Config, Heap};

type DeviceHeap = Heap<Remap<Device, 64>, 64>;

/// Bytes of RAM of a mounted heap for 64 units with the layer below it, as the size of a symbol.
#[unsafe(no_mangle)]
static NORN_HEAP_RAM: [u8; size_of::<DeviceHeap>()] = [1; size_of::<DeviceHeap>()];

#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    black_box(&NORN_HEAP_RAM);
    let device = || Device(black_box(Reprogramming::Once));
    if let Ok(remap) = Remap::format(device(), RemapConfig { spare_units: 1 })
        && let Ok(mut heap) = DeviceHeap::format(remap, Config::default())
    {
        let _ = black_box(transact(&mut heap));
    }
    if let Ok(remap) = Remap::mount(device())
        && let Ok(mut heap) = DeviceHeap::mount(remap)
    {
        let _ = black_box(transact(&mut heap));
        let _ = black_box(arrays(&mut heap));
    }
    loop {}
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
