//! Keys on flash: arrays of bytes with a mark in their headers, of which nothing stays readable once they were
//! overwritten or deleted.
//!
//! A heap keeps what was overwritten and deleted until it needs the place. So a note on the heap says that something of
//! a key may be left: an object that the root "ks" leads to. It is made in the transaction that overwrites a key, and
//! before objects are deleted where there are keys. When the command ends, and when power comes:
//!
//! 1. after a power cut, what nothing reaches is deleted;
//! 2. each key is written anew, so that no older value is beside the one that it has;
//! 3. what nothing uses is erased;
//! 4. the note is taken away.
//!
//! Invariant: while the flash has bytes of a key that is no more, there is the note, or the call has not returned whose
//! end makes it. A power cut repeats the steps.

use norn_card_package::format;

use crate::applet_card::{AppletCard, ErrorOf};
use crate::crypto::Crypto;
use crate::end::Failure;
use crate::heap::{HEADER_BYTES, PersistentHeap};
use crate::memory::{Memory, MemoryError};
use crate::objects::{ClassId, Objects, RUNTIME};
use crate::package_store::PackageStore;
use crate::persistent::ObjectError;

/// In place of a class, in the header of a key's array.
const KEY: ClassId = ClassId { package: 0, class: 1 };
const NOTE: [u8; 2] = *b"ks";
/// The note's header: of the runtime's own, without references.
const NOTE_HEADER: [u8; HEADER_BYTES] = [format::TYPE_CLASS, format::NONE, format::NONE, RUNTIME];

/// A key's array, and its header.
type Key<H> = (<H as PersistentHeap>::Reference, [u8; HEADER_BYTES]);

fn is_key([kind, package, class, _]: [u8; HEADER_BYTES]) -> bool {
    kind == format::BYTE && (ClassId { package, class }) == KEY
}

impl<H: PersistentHeap, const PACKAGES: usize, const TRANSIENT_BYTES: usize> Memory<H, PACKAGES, TRANSIENT_BYTES> {
    /// An array for a key's bytes, all zero; `length` is at least 1.
    pub(crate) fn create_key(&mut self, length: u16) -> Result<i32, Failure<MemoryError<H>>> {
        self.create_array(format::BYTE, KEY, length)
    }

    fn note(&mut self) -> Result<Option<H::Reference>, MemoryError<H>> {
        self.heap().root(NOTE).map_err(ObjectError::Heap)
    }

    /// Notes that something of a key is left, in the open transaction or one of its own.
    pub(crate) fn note_old_key(&mut self) -> Result<(), Failure<MemoryError<H>>> {
        self.may_have_old_keys = true;
        if self.note().map_err(Failure::Error)?.is_some() {
            return Ok(());
        }
        self.atomically(|memory| {
            let made = memory.heap().create(&[1], NOTE_HEADER);
            let note = memory.changed(made)?;
            let named = memory.heap().set_root(NOTE, Some(note));
            memory.changed(named)
        })
    }

    fn forget_note(&mut self, note: H::Reference) -> Result<(), Failure<MemoryError<H>>> {
        self.atomically(|memory| {
            let named = memory.heap().set_root(NOTE, None);
            memory.changed(named)?;
            let deleted = memory.heap().delete(note);
            memory.changed(deleted)
        })
    }

    fn next_key(&mut self, after: Option<H::Reference>) -> Result<Option<Key<H>>, MemoryError<H>> {
        let mut after = after;
        while let Some(object) = self.heap().next_object(after).map_err(ObjectError::Heap)? {
            let header = self.heap().header(object).map_err(ObjectError::Heap)?;
            if is_key(header) {
                return Ok(Some((object, header)));
            }
            after = Some(object);
        }
        Ok(None)
    }

    /// How many keys there are that an owner has; of all owners, where none is given. Cost: each object's header.
    pub(crate) fn count_keys(&mut self, owner: Option<u8>) -> Result<u32, MemoryError<H>> {
        let (mut count, mut after) = (0, None);
        while let Some((key, [.., of])) = self.next_key(after)? {
            after = Some(key);
            count += u32::from(owner.is_none_or(|owner| owner == of));
        }
        Ok(count)
    }

