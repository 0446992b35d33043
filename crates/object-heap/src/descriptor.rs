//! Descriptors: what a reference or a section number leads to, and what it says of an object's or array's form.
//!
//! Invariant: sectors are named by logical pointers, so that what has been looked up outlives reclamations.

use norn_flash::Nor;
use norn_nor_store::{ErrorDetection, Features, Link, Sector, SectorPtr, StoreError, TreeId, TreeRoot};

use crate::array::Array;
use crate::error::AccessError;
use crate::format::{
    DESCRIPTOR_BYTES, FIRST_RECORD_OFFSET, HEADER_LENGTHS_BYTES, HEADER_OFFSET, SECTION_FLAGS_OFFSET, SHAPE_OFFSET,
    Shape, SplitShape, flag_bytes, flag_place, initialization_flags_offset,
};
use crate::heap::{Heap, Transaction};
use crate::notify::Listener;
use crate::object::{COUNT_MAX, Kind, Representation};
use crate::reference::Ref;

/// An object, a small array, or a section of a split array that has been looked up: what is a list of records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub reference: Ref,
    /// The object descriptor or section descriptor.
    pub leaf: SectorPtr,
    /// Whether the open transaction made this representation.
    pub fresh: bool,
    pub first: SectorPtr,
    pub header: Option<SectorPtr>,
    pub shape: Shape,
    pub owner: Owner,
}

/// Where the pointer to a list's descriptor is kept.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Owner {
    /// In the REF tree.
    RefTree,
    /// In a split array's own tree, under the section's number.
    Array(Array, u32),
}

/// What a reference names. As in all that is copied much, its tag is a word: that takes less code to copy than bytes.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Named {
    List(Object),
    Split(Array),
}

impl Named {
    pub fn reference(&self) -> Ref {
        match self {
            Named::List(object) => object.reference,
            Named::Split(array) => array.reference,
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Named::List(object) => object.shape.form.kind(),
            Named::Split(_) => Kind::Array,
        }
    }

    pub fn representation(&self) -> Representation {
        match self {
            Named::List(object) => object.shape.form.representation(),
            Named::Split(array) => array.shape.form.representation(),
        }
    }

    /// Bytes of each element of an array.
    pub fn element_bytes(&self) -> u32 {
        match self {
            Named::List(object) => object.shape.element_bytes(),
            Named::Split(array) => u32::from(array.shape.width),
        }
    }

    pub fn count(&self) -> usize {
        match self {
            Named::List(object) => usize::from(object.shape.count),
            Named::Split(array) => array.count as usize,
        }
    }

    pub fn header(&self) -> Option<SectorPtr> {
        match self {
            Named::List(object) => object.header,
            Named::Split(array) => array.header,
        }
    }
}

impl Object {
    /// Bytes of the descriptor.
    pub fn leaf_bytes(&self, detection: ErrorDetection) -> u32 {
        self.flags_offset(detection)
            + if self.shape.form.has_flags() { flag_bytes(self.shape.count, detection) } else { 0 }
    }

    /// Where the initialization flags stand in the descriptor.
    pub fn flags_offset(&self, detection: ErrorDetection) -> u32 {
        match self.owner {
            Owner::RefTree => initialization_flags_offset(detection),
            Owner::Array(..) => SECTION_FLAGS_OFFSET,
        }
    }
}

impl<D: Nor, const UNITS: usize, L: Listener, F: Features> Heap<D, UNITS, L, F> {
    /// Most records that a list may grow to.
    pub(crate) fn list_limit(&self, object: &Object) -> usize {
        match object.shape.form.representation() {
            Representation::ModifyOptimized => usize::from(self.config.list_length_max),
            Representation::ReadOptimized => 1,
        }
    }

