//! The log: what is about to be changed, and where the map begins.
//!
//! Before anything but the log is programmed, the log says whose sector or tail it is. So after a cut at most one
//! owner is in doubt, that of the last such record. A log unit begins with a head: the root, the units of the next
//! two logs, and the owner in doubt with what the map led to. From the record `End` on it counts, and the one before
//! is needed no more.
//!
//! ```text
//! ┌──────┬──────┬──────┬──────┬───────────────────────────────────────┬─────┬────────┬─────────┬──────┬────────┐
//! │ unit │ Root │ Next │ Next │ when mounted in doubt: Found ×levels,  │ End │ Append │ Rewrite │ Root │ erased │
//! │ head │      │      │      │ Append or Rewrite                      │     │ 17     │ 17      │      │        │
//! └──────┴──────┴──────┴──────┴───────────────────────────────────────┴─────┴────────┴─────────┴──────┴────────┘
//! ```
//!
//! Why two units are reserved: whether `End` is complete may read differently at each boot until another log follows.
//! The next log of both views has to be outside of what either view uses for something else: the older log's second
//! is the newer one's first.
//!
//! Appends are many. Once as many were recorded as a sweep over all tails would take programs, the log says that any
//! tail may be in doubt, and appends are recorded no more: an unclean mount then sweeps.
//!
//! Invariants: the log is appended to in order; a mount appends to a new log only, because the end of the old one is
//! in doubt; the log's unit and the next two have the role [`Role::Log`].

use norn_flash::{EraseUnit, Nor};
use norn_heap::StoreError;

use crate::format::{Entry, ErrorDetection, Granule, LEVELS_MAX, NEVER, Owner, Place, Stream, UnitHead};
use crate::log_record::{Record, Tails};
use crate::medium::Medium;
use crate::units::{Role, UnitRows, Units};

/// How many units more than the newest wear out before the log leaves its units to data.
const WEAR_SLACK: u32 = 8;

/// Notes that go along when the log turns: fewer than one for so many places.
const NOTES_SHARE: u32 = 4;
/// Places for a head and a few records, beside notes, before sectors.
const RECORDS_BESIDE_NOTES: u32 = 12;
/// Appends that are recorded after a mount, whatever the part holds.
const APPENDS_MIN: u32 = 16;
/// Live granules for each of which an append more is recorded: about as many as there are objects.
const GRANULES_SWEPT: u32 = 32;

/// The owner whose last change was not known to be complete at a mount, and what led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// The last intent.
    pub(crate) intent: Intent,
    /// The entry of the owner's ancestor on each level, and on its own; the root on the highest.
    pub(crate) path: [Entry; LEVELS_MAX + 1],
    /// The level of the root; below the owner's where the map does not reach so high.
    pub(crate) top: u8,
}

/// How the log that a mount has found ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogEnd {
    /// Everything is known to be complete.
    Quiet,
    /// Something may have been in progress.
    InDoubt,
}

/// What is about to be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// A new sector of this owner, and changes of the nodes above.
    Rewrite(Owner),
    /// The tail of the object in this slot.
    Append(u16),
}

impl Intent {
    /// Whose sector is meant.
    pub(crate) const fn owner(self) -> Owner {
        match self {
            Intent::Rewrite(owner) => owner,
            Intent::Append(slot) => Owner::object(slot),
        }
    }

    const fn record(self) -> Record {
        match self {
            Intent::Rewrite(owner) => Record::Rewrite(owner),
            Intent::Append(slot) => Record::Append(slot),
        }
    }
}

/// The log, above the units.
#[derive(Clone, Debug)]
pub(crate) struct Log<D, M> {
    pub(crate) units: Units<D, M>,
    unit: EraseUnit,
    /// The next granule to program; `None` where that is in doubt.
    pub(crate) end: Option<Granule>,
    next: [EraseUnit; 2],
    /// The unit that sectors go to behind the records: that of the next log, before it counts, or this one.
    sectors: Option<EraseUnit>,
    /// Whether sectors end the records of this log.
    has_sectors: bool,
    root: Entry,
    /// The last intent of this log.
    intent: Option<Intent>,
    /// What a mount has found in doubt and not yet settled.
    doubt: Option<Doubt>,
    /// Which tails are in doubt, beside that of the last intent.
    tails: Tails,
    /// Appends recorded since the mount.
    appends: u32,
    /// Where the notes of an open transaction are.
    pub(crate) notes: Notes,
}

