//! Transactions: changes of any number of objects that take effect together or not at all.
//!
//! Within a transaction calls change objects as they always do, and the log keeps [notes](crate::notes) of what was
//! before. A sector from before stays live until the transaction has ended. A commit is one record, `Done`. An abort,
//! or a mount that finds no `Done`, undoes what is noted, and then appends it:
//!
//! 1. where the map does not lead to the sector from before, lead it there;
//! 2. where deltas of that sector begin after the places that were used, append a void, or where its tail is full,
//!    write it anew without them.
//!
//! Each step finds itself done, so that it can be repeated after a cut. Meanwhile reclamation moves objects with notes
//! as they are, with their tails, so that the numbers of places stay true. Where it moves a sector from before, it
//! notes the new place before it gives the old one up.
//!
//! Invariants: in small units, where there is hardly room to write objects anew, a tail that is appended to within a
//! transaction keeps a place for the void; an object that was replaced in a transaction gets no further note of its
//! tail.

use norn_flash::Nor;
use norn_heap::{Listener, StoreError, TransactionError};

use crate::format::{Entry, Header, Owner, Stream};
use crate::heap::LogHeapIn;
use crate::log::{Intent, Note};
use crate::notes::Walk;
use crate::object::{Sector, Source};
use crate::reclaim::{Leftover, Reclamation};
use crate::slots::FreeSlots;
use crate::space::Reason;
use crate::units::{Role, UnitRows};

impl<D: Nor, M: UnitRows, L: Listener> LogHeapIn<D, M, L> {
    /// Begins a transaction: the changes up to [`commit`](Self::commit) take effect together, or not at all. Calls see
    /// them at once. A loss of power, a [`remount`](Self::remount) or [`abort`](Self::abort) undoes them.
    ///
    /// A call that fails has no effect, and the transaction goes on. Only a range of elements in several sections that
    /// fails halfway *aborts* it: it stays open, and every call but `abort` returns `TransactionAborted` until then.
    ///
    /// Its size is limited by free space: a note for each object, and what objects that are replaced were before.
    ///
    /// Cost: none.
    ///
    /// # Errors
    /// `AlreadyOpen`, `Aborted`; the store's.
    pub fn begin(&mut self) -> Result<(), TransactionError<D::Error>> {
        self.expect_running()?;
        let log = &mut self.reclamation().objects.map.space.log;
        if log.notes.is_aborted {
            return Err(TransactionError::Aborted);
        }
        if log.is_open() {
            return Err(TransactionError::AlreadyOpen);
        }
        log.begin_notes();
        Ok(())
    }

    /// Makes the changes of the open transaction permanent.
    ///
    /// Cost: a granule of the log, none if there were no changes; reads the notes, and a look-up for each object that
    /// was replaced. Where a split array was deleted, as its deletion.
    ///
    /// # Errors
    /// `NotOpen`, `Aborted`; the store's: the transaction is still open.
    pub fn commit(&mut self) -> Result<(), TransactionError<D::Error>> {
        self.expect_open()?;
        if self.log().notes.is_aborted {
            return Err(TransactionError::Aborted);
        }
        self.reclamation().commit()?;
        let leftover = &mut self.reclamation().leftover;
        *leftover = Leftover { now: leftover.now || leftover.if_committed, ..Leftover::default() };
        self.take_away_later()
    }

    /// Undoes the changes of the open transaction.
    ///
    /// Cost: for each object that was changed, a granule of the log, and a delta or a map change; the object's granules
    /// where its tail is full; reads the notes once for each note.
    ///
    /// # Errors
    /// `NotOpen`; the store's: the transaction is aborted, and still open. On `Full` it may be called again.
    pub fn abort(&mut self) -> Result<(), TransactionError<D::Error>> {
        self.expect_open()?;
        self.abort_later();
        self.slots = FreeSlots::UNKNOWN;
        self.reclamation().undo()?;
        let leftover = &mut self.reclamation().leftover;
        *leftover = Leftover { now: leftover.now || leftover.if_undone, ..Leftover::default() };
        self.take_away_later()
    }

    /// Lets an open transaction do nothing more than be undone.
    pub(crate) fn abort_later(&mut self) {
        let notes = &mut self.reclamation().objects.map.space.log.notes;
        notes.is_aborted = notes.is_open;
    }

    /// Takes away what is left of arrays; what does not fit now, or is damaged, before the next object is created.
    fn take_away_later(&mut self) -> Result<(), TransactionError<D::Error>> {
        match self.take_away() {
            Err(StoreError::Full | StoreError::Corrupted) => Ok(()),
            taken => Ok(taken?),
        }
    }

    /// Whether a transaction is open.
    pub const fn in_transaction(&self) -> bool {
        self.log().is_open()
    }

