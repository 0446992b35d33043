//! The log (journal): entries of eight bytes in erase units of their own, chained by sequence numbers.
//!
//! A log unit starts with a head, ended by `Ready`, that makes it complete in itself: configuration, roots, serial, a
//! pending move. All of that belongs to the log, in RAM too. Switching to a new unit:
//! 1. take a free unit and assign it the next sequence number;
//! 2. write the head, then `Ready`: from here on this unit is the log, before it the old one is;
//! 3. unless a transaction is open, erase the older units. If one is open, the `Chain` entry names the oldest unit that
//!    it needs, and they are erased after its commit or abort.
//!
//! A mount that finds a switch cut before `Ready` continues it, and a mount that had to use the reserve ends with a
//! switch: however often power fails in a row, the log does not fill up.
//!
//! Invariants: at every moment exactly one unit is the newest with `Ready`; ordinary entries leave `RESERVE` entries
//! free, so that a commit, an abort, a move or an erase always finds room; a unit in use is erased only after an entry
//! says so.

mod audit;
mod lay_out;
pub(crate) mod replay;

use norn_flash::{Address, EraseUnit, Nor};

use super::table::Role;
use super::unit::Units;
use crate::config::{LOG_UNITS_MAX, StoreConfig};
use crate::entry::{ENTRY_BYTES, Entry, EntryState};
use crate::error::{MountError, StoreError};
use crate::features::Features;
use crate::format::{ASSIGNMENT_OFFSET, Close, ERASE_COUNT_MAX};
use crate::ground::table::UnitRows;
use crate::roots::{HEIGHT_MAX, TREES, TreeId, TreeRoot, TreeRoots};

/// Entries that ordinary appends leave free: a commit's roots and itself, a torn entry, and what a recovery may have to
/// add: the erase of a move's victim, an abort, and the erases of all log units but one and of two more units.
const RESERVE: u16 = TREES as u16 + 1 + 1 + 1 + 1 + (LOG_UNITS_MAX as u16 - 1) + 2;
/// Entries of a transaction that replaces or deletes one thing, at most: two for each level of a tree, a move, and its
/// own.
const SMALL_TRANSACTION: u16 = 2 * HEIGHT_MAX as u16 + 4 + 6;
/// Serial numbers wrap after this number: they fit 24 bits and make whole rounds of 16 bits without a zero.
const SERIALS: u32 = 256 * 0xFFFF;

/// Position of a log unit in the chain. It wraps after 2²⁴ units; those on a part at any time are few and near each
/// other.
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

/// How far the log is written.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    /// The newest log unit.
    unit: EraseUnit,
    /// Its sequence number.
    sequence: Sequence,
    /// Index of its next entry.
    next: u16,
    /// Whether a power cut has left part of an entry at `next`.
    torn: bool,
    /// Whether a transaction has entries.
    open: bool,
    /// Sequence number of the oldest unit that is kept.
    first: Sequence,
    /// Where the open transaction starts, or would.
    start: Position,
    /// A move that is not followed by the erase of its victim yet.
    pending_move: Option<(EraseUnit, EraseUnit)>,
}

/// The log, and what its newest head and the entries since say.
#[derive(Clone, Debug)]
pub(crate) struct Log<D: Nor, M: UnitRows, F> {
    pub units: Units<D, M, F>,
    extent: Extent,
    config: StoreConfig,
    roots: [TreeRoots; TREES],
    serial: u32,
}

impl<D: Nor, M: UnitRows, F: Features> Log<D, M, F> {
    pub(super) fn unused(device: D, rows: M) -> Self {
        Log {
            units: Units::unused(device, rows),
            extent: Extent::default(),
            config: StoreConfig::default(),
            roots: [TreeRoots::default(); TREES],
            serial: 0,
        }
    }

    /// Forgets all but the configuration and the serial number, and lets calls reach the device.
    pub(super) fn restart(&mut self) -> Result<(), MountError<D::Error>> {
        self.units.medium.restart(self.units.table.capacity())?;
        self.units.table.reset(self.units.medium.geometry().part.unit_count);
        (self.extent, self.roots) = (Extent::default(), [TreeRoots::default(); TREES]);
        Ok(())
    }

    pub fn config(&self) -> &StoreConfig {
        &self.config
    }

    pub fn set_config(&mut self, config: StoreConfig) {
        self.units.medium.set_error_detection(config.error_detection);
        self.config = config;
    }

    /// The open version of a tree's root.
    pub fn root(&self, tree: TreeId) -> TreeRoot {
        self.roots[tree as usize].open
    }

    /// Gives a tree another root in the open version.
    pub fn set_root(&mut self, tree: TreeId, root: TreeRoot) {
        self.roots[tree as usize].open = root;
    }

