//! The cell of a batch: a slot for each change, and a cleared bit for each that takes a key away.

use norn_flash::Nor;

use super::{Cells, Links};
use crate::error::Outcome;
use crate::fat_list::batch::{Change, ChangeOf};
use crate::fat_list::format::{BATCH_LEVEL, CellState, Column, Flag, Kind, Stamp};
use crate::fat_list::ground::cells::draft::Draft;
use crate::fat_list::layout::Cell;
use crate::fat_list::widths::Widths;

/// The stamp of a batch. Nothing leads to it, so that it is settled from the start.
const BATCH: Stamp = Stamp { level: BATCH_LEVEL, kind: Kind::Object, settled: true, doomed: false };

impl<D: Nor, W: Widths> Cells<D, W> {
    /// Writes a batch into a free cell, and seals it.
    pub fn write_batch(&mut self, cell: Cell, changes: impl Iterator<Item = ChangeOf<W>>) -> Outcome<(), D> {
        let mut draft = self.draft_batch(cell)?;
        for change in changes {
            self.write_change(&mut draft, &change)?;
        }
        self.seal(draft)
    }

    /// Writes the batch in `from` into `to`, too.
    pub fn copy_batch(&mut self, from: Cell, to: Cell) -> Outcome<(), D> {
        let mut draft = self.draft_batch(to)?;
        for slot in 0..self.survey(from)?.written {
            let change = self.change(from, slot)?;
            self.write_change(&mut draft, &change)?;
        }
        self.seal(draft)
    }

    fn draft_batch(&mut self, cell: Cell) -> Outcome<Draft<W>, D> {
        self.draft(cell, BATCH, None, Links::default())
    }

    fn write_change(&mut self, draft: &mut Draft<W>, change: &ChangeOf<W>) -> Outcome<(), D> {
        let slot = draft.next.written();
        match change {
            Change::Put(key, value) => self.write_slot(draft.cell, &mut draft.next, key, value),
            Change::Remove(key) => {
                let no_value = self.widths().zero_value();
                self.write_slot(draft.cell, &mut draft.next, key, &no_value)?;
                self.clear_slot(draft.cell, slot)
            }
        }
    }

    /// One change of the batch in `cell`.
    pub fn change(&mut self, cell: Cell, slot: u8) -> Outcome<ChangeOf<W>, D> {
        let is_put = self.survey(cell)?.valid >> slot & 1 == 1;
        let (key, value) = self.entry(cell, slot)?;
        Ok(if is_put { Change::Put(key, value) } else { Change::Remove(key) })
    }

    /// The batch in `column`, whose header is verified.
    pub fn batch_in(&mut self, column: Column) -> Outcome<Cell, D> {
        for unit in self.layout().units_of(column.turnstile) {
            let cell = Cell { unit, index: column.index };
            if self.state(cell)? == CellState::Batch {
                return self.links_of(cell, BATCH.level, BATCH.kind).map(|_| cell);
            }
        }
        let first = self.layout().units_of(column.turnstile).next().unwrap_or_default();
        Err(self.damage(Cell { unit: first, index: column.index }, 0, "a batch that is gone"))
    }

    /// Step 4.
    pub fn bury_batch(&mut self, cell: Cell) -> Outcome<(), D> {
        self.set_flag(cell, Flag::Dead)
    }
}
