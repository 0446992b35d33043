//! The tests of this crate as one program: what they share is compiled once.

mod command;
mod layout;
mod paging;
mod quick;
mod realtime_gc;
mod runs;
mod trace;
mod write_amplification;
