//! A panic, which is a mistake in the library itself, ends the program through C's `abort`.

use core::panic::PanicInfo;

unsafe extern "C" {
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    abort()
}
