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
//! A *seal* settles a tail whose last place, or the one after it, a cut may have hit: the place after it is left out,
//! and the last delta repeated. Whatever the two places read, the values are the same.
//!
//! ```text
//!  … │ 3 = v │ in doubt │ seal: 3 = v │ erased       … │ in doubt: 3 = v │ erased │ seal: 3 = v │ erased
//! ```
//!
//! Invariant: a sector that the map leads to is complete, except that tails may end in doubt until the mount has
//! settled them.

use norn_flash::Nor;
use norn_heap::{Layout, Listener, StoreError, Widths};

use crate::format::{
    Crc, DeltaPart, GRANULE_BYTES_MAX, Geometry, Granule, HEADED_AT, HEADER_BYTES, Header, Place, SectorKind, Stream,
};
use crate::log_record::Tails;
use crate::map::{Map, put_check};
use crate::medium::Medium;
use crate::tail::Tail;
use crate::units::UnitRows;

/// Bytes of a sector that are copied at a time.
const CHUNK_BYTES: u32 = 64;
/// Places without a delta at which a tail ends. A seal follows one at most, or two where the last one before is
/// programmed in part and reads as erased.
const GAP_MAX: u8 = 3;
/// Places before a seal of which the values do not depend.
const SEAL_COVERS: u8 = 2;
/// Places of the shortest tail with room for a delta, a place that is left out, and a seal.
pub(crate) const SEALED_TAIL_MIN: u8 = 3;

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

/// How a delta can be appended to a tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TailRoom {
    /// It has no room.
    None,
    /// It has room, but not for a seal of that delta.
    Last,
    /// It has room for both.
    Sealable,
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
    /// The same with the deltas that begin before this place.
    Before(Sector, u8),
    /// An older sector of the object, with its deltas and another header.
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
pub(crate) struct Objects<D, M, L> {
    pub(crate) map: Map<D, M, L>,
}

impl<D: Nor, M: UnitRows, L: Listener> Objects<D, M, L> {
    pub(crate) const fn new(medium: Medium<D>, rows: M, listener: L) -> Self {
        Objects { map: Map::new(medium, rows, listener) }
    }

    fn medium(&mut self) -> &mut Medium<D> {
        self.map.medium()
    }

