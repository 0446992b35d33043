//! The log (journal): entries of eight bytes in erase units of their own, chained by sequence numbers.
//!
//! A log unit starts with a head, ended by `Ready`, that makes it complete in itself: settings, roots, serial, a pending move.
//! Switching to a new unit:
//! 1. take a free unit and assign it the next sequence number;
//! 2. write the head, then `Ready`: from here on this unit is the log, before it the old one is;
//! 3. unless a transaction is open, erase the older units. If one is open, the `Chain` entry names the oldest unit that it
//!    needs, and they are erased after its commit or abort.
//!
//! A mount that finds a switch cut before `Ready` goes on with it, and a mount that had to use the reserve ends with a switch:
//! however often power fails in a row, the log does not fill up.
//!
//! Invariants: at every moment exactly one unit is the newest with `Ready`; ordinary entries leave `RESERVE` entries free, so
//! that a commit, an abort, a move or an erase always finds room; a unit in use is erased only after an entry says so.

use norn_flash::{Address, EraseUnit, Nor};

use crate::error::StoreError;
use crate::features::Features;
use crate::format::{
    ASSIGNMENT_OFFSET, ENTRY_BYTES, ERASE_COUNT_MAX, ERASE_COUNT_OFFSET, Entry, FORMAT_VERSION, HEADER_BYTES,
    IDENTITY_BYTES, Identity, SectorPtr,
};
use crate::store::{Settings, Store};
use crate::tree::{HEIGHT_MAX, TREES, TreeId};
use crate::units::Role;

/// Entries that ordinary appends leave free: a commit's roots and itself, a torn entry, and what a recovery may have to add:
/// the erase of a move's victim, an abort, and the erases of all log units but one and of two more units.
pub(crate) const RESERVE: u16 = TREES as u16 + 1 + 1 + 1 + 1 + (LOG_UNITS_MAX as u16 - 1) + 2;
/// Most units that the log may take.
pub(crate) const LOG_UNITS_MAX: u8 = 8;
/// Entries of a transaction that replaces or deletes one thing, at most: two for each level of a tree, a move, and its own.
const SMALL_TRANSACTION: u16 = 2 * HEIGHT_MAX as u16 + 4 + 6;

/// Position of a log unit in the chain. It goes round after 2²⁴ units; those on a part at any time are few and near each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sequence(u32);

impl Sequence {
    const MASK: u32 = (1 << 24) - 1;

    pub fn new(bits: u32) -> Self {
        Sequence(bits & Self::MASK)
    }

    pub fn bits(self) -> u32 {
        self.0
    }

    pub fn next(self) -> Self {
        Self::new(self.0 + 1)
    }

    /// How many units after `older` this one is.
    pub fn since(self, older: Sequence) -> u32 {
        self.0.wrapping_sub(older.0) & Self::MASK
    }

    pub fn is_after(self, other: Sequence) -> bool {
        self != other && self.since(other) < Self::MASK / 2
    }

    /// The sequence numbers from `first` to `last`, both included, as often as the log may have units.
    pub fn range(first: Sequence, last: Sequence) -> impl DoubleEndedIterator<Item = Sequence> {
        let count = last.since(first).min(u32::from(LOG_UNITS_MAX));
        (0..=count).map(move |offset| Self::new(first.0 + offset))
    }
}

/// A place in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub sequence: Sequence,
    pub index: u16,
}

/// Where the log stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Log {
    /// The newest log unit.
    pub unit: EraseUnit,
    /// Its sequence number.
    pub sequence: Sequence,
    /// Index of its next entry.
    pub next: u16,
    /// Whether a power cut has left part of an entry at `next`.
    pub torn: bool,
    /// Sequence number of the oldest unit that is kept.
    pub first: Sequence,
    /// Where the open transaction starts, or would.
    pub start: Position,
    /// Whether a transaction has entries.
    pub open: bool,
    /// The node of the open transaction's last `Swap`.
    pub swapped: Option<SectorPtr>,
    /// A move that is not followed by the erase of its victim yet.
    pub pending_move: Option<(EraseUnit, EraseUnit)>,
}

