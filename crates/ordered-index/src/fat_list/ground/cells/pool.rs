//! Pointer pools: where an object leads on each of its levels.
//!
//! A pool takes a new entry each time a pointer is set; the last entry of a level counts. Erased entries are spare
//! pointers. The head's entries of the lowest level also say how many keys there are.

use norn_flash::{Address, Nor};

use super::Cells;
use crate::error::Outcome;
use crate::fat_list::format::{Column, Kind, encode_key_count};
use crate::fat_list::layout::Cell;
use crate::fat_list::widths::{Widths, without};

impl<D: Nor, W: Widths> Cells<D, W> {
    /// Whether the levels of an object share their entries. Those of the head never do.
    const HAS_POOL: bool = W::WITHOUT & without::POOL == 0;

    /// Whether the levels of an object of this kind share their entries.
    pub fn is_pooled(&self, kind: Kind) -> bool {
        Self::HAS_POOL && kind != Kind::Head
    }

    /// Where the entries for `level` begin, and how many there are.
    pub(super) fn pool(&self, cell: Cell, kind: Kind, level: u8) -> (Address, u16) {
        let pool = self.layout.field(cell, self.layout.pool_offset);
        match kind {
            Kind::Head => {
                let entries = self.layout.head_section();
                (pool.offset(u32::from(level) * u32::from(entries) * 4), entries)
            }
            _ if Self::HAS_POOL => (pool, u16::from(self.layout.settings.pool)),
            _ => {
                let entries = u16::from(self.layout.settings.pool / self.layout.settings.levels);
                (pool.offset(u32::from(level) * u32::from(entries) * 4), entries)
            }
        }
    }

    /// The entries of a pool that have been written.
    fn pool_used(&mut self, (start, entries): (Address, u16)) -> Outcome<u16, D> {
        let (mut used, mut erased) = (0, entries);
        while used < erased {
            let middle = used + (erased - used) / 2;
            match self.medium.read_u32(start.offset(4 * u32::from(middle)))? {
                u32::MAX => erased = middle,
                _ => used = middle + 1,
            }
        }
        Ok(used)
    }

    /// Where the pointer of `level` leads: the last entry of the level that is whole.
    pub fn pointer(&mut self, cell: Cell, kind: Kind, level: u8) -> Outcome<Column, D> {
        let pool = self.pool(cell, kind, level);
        for entry in (0..self.pool_used(pool)?).rev() {
            match Column::decode(self.medium.read_u32(pool.0.offset(4 * u32::from(entry)))?) {
                Some((found, column)) if found == level && self.layout.has_column(column) => return Ok(column),
                Some((found, _)) if found == level => {
                    return Err(self.damage(cell, self.layout.pool_offset, "a pointer out of the part"));
                }
                _ => {}
            }
        }
        Err(self.damage(cell, self.layout.pool_offset, "no pointer of a level that the object hooks on"))
    }

    /// Further pointers that the pool takes at `level`.
    pub fn pool_room(&mut self, cell: Cell, kind: Kind, level: u8) -> Outcome<u16, D> {
        let pool = self.pool(cell, kind, level);
        Ok(pool.1 - self.pool_used(pool)?)
    }

    /// The head's last entry on the lowest level.
    pub fn last_head_entry(&mut self, head: Cell) -> Outcome<u32, D> {
        let pool = self.pool(head, Kind::Head, 0);
        match self.pool_used(pool)?.checked_sub(1) {
            Some(last) => self.medium.read_u32(pool.0.offset(4 * u32::from(last))),
            None => Ok(u32::MAX),
        }
    }

    /// Says in the head how many keys there are; whether its pool has room for that and for a pointer after it.
    pub fn write_key_count(&mut self, head: Cell, keys: Option<u32>) -> Outcome<bool, D> {
        let pool = self.pool(head, Kind::Head, 0);
        let used = self.pool_used(pool)?;
        if used + 2 > pool.1 {
            return Ok(false);
        }
        let place = pool.0.offset(4 * u32::from(used));
        self.medium.program(place, &encode_key_count(keys).to_le_bytes()).map(|()| true)
    }

    /// Makes the pointer of `level` lead to `column`. A torn entry that was to say the same is completed.
    pub fn set_pointer(&mut self, cell: Cell, kind: Kind, level: u8, column: Column) -> Outcome<(), D> {
        let pool = self.pool(cell, kind, level);
        let (used, entry) = (self.pool_used(pool)?, column.encode(level));
        let mut place = used;
        if let Some(last) = used.checked_sub(1) {
            let word = self.medium.read_u32(pool.0.offset(4 * u32::from(last)))?;
            if Column::decode(word).is_none() && word & entry == entry {
                place = last;
            }
        }
        if place == pool.1 {
            return Err(self.damage(cell, self.layout.pool_offset, "a pointer pool without room"));
        }
        self.medium.program(pool.0.offset(4 * u32::from(place)), &entry.to_le_bytes())
    }
}
