//! Records: slots of varying length, where values vary. They lie one after the other in the object's log.
//!
//! ```text
//! │ length │ key │ value │ code │ length │ key │ value │ code │ erased, or what a cut left of a last record │
//! ```
//!
//! A record is found by walking: each length leads to the next one. The log ends at the first length that is not whole.
//! If a cut left a torn length, or one that is erased and something programmed after it, nothing can be written there:
//! the log is *closed*. Recovery says so: it clears the bits of all slots from there on. So a length that is damaged
//! later is not taken for the end of a log that is closed: there are bits after it that are not cleared.
//!
//! Invariants: records before the end are whole, except one whose bit recovery has cleared; after the end all is
//! erased, or the log is closed; what a walk has found in an object stays true until the object's block is erased.

use norn_flash::{Address, Nor};

use super::Cells;
use super::log::{Log, Place};
use super::slots::{Next, Slot, Survey};
use crate::codes::zeros;
use crate::error::{IndexError, Outcome};
use crate::fat_list::format::{
    VARIED_VALUE_BYTES_MAX, decode_record_length, may_be_torn, may_be_torn_length, record_code, record_length,
};
use crate::fat_list::layout::{Cell, VARYING_KEY_BYTES_MAX};
use crate::fat_list::widths::{IfVaried, Widths};

/// Bytes of the length of a record.
const LENGTH_BYTES: u16 = 2;
/// Room for the longest record and its padding.
const RECORD_BYTES_MAX: usize = VARYING_KEY_BYTES_MAX + VARIED_VALUE_BYTES_MAX + 5;
/// Bytes that are read at once where a log should be erased.
const READ_BYTES: usize = 32;

/// What the length of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    /// Whole: bytes of the value, and the upper bits of the zeros.
    Whole(usize, u16),
    /// Erased, or where no length has room.
    Erased,
    /// Neither: torn or damaged.
    Broken,
}

/// What a walk through a log has come to.
struct Walk {
    /// Whole lengths.
    written: u8,
    /// Where they end, from the cell's start on.
    at: u16,
    /// What is there.
    end: Length,
    bitmap: u64,
    log: Log,
}

impl<D: Nor, W: Widths> Cells<D, W> {
    /// Forgets where records are, once a block is erased.
    pub fn forget_records(&mut self) {
        self.place.set(Place::default());
    }

    /// Whether a value of this size in place of that in a slot leaves the reserve.
    pub fn may_replace_at(&mut self, cell: Cell, survey: &Survey<W>, slot: u8, size: u32) -> Outcome<bool, D> {
        let old = self.size_at(cell, slot)?;
        Ok(self.may_replace(survey, old, size))
    }

    /// What the key in a slot takes.
    pub fn size_at(&mut self, cell: Cell, slot: u8) -> Outcome<u32, D> {
        let at = self.record_at(cell, slot)?;
        match self.length_at(cell, at)? {
            Length::Whole(value_bytes, _) => Ok(u32::from(self.record_bytes(value_bytes))),
            _ => Err(self.broken(cell, at)),
        }
    }

    fn broken(&mut self, cell: Cell, at: u16) -> IndexError<D::Error> {
        self.damage(cell, at, "a log that ends before a record that was written")
    }

    /// The length at `at`. One of a record that would reach beyond the log is broken.
    fn length_at(&mut self, cell: Cell, at: u16) -> Outcome<Length, D> {
        if at + self.record_bytes(0) > self.layout.slots_end() {
            return Ok(Length::Erased);
        }
        let word = self.medium.read_u16(self.layout.field(cell, at))?;
        Ok(self.length_of(word, at))
    }

    fn length_of(&self, word: u16, at: u16) -> Length {
        match decode_record_length(word) {
            None if word == u16::MAX => Length::Erased,
            Some((value_bytes, zeros))
                if value_bytes <= self.widths.value_bytes()
                    && at + self.record_bytes(value_bytes) <= self.layout.slots_end() =>
            {
                Length::Whole(value_bytes, zeros)
            }
            _ => Length::Broken,
        }
    }

    /// Where a record begins that was written, from the cell's start on.
    fn record_at(&mut self, cell: Cell, slot: u8) -> Outcome<u16, D> {
        let mut place = self.place.get();
        if place.cell != cell.to_u32() || place.slot > slot || place.at == 0 {
            place = Place { cell: cell.to_u32(), slot: 0, at: self.layout.slots_offset() };
        }
        while place.slot < slot {
            match self.length_at(cell, place.at)? {
                Length::Whole(value_bytes, _) => place.at += self.record_bytes(value_bytes),
                _ => return Err(self.broken(cell, place.at)),
            }
            place.slot += 1;
        }
        self.place.set(place);
        Ok(place.at)
    }

    /// The same as an address.
    pub(super) fn record_address(&mut self, cell: Cell, slot: u8) -> Outcome<Address, D> {
        let at = self.record_at(cell, slot)?;
        Ok(self.layout.field(cell, at))
    }

