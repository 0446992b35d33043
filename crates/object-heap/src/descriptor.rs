//! Descriptors: what a reference or a section number leads to, and what it says of an object's or array's form.
//!
//! Invariant: sectors are named by logical pointers, so that what has been looked up outlives reclamations.

use norn_flash::{Address, Nor};
use norn_heap::{AccessError, Ref, Representation};
use norn_nor_store::{
    DeltaRecords, ErrorDetection, Features, Link, Sector, SectorPtr, Sectors, StoreError, StoreIn, TreeId, TreeRoot,
    UnitRows,
};

use crate::check::Checked;
use crate::config::Config;
use crate::form::{Array, Field, Object, ObjectForm, Owner};
use crate::format::{
    CHECKSUM_BYTES, CHUNK_BYTES, COUNT_MAX, DESCRIPTOR_BYTES, FIRST_RECORD_OFFSET, HEADER_OFFSET, SHAPE_OFFSET, Shape,
    SplitShape, data_offset, elements_offset, flag_place, widths_offset,
};

/// What references and section numbers lead to.
#[derive(Clone, Debug)]
pub(crate) struct Descriptors<D: Nor, M: UnitRows, F> {
    pub checked: Checked<D, M, F>,
    config: Config,
}

impl<D: Nor, M: UnitRows, F: Features> Descriptors<D, M, F> {
    pub fn new(store: StoreIn<D, M, F>) -> Self {
        Descriptors { checked: Checked::new(store), config: Config::tinystore_2006() }
    }

