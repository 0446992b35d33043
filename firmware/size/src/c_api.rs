//! Makes through the C library the calls that `log.rs` makes on the log-structured heap, so that the difference between
//! the two images is what the C library adds.
//!
//! `tools/size` builds it for Cortex-M and reports the sections. It is not meant to run.
#![no_std]
#![no_main]

use core::ffi::{c_char, c_int, c_void};
use core::hint::black_box;
use core::ptr;

use norn_c_api as _;

/// As the header declares it: pointers and words that C keeps.
#[repr(C)]
pub struct Handle([*mut c_void; 20], [u64; 38]);

/// Bytes of RAM of a handle and of the memory for 64 units, as the size of a symbol.
#[unsafe(no_mangle)]
static NORN_HEAP_RAM: [u8; size_of::<Handle>() + 65 * 4] = [1; size_of::<Handle>() + 65 * 4];

type Heap = *mut Handle;
type Any = *const c_void;
type Visit = unsafe extern "C" fn(*mut c_void, *const c_char, usize, u32);

unsafe extern "C" {
    fn norn_heap_format(heap: Heap, config: Any) -> c_int;
    fn norn_heap_mount(heap: Heap, config: Any) -> c_int;
    fn norn_heap_rest(heap: Heap) -> c_int;
    fn norn_heap_create(heap: Heap, count: u32, width: u8, reference: *mut u32) -> c_int;
    fn norn_heap_create_layout(heap: Heap, layout: Any, reference: *mut u32) -> c_int;
    fn norn_heap_delete(heap: Heap, reference: u32) -> c_int;
    fn norn_heap_next_object(heap: Heap, after: u32, next: *mut u32) -> c_int;
    fn norn_heap_info(heap: Heap, reference: u32, info: *mut c_void) -> c_int;
    fn norn_heap_field_width(heap: Heap, reference: u32, index: u32, width: *mut u32) -> c_int;
    fn norn_heap_get_field(heap: Heap, reference: u32, index: u32, buffer: *mut c_void, bytes: usize) -> c_int;
    fn norn_heap_put_field(heap: Heap, reference: u32, index: u32, value: Any, bytes: usize) -> c_int;
    fn norn_heap_put_fields(heap: Heap, reference: u32, first: u32, values: Any, bytes: usize) -> c_int;
    fn norn_heap_read_header(heap: Heap, reference: u32, buffer: *mut c_void, bytes: usize, all: *mut usize) -> c_int;
    fn norn_heap_write_header(heap: Heap, reference: u32, header: Any, bytes: usize) -> c_int;
    fn norn_heap_set_root(heap: Heap, name: *const c_char, reference: u32) -> c_int;
    fn norn_heap_root(heap: Heap, name: *const c_char, reference: *mut u32) -> c_int;
    fn norn_heap_begin(heap: Heap) -> c_int;
    fn norn_heap_commit(heap: Heap) -> c_int;
    fn norn_heap_abort(heap: Heap) -> c_int;
    fn norn_heap_visit_roots(heap: Heap, visit: Visit, context: *mut c_void) -> c_int;
}

/// A call of the heap: a function of its own, so that its stack can be told from the others'.
macro_rules! calls {
    ($($name:ident($heap:ident) $body:block)*) => {
        $(
            #[inline(never)]
            fn $name($heap: Heap) {
                // Never run: the linker keeps what is called.
                black_box(unsafe { $body });
            }
        )*

        #[unsafe(no_mangle)]
        extern "C" fn _start(heap: Heap) {
            black_box(&NORN_HEAP_RAM);
            $($name(heap);)*
        }
    };
}

fn place<T>() -> *mut T {
    black_box(ptr::null_mut())
}

fn any() -> u32 {
    black_box(0x10000)
}

unsafe extern "C" fn visit(_: *mut c_void, name: *const c_char, bytes: usize, reference: u32) {
    black_box((name, bytes, reference));
}

calls! {
    call_format(heap) { norn_heap_format(heap, place()) }
    call_mount(heap) { norn_heap_mount(heap, place()) }
    call_rest(heap) { norn_heap_rest(heap) }
    call_create(heap) { norn_heap_create(heap, any(), black_box(2), place()) }
    call_create_layout(heap) { norn_heap_create_layout(heap, place(), place()) }
    call_delete(heap) { norn_heap_delete(heap, any()) }
    call_next_object(heap) { norn_heap_next_object(heap, any(), place()) }
    call_info(heap) { norn_heap_info(heap, any(), place()) }
    call_field_width(heap) { norn_heap_field_width(heap, any(), any(), place()) }
    call_get_field(heap) { norn_heap_get_field(heap, any(), any(), place(), black_box(4)) }
    call_put_field(heap) { norn_heap_put_field(heap, any(), any(), place(), black_box(4)) }
    call_put_fields(heap) { norn_heap_put_fields(heap, any(), any(), place(), black_box(4)) }
    call_read_header(heap) { norn_heap_read_header(heap, any(), place(), black_box(4), place()) }
    call_write_header(heap) { norn_heap_write_header(heap, any(), place(), black_box(4)) }
    call_set_root(heap) { norn_heap_set_root(heap, place(), any()) }
    call_root(heap) { norn_heap_root(heap, place(), place()) }
    call_begin(heap) { norn_heap_begin(heap) }
    call_commit(heap) { norn_heap_commit(heap) }
    call_abort(heap) { norn_heap_abort(heap) }
    call_visit_roots(heap) { norn_heap_visit_roots(heap, visit, place()) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
