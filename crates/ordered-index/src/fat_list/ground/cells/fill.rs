//! How full an object is: in slots, or where values vary, in bytes of its log.
//!
//! Slots and bytes are limited by the same rules: an object has a *capacity*, of which the keys that count take their
//! *load*, what was written reaches up to an *end*, and a *reserve* is kept for a new value of a key that is there.
//! With slots each key takes one, and so does the reserve. With bytes a key takes its record, the reserve is the
//! longest record, and the number of records is limited besides.

use norn_flash::Nor;

use super::Cells;
use super::slots::Survey;
use crate::fat_list::layout::alignment;
use crate::fat_list::widths::{IfVaried, Widths, without};

/// An object is calm while no more than this part of its room is taken by what counts no more.
const CALM_SHARE: u32 = 3;
/// This part of the room stays free where calm objects are joined.
const ROOM_SHARE: u32 = 8;

impl<W: Widths> Survey<W> {
    /// What the keys that count take.
    pub fn load(&self) -> u32 {
        if W::VARIES { u32::from(self.log.get().live) } else { self.keys() }
    }

    /// What is written.
    pub fn end(&self) -> u32 {
        if W::VARIES { u32::from(self.log.get().end) } else { u32::from(self.written) }
    }

    /// Keys that count.
    pub fn keys(&self) -> u32 {
        self.valid.count_ones()
    }
}

impl<D: Nor, W: Widths> Cells<D, W> {
    fn capacity(&self) -> u32 {
        if W::VARIES { u32::from(self.widths.log_bytes()) } else { self.slots() }
    }

    /// What a new value of a key that is there takes at most.
    fn reserve(&self) -> u32 {
        if W::VARIES { u32::from(self.layout.slot_bytes) } else { 1 }
    }

    fn slots(&self) -> u32 {
        u32::from(self.layout.settings.slots)
    }

    /// Bytes of a record whose value has `value_bytes`.
    pub fn record_bytes(&self, value_bytes: usize) -> u16 {
        let unit = alignment(self.medium.part());
        (self.widths.key_bytes() + value_bytes + 4).next_multiple_of(unit) as u16
    }

    /// What a key with this value takes.
    pub fn size_of(&self, value: &W::Value) -> u32 {
        if W::VARIES { u32::from(self.record_bytes(value.as_ref().len())) } else { 1 }
    }

    /// Whether something of this size can be written after what is written.
    pub fn has_next(&self, survey: &Survey<W>, size: u32) -> bool {
        let has_slot = !W::VARIES || u32::from(survey.written) < self.slots();
        has_slot && survey.end() + size <= self.capacity()
    }

    /// Whether a further key of this size leaves the reserve.
    pub fn may_grow(&self, survey: &Survey<W>, size: u32) -> bool {
        let has_slot = !W::VARIES || survey.keys() + 1 < self.slots();
        if W::WITHOUT & without::DELAYED_SPLITS != 0 && survey.keys() >= u32::from(self.layout.settings.keys) {
            return false;
        }
        has_slot && survey.load() + size + self.reserve() <= self.capacity()
    }

    /// Whether a value of this size in place of one of the size `old` leaves the reserve.
    pub fn may_replace(&self, survey: &Survey<W>, old: u32, size: u32) -> bool {
        size <= old || survey.load() - old + size + self.reserve() <= self.capacity()
    }

    /// Whether the reserve is there for a new value of a key that is there.
    pub fn has_reserve(&self, survey: &Survey<W>) -> bool {
        survey.keys() < self.slots() && survey.load() + self.reserve() <= self.capacity()
    }

    /// The load beyond which an object is split when its slots are full: its share of keys, less the reserve.
    fn rich(&self) -> u32 {
        let (keys, slots) = (u32::from(self.layout.settings.keys), self.slots());
        match W::VARIES {
            true => (self.capacity() * keys / slots).min(self.capacity() - self.reserve()),
            false => keys,
        }
    }

    /// Whether an object is split when its slots are full.
    pub fn is_rich(&self, survey: &Survey<W>) -> bool {
        let keys_max = u32::from(self.layout.settings.keys);
        // A single record may be longer than the load of a rich object.
        survey.load() > self.rich() && survey.keys() > 1 || W::VARIES && survey.keys() > keys_max
    }

    /// Whether an object has so few keys that a neighbour takes them.
    pub fn is_poor(&self, survey: &Survey<W>) -> bool {
        let keys_max = u32::from(self.layout.settings.keys);
        survey.load() < self.rich() / 2 && (!W::VARIES || survey.keys() < keys_max.div_ceil(2))
    }

    /// Whether an object can take the keys of another one, with the reserve to spare, and is not rich then.
    pub fn can_take(&self, survey: &Survey<W>, other: &Survey<W>) -> bool {
        let (keys, keys_max) = (survey.keys() + other.keys(), u32::from(self.layout.settings.keys));
        let has_slots = !W::VARIES || keys <= keys_max && self.has_slots(survey, other);
        let is_within = survey.load() + other.load() <= self.rich();
        has_slots && is_within && survey.end() + other.load() + self.reserve() <= self.capacity()
    }

    /// Whether few of an object's slots count no more, so that it is seldom updated.
    pub fn is_calm(&self, survey: &Survey<W>) -> bool {
        CALM_SHARE * (survey.end() - survey.load()) <= self.capacity()
    }

    /// Whether an object that is seldom updated can take the keys of another such one, and has some room left then.
    pub fn can_join(&self, survey: &Survey<W>, other: &Survey<W>) -> bool {
        let end = survey.end() + other.load();
        let leaves_room =
            ROOM_SHARE * end <= (ROOM_SHARE - 1) * self.capacity() && end + self.reserve() <= self.capacity();
        let has_slot = u32::from(survey.written) + other.keys() < self.slots();
        self.is_calm(survey) && self.is_calm(other) && leaves_room && has_slot
    }

    /// Whether an object has as many free slots as another one has keys.
    pub fn has_slots(&self, survey: &Survey<W>, other: &Survey<W>) -> bool {
        let has_slots = !W::VARIES || u32::from(survey.written) + other.keys() <= self.slots();
        has_slots && survey.end() + other.load() <= self.capacity()
    }

    /// Whether the keys of two objects fit into one, with the reserve to spare.
    pub fn is_sparse(&self, left: &Survey<W>, right: &Survey<W>) -> bool {
        let has_slots = !W::VARIES || left.keys() + right.keys() < self.slots();
        has_slots && left.load() + right.load() + self.reserve() <= self.capacity()
    }
}
