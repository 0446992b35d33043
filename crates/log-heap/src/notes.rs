//! Notes of an open transaction, read from the log.
//!
//! An object that a transaction changes has notes: how many places of its tail were used before; and, once it has been
//! written anew or deleted, where it was. Notes stay in the units of the log in which they were written. The head of a
//! log says where those before it end, so that they are found from the last unit to the first.
//!
//! ```text
//!  ┌──────┬──────┬───────────┬─────────┬───────────┐       ┌──────┬──────┬───────────┬────────────┬────────┐
//!  │ head │ Done │ Note 17,3 │ Note 4,0│ Append 17 │◀──────│ From │ End  │ Before p  │ Replace 17 │ erased │
//!  └──────┴──────┴───────────┴─────────┴───────────┘       └──────┴──────┴───────────┴────────────┴────────┘
//! ```
//!
//! Of several notes of an object, the last one with a place counts, else the first one. So a note may be repeated, and
//! says where a sector from before is now when reclamation has moved it.
//!
//! What the last record of a log is may read differently at each boot. A mount reads it once, and has it in the head of
//! the next log, where it counts instead.

use norn_flash::Nor;
use norn_heap::StoreError;

use crate::format::{Entry, Granule, Place};
use crate::log::{Log, Note, Notes};
use crate::log_record::Record;
use crate::units::{Role, UnitRows};

/// A walk over the notes of the open transaction: from the last unit to the first, and in each from its first note on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    at: Granule,
    end: Granule,
    /// Where the notes end in the unit before.
    from: Option<Granule>,
    /// The note that the mount has read at the end of the log.
    last: Option<Note>,
    before: Option<Entry>,
    /// Units that have been left behind.
    units: u32,
}

impl Walk {
    /// Over a range of one unit.
    const fn within(start: Granule, end: Granule) -> Walk {
        Walk { at: start, end, from: None, last: None, before: None, units: 0 }
    }
}

impl<D: Nor, M: UnitRows> Log<D, M> {
    /// Begins a transaction, of which there are no notes yet.
    pub(crate) fn begin_notes(&mut self) {
        self.forget_notes();
        self.notes.is_open = true;
    }

    /// Whether a transaction is open.
    pub(crate) const fn is_open(&self) -> bool {
        self.notes.is_open
    }

    /// Whether the transaction has anything to undo.
    pub(crate) const fn has_notes(&self) -> bool {
        self.notes.here > 0 || self.notes.from.is_some()
    }

    /// Appends a note, and remembers its slot.
    pub(crate) fn note(&mut self, note: Note) -> Result<(), StoreError<D::Error>> {
        self.append_note(note)?;
        self.touch(note.slot);
        Ok(())
    }

    /// Notes where a sector from before, which was in doubt, is now. Where a log is to begin beside sectors, the note
    /// goes to its head: a note that ended this log is of the same object, and counts no more.
    pub(crate) fn note_settled(&mut self, note: Note) -> Result<(), StoreError<D::Error>> {
        if self.sectors().is_none() {
            return self.note(note);
        }
        self.notes.last = Some(note);
        Ok(())
    }

    fn touch(&mut self, slot: u16) {
        self.notes.slots[usize::from(slot % 256 / 32)] |= 1 << (slot % 32);
    }

    /// The note of a slot that counts.
    ///
    /// Reads the notes, unless no slot with the same remainder has any.
    pub(crate) fn note_of(&mut self, slot: u16) -> Result<Option<Note>, StoreError<D::Error>> {
        Ok(self.find_note(slot)?.map(|(note, _)| note))
    }

    /// Whether the note that a walk has given last is the one of its slot that counts.
    ///
    /// A sector from before that is moved may come to where it was.
    pub(crate) fn counts(&mut self, note: Note, walk: &Walk) -> Result<bool, StoreError<D::Error>> {
        Ok(!self.notes.is_moved || self.find_note(note.slot)?.is_some_and(|(_, end)| end == walk.at))
    }

    /// The note of a slot that counts, and where it ends.
    fn find_note(&mut self, slot: u16) -> Result<Option<(Note, Granule)>, StoreError<D::Error>> {
        if !self.is_open() || self.notes.slots[usize::from(slot % 256 / 32)] >> (slot % 32) & 1 == 0 {
            return Ok(None);
        }
        let (mut found, mut found_in) = (None::<(Note, Granule)>, 0);
        let mut walk = self.walk();
        while let Some(note) = self.next_note(&mut walk)? {
            let is_better = match found {
                _ if note.slot != slot => false,
                None => true,
                Some((Note { before: Some(_), .. }, _)) => note.before.is_some() && walk.units == found_in,
                Some(_) => note.before.is_some() || walk.units > found_in,
            };
            if is_better {
                (found, found_in) = (Some((note, walk.at)), walk.units);
            }
        }
        Ok(found)
    }

    /// Begins a walk.
    pub(crate) fn walk(&self) -> Walk {
        let Notes { start, end, from, last, .. } = self.notes;
        Walk { at: start, end: self.end.unwrap_or(end), from, last, before: None, units: 0 }
    }

