//! The heap: every public call.
//!
//! A call that changes something first makes room, then says in the log what it is about to do, then programs what is
//! not reachable, and last the one place that makes it so.

use norn_flash::{MountError, Nor};
use norn_heap::{
    AccessError, CreateError, Info, Kind, Layout, Listener, ObjectHeap, PhysicalPointers, Ref, StoreError, Violation,
    Widths,
};

use crate::format::{
    Class, DIRECTORY, Entry, ErrorDetection, HEADED_AT, HEADER_BYTES, Header, Owner, SectorKind, Stream,
};
use crate::log::{Intent, Log};
use crate::map::Map;
use crate::medium::Medium;
use crate::object::{Extent, Replacement, Sector, Source, TailRoom};
use crate::reclaim::Reclamation;
use crate::slots::FreeSlots;
use crate::space::Reason;
use crate::units::{UnitRow, UnitRows};

/// Persistent objects on one NOR part. The unit table is in memory `M` that the caller gives, of at least as many rows
/// as [`UnitRow::count_for`] returns.
///
/// Costs are stated with each call, in granules: program units, or words of four bytes where the part programs less. A
/// *look-up* reads, on each of the map's *h* levels, an entry and up to nine granules (*h* is 1 up to 16 objects, 2 up
/// to 256, 3 up to 4,096, 4 above). Reclamation comes on top: a call that programs may first empty units, each of
/// which costs the live granules of a unit and the map changes for them, and open units, one erase each.
#[derive(Clone, Debug)]
pub struct LogHeapIn<D, M, L = ()> {
    reclamation: Reclamation<D, M, L>,
    pub(crate) slots: FreeSlots,
}

// The state of a heap on 64 units, beside the device, on a processor of 32 bits.
const _: () = assert!(size_of::<usize>() > 4 || size_of::<LogHeapIn<(), [UnitRow; 64]>>() <= 512);

/// A heap that holds the rows of its unit table itself.
pub type LogHeap<D, const UNITS: usize, L = ()> = LogHeapIn<D, [UnitRow; UNITS], L>;

impl<D: Nor, const UNITS: usize> LogHeap<D, UNITS> {
    /// Erases the part and begins an image on it. If the power is cut, the part holds the image that it held, or the
    /// new one, or none. An image of another geometry may be left damaged, or as it was once: format again.
    ///
    /// Cost: erases every unit that an image had used, and one; where there is an image, mounts it, and erases two
    /// more.
    ///
    /// # Errors
    /// [`MountError::Part`] and [`MountError::Unsuitable`] say what about the part is wrong.
    pub fn format(device: D) -> Result<Self, MountError<D::Error>> {
        Self::format_in(device, [UnitRow::UNUSED; UNITS])
    }

    /// Mounts the image on the part, and settles what an unclean stop has left.
    ///
    /// Cost: reads the unit heads, a log unit, every entry of the map and every object's header. After an unclean stop
    /// two erases, more on a full part, and programs a log's head, an object, and a node for each level. After a stop
    /// of a session with more updates than there are objects, about, it also programs a delta for each object whose
    /// tail has room, and a granule for each sixteen objects.
    ///
    /// # Errors
    /// [`MountError::NotFormatted`] without an image, [`MountError::WrongGeometry`] for one of another part;
    /// [`MountError::Corrupted`] says what must not be there. [`MountError::Part`] and [`MountError::Unsuitable`] say
    /// what about the part is wrong, `Unsuitable` also that no unit is free to settle in.
    pub fn mount(device: D) -> Result<Self, MountError<D::Error>> {
        Self::mount_in(device, [UnitRow::UNUSED; UNITS])
    }
}

impl<D: Nor, M: UnitRows> LogHeapIn<D, M> {
    /// As [`format`](LogHeap::format), with the unit table in `rows`.
    ///
    /// # Errors
    /// As `format`; [`TooSmall`](MountError::TooSmall) when the part has more erase units than there are rows.
    pub fn format_in(device: D, rows: M) -> Result<Self, MountError<D::Error>> {
        Self::format_with_in(device, rows, ErrorDetection::Off)
    }

