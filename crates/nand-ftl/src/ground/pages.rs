//! Pages of flash in the buffer: one at a time.

use norn_flash::{Nand, PageAddress};

use super::found::{CheckpointPage, Written};
use super::medium::Medium;
use super::memory::Memory;
use crate::error::{FtlError, Outcome};
use crate::format::{CHUNK_BASE, Content, Header, Register, Tag};
use crate::layout::{Layout, Lba};

/// Flash, and the memory that says what is on it.
#[derive(Clone, Debug)]
pub(crate) struct Pages<D, M> {
    pub(super) medium: Medium<D>,
    pub(super) memory: Memory<M>,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Pages<D, M> {
    pub fn new(medium: Medium<D>, memory: Memory<M>) -> Self {
        Pages { medium, memory }
    }

    pub fn medium(&self) -> &Medium<D> {
        &self.medium
    }

    pub fn medium_mut(&mut self) -> &mut Medium<D> {
        &mut self.medium
    }

    pub fn into_medium(self) -> Medium<D> {
        self.medium
    }

    pub fn memory(&self) -> &Memory<M> {
        &self.memory
    }

    pub fn layout(&self) -> &Layout {
        self.memory.layout()
    }

    /// Loads a page into the buffer, again while it is garbage. Cost: a load, if it is none.
    pub fn load(&mut self, page: PageAddress) -> Outcome<Content, D> {
        self.medium.load(page, self.memory.buffer_mut())
    }

    /// Loads the page that the map names for an entry; `None` if there is none. Cost: a load.
    pub fn load_entry(&mut self, index: u32) -> Outcome<Option<Register>, D> {
        let Some(page) = self.memory.page(index) else { return Ok(None) };
        let address = self.layout().part.page_at(page);
        match self.load(address)? {
            Content::Page { tag, register } if tag.lba == self.layout().lba_of(index) => Ok(Some(register)),
            _ => Err(FtlError::Unreadable { lba: Lba(index), page: address }),
        }
    }

    /// The sequence of the page that the map names for an entry, if it holds it. Cost: a load.
    pub fn sequence_at(&mut self, index: u32) -> Outcome<Option<u64>, D> {
        let Some(page) = self.memory.page(index) else { return Ok(None) };
        let content = self.load(self.layout().part.page_at(page))?;
        let lba = self.layout().lba_of(index);
        Ok(match content {
            Content::Page { tag, .. } if tag.lba == lba => Some(tag.sequence),
            _ => None,
        })
    }

    /// Whether a device of as many logical pages as the header says has a chunk of the tag's number. Right codes do not
    /// prove it.
    pub(super) fn has_chunk(&self, tag: Tag, header: &Header) -> bool {
        let chunks = Layout::new(self.layout().part, header.logical_pages).chunks();
        tag.lba.checked_sub(CHUNK_BASE).is_some_and(|chunk| chunk < chunks)
    }

    /// Loads a page into the buffer, and says what it is as one of the checkpoint. Cost: a load.
    pub(super) fn load_checkpoint(&mut self, page: PageAddress) -> Outcome<Option<CheckpointPage>, D> {
        match self.load(page)? {
            Content::Page { tag, .. } if tag.lba >= CHUNK_BASE => {
                let header = Header::decode(self.memory.data()).filter(|header| self.has_chunk(tag, header));
                Ok(header.map(|header| CheckpointPage { written: Written { page, tag }, header }))
            }
            _ => Ok(None),
        }
    }
}
