//! Split arrays: arrays of more elements than an object has fields, in sections that are lists of records of their own.
//!
//! An array descriptor leads to a tree of the array's, the tree by section number to section descriptors, each of these
//! to its section's records. A section is read and updated like an object. When it is compacted, the array's tree gets
//! a new section descriptor; only when that gives the tree another root is the array descriptor rewritten and the REF
//! tree changed.
//!
//! Invariants: an array has every section of its number of elements; all sections but the last have the same number of
//! elements, chosen so that two records fit an erase unit.

use norn_flash::Nor;
use norn_heap::{AccessError, CreateError, Layout, Listener, Ref, Representation};
use norn_nor_store::{Features, Link, Room, SectorKind, SectorSpec, StoreError, TreeRoot, UnitRows};

use crate::compact::Change;
use crate::form::{Array, ObjectForm, reference_of};
use crate::format::{SECTION_FLAGS_OFFSET, SplitShape, data_offset, flag_bytes, widths_offset};
use crate::heap::HeapIn;

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// Gives a split array another representation: every section as one record where reads are to be cheap, then the
    /// descriptor.
    pub(crate) fn change_array_representation(
        &mut self,
        reference: Ref,
        representation: Representation,
    ) -> Result<(), AccessError<D::Error>> {
        if representation == Representation::ReadOptimized {
            for number in 0..self.look_up_split(reference)?.sections() {
                // The array's tree may have moved with the section before.
                let array = self.look_up_split(reference)?;
                let section = self.descriptors().section(&array, number)?;
                self.compaction().compact(&section, Change::Representation(representation))?;
            }
        }
        let array = self.look_up_split(reference)?;
        let shape = SplitShape { form: array.shape.form.with(representation), ..array.shape };
        Ok(self.compaction().write_array(&Array { shape, ..array }, Room::Replacing)?)
    }

    fn look_up_split(&mut self, reference: Ref) -> Result<Array, AccessError<D::Error>> {
        match self.look_up(reference)? {
            ObjectForm::Split(array) => Ok(array),
            ObjectForm::List(_) => Err(AccessError::WrongKind(reference)),
        }
    }

    pub(crate) fn create_split(
        &mut self,
        count: usize,
        width: u8,
        header: &[u8],
    ) -> Result<Ref, CreateError<D::Error>> {
        if self.is_aborted() {
            return Err(CreateError::TransactionAborted);
        }
        if width == 0 {
            return Err(CreateError::ZeroWidth { field: 0 });
        }
        let max = self.store().sector_bytes_max();
        if header.len() as u64 + u64::from(widths_offset(self.detection())) > u64::from(max) {
            return Err(CreateError::TooLarge { max });
        }
        let shape = SplitShape {
            form: SplitShape::form(self.config().initialization_flags, Representation::ModifyOptimized),
            width,
            section_elements: self.elements_of_section(width),
            height: 1,
        };
        self.check_room(count, &shape)?;
        let created = self.build_split(count as u32, shape, header);
        self.settle(created)
    }

    /// Elements of a section: the threshold, or as many as leave room for a second record in an erase unit.
    fn elements_of_section(&self, width: u8) -> u8 {
        let half = self.store().sector_bytes_max() / 2;
        let detection = self.detection();
        let fits =
            |elements: u8| data_offset(u16::from(elements), detection) + u32::from(elements) * u32::from(width) <= half;
        (1..=self.config().array_threshold).rev().find(|&elements| fits(elements)).unwrap_or(1)
    }

    /// Refuses at once what cannot fit, rather than when the device is full of it.
    fn check_room(&self, count: usize, shape: &SplitShape) -> Result<(), CreateError<D::Error>> {
        let store = self.store();
        if store.is_halted() {
            return Err(CreateError::Store(StoreError::Halted));
        }
        let (elements, width) = (u32::from(shape.section_elements), u32::from(shape.width));
        let record = data_offset(elements as u16, self.detection()) + elements * width;
        // Units of the log are counted, too: no array has as many sections.
        let most = store.sector_bytes_max() / record * u32::from(store.part().unit_count);
        if count.div_ceil(elements as usize) > most as usize {
            return Err(CreateError::TooLarge { max: most * elements * width });
        }
        let bytes = u64::from(count as u32 / elements) * u64::from(record);
        if bytes <= store.room_bytes() { Ok(()) } else { Err(CreateError::Store(StoreError::Full)) }
    }

    fn build_split(&mut self, count: u32, shape: SplitShape, header: &[u8]) -> Result<Ref, CreateError<D::Error>> {
        let slot = self.free_slot()?;
        let reference = reference_of(slot, self.store().next_serial());
        let layout = Layout::uniform(0, shape.width).with_header(header);
        let header = self.checked().build_header(&layout)?;
        let mut array = Array { reference, tree: TreeRoot::default(), header, shape, count };
        for number in 0..array.sections() {
            array.tree = self.build_section(&array, number)?;
        }
        self.store_mut().advance_serial();
        array.shape.height = array.tree.height;
        self.compaction().write_array(&array, Room::Ordinary)?;
        self.slot_is_taken(slot);
        Ok(reference)
    }

    /// Allocates a section with default values; returns the array's tree with it.
    fn build_section(&mut self, array: &Array, number: u32) -> Result<TreeRoot, StoreError<D::Error>> {
        let shape = array.section_shape(number);
        let (detection, data) = (self.detection(), u32::from(shape.count) * u32::from(array.shape.width));
        let flags = if shape.form.has_flags() { flag_bytes(shape.count, detection) } else { 0 };
        let specs = [
            SectorSpec { bytes: data_offset(shape.count, detection) + data, kind: SectorKind::Record },
            SectorSpec { bytes: SECTION_FLAGS_OFFSET + flags, kind: SectorKind::Leaf },
        ];
        let [first, leaf] = self.store_mut().space().allocate_pair(specs, Room::Ordinary)?;
        if !shape.form.has_flags() {
            self.checked().fill_zeros(first, data_offset(shape.count, detection), data)?;
            self.lists().program_zero_codes(first, shape.count, |_| array.shape.width)?;
        }
        let sector = self.sectors().get(leaf)?;
        self.sectors().program_new(&sector, 0, &Link::encode(first).to_le_bytes())?;
        self.store_mut().trees().set(array.tree, number, Some(leaf), Room::Ordinary)
    }
}
