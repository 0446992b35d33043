//! Objects and arrays as a whole: creation, deletion, enumeration.

use norn_flash::Nor;
use norn_nor_store::{Features, Link, Room, Sector, SectorKind, SectorPtr, SectorSpec, StoreError, TreeId};

use crate::descriptor::{Named, Object, Owner, header_lengths};
use crate::error::{AccessError, CreateError};
use crate::format::{Form, Shape, data_offset, widths_offset};
use crate::heap::{Heap, Transaction};
use crate::notify::Listener;
use crate::reference::Ref;
use crate::rewrite::Change;

/// Most fields of an object and elements of a small array.
pub(crate) const COUNT_MAX: usize = 255;
/// Bytes that are copied or filled at a time.
pub(crate) const CHUNK_BYTES: usize = 32;

/// What to create: the fields' widths and a header.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    widths: Widths<'a>,
    header: &'a [u8],
    representation: Representation,
}

/// The widths of the fields of a [`Layout`], in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Widths<'a> {
    /// All have one width.
    Uniform {
        /// Number of fields.
        count: usize,
        /// Width of each.
        width: u8,
    },
    /// The width of each field.
    Each(&'a [u8]),
}

impl<'a> Layout<'a> {
    /// `count` fields of `width` bytes each.
    pub const fn uniform(count: usize, width: u8) -> Layout<'a> {
        Layout {
            widths: Widths::Uniform { count, width },
            header: &[],
            representation: Representation::ModifyOptimized,
        }
    }

    /// A field of each of these widths, in bytes. Fields are packed without padding: order them by falling width.
    pub const fn fields(widths: &'a [u8]) -> Layout<'a> {
        Layout { widths: Widths::Each(widths), header: &[], representation: Representation::ModifyOptimized }
    }

    /// The same with a header: bytes that the heap does not interpret (a type, in a Java virtual machine).
    pub const fn with_header(mut self, header: &'a [u8]) -> Layout<'a> {
        self.header = header;
        self
    }

    /// The same in another representation.
    pub const fn with_representation(mut self, representation: Representation) -> Layout<'a> {
        self.representation = representation;
        self
    }

    /// The fields' widths, as one width where all are equal.
    pub fn widths(&self) -> Widths<'a> {
        self.simplified().widths
    }

    /// The header's bytes.
    pub fn header(&self) -> &'a [u8] {
        self.header
    }

    /// The same with one width instead of a list of equal ones.
    fn simplified(mut self) -> Layout<'a> {
        if let Widths::Each(widths) = self.widths
            && let Some(&first) = widths.first()
            && widths.iter().all(|&width| width == first)
        {
            self.widths = Widths::Uniform { count: widths.len(), width: first };
        }
        self
    }

    fn count(&self) -> usize {
        match self.widths {
            Widths::Uniform { count, .. } => count,
            Widths::Each(widths) => widths.len(),
        }
    }

    fn width(&self, index: usize) -> u8 {
        match self.widths {
            Widths::Uniform { width, .. } => width,
            Widths::Each(widths) => widths[index],
        }
    }

    fn data_bytes(&self) -> u32 {
        match self.widths {
            Widths::Uniform { count, width } => count as u32 * u32::from(width),
            Widths::Each(widths) => widths.iter().map(|&width| u32::from(width)).sum(),
        }
    }
}

/// Object or array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Fields, each of a width of its own.
    Object,
    /// Elements of one width.
    Array,
}

/// Which accesses of an object or array are to be cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Representation {
    /// Updates: its list of records grows to its maximal length before it is compacted. What is created is so, unless its
    /// layout says otherwise.
    ModifyOptimized,
    /// Reads: it has one record, and takes the room of one. The first update of a field is as cheap as any; each further one
    /// compacts it, about 20 words programmed and its data.
    ReadOptimized,
}

