//! Slots: the keys and values of an object, and the bits that say which of them count.

use norn_flash::{Address, Nor};

use super::log::Log;
use super::{Cells, RECORD_BYTES_MAX};
use crate::codes::zeros;
use crate::error::Outcome;
use crate::fat_list::format::{may_be_torn, slot_code};
use crate::fat_list::layout::{Cell, ENTRY_BYTES_MAX};
use crate::fat_list::widths::{EntryOf, IfVaried, Widths};

/// Which slots of an object are in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survey<W: Widths> {
    /// Slots that have been written, from the first on.
    pub written: u8,
    /// Those that count, a bit for each.
    pub valid: u64,
    /// The bytes that they take, where values vary.
    pub log: W::IfVaried<Log>,
}

/// Where the next slot of an object is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next<W: Widths> {
    slot: u8,
    /// Where its record begins, from the log's start on, where values vary.
    at: W::IfVaried<u16>,
}

impl<W: Widths> Next<W> {
    /// The first slot.
    pub fn first() -> Self {
        Next { slot: 0, at: W::IfVaried::default() }
    }

    /// How many slots are written.
    pub fn written(&self) -> u8 {
        self.slot
    }

    /// Where the next record begins, from the log's start on.
    pub fn log_end(&self) -> u16 {
        self.at.get()
    }

    /// Goes on after a slot that took `bytes`.
    pub fn advance(&mut self, bytes: u16) {
        self.slot += 1;
        self.at.set(self.at.get() + bytes);
    }
}

impl<W: Widths> Survey<W> {
    /// That of an object without slots.
    pub fn nothing() -> Self {
        Survey { written: 0, valid: 0, log: W::IfVaried::default() }
    }

    /// Where the next slot is written, if there is room.
    pub fn next(&self) -> Next<W> {
        let mut at = W::IfVaried::<u16>::default();
        at.set(self.log.get().end);
        Next { slot: self.written, at }
    }

    /// The numbers of the slots that count.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = u8> + use<W> {
        slots_of(self.valid)
    }
}

