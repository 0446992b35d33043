//! Lists of records: where the value of a field or element is.
//!
//! The first record of a list whose valid flag of a field is erased holds the field's value, unless the field's
//! initialization flag is erased: then it has its default value. A delta record after the first record comes before
//! both.

pub(crate) mod delta;
mod slots;
pub(crate) mod stretch;

use norn_flash::Nor;
use norn_nor_store::{
    ErrorDetection, Extension, Features, Link, Sector, SectorKind, SectorPtr, SectorSpec, Sectors, StoreError, StoreIn,
    UnitRows,
};

use crate::check::Checked;
use crate::config::Config;
use crate::descriptor::Descriptors;
use crate::form::{Field, Object};
use crate::format::{CHUNK_BYTES, VALID_FLAGS_OFFSET, flag_bytes, flag_place};

/// Where a value is.
pub(crate) struct ValueLocation {
    pub sector: Sector,
    /// Where the value starts in it.
    pub at: u32,
    /// A record before it whose flag is half cleared.
    pub half: Option<Sector>,
}

/// The lists of records of all objects and sections.
#[derive(Clone, Debug)]
pub(crate) struct Lists<D: Nor, M: UnitRows, F> {
    pub descriptors: Descriptors<D, M, F>,
}

impl<D: Nor, M: UnitRows, F: Features> Lists<D, M, F> {
    pub fn new(store: StoreIn<D, M, F>) -> Self {
        Lists { descriptors: Descriptors::new(store) }
    }

    fn checked(&mut self) -> &mut Checked<D, M, F> {
        &mut self.descriptors.checked
    }

    fn store(&self) -> &StoreIn<D, M, F> {
        &self.descriptors.checked.store
    }

    fn store_mut(&mut self) -> &mut StoreIn<D, M, F> {
        &mut self.descriptors.checked.store
    }

    fn sectors(&mut self) -> &mut Sectors<D, M, F> {
        self.store_mut().sectors()
    }

    fn config(&self) -> &Config {
        self.descriptors.config()
    }

    fn detection(&self) -> ErrorDetection {
        self.descriptors.detection()
    }

    fn detects(&self) -> bool {
        self.descriptors.detects()
    }

    fn has_deltas(&self) -> bool {
        self.descriptors.has_deltas()
    }

    pub(crate) fn record(&mut self, pointer: SectorPtr) -> Result<Sector, StoreError<D::Error>> {
        let sector = self.sectors().get(pointer)?;
        match sector.kind {
            SectorKind::Record => Ok(sector),
            _ => self.sectors().corrupted(sector.address, "a sector that is not a record"),
        }
    }

    /// The record after `sector`, which is number `position` of its list, from 1.
    pub(crate) fn next_record(
        &mut self,
        sector: &Sector,
        position: usize,
    ) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        match self.sectors().link(sector)? {
            Link::To(_) if position >= usize::from(self.config().list_length_max) => {
                self.sectors().corrupted(sector.address, "a list of more records than configured")
            }
            Link::To(next) => Ok(Some(next)),
            Link::Erased | Link::Void => Ok(None),
        }
    }

    pub(crate) fn count_records(&mut self, object: &Object) -> Result<usize, StoreError<D::Error>> {
        let (mut records, mut record) = (0, Some(object.first));
        while let Some(pointer) = record {
            records += 1;
            let sector = self.sectors().get(pointer)?;
            record = self.next_record(&sector, records)?;
        }
        Ok(records)
    }

    /// Where the value of a field is; `None` for a default value (steps 1 and 2).
    pub(crate) fn find_value(
        &mut self,
        object: &Object,
        field: &Field,
    ) -> Result<Option<ValueLocation>, StoreError<D::Error>> {
        if self.has_deltas()
            && let Some(delta) = self.find_delta(object, field.index)?
        {
            return Ok(Some(delta));
        }
        let index = field.index;
        if self.descriptors.is_default(object, index)? {
            return Ok(None);
        }
        let (mut record, mut half) = (object.first, None);
        for position in 1.. {
            let sector = self.record(record)?;
            if self.descriptors.read_flag(&sector, VALID_FLAGS_OFFSET, index)? {
                return Ok(Some(ValueLocation { sector, at: self.descriptors.slot_offset(object, field), half }));
            }
            if self.descriptors.is_half_cleared(&sector, VALID_FLAGS_OFFSET, index)? {
                half = Some(sector);
            }
            match self.next_record(&sector, position)? {
                Some(next) => record = next,
                None => {
                    return self.sectors().corrupted(sector.address, "a list of records without a field's value");
                }
            }
        }
        unreachable!()
    }

    /// Adds a record after `last`, the last of a list; `None` on a full part. Compaction takes room only until its
    /// commit, so that a device full of short lists takes updates.
    pub(crate) fn extend_list(
        &mut self,
        object: &Object,
        last: SectorPtr,
        spec: SectorSpec,
    ) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        let extension = if object.fresh { Extension::OfTransaction } else { Extension::Alone };
        match self.store_mut().space().extend_chain(last, spec, extension) {
            Ok(record) => Ok(Some(record)),
            Err(StoreError::Full) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The record that holds every value of a list except defaults, if there is one. Cost: for each record up to that
    /// one 2 reads and the valid flags' words.
    pub(crate) fn whole_record(&mut self, list: &Object) -> Result<Option<Sector>, StoreError<D::Error>> {
        let detection = self.detection();
        let mut buffer = [0; 2 * CHUNK_BYTES];
        let flags = &mut buffer[..flag_bytes(list.shape.count, detection) as usize];
        let (mut record, mut deltas) = (list.first, self.deltas(list)?);
        if self.next_delta(&mut deltas)?.is_some() {
            return Ok(None);
        }
        for position in 1.. {
            let sector = self.record(record)?;
            self.sectors().read(&sector, VALID_FLAGS_OFFSET, flags)?;
            let erased = (0..u32::from(list.shape.count)).filter(|&index| {
                let (at, bits) = flag_place(index, detection);
                flags[at as usize] & bits == bits
            });
            match erased.count() {
                0 => {}
                erased => return Ok(Some(sector).filter(|_| erased == usize::from(list.shape.count))),
            }
            match self.next_record(&sector, position)? {
                Some(next) => record = next,
                None => {
                    return self.sectors().corrupted(sector.address, "a list of records without a field's value");
                }
            }
        }
        unreachable!()
    }
}