impl Log {
    /// Number of units that the log takes.
    pub fn length(&self) -> u32 {
        self.sequence.since(self.first) + 1
    }

    pub fn end(&self) -> Position {
        Position { sequence: self.sequence, index: self.next }
    }
}

/// What stands at a place of a log unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Erased,
    Torn,
    /// All zeros: nothing, and nothing was lost.
    Void,
    Entry(Entry),
}

impl<D: Nor, const UNITS: usize, F: Features> Store<D, UNITS, F> {
    pub(crate) fn read_identity(&mut self, unit: EraseUnit) -> Result<Option<Identity>, StoreError<D::Error>> {
        let mut bytes = [0; IDENTITY_BYTES];
        self.medium.read(self.geometry.part.start_of(unit), &mut bytes)?;
        Ok(Identity::decode(&bytes))
    }

    /// The erase count in a unit's identity, which is known to be whole. Cost: 1 word read.
    pub(crate) fn read_erase_count(&mut self, unit: EraseUnit) -> Result<u32, StoreError<D::Error>> {
        self.medium.read_word(self.geometry.part.start_of(unit).offset(ERASE_COUNT_OFFSET))
    }

    pub(crate) fn read_assignment(&mut self, unit: EraseUnit) -> Result<Slot, StoreError<D::Error>> {
        self.read_slot(self.geometry.part.start_of(unit).offset(ASSIGNMENT_OFFSET))
    }

    #[inline(never)]
    pub(crate) fn write_assignment(&mut self, unit: EraseUnit, entry: Entry) -> Result<(), StoreError<D::Error>> {
        let address = self.geometry.part.start_of(unit).offset(ASSIGNMENT_OFFSET);
        self.medium.program(address, &entry.encode())
    }

    #[inline(never)]
    pub(crate) fn read_log(&mut self, unit: EraseUnit, index: u16) -> Result<Slot, StoreError<D::Error>> {
        self.read_slot(self.entry_address(unit, index))
    }

    pub(crate) fn entry_address(&self, unit: EraseUnit, index: u16) -> Address {
        self.geometry.part.start_of(unit).offset(HEADER_BYTES + u32::from(index) * ENTRY_BYTES)
    }

    fn read_slot(&mut self, address: Address) -> Result<Slot, StoreError<D::Error>> {
        let mut bytes = [0; ENTRY_BYTES as usize];
        self.medium.read(address, &mut bytes)?;
        Ok(match Entry::decode(bytes) {
            Some(entry) => Slot::Entry(entry),
            None if bytes == [0xFF; ENTRY_BYTES as usize] => Slot::Erased,
            None if bytes == [0; ENTRY_BYTES as usize] => Slot::Void,
            None => Slot::Torn,
        })
    }

    /// Appends an entry of the open transaction, which opens one if none is.
    pub(crate) fn append(&mut self, entry: Entry) -> Result<(), StoreError<D::Error>> {
        self.ensure_log_room(1)?;
        self.log.open = true;
        self.append_reserved(entry)
    }

    /// Appends an entry for which there is room: after `ensure_log_room`, or out of the reserve.
    ///
    /// A torn place is completed to the entry where it can be, so that a recovery that is cut at the same entry again and again
    /// uses no more than one place for it. With error detection a place that cannot take the entry is made void.
    pub(crate) fn append_reserved(&mut self, entry: Entry) -> Result<(), StoreError<D::Error>> {
        let torn = core::mem::take(&mut self.log.torn);
        let address = self.entry_address(self.log.unit, self.log.next);
        let may_be_used = torn || self.detects() && self.log.next < self.geometry.log_entries;
        if may_be_used && !self.can_become(address, entry)? {
            if self.detects() {
                self.void_place(address)?;
            }
            self.log.next += 1;
        }
        if self.log.next >= self.geometry.log_entries {
            return Err(StoreError::TransactionTooLarge);
        }
        let address = self.entry_address(self.log.unit, self.log.next);
        self.medium.program(address, &entry.encode())?;
        self.log.next += 1;
        Ok(())
    }