    /// Steps 2 to 4.
    fn erase_old_keys(&mut self, note: H::Reference) -> Result<(), Failure<MemoryError<H>>> {
        let mut after = None;
        while let Some((key, _)) = self.next_key(after).map_err(Failure::Error)? {
            after = Some(key);
            let written = self.heap().rewrite(key);
            self.changed(written)?;
        }
        let erased = self.heap().erase_unused();
        self.changed(erased)?;
        self.forget_note(note)
    }
}

impl<H: PersistentHeap, S: PackageStore, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize, const CELLS: usize>
    AppletCard<H, S, K, PACKAGES, TRANSIENT, CELLS>
{
    /// Notes that keys may be deleted, those of one owner or any; says whether there are any, and whether there was a
    /// note before.
    pub(crate) fn expect_deleted_keys(&mut self, owner: Option<u8>) -> Result<Expected, ErrorOf<H, S>> {
        if !K::COMPUTES {
            return Ok(Expected::default());
        }
        let keys = self.memory.count_keys(owner).map_err(Self::objects)?;
        let was_noted = self.memory.note().map_err(Self::objects)?.is_some();
        if keys > 0 {
            // Without room for a note: what is deleted makes some.
            if let Err(Failure::Error(error)) = self.memory.note_old_key() {
                return Err(Self::objects(error));
            }
        }
        Ok(Expected { keys, was_noted })
    }

    /// After a deletion: erases what is left of the keys that it took, or takes the note away.
    pub(crate) fn settle_deleted_keys(&mut self, Expected { keys, was_noted }: Expected) -> Result<(), ErrorOf<H, S>> {
        if keys == 0 {
            return Ok(());
        }
        if was_noted || self.memory.count_keys(None).map_err(Self::objects)? != keys {
            let noted = self.memory.note_old_key();
            self.kept(noted)?;
            return self.erase_old_keys();
        }
        match self.memory.note().map_err(Self::objects)? {
            None => Ok(()),
            Some(note) => {
                self.memory.may_have_old_keys = false;
                let forgotten = self.memory.forget_note(note);
                self.kept(forgotten)
            }
        }
    }

    /// A change of the note; where there is no room for it, the next command tries again.
    fn kept(&mut self, change: Result<(), Failure<MemoryError<H>>>) -> Result<(), ErrorOf<H, S>> {
        match change {
            Err(Failure::Error(error)) => Err(Self::objects(error)),
            Ok(()) => Ok(()),
            Err(_) => {
                self.memory.may_have_old_keys = true;
                Ok(())
            }
        }
    }

    /// Erases what keys were, where there is a note; where there is no room for that, the note stays.
    ///
    /// Cost: a root where a key was overwritten since the last time, and nothing else otherwise. With the note: the
    /// header of each object, each key written anew, and each erase unit erased that has bytes of nobody's.
    pub(crate) fn erase_old_keys(&mut self) -> Result<(), ErrorOf<H, S>> {
        if !K::COMPUTES || !self.memory.may_have_old_keys {
            return Ok(());
        }
        self.memory.may_have_old_keys = false;
        let Some(note) = self.memory.note().map_err(Self::objects)? else { return Ok(()) };
        let erased = self.memory.erase_old_keys(note);
        self.kept(erased)
    }

    /// When power comes: step 1, and the others.
    pub(crate) fn finish_old_keys(&mut self) -> Result<(), ErrorOf<H, S>> {
        if K::COMPUTES && self.memory.note().map_err(Self::objects)?.is_some() {
            self.memory.may_have_old_keys = true;
            self.collect()?;
            self.erase_old_keys()?;
        }
        Ok(())
    }
}

/// Keys before a deletion, and whether there was a note.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    keys: u32,
    was_noted: bool,
}
