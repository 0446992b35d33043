//! Drafts: cells that are being written and do not count yet.

use norn_flash::Nor;

use super::slots::Next;
use super::{Cells, Links, RECORD_BYTES_MAX};
use crate::error::Outcome;
use crate::fat_list::format::{Column, Flag, Kind, Stamp};
use crate::fat_list::layout::{Cell, alignment};
use crate::fat_list::widths::Widths;

/// A cell that is being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft<W: Widths> {
    pub cell: Cell,
    pub level: u8,
    pub kind: Kind,
    pointers: u16,
    pub next: Next<W>,
}

impl<D: Nor, W: Widths> Cells<D, W> {
    /// Begins to write a cell. A `settled` one is not looked at by recovery once it is sealed.
    pub fn draft(&mut self, cell: Cell, stamp: Stamp, low: Option<&W::Key>, links: Links) -> Outcome<Draft<W>, D> {
        let Stamp { level, kind, .. } = stamp;
        let mut record = [0xFF; RECORD_BYTES_MAX];
        let word = stamp.encode();
        record[..2].copy_from_slice(&word.to_le_bytes());
        let align = alignment(self.medium.part());
        self.medium.program(self.layout.cell(cell), &record[..align])?;

        let mut no_low = self.widths.zero_key();
        no_low.as_mut().fill(0xFF);
        let low = low.unwrap_or(&no_low).as_ref();
        let header_at = usize::from(self.layout.header_offset) - align;
        let end = usize::from(self.layout.bitmap_offset) - align;
        let mut record = [0xFF; RECORD_BYTES_MAX + 12];
        record[..low.len()].copy_from_slice(low);
        for (at, link) in [(2, links.replaces), (6, links.partner)] {
            let word = link.map_or(u32::MAX, Cell::to_u32);
            record[header_at + at..header_at + at + 4].copy_from_slice(&word.to_le_bytes());
        }
        let links_bytes = record[header_at + 2..header_at + 10].try_into().expect("eight bytes");
        let code = Self::header_code(low, level, kind, &links_bytes);
        record[header_at..header_at + 2].copy_from_slice(&code.to_le_bytes());
        self.medium.program(self.low_address(cell), &record[..end])?;
        Ok(Draft { cell, level, kind, pointers: 0, next: Next::first() })
    }

    /// Writes the pointer of `level` into a draft.
    pub fn draft_pointer(&mut self, draft: &mut Draft<W>, level: u8, column: Column) -> Outcome<(), D> {
        let pool = self.pool(draft.cell, draft.kind, level);
        let place = if self.is_pooled(draft.kind) { draft.pointers } else { 0 };
        draft.pointers += 1;
        self.medium.program(pool.0.offset(4 * u32::from(place)), &column.encode(level).to_le_bytes())
    }

    /// Copies those slots of `from` that count and whose key `wanted` takes.
    pub fn draft_slots(
        &mut self,
        draft: &mut Draft<W>,
        from: Cell,
        wanted: impl Fn(&W::Key) -> bool,
    ) -> Outcome<(), D> {
        let survey = self.survey(from)?;
        for slot in survey.slots() {
            let (key, value) = self.entry(from, slot)?;
            if wanted(&key) {
                if !W::VARIES && draft.next.written() == self.layout.settings.slots {
                    return Err(self.damage(from, self.layout.slots_offset(), "more keys than slots"));
                }
                self.write_slot(draft.cell, &mut draft.next, &key, &value)?;
            }
        }
        Ok(())
    }

    pub fn seal(&mut self, draft: Draft<W>) -> Outcome<(), D> {
        self.set_flag(draft.cell, Flag::Sealed)
    }
}
