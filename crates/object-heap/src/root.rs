//! Roots as they are in the store: a reference and a name each, in a tree of their own.

use norn_flash::Nor;
use norn_heap::{AccessError, NAME_BYTES_MAX, Ref};
use norn_nor_store::{Features, Room, SectorKind, SectorPtr, SectorSpec, StoreError, TreeId, UnitRows};

use crate::check::Checked;
use crate::format::{NAME_HEAD_BYTES, name_offset};

/// A root as it is on flash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    pub key: u32,
    pub reference: Ref,
    pub name: [u8; NAME_BYTES_MAX],
    pub len: usize,
}

impl<D: Nor, M: UnitRows, F: Features> Checked<D, M, F> {
    pub(crate) fn next_root(&mut self, from: u32) -> Result<Option<Root>, StoreError<D::Error>> {
        let root = self.store.tree(TreeId::Name);
        match self.store.trees().next(root, from)? {
            Some((key, leaf)) => self.read_root(key, leaf).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn read_root(&mut self, key: u32, leaf: SectorPtr) -> Result<Root, StoreError<D::Error>> {
        let sector = self.store.sectors().get(leaf)?;
        let mut head = [0; NAME_HEAD_BYTES as usize];
        self.store.sectors().read(&sector, 0, &mut head)?;
        let reference = Ref::from_bits(u32::from_le_bytes([head[0], head[1], head[2], head[3]]));
        let len = usize::from(head[4]);
        let (Some(reference), 1..=NAME_BYTES_MAX) = (reference, len) else {
            return self.store.sectors().corrupted(sector.address, "an impossible root");
        };
        let mut root = Root { key, reference, name: [0; NAME_BYTES_MAX], len };
        let name_at = name_offset(self.detection());
        self.store.sectors().read(&sector, name_at, &mut root.name[..len])?;
        let checksum = self.checksum(&sector, &[0..NAME_HEAD_BYTES, name_at..sector.bytes])?;
        self.expect_checksum(&sector, NAME_HEAD_BYTES, checksum)?;
        Ok(root)
    }

    pub(crate) fn write_root(
        &mut self,
        name: &[u8],
        key: Option<u32>,
        reference: Option<Ref>,
    ) -> Result<(), AccessError<D::Error>> {
        let Some(reference) = reference else {
            if let Some(key) = key {
                self.store.trees().put(TreeId::Name, key, None, Room::Reserved)?;
            }
            return Ok(());
        };
        let key = match key {
            Some(key) => key,
            // There are never as many roots as keys: each takes room on the part.
            None => {
                let root = self.store.tree(TreeId::Name);
                self.store.trees().vacant(root, 0)?.unwrap_or(0)
            }
        };
        let name_at = name_offset(self.detection());
        let bytes = name_at + name.len() as u32;
        let leaf = self.store.space().allocate(SectorSpec { bytes, kind: SectorKind::Leaf }, Room::Ordinary)?;
        let sector = self.store.sectors().get(leaf)?;
        self.store.sectors().program(&sector, 0, &reference.bits().to_le_bytes())?;
        self.store.sectors().program(&sector, 4, &[name.len() as u8])?;
        self.store.sectors().program(&sector, name_at, name)?;
        let checksum = self.checksum(&sector, &[0..NAME_HEAD_BYTES, name_at..sector.bytes])?;
        self.program_checksum(&sector, NAME_HEAD_BYTES, checksum)?;
        Ok(self.store.trees().put(TreeId::Name, key, Some(leaf), Room::Ordinary)?)
    }
}