    pub fn serial(&self) -> u32 {
        self.serial
    }

    pub fn next_serial(&self) -> u32 {
        if self.serial + 1 == SERIALS { 0 } else { self.serial + 1 }
    }

    pub fn advance_serial(&mut self) {
        debug_assert!(self.extent.open);
        self.serial = self.next_serial();
    }

    /// Makes `next` the next serial number, modulo their round. It is on flash with the next commit.
    pub fn set_next_serial(&mut self, next: u32) {
        self.serial = (next % SERIALS + SERIALS - 1) % SERIALS;
    }

    /// A number that differs from mount to mount.
    pub fn seed(&self) -> u32 {
        let sequence = self.extent.sequence.bits().wrapping_mul(0x9E37_79B9);
        sequence ^ self.serial.rotate_left(16) ^ u32::from(self.extent.next)
    }

    /// Whether a transaction has entries, or has changed a root.
    pub fn is_open(&self) -> bool {
        self.extent.open
    }

    /// Opens a transaction, if none is open.
    pub fn open(&mut self) {
        self.extent.open = true;
    }

    /// Whether more than half of the newest log unit is used.
    pub fn is_half_used(&self) -> bool {
        self.extent.next > self.units.medium.geometry().log_entries / 2
    }

    /// Number of units that the log takes.
    fn length(&self) -> u32 {
        self.extent.sequence.since(self.extent.first) + 1
    }

    /// Units that must stay free: one to reclaim into, and those that the log may still take.
    #[inline(never)]
    pub fn free_floor(&self) -> u32 {
        1 + (u32::from(self.config.log_units)).saturating_sub(self.length())
    }

    /// Where the open transaction starts, or would.
    pub fn start(&self) -> Position {
        self.extent.start
    }

    pub fn end(&self) -> Position {
        Position { sequence: self.extent.sequence, index: self.extent.next }
    }

    /// Lets the next transaction start at the log's end.
    pub fn start_at_end(&mut self) {
        self.extent.start = self.end();
    }

    /// The indices between `start` and `end` that lie in the log unit with this sequence number.
    pub fn indices(&self, sequence: Sequence, start: Position, end: Position) -> core::ops::Range<u16> {
        let from = if sequence == start.sequence { start.index } else { 0 };
        let to = if sequence == end.sequence { end.index } else { self.units.medium.geometry().log_entries };
        from..to
    }

    #[inline(never)]
    pub fn read(&mut self, unit: EraseUnit, index: u16) -> Result<EntryState, StoreError<D::Error>> {
        let address = self.units.medium.geometry().entry_address(unit, index);
        self.units.entry_at(address)
    }

    /// Refuses an entry that is not whole where recovery leaves none.
    pub fn damaged_entry(&mut self, unit: EraseUnit, index: u16) -> Result<(), StoreError<D::Error>> {
        let address = self.units.medium.geometry().entry_address(unit, index);
        self.units.medium.corrupted(address, "a damaged log entry")
    }

    fn next_address(&self) -> Address {
        self.units.medium.geometry().entry_address(self.extent.unit, self.extent.next)
    }

    /// Appends an entry of the open transaction, which opens one if none is.
    pub fn append(&mut self, entry: Entry) -> Result<(), StoreError<D::Error>> {
        self.ensure_room(1)?;
        self.extent.open = true;
        self.append_reserved(entry)
    }

    /// Appends an entry for which there is room: after `ensure_room`, or out of the reserve.
    ///
    /// A torn place is completed to the entry where it can be, so that a recovery that is cut at the same entry again
    /// and again uses no more than one place for it. With error detection a place that cannot take the entry is made
    /// void.
    pub fn append_reserved(&mut self, entry: Entry) -> Result<(), StoreError<D::Error>> {
        let torn = core::mem::take(&mut self.extent.torn);
        let address = self.next_address();
        let (entries, detects) = (self.units.medium.geometry().log_entries, self.units.medium.detects());
        let may_be_used = torn || detects && self.extent.next < entries;
        if may_be_used && !self.units.can_become(address, entry)? {
            if detects {
                self.void_place(address)?;
            }
            self.extent.next += 1;
        }
        if self.extent.next >= entries {
            return Err(StoreError::TransactionTooLarge);
        }
        let address = self.next_address();
        self.units.medium.program(address, &entry.encode())?;
        self.extent.next += 1;
        Ok(())
    }

    /// Makes a place void that cannot be completed to an entry.
    fn void_place(&mut self, address: Address) -> Result<(), StoreError<D::Error>> {
        let mut bytes = [0; ENTRY_BYTES as usize];
        self.units.medium.read(address, &mut bytes)?;
        for bytes in Entry::steps_to_void(bytes) {
            self.units.medium.program(address, &bytes)?;
        }
        Ok(())
    }

