//! The part in granules: the only file that reaches the device.
//!
//! Invariant: after a failure every call is refused until [`Medium::restart`].

use norn_flash::{Address, EraseUnit, Guard, GuardError, Nor, Violation};
use norn_heap::StoreError;

use crate::format::{CHECK_BYTES, Crc, ErrorDetection, GRANULE_BYTES_MAX, Geometry, Granule, HEADER_BYTES, Place};

/// Bytes of a sector that are read at a time to check it.
const CHECKED_AT_A_TIME: u32 = 32;

/// A device, refused after its first failure, and its geometry.
#[derive(Clone, Debug)]
pub(crate) struct Medium<D> {
    device: Guard<D>,
    geometry: Geometry,
    /// What was found last that must not be there.
    corruption: Option<Violation>,
}

impl<D: Nor> Medium<D> {
    /// A device that is not asked for anything before it is [restarted](Self::restart).
    pub(crate) const fn unstarted(device: D) -> Self {
        let geometry = Geometry { granule_bytes: 4, unit_granules: 1, unit_count: 0, detection: ErrorDetection::Off };
        Medium { device: Guard::unstarted(device), geometry, corruption: None }
    }

    /// Restarts the device, whose part has this geometry.
    pub(crate) fn restart(&mut self, geometry: Geometry) -> Result<(), GuardError<D::Error>> {
        self.geometry = geometry;
        self.device.restart()
    }

    /// Refuses every call from here on.
    pub(crate) fn halt(&mut self) {
        self.device.halt();
    }

    pub(crate) fn expect_running(&self) -> Result<(), StoreError<D::Error>> {
        Ok(self.device.expect_running()?)
    }

    pub(crate) const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub(crate) const fn device(&self) -> &D {
        self.device.device()
    }

    pub(crate) fn device_mut(&mut self) -> &mut D {
        self.device.device_mut()
    }

    pub(crate) fn into_device(self) -> D {
        self.device.into_device()
    }

    /// The address of a byte of what begins at `granule`.
    pub(crate) fn address(&self, granule: Granule, byte: u32) -> Address {
        // Whatever flash says, a granule has 25 bits, and 32 bytes.
        Address(granule.0 * self.geometry.granule_bytes + byte)
    }

    /// Reads from a byte of what begins at `granule`.
    ///
    /// # Errors
    /// `Corrupted` where that is not on the part: only damage leads there.
    pub(crate) fn read(&mut self, granule: Granule, byte: u32, buffer: &mut [u8]) -> Result<(), StoreError<D::Error>> {
        let address = self.address(granule, byte);
        let size_bytes = self.geometry.size_bytes();
        if address.0 > size_bytes || buffer.len() as u32 > size_bytes - address.0 {
            let within = granule.0.min(size_bytes / self.geometry.granule_bytes - 1);
            return Err(self.corrupted(Granule(within), "something that leads outside of the part"));
        }
        Ok(self.device.read(address, buffer)?)
    }

    /// The first bytes of a sector.
    pub(crate) fn read_header(&mut self, sector: Granule) -> Result<[u8; HEADER_BYTES as usize], StoreError<D::Error>> {
        let mut bytes = [0; HEADER_BYTES as usize];
        self.read(sector, 0, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a granule that stands for itself.
    pub(crate) fn read_place(&mut self, granule: Granule) -> Result<Place, StoreError<D::Error>> {
        if self.geometry.granule_bytes > 4 {
            return self.read_place_into(granule, &mut [0; GRANULE_BYTES_MAX]);
        }
        let mut word = [0; 4];
        self.read(granule, 0, &mut word)?;
        Ok(Place::decode_word(u32::from_le_bytes(word)))
    }

    /// The same, with its bytes.
    #[inline(never)]
    pub(crate) fn read_place_into(
        &mut self,
        granule: Granule,
        bytes: &mut [u8; GRANULE_BYTES_MAX],
    ) -> Result<Place, StoreError<D::Error>> {
        let bytes = &mut bytes[..self.geometry.granule_bytes as usize];
        self.read(granule, 0, bytes)?;
        Ok(Place::decode(bytes))
    }

    /// Whether the sectors of the image have a check, which its heads say.
    pub(crate) fn set_detection(&mut self, detection: ErrorDetection) {
        self.geometry = self.geometry.with_detection(detection);
    }

    /// Whether a sector of so many granules before its tail, and with this header, ends with the check of what is
    /// before.
    ///
    /// Reads them.
    pub(crate) fn agrees(
        &mut self,
        sector: Granule,
        header: &[u8; HEADER_BYTES as usize],
        bare: u32,
    ) -> Result<bool, StoreError<D::Error>> {
        let (mut crc, end) = (Crc::new(), bare * self.geometry.granule_bytes - CHECK_BYTES);
        let mut chunk = [0; CHECKED_AT_A_TIME as usize];
        crc.add(header);
        for start in (HEADER_BYTES..end).step_by(chunk.len()) {
            let bytes = &mut chunk[..(end - start).min(CHECKED_AT_A_TIME) as usize];
            self.read(sector, start, bytes)?;
            crc.add(bytes);
        }
        let mut check = [0; CHECK_BYTES as usize];
        self.read(sector, end, &mut check)?;
        Ok(u32::from_le_bytes(check) == crc.value())
    }

    /// Programs whole granules.
    pub(crate) fn program(&mut self, granule: Granule, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        debug_assert!(bytes.len().is_multiple_of(self.geometry.granule_bytes as usize), "whole granules");
        let address = self.address(granule, 0);
        Ok(self.device.program(address, bytes)?)
    }

    /// Programs one granule, the first bytes of `place`.
    pub(crate) fn program_place(
        &mut self,
        granule: Granule,
        place: &[u8; GRANULE_BYTES_MAX],
    ) -> Result<(), StoreError<D::Error>> {
        self.program(granule, &place[..self.geometry.granule_bytes as usize])
    }

    pub(crate) fn erase(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        Ok(self.device.erase(unit)?)
    }

    /// That something at `granule` must not be there.
    #[cold]
    #[inline(never)]
    pub(crate) fn corrupted(&mut self, granule: Granule, what: &'static str) -> StoreError<D::Error> {
        self.corruption = Some(Violation { address: self.address(granule, 0), what });
        StoreError::Corrupted
    }

    /// What was found last that must not be there.
    pub(crate) const fn corruption(&self) -> Option<Violation> {
        self.corruption
    }
}
