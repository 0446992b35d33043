//! Codes over what objects hold, where error detection is on: a byte for each value, two for what does not change in
//! place.
//!
//! The code of a value is the CRC-8 of its bytes' complements, combined with the field's index by exclusive or. So an
//! erased slot is no valid value: the code of a value of all ones is the index, which is never 0xFF. Values and codes
//! are programmed before the flag that makes them count; therefore a flag half of whose bits are cleared can be read as
//! cleared. Either a power cut came while it was being cleared, and what it leads to is whole, or a bit of it was
//! flipped, and what it leads to is whole if it was cleared, and shows by its code if it was not.
//!
//! Invariant: a value is given to the client, or copied to another field, only where it agrees with its code. A
//! rewritten object takes values and codes over as they are, so that damage neither spreads nor disappears.

use core::ops::Range;

use norn_flash::Nor;
use norn_nor_store::{ErrorDetection, Features, Sector, SectorPtr, StoreError, StoreIn, UnitRows, crc_8, crc_16};

use crate::format::{CHECKSUM_BYTES, CHUNK_BYTES};

/// The checksum of nothing.
pub(crate) const CHECKSUM_START: u16 = 0xFFFF;

/// The code of a value as far as it was read, without the index.
#[derive(Clone, Copy, Default)]
pub(crate) struct ValueCheck(u8);

impl ValueCheck {
    pub fn of(value: &[u8]) -> Self {
        ValueCheck::default().with(value)
    }

    /// The code of these and further bytes.
    pub fn with(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |code, byte| ValueCheck(crc_8(code.0, &[!byte])))
    }

    /// The code of a value of zeros.
    pub fn of_zeros(width: u8) -> Self {
        (0..width).fold(ValueCheck::default(), |code, _| code.with(&[0]))
    }

    /// The code as it is on flash for field `index`.
    pub fn at(self, index: usize) -> u8 {
        self.0 ^ index as u8
    }
}

/// The store, and whether what is in it has codes.
#[derive(Clone, Debug)]
pub(crate) struct Checked<D: Nor, M: UnitRows, F> {
    pub store: StoreIn<D, M, F>,
    error_detection: ErrorDetection,
}

impl<D: Nor, M: UnitRows, F: Features> Checked<D, M, F> {
    pub fn new(store: StoreIn<D, M, F>) -> Self {
        Checked { store, error_detection: ErrorDetection::Off }
    }

    pub fn set_error_detection(&mut self, error_detection: ErrorDetection) {
        self.error_detection = error_detection;
    }

    /// Whether codes are kept: never where the program has no code for them.
    pub(crate) fn detection(&self) -> ErrorDetection {
        if F::ERROR_DETECTION { self.error_detection } else { ErrorDetection::Off }
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

    pub(crate) fn is_erased(&mut self, sector: &Sector, offset: u32, bytes: u32) -> Result<bool, StoreError<D::Error>> {
        let mut buffer = [0; CHUNK_BYTES];
        for start in (0..bytes).step_by(CHUNK_BYTES) {
            let chunk = &mut buffer[..CHUNK_BYTES.min((bytes - start) as usize)];
            self.store.sectors().read(sector, offset + start, chunk)?;
            if chunk.iter().any(|&byte| byte != 0xFF) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Programs a value, unless it is what an erased slot reads anyway.
    pub(crate) fn program_value(
        &mut self,
        sector: &Sector,
        offset: u32,
        value: &[u8],
    ) -> Result<(), StoreError<D::Error>> {
        if value.iter().all(|&byte| byte == 0xFF) {
            return Ok(());
        }
        self.store.sectors().program(sector, offset, value)
    }

    pub(crate) fn program_zeros(
        &mut self,
        sector: &Sector,
        offset: u32,
        bytes: u32,
    ) -> Result<(), StoreError<D::Error>> {
        for start in (0..bytes).step_by(CHUNK_BYTES) {
            let zeros = [0; CHUNK_BYTES];
            self.store.sectors().program(
                sector,
                offset + start,
                &zeros[..CHUNK_BYTES.min((bytes - start) as usize)],
            )?;
        }
        Ok(())
    }

    pub(crate) fn fill_zeros(
        &mut self,
        record: SectorPtr,
        offset: u32,
        bytes: u32,
    ) -> Result<(), StoreError<D::Error>> {
        let sector = self.store.sectors().get(record)?;
        self.program_zeros(&sector, offset, bytes)
    }
}
