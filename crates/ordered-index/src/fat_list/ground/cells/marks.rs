//! Marks of stops: bits of the head's bitmap, of which one is cleared by each stop and by the first change after it.

use norn_flash::Nor;

use super::Cells;
use crate::error::Outcome;
use crate::fat_list::layout::Cell;
use crate::fat_list::widths::Widths;

/// Marks of stops and openings in the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopMarks {
    /// How many have been set; an odd number says stopped.
    pub cleared: u32,
    /// How many are left.
    pub left: u32,
}

impl<D: Nor, W: Widths> Cells<D, W> {
    pub fn stop_marks(&mut self, head: Cell) -> Outcome<StopMarks, D> {
        let bytes = self.layout.bitmap_bytes();
        let mut bitmap = [0xFF; 8];
        self.medium.read(self.layout.field(head, self.layout.bitmap_offset), &mut bitmap[..bytes])?;
        let cleared = u64::from_le_bytes(bitmap).trailing_zeros().min(8 * bytes as u32);
        Ok(StopMarks { cleared, left: 8 * bytes as u32 - cleared })
    }

    pub fn clear_stop_mark(&mut self, head: Cell, mark: u32) -> Outcome<(), D> {
        self.clear_slot(head, mark as u8)
    }
}
