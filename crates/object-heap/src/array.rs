//! Split arrays: arrays of more elements than an object has fields, in sections that are lists of records of their own.
//!
//! An array descriptor leads to a tree of the array's, the tree by section number to section descriptors, each of these to its
//! section's records. A section is read and updated like an object. When it is compacted, the array's tree gets a new section
//! descriptor; only when that gives the tree another root is the array descriptor written anew and the REF tree changed.
//!
//! Invariants: an array has every section of its number of elements; all sections but the last have the same number of
//! elements, chosen so that two records fit an erase unit.

use norn_flash::{Address, Nor};
use norn_nor_store::{Features, Link, Room, Sector, SectorKind, SectorPtr, SectorSpec, StoreError, TreeId, TreeRoot};

use crate::descriptor::{Named, Object, Owner, descriptor_bytes};
use crate::error::{AccessError, CreateError};
use crate::format::{
    CHECKSUM_BYTES, DESCRIPTOR_BYTES, ELEMENTS_BYTES, SECTION_FLAGS_OFFSET, Shape, SplitShape, data_offset,
    elements_offset, flag_bytes, widths_offset,
};
use crate::heap::{Heap, Transaction};
use crate::notify::Listener;
use crate::object::{Layout, Representation};
use crate::reference::Ref;
use crate::rewrite::Change;

/// A split array that has been looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    pub reference: Ref,
    /// The tree that leads to the sections.
    pub tree: TreeRoot,
    pub header: Option<SectorPtr>,
    pub shape: SplitShape,
    /// Number of elements.
    pub count: u32,
}

impl Array {
    /// Number of sections.
    pub fn sections(&self) -> u32 {
        self.count.div_ceil(u32::from(self.shape.section_elements))
    }

    /// The form of section `number`: that of a small array.
    fn section_shape(&self, number: u32) -> Shape {
        let elements = u32::from(self.shape.section_elements);
        let count = (self.count - number * elements).min(elements) as u16;
        self.shape.of_section(count)
    }
}

impl<D: Nor, const UNITS: usize, L: Listener, F: Features> Heap<D, UNITS, L, F> {
    /// Section `number` of an array. Cost: *h*(3+*s*) reads on the array's tree, and 2.
    pub(crate) fn section(&mut self, array: &Array, number: u32) -> Result<Object, StoreError<D::Error>> {
        let Some(found) = self.store.trees().get(array.tree, number)? else {
            let address = array.tree.node.map_or(Address(0), |node| self.store.place_of(node));
            return self.store.sectors().corrupted(address, "an array without one of its sections");
        };
        let sector = self.store.sectors().get(found.pointer)?;
        let Link::To(first) = self.store.sectors().link(&sector)? else {
            return self.store.sectors().corrupted(sector.address, "a section descriptor without a record");
        };
        Ok(Object {
            reference: array.reference,
            leaf: found.pointer,
            fresh: found.open,
            first,
            header: None,
            shape: array.section_shape(number),
            owner: Owner::Array(*array, number),
        })
    }

    /// Makes the array's tree lead to a new section descriptor; where that gives it another root, writes the array descriptor anew.
    pub(crate) fn point_to_section(
        &mut self,
        array: &Array,
        number: u32,
        leaf: SectorPtr,
    ) -> Result<(), StoreError<D::Error>> {
        let tree = self.store.trees().set(array.tree, number, Some(leaf), Room::Replacing)?;
        if tree == array.tree {
            return Ok(());
        }
        self.write_array(&Array { tree, ..*array }, Room::Replacing)
    }

    /// Writes an array descriptor, and makes the REF tree lead to it; the commit frees the one before.
    pub(crate) fn write_array(&mut self, array: &Array, room: Room) -> Result<(), StoreError<D::Error>> {
        let elements_at = elements_offset(self.detection());
        let spec = SectorSpec { bytes: elements_at + ELEMENTS_BYTES, kind: SectorKind::Leaf };
        let leaf = self.store.space().allocate(spec, room)?;
        let sector = self.store.sectors().get(leaf)?;
        let links = (array.tree.node, array.header);
        let (bytes, count) =
            (descriptor_bytes(array.reference, links, array.shape.encode()), array.count.to_le_bytes());
        self.store.sectors().program_new(&sector, 0, &bytes)?;
        self.program_checksum(&sector, DESCRIPTOR_BYTES, self.checksum_of(&bytes))?;
        self.program_checksum(&sector, DESCRIPTOR_BYTES + CHECKSUM_BYTES, self.checksum_of(&count))?;
        self.store.sectors().program_new(&sector, elements_at, &count)?;
        self.store.trees().put(TreeId::Ref, array.reference.slot(), Some(leaf), room)
    }

