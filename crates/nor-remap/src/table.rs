//! Delta records: a table by open addressing in every unit, keyed by the group of words that a record replaces.
//!
//! A group's *path* visits every place once, from a start and by a step that derive from the group. Its records are on
//! the path in the order in which they were made, so that the last whole one says what the group holds. A change:
//! 1. if the base cell is erased, program it;
//! 2. else find the group's last record, and after it the first erased place on the path; program a record there.
//!
//! Because a record takes the *first* erased place after the group's last one, the first erased place on the path has
//! all of the group's records before it: that is where a search ends. A few bytes of RAM remember where searches for
//! some groups ended, and the next one starts there.
//!
//! Invariants: a place on which a cut left something is occupied and says nothing; a bounded part of the places is
//! used, so that walks are short; what RAM remembers of a home is forgotten when the home is erased.

use core::ops::Range;

use norn_flash::{Address, EraseUnit, Nor};

use crate::format::{GROUP_BYTES_MAX, RECORD_BYTES_MAX, RECORD_HEAD_BYTES, decode_record, encode_record};
use crate::homes::RemapRows;
use crate::layout::CELL_BYTES_MAX;
use crate::remap::RemapIn;

/// The places that a group's records may take, in order.
#[derive(Clone, Copy)]
struct Path {
    start: u32,
    step: u32,
    places: u32,
}

impl Path {
    fn of(group: u16, places: u32) -> Path {
        let hash = u32::from(group).wrapping_mul(0x9E37_79B1);
        Path { start: (hash >> 8) % places, step: 1 + (hash ^ hash >> 15) % (places - 1), places }
    }

    fn place(&self, index: u32) -> u32 {
        ((u64::from(self.start) + u64::from(index) * u64::from(self.step)) % u64::from(self.places)) as u32
    }
}

/// What is at a place, for someone who looks for one group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Erased,
    /// Another group's record, or a torn one.
    Other,
    /// A record of the group.
    Found([u8; GROUP_BYTES_MAX]),
}

/// The last record of a group.
struct Last {
    /// Its index on the path.
    index: u32,
    content: [u8; GROUP_BYTES_MAX],
}

impl<D: Nor, M: RemapRows> RemapIn<D, M> {
    /// Reads the cell at `offset` of a home's base, as its records say; `wanted` is the part of it that matters.
    /// Returns whether the base cell is erased.
    pub(crate) fn read_cell(
        &mut self,
        home: EraseUnit,
        offset: u32,
        wanted: Range<usize>,
        cell: &mut [u8; CELL_BYTES_MAX],
    ) -> Result<bool, D::Error> {
        let cell = &mut cell[..self.layout.cell_bytes as usize];
        self.guard.device_mut().read(self.layout.base(home, offset), cell)?;
        if is_erased(cell) {
            return Ok(true);
        }
        let bytes = self.layout.group_bytes as usize;
        for first in (wanted.start / bytes * bytes..wanted.end).step_by(bytes) {
            let group = ((offset as usize + first) / bytes) as u16;
            if let Some(last) = self.last_record(home, group)? {
                cell[first..first + bytes].copy_from_slice(&last.content[..bytes]);
            }
        }
        Ok(false)
    }

