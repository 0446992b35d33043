//! Guided tours, one of each format on NOR: [`steps`] plays them; each of the other files says what a program calls on
//! its format, and what is to be seen of it.

mod index;
mod log_heap;
pub mod steps;
mod tiny_store;

use self::steps::{Stop, played};
use crate::index::list::{FixedWidths, Index};
use crate::log_heap::LogHeap;
use crate::shown::Tour;
use crate::tiny_store::TinyStore;

/// The step of this number, from 0, of a tour.
///
/// # Errors
/// If there is none.
pub fn stop(tour: Tour, number: usize) -> Result<Stop, String> {
    match tour {
        Tour::LogHeap => played::<LogHeap>(number),
        Tour::TinyStore => played::<TinyStore>(number),
        Tour::Index => played::<Index<FixedWidths>>(number),
    }
}