/// The numbers of the bits that are set.
pub(crate) fn slots_of(bits: u64) -> impl DoubleEndedIterator<Item = u8> + use<> {
    (0..64).filter(move |slot| bits >> slot & 1 == 1)
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot<K, V> {
    Erased,
    Whole(K, V),
    Torn,
}

impl<D: Nor, W: Widths> Cells<D, W> {
    pub fn slot(&mut self, cell: Cell, slot: u8) -> Outcome<Slot<W::Key, W::Value>, D> {
        if W::VARIES {
            return self.record(cell, slot);
        }
        let mut bytes = [0; ENTRY_BYTES_MAX + 2];
        let key_bytes = self.widths.key_bytes();
        let entry_bytes = key_bytes + self.widths.value_bytes();
        let bytes = &mut bytes[..entry_bytes + 2];
        self.medium.read(self.layout.slot(cell, slot), bytes)?;
        if bytes.iter().all(|&byte| byte == 0xFF) {
            return Ok(Slot::Erased);
        }
        let (data, code) = bytes.split_at(entry_bytes);
        if code != slot_code(data).to_le_bytes() {
            return Ok(Slot::Torn);
        }
        let (mut key, mut value) = (self.widths.zero_key(), self.widths.zero_value());
        key.as_mut().copy_from_slice(&data[..key_bytes]);
        value.as_mut().copy_from_slice(&data[key_bytes..]);
        Ok(Slot::Whole(key, value))
    }

    /// Whether a cut can have left what is in a slot whose code is wrong.
    pub fn may_be_torn(&mut self, cell: Cell, slot: u8) -> Outcome<bool, D> {
        if W::VARIES {
            return self.may_be_torn_record(cell, slot);
        }
        let mut bytes = [0; ENTRY_BYTES_MAX + 2];
        let entry_bytes = self.widths.key_bytes() + self.widths.value_bytes();
        let bytes = &mut bytes[..entry_bytes + 2];
        self.medium.read(self.layout.slot(cell, slot), bytes)?;
        let (data, code) = bytes.split_at(entry_bytes);
        let (said, found) = (u16::from_le_bytes([code[0], code[1]]), slot_code(data));
        Ok(may_be_torn((u32::from(said & 0x3FF), said >> 10), (zeros(data), found >> 10)))
    }

    pub fn key_at(&mut self, cell: Cell, slot: u8) -> Outcome<W::Key, D> {
        let mut key = self.widths.zero_key();
        let address = match W::VARIES {
            true => self.record_address(cell, slot)?.offset(2),
            false => self.layout.slot(cell, slot),
        };
        self.medium.read(address, key.as_mut())?;
        Ok(key)
    }

    /// Where a slot is that is written.
    pub fn slot_address(&mut self, cell: Cell, slot: u8) -> Outcome<Address, D> {
        if W::VARIES { self.record_address(cell, slot) } else { Ok(self.layout.slot(cell, slot)) }
    }

    /// The entry of a slot that counts.
    pub fn entry(&mut self, cell: Cell, slot: u8) -> Outcome<EntryOf<W>, D> {
        match self.slot(cell, slot)? {
            Slot::Whole(key, value) => Ok((key, value)),
            Slot::Erased | Slot::Torn => {
                let address = self.slot_address(cell, slot)?;
                Err(self.medium.damage(address, "a slot whose code is wrong"))
            }
        }
    }

    pub(super) fn bitmap(&mut self, cell: Cell) -> Outcome<u64, D> {
        let mut bytes = [0; 8];
        let used = usize::from(self.layout.settings.slots).div_ceil(8);
        self.medium.read(self.layout.field(cell, self.layout.bitmap_offset), &mut bytes[..used])?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Which slots are in use. Cost: the bitmap, and at most seven slots for the border. A slot whose bit is cleared is
    /// never written again, even if it is erased.
    pub fn survey(&mut self, cell: Cell) -> Outcome<Survey<W>, D> {
        if W::VARIES {
            return self.survey_records(cell);
        }
        let bitmap = self.bitmap(cell)?;
        let (mut written, mut erased) = (0, self.layout.settings.slots);
        while written < erased {
            let middle = written + (erased - written) / 2;
            match bitmap >> middle & 1 == 1 && self.slot(cell, middle)? == Slot::Erased {
                true => erased = middle,
                false => written = middle + 1,
            }
        }
        let mask = if written == 64 { u64::MAX } else { (1 << written) - 1 };
        Ok(Survey { written, valid: bitmap & mask, ..Survey::nothing() })
    }

    /// The slot that holds `key`.
    pub fn find(&mut self, cell: Cell, survey: &Survey<W>, key: &W::Key) -> Outcome<Option<u8>, D> {
        let mut slots = survey.slots();
        // Records are found from the first one on only.
        while let Some(slot) = if W::VARIES { slots.next() } else { slots.next_back() } {
            if self.key_at(cell, slot)? == *key {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// The value of `key`, without looking for the border of the slots first.
    pub fn look_up(&mut self, cell: Cell, key: &W::Key) -> Outcome<Option<W::Value>, D> {
        if W::VARIES {
            return self.look_up_record(cell, key);
        }
        let (written, valid) = (self.layout.settings.slots, self.bitmap(cell)?);
        let survey = Survey::<W> { written, valid, ..Survey::nothing() };
        for slot in survey.slots().take_while(|&slot| slot < survey.written) {
            let found = self.key_at(cell, slot)?;
            if found != *key && found.as_ref().iter().any(|&byte| byte != 0xFF) {
                continue;
            }
            match self.slot(cell, slot)? {
                Slot::Erased => return Ok(None),
                _ if found != *key => {}
                _ => return Ok(Some(self.entry(cell, slot)?.1)),
            }
        }
        Ok(None)
    }

    /// Writes a slot, and sets `next` after it.
    pub fn write_slot(&mut self, cell: Cell, next: &mut Next<W>, key: &W::Key, value: &W::Value) -> Outcome<(), D> {
        if W::VARIES {
            return self.write_record(cell, next, key, value);
        }
        let mut record = [0xFF; RECORD_BYTES_MAX];
        let key_bytes = self.widths.key_bytes();
        let entry_bytes = key_bytes + self.widths.value_bytes();
        record[..key_bytes].copy_from_slice(key.as_ref());
        record[key_bytes..entry_bytes].copy_from_slice(value.as_ref());
        let code = slot_code(&record[..entry_bytes]);
        record[entry_bytes..entry_bytes + 2].copy_from_slice(&code.to_le_bytes());
        let address = self.layout.slot(cell, next.slot);
        next.slot += 1;
        self.medium.program(address, &record[..usize::from(self.layout.slot_bytes)])
    }

    /// Makes a slot count no more.
    pub fn clear_slot(&mut self, cell: Cell, slot: u8) -> Outcome<(), D> {
        let address = self.layout.field(cell, self.layout.bitmap_offset + u16::from(slot / 8));
        self.medium.clear_bit(address, slot % 8)
    }
}