/// What a transaction has to be undone with: where an object was before, and how many places of its tail were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) slot: u16,
    pub(crate) used: u8,
    /// Where the object was; `None` where it still is there.
    pub(crate) before: Option<Entry>,
}

/// Where the notes of an open transaction are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notes {
    /// Whether a transaction is open.
    pub(crate) is_open: bool,
    /// Whether it can only be undone: a call has failed halfway.
    pub(crate) is_aborted: bool,
    /// Notes that this log has of it.
    pub(crate) here: u16,
    /// Other units that have notes.
    pub(crate) units: u16,
    /// Whether a sector from before the transaction was moved, so that an object has several notes of that kind.
    pub(crate) is_moved: bool,
    /// Where its records begin in this log.
    pub(crate) start: Granule,
    /// Where they end while the end of the log is in doubt.
    pub(crate) end: Granule,
    /// Where the notes end in the unit of the log that has others.
    pub(crate) from: Option<Granule>,
    /// What the last record of the log was when the mount read it: it goes to the head of the next log.
    pub(crate) last: Option<Note>,
    /// The slots that have notes, and others: a bit for each remainder of a slot.
    pub(crate) slots: [u32; 8],
}

impl Notes {
    const NONE: Notes = Notes {
        is_open: false,
        is_aborted: false,
        here: 0,
        units: 0,
        is_moved: false,
        start: Granule(0),
        end: Granule(0),
        from: None,
        last: None,
        slots: [0; 8],
    };

    /// Follows a record of the log that is at `at`, as a mount does; `before` is what the last `Before` said.
    fn follow(&mut self, record: Record, at: Granule, before: &mut Option<Entry>) {
        self.here += u16::from(self.last.take().is_some());
        match record {
            Record::Before(entry) => {
                (*before, self.end) = (Some(entry), at);
                return;
            }
            Record::Note(slot, used) => (self.last, self.end) = (Some(Note { slot, used, before: None }), at),
            // It ends before its `Before`.
            Record::Replace(slot, used) if before.is_some() => self.last = Some(Note { slot, used, before: *before }),
            Record::Done => *self = Notes { start: at.offset(1), end: at.offset(1), ..Notes::NONE },
            Record::From(granule) => (self.from, self.end) = (Some(granule), at.offset(1)),
            // It may be in doubt, and is no note.
            _ => self.end = at,
        }
        *before = None;
    }
}

/// What a log's head and records say.
struct Replayed {
    next: [EraseUnit; 2],
    root: Entry,
    intent: Option<Intent>,
    found: [Entry; LEVELS_MAX + 1],
    found_count: usize,
    tails: Tails,
    notes: Notes,
    is_quiet: bool,
}

impl<D: Nor, M: UnitRows> Log<D, M> {
    pub(crate) const fn new(medium: Medium<D>, rows: M) -> Self {
        Log {
            units: Units::new(medium, rows),
            unit: EraseUnit(0),
            end: None,
            next: [EraseUnit(0); 2],
            sectors: None,
            has_sectors: false,
            root: Entry::Nowhere(NEVER),
            intent: None,
            doubt: None,
            tails: Tails::Named,
            appends: 0,
            notes: Notes::NONE,
        }
    }

    /// Where the map begins.
    pub(crate) const fn root(&self) -> Entry {
        self.root
    }