    /// Makes sure that a transaction of a few entries does not need another log unit. Only outside a transaction. Cost: none, or a
    /// new log unit, 18 words programmed and an erase.
    ///
    /// # Errors
    /// The device's, and `Full`.
    pub fn make_log_room(&mut self) -> Result<(), StoreError<D::Error>> {
        self.ensure_log_room(SMALL_TRANSACTION)
    }

    /// Makes sure that `entries` more fit without touching the reserve, in a new log unit if need be.
    pub(crate) fn ensure_log_room(&mut self, entries: u16) -> Result<(), StoreError<D::Error>> {
        if self.log.next + entries + self.detection().reserve() <= self.geometry.log_entries {
            return Ok(());
        }
        if self.log.open && self.log.length() >= u32::from(self.settings.log_units) {
            return Err(StoreError::TransactionTooLarge);
        }
        self.start_next_log_unit()
    }

    pub(crate) fn start_next_log_unit(&mut self) -> Result<(), StoreError<D::Error>> {
        let unit = self.take_free_unit()?;
        self.start_log_unit(unit, self.log.sequence.next())?;
        if !self.log.open {
            self.retire_log_units()?;
        }
        Ok(())
    }

    /// Whether what stands at `address` can be programmed to `entry`.
    fn can_become(&mut self, address: Address, entry: Entry) -> Result<bool, StoreError<D::Error>> {
        let mut bytes = [0; ENTRY_BYTES as usize];
        self.medium.read(address, &mut bytes)?;
        Ok(entry.encode().iter().zip(bytes).all(|(wanted, found)| wanted & !found == 0))
    }

    /// Entry `number` of the head of a log unit, which says all that the log says at this moment.
    fn head_entry(&self, first: Sequence, number: u16) -> Option<Entry> {
        let settings = u16::from(Settings::KEYS);
        // The notify tree is there while a program holds pointers; else the head does without it.
        let pointers = self.trees[TreeId::Notify as usize].committed.node.is_some();
        let trees = TREES as u16 - u16::from(!pointers);
        let mut number = number;
        if number == 0 {
            return Some(Entry::Chain { first: first.bits() });
        }
        number -= 1;
        if number < settings {
            let key = number as u8;
            return Some(Entry::Setting { key, value: self.settings.get(key) });
        }
        number -= settings;
        if number < trees {
            return Some(self.trees[usize::from(number)].committed.entry(usize::from(number)));
        }
        match (number - trees, self.log.pending_move) {
            (0, _) => Some(Entry::Serial { serial: self.serial }),
            (1, Some((from, to))) => Some(Entry::Move { from: from.0, to: to.0 }),
            (1, None) | (2, Some(_)) => Some(Entry::Ready),
            _ => None,
        }
    }

    /// Whether `unit` holds nothing but part of what starting it as the next log unit would program.
    pub(crate) fn is_started_log_unit(&mut self, unit: EraseUnit) -> Result<bool, StoreError<D::Error>> {
        let sequence = self.log.sequence.next();
        let assignment = self.geometry.part.start_of(unit).offset(ASSIGNMENT_OFFSET);
        if !self.can_become(assignment, Entry::LogUnit { sequence: sequence.bits() })? {
            return Ok(false);
        }
        let mut index = 0;
        while let Some(entry) = self.head_entry(sequence, index) {
            if !self.can_become(self.entry_address(unit, index), entry)? {
                return Ok(false);
            }
            index += 1;
        }
        Ok(matches!(self.read_log(unit, index)?, Slot::Erased))
    }

