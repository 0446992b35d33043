//! Objects: a header, the fields' values, and a tail of places for what was set since.
//!
//! ```text
//! ┌────────┬──────────────────┬──────────┬────────────┬───────────┬───────────┬───────────┬────────┐
//! │ sector │ widths, where    │ object's │ values     │ 3 = v     │ 7 = w     │ 3 = v′    │ erased │
//! │ header │ they differ      │ header   │            │           │           │           │        │
//! └────────┴──────────────────┴──────────┴────────────┴───────────┴───────────┴───────────┴────────┘
//!                                                       tail: the last delta of a field counts
//! ```
//!
//! A delta is a place, or several where a value is wider: it counts once all of them are there. A full tail is emptied
//! by writing the object anew.
//!
//! Invariant: a sector that the map leads to is complete, except that the last delta of the object in doubt may be
//! torn until the mount has settled it.

use norn_flash::Nor;

use crate::error::StoreError;
use crate::format::{DeltaPart, Granule, HEADED_AT, HEADER_BYTES, Header, Place, SectorKind, Stream};
use crate::layout::{Layout, Widths};
use crate::map::Map;
use crate::medium::Medium;
use crate::units::UnitRows;

/// Bytes of a sector that are copied at a time.
const CHUNK_BYTES: u32 = 64;

/// Bytes of a field within its sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) at: u32,
    pub(crate) width: u32,
}

/// A sector and its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sector {
    pub(crate) at: Granule,
    pub(crate) header: Header,
}

/// A delta in a tail.
#[derive(Clone, Copy, Debug)]
struct Delta {
    field: u8,
    /// Number of its first place.
    first: u8,
    places: u8,
}

/// What a new sector gets instead of what the old one holds: bytes from `at` on.
#[derive(Clone, Copy)]
pub(crate) struct Replacement<'a> {
    pub(crate) at: u32,
    pub(crate) bytes: &'a [u8],
}

/// Where the contents of a new sector come from.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// Zeros, and the widths of the layout where they differ.
    New(Layout<'a>),
    /// An older sector of the object, with its deltas.
    Old(Sector),
    /// The same with another header.
    Reheaded(Sector, &'a [u8]),
}

/// Where the parts of an object's sector are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    /// Width of all fields; 0 where a table has them.
    width: u8,
    /// The table of widths; of no bytes where the fields have one width.
    table: Extent,
    /// The object's header.
    pub(crate) header: Extent,
    /// Where the values begin.
    values: u32,
}

impl Parts {
    /// The parts of an object with these lengths; `at` is where the table begins.
    const fn new(at: u32, width: u8, table: u32, header: u32) -> Parts {
        let after_table = at + table;
        Parts {
            width,
            table: Extent { at, width: table },
            header: Extent { at: after_table, width: header },
            values: after_table + header,
        }
    }

    /// The same with a header of so many bytes.
    const fn with_header(self, bytes: u32) -> Parts {
        Parts::new(HEADED_AT, self.width, self.table.width, bytes)
    }

    /// Bytes of a sector with such parts and this header, without its tail.
    pub(crate) const fn bytes_with_header(self, header: u32, data: u32) -> u32 {
        self.with_header(header).values + data
    }
}

/// Objects, above the map.
#[derive(Clone, Debug)]
pub(crate) struct Objects<D, M> {
    pub(crate) map: Map<D, M>,
}

impl<D: Nor, M: UnitRows> Objects<D, M> {
    pub(crate) const fn new(medium: Medium<D>, rows: M) -> Self {
        Objects { map: Map::new(medium, rows) }
    }

    fn medium(&mut self) -> &mut Medium<D> {
        self.map.medium()
    }

    /// Where a field's value begins within its sector, and its width.
    ///
    /// Reads the widths of the fields up to this one, where they differ.
    pub(crate) fn extent(&mut self, sector: &Sector, field: u8) -> Result<Extent, StoreError<D::Error>> {
        let parts = self.parts(sector)?;
        if parts.table.width == 0 {
            let at = parts.values + u32::from(field) * u32::from(parts.width);
            return Ok(Extent { at, width: u32::from(parts.width) });
        }
        let mut extent = Extent { at: parts.values, width: 0 };
        for number in 0..=u32::from(field) {
            let mut width = [0];
            self.medium().read(sector.at, parts.table.at + number, &mut width)?;
            extent = Extent { at: extent.at + extent.width, width: u32::from(width[0]) };
        }
        Ok(extent)
    }

    /// Where the parts of a sector are.
    ///
    /// Reads two bytes of an object that has a header.
    pub(crate) fn parts(&mut self, sector: &Sector) -> Result<Parts, StoreError<D::Error>> {
        let Header { kind, count, width, .. } = sector.header;
        let mut lengths = [0; (HEADED_AT - HEADER_BYTES) as usize];
        match kind {
            SectorKind::Headed => self.medium().read(sector.at, HEADER_BYTES, &mut lengths)?,
            SectorKind::Various => return Ok(Parts::new(HEADER_BYTES, 0, u32::from(count), 0)),
            _ => return Ok(Parts::new(HEADER_BYTES, width, 0, 0)),
        }
        let [header, width] = lengths;
        let table = if width == 0 { u32::from(count) } else { 0 };
        Ok(Parts::new(HEADED_AT, width, table, u32::from(header)))
    }

