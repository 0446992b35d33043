//! Objects and arrays as a whole: creation, deletion, enumeration, headers and roots, each in a block of its own.
//!
//! To create a block: find room for it; write a `NewObject` record with its address; allocate it; write its contents,
//! which need no record, since the block is freed if the transaction does not commit. To delete one: write a
//! `DeleteObject` record; the commit frees it.
//!
//! A reference is the block's granule and generation: the offset of the object, as in the paper, and what distinguishes
//! it from its successor there from it.

use norn_flash::{Address, Eeprom};
use norn_heap::{AccessError, CreateError, Info, Kind, Layout, NAME_BYTES_MAX, Ref, StoreError, Widths};

use super::format::{
    BLOCK_HEAD_BYTES, BLOCK_SECOND_OFFSET, BlockHead, BlockKind, GRANULE_BYTES, HEADER_POINTER_OFFSET, Record,
    RecordKind, Shape, granule_of, widths_bytes,
};
use super::heap::EepromHeap;
use super::heap::Transaction;

/// Most fields of an object: a block states their number in one byte.
const FIELDS_MAX: usize = 255;
/// Bytes of a root before its name: the reference.
const ROOT_HEAD_BYTES: u32 = 4;

/// An allocated block, as it is on the part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub address: Address,
    pub head: BlockHead,
    pub shape: Shape,
    /// Bytes after the shape, without the slack.
    pub content_bytes: u32,
}

impl Block {
    pub fn contents(&self) -> Address {
        self.address.offset(BLOCK_HEAD_BYTES)
    }

    /// The reference that names it.
    pub fn reference(&self) -> Ref {
        let bits = u32::from(granule_of(self.address)) | u32::from(self.head.generation) << 16;
        Ref::from_bits(bits).expect("an allocated block's generation is not 0")
    }

    fn header_pointer(&self) -> Address {
        self.address.offset(HEADER_POINTER_OFFSET)
    }
}

/// An object or array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub block: Block,
    pub kind: Kind,
    pub count: u32,
    /// Where the fields or elements are, and how many bytes.
    pub data: Address,
    pub data_bytes: u32,
}

/// Where the block is that a reference names.
fn block_of(reference: Ref) -> Address {
    Address((reference.bits() & 0xFFFF) * GRANULE_BYTES)
}

impl<D: Eeprom> EepromHeap<D> {
    /// Creates an object with all its fields at their default value, zeros. The layout's representation is ignored:
    /// there is one, which is cheap for reads and updates.
    ///
    /// Cost: 16 words written, and those of the data that are not zeros before; 15 more for a header, and its bytes. 2
    /// reads for each free block up to one that is large enough.
    ///
    /// # Errors
    /// Names what is wrong with the layout; `Full` when there is no block of the size. Nothing is created then, and an
    /// open transaction is undone if it was not the layout.
    pub fn create(&mut self, layout: Layout<'_>) -> Result<Ref, CreateError<D::Error>> {
        self.create_kind(BlockKind::Object, layout.widths(), layout.header())
    }

    /// Creates an array of `count` elements of `width` bytes, all zeros, with a header (or an empty one). It may take
    /// the whole heap.
    ///
    /// Cost and errors: as [`create`](Self::create).
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_array(&mut self, count: usize, width: u8, header: &[u8]) -> Result<Ref, CreateError<D::Error>> {
        self.create_kind(BlockKind::Array, Widths::Uniform { count, width }, header)
    }

    fn create_kind(
        &mut self,
        kind: BlockKind,
        widths: Widths<'_>,
        header: &[u8],
    ) -> Result<Ref, CreateError<D::Error>> {
        if self.transaction == Transaction::Aborted {
            return Err(CreateError::TransactionAborted);
        }
        let (width, content_bytes) = self.measure(kind, widths)?;
        if header.len() as u64 > u64::from(self.content_bytes_max()) {
            return Err(CreateError::TooLarge { max: self.content_bytes_max() });
        }
        let created = self.build(kind, width, widths, content_bytes, header);
        self.settle(created.map_err(CreateError::Store))
    }

