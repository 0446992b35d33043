//! The tests of this crate as one program: what they share is compiled once.

mod evictions;
mod failures;
mod images;
mod lent_memory;
mod pager;
mod places;
mod policies;
mod programs;
mod shelf;
