//! How many keys there are: counted once, then kept in RAM, and left in the head by a stop.
//!
//! A stop says in the head how many keys there are, before it says that the list is stopped. So the count is that of
//! the list as long as the list is stopped. A cut leaves a list that is not, whose keys recovery counts.
//!
//! Invariant: the count is unknown, or that of the keys that are on flash. After a call that failed midway it may be
//! neither, but nothing is answered then until the next mount.

use norn_flash::Nor;

use crate::error::Outcome;
use crate::fat_list::format::{CellState, Column, Kind, decode_key_count};
use crate::fat_list::layout::Cell;
use crate::fat_list::list::FatListOf;
use crate::fat_list::search::{Session, SkipList};
use crate::fat_list::widths::Widths;

/// Pointers of a level that the head has to have room for at least, or a stop leaves no count.
const HEAD_ENTRIES_MIN: u16 = 4;
/// Objects whose keys are counted for an estimate.
pub(crate) const SAMPLES: u32 = 16;

impl<D: Nor, W: Widths> SkipList<D, W> {
    /// The number of keys, if it is in RAM or in the head.
    pub fn known_keys(&mut self) -> Outcome<Option<u32>, D> {
        self.cells().expect_running()?;
        if self.keys.is_none() && self.session() == Session::Stopped {
            let head = self.head();
            self.keys = decode_key_count(self.cells().last_head_entry(head)?).flatten();
        }
        Ok(self.keys)
    }

    /// After a key was added.
    pub fn count_added(&mut self) {
        self.keys = self.keys.map(|keys| keys.saturating_add(1));
    }

    /// After `count` keys were taken away.
    pub fn count_removed(&mut self, count: u32) {
        self.keys = self.keys.map(|keys| keys.saturating_sub(count));
    }

    /// Says in the head how many keys there are; if that is unknown, that it is, except after a whole pointer. (A torn
    /// entry may be the count of an earlier stop, and be whole at the next boot.) Whether the head has room for it.
    pub fn leave_key_count(&mut self) -> Outcome<bool, D> {
        let (head, keys) = (self.head(), self.keys);
        if self.layout().head_section() < HEAD_ENTRIES_MIN {
            return Ok(true);
        }
        let last = self.cells().last_head_entry(head)?;
        let is_pointer = Column::decode(last).is_some();
        if decode_key_count(last) == Some(keys) || keys.is_none() && is_pointer {
            return Ok(true);
        }
        self.cells().write_key_count(head, keys)
    }
}

impl<D: Nor, W: Widths> FatListOf<D, W> {
    /// Counts the keys, or says what the list knows.
    pub(crate) fn count_keys(&mut self) -> Outcome<u32, D> {
        if let Some(keys) = self.skip_list().known_keys()? {
            return Ok(keys);
        }
        let keys = self.count_each_key()?;
        self.skip_list().keys = Some(keys);
        Ok(keys)
    }

    /// Counts the keys on flash.
    pub(crate) fn count_each_key(&mut self) -> Outcome<u32, D> {
        let (mut keys, mut node) = (0, self.skip_list().head_node());
        while let Some(next) = self.skip_list().successor(&node, 0)? {
            keys += self.skip_list().cells().survey(next.cell)?.valid.count_ones();
            node = next;
        }
        Ok(keys)
    }

    /// About how many keys there are: exactly, if the list knows, else from the number of its objects and the keys of
    /// some of them.
    ///
    /// Cost: nothing; or five words; or a word for each cell, and the bitmaps and some slots of 16 objects.
    ///
    /// # Errors
    /// `Corrupted` and the device's.
    pub fn len_estimate(&mut self) -> Outcome<u32, D> {
        if let Some(keys) = self.skip_list().known_keys()? {
            return Ok(keys);
        }
        let (units, cells) = (self.layout().units(), self.layout().cells_per_block);
        let period = (u32::from(self.layout().unit_count) * u32::from(cells)).div_ceil(SAMPLES);
        let (mut objects, mut sampled, mut keys, mut passed) = (0_u64, 0_u64, 0_u64, period);
        for unit in units {
            if self.turnstiles().blocks.is_spare(unit)? {
                continue;
            }
            for cell in (0..cells).map(|index| Cell { unit, index }) {
                passed += 1;
                let is_object = match self.skip_list().cells().state(cell)? {
                    CellState::Live(stamp) => stamp.kind != Kind::Head,
                    _ => false,
                };
                if is_object && passed > period {
                    keys += u64::from(self.skip_list().cells().survey(cell)?.valid.count_ones());
                    (sampled, passed) = (sampled + 1, 0);
                }
                objects += u64::from(is_object);
            }
        }
        Ok((objects * keys / sampled.max(1)) as u32)
    }
}
