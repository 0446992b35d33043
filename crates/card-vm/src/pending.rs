//! An installation that is pending: what it changes of objects that are not the new applet's own is undone unless the
//! applet has registered itself.
//!
//! ```text
//! a record    found by the root 'i', 'r', and by the next newer record
//!             fields: object that was changed │ next older record │ array of what was there │ u16 first field or
//!             element │ u8 number of the instance
//! ```
//!
//! A record is there before the change that it undoes, or in its transaction. Undoing one twice is harmless, so that it
//! leaves the list after it was undone. The new applet's objects need none: nothing reaches them.
//!
//! Source: Runtime Environment Specification, Java Card Platform, Classic Edition 3.0.5, section 3.1.

use norn_card_package::format;

use crate::end::Failure;
use crate::heap::PersistentHeap;
use crate::memory::{Memory, MemoryError};
use crate::objects::{ClassId, Form, Objects, Places};
use crate::persistent::ObjectError;
use crate::trace::PENDING;

const ROOT: [u8; 2] = *b"ir";
const CLASS: ClassId = ClassId { package: format::NONE, class: PENDING };
const KINDS: [u8; 5] = [format::REFERENCE, format::REFERENCE, format::REFERENCE, format::SHORT, format::BYTE];

/// A record, as it is read.
struct Record {
    places: Places,
    next: i32,
    old: i32,
    instance: u8,
}

type Change<H> = Result<(), Failure<MemoryError<H>>>;

impl<H: PersistentHeap, const PACKAGES: usize, const TRANSIENT: usize> Memory<H, PACKAGES, TRANSIENT> {
    /// Keeps what is there, before it is changed.
    #[inline]
    pub(crate) fn keep_old(&mut self, places: Places) -> Change<H> {
        match self.installing {
            0 => Ok(()),
            instance => self.keep_for(instance, places),
        }
    }

    #[inline(never)]
    fn keep_for(&mut self, instance: u8, places: Places) -> Change<H> {
        if places.count == 0 {
            return Ok(());
        }
        let [.., owner] = self.persistent.header(places.object).map_err(Failure::Error)?;
        let newest = self.newest_record().map_err(Failure::Error)?;
        if owner == instance || self.is_kept(newest, places).map_err(Failure::Error)? {
            return Ok(());
        }
        self.atomically(|memory| memory.make_record(instance, places, newest))
    }

    fn newest_record(&mut self) -> Result<i32, MemoryError<H>> {
        let found = self.heap().root(ROOT).map_err(ObjectError::Heap)?;
        Ok(found.map_or(0, |record| H::bits(record) as i32))
    }

    fn is_kept(&mut self, newest: i32, places: Places) -> Result<bool, MemoryError<H>> {
        let mut next = newest;
        while next != 0 {
            let record = self.record(next)?;
            if record.places == places {
                return Ok(true);
            }
            next = record.next;
        }
        Ok(false)
    }

    fn make_record(&mut self, instance: u8, places: Places, newest: i32) -> Change<H> {
        let Places { object, kind, first, count } = places;
        let made = self.persistent.create_array(kind, ClassId { package: 0, class: 0 }, count);
        let old = self.settled(made)?;
        self.copy_places((object, first), (old, 0), (kind, count))?;
        let made = self.persistent.create(CLASS, &KINDS);
        let record = self.settled(made)?;
        for (slot, value) in (0..).zip([object, newest, old, i32::from(first), i32::from(instance)]) {
            self.put((record, slot), KINDS[usize::from(slot)], value)?;
        }
        let record = self.persistent.reference(record).map_err(Failure::Error)?;
        let named = self.heap().set_root(ROOT, Some(record));
        self.changed(named)
    }

    fn record(&mut self, record: i32) -> Result<Record, MemoryError<H>> {
        let mut fields = [0; KINDS.len()];
        for (slot, (value, kind)) in (0..).zip(fields.iter_mut().zip(KINDS)) {
            *value = self.persistent.field(record, slot, kind)?;
        }
        let [object, next, old, first, instance] = fields;
        match self.form(old)? {
            Form::Array { kind, length: count, .. } => {
                let places = Places { object, kind, first: first as u16, count };
                Ok(Record { places, next, old, instance: instance as u8 })
            }
            Form::Object(_) => Err(ObjectError::Reference(old)),
        }
    }

    /// Copies bytes of arrays, or one value between field and element.
    fn copy_places(&mut self, from: (i32, u16), to: (i32, u16), (kind, count): (u8, u16)) -> Change<H> {
        if count > 1 {
            return self.copy_on_flash(from, to, count);
        }
        let value = match self.form(from.0).map_err(Failure::Error)? {
            Form::Object(_) => self.persistent.field(from.0, from.1 as u8, kind),
            Form::Array { .. } => self.persistent.element(from.0, from.1, kind),
        };
        let value = value.map_err(Failure::Error)?;
        self.put(to, kind, value)
    }

    /// Sets a field or an element on flash and keeps nothing of it.
    fn put(&mut self, (object, at): (i32, u16), kind: u8, value: i32) -> Change<H> {
        let changed = match self.form(object).map_err(Failure::Error)? {
            Form::Object(_) => self.persistent.set_field(object, at as u8, kind, value),
            Form::Array { .. } => self.persistent.set_element(object, at, kind, value),
        };
        self.settled(changed)
    }

    /// Ends an installation that is pending: undoes its changes unless its applet is registered.
    pub(crate) fn settle_installation(&mut self) -> Change<H> {
        self.installing = 0;
        loop {
            let newest = self.newest_record().map_err(Failure::Error)?;
            if newest == 0 {
                return Ok(());
            }
            let record = self.record(newest).map_err(Failure::Error)?;
            let mut next = None;
            if !self.is_registered(record.instance).map_err(Failure::Error)? {
                let Places { object, kind, first, count } = record.places;
                self.copy_places((record.old, 0), (object, first), (kind, count))?;
                next = H::reference(record.next as u32);
            }
            let named = self.heap().set_root(ROOT, next);
            self.changed(named)?;
        }
    }
}
