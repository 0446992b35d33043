//! Norn for C: what the header `norn.h` declares, as functions of a static library.
//!
//! The header is generated from these sources, where the documentation of each call is, by the test `header`. All state
//! is in memory of the caller; nothing is allocated, and there are no globals. A call
//! 1. checks what it is given: pointers for null and alignment, the handle for being mounted, here, and not in a call;
//! 2. lends the engine the caller's memory;
//! 3. turns the engine's result into a number, and leaves what else is known for `norn_heap_failure` and its like.
//!
//! Only this crate has unsafe code: C passes pointers. Each unsafe block says what makes it sound. That C keeps its
//! side, `handle` and `memory` check as far as a program can: null, alignment, sizes, a handle that was not mounted,
//! was copied elsewhere, or is in a call. They cannot check that a pointer leads to memory, and that it stays there.
//!
//! The static library is built with the feature `panic-handler`, by `make install` and by the tests:
//!
//! ```sh
//! cargo rustc --profile c-library -p norn-c-api --features panic-handler --crate-type staticlib
//! ```
#![no_std]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]
#![allow(non_camel_case_types, reason = "names as C writes them: the header has the same")]

mod array;
mod check;
mod collect;
mod conformance;
mod cursor;
mod device;
mod entry;
mod error;
mod foreign;
mod ftl;
mod handle;
mod heap;
mod index;
mod memory;
mod nand;
mod object;
mod pager;
mod realtime;
mod root;
mod transaction;

#[cfg(feature = "panic-handler")]
mod panic;
