//! Slots: values in records with a slot for each field, and the flags that make them count.
//!
//! A slot is programmed before the flag that makes it count: a power cut leaves each value old or new.

use core::ops::Range;

use norn_flash::Nor;
use norn_nor_store::{Features, Link, Sector, SectorKind, SectorPtr, SectorSpec, StoreError, UnitRows};

use crate::check::ValueCheck;
use crate::form::{Field, Object};
use crate::format::{CHUNK_BYTES, VALID_FLAGS_OFFSET, codes_offset, data_offset, flag_place};
use crate::list::Lists;
use crate::list::stretch::FLAGS_BYTES;

/// The flags of a row of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlagsState {
    Erased,
    Cleared,
    Mixed,
}

impl<D: Nor, M: UnitRows, F: Features> Lists<D, M, F> {
    /// Stores values in place, of `field` and the fields after it, `count` in all: in the first record if all have
    /// their default value, or after the record that holds all. `false` if they are not all in one state, or there is
    /// no room.
    pub(crate) fn store_in_place(
        &mut self,
        object: &Object,
        field: &Field,
        count: u32,
        values: &[u8],
    ) -> Result<bool, StoreError<D::Error>> {
        let fields = field.index as u32..field.index as u32 + count;
        let mut place = None;
        if object.shape.form.has_flags() {
            let (leaf, offset) = (self.sectors().get(object.leaf)?, object.flags_offset(self.detection()));
            match self.flags_state(&leaf, offset, &fields)? {
                FlagsState::Mixed => return Ok(false),
                FlagsState::Cleared => {}
                FlagsState::Erased => place = Some((object.leaf, offset, object.first)),
            }
        }
        if place.is_none() {
            let found = self.holder_and_next(object, &fields)?;
            place = found.map(|(holder, next)| (holder, VALID_FLAGS_OFFSET, next));
        }
        let Some((flagged, offset, record)) = place else {
            return Ok(false);
        };
        let record = self.record(record)?;
        if !self.slots_are_erased(object, &record, field, values.len() as u32)? {
            return Ok(false);
        }
        self.program_slots(object, &record, field, values)?;
        let flagged = self.sectors().get(flagged)?;
        self.clear_flags(&flagged, offset, &fields)?;
        Ok(true)
    }