    /// The width of all fields, or 0, and the bytes of the contents.
    fn measure(&self, kind: BlockKind, widths: Widths<'_>) -> Result<(u8, u32), CreateError<D::Error>> {
        let (count, width, bytes) = match widths {
            Widths::Uniform { count, width } => (count, width, (count as u64).saturating_mul(u64::from(width))),
            Widths::Each(widths) => {
                let data: u64 = widths.iter().map(|&width| u64::from(width)).sum();
                (widths.len(), 0, data + widths.len().next_multiple_of(4) as u64 + 4)
            }
        };
        if count == 0 {
            return Err(CreateError::NoFields);
        }
        if kind == BlockKind::Object && count > FIELDS_MAX {
            return Err(CreateError::TooManyFields { count });
        }
        match widths {
            Widths::Uniform { width: 0, .. } => return Err(CreateError::ZeroWidth { field: 0 }),
            Widths::Each(widths) => {
                if let Some(field) = widths.iter().position(|&width| width == 0) {
                    return Err(CreateError::ZeroWidth { field });
                }
            }
            Widths::Uniform { .. } => {}
        }
        if bytes > u64::from(self.content_bytes_max()) {
            return Err(CreateError::TooLarge { max: self.content_bytes_max() });
        }
        match widths {
            Widths::Uniform { .. } => Ok((width, bytes as u32)),
            Widths::Each(widths) => {
                let data: u32 = widths.iter().map(|&width| u32::from(width)).sum();
                Ok((0, widths_bytes(count as u32) + data))
            }
        }
    }

    fn build(
        &mut self,
        kind: BlockKind,
        width: u8,
        widths: Widths<'_>,
        content_bytes: u32,
        header: &[u8],
    ) -> Result<Ref, StoreError<D::Error>> {
        let header_granule = self.build_header(header)?;
        let shape = Shape { kind, header_granule, width, slack: 0 };
        let block = self.allocate(RecordKind::NewObject, shape, content_bytes)?;
        let data_offset = match widths {
            Widths::Uniform { .. } => 0,
            Widths::Each(widths) => {
                self.medium.write(block.contents(), &[widths.len() as u8])?;
                self.medium.write(block.contents().offset(1), widths)?;
                widths_bytes(widths.len() as u32)
            }
        };
        self.medium.clear(block.contents().offset(data_offset), content_bytes - data_offset)?;
        Ok(block.reference())
    }

    /// Writes a header into a block of its own; returns its granule, 0 for an empty header.
    fn build_header(&mut self, header: &[u8]) -> Result<u16, StoreError<D::Error>> {
        if header.is_empty() {
            return Ok(0);
        }
        let shape = Shape { kind: BlockKind::Header, header_granule: 0, width: 0, slack: 0 };
        let block = self.allocate(RecordKind::NewHeader, shape, header.len() as u32)?;
        self.medium.write(block.contents(), header)?;
        Ok(granule_of(block.address))
    }

    /// Allocates a block for `content_bytes` bytes, and writes its shape; `shape` states no slack.
    fn allocate(
        &mut self,
        record: RecordKind,
        shape: Shape,
        content_bytes: u32,
    ) -> Result<Block, StoreError<D::Error>> {
        let granules = (BLOCK_HEAD_BYTES + content_bytes).div_ceil(GRANULE_BYTES);
        let slack = granules * GRANULE_BYTES - BLOCK_HEAD_BYTES - content_bytes;
        let found = self.allocator.find(&mut self.medium, granules)?;
        self.log.append(&mut self.medium, Record::of(record, found.block), &[])?;
        let number = self.allocator.count(&mut self.medium)?;
        let generation = (number % 0xFFFF + 1) as u16;
        let head = BlockHead { granules: granules as u16, generation };
        self.allocator.allocate(&mut self.medium, &found, head)?;
        let shape = Shape { slack: slack as u8, ..shape };
        self.medium.update_word(found.block.offset(BLOCK_SECOND_OFFSET), shape.encode())?;
        Ok(Block { address: found.block, head, shape, content_bytes })
    }

    /// Deletes an object or array. Roots that name it are left with a stale reference. Works on a full part.
    ///
    /// Cost: 13 to 16 words written; 10 to 13 more for a header. In a transaction 2 for each, the rest at its commit.
    ///
    /// # Errors
    /// `Stale`; the store's. Nothing is deleted then, and an open transaction is undone if the store failed.
    pub fn delete(&mut self, reference: Ref) -> Result<(), AccessError<D::Error>> {
        let object = self.look_up(reference)?;
        let deleted = self.mark_deleted(&object.block);
        self.settle(deleted.map_err(AccessError::Store))
    }

