//! Delta records: new values of single fields, in the order in which they were set, instead of a record with a slot for
//! every field.
//!
//! A list of records that changes sparsely grows by a delta record: a link, then the deltas of the
//! [store](norn_nor_store::Delta). The last delta of a field holds its value; where there is none, the first record or
//! the field's default does. So an update is one program, any mix of fields fills the record, and a transaction changes
//! an object without a new representation: its deltas are open until it ends.
//!
//! Where as many different fields are set as a delta record has room for, or a row of fields, the object is *dense*: a
//! record with slots takes less room for the same values. Its next representation says so, and its list grows by such
//! records until few of their fields turn out to be used. Sections of split arrays are dense always.
//!
//! Invariants: after a list's first record are records with slots or delta records, not both; the first record of a
//! list with delta records has all its valid flags erased; deltas of read-optimized lists, or with error detection, do
//! not exist.

use norn_flash::{Auditor, Marks, Nor};
use norn_nor_store::{
    Counting, DELTAS_OFFSET, Delta, Features, Link, Sector, SectorKind, SectorPtr, SectorSpec, StoreError, UnitRows,
};

use crate::form::{Field, Object};
use crate::format::{Density, Form, VALID_FLAGS_OFFSET, data_offset};
use crate::list::stretch::Stretch;
use crate::list::{Lists, ValueLocation};

/// Deltas of a record at most: a read looks at each.
const DELTAS_MAX: u32 = 20;
/// The same if this number of sixteenths of the part is free. Under one, lists do not grow: on a full part the room
/// that they take costs more than it saves.
const DELTAS_MAX_BY_ROOM: [u32; 4] = [0, 4, 8, DELTAS_MAX];
/// This number of fields in sequence is taken for the beginning of a longer row.
const ROW_MIN: u32 = 4;
/// Bytes of a delta record at least: small objects are not to be rewritten at every other update.
const RECORD_BYTES_MIN: u32 = DELTAS_OFFSET + 4 * 4;

/// A place among the deltas of a list: where the next one is, or would be.
#[derive(Clone, Copy)]
pub(crate) struct Deltas {
    record: SectorPtr,
    sector: Sector,
    /// Number of the record in its list, from 1: the first is no delta record.
    position: usize,
    at: u32,
}

/// A bit for each field of an object.
pub(crate) type FieldSet = [u8; 32];

impl Deltas {
    /// The delta record that the place is in.
    pub fn sector(&self) -> Option<Sector> {
        (self.position > 1).then_some(self.sector)
    }
}

impl<D: Nor, M: UnitRows, F: Features> Lists<D, M, F> {
    /// The place before a list's first delta. Cost: 3 reads where there are deltas, else 2 or none.
    pub(crate) fn deltas(&mut self, list: &Object) -> Result<Deltas, StoreError<D::Error>> {
        let (record, sector) = (list.first, self.record(list.first)?);
        let mut deltas = Deltas { record, sector, position: 1, at: sector.bytes };
        if self.has_deltas()
            && let Link::To(next) = self.sectors().link(&sector)?
        {
            let sector = self.sectors().get(next)?;
            if sector.kind == SectorKind::Opaque {
                deltas = Deltas { record: next, sector, position: 2, at: DELTAS_OFFSET };
            }
        }
        Ok(deltas)
    }

    /// The next delta that counts; after the last one, the place where another could be added.
    pub(crate) fn next_delta(&mut self, deltas: &mut Deltas) -> Result<Option<Delta>, StoreError<D::Error>> {
        while deltas.position > 1 {
            if let Some(delta) = self.store_mut().versions().delta(&deltas.sector, deltas.at)? {
                deltas.at = delta.end();
                if delta.stands() {
                    return Ok(Some(delta));
                }
                continue;
            }
            let Some(next) = self.next_record(&deltas.sector, deltas.position)? else {
                break;
            };
            let sector = self.sectors().get(next)?;
            if sector.kind != SectorKind::Opaque {
                return self.sectors().corrupted(sector.address, "a delta record that leads to another kind of record");
            }
            *deltas = Deltas { record: next, sector, position: deltas.position + 1, at: DELTAS_OFFSET };
        }
        Ok(None)
    }

    /// The delta that holds a field's value, if one does. Cost: as [`deltas`](Self::deltas), and 1 read a delta.
    pub(crate) fn find_delta(
        &mut self,
        list: &Object,
        index: usize,
    ) -> Result<Option<ValueLocation>, StoreError<D::Error>> {
        let (mut deltas, mut found) = (self.deltas(list)?, None);
        while let Some(delta) = self.next_delta(&mut deltas)? {
            if delta.index() == index {
                found = Some(ValueLocation { sector: deltas.sector, at: delta.value_at(), half: None });
            }
        }
        Ok(found)
    }

    /// Whether an update of a field outside transactions is to be a delta.
    pub(crate) fn prefers_delta(&mut self, list: &Object, field: &Field) -> Result<bool, StoreError<D::Error>> {
        if !self.has_deltas() {
            return Ok(false);
        }
        let first = self.record(list.first)?;
        match self.sectors().link(&first)? {
            Link::To(next) => Ok(self.sectors().get(next)?.kind == SectorKind::Opaque),
            Link::Erased => Ok(!list.shape.form.is_dense()
                && self.descriptors.list_limit(list) > 1
                && !self.descriptors.is_default(list, field.index)?),
            Link::Void => Ok(false),
        }
    }

