//! Named roots: how a program finds its objects after a reboot.
//!
//! Roots are in *directories*: objects of generation 0, which no reference has. A directory's header holds entries, its
//! field the slot of the next directory. The first one is in slot 0. There are few roots, so that a name is found by
//! looking through all.
//!
//! ```text
//!  slot 0 ┌────────┬─────────────────────┬────────────────────┬──────┐ slot 31 ┌────────┬─────┬──────┐
//!         │ sector │ Ref 4 │ 5 │ "purse" │ Ref 4 │ 4 │ "keys" │ next │────────▶│ sector │ …   │ none │
//!         │ header │       │   │         │       │   │        │      │         │ header │     │      │
//!         └────────┴─────────────────────┴────────────────────┴──────┘         └────────┴─────┴──────┘
//! ```
//!
//! A change of a root writes its directory anew, so that it is atomic. A full chain gets a further directory in two
//! steps: `next` of the last one names a free slot, then the directory is written there. A cut between them leaves a
//! `next` that leads to no directory, which ends the chain, and is set again by the next attempt.
//!
//! Invariants: a name is in one directory, once; a directory is never deleted.

use norn_flash::Nor;
use norn_heap::{AccessError, CreateError, Layout, Listener, NAME_BYTES_MAX, Ref, StoreError};

use crate::format::{DIRECTORY, Header, SectorKind};
use crate::heap::{HEADER_MAX, LogHeapIn};
use crate::object::{Replacement, Sector};
use crate::space::Reason;
use crate::units::UnitRows;

/// Bytes of an entry before the name: a reference, and the name's length.
const ENTRY_HEAD: usize = 5;
/// The slot of the first directory.
const FIRST: u16 = 0;

/// A directory of roots, read into RAM.
struct Directory {
    slot: u16,
    entries: [u8; HEADER_MAX],
    bytes: usize,
    /// The slot of the next one; 0 if none was ever set.
    next: u16,
}

/// An entry: its bytes in the directory, and what they say.
struct RootEntry<'a> {
    at: usize,
    end: usize,
    reference: Ref,
    name: &'a [u8],
}

/// How far a walk over all roots has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RootCursor {
    /// The directory.
    slot: u16,
    /// The byte in it.
    at: usize,
    /// Directories that were passed.
    passed: u32,
}

impl Directory {
    /// The entry at byte `at`; `None` at the end.
    fn entry(&self, at: usize) -> Option<RootEntry<'_>> {
        let [a, b, c, d, length] = *self.entries[..self.bytes].get(at..at + ENTRY_HEAD)?.first_chunk()?;
        let end = at + ENTRY_HEAD + usize::from(length);
        let name = self.entries[..self.bytes].get(at + ENTRY_HEAD..end)?;
        Some(RootEntry { at, end, reference: Ref::from_bits(u32::from_le_bytes([a, b, c, d]))?, name })
    }

    fn entries(&self) -> impl Iterator<Item = RootEntry<'_>> {
        core::iter::successors(self.entry(0), |entry| self.entry(entry.end))
    }

    fn find(&self, name: &[u8]) -> Option<RootEntry<'_>> {
        self.entries().find(|entry| entry.name == name)
    }

    /// Removes bytes `at..end`.
    fn remove(&mut self, at: usize, end: usize) {
        // Out of a copy: no other call takes code for moves that overlap.
        let old = self.entries;
        self.entries[at..at + self.bytes - end].copy_from_slice(&old[end..self.bytes]);
        self.bytes -= end - at;
    }

    fn has_room(&self, name: &[u8]) -> bool {
        self.bytes + ENTRY_HEAD + name.len() <= HEADER_MAX
    }

    fn append(&mut self, name: &[u8], reference: Ref) {
        let (start, at) = (self.bytes, self.bytes + ENTRY_HEAD);
        self.entries[start..at - 1].copy_from_slice(&reference.bits().to_le_bytes());
        self.entries[at - 1] = name.len() as u8;
        self.entries[at..at + name.len()].copy_from_slice(name);
        self.bytes = at + name.len();
    }
}

