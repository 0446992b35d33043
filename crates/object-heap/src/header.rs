//! Header sectors: what an object's header says of its lengths and widths, and the header itself.

use norn_flash::Nor;
use norn_heap::{Layout, Widths};
use norn_nor_store::{Features, Room, Sector, SectorKind, SectorPtr, SectorSpec, StoreError, UnitRows};

use crate::check::Checked;
use crate::format::{CHECKSUM_BYTES, HEADER_LENGTHS_BYTES, widths_offset};

impl<D: Nor, M: UnitRows, F: Features> Checked<D, M, F> {
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

    /// Lengths of the header and of the data that the header sector states, in which the widths take `widths_bytes`
    /// bytes.
    pub(crate) fn header_lengths(
        &mut self,
        header: Option<SectorPtr>,
        widths_bytes: u32,
    ) -> Result<(usize, u32), StoreError<D::Error>> {
        let Some(header) = header else {
            return Ok((0, 0));
        };
        self.expect_widths(header, widths_bytes)?;
        let sector = self.store.sectors().get(header)?;
        let mut bytes = [0; HEADER_LENGTHS_BYTES as usize];
        self.store.sectors().read(&sector, 0, &mut bytes)?;
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Ok((usize::from(half(0)), u32::from(half(2))))
    }

    pub(crate) fn build_header(&mut self, layout: &Layout<'_>) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        let widths = match layout.widths() {
            Widths::Uniform { .. } => &[],
            Widths::Each(widths) => widths,
        };
        if widths.is_empty() && layout.header().is_empty() {
            return Ok(None);
        }
        let pointer = self.begin_header(widths.len() as u32, layout.header(), layout.data_bytes())?;
        let sector = self.store.sectors().get(pointer)?;
        let widths_at = widths_offset(self.detection());
        self.store.sectors().program(&sector, widths_at, widths)?;
        self.seal_header(&sector, widths.len() as u32)?;
        Ok(Some(pointer))
    }

    /// Allocates a header sector and programs it, except its widths and codes.
    pub(crate) fn begin_header(
        &mut self,
        widths_bytes: u32,
        header: &[u8],
        data_bytes: u32,
    ) -> Result<SectorPtr, StoreError<D::Error>> {
        let header_at = widths_offset(self.detection()) + widths_bytes;
        let bytes = header_at + header.len() as u32;
        let pointer = self.store.space().allocate(SectorSpec { bytes, kind: SectorKind::Opaque }, Room::Ordinary)?;
        let sector = self.store.sectors().get(pointer)?;
        self.store.sectors().program(&sector, 0, &lengths_bytes(header.len(), data_bytes))?;
        self.store.sectors().program(&sector, header_at, header)?;
        Ok(pointer)
    }
}

fn lengths_bytes(header: usize, data: u32) -> [u8; HEADER_LENGTHS_BYTES as usize] {
    let (header, data) = ((header as u16).to_le_bytes(), (data as u16).to_le_bytes());
    [header[0], header[1], data[0], data[1]]
}