    /// Adds a delta to a list, in a new delta record if need be; `false` where there is no room.
    pub(crate) fn put_delta(
        &mut self,
        list: &Object,
        field: &Field,
        value: &[u8],
        counting: Counting,
    ) -> Result<bool, StoreError<D::Error>> {
        if !self.has_deltas() {
            return Ok(false);
        }
        let mut end = self.deltas(list)?;
        while self.next_delta(&mut end)?.is_some() {}
        let bytes = Delta::bytes(field.width);
        let fits = end.at + bytes <= end.sector.bytes && self.checked().is_erased(&end.sector, end.at, bytes)?;
        if !fits {
            let Some(record) = self.add_delta_record(list, &end, bytes)? else {
                return Ok(false);
            };
            (end.record, end.at) = (record, DELTAS_OFFSET);
        }
        self.store_mut().versions().add_delta(end.record, end.at, (field.index as u8, value), counting)?;
        Ok(true)
    }

    /// Adds a delta record after the last record of a list, if the list may grow and a delta of this length fits.
    fn add_delta_record(
        &mut self,
        list: &Object,
        end: &Deltas,
        delta_bytes: u32,
    ) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        let most = DELTAS_MAX_BY_ROOM[self.store().room_sixteenths(3) as usize];
        let bytes = self.delta_record_bytes(list, most)?;
        let may_grow =
            end.position < self.descriptors.list_limit(list) && most > 0 && DELTAS_OFFSET + delta_bytes <= bytes;
        if !may_grow || self.sectors().link(&end.sector)? != Link::Erased {
            return Ok(None);
        }
        self.extend_list(list, end.record, SectorSpec { bytes, kind: SectorKind::Opaque })
    }

    /// As many as the first record has, within bounds.
    fn delta_record_bytes(&mut self, list: &Object, most: u32) -> Result<u32, StoreError<D::Error>> {
        let record = data_offset(list.shape.count, self.detection()) + self.descriptors.data_bytes(list)?;
        let delta = Delta::bytes(u32::from(list.shape.width().unwrap_or(1)));
        Ok(record.clamp(RECORD_BYTES_MIN, (DELTAS_OFFSET + most * delta).max(RECORD_BYTES_MIN)))
    }

    /// Puts values from deltas into a stretch, except bytes that are known.
    pub(crate) fn take_deltas(&mut self, list: &Object, stretch: &mut Stretch) -> Result<(), StoreError<D::Error>> {
        let (mut deltas, known) = (self.deltas(list)?, stretch.known);
        while let Some(delta) = self.next_delta(&mut deltas)? {
            let Some(first) =
                stretch.owners[..stretch.len].iter().position(|&owner| usize::from(owner) == delta.index())
            else {
                continue;
            };
            let field = self.descriptors.field(list, delta.index())?;
            let from = stretch.start + first as u32;
            let to = (field.offset + field.width).min(stretch.start + stretch.len as u32);
            if known >> first & 1 == 0 && field.offset <= from && from < to {
                let into = first..first + (to - from) as usize;
                into.clone().for_each(|at| stretch.known |= 1 << at);
                self.sectors().read(
                    &deltas.sector,
                    delta.value_at() + from - field.offset,
                    &mut stretch.bytes[into],
                )?;
            }
        }
        Ok(())
    }

    /// Which fields have a delta, a bit each.
    pub(crate) fn fields_with_deltas(&mut self, list: &Object) -> Result<FieldSet, StoreError<D::Error>> {
        let (mut deltas, mut set) = (self.deltas(list)?, FieldSet::default());
        while let Some(delta) = self.next_delta(&mut deltas)? {
            set[delta.index() / 8] |= 1 << (delta.index() % 8);
        }
        Ok(set)
    }

    /// The form of a list's next representation: dense where as many fields were updated since the last as a delta
    /// record has room for at most, or all fields of a row.
    pub(crate) fn next_form(&mut self, list: &Object, mut updated: FieldSet) -> Result<Form, StoreError<D::Error>> {
        let (first, form) = (self.record(list.first)?, list.shape.form);
        if updated == FieldSet::default() {
            let mut flags = [0xFF; size_of::<FieldSet>()];
            // Bits after the last flag are erased.
            self.sectors().read(&first, VALID_FLAGS_OFFSET, &mut flags[..usize::from(list.shape.count).div_ceil(8)])?;
            updated = flags.map(|byte| !byte);
        }
        let is_set = |index: u32| updated[index as usize / 8] >> (index % 8) & 1 == 1;
        let count = u32::from(list.shape.count);
        let (mut set, mut rows) = (0, 0);
        for index in (0..count).filter(|&index| is_set(index)) {
            set += 1;
            rows += u32::from(index == 0 || !is_set(index - 1));
        }
        let delta = Delta::bytes(u32::from(list.shape.width().unwrap_or(1)));
        let room = (self.delta_record_bytes(list, DELTAS_MAX)? - DELTAS_OFFSET) / delta;
        Ok(match set {
            0 => form,
            _ if set >= room || set >= ROW_MIN && rows == 1 => form.of_density(Density::Dense),
            _ => form.of_density(Density::Sparse),
        })
    }

    /// Checks the deltas of a delta record that was found in a list.
    pub(crate) fn audit_deltas(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        list: &Object,
        pointer: SectorPtr,
    ) -> Result<(), StoreError<D::Error>> {
        let (sector, mut at) = (self.sectors().get(pointer)?, DELTAS_OFFSET);
        while let Some(delta) = self.store_mut().versions().delta(&sector, at)? {
            if delta.index() >= usize::from(list.shape.count) {
                self.sectors().report(auditor, pointer, "a delta of a field that is not there");
            } else if delta.end() - at != Delta::bytes(self.descriptors.field(list, delta.index())?.width) {
                self.sectors().report(auditor, pointer, "a delta of another width than its field");
            }
            if delta.is_open() {
                self.sectors().report(auditor, pointer, "an open delta outside a transaction");
            }
            at = delta.end();
        }
        Ok(())
    }
}