    fn expect_open(&self) -> Result<(), TransactionError<D::Error>> {
        self.expect_running()?;
        if self.in_transaction() { Ok(()) } else { Err(TransactionError::NotOpen) }
    }
}

impl<D: Nor, M: UnitRows, L: Listener> Reclamation<D, M, L> {
    /// Says that a tail of which so many places are used is about to be appended to, in a transaction.
    pub(crate) fn intend_noted_append(&mut self, slot: u16, used: u8) -> Result<(), StoreError<D::Error>> {
        let log = &mut self.objects.map.space.log;
        match log.note_of(slot)? {
            Some(_) => log.intend(Intent::Append(slot)),
            None => log.note(Note { slot, used, before: None }),
        }
    }

    /// Says that an object is about to be written anew or deleted. Returns its sector if that is to be given up then.
    pub(crate) fn intend_replacement(
        &mut self,
        owner: Owner,
        old: Result<Sector, u16>,
    ) -> Result<Option<Sector>, StoreError<D::Error>> {
        let sector = old.ok();
        if !self.objects.map.space.log.is_open() {
            self.objects.map.space.log.intend(Intent::Rewrite(owner))?;
            return Ok(sector);
        }
        let slot = owner.index;
        let (entry, used) = match old {
            Ok(sector) => (Entry::At(sector.at), self.objects.tail(&sector, None)?.used),
            Err(generation) => (Entry::Nowhere(generation), 0),
        };
        let log = &mut self.objects.map.space.log;
        match log.note_of(slot)? {
            Some(Note { before: Some(before), .. }) => {
                log.intend(Intent::Rewrite(owner))?;
                Ok(sector.filter(|_| before != entry))
            }
            note => {
                let used = note.map_or(used, |note| note.used);
                log.note(Note { slot, used, before: Some(entry) })?;
                Ok(None)
            }
        }
    }

    fn commit(&mut self) -> Result<(), StoreError<D::Error>> {
        let log = &mut self.objects.map.space.log;
        if log.has_notes() {
            log.append_done()?;
            let given_up = self.give_up_replaced();
            self.recount_where_damaged(given_up)?;
        }
        self.end_transaction()
    }

    /// What is damaged does not hinder a transaction that the log has ended: what is live is counted anew later.
    fn recount_where_damaged(&mut self, ended: Result<(), StoreError<D::Error>>) -> Result<(), StoreError<D::Error>> {
        match ended {
            Err(StoreError::Corrupted) => {
                self.objects.map.space.log.units.has_lost_count = true;
                Ok(())
            }
            ended => ended,
        }
    }

    /// Gives up the sectors from before the transaction.
    fn give_up_replaced(&mut self) -> Result<(), StoreError<D::Error>> {
        let mut walk = self.objects.map.space.log.walk();
        while let Some(note) = self.objects.map.space.log.next_note(&mut walk)? {
            if let Some(sector) = self.replaced(note, &walk)? {
                let geometry = self.objects.map.space.log.units.geometry();
                self.objects.map.space.log.units.remove_live(sector.at, sector.header.granules(&geometry));
            }
        }
        Ok(())
    }

    /// The sector from before the transaction that the note given last names, if the note counts, and the map leads
    /// elsewhere.
    pub(crate) fn replaced(&mut self, note: Note, walk: &Walk) -> Result<Option<Sector>, StoreError<D::Error>> {
        let Some(Entry::At(at)) = note.before else { return Ok(None) };
        if !self.objects.map.space.log.counts(note, walk)? {
            return Ok(None);
        }
        if self.objects.map.lookup(Owner::object(note.slot))? == Entry::At(at) {
            return Ok(None);
        }
        Ok(Some(Sector { at, header: self.objects.map.stated_header(at)? }))
    }

    /// Undoes the open transaction.
    pub(crate) fn undo(&mut self) -> Result<(), StoreError<D::Error>> {
        self.recount()?;
        self.objects.map.space.is_settling = true;
        let (mut unit, mut walk) = (self.objects.map.space.log.unit(), self.objects.map.space.log.walk());
        while let Some(note) = self.objects.map.space.log.next_note(&mut walk)? {
            let counting = self.objects.map.space.log.note_of(note.slot)?;
            if let Some(note) = counting
                && !self.is_undone(note)?
            {
                self.undo_with_room(note.slot)?;
            }
            // The notes of a log that is full go along to the next one, and its unit may be erased.
            if unit != self.objects.map.space.log.unit() {
                (unit, walk) = (self.objects.map.space.log.unit(), self.objects.map.space.log.walk());
            }
        }
        if self.objects.map.space.log.has_notes() {
            self.objects.map.space.log.append_done()?;
        }
        self.end_transaction()
    }