    /// Gives a split array another representation: every section as one record where reads are to be cheap, then the descriptor.
    pub(crate) fn change_array_representation(
        &mut self,
        reference: Ref,
        representation: Representation,
    ) -> Result<(), AccessError<D::Error>> {
        if representation == Representation::ReadOptimized {
            for number in 0..self.look_up_split(reference)?.sections() {
                // The array's tree may have moved with the section before.
                let array = self.look_up_split(reference)?;
                let section = self.section(&array, number)?;
                self.rewrite(&section, Change::Representation(representation))?;
            }
        }
        let array = self.look_up_split(reference)?;
        let shape = SplitShape { form: array.shape.form.with(representation), ..array.shape };
        Ok(self.write_array(&Array { shape, ..array }, Room::Replacing)?)
    }

    fn look_up_split(&mut self, reference: Ref) -> Result<Array, AccessError<D::Error>> {
        match self.look_up(reference)? {
            Named::Split(array) => Ok(array),
            Named::List(_) => Err(AccessError::WrongKind(reference)),
        }
    }

    /// The number of elements that an array descriptor states, if the array's tree can hold that many.
    pub(crate) fn read_element_count(
        &mut self,
        descriptor: &Sector,
        shape: &SplitShape,
    ) -> Result<u32, StoreError<D::Error>> {
        let mut bytes = [0; 4];
        let at = elements_offset(self.detection());
        self.store.sectors().read(descriptor, at, &mut bytes)?;
        self.expect_checksum(descriptor, DESCRIPTOR_BYTES + CHECKSUM_BYTES, self.checksum_of(&bytes))?;
        let count = u32::from_le_bytes(bytes);
        let sections = count.div_ceil(u32::from(shape.section_elements));
        if count == 0 || u64::from(sections) > 1 << (4 * shape.height) {
            return self
                .store
                .sectors()
                .corrupted(descriptor.address, "an array descriptor with an impossible number of elements");
        }
        Ok(count)
    }

    pub(crate) fn create_split(
        &mut self,
        count: usize,
        width: u8,
        header: &[u8],
    ) -> Result<Ref, CreateError<D::Error>> {
        if self.transaction == Transaction::Aborted {
            return Err(CreateError::TransactionAborted);
        }
        if width == 0 {
            return Err(CreateError::ZeroWidth { field: 0 });
        }
        let max = self.store.sector_bytes_max();
        if header.len() as u64 + u64::from(widths_offset(self.detection())) > u64::from(max) {
            return Err(CreateError::TooLarge { max });
        }
        let shape = SplitShape {
            form: SplitShape::form(self.config.initialization_flags, Representation::ModifyOptimized),
            width,
            section_elements: self.section_elements(width),
            height: 1,
        };
        self.check_room(count, &shape)?;
        let created = self.build_split(count as u32, shape, header);
        self.settle(created)
    }

    /// Elements of a section: the threshold, or as many as leave room for a second record in an erase unit.
    pub(crate) fn section_elements(&self, width: u8) -> u8 {
        let half = self.store.sector_bytes_max() / 2;
        let detection = self.detection();
        let fits =
            |elements: u8| data_offset(u16::from(elements), detection) + u32::from(elements) * u32::from(width) <= half;
        (1..=self.config.array_threshold).rev().find(|&elements| fits(elements)).unwrap_or(1)
    }

    /// Refuses at once what cannot fit, rather than when the device is full of it.
    fn check_room(&self, count: usize, shape: &SplitShape) -> Result<(), CreateError<D::Error>> {
        let elements = u16::from(shape.section_elements);
        if self.store.is_halted() {
            return Err(CreateError::Store(StoreError::Halted));
        }
        let record = data_offset(elements, self.detection()) + u32::from(elements) * u32::from(shape.width);
        match u32::try_from(count).map(|count| u64::from(count / u32::from(elements)) * u64::from(record)) {
            Ok(bytes) if bytes <= self.store.room_bytes() => Ok(()),
            _ => Err(CreateError::Store(StoreError::Full)),
        }
    }

    fn build_split(&mut self, count: u32, shape: SplitShape, header: &[u8]) -> Result<Ref, CreateError<D::Error>> {
        let slot = self.free_slot()?;
        let reference = Ref::new(slot, self.store.next_serial());
        let layout = Layout::uniform(0, shape.width).with_header(header);
        let header = self.build_header(&layout)?;
        let mut array = Array { reference, tree: TreeRoot::default(), header, shape, count };
        for number in 0..array.sections() {
            array.tree = self.build_section(&array, number)?;
        }
        self.store.advance_serial();
        array.shape.height = array.tree.height;
        self.write_array(&array, Room::Ordinary)?;
        self.slot_hint = slot + 1;
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
        let [first, leaf] = self.store.space().allocate_pair(specs, Room::Ordinary)?;
        if !shape.form.has_flags() {
            self.fill_zeros(first, data_offset(shape.count, detection), data)?;
            self.program_zero_codes(first, shape.count, |_| array.shape.width)?;
        }
        let sector = self.store.sectors().get(leaf)?;
        self.store.sectors().program_new(&sector, 0, &Link::encode(first).to_le_bytes())?;
        self.store.trees().set(array.tree, number, Some(leaf), Room::Ordinary)
    }
}