    /// What the image was formatted with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn set_config(&mut self, config: Config) {
        self.checked.set_error_detection(config.error_detection);
        self.config = config;
    }

    fn store(&self) -> &StoreIn<D, M, F> {
        &self.checked.store
    }

    fn store_mut(&mut self) -> &mut StoreIn<D, M, F> {
        &mut self.checked.store
    }

    fn sectors(&mut self) -> &mut Sectors<D, M, F> {
        self.store_mut().sectors()
    }

    pub fn detection(&self) -> ErrorDetection {
        self.checked.detection()
    }

    pub fn detects(&self) -> bool {
        self.checked.detects()
    }

    /// Finds what `reference` names. Cost: a look-up.
    pub fn find(&mut self, reference: Ref) -> Result<ObjectForm, AccessError<D::Error>> {
        let root = self.store().tree(TreeId::Ref);
        let Some(found) = self.store_mut().trees().get(root, reference.slot().into())? else {
            return Err(AccessError::Stale(reference));
        };
        let named = self.read_descriptor(found.pointer, reference.slot().into(), found.open)?;
        if named.reference() != reference {
            return Err(AccessError::Stale(reference));
        }
        Ok(named)
    }

    pub(crate) fn read_descriptor(
        &mut self,
        leaf: SectorPtr,
        slot: u32,
        fresh: bool,
    ) -> Result<ObjectForm, StoreError<D::Error>> {
        let sector = self.sectors().get(leaf)?;
        let mut bytes = [0; DESCRIPTOR_BYTES as usize];
        self.sectors().read(&sector, 0, &mut bytes)?;
        self.checked.expect_checksum(&sector, DESCRIPTOR_BYTES, self.checked.checksum_of(&bytes))?;
        let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let link = |at: usize| Link::decode(u32::from_le_bytes(word(at)));
        let Some(reference) =
            Ref::from_bits(u32::from_le_bytes(word(0))).filter(|found| u32::from(found.slot()) == slot)
        else {
            return self.sectors().corrupted(sector.address, "an object descriptor with another object's reference");
        };
        let Link::To(first) = link(FIRST_RECORD_OFFSET) else {
            return self.sectors().corrupted(sector.address, "an object descriptor without a record");
        };
        let header = match link(HEADER_OFFSET) {
            Link::To(header) => Some(header),
            Link::Erased => None,
            Link::Void => {
                return self.sectors().corrupted(sector.address, "an object descriptor with a damaged header link");
            }
        };
        if let Some(shape) = SplitShape::decode(word(SHAPE_OFFSET)) {
            let tree = TreeRoot { node: Some(first), height: shape.height };
            let count = self.read_element_count(&sector, &shape)?;
            return Ok(ObjectForm::Split(Array { reference, tree, header, shape, count }));
        }
        match Shape::decode(word(SHAPE_OFFSET)) {
            Some(shape) if usize::from(shape.count) <= COUNT_MAX && (shape.width().is_some() || header.is_some()) => {
                if let (Some(header), None) = (header, shape.width()) {
                    self.checked.expect_widths(header, u32::from(shape.count))?;
                }
                Ok(ObjectForm::List(Object { reference, leaf, fresh, first, header, shape, owner: Owner::RefTree }))
            }
            _ => self.sectors().corrupted(sector.address, "an object descriptor with an impossible shape"),
        }
    }

    /// The number of elements that an array descriptor states, if the array's tree can hold that many.
    fn read_element_count(&mut self, descriptor: &Sector, shape: &SplitShape) -> Result<u32, StoreError<D::Error>> {
        let mut bytes = [0; 4];
        let at = elements_offset(self.detection());
        self.sectors().read(descriptor, at, &mut bytes)?;
        self.checked.expect_checksum(
            descriptor,
            DESCRIPTOR_BYTES + CHECKSUM_BYTES,
            self.checked.checksum_of(&bytes),
        )?;
        let count = u32::from_le_bytes(bytes);
        let sections = count.div_ceil(u32::from(shape.section_elements));
        if count == 0 || u64::from(sections) > 1 << (4 * shape.height) {
            return self
                .sectors()
                .corrupted(descriptor.address, "an array descriptor with an impossible number of elements");
        }
        Ok(count)
    }

    /// Programs the descriptor of a new representation, its initialization flags (if any) erased.
    pub(crate) fn write_leaf(&mut self, object: &Object) -> Result<(), StoreError<D::Error>> {
        let sector = self.sectors().get(object.leaf)?;
        match object.owner {
            Owner::RefTree => {
                let links = (Some(object.first), object.header);
                let bytes = descriptor_bytes(object.reference, links, object.shape.encode());
                self.sectors().program_new(&sector, 0, &bytes)?;
                self.checked.program_checksum(&sector, DESCRIPTOR_BYTES, self.checked.checksum_of(&bytes))
            }
            Owner::Array(..) => self.sectors().program_new(&sector, 0, &Link::encode(object.first).to_le_bytes()),
        }
    }

    /// Most records that a list may grow to.
    pub(crate) fn list_limit(&self, object: &Object) -> usize {
        match object.shape.form.representation() {
            Representation::ModifyOptimized => usize::from(self.config.list_length_max),
            Representation::ReadOptimized => 1,
        }
    }

    /// Section `number` of an array. Cost: *h*(3+*s*) reads on the array's tree, and 2.
    pub(crate) fn section(&mut self, array: &Array, number: u32) -> Result<Object, StoreError<D::Error>> {
        let Some(found) = self.store_mut().trees().get(array.tree, number)? else {
            let address = array.tree.node.map_or(Address(0), |node| self.store().place_of(node));
            return self.sectors().corrupted(address, "an array without one of its sections");
        };
        let sector = self.sectors().get(found.pointer)?;
        let Link::To(first) = self.sectors().link(&sector)? else {
            return self.sectors().corrupted(sector.address, "a section descriptor without a record");
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

    /// Section `number` of an array; a small array is its only one.
    pub(crate) fn list_of_section(&mut self, named: &ObjectForm, number: u32) -> Result<Object, StoreError<D::Error>> {
        match named {
            ObjectForm::List(object) => Ok(*object),
            ObjectForm::Split(array) => self.section(array, number),
        }
    }

    /// Bytes of all fields together.
    pub(crate) fn data_bytes(&mut self, object: &Object) -> Result<u32, StoreError<D::Error>> {
        match object.shape.width() {
            Some(width) => Ok(u32::from(object.shape.count) * u32::from(width)),
            None => Ok(self.checked.header_lengths(object.header, object.widths_bytes())?.1),
        }
    }

    /// Where field `index` is in the data. Cost: none where widths are uniform, else their bytes' words up to the
    /// field's.
    pub(crate) fn field(&mut self, object: &Object, index: usize) -> Result<Field, StoreError<D::Error>> {
        if let Some(width) = object.shape.width() {
            let width = u32::from(width);
            return Ok(Field { index, offset: index as u32 * width, width });
        }
        let mut widths = [0; CHUNK_BYTES];
        let mut field = Field { index, offset: 0, width: 0 };
        for start in (0..=index).step_by(CHUNK_BYTES) {
            let len = CHUNK_BYTES.min(index + 1 - start);
            self.read_widths(object, start, &mut widths[..len])?;
            field.offset += widths[..len].iter().map(|&width| u32::from(width)).sum::<u32>();
            field.width = u32::from(widths[len - 1]);
        }
        field.offset -= field.width;
        Ok(field)
    }

    pub(crate) fn field_width(&mut self, object: &Object, index: usize) -> Result<u32, StoreError<D::Error>> {
        if let Some(width) = object.shape.width() {
            return Ok(u32::from(width));
        }
        let leaf = self.sectors().get(object.leaf)?;
        let mut width = [0];
        if index >= usize::from(object.shape.count) {
            return self.sectors().corrupted(leaf.address, "an object whose widths are less than its data");
        }
        self.read_widths(object, index, &mut width)?;
        match width[0] {
            0 => self.sectors().corrupted(leaf.address, "an object with a field of no bytes"),
            width => Ok(u32::from(width)),
        }
    }

    /// Reads the widths of the fields from `start` on, of an object whose header lists them.
    pub(crate) fn read_widths(
        &mut self,
        object: &Object,
        start: usize,
        widths: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        let Some(header) = object.header else {
            widths.fill(0);
            return Ok(());
        };
        let sector = self.sectors().get(header)?;
        let at = widths_offset(self.detection()) + start as u32;
        self.sectors().read(&sector, at, widths)
    }

    /// Where the slot of a field is in the object's records.
    pub(crate) fn slot_offset(&self, object: &Object, field: &Field) -> u32 {
        data_offset(object.shape.count, self.detection()) + field.offset
    }

    /// Whether a field has its default value by its initialization flag. Cost: 2 reads where there are flags.
    pub(crate) fn is_default(&mut self, object: &Object, index: usize) -> Result<bool, StoreError<D::Error>> {
        if !object.shape.form.has_flags() {
            return Ok(false);
        }
        let sector = self.sectors().get(object.leaf)?;
        self.read_flag(&sector, object.flags_offset(self.detection()), index)
    }

    /// Whether flag `index` of the flags at `offset` is in the erased state. One half of whose bits are cleared is not:
    /// either it was being cleared, or the code of the value that it led to does not agree.
    pub(crate) fn read_flag(
        &mut self,
        sector: &Sector,
        offset: u32,
        index: usize,
    ) -> Result<bool, StoreError<D::Error>> {
        let (at, mask) = flag_place(index as u32, self.detection());
        let mut byte = [0];
        self.sectors().read(sector, offset + at, &mut byte)?;
        Ok(byte[0] & mask == mask)
    }

    /// Whether one of the two bits of a flag is cleared and the other is not. Cost: 1 read where error detection is on.
    pub(crate) fn is_half_cleared(
        &mut self,
        sector: &Sector,
        offset: u32,
        index: usize,
    ) -> Result<bool, StoreError<D::Error>> {
        if !self.detects() {
            return Ok(false);
        }
        let (at, mask) = flag_place(index as u32, self.detection());
        let mut byte = [0];
        self.sectors().read(sector, offset + at, &mut byte)?;
        Ok(byte[0] & mask != 0 && byte[0] & mask != mask)
    }

    /// Whether lists may have delta records.
    pub(crate) fn has_deltas(&self) -> bool {
        F::DELTA_RECORDS && self.config.delta_records == DeltaRecords::On
    }
}

/// The descriptor of an object, or the first bytes of an array's: with the list or tree, and the header, that it links
/// to.
pub(crate) fn descriptor_bytes(
    reference: Ref,
    links: (Option<SectorPtr>, Option<SectorPtr>),
    shape: [u8; 4],
) -> [u8; DESCRIPTOR_BYTES as usize] {
    let mut bytes = [0xFF; DESCRIPTOR_BYTES as usize];
    bytes[..4].copy_from_slice(&reference.bits().to_le_bytes());
    for (at, link) in [(FIRST_RECORD_OFFSET, links.0), (HEADER_OFFSET, links.1)] {
        if let Some(pointer) = link {
            bytes[at..at + 4].copy_from_slice(&Link::encode(pointer).to_le_bytes());
        }
    }
    bytes[SHAPE_OFFSET..].copy_from_slice(&shape);
    bytes
}
