//! Makes through the C library the calls that `disk.rs` makes on a block device, with the feature `deadlines` those of
//! one with tasks, so that the difference between the two images is what the C library adds.
//!
//! `tools/size` builds it for Cortex-M and reports the sections. It is not meant to run.
#![no_std]
#![no_main]

use core::ffi::{c_int, c_void};
use core::hint::black_box;
use core::ptr;

use norn_c_api as _;

type Any = *const c_void;
type Place = *mut c_void;

#[cfg(not(feature = "deadlines"))]
unsafe extern "C" {
    fn norn_ftl_mount(ftl: Place, config: Any) -> c_int;
    fn norn_ftl_read(ftl: Place, page: u32, buffer: Place, bytes: usize) -> c_int;
    fn norn_ftl_write(ftl: Place, page: u32, data: Any, bytes: usize) -> c_int;
    fn norn_ftl_trim(ftl: Place, page: u32, count: u32) -> c_int;
    fn norn_ftl_sync(ftl: Place) -> c_int;
    fn norn_ftl_recycle_step(ftl: Place, least: u32) -> c_int;
    fn norn_ftl_level_step(ftl: Place) -> c_int;
}

#[cfg(feature = "deadlines")]
unsafe extern "C" {
    fn norn_realtime_start(system: Place, config: Any) -> c_int;
    fn norn_realtime_read(system: Place, page: u32, buffer: Place, bytes: usize) -> c_int;
    fn norn_realtime_admit(system: Place, task: Any, id: *mut u32) -> c_int;
    fn norn_realtime_write(system: Place, id: u32, page: u32, data: Any, bytes: usize) -> c_int;
    fn norn_realtime_trim(system: Place, id: u32, page: u32, count: u32) -> c_int;
    fn norn_realtime_leave(system: Place, id: u32) -> c_int;
    fn norn_realtime_collector_step(system: Place) -> c_int;
    fn norn_realtime_advance(system: Place, now_us: u64) -> c_int;
    fn norn_realtime_background_write(system: Place, page: u32, data: Any, bytes: usize) -> c_int;
    fn norn_realtime_background_step(system: Place) -> c_int;
    fn norn_realtime_level_step(system: Place) -> c_int;
}

unsafe extern "C" {
    fn norn_ftl_format(ftl: Place, config: Any) -> c_int;
}

fn place<T>() -> *mut T {
    black_box(ptr::null_mut())
}

fn any() -> u32 {
    black_box(7)
}

/// Never run: the linker keeps what is called.
#[unsafe(no_mangle)]
extern "C" fn _start(disk: Place) {
    unsafe { black_box(norn_ftl_format(disk, place())) };
    #[cfg(not(feature = "deadlines"))]
    black_box(unsafe {
        [
            norn_ftl_mount(disk, place()),
            norn_ftl_read(disk, any(), place(), 512),
            norn_ftl_write(disk, any(), place(), 512),
            norn_ftl_trim(disk, any(), any()),
            norn_ftl_sync(disk),
            norn_ftl_recycle_step(disk, any()),
            norn_ftl_level_step(disk),
        ]
    });
    #[cfg(feature = "deadlines")]
    black_box(unsafe {
        [
            norn_realtime_start(disk, place()),
            norn_realtime_read(disk, any(), place(), 512),
            norn_realtime_admit(disk, place(), place()),
            norn_realtime_write(disk, any(), any(), place(), 512),
            norn_realtime_trim(disk, any(), any(), any()),
            norn_realtime_leave(disk, any()),
            norn_realtime_collector_step(disk),
            norn_realtime_advance(disk, black_box(100)),
            norn_realtime_background_write(disk, any(), place(), 512),
            norn_realtime_background_step(disk),
            norn_realtime_level_step(disk),
        ]
    });
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