/// What an object or array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Object or array.
    pub kind: Kind,
    /// Which accesses are to be cheap.
    pub representation: Representation,
    /// Number of fields or elements.
    pub count: usize,
    /// Bytes of all fields or elements together.
    pub data_bytes: u32,
    /// Bytes of the header.
    pub header_bytes: usize,
    /// Records of its list, at most [`Config::list_length_max`](crate::Config::list_length_max); of a split array, those of all
    /// its sections' lists.
    pub records: usize,
}

impl<D: Nor, const UNITS: usize, L: Listener, F: Features> Heap<D, UNITS, L, F> {
    /// Creates an object with all its fields at their default value, zeros.
    ///
    /// Cost: 13 words programmed, and the header; without initialization flags also the data. Once in 16 times a new tree node,
    /// 9 words each level. Reads as one look-up, and a scan for a free reference from the lowest that may be.
    ///
    /// # Errors
    /// Names what is wrong with the layout; `Full` when the device is. Nothing is created then, and an open transaction is
    /// undone if it was not the layout.
    pub fn create(&mut self, layout: Layout<'_>) -> Result<Ref, CreateError<D::Error>> {
        self.create_kind(layout.simplified(), Kind::Object)
    }

    /// Creates an array of `count` elements of `width` bytes, all zeros, with a header (or an empty one). One of more elements than
    /// [`Config::array_threshold`](crate::Config::array_threshold), or more than fit an erase unit, is split into sections; it may take most of the device.
    ///
    /// Cost: as [`create`](Self::create); for a split array 9 words programmed a section, and its data without initialization flags.
    ///
    /// # Errors
    /// As [`create`](Self::create), and `TransactionTooLarge`: a section takes a log entry and an eighth.
    pub fn create_array(&mut self, count: usize, width: u8, header: &[u8]) -> Result<Ref, CreateError<D::Error>> {
        // Where fewer elements do not fit one record, because they are wide, they are split as well.
        let detection = self.detection();
        let fits = |elements: u32| {
            data_offset(elements as u16, detection) + elements * u32::from(width) <= self.store.sector_bytes_max()
        };
        if count > usize::from(self.config.array_threshold) || !fits(count as u32) {
            return self.create_split(count, width, header);
        }
        self.create_kind(Layout::uniform(count, width).with_header(header), Kind::Array)
    }

    fn create_kind(&mut self, layout: Layout<'_>, kind: Kind) -> Result<Ref, CreateError<D::Error>> {
        if self.transaction == Transaction::Aborted {
            return Err(CreateError::TransactionAborted);
        }
        let shape = self.shape_of(&layout, kind)?;
        let created = self.build(&layout, shape);
        self.settle(created)
    }

    fn shape_of(&self, layout: &Layout<'_>, kind: Kind) -> Result<Shape, CreateError<D::Error>> {
        let count = layout.count();
        if count == 0 {
            return Err(CreateError::NoFields);
        }
        if count > COUNT_MAX {
            return Err(CreateError::TooManyFields { count });
        }
        let width = match layout.widths {
            Widths::Uniform { width: 0, .. } => return Err(CreateError::ZeroWidth { field: 0 }),
            Widths::Uniform { width, .. } => Some(width),
            Widths::Each(widths) => match widths.iter().position(|&width| width == 0) {
                Some(field) => return Err(CreateError::ZeroWidth { field }),
                None => None,
            },
        };
        let form = Form::new(kind, self.config.initialization_flags, layout.representation);
        let shape = Shape::new(form, width, count as u16);
        let max = self.store.sector_bytes_max();
        let detection = self.detection();
        let record = data_offset(shape.count, detection) + layout.data_bytes();
        let widths = if width.is_none() { u32::from(shape.count) } else { 0 };
        let header =
            u32::try_from(layout.header.len()).unwrap_or(u32::MAX).saturating_add(widths_offset(detection) + widths);
        match record.max(header) {
            bytes if bytes > max => Err(CreateError::TooLarge { max }),
            _ => Ok(shape),
        }
    }

