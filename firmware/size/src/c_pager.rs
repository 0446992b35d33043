//! Makes through the C library the calls that `pager.rs` makes on a pager with its cache lent, so that the difference
//! between the two images is what the C library adds.
//!
//! `tools/size` builds it for Cortex-M and reports the sections. It is not meant to run.
#![no_std]
#![no_main]

use core::ffi::{c_int, c_void};
use core::hint::black_box;
use core::ptr;

use norn_c_api as _;

unsafe extern "C" {
    fn norn_pager_mount(pager: *mut c_void, config: *const c_void) -> c_int;
    fn norn_pager_view(pager: *mut c_void, address: u32, code: *mut *const c_void, bytes: *mut u32) -> c_int;
    fn norn_pager_read(pager: *mut c_void, address: u32, buffer: *mut c_void, bytes: usize) -> c_int;
}

fn place<T>() -> *mut T {
    black_box(ptr::null_mut())
}

/// Never run: the linker keeps what is called.
#[unsafe(no_mangle)]
extern "C" fn _start(pager: *mut c_void) {
    black_box(unsafe {
        [
            norn_pager_mount(pager, place()),
            norn_pager_view(pager, black_box(7), place(), place()),
            norn_pager_read(pager, black_box(7), place(), 100),
        ]
    });
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