    /// The record that holds all of these fields, and the one after it, added to the list if that may grow.
    fn holder_and_next(
        &mut self,
        object: &Object,
        fields: &Range<u32>,
    ) -> Result<Option<(SectorPtr, SectorPtr)>, StoreError<D::Error>> {
        let mut record = object.first;
        let limit = self.descriptors.list_limit(object);
        for position in 1..=limit {
            let sector = self.record(record)?;
            match (self.flags_state(&sector, VALID_FLAGS_OFFSET, fields)?, self.sectors().link(&sector)?) {
                (FlagsState::Cleared, Link::To(next)) => record = next,
                (FlagsState::Erased, Link::To(next)) if position < limit => return Ok(Some((record, next))),
                (FlagsState::Erased, Link::Erased) if position < limit => {
                    let bytes =
                        data_offset(object.shape.count, self.detection()) + self.descriptors.data_bytes(object)?;
                    let spec = SectorSpec { bytes, kind: SectorKind::Record };
                    return Ok(self.extend_list(object, record, spec)?.map(|next| (record, next)));
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    fn flags_state(
        &mut self,
        sector: &Sector,
        offset: u32,
        fields: &Range<u32>,
    ) -> Result<FlagsState, StoreError<D::Error>> {
        let detection = self.detection();
        let (first, mut bytes) = (flag_place(fields.start, detection).0, [0; FLAGS_BYTES]);
        let len = (flag_place(fields.end - 1, detection).0 - first + 1) as usize;
        self.sectors().read(sector, offset + first, &mut bytes[..len])?;
        let (mut all_erased, mut all_cleared) = (true, true);
        for index in fields.clone() {
            let (at, mask) = flag_place(index, detection);
            let bits = bytes[(at - first) as usize] & mask;
            (all_erased, all_cleared) = (all_erased && bits == mask, all_cleared && bits == 0);
        }
        Ok(match (all_erased, all_cleared) {
            (true, _) => FlagsState::Erased,
            (_, true) => FlagsState::Cleared,
            _ => FlagsState::Mixed,
        })
    }

    fn clear_flags(&mut self, sector: &Sector, offset: u32, fields: &Range<u32>) -> Result<(), StoreError<D::Error>> {
        let detection = self.detection();
        let (first, mut bytes) = (flag_place(fields.start, detection).0, [0; FLAGS_BYTES]);
        let len = (flag_place(fields.end - 1, detection).0 - first + 1) as usize;
        self.sectors().read(sector, offset + first, &mut bytes[..len])?;
        for index in fields.clone() {
            let (at, mask) = flag_place(index, detection);
            bytes[(at - first) as usize] &= !mask;
        }
        self.sectors().program(sector, offset + first, &bytes[..len])
    }

    /// Whether the slots from that of `field` on, of the given total length, can take values.
    fn slots_are_erased(
        &mut self,
        object: &Object,
        record: &Sector,
        field: &Field,
        bytes: u32,
    ) -> Result<bool, StoreError<D::Error>> {
        let codes_at = codes_offset(object.shape.count) + field.index as u32;
        let slot_at = self.descriptors.slot_offset(object, field);
        Ok(self.checked().is_erased(record, slot_at, bytes)?
            && (!self.detects() || self.checked().is_erased(record, codes_at, bytes / field.width)?))
    }

    /// Programs values of the width of `field` into its slot and the slots after it, at most 32 if they are several;
    /// and their codes.
    fn program_slots(
        &mut self,
        object: &Object,
        record: &Sector,
        field: &Field,
        values: &[u8],
    ) -> Result<(), StoreError<D::Error>> {
        let slot_at = self.descriptors.slot_offset(object, field);
        self.checked().program_value(record, slot_at, values)?;
        if !self.detects() {
            return Ok(());
        }
        let mut codes = [0; CHUNK_BYTES];
        let mut count = 0;
        for value in values.chunks(field.width as usize) {
            codes[count] = ValueCheck::of(value).at(field.index + count);
            count += 1;
        }
        self.checked().program_value(record, codes_offset(object.shape.count) + field.index as u32, &codes[..count])
    }

    /// Programs the codes of zeros for every field of a new record.
    pub(crate) fn program_zero_codes(
        &mut self,
        record: SectorPtr,
        count: u16,
        width: impl Fn(usize) -> u8,
    ) -> Result<(), StoreError<D::Error>> {
        if !self.detects() {
            return Ok(());
        }
        let sector = self.sectors().get(record)?;
        for start in (0..usize::from(count)).step_by(CHUNK_BYTES) {
            let mut codes = [0; CHUNK_BYTES];
            let codes = &mut codes[..CHUNK_BYTES.min(usize::from(count) - start)];
            for (index, code) in (start..).zip(codes.iter_mut()) {
                *code = ValueCheck::of_zeros(width(index)).at(index);
            }
            self.checked().program_value(&sector, codes_offset(count) + start as u32, codes)?;
        }
        Ok(())
    }

    /// Refuses a value in a record that does not agree with its code.
    pub(crate) fn expect_code(
        &mut self,
        object: &Object,
        record: &Sector,
        field: &Field,
        code: ValueCheck,
    ) -> Result<(), StoreError<D::Error>> {
        let mut found = [0];
        self.sectors().read(record, codes_offset(object.shape.count) + field.index as u32, &mut found)?;
        if found[0] != code.at(field.index) {
            let address = record.address.offset(self.descriptors.slot_offset(object, field));
            return self.sectors().corrupted(address, "a value that does not agree with its code");
        }
        Ok(())
    }

    /// Checks the value of a field. Cost: as reading it, where error detection is on.
    pub(crate) fn check_value(&mut self, object: &Object, index: usize) -> Result<(), StoreError<D::Error>> {
        if !self.detects() {
            return Ok(());
        }
        let field = self.descriptors.field(object, index)?;
        let Some(holder) = self.find_value(object, &field)? else {
            return Ok(());
        };
        let (at, mut code) = (holder.at, ValueCheck::default());
        for start in (0..field.width).step_by(CHUNK_BYTES) {
            let mut buffer = [0; CHUNK_BYTES];
            let chunk = &mut buffer[..CHUNK_BYTES.min((field.width - start) as usize)];
            self.sectors().read(&holder.sector, at + start, chunk)?;
            code = code.with(chunk);
        }
        self.expect_code(object, &holder.sector, &field, code)
    }
}
