//! Objects and arrays as a whole: creation, deletion, enumeration.

use norn_flash::Nor;
use norn_heap::{AccessError, CreateError, Info, Kind, Layout, Listener, Ref, Representation, Widths};
use norn_nor_store::{Features, Room, SectorKind, SectorSpec, TreeId, UnitRows};

use crate::compact::Change;
use crate::form::{ListInfo, Object, ObjectForm, Owner, reference_of};
use crate::format::{COUNT_MAX, Form, Shape, data_offset, widths_offset};
use crate::heap::HeapIn;

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// Creates an object with all its fields at their default value, zeros.
    ///
    /// Cost: 13 words programmed, and the header; without initialization flags also the data. Once in 16 times a new
    /// tree node, 9 words each level. Reads as one look-up, and a scan for a free reference from the lowest that may
    /// be.
    ///
    /// # Errors
    /// Names what is wrong with the layout; `Full` when the device is. Nothing is created then, and an open transaction
    /// is aborted if it was not the layout.
    pub fn create(&mut self, layout: Layout<'_>) -> Result<Ref, CreateError<D::Error>> {
        self.create_kind(layout, Kind::Object)
    }

    /// Creates an array of `count` elements of `width` bytes, all zeros, with a header (or an empty one). One of more
    /// elements than [`Config::array_threshold`](crate::Config::array_threshold), or more than fit an erase unit, is
    /// split into sections; it may take most of the device.
    ///
    /// Cost: as [`create`](Self::create); for a split array 9 words programmed a section, and its data without
    /// initialization flags.
    ///
    /// # Errors
    /// As [`create`](Self::create), and `TransactionTooLarge`: a section takes a log entry and an eighth. `TooLarge`
    /// where the part never has room, with the bytes of elements that no array exceeds.
    pub fn create_array(&mut self, count: usize, width: u8, header: &[u8]) -> Result<Ref, CreateError<D::Error>> {
        // Where fewer elements do not fit one record, because they are wide, they are split as well.
        let detection = self.detection();
        let fits = |elements: u32| {
            data_offset(elements as u16, detection) + elements * u32::from(width) <= self.store().sector_bytes_max()
        };
        if count > usize::from(self.config().array_threshold) || !fits(count as u32) {
            return self.create_split(count, width, header);
        }
        self.create_kind(Layout::uniform(count, width).with_header(header), Kind::Array)
    }

    fn create_kind(&mut self, layout: Layout<'_>, kind: Kind) -> Result<Ref, CreateError<D::Error>> {
        if self.is_aborted() {
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
        let width = match layout.widths() {
            Widths::Uniform { width: 0, .. } => return Err(CreateError::ZeroWidth { field: 0 }),
            Widths::Uniform { width, .. } => Some(width),
            Widths::Each(widths) => match widths.iter().position(|&width| width == 0) {
                Some(field) => return Err(CreateError::ZeroWidth { field }),
                None => None,
            },
        };
        let form = Form::new(kind, self.config().initialization_flags, layout.representation());
        let shape = Shape::new(form, width, count as u16);
        let max = self.store().sector_bytes_max();
        let detection = self.detection();
        let record = data_offset(shape.count, detection) + layout.data_bytes();
        let widths = if width.is_none() { u32::from(shape.count) } else { 0 };
        let header =
            u32::try_from(layout.header().len()).unwrap_or(u32::MAX).saturating_add(widths_offset(detection) + widths);
        match record.max(header) {
            bytes if bytes > max => Err(CreateError::TooLarge { max }),
            _ => Ok(shape),
        }
    }

    fn build(&mut self, layout: &Layout<'_>, shape: Shape) -> Result<Ref, CreateError<D::Error>> {
        let slot = self.free_slot()?;
        let reference = reference_of(slot, self.store().next_serial());
        debug_assert!(!matches!(layout.widths(), Widths::Each(widths) if widths.len() != usize::from(shape.count)));
        let header = self.checked().build_header(layout)?;
        let detection = self.detection();
        let record = data_offset(shape.count, detection) + layout.data_bytes();
        let [first, leaf] = self.store_mut().space().allocate_pair(
            [
                SectorSpec { bytes: record, kind: SectorKind::Record },
                SectorSpec { bytes: shape.descriptor_bytes(detection), kind: SectorKind::Leaf },
            ],
            Room::Ordinary,
        )?;
        if !shape.form.has_flags() {
            self.checked().fill_zeros(first, data_offset(shape.count, detection), layout.data_bytes())?;
            self.lists().program_zero_codes(first, shape.count, |index| layout.width(index))?;
        }
        let object = Object { reference, leaf, fresh: true, first, header, shape, owner: Owner::RefTree };
        self.store_mut().advance_serial();
        self.descriptors().write_leaf(&object)?;
        self.store_mut().trees().put(TreeId::Ref, slot, Some(leaf), Room::Ordinary)?;
        self.slot_is_taken(slot);
        Ok(reference)
    }

    /// Deletes an object or array. Roots that name it are left with a stale reference.
    ///
    /// Works on a full device. Cost: 8 words programmed, one for each of its sectors, and 2 more where there are more
    /// than two besides the descriptor; where the tree's node has no spare left, a copy of the node, at most 24 words.
    ///
    /// # Errors
    /// `Stale`; the store's. Nothing is deleted then, and an open transaction is aborted if the store failed.
    pub fn delete(&mut self, reference: Ref) -> Result<(), AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let deleted = self.dismantle(&named);
        self.settle(deleted)
    }

    fn dismantle(&mut self, named: &ObjectForm) -> Result<(), AccessError<D::Error>> {
        self.pointers().forget_all(named)?;
        let slot = u32::from(named.reference().slot());
        self.store_mut().trees().put(TreeId::Ref, slot, None, Room::Reserved)?;
        match named {
            ObjectForm::List(object) => self.compaction().release_records(object.first, object.header)?,
            ObjectForm::Split(array) => {
                self.store_mut().trees().release(array.tree)?;
                if let Some(header) = array.header {
                    self.store_mut().space().release(header, None)?;
                }
            }
        }
        self.slot_is_free(slot);
        Ok(())
    }

    /// Changes which accesses are to be cheap. Nothing is done where it is so already.
    ///
    /// Cost: as a compaction in [`put_field`](Self::put_field). A split array has each of its sections compacted when
    /// it becomes read-optimized, and otherwise only a new array descriptor.
    ///
    /// # Errors
    /// `Stale`; the store's. Nothing was changed then, and an open transaction is aborted if the store failed.
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
            ObjectForm::List(object) => {
                self.compaction().compact(object, Change::Representation(representation)).map_err(AccessError::Store)
            }
            ObjectForm::Split(_) => self.change_array_representation(reference, representation),
        };
        self.settle(changed)
    }

    /// The object or array with the smallest reference slot above that of `after`, or the first one.
    ///
    /// Cost: a look-up, and 24 words for each tree node that is passed.
    ///
    /// # Errors
    /// The store's.
    pub fn next_object(&mut self, after: Option<Ref>) -> Result<Option<Ref>, AccessError<D::Error>> {
        self.expect_access()?;
        let from = after.map_or(0, |after| u32::from(after.slot()) + 1);
        let root = self.store().tree(TreeId::Ref);
        let Some((slot, leaf)) = self.store_mut().trees().next(root, from)? else {
            return Ok(None);
        };
        let named = self.descriptors().read_descriptor(leaf, slot, true)?;
        Ok(Some(named.reference()))
    }

    /// What `reference` names.
    ///
    /// Cost: a look-up, and two words for the header.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn info(&mut self, reference: Ref) -> Result<Info, AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let data_bytes = match &named {
            ObjectForm::List(object) => self.descriptors().data_bytes(object)?,
            ObjectForm::Split(array) => array.count * u32::from(array.shape.width),
        };
        let header_bytes = self.checked().header_lengths(named.header(), named.widths_bytes())?.0;
        Ok(Info { kind: named.kind(), count: named.count(), data_bytes, header_bytes })
    }

    /// How what `reference` names is kept.
    ///
    /// Cost: a look-up, and two words for each record.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn list_info(&mut self, reference: Ref) -> Result<ListInfo, AccessError<D::Error>> {
        let named = self.look_up(reference)?;
        let mut records = 0;
        match &named {
            ObjectForm::List(object) => records = self.lists().count_records(object)?,
            ObjectForm::Split(array) => {
                for number in 0..array.sections() {
                    let section = self.descriptors().section(array, number)?;
                    records += self.lists().count_records(&section)?;
                }
            }
        }
        Ok(ListInfo { representation: named.representation(), records })
    }
}