    /// As [`format_in`](Self::format_in), with error detection or without.
    ///
    /// With [`ErrorDetection::On`] a call checks what it reads: each sector, map nodes among them, has four bytes of a
    /// CRC-32, and is read as a whole; places of tails, nodes and the log check themselves. What a call meets that has
    /// changed is `Corrupted`, and [`corruption`](Self::corruption) names it. The last delta, map change or record
    /// before a stop without [`rest`](Self::rest) is an exception: where it is damaged, it is taken for torn.
    ///
    /// # Errors
    /// As `format_in`.
    pub fn format_with_in(device: D, rows: M, detection: ErrorDetection) -> Result<Self, MountError<D::Error>> {
        let mut heap = Self::unmounted_in(device, rows);
        heap.reformat(detection)?;
        Ok(heap)
    }

    /// As [`mount`](LogHeap::mount), with the unit table in `rows`.
    ///
    /// # Errors
    /// As `mount`; [`TooSmall`](MountError::TooSmall) when the part has more erase units than there are rows.
    pub fn mount_in(device: D, rows: M) -> Result<Self, MountError<D::Error>> {
        let mut heap = Self::unmounted_in(device, rows);
        heap.remount()?;
        Ok(heap)
    }

    /// A heap that has not been mounted: every call but [`remount`](Self::remount) returns `Halted`.
    pub const fn unmounted_in(device: D, rows: M) -> Self {
        Self::unmounted_with_in(device, rows, ())
    }
}

impl<D: Nor, M: UnitRows, L: Listener> LogHeapIn<D, M, L> {
    /// As [`unmounted_in`](LogHeapIn::unmounted_in), with a listener that is notified of pointers that end.
    pub const fn unmounted_with_in(device: D, rows: M, listener: L) -> Self {
        let reclamation = Reclamation::new(Medium::unstarted(device), rows, listener);
        LogHeapIn { reclamation, slots: FreeSlots::UNKNOWN }
    }

    /// As [`format_with_in`](LogHeapIn::format_with_in), in place.
    ///
    /// # Errors
    /// As [`format_in`](LogHeapIn::format_in).
    pub fn reformat(&mut self, detection: ErrorDetection) -> Result<(), MountError<D::Error>> {
        self.slots = FreeSlots::UNKNOWN;
        self.reclamation.format(detection)
    }

    /// As [`mount`](LogHeap::mount), in place. It also recovers after a device error, which halts a heap.
    ///
    /// # Errors
    /// As `mount`.
    pub fn remount(&mut self) -> Result<(), MountError<D::Error>> {
        self.slots = FreeSlots::UNKNOWN;
        self.reclamation.mount()
    }

    /// Whether the image notices flipped bits.
    pub const fn error_detection(&self) -> ErrorDetection {
        self.log().units.medium.geometry().detection
    }

    /// The device.
    pub const fn device(&self) -> &D {
        self.reclamation.objects.map.space.log.units.medium.device()
    }

    /// The device, for what does not change the part's contents.
    pub fn device_mut(&mut self) -> &mut D {
        self.reclamation.objects.map.medium().device_mut()
    }

    /// Returns the device.
    pub fn into_device(self) -> D {
        self.reclamation.objects.map.space.log.units.medium.into_device()
    }

    /// The damage that was met last: what a call that failed with `Corrupted` found, or a damaged object that a mount
    /// or reclamation left as it is, so that reads of it fail.
    pub const fn corruption(&self) -> Option<Violation> {
        self.reclamation.objects.map.space.log.units.medium.corruption()
    }

    pub(crate) const fn log(&self) -> &Log<D, M> {
        &self.map().space.log
    }

    pub(crate) const fn map(&self) -> &Map<D, M, L> {
        &self.reclamation.objects.map
    }

    pub(crate) fn reclamation(&mut self) -> &mut Reclamation<D, M, L> {
        &mut self.reclamation
    }