    fn mark_deleted(&mut self, block: &Block) -> Result<(), StoreError<D::Error>> {
        if let Some(header) = block.shape.header() {
            self.log.append(&mut self.medium, Record::of(RecordKind::DeleteObject, header), &[])?;
        }
        self.log.append(&mut self.medium, Record::of(RecordKind::DeleteObject, block.address), &[])
    }

    /// What a reference names. Cost: 2 reads, and where the open transaction has deleted something, 1 for each of its
    /// records.
    pub(crate) fn look_up(&mut self, reference: Ref) -> Result<Object, AccessError<D::Error>> {
        self.expect_access()?;
        let address = block_of(reference);
        if !self.allocator.heap.contains(&address.0) {
            return Err(AccessError::Stale(reference));
        }
        // Where the reference is stale, this is any word.
        let head = BlockHead::decode(self.medium.read_word(address)?);
        if u32::from(head.generation) != reference.bits() >> 16 {
            return Err(AccessError::Stale(reference));
        }
        let head = self.allocator.checked(&mut self.medium, address, head)?;
        let block = self.block(address, head)?;
        match self.object(&block)? {
            Some(object) if !self.is_deleted(address)? => Ok(object),
            _ => Err(AccessError::Stale(reference)),
        }
    }

    /// Whether the open transaction has deleted the block.
    fn is_deleted(&mut self, block: Address) -> Result<bool, StoreError<D::Error>> {
        if !self.log.deletes() {
            return Ok(false);
        }
        self.log.has(&mut self.medium, Record::of(RecordKind::DeleteObject, block))
    }

    /// Reads the shape of an allocated block.
    pub(crate) fn block(&mut self, address: Address, head: BlockHead) -> Result<Block, StoreError<D::Error>> {
        let word = self.medium.read_word(address.offset(BLOCK_SECOND_OFFSET))?;
        let shape = match Shape::decode(word) {
            Some(shape) => shape,
            None => return self.medium.corrupted(address, "a block of no shape"),
        };
        match (head.bytes() - BLOCK_HEAD_BYTES).checked_sub(u32::from(shape.slack)) {
            Some(content_bytes) => Ok(Block { address, head, shape, content_bytes }),
            None => self.medium.corrupted(address, "a block with more slack than room"),
        }
    }

    /// The object or array in a block, if it is one.
    pub(crate) fn object(&mut self, block: &Block) -> Result<Option<Object>, StoreError<D::Error>> {
        let (kind, data_offset, count) = match (block.shape.kind, u32::from(block.shape.width)) {
            (BlockKind::Header | BlockKind::Root, _) => return Ok(None),
            (BlockKind::Object, 0) if block.content_bytes > 0 => {
                let count = u32::from(self.medium.read_byte(block.contents())?);
                (Kind::Object, widths_bytes(count), count)
            }
            (BlockKind::Object, width) if width > 0 => (Kind::Object, 0, block.content_bytes / width),
            (BlockKind::Array, width) if width > 0 => (Kind::Array, 0, block.content_bytes / width),
            _ => return self.medium.corrupted(block.address, "fields of no width"),
        };
        match block.content_bytes.checked_sub(data_offset) {
            Some(data_bytes) if count > 0 => {
                let data = block.contents().offset(data_offset);
                Ok(Some(Object { block: *block, kind, count, data, data_bytes }))
            }
            _ => self.medium.corrupted(block.address, "an object without fields, or without room for their widths"),
        }
    }

    /// The allocated block that follows `after`, or the first; those that the open transaction deletes excepted. Cost:
    /// 2 reads a block.
    pub(crate) fn next_block(&mut self, after: Option<Block>) -> Result<Option<Block>, StoreError<D::Error>> {
        let mut at = after.map_or(Address(self.allocator.heap.start), |block| block.address.offset(block.head.bytes()));
        while at.0 < self.allocator.heap.end {
            let head = self.allocator.head(&mut self.medium, at)?;
            if head.generation > 0 && !self.is_deleted(at)? {
                return self.block(at, head).map(Some);
            }
            at = at.offset(head.bytes());
        }
        Ok(None)
    }