    /// Appends the roots that the open transaction has changed, and `Commit`: the moment of truth.
    pub fn append_commit(&mut self) -> Result<(), StoreError<D::Error>> {
        for tree in 0..self.roots.len() {
            if self.roots[tree].open != self.roots[tree].committed {
                self.append_reserved(self.roots[tree].open.entry(tree))?;
            }
        }
        self.append_reserved(Entry::Commit { serial: self.serial })?;
        self.append_second_commit()
    }

    /// With error detection one flipped bit must not make a commit that takes effect look like one that was cut.
    pub fn append_second_commit(&mut self) -> Result<(), StoreError<D::Error>> {
        match self.units.medium.detects() {
            true => self.append_reserved(Entry::Commit { serial: self.serial }),
            false => Ok(()),
        }
    }

    /// Ends the open transaction, when all that it changed is closed.
    pub fn close(&mut self, close: Close) -> Result<(), StoreError<D::Error>> {
        for tree in &mut self.roots {
            match close {
                Close::Commit => tree.committed = tree.open,
                Close::Abort => tree.open = tree.committed,
            }
        }
        if close == Close::Abort {
            self.append_reserved(Entry::Abort { serial: self.serial })?;
        }
        self.extent.open = false;
        self.start_at_end();
        if self.length() > 1 {
            self.retire_units()?;
        }
        Ok(())
    }

    /// Makes sure that a transaction of a few entries does not need another log unit.
    pub fn make_room(&mut self) -> Result<(), StoreError<D::Error>> {
        self.ensure_room(SMALL_TRANSACTION)
    }

    /// Makes sure that `entries` more fit without touching the reserve, in a new log unit if need be.
    pub fn ensure_room(&mut self, entries: u16) -> Result<(), StoreError<D::Error>> {
        let second_commit = u16::from(self.units.medium.detects());
        if self.extent.next + entries + RESERVE + second_commit <= self.units.medium.geometry().log_entries {
            return Ok(());
        }
        if self.extent.open && self.length() >= u32::from(self.config.log_units) {
            return Err(StoreError::TransactionTooLarge);
        }
        self.start_next_unit()
    }

    pub fn start_next_unit(&mut self) -> Result<(), StoreError<D::Error>> {
        let unit = self.take_free_unit()?;
        self.start_unit(unit, self.extent.sequence.next())?;
        if !self.extent.open {
            self.retire_units()?;
        }
        Ok(())
    }

    /// Entry `number` of the head of a log unit, which says all that the log says at this moment.
    fn head_entry(&self, first: Sequence, number: u16) -> Option<Entry> {
        let keys = u16::from(StoreConfig::KEYS);
        // The notify tree is there while a program holds pointers; else the head does without it.
        let pointers = self.roots[TreeId::Notify as usize].committed.node.is_some();
        let trees = TREES as u16 - u16::from(!pointers);
        let mut number = number;
        if number == 0 {
            return Some(Entry::Chain { first: first.bits() });
        }
        number -= 1;
        if number < keys {
            let key = number as u8;
            return Some(Entry::Setting { key, value: self.config.get(key) });
        }
        number -= keys;
        if number < trees {
            return Some(self.roots[usize::from(number)].committed.entry(usize::from(number)));
        }
        match (number - trees, self.extent.pending_move) {
            (0, _) => Some(Entry::Serial { serial: self.serial }),
            (1, Some((from, to))) => Some(Entry::Move { from: from.0, to: to.0 }),
            (1, None) | (2, Some(_)) => Some(Entry::Ready),
            _ => None,
        }
    }

    /// Whether `unit` holds nothing but part of what starting it as the next log unit would program.
    fn is_started_unit(&mut self, unit: EraseUnit) -> Result<bool, StoreError<D::Error>> {
        let sequence = self.extent.sequence.next();
        let assignment = self.units.medium.geometry().part.start_of(unit).offset(ASSIGNMENT_OFFSET);
        if !self.units.can_become(assignment, Entry::LogUnit { sequence: sequence.bits() })? {
            return Ok(false);
        }
        let mut index = 0;
        while let Some(entry) = self.head_entry(sequence, index) {
            let address = self.units.medium.geometry().entry_address(unit, index);
            if !self.units.can_become(address, entry)? {
                return Ok(false);
            }
            index += 1;
        }
        Ok(matches!(self.read(unit, index)?, EntryState::Erased))
    }

