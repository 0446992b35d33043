//! Codes over what objects hold, where error detection is on: a byte for each value, two for what does not change in place.
//!
//! The code of a value is the CRC-8 of its bytes' complements, combined with the field's index by exclusive or. So an erased slot
//! is no valid value: the code of a value of all ones is the index, which is never 0xFF. Values and codes are programmed before the flag that makes
//! them count; therefore a flag half of whose bits are cleared can be read as cleared. Either a power cut came while it was being
//! cleared, and what it leads to is whole, or a bit of it was flipped, and what it leads to is whole if it was cleared, and
//! shows by its code if it was not.
//!
//! Invariant: a value is given to the client, or copied to another field, only where it agrees with its code. A rewritten object
//! takes values and codes over as they are, so that damage neither spreads nor disappears.

use core::ops::Range;

use norn_flash::Nor;
use norn_nor_store::{ErrorDetection, Features, Sector, SectorPtr, StoreError, crc_8, crc_16};

use crate::access::Field;
use crate::descriptor::Object;
use crate::format::{CHECKSUM_BYTES, HEADER_LENGTHS_BYTES, codes_offset, data_offset, widths_offset};
use crate::heap::Heap;
use crate::notify::Listener;
use crate::object::CHUNK_BYTES;
use crate::rewrite::Stretch;

/// The checksum of nothing.
pub(crate) const CHECKSUM_START: u16 = 0xFFFF;

/// The code of a value as far as it was read, without the index.
#[derive(Clone, Copy, Default)]
pub(crate) struct ValueCode(u8);

impl ValueCode {
    pub fn of(value: &[u8]) -> Self {
        ValueCode::default().with(value)
    }

    /// The code of further bytes behind these.
    pub fn with(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |code, byte| ValueCode(crc_8(code.0, &[!byte])))
    }

    /// The code of a value of zeros.
    fn of_zeros(width: u8) -> Self {
        (0..width).fold(ValueCode::default(), |code, _| code.with(&[0]))
    }

    /// The code as it stands on flash for field `index`.
    pub fn at(self, index: usize) -> u8 {
        self.0 ^ index as u8
    }
}

impl<D: Nor, const UNITS: usize, L: Listener, F: Features> Heap<D, UNITS, L, F> {
    /// Whether codes are kept: never where the program has no code for them.
    pub(crate) fn detection(&self) -> ErrorDetection {
        if F::ERROR_DETECTION { self.config.error_detection } else { ErrorDetection::Off }
    }

    pub(crate) fn detects(&self) -> bool {
        self.detection().is_on()
    }

    /// The checksum of bytes; nothing where the program has no code for it.
    pub(crate) fn checksum_of(&self, bytes: &[u8]) -> u16 {
        if F::ERROR_DETECTION { crc_16(CHECKSUM_START, bytes) } else { CHECKSUM_START }
    }

    /// The checksum of stretches of a sector, padding included; where error detection is off nothing is read.
    pub(crate) fn checksum(&mut self, sector: &Sector, stretches: &[Range<u32>]) -> Result<u16, StoreError<D::Error>> {
        if F::ERROR_DETECTION { self.read_checksum(sector, stretches) } else { Ok(CHECKSUM_START) }
    }

    #[inline(never)]
    fn read_checksum(&mut self, sector: &Sector, stretches: &[Range<u32>]) -> Result<u16, StoreError<D::Error>> {
        let mut checksum = CHECKSUM_START;
        let stretches = if self.detects() { stretches } else { &[] };
        for stretch in stretches.iter().cloned() {
            let end = stretch.end;
            for start in stretch.step_by(CHUNK_BYTES) {
                let mut buffer = [0; CHUNK_BYTES];
                let chunk = &mut buffer[..CHUNK_BYTES.min((end - start) as usize)];
                self.store.sectors().read(sector, start, chunk)?;
                checksum = crc_16(checksum, chunk);
            }
        }
        Ok(checksum)
    }

    pub(crate) fn program_checksum(
        &mut self,
        sector: &Sector,
        at: u32,
        checksum: u16,
    ) -> Result<(), StoreError<D::Error>> {
        match self.detects() {
            true => self.store.sectors().program(sector, at, &checksum.to_le_bytes()),
            false => Ok(()),
        }
    }

    /// Refuses a sector that does not agree with its checksum.
    pub(crate) fn expect_checksum(
        &mut self,
        sector: &Sector,
        at: u32,
        checksum: u16,
    ) -> Result<(), StoreError<D::Error>> {
        if F::ERROR_DETECTION { self.compare_checksum(sector, at, checksum) } else { Ok(()) }
    }

    #[inline(never)]
    fn compare_checksum(&mut self, sector: &Sector, at: u32, checksum: u16) -> Result<(), StoreError<D::Error>> {
        let mut bytes = [0; CHECKSUM_BYTES as usize];
        if !self.detects() {
            return Ok(());
        }
        self.store.sectors().read(sector, at, &mut bytes)?;
        match u16::from_le_bytes(bytes) == checksum {
            true => Ok(()),
            false => {
                self.store.sectors().corrupted(sector.address.offset(at), "a sector that does not agree with its code")
            }
        }
    }

    /// Checks the lengths and widths of a header sector. Cost: their words and 1, where error detection is on.
    pub(crate) fn expect_widths(&mut self, header: SectorPtr, widths_bytes: u32) -> Result<(), StoreError<D::Error>> {
        if self.detects() {
            let sector = self.store.sectors().get(header)?;
            let checksum = self.widths_checksum(&sector, widths_bytes)?;
            self.expect_checksum(&sector, HEADER_LENGTHS_BYTES, checksum)?;
        }
        Ok(())
    }

