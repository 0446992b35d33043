//! The checker: walks heap, free list and log, and reports each invariant that does not hold.
//!
//! The walk over the blocks and the free list go side by side: each free block has to be the list's next.

use norn_flash::{Address, Auditor, Eeprom, Violation};
use norn_heap::{AccessError, NAME_BYTES_MAX, StoreError};

use super::format::{ARMED, ARMED_AT, BLOCK_SECOND_OFFSET, BlockKind, FREE_LIST_AT, RecordKind, Round, Stamp, State};
use super::heap::EepromHeap;
use super::heap::Transaction;
use super::object::Block;

impl<D: Eeprom> EepromHeap<D> {
    /// Reports each invariant that does not hold: of the blocks and the free list, of what blocks contain, of the logs.
    ///
    /// Cost: reads, 3 for each block, once more for each header and root; 2 for each 16 bytes of the log.
    ///
    /// # Errors
    /// The device's. Damage is reported, not returned.
    pub fn audit(&mut self, auditor: &mut impl Auditor) -> Result<(), AccessError<D::Error>> {
        let walks = [Self::audit_blocks, Self::audit_log];
        for walk in walks {
            match walk(self, auditor) {
                Err(AccessError::Store(StoreError::Corrupted)) => {
                    if let Some(corruption) = self.medium.corruption {
                        auditor.violation(corruption);
                    }
                }
                other => other?,
            }
        }
        Ok(())
    }

    fn audit_blocks(&mut self, auditor: &mut impl Auditor) -> Result<(), AccessError<D::Error>> {
        let mut violation = |address, what| auditor.violation(Violation { address, what });
        let (mut at, mut link, mut last_is_free) = (Address(self.allocator.heap.start), FREE_LIST_AT, false);
        while at.0 < self.allocator.heap.end {
            let head = self.allocator.head(&mut self.medium, at)?;
            if head.generation == 0 {
                if last_is_free {
                    violation(at, "two free blocks side by side");
                }
                if self.allocator.follow(&mut self.medium, link)? != Some(at) {
                    violation(at, "a free block that the free list passes over");
                }
                link = at.offset(BLOCK_SECOND_OFFSET);
            } else {
                let block = self.block(at, head)?;
                if let Some(what) = self.offence_of(&block)? {
                    violation(at, what);
                }
            }
            last_is_free = head.generation == 0;
            at = at.offset(head.bytes());
        }
        if self.allocator.follow(&mut self.medium, link)?.is_some() {
            violation(link, "a free list that continues after the last free block");
        }
        Ok(())
    }

    /// What is wrong with the contents of a block.
    fn offence_of(&mut self, block: &Block) -> Result<Option<&'static str>, AccessError<D::Error>> {
        let object = match block.shape.kind {
            BlockKind::Header => return Ok(self.offence_of_header(block)?),
            BlockKind::Root => {
                let mut name = [0; NAME_BYTES_MAX];
                let (_, len) = self.read_root(block, &mut name)?;
                return Ok(match self.first_root(&name[..len])? {
                    first if first == block.address => None,
                    _ if self.log.is_open() => None, // It may have been removed and set again.
                    _ => Some("two roots of one name"),
                });
            }
            BlockKind::Object | BlockKind::Array => self.object(block)?,
        };
        let Some(object) = object else {
            return Ok(Some("no object where there should be one"));
        };
        let width = u32::from(block.shape.width);
        if width > 0 {
            return Ok((object.count * width != object.data_bytes).then_some("fields that do not fill their object"));
        }
        let mut sum = 0;
        for index in 0..object.count {
            let width = self.medium.read_byte(block.contents().offset(1 + index))?;
            if width == 0 {
                return Ok(Some("a field of no width"));
            }
            sum += u32::from(width);
        }
        Ok((sum != object.data_bytes).then_some("widths that are not those of the object's bytes"))
    }

    /// Exactly one object has a header; in a transaction, one that was replaced has none.
    fn offence_of_header(&mut self, header: &Block) -> Result<Option<&'static str>, StoreError<D::Error>> {
        let (mut block, mut owners) = (None, 0);
        while let Some(next) = self.next_block(block)? {
            owners += u32::from(next.shape.header() == Some(header.address));
            block = Some(next);
        }
        Ok(match owners {
            1 => None,
            0 if self.log.is_open() => None,
            0 => Some("a header that nothing points to"),
            _ => Some("two pointers to one header"),
        })
    }

    fn first_root(&mut self, wanted: &[u8]) -> Result<Address, StoreError<D::Error>> {
        let (mut block, mut name) = (None, [0; NAME_BYTES_MAX]);
        while let Some(next) = self.next_block(block)? {
            if next.shape.kind == BlockKind::Root {
                let (_, len) = self.read_root(&next, &mut name)?;
                if &name[..len] == wanted {
                    return Ok(next.address);
                }
            }
            block = Some(next);
        }
        Ok(Address(0))
    }

    fn audit_log(&mut self, auditor: &mut impl Auditor) -> Result<(), AccessError<D::Error>> {
        let mut violation = |address, what| auditor.violation(Violation { address, what });
        if self.medium.read_byte(ARMED_AT)? == ARMED {
            violation(ARMED_AT, "an allocator's log that is armed between calls");
        }
        let (head, round) = self.log.round();
        for slot in 0..self.log.slots {
            let expected: Round = if slot < head { round } else { round.other() };
            match self.log.stamp(&mut self.medium, slot)? {
                None => violation(self.log.address(slot), "a torn stamp"),
                Some(stamp) if stamp.round != expected => {
                    violation(self.log.address(slot), "a stamp of the other round");
                }
                Some(_) => {}
            }
        }
        let open = self.log.open();
        if self.transaction != Transaction::Open && open > 0 {
            violation(self.log.address(head), "valid records without a transaction");
        }
        for number in 1..=open {
            let address = self.log.address(self.log.back(number));
            let stamp = self.log.stamp(&mut self.medium, self.log.back(number))?;
            if !matches!(stamp, Some(Stamp { state: State::Valid, .. })) {
                violation(address, "a record of the open transaction that is not valid");
            }
            let record = self.log.record(&mut self.medium, number)?;
            let names_block =
                matches!(record.kind, RecordKind::NewObject | RecordKind::NewHeader | RecordKind::DeleteObject);
            if names_block && self.allocator.head(&mut self.medium, record.address)?.generation == 0 {
                violation(address, "a record that names a free block");
            }
        }
        if open < self.log.slots {
            let before = self.log.back(open + 1);
            let stamp = self.log.stamp(&mut self.medium, before)?;
            if !matches!(stamp, Some(Stamp { state: State::Obsolete, .. })) {
                violation(self.log.address(before), "a valid record before the open transaction's first");
            }
        }
        Ok(())
    }
}