    /// Walks through a log to its end.
    fn walk(&mut self, cell: Cell) -> Outcome<Walk, D> {
        let (bitmap, at) = (self.bitmap(cell)? & self.bits_from(0), self.layout.slots_offset());
        let mut walk = Walk { written: 0, at, end: Length::Erased, bitmap, log: Log::default() };
        while walk.written < self.layout.settings.slots {
            walk.end = self.length_at(cell, walk.at)?;
            let Length::Whole(value_bytes, _) = walk.end else { break };
            let bytes = self.record_bytes(value_bytes);
            if bitmap >> walk.written & 1 == 1 {
                walk.log.live += bytes;
            }
            walk.at += bytes;
            walk.written += 1;
        }
        walk.log.end = walk.at - self.layout.slots_offset();
        Ok(walk)
    }

    /// The bits of the slots from `written` on.
    fn bits_from(&self, written: u8) -> u64 {
        let all = u64::MAX >> (64 - self.layout.settings.slots);
        all & u64::MAX.checked_shl(written.into()).unwrap_or(0)
    }

    /// Which records are in use.
    pub(super) fn survey_records(&mut self, cell: Cell) -> Outcome<Survey<W>, D> {
        let walk = self.walk(cell)?;
        let rest = self.bits_from(walk.written);
        let is_closed = rest != 0 && walk.bitmap & rest == 0;
        if walk.end == Length::Broken && !is_closed {
            return Err(self.broken(cell, walk.at));
        }
        let mut log = W::IfVaried::default();
        log.set(Log { end: if is_closed { self.widths.log_bytes() } else { walk.log.end }, ..walk.log });
        Ok(Survey { written: walk.written, valid: walk.bitmap & !rest, log })
    }

    /// After a cut: closes a log in which it left something that is no record; whether it did.
    pub fn close_torn_log(&mut self, cell: Cell) -> Outcome<bool, D> {
        let walk = self.walk(cell)?;
        let rest = self.bits_from(walk.written);
        if walk.bitmap & rest == 0 {
            return Ok(false);
        }
        // A record that was cut reaches so far at most; what is beyond was never written.
        let longest = walk.at + self.layout.slot_bytes;
        let is_torn = match walk.end {
            Length::Broken => {
                let word = self.medium.read_u16(self.layout.field(cell, walk.at))?;
                if !may_be_torn_length(word) || self.first_written(cell, longest)?.is_some() {
                    return Err(self.broken(cell, walk.at));
                }
                true
            }
            _ => match self.first_written(cell, walk.at)? {
                Some(at) if at >= longest => return Err(self.damage(cell, at, "something after the end of a log")),
                found => found.is_some(),
            },
        };
        if is_torn {
            for slot in (walk.written..self.layout.settings.slots).filter(|slot| walk.bitmap >> slot & 1 == 1) {
                self.clear_slot(cell, slot)?;
            }
        }
        Ok(is_torn)
    }

    /// The first byte from `at` on that is not erased, to the log's end.
    pub fn first_written(&mut self, cell: Cell, at: u16) -> Outcome<Option<u16>, D> {
        for at in (at..self.layout.slots_end()).step_by(READ_BYTES) {
            let mut bytes = [0xFF; READ_BYTES];
            let length = READ_BYTES.min(usize::from(self.layout.slots_end() - at));
            self.medium.read(self.layout.field(cell, at), &mut bytes[..length])?;
            if let Some(place) = bytes.iter().position(|&byte| byte != 0xFF) {
                return Ok(Some(at + place as u16));
            }
        }
        Ok(None)
    }

    /// A record that was written.
    pub(super) fn record(&mut self, cell: Cell, slot: u8) -> Outcome<Slot<W::Key, W::Value>, D> {
        let at = self.record_at(cell, slot)?;
        match self.length_at(cell, at)? {
            Length::Whole(value_bytes, zeros) => self.record_of(cell, at, value_bytes, zeros),
            _ => Err(self.broken(cell, at)),
        }
    }

    fn record_of(
        &mut self,
        cell: Cell,
        at: u16,
        value_bytes: usize,
        upper_zeros: u16,
    ) -> Outcome<Slot<W::Key, W::Value>, D> {
        let mut bytes = [0; RECORD_BYTES_MAX];
        let key_bytes = self.widths.key_bytes();
        let entry_bytes = key_bytes + value_bytes;
        let bytes = &mut bytes[..entry_bytes + 2];
        self.medium.read(self.layout.field(cell, at + LENGTH_BYTES), bytes)?;
        let (data, code) = bytes.split_at(entry_bytes);
        if code != record_code(value_bytes, data).to_le_bytes() || u32::from(upper_zeros) != zeros(data) >> 10 {
            return Ok(Slot::Torn);
        }
        let (mut key, mut value) = (self.widths.zero_key(), self.widths.value_of(value_bytes));
        key.as_mut().copy_from_slice(&data[..key_bytes]);
        value.as_mut().copy_from_slice(&data[key_bytes..]);
        Ok(Slot::Whole(key, value))
    }