    /// Programs cells of a virtual unit; `false` when a record finds no place.
    pub(crate) fn program_cells(&mut self, unit: EraseUnit, offset: u32, bytes: &[u8]) -> Result<bool, D::Error> {
        let home = self.homes.home(unit);
        let cell_bytes = self.layout.cell_bytes as usize;
        // Cells that were erased and lie together are programmed by one call.
        let mut run = 0..0;
        for (number, new) in bytes.chunks(cell_bytes).enumerate() {
            let at = number * cell_bytes;
            let mut cell = [0; CELL_BYTES_MAX];
            let erased = self.read_cell(home, offset + at as u32, 0..new.len(), &mut cell)?;
            if erased && !is_erased(new) {
                run = if run.end == at { run.start..at + new.len() } else { at..at + new.len() };
                if at + new.len() < bytes.len() {
                    continue;
                }
            }
            if !run.is_empty() {
                self.guard
                    .device_mut()
                    .program(self.layout.base(home, offset + run.start as u32), &bytes[run.clone()])?;
                run = 0..0;
            }
            if !erased && !self.change_cell(unit, offset + at as u32, &cell, new)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds a record for each group of a programmed cell that `new` changes; `false` when one finds no place.
    fn change_cell(
        &mut self,
        unit: EraseUnit,
        offset: u32,
        cell: &[u8; CELL_BYTES_MAX],
        new: &[u8],
    ) -> Result<bool, D::Error> {
        let home = self.homes.home(unit);
        let group_bytes = self.layout.group_bytes as usize;
        for (number, new) in new.chunks(group_bytes).enumerate() {
            let old = &cell[number * group_bytes..][..new.len()];
            if old.iter().zip(new).all(|(old, new)| old & !new == 0) {
                continue;
            }
            let mut content = [0xFF; GROUP_BYTES_MAX];
            content.iter_mut().zip(old.iter().zip(new)).for_each(|(byte, (old, new))| *byte = old & new);
            let records = self.homes.records(unit);
            if u32::from(records) >= self.layout.places_max() {
                return Ok(false);
            }
            // Also a record that fails may occupy its place.
            self.homes.set_records(unit, records + 1);
            let group = (offset / self.layout.group_bytes) as u16 + number as u16;
            self.add_record(home, group, &content[..group_bytes])?;
        }
        Ok(true)
    }

    fn add_record(&mut self, home: EraseUnit, group: u16, content: &[u8]) -> Result<(), D::Error> {
        let path = Path::of(group, self.layout.places);
        let mut index = self.last_record(home, group)?.map_or(0, |last| last.index + 1);
        // There is an erased place: fewer than all are in use, and the path visits each.
        while index < path.places && self.look(home, path, index, group)? != Place::Erased {
            index += 1;
        }
        let mut record = [0; RECORD_BYTES_MAX];
        let record = &mut record[..self.layout.record_bytes as usize];
        encode_record(group, content, record);
        let address = self.layout.record(home, path.place(index % path.places));
        self.guard.device_mut().program(address, record)
    }

    /// The last whole record of a group. Cost: 1 record read if there is none nor another group's in its way.
    fn last_record(&mut self, home: EraseUnit, group: u16) -> Result<Option<Last>, D::Error> {
        let path = Path::of(group, self.layout.places);
        let start = self.hints.start(home, group);
        let (mut found, mut index) = (None, start);
        while index < path.places {
            match self.look(home, path, index, group)? {
                Place::Erased => break,
                Place::Found(content) => found = Some(Last { index, content }),
                Place::Other => {}
            }
            index += 1;
        }
        self.hints.put(home, group, found.as_ref().map_or(index, |last| last.index));
        Ok(found)
    }

    fn look(&mut self, home: EraseUnit, path: Path, index: u32, group: u16) -> Result<Place, D::Error> {
        let mut record = [0; RECORD_BYTES_MAX];
        let record = &mut record[..self.layout.record_bytes as usize];
        self.guard.device_mut().read(self.layout.record(home, path.place(index)), record)?;
        if is_erased(record) {
            return Ok(Place::Erased);
        }
        let bytes = self.layout.group_bytes as usize;
        let is_ours = record[..2] == group.to_le_bytes() && decode_record(record, bytes).is_some();
        if !is_ours {
            return Ok(Place::Other);
        }
        let mut content = [0xFF; GROUP_BYTES_MAX];
        content[..bytes].copy_from_slice(&record[RECORD_HEAD_BYTES..RECORD_HEAD_BYTES + bytes]);
        Ok(Place::Found(content))
    }

    /// Whether a whole record changes a cell that is erased, or none. Cost: reads the table, and a cell for each
    /// record.
    pub(crate) fn has_stray_record(&mut self, home: EraseUnit) -> Result<bool, D::Error> {
        for place in 0..self.layout.places {
            let mut record = [0; RECORD_BYTES_MAX];
            let record = &mut record[..self.layout.record_bytes as usize];
            self.guard.device_mut().read(self.layout.record(home, place), record)?;
            let Some(group) = decode_record(record, self.layout.group_bytes as usize) else {
                continue;
            };
            let offset = u32::from(group) * self.layout.group_bytes / self.layout.cell_bytes * self.layout.cell_bytes;
            if offset >= self.layout.base_bytes {
                return Ok(true);
            }
            let mut cell = [0; CELL_BYTES_MAX];
            let cell = &mut cell[..self.layout.cell_bytes as usize];
            self.guard.device_mut().read(self.layout.base(home, offset), cell)?;
            if is_erased(cell) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Places of a unit's table that are in use. Cost: reads the table.
    pub(crate) fn count_records(&mut self, home: EraseUnit) -> Result<u16, D::Error> {
        let mut count = 0;
        for place in 0..self.layout.places {
            let address: Address = self.layout.record(home, place);
            let mut record = [0; RECORD_BYTES_MAX];
            let record = &mut record[..self.layout.record_bytes as usize];
            self.guard.device_mut().read(address, record)?;
            count += u16::from(!is_erased(record));
        }
        Ok(count)
    }
}

pub(crate) fn is_erased(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0xFF)
}