    /// Says that nothing is in progress, so that the next mount has nothing to settle, erases nothing and programs
    /// nothing. Within a transaction it does nothing. Call it before the power is turned off on purpose.
    ///
    /// Cost: a granule.
    ///
    /// # Errors
    /// The device's.
    pub fn rest(&mut self) -> Result<(), StoreError<D::Error>> {
        self.expect_running()?;
        if self.in_transaction() {
            return Ok(());
        }
        self.reclamation.objects.map.space.log.rest()
    }

    /// Does housekeeping ahead of time that other calls would do when they need room: begins a new log if more than
    /// half of the current one is used; else opens a unit, up to two; else reclaims one unit, if that frees at least
    /// `least_bytes`, or if it is behind in wear. Returns whether there was something to do. It comes to an end: calls
    /// in a row reclaim no more units than there are. Does nothing while a transaction is open.
    ///
    /// A caller with deadlines calls it when there is time, until it returns `false`. While
    /// [`ready_bytes`](Self::ready_bytes) and half a log last, no call erases or reclaims. The larger `least_bytes`,
    /// the fewer units are reclaimed. With units of *n* bytes:
    ///
    /// ```text
    /// loop {
    ///     let least = match heap.ready_bytes() / n {
    ///         0 => 1,
    ///         _ => n, // nothing but a new log, and units that are opened
    ///     };
    ///     if !heap.reclaim_step(least)? {
    ///         break;
    ///     }
    /// }
    /// ```
    ///
    /// Cost: an erase and a log's head; or an erase; or the live granules of a unit, and for each sector in it a
    /// granule of the log and a map change.
    ///
    /// # Errors
    /// The store's.
    pub fn reclaim_step(&mut self, least_bytes: u32) -> Result<bool, StoreError<D::Error>> {
        self.expect_running()?;
        if self.in_transaction() {
            return Ok(false);
        }
        self.reclamation.step(least_bytes)
    }

    /// Bytes that can be allocated before a call has to erase or reclaim a unit: what objects and map nodes take
    /// together, up to the part of a unit that the last object does not fit into. Cost: RAM only.
    pub fn ready_bytes(&self) -> u64 {
        let space = &self.reclamation.objects.map.space;
        u64::from(space.ready_granules()) * u64::from(space.log.units.geometry().granule_bytes)
    }

    /// Creates an object whose fields are zero.
    ///
    /// Cost: a look-up, the object's granules and a map change; where the slot that was freed last is in use again, for
    /// each sixteen slots from the lowest that may be free also a node.
    ///
    /// # Errors
    /// What about the layout is wrong; `NoReferences`; the store's.
    pub fn create(&mut self, layout: Layout<'_>) -> Result<Ref, CreateError<D::Error>> {
        self.create_as(layout, Class::Object)
    }

    /// Creates an object or a small array.
    pub(crate) fn create_as(&mut self, layout: Layout<'_>, class: Class) -> Result<Ref, CreateError<D::Error>> {
        self.expect_creation()?;
        let header = Header { class, ..self.header_of(&layout)? };
        let (slot, generation) = self.find_slot()?;
        self.write_new(Header { index: slot, generation, ..header }, layout)?;
        self.slots.take(slot);
        Ok(Ref::new(slot, generation))
    }

    /// Writes the first sector of a slot that leads nowhere.
    pub(crate) fn write_new(&mut self, header: Header, layout: Layout<'_>) -> Result<(), StoreError<D::Error>> {
        let geometry = self.reclamation.objects.map.space.log.units.geometry();
        let needed = header.bare_granules(&geometry) + geometry.node_granules();
        self.reclamation.make_room_for(needed, 1)?;
        let tail = self.reclamation.tail_of(&header, Reason::Created);
        let owner = header.owner();
        let old = self.reclamation.intend_replacement(owner, Err(header.generation))?;
        let sector =
            self.reclamation.objects.write(Header { tail, ..header }, Source::New(layout), None, Stream::Updated)?;
        self.reclamation.lead_to(owner, Entry::At(sector), old)
    }