    /// Reads as much of an object's header as `buffer` holds.
    pub(crate) fn read_header(
        &mut self,
        sector: &Sector,
        header: Extent,
        buffer: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        let bytes = buffer.len().min(header.width as usize);
        self.medium().read(sector.at, header.at, &mut buffer[..bytes])
    }

    /// Bytes of all fields together.
    pub(crate) fn data_bytes(&mut self, sector: &Sector) -> Result<u32, StoreError<D::Error>> {
        let last = self.extent(sector, sector.header.count - 1)?;
        Ok(last.at + last.width - self.extent(sector, 0)?.at)
    }

    fn place_at(&self, sector: &Sector, number: u8) -> Granule {
        let geometry = self.map.space.log.units.geometry();
        sector.at.offset(sector.header.bare_granules(&geometry) + u32::from(number))
    }

    fn place(&mut self, sector: &Sector, number: u8) -> Result<Place, StoreError<D::Error>> {
        let at = self.place_at(sector, number);
        self.medium().read_place(at)
    }

    /// The delta that begins in place `number`; `None` at the end of what counts.
    fn delta(&mut self, sector: &Sector, number: u8) -> Result<Option<Delta>, StoreError<D::Error>> {
        self.read_delta(sector, number, &mut [])
    }

    /// As [`delta`](Self::delta), and puts as much of the value into `value` as there is room for. Reads each place
    /// once: what is in doubt may read differently the next time.
    fn read_delta(
        &mut self,
        sector: &Sector,
        number: u8,
        value: &mut [u8],
    ) -> Result<Option<Delta>, StoreError<D::Error>> {
        let geometry = self.map.space.log.units.geometry();
        let (mut field, mut places, mut width, mut done) = (0, 1, 0, 0);
        let mut at = 0;
        while at < places {
            if u32::from(number) + at >= u32::from(sector.header.tail) {
                return Ok(None);
            }
            let Place::Whole(content, rest) = self.place(sector, number + at as u8)? else { return Ok(None) };
            let Some((part, bytes)) = DeltaPart::decode(content, &rest) else { return Ok(None) };
            let most = match part {
                DeltaPart::First(first) if at == 0 && first < sector.header.count => {
                    width = self.extent(sector, first)?.width;
                    (field, places) = (first, geometry.delta_places(width));
                    geometry.first_value_bytes()
                }
                DeltaPart::Next if at > 0 => geometry.next_value_bytes(),
                _ => return Ok(None),
            };
            let bytes = &bytes[..most.min(width - done) as usize];
            overlay(value, 0, done, bytes);
            done += bytes.len() as u32;
            at += 1;
        }
        Ok(Some(Delta { field, first: number, places: places as u8 }))
    }

    /// Reads the last delta of a tail, once, and the sector as it was before; `None` if there is none.
    ///
    /// `value` has room for the widest value.
    pub(crate) fn last_delta(
        &mut self,
        sector: &Sector,
        value: &mut [u8; 255],
    ) -> Result<Option<(Sector, Extent)>, StoreError<D::Error>> {
        let (mut number, mut last) = (0, None);
        let mut read = [0; 255];
        while let Some(delta) = self.read_delta(sector, number, &mut read)? {
            (number, last, *value) = (number + delta.places, Some(delta), read);
        }
        let Some(delta) = last else { return Ok(None) };
        let extent = self.extent(sector, delta.field)?;
        let header = Header { tail: delta.first, ..sector.header };
        Ok(Some((Sector { header, ..*sector }, extent)))
    }

    /// Places of a tail that hold deltas.
    ///
    /// Reads them, and one more.
    pub(crate) fn used(&mut self, sector: &Sector) -> Result<u8, StoreError<D::Error>> {
        let mut used = 0;
        while let Some(delta) = self.delta(sector, used)? {
            used += delta.places;
        }
        Ok(used)
    }

    /// Whether the place after the used ones may be programmed.
    pub(crate) fn is_erased(&mut self, sector: &Sector, number: u8) -> Result<bool, StoreError<D::Error>> {
        Ok(self.place(sector, number)? == Place::Erased)
    }

    /// Reads a field, whose width `buffer` has.
    ///
    /// Reads the tail's used places and one more, and the value.
    pub(crate) fn read_field(
        &mut self,
        sector: &Sector,
        field: u8,
        extent: Extent,
        buffer: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        let (mut number, mut last) = (0, None);
        while let Some(delta) = self.delta(sector, number)? {
            number += delta.places;
            if delta.field == field {
                last = Some(delta);
            }
        }
        match last {
            Some(delta) => self.read_delta(sector, delta.first, buffer).map(|_| ()),
            None => self.medium().read(sector.at, extent.at, buffer),
        }
    }