impl<D: Nor, M: UnitRows, L: Listener> LogHeapIn<D, M, L> {
    /// Atomically names `reference`, or removes the name. A name is 1 to 32 bytes.
    ///
    /// Cost: the reads of [`root`](Self::root) of a name that there is not; then as a creation of an object of the
    /// directory's bytes, 273 at most. Where all directories are full, of two such objects.
    ///
    /// # Errors
    /// `NameLength`, `Stale`, `NoReferences`; the store's, `Full` among them.
    pub fn set_root(&mut self, name: &[u8], reference: Option<Ref>) -> Result<(), AccessError<D::Error>> {
        self.expect_name(name)?;
        if let Some(reference) = reference {
            self.find(reference)?;
        }
        match (self.find_directory(|directory| directory.find(name).is_some())?, reference) {
            (Some(directory), reference) => self.change_entry(directory, name, reference),
            (None, Some(reference)) => self.add_entry(name, reference),
            (None, None) => Ok(()),
        }
    }

    /// What `name` names; the reference is stale if that was deleted since.
    ///
    /// Cost: a look-up, a tail and at most 273 bytes for each directory. One holds 6 names of 32 bytes, 19 of 8.
    ///
    /// # Errors
    /// `NameLength`; the store's.
    pub fn root(&mut self, name: &[u8]) -> Result<Option<Ref>, AccessError<D::Error>> {
        self.expect_name(name)?;
        let found = self.find_directory(|directory| directory.find(name).is_some())?;
        Ok(found.and_then(|directory| directory.find(name).map(|entry| entry.reference)))
    }

    /// Calls `visit` with every root's name and reference. Cost: as [`root`](Self::root) of a name that there is not.
    ///
    /// # Errors
    /// The store's.
    pub fn visit_roots(&mut self, mut visit: impl FnMut(&[u8], Ref)) -> Result<(), AccessError<D::Error>> {
        self.expect_access()?;
        self.find_directory(|directory| {
            directory.entries().for_each(|entry| visit(entry.name, entry.reference));
            false
        })?;
        Ok(())
    }

    /// What the next root names, in the order of directories.
    ///
    /// Reads a directory.
    pub(crate) fn next_root(&mut self, cursor: &mut RootCursor) -> Result<Option<Ref>, StoreError<D::Error>> {
        // Damage could lead the chain back to where it was.
        while cursor.passed < Ref::SLOTS {
            let Some(directory) = self.read_directory(cursor.slot)? else { return Ok(None) };
            if let Some(entry) = directory.entry(cursor.at) {
                cursor.at = entry.end;
                return Ok(Some(entry.reference));
            }
            if directory.next == FIRST {
                return Ok(None);
            }
            *cursor = RootCursor { slot: directory.next, at: 0, passed: cursor.passed + 1 };
        }
        Ok(None)
    }

    fn expect_name(&self, name: &[u8]) -> Result<(), AccessError<D::Error>> {
        self.expect_access()?;
        match name.len() {
            1..=NAME_BYTES_MAX => Ok(()),
            bytes => Err(AccessError::NameLength(bytes)),
        }
    }

    /// The first directory that is wanted.
    fn find_directory(
        &mut self,
        mut is_wanted: impl FnMut(&Directory) -> bool,
    ) -> Result<Option<Directory>, StoreError<D::Error>> {
        let mut slot = FIRST;
        // Damage could lead the chain back to where it was.
        for _ in 0..Ref::SLOTS {
            let Some(directory) = self.read_directory(slot)? else { return Ok(None) };
            if is_wanted(&directory) {
                return Ok(Some(directory));
            }
            if directory.next == FIRST {
                return Ok(None);
            }
            slot = directory.next;
        }
        Ok(None)
    }

    /// Checks that each directory is in the chain. Returns whether it is so.
    pub(crate) fn audit_directories(&mut self, slots: u32) -> Result<bool, StoreError<D::Error>> {
        let (mut chained, mut all) = (0, 0);
        self.find_directory(|_| {
            chained += 1;
            false
        })?;
        for slot in 0..slots {
            all += u32::from(self.directory_sector(slot as u16)?.is_some());
        }
        Ok(chained == all)
    }