    /// Whether a cut can have left a record whose length is whole and whose code is not.
    pub(super) fn may_be_torn_record(&mut self, cell: Cell, slot: u8) -> Outcome<bool, D> {
        let at = self.record_at(cell, slot)?;
        let Length::Whole(value_bytes, upper_zeros) = self.length_at(cell, at)? else {
            return Err(self.broken(cell, at));
        };
        let mut bytes = [0; RECORD_BYTES_MAX];
        let entry_bytes = self.widths.key_bytes() + value_bytes;
        let bytes = &mut bytes[..entry_bytes + 2];
        self.medium.read(self.layout.field(cell, at + LENGTH_BYTES), bytes)?;
        let (data, code) = bytes.split_at(entry_bytes);
        let (said, found) = (u16::from_le_bytes([code[0], code[1]]), record_code(value_bytes, data));
        let zeros_said = u32::from(upper_zeros) << 10 | u32::from(said & 0x3FF);
        Ok(may_be_torn((zeros_said, said >> 10), (zeros(data), found >> 10)))
    }

    /// The value of `key`, in one walk.
    pub(super) fn look_up_record(&mut self, cell: Cell, key: &W::Key) -> Outcome<Option<W::Value>, D> {
        let (bitmap, key_bytes) = (self.bitmap(cell)?, self.widths.key_bytes());
        let mut at = self.layout.slots_offset();
        for slot in 0..self.layout.settings.slots {
            if at + self.record_bytes(0) > self.layout.slots_end() {
                return Ok(None);
            }
            let is_valid = bitmap >> slot & 1 == 1;
            let mut head = [0; LENGTH_BYTES as usize + VARYING_KEY_BYTES_MAX];
            let head = &mut head[..usize::from(LENGTH_BYTES) + if is_valid { key_bytes } else { 0 }];
            self.medium.read(self.layout.field(cell, at), head)?;
            match self.length_of(u16::from_le_bytes([head[0], head[1]]), at) {
                Length::Whole(value_bytes, zeros) => {
                    if is_valid && head[usize::from(LENGTH_BYTES)..] == *key.as_ref() {
                        return match self.record_of(cell, at, value_bytes, zeros)? {
                            Slot::Whole(_, value) => Ok(Some(value)),
                            _ => Err(self.damage(cell, at, "a slot whose code is wrong")),
                        };
                    }
                    at += self.record_bytes(value_bytes);
                }
                Length::Broken if bitmap & self.bits_from(slot) != 0 => return Err(self.broken(cell, at)),
                Length::Broken | Length::Erased => return Ok(None),
            }
        }
        Ok(None)
    }

    pub(super) fn write_record(
        &mut self,
        cell: Cell,
        next: &mut Next<W>,
        key: &W::Key,
        value: &W::Value,
    ) -> Outcome<(), D> {
        let mut record = [0xFF; RECORD_BYTES_MAX];
        let (key, value) = (key.as_ref(), value.as_ref());
        let start = usize::from(LENGTH_BYTES);
        let (value_at, end) = (start + key.len(), start + key.len() + value.len());
        record[start..value_at].copy_from_slice(key);
        record[value_at..end].copy_from_slice(value);
        let data = &record[start..end];
        let (length, code) = (record_length(value.len(), zeros(data)), record_code(value.len(), data));
        record[..start].copy_from_slice(&length.to_le_bytes());
        record[end..end + 2].copy_from_slice(&code.to_le_bytes());
        let bytes = self.record_bytes(value.len());
        let address = self.layout.field(cell, self.layout.slots_offset() + next.log_end());
        if next.log_end() + bytes > self.widths.log_bytes() || next.written() >= self.layout.settings.slots {
            return Err(self.damage(cell, self.layout.slots_offset(), "more bytes than a log"));
        }
        next.advance(bytes);
        self.medium.program(address, &record[..usize::from(bytes)])
    }

    /// What is wrong with a log: where, and what, or nothing.
    pub fn log_damage(&mut self, cell: Cell) -> Outcome<Option<(u16, &'static str)>, D> {
        let walk = self.walk(cell)?;
        let rest = self.bits_from(walk.written);
        let is_closed = rest != 0 && walk.bitmap & rest == 0;
        if !is_closed {
            if walk.end == Length::Broken {
                return Ok(Some((walk.at, "a log that ends in something torn and is not closed")));
            }
            if let Some(at) = self.first_written(cell, walk.at)? {
                return Ok(Some((at, "something after the end of a log")));
            }
            if walk.bitmap & rest != rest {
                return Ok(Some((self.layout.bitmap_offset, "a cleared bit of a slot that was not written")));
            }
        }
        let survey = self.survey_records(cell)?;
        let has_reserve = self.has_reserve(&survey);
        Ok((!has_reserve).then_some((self.layout.slots_offset(), "a log without the reserve")))
    }
}