    fn geometry(&self) -> Geometry {
        self.map.space.log.units.geometry()
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

    /// The width of a field.
    ///
    /// Reads as [`extent`](Self::extent).
    fn width(&mut self, sector: &Sector, field: u8) -> Result<u32, StoreError<D::Error>> {
        match sector.header.kind {
            SectorKind::Uniform => Ok(u32::from(sector.header.width)),
            _ => Ok(self.extent(sector, field)?.width),
        }
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

    pub(crate) fn place_at(&self, sector: &Sector, number: u8) -> Granule {
        let geometry = self.map.space.log.units.geometry();
        sector.at.offset(sector.header.bare_granules(&geometry) + u32::from(number))
    }

    fn place(&mut self, sector: &Sector, number: u8) -> Result<Place, StoreError<D::Error>> {
        let at = self.place_at(sector, number);
        self.medium().read_place(at)
    }

    /// What of a tail counts, and which deltas of `wanted`.
    ///
    /// Reads the used places and up to three more.
    ///
    /// # Errors
    /// With error detection, `Corrupted` where a place has changed.
    pub(crate) fn tail(&mut self, sector: &Sector, wanted: Option<u8>) -> Result<Tail, StoreError<D::Error>> {
        let tail = self.read_tail(sector, wanted)?;
        match tail.suspect.filter(|_| self.geometry().detects()) {
            None => Ok(tail),
            Some(number) => {
                let at = self.place_at(sector, number);
                Err(self.medium().corrupted(at, "a damaged place of a tail"))
            }
        }
    }

    /// As [`tail`](Self::tail), without an error for what is damaged.
    pub(crate) fn read_tail(&mut self, sector: &Sector, wanted: Option<u8>) -> Result<Tail, StoreError<D::Error>> {
        let mut tail = Tail::default();
        // A delta that has begun: its first place, its field, and how many of its places are still to come.
        let (mut begun, mut field, mut left) = (0, 0, 0);
        let (mut number, mut gap, start) = (0, 0, self.place_at(sector, 0));
        while number < sector.header.tail && gap < GAP_MAX {
            let place = self.medium().read_place(start.offset(u32::from(number)))?;
            let part = part_of(sector, place);
            match part {
                Some(DeltaPart::First(_)) if gap > 0 => {
                    tail.suspect_followed(number - gap);
                    gap += 1;
                }
                Some(DeltaPart::First(first) | DeltaPart::Seal(first)) => {
                    if let Some(DeltaPart::Seal(_)) = part {
                        tail.void_before(number);
                        tail.explain_from(number.saturating_sub(SEAL_COVERS));
                    }
                    let width = self.width(sector, first)?;
                    (begun, field, left) = (number, first, self.geometry().delta_places(width));
                }
                Some(DeltaPart::Void(from)) => {
                    tail.keep_before(from);
                    tail.explain_from(from);
                    left = 0;
                    tail.used = number + 1;
                    gap = 0;
                }
                Some(DeltaPart::Next) if left > 0 => {}
                Some(DeltaPart::Next) => {
                    tail.suspect_followed(number - gap);
                    (left, gap) = (0, gap + 1);
                }
                None => {
                    if place != Place::Erased {
                        tail.suspect = tail.suspect.or(Some(number));
                    }
                    (left, gap) = (0, gap + 1);
                }
            }
            if left > 0 {
                left -= 1;
                (tail.used, gap) = (number + 1, 0);
                if left == 0 {
                    tail.add(begun, number + 1);
                    tail.wanted |= u32::from(Some(field) == wanted) << begun;
                }
            }
            number += 1;
        }
        Ok(tail)
    }

    /// Whether place `number` of a tail may be programmed.
    pub(crate) fn is_erased(&mut self, sector: &Sector, number: u8) -> Result<bool, StoreError<D::Error>> {
        Ok(number < sector.header.tail && self.place(sector, number)? == Place::Erased)
    }

    /// Reads the value of a delta that is complete; returns its field, and where that is in the sector.
    fn read_delta(
        &mut self,
        sector: &Sector,
        first: u8,
        value: &mut [u8],
    ) -> Result<Option<(u8, Extent)>, StoreError<D::Error>> {
        let (mut bytes, mut at) = ([0; GRANULE_BYTES_MAX], self.place_at(sector, first));
        let place = self.medium().read_place_into(at, &mut bytes)?;
        let (Place::Whole(mut content), Some(mut part)) = (place, part_of(sector, place)) else { return Ok(None) };
        let (DeltaPart::First(field) | DeltaPart::Seal(field)) = part else { return Ok(None) };
        let extent = self.extent(sector, field)?;
        let (mut rest, mut most) = (&mut value[..extent.width as usize], self.geometry().first_value_bytes());
        loop {
            let (now, later) = rest.split_at_mut(rest.len().min(most as usize));
            part.copy_value(content, &bytes, now);
            if later.is_empty() {
                return Ok(Some((field, extent)));
            }
            (rest, at, most) = (later, at.offset(1), self.geometry().next_value_bytes());
            let place = self.medium().read_place_into(at, &mut bytes)?;
            (content, part) = match place {
                Place::Whole(content) if DeltaPart::decode(content) == Some(DeltaPart::Next) => {
                    (content, DeltaPart::Next)
                }
                _ => return Ok(None),
            };
        }
    }

    /// Reads a field, whose width `buffer` has.
    ///
    /// Reads the tail's used places and up to three more, and the value.
    pub(crate) fn read_field(
        &mut self,
        sector: &Sector,
        field: u8,
        extent: Extent,
        buffer: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        match self.tail(sector, Some(field))?.last_wanted() {
            Some(first) => self.read_delta(sector, first, buffer).map(|_| ()),
            None => self.medium().read(sector.at, extent.at, buffer),
        }
    }

    /// Reads bytes of the values, from byte `first` of them on.
    ///
    /// Reads the tail's used places twice and up to three more, and the bytes.
    pub(crate) fn read_values(
        &mut self,
        sector: &Sector,
        first: u32,
        buffer: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        let deltas = self.tail(sector, None)?.deltas;
        let values = self.parts(sector)?.values;
        self.fill(Source::Old(*sector), deltas, values + first, buffer)
    }

    /// Makes sure that a tail always reads what it reads now, although the last append to it may not be complete.
    ///
    /// An append without a record leaves room for this. So where there is none, nothing is in doubt. Returns whether it
    /// is settled: not where a place that was to be erased is not.
    ///
    /// Programs the places of a delta.
    pub(crate) fn seal(&mut self, sector: &Sector) -> Result<bool, StoreError<D::Error>> {
        let tail = self.read_tail(sector, None)?;
        let at = tail.used + 1;
        // What is damaged is an error whatever the places in doubt read.
        if self.geometry().detects() && tail.is_followed || at >= sector.header.tail {
            return Ok(true);
        }
        let mut value = [0; 255];
        let mut void = tail.end;
        if let Some(first) = tail.last() {
            match self.read_delta(sector, first, &mut value)? {
                Some((field, extent)) if self.fits(sector, at, extent.width) => {
                    let has_room = self.has_room(sector, at, extent.width)?;
                    if has_room {
                        self.append_delta(sector, at, DeltaPart::Seal(field), &value[..extent.width as usize])?;
                    }
                    return Ok(has_room);
                }
                // It was complete: had it been appended without a record, there would be room.
                Some(_) => {}
                None => void = first,
            }
        }
        let is_erased = self.is_erased(sector, at)?;
        if is_erased {
            self.append_void(sector, at, void)?;
        }
        Ok(is_erased)
    }

    /// Whether a tail has room for a delta of so many bytes from a place on.
    fn fits(&self, sector: &Sector, number: u8, width: u32) -> bool {
        u32::from(number) + self.geometry().delta_places(width) <= u32::from(sector.header.tail)
    }

    /// Whether a delta of so many bytes can be programmed from a place on.
    ///
    /// Reads its places.
    fn has_room(&mut self, sector: &Sector, number: u8, width: u32) -> Result<bool, StoreError<D::Error>> {
        let mut has_room = self.fits(sector, number, width);
        for place in 0..self.geometry().delta_places(width) as u8 {
            has_room = has_room && self.is_erased(sector, number + place)?;
        }
        Ok(has_room)
    }

    /// How a delta of so many bytes can be appended to a tail of which so many places are used.
    ///
    /// Reads its places.
    pub(crate) fn room(&mut self, sector: &Sector, used: u8, width: u32) -> Result<TailRoom, StoreError<D::Error>> {
        if !self.has_room(sector, used, width)? {
            return Ok(TailRoom::None);
        }
        let end = used + self.geometry().delta_places(width) as u8;
        Ok(if self.fits(sector, end + 1, width) { TailRoom::Sealable } else { TailRoom::Last })
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
        self.append_delta(sector, number, DeltaPart::First(field), value)
    }

    /// Appends a void from a place on.
    pub(crate) fn append_void(&mut self, sector: &Sector, number: u8, from: u8) -> Result<(), StoreError<D::Error>> {
        self.append_delta(sector, number, DeltaPart::Void(from), &[])
    }

    /// Programs the places of a delta, or a void.
    fn append_delta(
        &mut self,
        sector: &Sector,
        number: u8,
        first: DeltaPart,
        value: &[u8],
    ) -> Result<(), StoreError<D::Error>> {
        let geometry = self.geometry();
        self.map.invalidate(&sector.header);
        let (mut granule, mut part, mut rest) = (self.place_at(sector, number), first, value);
        let mut most = geometry.first_value_bytes();
        loop {
            let (bytes, more) = rest.split_at(rest.len().min(most as usize));
            self.medium().program_place(granule, &part.encode(geometry.granule_bytes, bytes))?;
            if more.is_empty() {
                return Ok(());
            }
            (granule, part, rest, most) = (granule.offset(1), DeltaPart::Next, more, geometry.next_value_bytes());
        }
    }

    /// Whether a sector and its tail are as they were written; always where that cannot be told.
    ///
    /// With error detection reads the sector.
    pub(crate) fn is_intact(&mut self, sector: &Sector) -> Result<bool, StoreError<D::Error>> {
        if !self.geometry().detects() {
            return Ok(true);
        }
        match self.map.header(sector.at).and_then(|_| self.tail(sector, None)) {
            Ok(_) => Ok(true),
            Err(StoreError::Corrupted) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether what a sector was, when so many places of its tail were used, is damaged.
    ///
    /// With error detection reads the sector.
    pub(crate) fn was_damaged(&mut self, sector: &Sector, tail: &Tail, used: u8) -> Result<bool, StoreError<D::Error>> {
        if !self.geometry().detects() {
            return Ok(false);
        }
        match self.map.header(sector.at) {
            Ok(_) if tail.is_damaged_before(used) => {
                let _ = self.tail(sector, None);
                Ok(true)
            }
            Ok(_) => Ok(false),
            Err(StoreError::Corrupted) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Whether a place that reads as broken is damaged, not torn: a mount has settled what was in doubt.
    fn is_settled(&self) -> bool {
        let log = &self.map.space.log;
        log.doubt().is_none() && !matches!(log.tails(), Tails::From(_))
    }

    /// Writes an object anew as it is, with all places of its tail. Each is read once: one that is in doubt reads the
    /// same in the copy from then on. One that is torn is left out; one that is damaged, which takes error detection to
    /// tell, is not. Nothing leads to the copy yet.
    ///
    /// Reads the sector; programs it, but for erased places.
    pub(crate) fn copy(&mut self, sector: &Sector, stream: Stream) -> Result<Granule, StoreError<D::Error>> {
        let geometry = self.geometry();
        let (bare, granules) = (sector.header.bare_granules(&geometry), sector.header.granules(&geometry));
        let copy = self.map.space.allocate(stream, granules)?;
        let keeps_damage = geometry.detects() && self.is_settled();
        for number in 0..granules {
            let mut bytes = [0; GRANULE_BYTES_MAX];
            let bytes = &mut bytes[..geometry.granule_bytes as usize];
            self.medium().read(sector.at.offset(number), 0, bytes)?;
            let is_copied = match Place::decode(bytes) {
                _ if number < bare => true,
                Place::Whole(_) => true,
                Place::Broken => keeps_damage,
                Place::Erased => false,
            };
            if is_copied {
                self.medium().program(copy.offset(number), bytes)?;
            }
        }
        Ok(copy)
    }

    /// Writes a sector to which nothing leads yet, with an erased tail.
    ///
    /// Programs header, values and check; reads the old sector, and its tail once for each 64 bytes.
    pub(crate) fn write(
        &mut self,
        header: Header,
        source: Source<'_>,
        replacement: Option<Replacement<'_>>,
        stream: Stream,
    ) -> Result<Granule, StoreError<D::Error>> {
        let geometry = self.geometry();
        let deltas = match source {
            Source::New(_) => 0,
            Source::Old(sector) | Source::Reheaded(sector, _) => self.tail(&sector, None)?.deltas,
            Source::Before(sector, place) => {
                let mut tail = self.read_tail(&sector, None)?;
                tail.keep_before(place);
                tail.deltas
            }
        };
        let sector = self.map.space.allocate(stream, header.granules(&geometry))?;
        let end = header.bare_granules(&geometry) * geometry.granule_bytes;
        let mut crc = Crc::new();
        for start in (0..end).step_by(CHUNK_BYTES as usize) {
            let mut chunk = [0; CHUNK_BYTES as usize];
            let chunk = &mut chunk[..(end - start).min(CHUNK_BYTES) as usize];
            self.fill(source, deltas, start, chunk)?;
            if start == 0 {
                overlay(chunk, 0, 0, &header.encode());
            }
            if let Some(Replacement { at, bytes }) = replacement {
                overlay(chunk, start, at, bytes);
            }
            if geometry.detects() {
                match start + CHUNK_BYTES < end {
                    true => crc.add(chunk),
                    false => put_check(chunk, crc),
                }
            }
            self.medium().program(sector.offset(geometry.granules(start)), chunk)?;
        }
        Ok(sector)
    }

    /// What a sector holds from byte `start` on, with these deltas of its tail.
    fn fill(
        &mut self,
        source: Source<'_>,
        deltas: u32,
        start: u32,
        chunk: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        match source {
            Source::New(layout) => {
                fill_new(layout, start, chunk);
                Ok(())
            }
            Source::Old(sector) | Source::Before(sector, _) => {
                self.medium().read(sector.at, start, chunk)?;
                let values = self.parts(&sector)?.values;
                self.fill_deltas(&sector, deltas, values, start, chunk)
            }
            Source::Reheaded(sector, header) => {
                let old = self.parts(&sector)?;
                let new = old.with_header(header.len() as u32);
                let data = Extent { at: old.values, width: self.data_bytes(&sector)? };
                overlay(chunk, start, HEADER_BYTES, &[header.len() as u8, old.width]);
                self.fill_copy(&sector, old.table, new.table.at, start, chunk)?;
                overlay(chunk, start, new.header.at, header);
                self.fill_copy(&sector, data, new.values, start, chunk)?;
                self.fill_deltas(&sector, deltas, new.values, start, chunk)
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
        deltas: u32,
        values: u32,
        start: u32,
        chunk: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        let old = self.parts(sector)?.values;
        let mut value = [0; 255];
        for first in (0..sector.header.tail).filter(|first| deltas >> first & 1 == 1) {
            if let Some((_, extent)) = self.read_delta(sector, first, &mut value)? {
                overlay(chunk, start, extent.at - old + values, &value[..extent.width as usize]);
            }
        }
        Ok(())
    }
}

/// The part of a delta that a whole place of an object's tail is; `None` if it is none.
fn part_of(sector: &Sector, place: Place) -> Option<DeltaPart> {
    let Place::Whole(content) = place else { return None };
    match DeltaPart::decode(content)? {
        DeltaPart::First(field) | DeltaPart::Seal(field) if field >= sector.header.count => None,
        part => Some(part),
    }
}

/// What a new object holds from byte `start` on: lengths, widths and header; the values are zero.
fn fill_new(layout: Layout<'_>, start: u32, chunk: &mut [u8]) {
    let (width, table): (u8, &[u8]) = match layout.widths() {
        Widths::Uniform { width, .. } => (width, &[]),
        Widths::Each(widths) => (0, widths),
    };
    let mut at = HEADER_BYTES;
    if !layout.header().is_empty() {
        overlay(chunk, start, at, &[layout.header().len() as u8, width]);
        at = HEADED_AT;
    }
    overlay(chunk, start, at, table);
    overlay(chunk, start, at + table.len() as u32, layout.header());
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