    /// Makes the free unit `unit` the newest of the log (steps 1 and 2 of the module's head).
    fn start_unit(&mut self, unit: EraseUnit, sequence: Sequence) -> Result<(), StoreError<D::Error>> {
        let first = if self.extent.open { self.extent.start.sequence } else { sequence };
        self.units.table.set_role(unit, Role::Log);
        self.units.assign(unit, Entry::LogUnit { sequence: sequence.bits() })?;
        let extent = &mut self.extent;
        (extent.unit, extent.sequence, extent.next, extent.torn) = (unit, sequence, 0, false);
        let mut number = 0;
        while let Some(entry) = self.head_entry(first, number) {
            self.append_reserved(entry)?;
            number += 1;
        }
        if !self.extent.open {
            self.extent.first = sequence;
            self.start_at_end();
        }
        Ok(())
    }

    /// Erases the log units that no transaction needs any more (step 3).
    fn retire_units(&mut self) -> Result<(), StoreError<D::Error>> {
        for unit in self.units.table.all() {
            if self.units.table.role(unit) == Role::Log && unit != self.extent.unit {
                self.erase_unit(unit)?;
            }
        }
        self.extent.first = self.extent.sequence;
        Ok(())
    }

    /// The log unit with a sequence number.
    pub fn unit_with(&mut self, sequence: Sequence) -> Result<EraseUnit, StoreError<D::Error>> {
        if sequence == self.extent.sequence {
            return Ok(self.extent.unit);
        }
        for unit in self.units.table.all() {
            if self.units.table.role(unit) == Role::Log
                && let EntryState::Whole(Entry::LogUnit { sequence: found }) = self.units.assignment(unit)?
                && Sequence::new(found) == sequence
            {
                return Ok(unit);
            }
        }
        let address = self.units.medium.geometry().entry_address(self.extent.unit, 0);
        self.units.medium.corrupted(address, "the log's chain names a unit that is not there")
    }

    /// Erases `unit` and makes it free: an entry first, then the erase, then the identity that says it is complete.
    pub(super) fn erase_unit(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let count = self.units.identity(unit)?.map_or(0, |identity| identity.erase_count);
        let count = (count + 1).min(ERASE_COUNT_MAX);
        self.append_reserved(Entry::Erase { unit: unit.0, count })?;
        self.units.erase(unit, count)
    }

    /// Erases a unit of scratch bits that is not in use.
    fn clear_scratch_unit(&mut self) -> Result<EraseUnit, StoreError<D::Error>> {
        match self.units.table.all().find(|&unit| self.units.table.role(unit) == Role::Scratch) {
            Some(unit) => self.erase_unit(unit).map(|()| unit),
            None => Err(StoreError::Full),
        }
    }

    /// The least worn free unit, from here on busy.
    pub(super) fn take_free_unit(&mut self) -> Result<EraseUnit, StoreError<D::Error>> {
        let size_bytes = self.units.medium.geometry().part.unit_size_bytes;
        let unit = match self.units.least_worn_free()? {
            // A unit with a flipped bit is erased once more.
            Some(unit)
                if self.units.medium.detects()
                    && self.units.medium.first_programmed(unit, ASSIGNMENT_OFFSET, size_bytes)?.is_some() =>
            {
                self.erase_unit(unit)?;
                unit
            }
            Some(unit) => unit,
            None => self.clear_scratch_unit()?,
        };
        self.units.table.set_role(unit, Role::Busy);
        Ok(unit)
    }

    /// Announces a move of the valid sectors of `victim` to `target`, for which there is room.
    pub(super) fn begin_move(&mut self, victim: EraseUnit, target: EraseUnit) -> Result<(), StoreError<D::Error>> {
        self.append_reserved(Entry::Move { from: victim.0, to: target.0 })?;
        self.extent.pending_move = Some((victim, target));
        Ok(())
    }

    /// Erases the victim of a move whose target is assigned.
    pub(super) fn finish_move(&mut self, victim: EraseUnit) -> Result<(), StoreError<D::Error>> {
        self.erase_unit(victim)?;
        self.extent.pending_move = None;
        Ok(())
    }

    /// A move that is not followed by the erase of its victim: victim and target.
    pub(super) fn pending_move(&self) -> Option<(EraseUnit, EraseUnit)> {
        self.extent.pending_move
    }

    /// Calls `visit` for every entry of the newest log unit, with its index; `None` for one torn or void.
    pub fn visit(&mut self, mut visit: impl FnMut(u16, Option<Entry>)) -> Result<(), StoreError<D::Error>> {
        for index in 0..self.extent.next {
            match self.read(self.extent.unit, index)? {
                EntryState::Whole(entry) => visit(index, Some(entry)),
                EntryState::Torn | EntryState::Void => visit(index, None),
                EntryState::Erased => {}
            }
        }
        if self.extent.torn {
            visit(self.extent.next, None);
        }
        Ok(())
    }
}