    /// What a mount has to settle, or is settling.
    pub(crate) const fn doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref()
    }

    /// The last intent of the log that was mounted.
    pub(crate) const fn intent(&self) -> Option<Intent> {
        self.intent
    }

    /// The unit that it is in.
    pub(crate) const fn unit(&self) -> EraseUnit {
        self.unit
    }

    /// Begins the first log of an image, on erased or foreign units.
    pub(crate) fn format(&mut self) -> Result<(), StoreError<D::Error>> {
        (self.unit, self.next) = (EraseUnit(2), [EraseUnit(0), EraseUnit(1)]);
        self.turn_empty()
    }

    /// Begins the next log of a mounted image, with an empty map. Should this log's `End` not read as complete, the
    /// mount finds something in doubt, and begins a log in its place: so it decides.
    pub(crate) fn begin_empty(&mut self, detection: ErrorDetection) -> Result<(), StoreError<D::Error>> {
        self.intend(Intent::Rewrite(Owner::object(0)))?;
        self.units.medium.set_detection(detection);
        self.turn_empty()
    }

    fn turn_empty(&mut self) -> Result<(), StoreError<D::Error>> {
        (self.root, self.intent, self.doubt) = (Entry::Nowhere(NEVER), None, None);
        (self.tails, self.appends, self.notes) = (Tails::Named, 0, Notes::NONE);
        self.turn()
    }

    /// Says what is about to be programmed, unless that was said last.
    pub(crate) fn intend(&mut self, intent: Intent) -> Result<(), StoreError<D::Error>> {
        if self.intent == Some(intent) && self.end.is_some() {
            return Ok(());
        }
        self.append(intent.record())?;
        self.intent = Some(intent);
        Ok(())
    }

    /// Says that a tail is about to be appended to that has room for a seal after that; not once all such tails are in
    /// doubt anyway.
    pub(crate) fn intend_append(&mut self, slot: u16) -> Result<(), StoreError<D::Error>> {
        if self.tails == Tails::Any {
            return Ok(());
        }
        // From here on, a sweep at the next mount costs less than further records.
        if self.appends >= APPENDS_MIN + self.units.live() / GRANULES_SWEPT {
            return self.set_tails(Tails::Any);
        }
        self.appends += 1;
        self.intend(Intent::Append(slot))
    }

    /// Which tails are in doubt, beside that of the last intent.
    pub(crate) const fn tails(&self) -> Tails {
        self.tails
    }

    /// Says that everything is complete, and which tails are in doubt from here on.
    pub(crate) fn set_tails(&mut self, tails: Tails) -> Result<(), StoreError<D::Error>> {
        self.append(Record::Tails(tails))?;
        (self.tails, self.intent) = (tails, None);
        Ok(())
    }

    /// Sets where the map begins. This settles what was in doubt.
    pub(crate) fn set_root(&mut self, root: Entry) -> Result<(), StoreError<D::Error>> {
        self.append(Record::Root(root))?;
        self.root = root;
        if self.doubt.take().is_some() {
            self.intent = None;
        }
        Ok(())
    }

    /// Says that everything is complete, so that the next mount has nothing to settle.
    pub(crate) fn rest(&mut self) -> Result<(), StoreError<D::Error>> {
        self.append(Record::Quiet)?;
        (self.intent, self.tails, self.appends) = (None, Tails::Named, 0);
        Ok(())
    }

    /// Appends a record; where the log is full, or its end in doubt, to the next one.
    fn append(&mut self, record: Record) -> Result<(), StoreError<D::Error>> {
        self.make_place(1)?;
        self.program(record)
    }

    /// Begins the next log where this one has not so many places, or where its end is in doubt.
    fn make_place(&mut self, places: u32) -> Result<(), StoreError<D::Error>> {
        let geometry = self.units.geometry();
        // What is erased before sectors ends the records.
        let limit = if self.has_sectors { geometry.log_sectors() - 1 } else { geometry.unit_granules };
        let limit = geometry.start(self.unit).offset(limit);
        if self.end.is_none_or(|end| end.offset(places) > limit) {
            self.turn()?;
        }
        Ok(())
    }

    fn program(&mut self, record: Record) -> Result<(), StoreError<D::Error>> {
        let Some(end) = self.end else { return Err(StoreError::Halted) };
        let granule_bytes = self.units.geometry().granule_bytes;
        self.units.medium.program_place(end, &Place::encode(granule_bytes, record.to_content(), &[]))?;
        self.end = Some(end.offset(1));
        Ok(())
    }

    /// Begins the next log if more than half of this one is used. Returns whether it was so.
    pub(crate) fn turn_ahead(&mut self) -> Result<bool, StoreError<D::Error>> {
        let geometry = self.units.geometry();
        let half = geometry.start(self.unit).offset(geometry.unit_granules / 2);
        if self.end.is_some_and(|end| end <= half) {
            return Ok(false);
        }
        self.turn()?;
        Ok(true)
    }

    /// Begins the next log, with what is in doubt in its head.
    pub(crate) fn turn(&mut self) -> Result<(), StoreError<D::Error>> {
        let old = self.unit;
        self.units.set_role(self.next[0], Role::Log);
        self.units.set_role(self.next[1], Role::Log);
        // Few notes go along.
        let (notes_start, notes_end) = (self.notes.start, self.end.unwrap_or(self.notes.end));
        let most = self.units.geometry().room() / NOTES_SHARE;
        let keeps_old = u32::from(self.notes.here) > most && self.count_notes(notes_start, notes_end)? > most;
        let third = if keeps_old { self.units.expect_free()? } else { self.choose_third()? };
        (self.sectors, self.has_sectors) = (None, false);
        self.units.open(self.next[0], Stream::Log)?;
        if keeps_old {
            (self.notes.from, self.notes.here) = (Some(notes_end), 0);
            self.notes.units += 1;
        }
        self.begin(third, (notes_start, notes_end))?;
        if old != third && !keeps_old {
            self.units.set_role(old, Role::Filled);
        }
        Ok(())
    }

    /// Erases the unit of the next log, which does not count yet, for sectors.
    pub(crate) fn open_for_sectors(&mut self) -> Result<EraseUnit, StoreError<D::Error>> {
        self.units.open(self.next[0], Stream::Log)?;
        self.sectors = Some(self.next[0]);
        Ok(self.next[0])
    }

    /// The unit that sectors go to behind the records, if there is one.
    pub(crate) const fn sectors(&self) -> Option<EraseUnit> {
        self.sectors
    }

    /// Gives up what was written where a log was to begin.
    pub(crate) fn close_sectors(&mut self) {
        self.sectors = None;
    }

    /// Whether the notes of an open transaction fit before sectors, and some records.
    pub(crate) fn fits_beside_sectors(&mut self) -> Result<bool, StoreError<D::Error>> {
        let (start, end) = (self.notes.start, self.end.unwrap_or(self.notes.end));
        let places = self.units.geometry().room() / 3;
        let notes = if self.notes.here > 0 { self.count_notes(start, end)? } else { 0 };
        Ok(2 * notes + RECORDS_BESIDE_NOTES <= places)
    }

    /// Begins the next log in the unit that was opened for it, which has sectors already, with a map in which nothing
    /// is in doubt, and with the notes of this one. `third` is this one's unit, if nothing is live there then, or free.
    pub(crate) fn begin_beside_sectors(&mut self, root: Entry, third: EraseUnit) -> Result<(), StoreError<D::Error>> {
        (self.root, self.doubt, self.intent, self.has_sectors) = (root, None, None, true);
        let (old, start, end) = (self.unit, self.notes.start, self.end.unwrap_or(self.notes.end));
        self.begin(third, (start, end))?;
        if old != third {
            self.units.set_role(old, Role::Filled);
        }
        Ok(())
    }

    /// Whether fewer units are free than so many more, once the next log has its third unit: the present one, unless
    /// that has sectors.
    pub(crate) fn is_short_of(&self, more: u32) -> bool {
        self.units.free_count() < u32::from(self.units.live_in(self.unit) > 0) + more
    }

    /// Writes a log's head, from whose `End` on it counts.
    fn begin(&mut self, third: EraseUnit, notes: (Granule, Granule)) -> Result<(), StoreError<D::Error>> {
        let (geometry, unit) = (self.units.geometry(), self.next[0]);
        let start = geometry.start(unit).offset(geometry.head());
        (self.end, self.notes.start) = (Some(start), start);
        self.program(Record::Root(self.root))?;
        self.program(Record::Next(self.next[1]))?;
        self.program(Record::Next(third))?;
        if let Some(from) = self.notes.from {
            self.program(Record::From(from))?;
        }
        if self.notes.here > 0 {
            self.notes.here = 0;
            self.copy_notes(notes.0, notes.1)?;
        }
        if let Some(note) = self.notes.last.take() {
            self.program_note(note)?;
        }
        self.program_doubt()?;
        self.program(Record::End)?;
        if geometry.detects() {
            // One may change, and the log counts all the same.
            self.program(Record::End)?;
        }
        self.units.set_role(third, Role::Log);
        (self.unit, self.next) = (unit, [self.next[1], third]);
        Ok(())
    }

    /// The unit of the log after the next one: the present one again, unless it is worn, or has sectors.
    fn choose_third(&mut self) -> Result<EraseUnit, StoreError<D::Error>> {
        let old = self.unit;
        if self.units.live_in(old) > 0 {
            return self.units.expect_free();
        }
        let erases = self.units.head(old)?.map_or(0, |head| head.erases);
        let Some(other) = self.units.least_worn_free()? else { return Ok(old) };
        let others = self.units.head(other)?.map_or(erases, |head| head.erases);
        Ok(if erases > others + WEAR_SLACK { other } else { old })
    }

    pub(crate) fn program_note(&mut self, note: Note) -> Result<(), StoreError<D::Error>> {
        self.notes.here += 1;
        let Some(before) = note.before else { return self.program(Record::Note(note.slot, note.used)) };
        self.program(Record::Before(before))?;
        self.program(Record::Replace(note.slot, note.used))
    }

    /// Appends a note of the open transaction, which is also an intent.
    pub(crate) fn append_note(&mut self, note: Note) -> Result<(), StoreError<D::Error>> {
        self.make_place(1 + u32::from(note.before.is_some()))?;
        self.program_note(note)?;
        self.intent = Some(match note.before {
            Some(_) => Intent::Rewrite(Owner::object(note.slot)),
            None => Intent::Append(note.slot),
        });
        Ok(())
    }

    /// Ends the open transaction, whose notes are forgotten later.
    pub(crate) fn append_done(&mut self) -> Result<(), StoreError<D::Error>> {
        self.append(Record::Done)?;
        self.intent = None;
        Ok(())
    }

    /// Forgets the notes of a transaction that has ended.
    pub(crate) fn forget_notes(&mut self) {
        let start = self.end.unwrap_or(Granule(0));
        self.notes = Notes { start, end: start, ..Notes::NONE };
    }

    fn program_doubt(&mut self) -> Result<(), StoreError<D::Error>> {
        if self.tails != Tails::Named {
            self.program(Record::Tails(self.tails))?;
        }
        if let Some(doubt) = self.doubt {
            let level = doubt.intent.owner().level;
            for at in (level..=doubt.top).rev() {
                self.program(Record::Found(doubt.path[usize::from(at)]))?;
            }
            self.program(doubt.intent.record())?;
        } else if let Some(intent) = self.intent {
            self.program(intent.record())?;
        }
        Ok(())
    }
}