    /// The object or array that follows that of `after`, or the first one, in the order of their places.
    ///
    /// Cost: 3 reads for each block that is passed; where `after` is stale, from the first on.
    ///
    /// # Errors
    /// The store's.
    pub fn next_object(&mut self, after: Option<Ref>) -> Result<Option<Ref>, AccessError<D::Error>> {
        self.expect_access()?;
        let passed = after.map_or(0, |after| block_of(after).0 + 1);
        let mut block = match after.map(|after| self.look_up(after)) {
            Some(Ok(object)) => Some(object.block),
            None | Some(Err(AccessError::Stale(_))) => None,
            Some(Err(error)) => return Err(error),
        };
        loop {
            block = self.next_block(block)?;
            match block {
                Some(block) if block.address.0 < passed => {}
                Some(block) if matches!(block.shape.kind, BlockKind::Object | BlockKind::Array) => {
                    return Ok(Some(block.reference()));
                }
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// What `reference` names. Cost: 4 reads.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn info(&mut self, reference: Ref) -> Result<Info, AccessError<D::Error>> {
        let object = self.look_up(reference)?;
        let header_bytes = self.header(&object)?.map_or(0, |header| header.content_bytes as usize);
        let (kind, count, data_bytes) = (object.kind, object.count as usize, object.data_bytes);
        Ok(Info { kind, count, data_bytes, header_bytes })
    }

    fn header(&mut self, object: &Object) -> Result<Option<Block>, StoreError<D::Error>> {
        let Some(address) = object.block.shape.header() else {
            return Ok(None);
        };
        let head = self.allocator.head(&mut self.medium, address)?;
        let block = self.block(address, head)?;
        match block.shape.kind {
            BlockKind::Header if head.generation > 0 => Ok(Some(block)),
            _ => self.medium.corrupted(object.block.address, "a pointer to no header"),
        }
    }

    /// Reads as much of the header as `buffer` holds; returns the header's length. Cost: 4 reads and the bytes' words.
    ///
    /// # Errors
    /// `Stale`; the store's.
    pub fn read_header(&mut self, reference: Ref, buffer: &mut [u8]) -> Result<usize, AccessError<D::Error>> {
        let object = self.look_up(reference)?;
        let Some(header) = self.header(&object)? else {
            return Ok(0);
        };
        let len = buffer.len().min(header.content_bytes as usize);
        self.medium.read(header.contents(), &mut buffer[..len])?;
        Ok(header.content_bytes as usize)
    }

    /// Atomically replaces the header: in a new block, to which a pointer changes.
    ///
    /// Cost: 21 words written, and the header; 12 to 15 more where there was one before.
    ///
    /// # Errors
    /// `Stale`, `HeaderTooLarge`: nothing was changed. The store's, `Full` among them: the header is the old one, and
    /// an open transaction is undone.
    pub fn write_header(&mut self, reference: Ref, header: &[u8]) -> Result<(), AccessError<D::Error>> {
        let object = self.look_up(reference)?;
        let max = self.content_bytes_max();
        if header.len() as u64 > u64::from(max) {
            return Err(AccessError::HeaderTooLarge { max });
        }
        let replaced = self.replace_header(&object.block, header);
        self.settle(replaced.map_err(AccessError::Store))
    }

    fn replace_header(&mut self, block: &Block, header: &[u8]) -> Result<(), StoreError<D::Error>> {
        let granule = self.build_header(header)?;
        let pointer = block.header_pointer();
        let (old, new) = (block.shape.header_granule.to_le_bytes(), granule.to_le_bytes());
        if old == new {
            return Ok(());
        }
        if !self.is_new(block.address)? {
            let record = Record { kind: RecordKind::OldHeaderPointer, address: pointer, len: 2 };
            if !self.log.has(&mut self.medium, record)? {
                self.log.append(&mut self.medium, record, &old)?;
            }
        }
        self.medium.write(pointer, &new)?;
        match block.shape.header() {
            Some(old) => self.log.append(&mut self.medium, Record::of(RecordKind::DeleteObject, old), &[]),
            None => Ok(()),
        }
    }

    /// Whether the open transaction has created the block: what is in it needs no record.
    pub(crate) fn is_new(&mut self, block: Address) -> Result<bool, StoreError<D::Error>> {
        self.log.has(&mut self.medium, Record::of(RecordKind::NewObject, block))
    }

    /// Names `reference`, or removes the name. Part of the open transaction, if there is one. A name is 1 to 32 bytes.
    ///
    /// Cost: the reads of [`root`](Self::root); 17 words written and the name for a new one, 5 for another reference,
    /// 13 to 16 to remove it.
    ///
    /// # Errors
    /// `NameLength`, `Stale`; the store's.
    pub fn set_root(&mut self, name: &[u8], reference: Option<Ref>) -> Result<(), AccessError<D::Error>> {
        let root = self.find_root(name)?;
        if let Some(reference) = reference {
            self.look_up(reference)?;
        }
        let set = match (root, reference) {
            (Some(root), Some(reference)) => self.put_bytes(&root, root.contents(), &reference.bits().to_le_bytes()),
            (Some(root), None) => self.mark_deleted(&root),
            (None, Some(reference)) => self.build_root(name, reference),
            (None, None) => Ok(()),
        };
        self.settle(set.map_err(AccessError::Store))
    }

    fn build_root(&mut self, name: &[u8], reference: Ref) -> Result<(), StoreError<D::Error>> {
        let shape = Shape { kind: BlockKind::Root, header_granule: 0, width: 0, slack: 0 };
        let root = self.allocate(RecordKind::NewObject, shape, ROOT_HEAD_BYTES + name.len() as u32)?;
        self.medium.write(root.contents(), &reference.bits().to_le_bytes())?;
        self.medium.write(root.contents().offset(ROOT_HEAD_BYTES), name)
    }

    /// What `name` names; the reference is stale if that was deleted since.
    ///
    /// Cost: 2 reads for each block of the heap, and at most 10 for each root, up to the one wanted.
    ///
    /// # Errors
    /// `NameLength`; the store's.
    pub fn root(&mut self, name: &[u8]) -> Result<Option<Ref>, AccessError<D::Error>> {
        match self.find_root(name)? {
            Some(root) => Ok(Some(self.read_root(&root, &mut [0; NAME_BYTES_MAX])?.0)),
            None => Ok(None),
        }
    }

    /// Calls `visit` with every root's name and reference. Cost: 2 reads for each block of the heap, and at most 10 for
    /// each root.
    ///
    /// # Errors
    /// The store's.
    pub fn visit_roots(&mut self, mut visit: impl FnMut(&[u8], Ref)) -> Result<(), AccessError<D::Error>> {
        self.expect_access()?;
        let (mut block, mut name) = (None, [0; NAME_BYTES_MAX]);
        while let Some(next) = self.next_block(block)? {
            if next.shape.kind == BlockKind::Root {
                let (reference, len) = self.read_root(&next, &mut name)?;
                visit(&name[..len], reference);
            }
            block = Some(next);
        }
        Ok(())
    }

    /// Refuses an access while the client's transaction is aborted.
    fn expect_access(&self) -> Result<(), AccessError<D::Error>> {
        if self.transaction == Transaction::Aborted { Err(AccessError::TransactionAborted) } else { Ok(()) }
    }

    fn find_root(&mut self, name: &[u8]) -> Result<Option<Block>, AccessError<D::Error>> {
        self.expect_access()?;
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            return Err(AccessError::NameLength(name.len()));
        }
        let (mut block, mut found) = (None, [0; NAME_BYTES_MAX]);
        while let Some(next) = self.next_block(block)? {
            if next.shape.kind == BlockKind::Root {
                let (_, len) = self.read_root(&next, &mut found)?;
                if &found[..len] == name {
                    return Ok(Some(next));
                }
            }
            block = Some(next);
        }
        Ok(None)
    }

    /// Reads a root: its reference, and the length of its name, which goes to `name`.
    pub(crate) fn read_root(
        &mut self,
        root: &Block,
        name: &mut [u8; NAME_BYTES_MAX],
    ) -> Result<(Ref, usize), StoreError<D::Error>> {
        let len = root.content_bytes.saturating_sub(ROOT_HEAD_BYTES) as usize;
        let reference = Ref::from_bits(self.medium.read_word(root.contents())?);
        match (reference, len) {
            (Some(reference), 1..=NAME_BYTES_MAX) => {
                self.medium.read(root.contents().offset(ROOT_HEAD_BYTES), &mut name[..len])?;
                Ok((reference, len))
            }
            _ => self.medium.corrupted(root.address, "an impossible root"),
        }
    }

    /// Bytes of the largest block's contents.
    fn content_bytes_max(&self) -> u32 {
        self.allocator.heap.len() as u32 - BLOCK_HEAD_BYTES
    }
}