    /// The header of a new object, without slot, generation and tail.
    pub(crate) fn header_of(&self, layout: &Layout<'_>) -> Result<Header, CreateError<D::Error>> {
        let count = layout.count();
        if count == 0 {
            return Err(CreateError::NoFields);
        }
        if count > 255 {
            return Err(CreateError::TooManyFields { count });
        }
        if let Some(field) = (0..count).find(|&field| layout.width(field) == 0) {
            return Err(CreateError::ZeroWidth { field });
        }
        if layout.header().len() > HEADER_MAX {
            return Err(CreateError::HeaderTooLarge { max: HEADER_MAX as u32 });
        }
        let geometry = self.reclamation.objects.map.space.log.units.geometry();
        let granules = geometry.sector_granules(HEADER_BYTES + content_bytes(layout));
        let (kind, width, most) = match layout.widths() {
            Widths::Uniform { width, .. } if layout.header().is_empty() => {
                (SectorKind::Uniform, width, geometry.room())
            }
            Widths::Each(_) if layout.header().is_empty() => {
                (SectorKind::Various, granules.min(255) as u8, geometry.room().min(255))
            }
            _ => (SectorKind::Headed, granules.min(255) as u8, geometry.room().min(255)),
        };
        if granules > most {
            return Err(CreateError::TooLarge { max: most * geometry.granule_bytes });
        }
        Ok(Header { kind, class: Class::Object, index: 0, generation: 0, count: count as u8, width, tail: 0 })
    }

    /// A slot that leads nowhere, and the generation of its next object.
    pub(crate) fn find_slot(&mut self) -> Result<(u16, u16), CreateError<D::Error>> {
        self.take_away()?;
        self.slots.find(&mut self.reclamation.objects.map)?.ok_or(CreateError::NoReferences)
    }

    /// The lowest slot that leads nowhere, and the generation of its next object.
    pub(crate) fn find_lowest_slot(&mut self) -> Result<(u16, u16), CreateError<D::Error>> {
        self.slots.find_lowest(&mut self.reclamation.objects.map)?.ok_or(CreateError::NoReferences)
    }