/// Mounting.
impl<D: Nor, M: UnitRows> Log<D, M> {
    /// Finds the newest log that counts and what it says.
    ///
    /// Reads the head of each unit, and each record of the logs whose `End` is looked for.
    pub(crate) fn mount(&mut self) -> Result<Option<LogEnd>, StoreError<D::Error>> {
        let mut newest = 0;
        let mut best: Option<(UnitHead, EraseUnit, Replayed)> = None;
        let mut damaged: Option<(u32, Granule)> = None;
        for unit in self.units.all() {
            let Some(head) = self.units.head(unit)? else { continue };
            newest = newest.max(head.sequence);
            let is_newer = best.as_ref().is_none_or(|(best, ..)| head.sequence > best.sequence);
            if head.stream != Stream::Log || !is_newer {
                continue;
            }
            let replayed = self.replay(unit)?;
            if head.detection == ErrorDetection::On
                && let Some(at) = self.damaged_record(unit)?
            {
                damaged = damaged.max(Some((head.sequence, at)));
            }
            if let Some(replayed) = replayed {
                best = Some((head, unit, replayed));
            }
        }
        let sequence = best.as_ref().map_or(0, |(head, ..)| head.sequence);
        if let Some((_, at)) = damaged.filter(|(damaged, _)| *damaged >= sequence) {
            return Err(self.units.medium.corrupted(at, "a damaged record of the log"));
        }
        let Some((head, unit, replayed)) = best else { return Ok(None) };
        self.units.medium.set_detection(head.detection);
        self.units.clear(newest);
        for log in [unit, replayed.next[0], replayed.next[1]] {
            self.units.set_role(log, Role::Log);
        }
        (self.unit, self.end, self.next) = (unit, None, replayed.next);
        (self.sectors, self.has_sectors) = (None, false);
        (self.root, self.intent, self.doubt) = (replayed.root, replayed.intent, None);
        (self.tails, self.appends, self.notes) = (replayed.tails, 0, replayed.notes);
        self.mount_notes()?;
        if replayed.found_count > 0
            && let Some(intent) = replayed.intent
        {
            self.doubt = self.doubt_of(intent, &replayed);
        }
        Ok(Some(if replayed.is_quiet { LogEnd::Quiet } else { LogEnd::InDoubt }))
    }

