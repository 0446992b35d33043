//! The commit log: a cyclic array of slots, one for each record (section 6.1).
//!
//! A record is written in this order: its head, the old bytes, and last its stamp, which makes it valid. The records
//! after the last obsolete one are the open transaction's. Making the newest of them obsolete therefore makes all of
//! them so, by one byte.
//!
//! A stamp also says which of two successive rounds through the log wrote it, so that the log's end is where the rounds
//! meet. Only the newest stamp can be torn. It counts as valid: if it was being made valid, its record is complete, and
//! nothing that it would undo has been done; if it was being made obsolete, the transaction has not ended yet. Mounting
//! makes it valid before anything is done on its account, because a second cut could take it back.
//!
//! Invariants: stamps before the head are of one round, those from it on of the other; the slot before the open
//! transaction's first is obsolete; records of the open transaction are in slots that follow one another.

use norn_flash::{Address, Eeprom};
use norn_heap::StoreError;

use super::format::{
    LOG_AT, Record, RecordKind, Round, SLOT_BYTES, SLOT_DATA_OFFSET, SLOT_HEAD_OFFSET, Stamp, State, WINDOW_BYTES,
};
use super::medium::Medium;

/// Where the log is.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub slots: u32,
    /// The slot that is written next, and the round in which.
    head: u32,
    round: Round,
    /// Records of the open transaction.
    open: u32,
    /// Those of them that delete.
    deletions: u32,
}

impl Log {
    pub fn new(slots: u32) -> Log {
        Log { slots, head: 0, round: Round::Even, open: 0, deletions: 0 }
    }

    /// Makes all slots obsolete. Not atomic.
    pub fn format<D: Eeprom>(&mut self, medium: &mut Medium<D>) -> Result<(), StoreError<D::Error>> {
        let stamp = Stamp { round: Round::Odd, state: State::Obsolete }.encode();
        for slot in 0..self.slots {
            if medium.read_byte(self.address(slot))? != stamp {
                medium.write(self.address(slot), &[stamp])?;
            }
        }
        *self = Log::new(self.slots);
        Ok(())
    }

    /// Finds the head, and the open transaction's records. Cost: 1 read a slot, and 1 a record; 1 word written where
    /// the newest stamp is torn.
    pub fn mount<D: Eeprom>(&mut self, medium: &mut Medium<D>) -> Result<(), StoreError<D::Error>> {
        let last = self.stamp(medium, self.slots - 1)?;
        let first = self.stamp(medium, 0)?;
        // A torn stamp is the newest: in slot 0, where all others are of the round before.
        let round = match (first, last) {
            (Some(first), _) => first.round,
            (None, Some(last)) => last.round.other(),
            (None, None) => return medium.corrupted(LOG_AT, "two torn stamps in the log"),
        };
        let mut end = 1;
        let mut torn = first.is_none();
        while end < self.slots && !torn {
            match self.stamp(medium, end)? {
                Some(stamp) if stamp.round != round => break,
                stamp => torn = stamp.is_none(),
            }
            end += 1;
        }
        for slot in end..self.slots {
            if self.stamp(medium, slot)?.is_none_or(|stamp| stamp.round == round) {
                return medium.corrupted(self.address(slot), "a stamp after the log's head");
            }
        }
        (self.head, self.round) = if end == self.slots { (0, round.other()) } else { (end, round) };
        (self.open, self.deletions) = (0, 0);
        while self.open < self.slots {
            match self.stamp(medium, self.back(self.open + 1))? {
                Some(Stamp { state: State::Obsolete, .. }) => break,
                _ => self.open += 1,
            }
        }
        if torn { self.stamp_newest(medium, State::Valid) } else { Ok(()) }
    }

    /// Whether a transaction has left records that count.
    pub fn is_open(&self) -> bool {
        self.open > 0
    }

    pub fn open(&self) -> u32 {
        self.open
    }