    /// Checks the header itself. Cost: its words and 1, where error detection is on.
    pub(crate) fn expect_header(&mut self, sector: &Sector, widths_bytes: u32) -> Result<(), StoreError<D::Error>> {
        let start = widths_offset(self.detection()) + widths_bytes;
        let header = start..sector.bytes;
        let checksum = self.checksum(sector, &[header])?;
        self.expect_checksum(sector, HEADER_LENGTHS_BYTES + CHECKSUM_BYTES, checksum)
    }

    /// Programs the codes of a header sector, the rest of which is complete.
    pub(crate) fn seal_header(&mut self, sector: &Sector, widths_bytes: u32) -> Result<(), StoreError<D::Error>> {
        let start = widths_offset(self.detection()) + widths_bytes;
        let (widths, header) = (self.widths_checksum(sector, widths_bytes)?, start..sector.bytes);
        let header = self.checksum(sector, &[header])?;
        self.program_checksum(sector, HEADER_LENGTHS_BYTES, widths)?;
        self.program_checksum(sector, HEADER_LENGTHS_BYTES + CHECKSUM_BYTES, header)
    }

    fn widths_checksum(&mut self, sector: &Sector, widths_bytes: u32) -> Result<u16, StoreError<D::Error>> {
        let start = widths_offset(self.detection());
        self.checksum(sector, &[0..HEADER_LENGTHS_BYTES, start..start + widths_bytes])
    }

    /// Where the slot of a field is in the object's records.
    pub(crate) fn slot_offset(&self, object: &Object, field: &Field) -> u32 {
        data_offset(object.shape.count, self.detection()) + field.offset
    }

    /// Whether slots from that of `field` on, which take so many bytes, can take values.
    pub(crate) fn slots_are_erased(
        &mut self,
        object: &Object,
        record: &Sector,
        field: &Field,
        bytes: u32,
    ) -> Result<bool, StoreError<D::Error>> {
        let codes_at = codes_offset(object.shape.count) + field.index as u32;
        Ok(self.is_erased(record, self.slot_offset(object, field), bytes)?
            && (!self.detects() || self.is_erased(record, codes_at, bytes / field.width)?))
    }

    /// Programs values of the width of `field` into its slot and those behind it, at most 32 if they are several; and their codes.
    pub(crate) fn program_slots(
        &mut self,
        object: &Object,
        record: &Sector,
        field: &Field,
        values: &[u8],
    ) -> Result<(), StoreError<D::Error>> {
        self.program_value(record, self.slot_offset(object, field), values)?;
        if !self.detects() {
            return Ok(());
        }
        let mut codes = [0; CHUNK_BYTES];
        let mut count = 0;
        for value in values.chunks(field.width as usize) {
            codes[count] = ValueCode::of(value).at(field.index + count);
            count += 1;
        }
        self.program_value(record, codes_offset(object.shape.count) + field.index as u32, &codes[..count])
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
        let sector = self.store.sectors().get(record)?;
        for start in (0..usize::from(count)).step_by(CHUNK_BYTES) {
            let mut codes = [0; CHUNK_BYTES];
            let codes = &mut codes[..CHUNK_BYTES.min(usize::from(count) - start)];
            for (index, code) in (start..).zip(codes.iter_mut()) {
                *code = ValueCode::of_zeros(width(index)).at(index);
            }
            self.program_value(&sector, codes_offset(count) + start as u32, codes)?;
        }
        Ok(())
    }

    /// Refuses a value in a record that does not agree with its code.
    pub(crate) fn expect_code(
        &mut self,
        object: &Object,
        record: &Sector,
        field: &Field,
        code: ValueCode,
    ) -> Result<(), StoreError<D::Error>> {
        let mut found = [0];
        self.store.sectors().read(record, codes_offset(object.shape.count) + field.index as u32, &mut found)?;
        if found[0] != code.at(field.index) {
            let address = record.address.offset(self.slot_offset(object, field));
            return self.store.sectors().corrupted(address, "a value that does not agree with its code");
        }
        Ok(())
    }

    /// Checks the value of a field. Cost: as reading it, where error detection is on.
    pub(crate) fn check_value(&mut self, object: &Object, index: usize) -> Result<(), StoreError<D::Error>> {
        if !self.detects() {
            return Ok(());
        }
        let field = self.field(object, index)?;
        let Some(holder) = self.find_value(object, &field)? else {
            return Ok(());
        };
        let (at, mut code) = (holder.at, ValueCode::default());
        for start in (0..field.width).step_by(CHUNK_BYTES) {
            let mut buffer = [0; CHUNK_BYTES];
            let chunk = &mut buffer[..CHUNK_BYTES.min((field.width - start) as usize)];
            self.store.sectors().read(&holder.sector, at + start, chunk)?;
            code = code.with(chunk);
        }
        self.expect_code(object, &holder.sector, &field, code)
    }

    /// Checks the elements of which a gathered stretch has bytes.
    pub(crate) fn check_elements(
        &mut self,
        section: &Object,
        stretch: &Stretch,
        width: u32,
    ) -> Result<(), StoreError<D::Error>> {
        if !self.detects() {
            return Ok(());
        }
        let bytes = stretch.range();
        let (first, last) = (bytes.start / width, (bytes.end - 1) / width);
        let mut codes = Stretch::uniform(codes_offset(section.shape.count), first, (last - first + 1) as usize, 1);
        self.gather(section, &mut codes)?;
        for index in first..=last {
            let whole = index * width..(index + 1) * width;
            let agrees = codes.is_default(index)
                || bytes.start <= whole.start
                    && whole.end <= bytes.end
                    && codes.part(index..index + 1)[0] == ValueCode::of(stretch.part(whole)).at(index as usize);
            if !agrees {
                // Damaged, or not all of it is in the stretch.
                self.check_value(section, index as usize)?;
            }
        }
        Ok(())
    }
}