    /// The first record of a log that has changed since others followed it.
    ///
    /// A cut erase of a log that does not count may change records, too, but nothing follows the `End` of such a log.
    /// So there has to be a record after one.
    ///
    /// Reads the log again.
    fn damaged_record(&mut self, unit: EraseUnit) -> Result<Option<Granule>, StoreError<D::Error>> {
        let geometry = self.units.geometry();
        let (mut first, mut has_end, mut is_used, mut is_followed) = (None, false, false, false);
        for at in geometry.head()..geometry.unit_granules {
            let at = geometry.start(unit).offset(at);
            match self.units.medium.read_place(at)? {
                Place::Erased => break,
                Place::Broken => first = first.or(Some(at)),
                Place::Whole(content) => {
                    is_used |= has_end;
                    has_end |= Record::from_content(content) == Some(Record::End);
                    is_followed |= first.is_some();
                }
            }
        }
        Ok(first.filter(|_| is_followed && is_used))
    }

    /// The doubt that a head states.
    fn doubt_of(&self, intent: Intent, replayed: &Replayed) -> Option<Doubt> {
        let level = intent.owner().level;
        let top = usize::from(level) + replayed.found_count - 1;
        let mut path = [Entry::Nowhere(NEVER); LEVELS_MAX + 1];
        if top > LEVELS_MAX {
            return None;
        }
        for (number, &entry) in replayed.found[..replayed.found_count].iter().enumerate() {
            path[top - number] = entry;
        }
        Some(Doubt { intent, path, top: top as u8 })
    }