    fn directory_sector(&mut self, slot: u16) -> Result<Option<Sector>, StoreError<D::Error>> {
        let sector = self.sector_in(slot)?.filter(|sector| sector.header.generation == DIRECTORY);
        match sector {
            Some(Sector { at, header }) if header.kind != SectorKind::Headed => {
                Err(self.reclamation().objects.map.medium().corrupted(at, "a directory without entries"))
            }
            sector => Ok(sector),
        }
    }

    fn read_directory(&mut self, slot: u16) -> Result<Option<Directory>, StoreError<D::Error>> {
        let Some(sector) = self.directory_sector(slot)? else { return Ok(None) };
        let mut entries = [0; HEADER_MAX];
        let header = self.reclamation().objects.parts(&sector)?.header;
        self.reclamation().objects.read_header(&sector, header, &mut entries)?;
        let extent = self.reclamation().objects.extent(&sector, 0)?;
        let mut next = [0; 2];
        if extent.width as usize != next.len() {
            let what = "a directory whose link is not a slot";
            return Err(self.reclamation().objects.map.medium().corrupted(sector.at, what));
        }
        self.reclamation().objects.read_field(&sector, 0, extent, &mut next)?;
        Ok(Some(Directory { slot, entries, bytes: header.width as usize, next: u16::from_le_bytes(next) }))
    }

    /// Changes or removes an entry that a directory has.
    fn change_entry(
        &mut self,
        mut directory: Directory,
        name: &[u8],
        reference: Option<Ref>,
    ) -> Result<(), AccessError<D::Error>> {
        let Some(RootEntry { at, end, .. }) = directory.find(name) else { return Ok(()) };
        match reference {
            Some(reference) => directory.entries[at..at + 4].copy_from_slice(&reference.bits().to_le_bytes()),
            None => directory.remove(at, end),
        }
        self.replace_header(directory.slot, &directory.entries[..directory.bytes])
    }

    /// Adds an entry to the first directory that has room, or to a new one.
    fn add_entry(&mut self, name: &[u8], reference: Ref) -> Result<(), AccessError<D::Error>> {
        let mut last = None;
        let found = self.find_directory(|directory| {
            last = Some((directory.slot, directory.next));
            directory.has_room(name)
        })?;
        if let Some(mut directory) = found {
            directory.append(name, reference);
            return self.replace_header(directory.slot, &directory.entries[..directory.bytes]);
        }
        let mut directory = Directory { slot: FIRST, entries: [0; HEADER_MAX], bytes: 0, next: FIRST };
        if let Some((slot, next)) = last {
            directory.slot = self.link_free_slot(slot, next)?;
        }
        directory.append(name, reference);
        self.create_directory(&directory)
    }

    /// Names a free slot as that of the next directory.
    fn link_free_slot(&mut self, last: u16, next: u16) -> Result<u16, AccessError<D::Error>> {
        let (slot, _) = self.find_slot().map_err(into_access)?;
        if slot != next {
            self.reclamation().make_room()?;
            if let Some(sector) = self.directory_sector(last)? {
                let sector = self.make_room_to_replace(sector)?;
                let extent = self.reclamation().objects.extent(&sector, 0)?;
                let bytes = &slot.to_le_bytes();
                let used = self.reclamation().objects.tail(&sector, None)?.used;
                self.replace(sector, Reason::Replaced(used), Replacement { at: extent.at, bytes })?;
            }
        }
        Ok(slot)
    }

    fn create_directory(&mut self, directory: &Directory) -> Result<(), AccessError<D::Error>> {
        let layout = Layout::uniform(1, 2).with_header(&directory.entries[..directory.bytes]);
        let header = self.header_of(&layout).map_err(into_access)?;
        Ok(self.write_new(Header { index: directory.slot, generation: DIRECTORY, ..header }, layout)?)
    }
}

/// What can go wrong when a directory is created, whose layout is one that each part can have.
fn into_access<E>(error: CreateError<E>) -> AccessError<E> {
    match error {
        CreateError::Store(error) => AccessError::Store(error),
        _ => AccessError::NoReferences,
    }
}