    /// Deletes an object or an array.
    ///
    /// Cost: a look-up and a map change; for each section of a split array, too. Within a transaction a split array is
    /// taken away by the commit.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn delete(&mut self, reference: Ref) -> Result<(), AccessError<D::Error>> {
        self.expect_access()?;
        let sector = self.find(reference)?;
        if sector.header.class == Class::Split {
            return self.delete_split(sector);
        }
        let sector = if self.reclamation.make_room_to_delete()? { self.find_again(sector)? } else { sector };
        let owner = Owner::object(reference.slot());
        let old = self.reclamation.intend_replacement(owner, Ok(sector))?;
        self.reclamation.lead_to(owner, Entry::Nowhere(reference.generation()), old)?;
        self.slots.free(reference.slot());
        Ok(())
    }

    /// The object or array after `after` in the order of their slots, or the first one.
    ///
    /// Cost: a look-up for each slot up to it, where sixteen or more that are free in a row count as one.
    ///
    /// # Errors
    /// The store's.
    pub fn next_object(&mut self, after: Option<Ref>) -> Result<Option<Ref>, AccessError<D::Error>> {
        self.expect_access()?;
        let mut from = after.map_or(0, |reference| u32::from(reference.slot()) + 1);
        while let Some(sector) = self.next_sector(from)? {
            let Header { index, generation, .. } = sector.header;
            if generation != DIRECTORY && self.is_there(&sector)? {
                return Ok(Some(Ref::new(index, generation)));
            }
            from = u32::from(index) + 1;
        }
        Ok(None)
    }

    /// The sector in the first slot from `from` on that has one.
    pub(crate) fn next_sector(&mut self, from: u32) -> Result<Option<Sector>, StoreError<D::Error>> {
        match self.reclamation.objects.map.next_slot(from)? {
            Some(slot) => self.sector_in(slot),
            None => Ok(None),
        }
    }

    /// What an object or an array is.
    ///
    /// Cost: a look-up, and two bytes of an object with a header; of a split array also the tail of its head.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn info(&mut self, reference: Ref) -> Result<Info, AccessError<D::Error>> {
        self.expect_access()?;
        let sector = self.find(reference)?;
        let header_bytes = self.reclamation.objects.parts(&sector)?.header.width as usize;
        let (kind, count, data_bytes) = match sector.header.class {
            Class::Split => {
                let shape = self.reclamation.shape(&sector)?;
                (Kind::Array, shape.count as usize, shape.count.saturating_mul(u32::from(shape.width)))
            }
            class => {
                let kind = if class == Class::Array { Kind::Array } else { Kind::Object };
                (kind, usize::from(sector.header.count), self.reclamation.objects.data_bytes(&sector)?)
            }
        };
        Ok(Info { kind, count, data_bytes, header_bytes })
    }

    /// How what `reference` names is kept.
    ///
    /// Cost: a look-up and the tail of the first sector.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn sector_info(&mut self, reference: Ref) -> Result<SectorInfo, AccessError<D::Error>> {
        self.expect_access()?;
        let sector = self.find(reference)?;
        let is_split = sector.header.class == Class::Split;
        let sections = if is_split { self.reclamation.shape(&sector)?.sections() } else { 0 };
        let tail_used = self.reclamation.objects.tail(&sector, None)?.used;
        Ok(SectorInfo { sections, tail_used, tail: sector.header.tail })
    }

    /// The width of a field in bytes.
    ///
    /// Cost: a look-up, and the widths of the fields before it where they differ.
    ///
    /// # Errors
    /// `Stale`, `OutOfRange`; the store's.
    pub fn field_width(&mut self, reference: Ref, index: usize) -> Result<usize, AccessError<D::Error>> {
        self.expect_access()?;
        let sector = self.find_object(reference)?;
        Ok(self.field(&sector, index)?.1.width as usize)
    }

    /// Reads field `index` into `buffer`, which has its width.
    ///
    /// Cost: a look-up, the used places of the object's tail and up to three more, and the value.
    ///
    /// # Errors
    /// `Stale`, `OutOfRange`, `WrongWidth`; the store's.
    pub fn get_field(&mut self, reference: Ref, index: usize, buffer: &mut [u8]) -> Result<(), AccessError<D::Error>> {
        self.expect_access()?;
        let sector = self.find_object(reference)?;
        self.get(&sector, index, buffer)
    }

    /// Reads a field or an element of what is in a sector.
    pub(crate) fn get(
        &mut self,
        sector: &Sector,
        index: usize,
        buffer: &mut [u8],
    ) -> Result<(), AccessError<D::Error>> {
        let (field, extent) = self.field(sector, index)?;
        expect_width(buffer.len(), extent.width)?;
        Ok(self.reclamation.objects.read_field(sector, field, extent, buffer)?)
    }

    /// Atomically sets field `index`. `value.len()` must equal the field's width.
    ///
    /// Cost: two look-ups, and a granule for each place of a delta. A granule of the log, unless the last call set a
    /// field of the same object, where a tail is nearly full, and in the first calls after a mount, about as many as
    /// there are objects. Where the tail is full, a granule of the log, the object's granules and a map change.
    ///
    /// # Errors
    /// `Stale`, `OutOfRange`, `WrongWidth`; the store's, `Full` among them.
    pub fn put_field(&mut self, reference: Ref, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        self.expect_access()?;
        let sector = self.find_object(reference)?;
        self.set(sector, index, value)
    }

    /// Sets a field or an element of what is in a sector.
    pub(crate) fn set(&mut self, sector: Sector, index: usize, value: &[u8]) -> Result<(), AccessError<D::Error>> {
        let (field, extent) = self.field(&sector, index)?;
        expect_width(value.len(), extent.width)?;
        let sector = if self.reclamation.make_room()? { self.find_again(sector)? } else { sector };
        let used = self.reclamation.objects.tail(&sector, None)?.used;
        let room = self.reclamation.objects.room(&sector, used, extent.width)?;
        let is_open = self.in_transaction();
        // Undoing needs a place, or room to write the object anew, which small units may not have.
        let geometry = self.reclamation.objects.map.space.log.units.geometry();
        let places = geometry.delta_places(extent.width);
        let has_void = u32::from(used) + places < u32::from(sector.header.tail);
        if room != TailRoom::None && (has_void || !is_open || geometry.has_large_units()) {
            let log = &mut self.reclamation.objects.map.space.log;
            match room {
                _ if is_open => self.reclamation.intend_noted_append(sector.header.index, used)?,
                TailRoom::Sealable => log.intend_append(sector.header.index)?,
                _ => log.intend(Intent::Append(sector.header.index))?,
            }
            return Ok(self.reclamation.objects.append(&sector, used, field, value)?);
        }
        let sector = self.make_room_to_replace(sector)?;
        let reason = Reason::TailFull(sector.header.tail);
        self.replace(sector, reason, Replacement { at: extent.at, bytes: value })
    }

    /// Atomically sets fields from `first` on; `values` holds them one after the other.
    ///
    /// Cost: two look-ups, a granule of the log, the object's granules and a map change.
    ///
    /// # Errors
    /// `Stale`, `OutOfRange`; `WrongWidth` when `values` ends within a field; the store's, `Full` among them.
    pub fn put_fields(&mut self, reference: Ref, first: usize, values: &[u8]) -> Result<(), AccessError<D::Error>> {
        self.expect_access()?;
        let sector = self.find_object(reference)?;
        if values.is_empty() {
            self.field(&sector, first)?;
            return Ok(());
        }
        self.set_range(sector, first, values)
    }

    /// Sets fields or elements of what is in a sector from `first` on.
    pub(crate) fn set_range(
        &mut self,
        sector: Sector,
        first: usize,
        values: &[u8],
    ) -> Result<(), AccessError<D::Error>> {
        let extent = self.extent_of(&sector, first, values.len() as u32)?;
        let sector = if self.reclamation.make_room()? { self.find_again(sector)? } else { sector };
        let sector = self.make_room_to_replace(sector)?;
        let used = self.reclamation.objects.tail(&sector, None)?.used;
        self.replace(sector, Reason::Replaced(used), Replacement { at: extent.at, bytes: values })
    }

    /// Reads as much of an object's header as `buffer` holds. Returns the header's length.
    ///
    /// Cost: a look-up, and the bytes.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn read_header(&mut self, reference: Ref, buffer: &mut [u8]) -> Result<usize, AccessError<D::Error>> {
        self.expect_access()?;
        let sector = self.find(reference)?;
        let header = self.reclamation.objects.parts(&sector)?.header;
        self.reclamation.objects.read_header(&sector, header, buffer)?;
        Ok(header.width as usize)
    }

    /// Atomically replaces an object's header.
    ///
    /// Cost: three look-ups, a granule of the log, the object's granules and a map change.
    ///
    /// # Errors
    /// `Stale`, `HeaderTooLarge`; the store's, `Full` where the object grows and there is no room for it.
    pub fn write_header(&mut self, reference: Ref, header: &[u8]) -> Result<(), AccessError<D::Error>> {
        self.expect_access()?;
        self.find(reference)?;
        self.replace_header(reference.slot(), header)
    }

    /// Writes what is in a slot anew with another header.
    pub(crate) fn replace_header(&mut self, slot: u16, bytes: &[u8]) -> Result<(), AccessError<D::Error>> {
        let Some(sector) = self.sector_in(slot)? else { return Ok(()) };
        let header = self.headed(&sector, bytes.len())?;
        let geometry = self.reclamation.objects.map.space.log.units.geometry();
        let more = header.bare_granules(&geometry).saturating_sub(sector.header.bare_granules(&geometry));
        let more = if self.in_transaction() { header.bare_granules(&geometry) } else { more };
        let is_moved = match more {
            0 => self.reclamation.make_room()?,
            more => self.reclamation.make_room_for(more + geometry.node_granules(), 0)?,
        };
        let sector = if is_moved { self.find_again(sector)? } else { sector };
        let used = self.reclamation.objects.tail(&sector, None)?.used;
        let tail = self.reclamation.tail_of(&header, Reason::Replaced(used));
        let (header, source) = (Header { tail, ..header }, Source::Reheaded(sector, bytes));
        let old = self.reclamation.intend_replacement(header.owner(), Ok(sector))?;
        let written = self.reclamation.objects.write(header, source, None, Stream::Updated)?;
        Ok(self.reclamation.lead_to(header.owner(), Entry::At(written), old)?)
    }

    /// The sector's header once the object has one of `bytes` bytes.
    fn headed(&mut self, sector: &Sector, bytes: usize) -> Result<Header, AccessError<D::Error>> {
        let parts = self.reclamation.objects.parts(sector)?;
        let data = self.reclamation.objects.data_bytes(sector)?;
        let geometry = self.reclamation.objects.map.space.log.units.geometry();
        let room = geometry.room().min(255) * geometry.granule_bytes - geometry.check_bytes();
        let bytes_max = room.saturating_sub(parts.bytes_with_header(0, data)).min(HEADER_MAX as u32);
        if bytes > bytes_max as usize {
            return Err(AccessError::HeaderTooLarge { max: bytes_max });
        }
        let granules = geometry.sector_granules(parts.bytes_with_header(bytes as u32, data));
        Ok(Header { kind: SectorKind::Headed, width: granules as u8, ..sector.header })
    }

    /// The bytes of whole fields from `first` on.
    fn extent_of(&mut self, sector: &Sector, first: usize, bytes: u32) -> Result<Extent, AccessError<D::Error>> {
        let (_, start) = self.field(sector, first)?;
        let mut end = start;
        for index in first + 1..usize::from(sector.header.count) {
            if end.at + end.width - start.at >= bytes {
                break;
            }
            end = self.field(sector, index)?.1;
        }
        let width = end.at + end.width - start.at;
        if width < bytes {
            return Err(AccessError::OutOfRange { count: u32::from(sector.header.count) });
        }
        if width > bytes {
            return Err(AccessError::WrongWidth { width: end.width });
        }
        Ok(Extent { at: start.at, width })
    }

    /// Writes an object anew with other values.
    pub(crate) fn replace(
        &mut self,
        sector: Sector,
        reason: Reason,
        replacement: Replacement<'_>,
    ) -> Result<(), AccessError<D::Error>> {
        let owner = sector.header.owner();
        let old = self.reclamation.intend_replacement(owner, Ok(sector))?;
        let written = self.reclamation.rewrite(sector, reason, Some(replacement), Stream::Updated)?;
        Ok(self.reclamation.lead_to(owner, Entry::At(written), old)?)
    }

    /// Room for writing an object anew, which within a transaction keeps its old sector. Returns where the object is
    /// after that.
    pub(crate) fn make_room_to_replace(&mut self, sector: Sector) -> Result<Sector, AccessError<D::Error>> {
        if !self.in_transaction() {
            return Ok(sector);
        }
        let geometry = self.reclamation.objects.map.space.log.units.geometry();
        let needed = sector.header.bare_granules(&geometry) + geometry.node_granules();
        if self.reclamation.make_room_for(needed, 0)? { self.find_again(sector) } else { Ok(sector) }
    }

    /// Where the owner of a sector is after reclamation.
    pub(crate) fn find_again(&mut self, sector: Sector) -> Result<Sector, AccessError<D::Error>> {
        let Header { index, generation, .. } = sector.header;
        self.sector_in(index)?.ok_or(AccessError::Stale(Ref::new(index, generation)))
    }

    /// Refuses an access while the heap is halted or the transaction aborted.
    pub(crate) fn expect_access(&self) -> Result<(), AccessError<D::Error>> {
        self.expect_running()?;
        if self.log().notes.is_aborted { Err(AccessError::TransactionAborted) } else { Ok(()) }
    }

    /// Refuses a creation then.
    pub(crate) fn expect_creation(&self) -> Result<(), CreateError<D::Error>> {
        self.expect_running()?;
        if self.log().notes.is_aborted { Err(CreateError::TransactionAborted) } else { Ok(()) }
    }

    pub(crate) fn expect_running(&self) -> Result<(), StoreError<D::Error>> {
        self.reclamation.objects.map.space.log.units.medium.expect_running()
    }

    /// The sector of an object or an array; of a split one the first.
    pub(crate) fn find(&mut self, reference: Ref) -> Result<Sector, AccessError<D::Error>> {
        match self.sector_in(reference.slot())? {
            Some(sector) if sector.header.generation == reference.generation() && self.is_there(&sector)? => Ok(sector),
            _ => Err(AccessError::Stale(reference)),
        }
    }

    /// The sector of an object.
    pub(crate) fn find_object(&mut self, reference: Ref) -> Result<Sector, AccessError<D::Error>> {
        let sector = self.find(reference)?;
        if sector.header.class == Class::Object { Ok(sector) } else { Err(AccessError::WrongKind(reference)) }
    }

    /// The sector that is in a slot.
    pub(crate) fn sector_in(&mut self, slot: u16) -> Result<Option<Sector>, StoreError<D::Error>> {
        let Entry::At(at) = self.reclamation.objects.map.lookup(Owner::object(slot))? else { return Ok(None) };
        let header = self.reclamation.objects.map.header(at)?;
        if header.kind == SectorKind::Node || header.index != slot || header.count == 0 {
            return Err(self.reclamation.objects.map.medium().corrupted(at, "no sector of its owner"));
        }
        Ok(Some(Sector { at, header }))
    }

    /// A field's number and place.
    pub(crate) fn field(&mut self, sector: &Sector, index: usize) -> Result<(u8, Extent), AccessError<D::Error>> {
        let count = sector.header.count;
        match u8::try_from(index) {
            Ok(field) if field < count => Ok((field, self.reclamation.objects.extent(sector, field)?)),
            _ => Err(AccessError::OutOfRange { count: u32::from(count) }),
        }
    }
}