    /// Finds what `reference` names. Cost: a look-up.
    pub(crate) fn look_up(&mut self, reference: Ref) -> Result<Named, AccessError<D::Error>> {
        if self.transaction == Transaction::Aborted {
            return Err(AccessError::TransactionAborted);
        }
        let root = self.store.tree(TreeId::Ref);
        let Some(found) = self.store.trees().get(root, reference.slot())? else {
            return Err(AccessError::Stale(reference));
        };
        let named = self.read_descriptor(found.pointer, reference.slot(), found.open)?;
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
    ) -> Result<Named, StoreError<D::Error>> {
        let sector = self.store.sectors().get(leaf)?;
        let mut bytes = [0; DESCRIPTOR_BYTES as usize];
        self.store.sectors().read(&sector, 0, &mut bytes)?;
        self.expect_checksum(&sector, DESCRIPTOR_BYTES, self.checksum_of(&bytes))?;
        let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let link = |at: usize| Link::decode(u32::from_le_bytes(word(at)));
        let Some(reference) = Ref::from_bits(u32::from_le_bytes(word(0))).filter(|found| found.slot() == slot) else {
            return self
                .store
                .sectors()
                .corrupted(sector.address, "an object descriptor with another object's reference");
        };
        let Link::To(first) = link(FIRST_RECORD_OFFSET) else {
            return self.store.sectors().corrupted(sector.address, "an object descriptor without a record");
        };
        let header = match link(HEADER_OFFSET) {
            Link::To(header) => Some(header),
            Link::Erased => None,
            Link::Void => {
                return self
                    .store
                    .sectors()
                    .corrupted(sector.address, "an object descriptor with a damaged header link");
            }
        };
        if let Some(shape) = SplitShape::decode(word(SHAPE_OFFSET)) {
            let tree = TreeRoot { node: Some(first), height: shape.height };
            let count = self.read_element_count(&sector, &shape)?;
            return Ok(Named::Split(Array { reference, tree, header, shape, count }));
        }
        match Shape::decode(word(SHAPE_OFFSET)) {
            Some(shape) if usize::from(shape.count) <= COUNT_MAX && (shape.width().is_some() || header.is_some()) => {
                if let (Some(header), None) = (header, shape.width()) {
                    self.expect_widths(header, u32::from(shape.count))?;
                }
                Ok(Named::List(Object { reference, leaf, fresh, first, header, shape, owner: Owner::RefTree }))
            }
            _ => self.store.sectors().corrupted(sector.address, "an object descriptor with an impossible shape"),
        }
    }

    /// Programs the descriptor of a new representation, its initialization flags (if any) erased.
    pub(crate) fn write_leaf(&mut self, object: &Object) -> Result<(), StoreError<D::Error>> {
        let sector = self.store.sectors().get(object.leaf)?;
        match object.owner {
            Owner::RefTree => {
                let links = (Some(object.first), object.header);
                let bytes = descriptor_bytes(object.reference, links, object.shape.encode());
                self.store.sectors().program_new(&sector, 0, &bytes)?;
                self.program_checksum(&sector, DESCRIPTOR_BYTES, self.checksum_of(&bytes))
            }
            Owner::Array(..) => self.store.sectors().program_new(&sector, 0, &Link::encode(object.first).to_le_bytes()),
        }
    }

    /// Lengths of the header and of the data that the header sector states, in which the widths take so many bytes.
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

    /// Bytes of all fields together.
    pub(crate) fn data_bytes(&mut self, object: &Object) -> Result<u32, StoreError<D::Error>> {
        match object.shape.width() {
            Some(width) => Ok(u32::from(object.shape.count) * u32::from(width)),
            None => Ok(self.header_lengths(object.header, object.widths_bytes())?.1),
        }
    }

    /// Whether a field has its default value by its initialization flag. Cost: 2 reads where there are flags.
    pub(crate) fn is_default(&mut self, object: &Object, index: usize) -> Result<bool, StoreError<D::Error>> {
        if !object.shape.form.has_flags() {
            return Ok(false);
        }
        let sector = self.store.sectors().get(object.leaf)?;
        self.read_flag(&sector, object.flags_offset(self.detection()), index)
    }

    /// Whether flag `index` of the flags at `offset` is in the erased state. One half of whose bits are cleared is not: either it
    /// was being cleared, or the code of the value that it led to does not agree.
    pub(crate) fn read_flag(
        &mut self,
        sector: &Sector,
        offset: u32,
        index: usize,
    ) -> Result<bool, StoreError<D::Error>> {
        let (at, mask) = flag_place(index as u32, self.detection());
        let mut byte = [0];
        self.store.sectors().read(sector, offset + at, &mut byte)?;
        Ok(byte[0] & mask == mask)
    }
}

/// The descriptor of an object, or the first bytes of an array's: with the list or tree, and the header, that it links to.
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

pub(crate) fn header_lengths(header: usize, data: u32) -> [u8; HEADER_LENGTHS_BYTES as usize] {
    let (header, data) = ((header as u16).to_le_bytes(), (data as u16).to_le_bytes());
    [header[0], header[1], data[0], data[1]]
}