    /// The next note of a walk. What is noted meanwhile is not among them.
    pub(crate) fn next_note(&mut self, walk: &mut Walk) -> Result<Option<Note>, StoreError<D::Error>> {
        loop {
            if walk.at >= walk.end {
                if let Some(note) = walk.last.take() {
                    // It ends elsewhere than the note before it.
                    walk.at = walk.end.offset(1);
                    return Ok(Some(note));
                }
                let Some(end) = walk.from else { return Ok(None) };
                let (start, from) = self.notes_before(end)?;
                *walk = Walk { at: start, end, from, last: None, before: None, units: walk.units + 1 };
            }
            let record = self.record(walk.at)?;
            walk.at = walk.at.offset(1);
            let before = walk.before.take();
            match record {
                Some(Record::Before(entry)) => walk.before = Some(entry),
                Some(Record::Note(slot, used)) => return Ok(Some(Note { slot, used, before: None })),
                Some(Record::Replace(slot, used)) if before.is_some() => return Ok(Some(Note { slot, used, before })),
                _ => {}
            }
        }
    }

    /// Number of notes in a range of a log unit, without those that a later one of them replaces.
    pub(crate) fn count_notes(&mut self, start: Granule, end: Granule) -> Result<u32, StoreError<D::Error>> {
        let (mut walk, mut count) = (Walk::within(start, end), 0);
        while self.next_kept(&mut walk)?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Programs these notes again.
    pub(crate) fn copy_notes(&mut self, start: Granule, end: Granule) -> Result<(), StoreError<D::Error>> {
        let mut walk = Walk::within(start, end);
        while let Some(note) = self.next_kept(&mut walk)? {
            self.program_note(note)?;
        }
        Ok(())
    }

    fn next_kept(&mut self, walk: &mut Walk) -> Result<Option<Note>, StoreError<D::Error>> {
        while let Some(note) = self.next_note(walk)? {
            let (mut rest, mut is_replaced) = (*walk, false);
            while let Some(later) = self.next_note(&mut rest)? {
                is_replaced |= later.slot == note.slot && later.before.is_some();
            }
            if !is_replaced {
                return Ok(Some(note));
            }
        }
        Ok(None)
    }

    fn record(&mut self, at: Granule) -> Result<Option<Record>, StoreError<D::Error>> {
        Ok(match self.units.medium.read_place(at)? {
            Place::Whole(content) => Record::from_content(content),
            Place::Broken if self.units.geometry().detects() => {
                return Err(self.units.medium.corrupted(at, "a damaged record of the log"));
            }
            _ => None,
        })
    }

    /// Where the transaction's records begin in the log unit in which its notes end at `end`, and where they end in the
    /// unit before that.
    fn notes_before(&mut self, end: Granule) -> Result<(Granule, Option<Granule>), StoreError<D::Error>> {
        let geometry = self.units.geometry();
        let unit = geometry.unit_of(Granule(end.0.saturating_sub(1)));
        let first = geometry.start(unit).offset(geometry.head());
        let (mut start, mut from) = (first, None);
        for at in (first.0..end.0).map(Granule) {
            match self.record(at)? {
                Some(Record::Done) => (start, from) = (at.offset(1), None),
                // Damage could lead the chain in a circle: a log's notes are in units that were opened before it.
                Some(Record::From(granule)) if self.is_older(granule, at)? => from = Some(granule),
                _ => {}
            }
        }
        Ok((start, from))
    }

    /// Whether the log unit that ends at `end` is older than that of `at`.
    fn is_older(&mut self, end: Granule, at: Granule) -> Result<bool, StoreError<D::Error>> {
        let geometry = self.units.geometry();
        let unit = geometry.unit_of(Granule(end.0.saturating_sub(1)));
        if unit.0 >= geometry.unit_count {
            return Ok(false);
        }
        let (older, newer) = (self.units.head(unit)?, self.units.head(geometry.unit_of(at))?);
        Ok(older.zip(newer).is_some_and(|(older, newer)| older.sequence < newer.sequence))
    }

    /// Gives a role to the units of the log that have notes, except the present one.
    pub(crate) fn set_role_of_notes(&mut self, role: Role) -> Result<(), StoreError<D::Error>> {
        let geometry = self.units.geometry();
        self.notes.units = 0;
        while let Some(end) = self.notes.from {
            self.notes.units += 1;
            let unit = geometry.unit_of(Granule(end.0.saturating_sub(1)));
            self.units.set_role(unit, role);
            self.notes.from = self.notes_before(end)?.1;
        }
        Ok(())
    }

    /// What a mount has to know of the notes that it has found: their units, and their slots.
    pub(crate) fn mount_notes(&mut self) -> Result<(), StoreError<D::Error>> {
        let at = self.notes.start;
        if let Some(from) = self.notes.from
            && !self.is_older(from, at)?
        {
            self.notes.from = None;
        }
        let from = self.notes.from;
        self.set_role_of_notes(Role::Log)?;
        self.notes.from = from;
        let mut walk = self.walk();
        while let Some(note) = self.next_note(&mut walk)? {
            self.touch(note.slot);
        }
        Ok(())
    }
}