    /// Makes the free unit `unit` the newest of the log (steps 1 and 2 of the module's head).
    pub(crate) fn start_log_unit(&mut self, unit: EraseUnit, sequence: Sequence) -> Result<(), StoreError<D::Error>> {
        let first = if self.log.open { self.log.start.sequence } else { sequence };
        self.units.set_role(unit, Role::Log);
        self.write_assignment(unit, Entry::LogUnit { sequence: sequence.bits() })?;
        (self.log.unit, self.log.sequence, self.log.next, self.log.torn) = (unit, sequence, 0, false);
        let mut number = 0;
        while let Some(entry) = self.head_entry(first, number) {
            self.append_reserved(entry)?;
            number += 1;
        }
        if !self.log.open {
            self.log.first = sequence;
            self.log.start = self.log.end();
        }
        Ok(())
    }

    /// Erases the log units that no transaction needs any more (step 3).
    pub(crate) fn retire_log_units(&mut self) -> Result<(), StoreError<D::Error>> {
        for unit in self.units.all() {
            if self.units.role(unit) == Role::Log && unit != self.log.unit {
                self.erase_unit(unit)?;
            }
        }
        self.log.first = self.log.sequence;
        Ok(())
    }

    /// The log unit with a sequence number.
    pub(crate) fn log_unit(&mut self, sequence: Sequence) -> Result<EraseUnit, StoreError<D::Error>> {
        if sequence == self.log.sequence {
            return Ok(self.log.unit);
        }
        for unit in self.units.all() {
            if self.units.role(unit) == Role::Log
                && let Slot::Entry(Entry::LogUnit { sequence: found }) = self.read_assignment(unit)?
                && Sequence::new(found) == sequence
            {
                return Ok(unit);
            }
        }
        self.corrupted(self.entry_address(self.log.unit, 0), "the log's chain names a unit that is not there")
    }

    /// Erases `unit` and makes it free: an entry first, then the erase, then the identity that says it is complete.
    pub(crate) fn erase_unit(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let count = self.read_identity(unit)?.map_or(0, |identity| identity.erase_count);
        let count = (count + 1).min(ERASE_COUNT_MAX);
        self.append_reserved(Entry::Erase { unit: unit.0, count })?;
        self.erase_logged(unit, count)
    }

    /// The part of [`erase_unit`](Self::erase_unit) that a mount does again.
    pub(crate) fn erase_logged(&mut self, unit: EraseUnit, erase_count: u32) -> Result<(), StoreError<D::Error>> {
        self.units.set_role(unit, Role::Busy);
        self.medium.erase(unit)?;
        let part = self.geometry.part;
        let identity = Identity {
            version: FORMAT_VERSION,
            unit_size_bytes: u64::from(part.unit_size_bytes),
            unit_count: part.unit_count,
            erase_count,
        };
        self.medium.program(part.start_of(unit), &identity.encode())?;
        self.units.set_role(unit, Role::Free);
        Ok(())
    }

    /// Erases a unit of scratch bits that nobody needs.
    fn clear_scratch_unit(&mut self) -> Result<EraseUnit, StoreError<D::Error>> {
        match self.units.all().find(|&unit| self.units.role(unit) == Role::Scratch) {
            Some(unit) => self.erase_unit(unit).map(|()| unit),
            None => Err(StoreError::Full),
        }
    }

    /// The least worn free unit, from here on busy.
    pub(crate) fn take_free_unit(&mut self) -> Result<EraseUnit, StoreError<D::Error>> {
        let mut best: Option<(u32, EraseUnit)> = None;
        for unit in self.units.all() {
            if self.units.role(unit) != Role::Free {
                continue;
            }
            let erase_count = self.read_erase_count(unit)?;
            if best.is_none_or(|(least, _)| erase_count < least) {
                best = Some((erase_count, unit));
            }
        }
        let size_bytes = self.geometry.part.unit_size_bytes;
        let unit = match best {
            // A unit with a flipped bit is erased once more.
            Some((_, unit))
                if self.detects() && self.first_programmed(unit, ASSIGNMENT_OFFSET, size_bytes)?.is_some() =>
            {
                self.erase_unit(unit)?;
                unit
            }
            Some((_, unit)) => unit,
            None => self.clear_scratch_unit()?,
        };
        self.units.set_role(unit, Role::Busy);
        Ok(unit)
    }
}