    /// Whether an object is as its note says that it was.
    fn is_undone(&mut self, note: Note) -> Result<bool, StoreError<D::Error>> {
        let now = self.objects.map.lookup(Owner::object(note.slot))?;
        match (now, note.before.unwrap_or(now)) {
            (Entry::Nowhere(_), Entry::Nowhere(_)) => Ok(true),
            (Entry::At(at), before) if before == now => {
                let sector = Sector { at, header: self.objects.map.stated_header(at)? };
                Ok(!self.objects.read_tail(&sector, None)?.has_from(note.used))
            }
            _ => Ok(false),
        }
    }

    /// What is undone makes room: there has to be a unit for map nodes, and one for the log.
    fn undo_with_room(&mut self, slot: u16) -> Result<(), StoreError<D::Error>> {
        let mut reclaimed = 0;
        while self.free_count() < 2 && reclaimed < 4 && self.reclaim_one()? {
            reclaimed += 1;
        }
        match self.objects.map.space.log.note_of(slot)? {
            Some(note) => self.undo_note(note),
            None => Ok(()),
        }
    }

    fn undo_note(&mut self, note: Note) -> Result<(), StoreError<D::Error>> {
        let owner = Owner::object(note.slot);
        let now = self.objects.map.lookup(owner)?;
        let entry = note.before.unwrap_or(now);
        let is_there = match (now, entry) {
            (Entry::Nowhere(_), Entry::Nowhere(_)) => true,
            (now, entry) => now == entry,
        };
        if !is_there {
            let replaced = match now {
                Entry::At(at) => Some(Sector { at, header: self.objects.map.stated_header(at)? }),
                Entry::Nowhere(_) => None,
            };
            self.objects.map.space.log.intend(Intent::Rewrite(owner))?;
            self.lead_to(owner, entry, replaced)?;
        }
        let Entry::At(at) = entry else { return Ok(()) };
        let sector = Sector { at, header: self.objects.map.stated_header(at)? };
        let tail = self.objects.read_tail(&sector, None)?;
        let was_damaged = self.objects.was_damaged(&sector, &tail, note.used)?;
        if !tail.has_from(note.used) {
            return Ok(());
        }
        if !self.objects.is_erased(&sector, tail.used)? {
            // Damage from before stays as it is, and is an error to whoever reads it.
            return if was_damaged { Ok(()) } else { self.rewrite_undone(sector, note) };
        }
        self.objects.map.space.log.intend(Intent::Append(note.slot))?;
        self.objects.append_void(&sector, tail.used, note.used)
    }

    /// Writes an object anew as it was when so many places of its tail were used: there is no place for a void.
    fn rewrite_undone(&mut self, sector: Sector, note: Note) -> Result<(), StoreError<D::Error>> {
        let owner = Owner::object(note.slot);
        let tail = self.tail_of(&sector.header, Reason::Moved(note.used, sector.header.tail));
        let header = Header { tail, ..sector.header };
        let written = self.objects.write(header, Source::Before(sector, note.used), None, Stream::Updated)?;
        let log = &mut self.objects.map.space.log;
        if note.before.is_some() {
            // A mount that undoes again must not be led to the old sector.
            log.notes.is_moved = true;
            log.note(Note { before: Some(Entry::At(written)), used: 0, ..note })?;
        } else {
            log.intend(Intent::Rewrite(owner))?;
        }
        self.lead_to(owner, Entry::At(written), Some(sector))
    }

    fn end_transaction(&mut self) -> Result<(), StoreError<D::Error>> {
        let log = &mut self.objects.map.space.log;
        let given_up = log.set_role_of_notes(Role::Filled);
        log.forget_notes();
        self.objects.map.space.is_settling = false;
        self.recount_where_damaged(given_up)
    }

    /// Moves an object with notes, or what it was before, as it is.
    pub(crate) fn move_noted(&mut self, sector: Sector, note: Note) -> Result<(), StoreError<D::Error>> {
        let (owner, now) = (Owner::object(note.slot), self.objects.map.lookup(Owner::object(note.slot))?);
        let copy = Entry::At(self.objects.copy(&sector, Stream::Moved)?);
        let log = &mut self.objects.map.space.log;
        if note.before == Some(Entry::At(sector.at)) {
            log.notes.is_moved = true;
            log.note(Note { before: Some(copy), ..note })?;
        } else {
            log.intend(Intent::Rewrite(owner))?;
        }
        if now == Entry::At(sector.at) {
            return self.lead_to(owner, copy, Some(sector));
        }
        let geometry = self.objects.map.space.log.units.geometry();
        self.objects.map.space.log.units.remove_live(sector.at, sector.header.granules(&geometry));
        Ok(())
    }
}