    /// States what is in doubt, which the next [`turn`](Self::turn) writes down.
    pub(crate) fn set_doubt(&mut self, doubt: Doubt) {
        self.doubt = Some(doubt);
    }

    /// What a log unit says, if its head is complete.
    fn replay(&mut self, unit: EraseUnit) -> Result<Option<Replayed>, StoreError<D::Error>> {
        let geometry = self.units.geometry();
        let nowhere = Entry::Nowhere(NEVER);
        let (mut next, mut next_count, mut is_counted) = ([EraseUnit(0); 2], 0, false);
        let mut replayed = Replayed {
            next,
            root: nowhere,
            intent: None,
            found: [nowhere; LEVELS_MAX + 1],
            found_count: 0,
            tails: Tails::Named,
            notes: Notes::NONE,
            is_quiet: false,
        };
        let (mut before, first) = (None, geometry.start(unit).offset(geometry.head()));
        (replayed.notes.start, replayed.notes.end) = (first, first);
        for at in geometry.head()..geometry.unit_granules {
            let at = geometry.start(unit).offset(at);
            let Place::Whole(content) = self.units.medium.read_place(at)? else { break };
            let record = Record::from_content(content);
            replayed.is_quiet = record == Some(Record::Quiet);
            if let Some(record) = record {
                replayed.notes.follow(record, at, &mut before);
            }
            // What is noted while a mount settles does not say what is in doubt.
            let is_settling = is_counted && replayed.found_count > 0;
            match record {
                Some(Record::Rewrite(owner)) => replayed.intent = Some(Intent::Rewrite(owner)),
                Some(Record::Append(slot)) => replayed.intent = Some(Intent::Append(slot)),
                Some(Record::Note(..) | Record::Replace(..)) if is_settling => {}
                Some(Record::Note(slot, _)) => replayed.intent = Some(Intent::Append(slot)),
                Some(Record::Replace(slot, _)) => replayed.intent = Some(Intent::Rewrite(Owner::object(slot))),
                Some(Record::Before(_) | Record::From(_)) => {}
                Some(Record::Done) => replayed.intent = None,
                Some(Record::Root(root)) => {
                    replayed.root = root;
                    if is_counted && replayed.found_count > 0 {
                        (replayed.found_count, replayed.intent) = (0, None);
                    }
                }
                Some(Record::Next(unit)) if next_count < 2 && unit.0 < geometry.unit_count => {
                    next[next_count] = unit;
                    next_count += 1;
                }
                Some(Record::Found(entry)) if replayed.found_count <= LEVELS_MAX => {
                    replayed.found[replayed.found_count] = entry;
                    replayed.found_count += 1;
                }
                Some(Record::End) => is_counted = true,
                Some(Record::Quiet) => (replayed.intent, replayed.tails) = (None, Tails::Named),
                Some(Record::Tails(tails)) => (replayed.intent, replayed.tails) = (None, tails),
                _ => break,
            }
        }
        let notes = &mut replayed.notes;
        notes.is_open = notes.here > 0 || notes.last.is_some() || notes.from.is_some();
        notes.is_moved = notes.is_open;
        replayed.next = next;
        Ok((is_counted && next_count == 2).then_some(replayed))
    }
}