    fn build(&mut self, layout: &Layout<'_>, shape: Shape) -> Result<Ref, CreateError<D::Error>> {
        let slot = self.free_slot()?;
        let reference = Ref::new(slot, self.store.next_serial());
        debug_assert!(!matches!(layout.widths, Widths::Each(widths) if widths.len() != usize::from(shape.count)));
        let header = self.build_header(layout)?;
        let detection = self.detection();
        let record = data_offset(shape.count, detection) + layout.data_bytes();
        let [first, leaf] = self.store.space().allocate_pair(
            [
                SectorSpec { bytes: record, kind: SectorKind::Record },
                SectorSpec { bytes: shape.descriptor_bytes(detection), kind: SectorKind::Leaf },
            ],
            Room::Ordinary,
        )?;
        if !shape.form.has_flags() {
            self.fill_zeros(first, data_offset(shape.count, detection), layout.data_bytes())?;
            self.program_zero_codes(first, shape.count, |index| layout.width(index))?;
        }
        let object = Object { reference, leaf, fresh: true, first, header, shape, owner: Owner::RefTree };
        self.store.advance_serial();
        self.write_leaf(&object)?;
        self.store.trees().put(TreeId::Ref, slot, Some(leaf), Room::Ordinary)?;
        self.slot_hint = slot + 1;
        Ok(reference)
    }

    pub(crate) fn free_slot(&mut self) -> Result<u32, CreateError<D::Error>> {
        for from in [self.slot_hint, 0] {
            let root = self.store.tree(TreeId::Ref);
            match self.store.trees().vacant(root, from)? {
                Some(slot) if slot < Ref::SLOTS => return Ok(slot),
                _ => {}
            }
        }
        Err(CreateError::NoReferences)
    }