    pub fn deletes(&self) -> bool {
        self.deletions > 0
    }

    /// Writes a record. One slot stays for the commit marker. Cost: 2 words written, and the old bytes.
    pub fn append<D: Eeprom>(
        &mut self,
        medium: &mut Medium<D>,
        record: Record,
        old: &[u8],
    ) -> Result<(), StoreError<D::Error>> {
        let reserve = u32::from(record.kind != RecordKind::CommitMarker);
        if self.open + reserve >= self.slots {
            return Err(StoreError::TransactionTooLarge);
        }
        let slot = self.address(self.head);
        medium.write_word(slot.offset(SLOT_HEAD_OFFSET), record.encode())?;
        if !old.is_empty() {
            medium.write(slot.offset(SLOT_DATA_OFFSET + record.address.0 % WINDOW_BYTES), old)?;
        }
        medium.write(slot, &[Stamp { round: self.round, state: State::Valid }.encode()])?;
        self.head += 1;
        if self.head == self.slots {
            (self.head, self.round) = (0, self.round.other());
        }
        self.open += 1;
        self.deletions += u32::from(record.kind == RecordKind::DeleteObject);
        Ok(())
    }

    /// Makes the open transaction's records obsolete. Cost: 1 word written.
    pub fn end<D: Eeprom>(&mut self, medium: &mut Medium<D>) -> Result<(), StoreError<D::Error>> {
        if self.open > 0 {
            self.stamp_newest(medium, State::Obsolete)?;
        }
        (self.open, self.deletions) = (0, 0);
        Ok(())
    }

    fn stamp_newest<D: Eeprom>(&self, medium: &mut Medium<D>, state: State) -> Result<(), StoreError<D::Error>> {
        let round = if self.head == 0 { self.round.other() } else { self.round };
        medium.write(self.address(self.back(1)), &[Stamp { round, state }.encode()])
    }

    /// Record `number` of the open transaction, 1 being the newest. Cost: 1 read.
    pub fn record<D: Eeprom>(&self, medium: &mut Medium<D>, number: u32) -> Result<Record, StoreError<D::Error>> {
        let head = self.address(self.back(number)).offset(SLOT_HEAD_OFFSET);
        match Record::decode(medium.read_word(head)?) {
            Some(record) => Ok(record),
            None => medium.corrupted(head, "a record of the log that says nothing"),
        }
    }

    /// The old bytes of record `number`, which is `record`.
    pub fn old<'a, D: Eeprom>(
        &self,
        medium: &mut Medium<D>,
        number: u32,
        record: Record,
        buffer: &'a mut [u8; WINDOW_BYTES as usize],
    ) -> Result<&'a [u8], StoreError<D::Error>> {
        let at = self.address(self.back(number)).offset(SLOT_DATA_OFFSET + record.address.0 % WINDOW_BYTES);
        let old = &mut buffer[..usize::from(record.len)];
        medium.read(at, old)?;
        Ok(old)
    }

    /// Whether the open transaction has this record. Cost: 1 read for each of its records, up to it.
    pub fn has<D: Eeprom>(&self, medium: &mut Medium<D>, record: Record) -> Result<bool, StoreError<D::Error>> {
        for number in 1..=self.open {
            if self.record(medium, number)? == record {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub fn stamp<D: Eeprom>(&self, medium: &mut Medium<D>, slot: u32) -> Result<Option<Stamp>, StoreError<D::Error>> {
        Ok(Stamp::decode(medium.read_byte(self.address(slot))?))
    }

    /// The slot `number` before the head.
    pub fn back(&self, number: u32) -> u32 {
        (self.head + self.slots - number) % self.slots
    }

    /// The round that the stamps from slot 0 up to the head are of.
    pub fn round(&self) -> (u32, Round) {
        (self.head, self.round)
    }

    pub fn address(&self, slot: u32) -> Address {
        LOG_AT.offset(slot * SLOT_BYTES)
    }
}