    /// Appends a delta to a tail that has room for it.
    ///
    /// Programs its places.
    pub(crate) fn append(
        &mut self,
        sector: &Sector,
        number: u8,
        field: u8,
        value: &[u8],
    ) -> Result<(), StoreError<D::Error>> {
        let geometry = self.map.space.log.units.geometry();
        let first = geometry.first_value_bytes().min(value.len() as u32) as usize;
        let (head, rest) = value.split_at(first);
        let parts = rest.chunks(geometry.next_value_bytes() as usize).map(|bytes| (DeltaPart::Next, bytes));
        let parts = core::iter::once((DeltaPart::First(field), head)).chain(parts);
        for (at, (part, bytes)) in parts.enumerate() {
            let granule = self.place_at(sector, number + at as u8);
            let place = part.encode(geometry.granule_bytes, bytes);
            self.medium().program_place(granule, &place)?;
        }
        Ok(())
    }

    /// Writes a sector to which nothing leads yet, with an erased tail.
    ///
    /// Programs header and values; reads the old sector, and its tail once for each 64 bytes.
    pub(crate) fn write(
        &mut self,
        header: Header,
        source: Source<'_>,
        replacement: Option<Replacement<'_>>,
        stream: Stream,
    ) -> Result<Granule, StoreError<D::Error>> {
        let geometry = self.map.space.log.units.geometry();
        let sector = self.map.space.allocate(stream, header.granules(&geometry))?;
        let end = header.bare_granules(&geometry) * geometry.granule_bytes;
        for start in (0..end).step_by(CHUNK_BYTES as usize) {
            let mut chunk = [0; CHUNK_BYTES as usize];
            let chunk = &mut chunk[..(end - start).min(CHUNK_BYTES) as usize];
            self.fill(source, start, chunk)?;
            if start == 0 {
                overlay(chunk, 0, 0, &header.encode());
            }
            if let Some(Replacement { at, bytes }) = replacement {
                overlay(chunk, start, at, bytes);
            }
            self.medium().program(sector.offset(start / geometry.granule_bytes), chunk)?;
        }
        Ok(sector)
    }

    /// What a sector holds from byte `start` on, deltas included.
    fn fill(&mut self, source: Source<'_>, start: u32, chunk: &mut [u8]) -> Result<(), StoreError<D::Error>> {
        match source {
            Source::New(layout) => {
                fill_new(layout, start, chunk);
                Ok(())
            }
            Source::Old(sector) => {
                self.medium().read(sector.at, start, chunk)?;
                let values = self.parts(&sector)?.values;
                self.fill_deltas(&sector, values, start, chunk)
            }
            Source::Reheaded(sector, header) => {
                let old = self.parts(&sector)?;
                let new = old.with_header(header.len() as u32);
                let data = Extent { at: old.values, width: self.data_bytes(&sector)? };
                overlay(chunk, start, HEADER_BYTES, &[header.len() as u8, old.width]);
                self.fill_copy(&sector, old.table, new.table.at, start, chunk)?;
                overlay(chunk, start, new.header.at, header);
                self.fill_copy(&sector, data, new.values, start, chunk)?;
                self.fill_deltas(&sector, new.values, start, chunk)
            }
        }
    }

    /// Puts bytes of a sector, which are to be at `at`, into a chunk that begins at `start`.
    fn fill_copy(
        &mut self,
        sector: &Sector,
        from: Extent,
        at: u32,
        start: u32,
        chunk: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        let (first, end) = (at.max(start), (at + from.width).min(start + chunk.len() as u32));
        if first >= end {
            return Ok(());
        }
        let range = (first - start) as usize..(end - start) as usize;
        self.medium().read(sector.at, from.at + first - at, &mut chunk[range])
    }

    /// Puts the deltas of a sector into a chunk, for a sector whose values begin at `values`.
    fn fill_deltas(
        &mut self,
        sector: &Sector,
        values: u32,
        start: u32,
        chunk: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        let old = self.parts(sector)?.values;
        let (mut number, mut value) = (0, [0; 255]);
        while let Some(delta) = self.read_delta(sector, number, &mut value)? {
            number += delta.places;
            let extent = self.extent(sector, delta.field)?;
            overlay(chunk, start, extent.at - old + values, &value[..extent.width as usize]);
        }
        Ok(())
    }
}

/// What a new object holds from byte `start` on: lengths, widths and header; the values are zero.
fn fill_new(layout: Layout<'_>, start: u32, chunk: &mut [u8]) {
    let (width, table): (u8, &[u8]) = match layout.widths {
        Widths::Uniform { width, .. } => (width, &[]),
        Widths::Each(widths) => (0, widths),
    };
    let mut at = HEADER_BYTES;
    if !layout.header.is_empty() {
        overlay(chunk, start, at, &[layout.header.len() as u8, width]);
        at = HEADED_AT;
    }
    overlay(chunk, start, at, table);
    overlay(chunk, start, at + table.len() as u32, layout.header);
}

/// Puts `bytes`, which begin at byte `at` of a sector, into a chunk that begins at `start`.
fn overlay(chunk: &mut [u8], start: u32, at: u32, bytes: &[u8]) {
    for (number, &byte) in bytes.iter().enumerate() {
        let at = at + number as u32;
        if at >= start && at < start + chunk.len() as u32 {
            chunk[(at - start) as usize] = byte;
        }
    }
}