    pub(crate) fn build_header(&mut self, layout: &Layout<'_>) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        let widths = match layout.widths {
            Widths::Uniform { .. } => &[],
            Widths::Each(widths) => widths,
        };
        if widths.is_empty() && layout.header.is_empty() {
            return Ok(None);
        }
        let pointer = self.begin_header(widths.len() as u32, layout.header, layout.data_bytes())?;
        let sector = self.store.sectors().get(pointer)?;
        let widths_at = widths_offset(self.detection());
        self.store.sectors().program(&sector, widths_at, widths)?;
        self.seal_header(&sector, widths.len() as u32)?;
        Ok(Some(pointer))
    }

    /// Allocates a header sector and programs it, but for its widths and codes.
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
        self.store.sectors().program(&sector, 0, &header_lengths(header.len(), data_bytes))?;
        self.store.sectors().program(&sector, header_at, header)?;
        Ok(pointer)
    }

    /// Makes the tree that leads to an object lead to a new representation.
    pub(crate) fn point_to(&mut self, object: &Object, leaf: SectorPtr) -> Result<(), StoreError<D::Error>> {
        match &object.owner {
            Owner::RefTree => self.store.trees().put(TreeId::Ref, object.reference.slot(), Some(leaf), Room::Replacing),
            Owner::Array(array, number) => self.point_to_section(array, *number, leaf),
        }
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

    /// Deletes an object or array. Roots that name it are left with a stale reference.
    ///
    /// Works on a full device. Cost: 8 words programmed, one for each of its sectors, and 2 more where these are more than two
    /// beside the descriptor; where the tree's node has no spare left, a copy of the node, at most 24 words.
    ///
    /// # Errors
    /// `Stale`; the store's. Nothing is deleted then, and an open transaction is undone if the store failed.
    pub fn delete(&mut self, reference: Ref) -> Result<(), AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let deleted = self.dismantle(&named);
        self.settle(deleted)
    }

    fn dismantle(&mut self, named: &Named) -> Result<(), AccessError<D::Error>> {
        self.forget_all(named)?;
        let slot = named.reference().slot();
        self.store.trees().put(TreeId::Ref, slot, None, Room::Reserved)?;
        match named {
            Named::List(object) => self.release_records(object.first, object.header)?,
            Named::Split(array) => {
                self.store.trees().release(array.tree)?;
                if let Some(header) = array.header {
                    self.store.space().release(header, None)?;
                }
            }
        }
        self.slot_hint = self.slot_hint.min(slot);
        Ok(())
    }

    /// Frees a list of records, and one more sector, at the commit: one entry for two sectors, two for more.
    pub(crate) fn release_records(
        &mut self,
        first: SectorPtr,
        also: Option<SectorPtr>,
    ) -> Result<(), StoreError<D::Error>> {
        let second = self.linked_record(first)?;
        let third = match second {
            Some(second) => self.linked_record(second)?,
            None => None,
        };
        match (second, also) {
            (None, also) => self.store.space().release(first, also),
            (second, None) if third.is_none() => self.store.space().release(first, second),
            (_, None) => self.store.space().release_chain(first),
            (_, Some(also)) => {
                self.store.space().release_chain(first)?;
                self.store.space().release(also, None)
            }
        }
    }

    fn linked_record(&mut self, record: SectorPtr) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        let sector = self.store.sectors().get(record)?;
        Ok(match self.store.sectors().link(&sector)? {
            Link::To(next) => Some(next),
            Link::Erased | Link::Void => None,
        })
    }

    /// Changes which accesses are to be cheap. Nothing is done where it is so already.
    ///
    /// Cost: as a compaction in [`put_field`](Self::put_field). A split array has each of its sections compacted when it becomes
    /// read-optimized, and otherwise only a new array descriptor.
    ///
    /// # Errors
    /// `Stale`; the store's. Nothing was changed then, and an open transaction is undone if the store failed.
    pub fn set_representation(
        &mut self,
        reference: Ref,
        representation: Representation,
    ) -> Result<(), AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        if named.representation() == representation {
            return Ok(());
        }
        let changed = match &named {
            Named::List(object) => {
                self.rewrite(object, Change::Representation(representation)).map_err(AccessError::Store)
            }
            Named::Split(_) => self.change_array_representation(reference, representation),
        };
        self.settle(changed)
    }

    /// The object or array with the smallest reference slot behind that of `after`, or the first one.
    ///
    /// Cost: a look-up, and 24 words for each tree node that is passed.
    ///
    /// # Errors
    /// The store's.
    pub fn next_object(&mut self, after: Option<Ref>) -> Result<Option<Ref>, AccessError<D::Error>> {
        let from = after.map_or(0, |after| after.slot() + 1);
        let root = self.store.tree(TreeId::Ref);
        let Some((slot, leaf)) = self.store.trees().next(root, from)? else {
            return Ok(None);
        };
        let named = self.read_descriptor(leaf, slot, true)?;
        Ok(Some(named.reference()))
    }

    /// What `reference` names.
    ///
    /// Cost: a look-up, two words for each record, and two for the header.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn info(&mut self, reference: Ref) -> Result<Info, AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let (data_bytes, records) = match &named {
            Named::List(object) => (self.data_bytes(object)?, self.count_records(object)?),
            Named::Split(array) => {
                let mut records = 0;
                for number in 0..array.sections() {
                    let section = self.section(array, number)?;
                    records += self.count_records(&section)?;
                }
                (array.count * u32::from(array.shape.width), records)
            }
        };
        let header_bytes = self.header_lengths(named.header(), named.widths_bytes())?.0;
        let (kind, representation, count) = (named.kind(), named.representation(), named.count());
        Ok(Info { kind, representation, count, data_bytes, header_bytes, records })
    }

    fn count_records(&mut self, object: &Object) -> Result<usize, StoreError<D::Error>> {
        let (mut records, mut record) = (0, Some(object.first));
        while let Some(pointer) = record {
            records += 1;
            let sector = self.store.sectors().get(pointer)?;
            record = self.next_record(&sector, records)?;
        }
        Ok(records)
    }

    /// The record behind `sector`, which is number `position` of its list, from 1.
    pub(crate) fn next_record(
        &mut self,
        sector: &Sector,
        position: usize,
    ) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        match self.store.sectors().link(sector)? {
            Link::To(_) if position >= usize::from(self.config.list_length_max) => {
                self.store.sectors().corrupted(sector.address, "a list of more records than configured")
            }
            Link::To(next) => Ok(Some(next)),
            Link::Erased | Link::Void => Ok(None),
        }
    }
}