impl<D: Nor, M: UnitRows, L: Listener> ObjectHeap for LogHeapIn<D, M, L> {
    norn_heap::object_heap_by_methods!(D::Error);
}

impl<D: Nor, M: UnitRows, L: Listener> PhysicalPointers for LogHeapIn<D, M, L> {
    norn_heap::physical_pointers_by_methods!(L);
}

/// How an object or array is kept, beside what [`Info`] says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorInfo {
    /// Sections of an array that is split; 0 of what is in one sector.
    pub sections: u32,
    /// Places of its tail that are used; of the first sector of a split array.
    pub tail_used: u8,
    /// Places of that tail.
    pub tail: u8,
}

/// Bytes of the fields, of the table of their widths where there is one, and of the header with its lengths.
fn content_bytes(layout: &Layout<'_>) -> u32 {
    let table = match layout.widths() {
        Widths::Uniform { .. } => 0,
        Widths::Each(widths) => widths.len() as u32,
    };
    let header = layout.header().len() as u32;
    let header = if header == 0 { 0 } else { HEADED_AT - HEADER_BYTES + header };
    layout.data_bytes() + table + header
}

/// Bytes of the largest header.
pub(crate) const HEADER_MAX: usize = 255;

pub(crate) fn expect_width<E>(bytes: usize, width: u32) -> Result<(), AccessError<E>> {
    if bytes as u32 == width { Ok(()) } else { Err(AccessError::WrongWidth { width }) }
}
