//! Mounting the log: the newest unit is found and read, and its last entries say what a power cut interrupted.
//!
//! The steps are those of `mount.rs`, which has them as a table. Nothing here appends an entry before the roles of all
//! units are known.

use norn_flash::{EraseUnit, Nor};

use super::{Log, Position, SERIALS, Sequence};
use crate::entry::{ENTRY_BYTES, Entry, EntryState};
use crate::error::{MountError, MountFault, MountRefusal, StoreError};
use crate::features::Features;
use crate::format::{FORMAT_VERSION, HEADER_BYTES, Identity, LogicalUnit, SectorPtr};
use crate::ground::table::Role;
use crate::ground::table::UnitRows;
use crate::roots::{HEIGHT_MAX, TREES, TreeRoot, TreeRoots};

/// What reading the newest log unit shows beyond the log's own state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Replay {
    /// Sequence number of the oldest unit that the transaction open at the unit's head needs.
    chain_first: Sequence,
    last: Option<Entry>,
    /// Whether any place is torn.
    torn: bool,
    /// Index after the last `Commit` or `Abort`, and after the one before it.
    closed: Option<u16>,
    closed_before: Option<u16>,
    /// Whether the last `Commit` is written twice.
    repeated: bool,
    /// The erase that the last entry announces. One that other entries follow is complete.
    erase: Option<(EraseUnit, u32)>,
    changed: bool,
}

/// The state of the last transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastTransaction {
    /// It is closed.
    Closed,
    /// Its `Commit` is the log's last entry.
    Committed,
    /// It has entries, and neither `Commit` nor `Abort`.
    Open,
}

impl Replay {
    /// The link that was being made when power failed: the last sector of a chain, and the new one.
    pub fn link(&self) -> Option<(SectorPtr, SectorPtr)> {
        match self.last {
            Some(Entry::Link { last, new }) => Some((last, new)),
            _ => None,
        }
    }

    /// Whether the last `Commit` is written twice.
    pub fn commit_is_repeated(&self) -> bool {
        self.repeated
    }

    fn last_is_commit(&self) -> bool {
        matches!(self.last, Some(Entry::Commit { .. }))
    }
}

impl<D: Nor, M: UnitRows, F: Features> Log<D, M, F> {
    /// Finds the newest complete log unit, and reads it (step 1).
    pub(crate) fn replay(&mut self) -> Result<Replay, MountFault<D::Error>> {
        self.extent.unit = self.find_newest_unit()?;
        self.read_newest_unit()
    }

    /// Checks every identity on the way.
    fn find_newest_unit(&mut self) -> Result<EraseUnit, MountFault<D::Error>> {
        let mut newest: Option<(Sequence, EraseUnit)> = None;
        for unit in self.units.table.all() {
            let Some(identity) = self.units.identity(unit)? else {
                continue;
            };
            if identity.version > FORMAT_VERSION {
                let (found, known) = (u32::from(identity.version), u32::from(FORMAT_VERSION));
                return Err(MountError::OtherVersion { found, known }.into());
            }
            let part = self.units.medium.geometry().part;
            let Identity { unit_size_bytes, unit_count, .. } = identity;
            let size = ("bytes in an erase unit", unit_size_bytes, part.unit_size_bytes);
            let count = ("erase units", u64::from(unit_count), u32::from(part.unit_count));
            for (what, image, expected) in [size, count] {
                if image != u64::from(expected) {
                    let image = u32::try_from(image).unwrap_or(u32::MAX);
                    return Err(MountError::WrongGeometry { what, image, expected }.into());
                }
            }
            let EntryState::Whole(Entry::LogUnit { sequence }) = self.units.assignment(unit)? else {
                continue;
            };
            let sequence = Sequence::new(sequence);
            if newest.is_none_or(|(highest, _)| sequence.is_after(highest)) && self.unit_is_ready(unit)? {
                newest = Some((sequence, unit));
            }
            self.units.table.set_role(unit, Role::Log);
        }
        let Some((sequence, unit)) = newest else {
            return self.expect_unformatted();
        };
        self.extent.sequence = sequence;
        Ok(unit)
    }

    /// Says why there is no newest log unit: the part is not formatted, or a cut formatting has made its log void; or
    /// the log is damaged, where there are units with sectors.
    fn expect_unformatted(&mut self) -> Result<EraseUnit, MountFault<D::Error>> {
        let mut in_use = None;
        for unit in self.units.table.all() {
            match self.units.assignment(unit)? {
                EntryState::Whole(Entry::DataUnit { .. }) => in_use = in_use.or(Some(unit)),
                EntryState::Void => return Err(MountError::NotFormatted.into()),
                EntryState::Torn if !is_nearly_an_entry(self.units.assignment_bytes(unit)?) => {
                    return Err(MountError::NotFormatted.into());
                }
                _ => {}
            }
        }
        match in_use {
            Some(unit) => self.damage_of(unit, "a unit in use, but no whole log unit on the part"),
            None => Err(MountError::NotFormatted.into()),
        }
    }

    fn unit_is_ready(&mut self, unit: EraseUnit) -> Result<bool, StoreError<D::Error>> {
        for index in 0..self.units.medium.geometry().log_entries {
            match self.read(unit, index)? {
                EntryState::Whole(Entry::Ready) => return Ok(true),
                EntryState::Erased => return Ok(false),
                _ => {}
            }
        }
        Ok(false)
    }

    fn read_newest_unit(&mut self) -> Result<Replay, MountFault<D::Error>> {
        let mut replay = Replay { chain_first: self.extent.sequence, ..Replay::default() };
        let mut roots = [None; TREES];
        while self.extent.next < self.units.medium.geometry().log_entries {
            let state = self.read(self.extent.unit, self.extent.next)?;
            match state {
                EntryState::Erased => break,
                // Recovery makes a torn place void before it continues after it.
                _ if self.extent.torn && self.units.medium.detects() => {
                    self.extent.next -= 1;
                    return self.damage("a damaged log entry");
                }
                EntryState::Torn | EntryState::Void => {}
                EntryState::Whole(Entry::Ready) if replay.torn => {
                    return self.damage("a damaged entry in the log's head");
                }
                EntryState::Whole(entry) => self.replay_entry(entry, &mut replay, &mut roots)?,
            }
            self.extent.torn = matches!(state, EntryState::Torn);
            replay.torn |= self.extent.torn;
            self.extent.next += 1;
        }
        self.extent.next -= u16::from(self.extent.torn);
        Ok(replay)
    }

    fn replay_entry(
        &mut self,
        entry: Entry,
        replay: &mut Replay,
        roots: &mut [Option<TreeRoot>; TREES],
    ) -> Result<(), MountFault<D::Error>> {
        let unit_count = self.units.medium.geometry().part.unit_count;
        replay.erase = None;
        match entry {
            Entry::Chain { first } => replay.chain_first = Sequence::new(first),
            Entry::Setting { key, value } => self.replay_setting(key, value)?,
            Entry::Serial { serial } => self.serial = serial,
            Entry::Root { tree, height, node } => {
                let place = roots.get_mut(usize::from(tree));
                match place.filter(|_| height <= HEIGHT_MAX && (height == 0) == node.is_none()) {
                    Some(place) => *place = Some(TreeRoot { node, height }),
                    None => return self.damage("a log entry with an impossible root"),
                }
            }
            Entry::Ready | Entry::Commit { .. } => self.take_roots(roots),
            Entry::Erase { unit, .. } if unit >= unit_count => {
                return self.damage("a log entry that names a unit beyond the part");
            }
            Entry::Erase { unit, count } => {
                replay.erase = Some((EraseUnit(unit), count));
                if self.extent.pending_move.is_some_and(|(from, _)| from.0 == unit) {
                    self.extent.pending_move = None;
                }
            }
            Entry::Move { from, to } if from.max(to) >= unit_count || from == to => {
                return self.damage("a log entry that names a unit beyond the part");
            }
            Entry::Move { from, to } => self.extent.pending_move = Some((EraseUnit(from), EraseUnit(to))),
            Entry::New { .. } | Entry::Swap { .. } | Entry::Release { .. } | Entry::ReleaseTree { .. } => {
                replay.changed = true;
            }
            Entry::Abort { .. } | Entry::Link { .. } => {}
            Entry::LogUnit { .. } | Entry::DataUnit { .. } => {
                return self.damage("a unit's assignment inside the log");
            }
        }
        let is_commit = |entry| matches!(entry, Some(Entry::Commit { .. }));
        replay.repeated = is_commit(Some(entry)) && is_commit(replay.last);
        if replay.repeated {
            replay.closed = Some(self.extent.next + 1);
        } else if let Entry::Commit { serial } | Entry::Abort { serial } = entry {
            self.serial = serial;
            *roots = [None; TREES];
            replay.changed = false;
            replay.closed_before = replay.closed;
            replay.closed = Some(self.extent.next + 1);
        }
        replay.last = Some(entry);
        Ok(())
    }

    fn replay_setting(&mut self, key: u8, value: u32) -> Result<(), MountFault<D::Error>> {
        let mut config = self.config;
        let known = config.set(key, value);
        self.set_config(config);
        known.ok_or(MountError::Refused(MountRefusal::UnknownSettings))?;
        match self.config.lacks::<F>() {
            Some(feature) => Err(MountError::Refused(MountRefusal::MissingFeature(feature)).into()),
            None => Ok(()),
        }
    }

    fn take_roots(&mut self, roots: &[Option<TreeRoot>; TREES]) {
        for (tree, root) in self.roots.iter_mut().zip(roots) {
            if let Some(root) = *root {
                *tree = TreeRoots { committed: root, open: root };
            }
        }
    }

    /// Refuses what is at the place that is being read.
    fn damage<T>(&mut self, what: &'static str) -> Result<T, MountFault<D::Error>> {
        let address = self.next_address();
        Ok(self.units.medium.corrupted(address, what)?)
    }

    fn damage_of<T>(&mut self, unit: EraseUnit, what: &'static str) -> Result<T, MountFault<D::Error>> {
        let address = self.units.medium.geometry().part.start_of(unit);
        Ok(self.units.medium.corrupted(address, what)?)
    }

    /// Finishes the erase that the last entry announces, unless the unit's identity says that it is complete (step 2).
    pub(crate) fn finish_erase(&mut self, replay: &Replay) -> Result<(), MountFault<D::Error>> {
        let Some((unit, count)) = replay.erase else {
            return Ok(());
        };
        if unit == self.extent.unit {
            return self.damage("a log entry that erases its own unit");
        }
        let complete = self.units.identity(unit)?.is_some_and(|identity| identity.erase_count == count);
        if !complete {
            self.units.erase(unit, count)?;
        }
        Ok(())
    }

    /// Gives every unit its role (step 3). The units of a pending move keep what they were: the victim its number, the
    /// target its number or `Busy`.
    pub(crate) fn assign_roles(&mut self) -> Result<(), MountFault<D::Error>> {
        for unit in self.units.table.all() {
            if unit == self.extent.unit {
                continue;
            }
            if self.units.identity(unit)?.is_none() {
                return self.damage_of(unit, "a unit without an identity that no erase accounts for");
            }
            let role = self.role_by_assignment(unit)?;
            self.units.table.set_role(unit, role);
        }
        Ok(())
    }

    fn role_by_assignment(&mut self, unit: EraseUnit) -> Result<Role, MountFault<D::Error>> {
        let in_move = self.extent.pending_move.is_some_and(|(from, to)| unit == from || unit == to);
        match self.units.assignment(unit)? {
            EntryState::Whole(Entry::DataUnit { logical: LogicalUnit(0), .. }) => Ok(Role::Scratch),
            EntryState::Whole(Entry::DataUnit { logical, .. })
                if logical.0 <= self.units.medium.geometry().part.unit_count =>
            {
                match self.units.table.home(logical) {
                    Some(_) if !in_move => self.damage_of(unit, "two units with one logical number"),
                    _ => Ok(Role::Data(logical)),
                }
            }
            EntryState::Erased if !in_move => Ok(Role::Free),
            EntryState::Whole(Entry::LogUnit { sequence }) => {
                if Sequence::new(sequence).is_after(self.extent.sequence) {
                    self.expect_cut_head(unit)?;
                }
                Ok(Role::Log)
            }
            EntryState::Erased | EntryState::Torn | EntryState::Void => {
                if !in_move {
                    self.units.expect_torn_assignment(unit)?;
                }
                Ok(Role::Busy)
            }
            EntryState::Whole(_) => self.damage_of(unit, "a unit with an impossible assignment"),
        }
    }

    /// Refuses a log unit without `Ready` that is newer than the newest, unless it is what a cut leaves of a switch:
    /// whole entries, then perhaps a torn one, then nothing.
    fn expect_cut_head(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let (entries, size_bytes) =
            (self.units.medium.geometry().log_entries, self.units.medium.geometry().part.unit_size_bytes);
        let mut index = 0;
        while self.units.medium.detects() && index < entries {
            index += 1;
            if let EntryState::Whole(_) = self.read(unit, index - 1)? {
                continue;
            }
            let from = HEADER_BYTES + u32::from(index) * ENTRY_BYTES;
            if self.units.medium.first_programmed(unit, from, size_bytes)?.is_some() {
                let address = self.units.medium.geometry().entry_address(unit, index - 1);
                return self.units.medium.corrupted(address, "a damaged entry in the head of a log unit");
            }
            break;
        }
        Ok(())
    }

    /// Finds where the last transaction starts, and its state (before step 5).
    pub(crate) fn find_last_transaction(&mut self, replay: &Replay) -> Result<LastTransaction, MountFault<D::Error>> {
        let closed = if replay.last_is_commit() { replay.closed_before } else { replay.closed };
        let chained = closed.is_none() && self.extent.sequence.is_after(replay.chain_first);
        if chained {
            self.extent.first = replay.chain_first;
            self.extent.start = self.find_start_in_chain(replay.chain_first)?;
        } else {
            self.extent.first = self.extent.sequence;
            self.extent.start = Position { sequence: self.extent.sequence, index: closed.unwrap_or(0) };
        }
        Ok(match replay.last_is_commit() {
            true => LastTransaction::Committed,
            false if replay.changed || chained => LastTransaction::Open,
            false => LastTransaction::Closed,
        })
    }

    /// Where a transaction starts that was open when its log unit was full.
    fn find_start_in_chain(&mut self, first: Sequence) -> Result<Position, MountFault<D::Error>> {
        let unit = self.unit_with(first)?;
        let mut start = 0;
        for index in 0..self.units.medium.geometry().log_entries {
            if let EntryState::Whole(Entry::Commit { .. } | Entry::Abort { .. }) = self.read(unit, index)? {
                start = index + 1;
            }
        }
        Ok(Position { sequence: first, index: start })
    }

    /// Opens the transaction that a cut left open once more, to be undone. Passes over the serial numbers that it may
    /// have given out, one an entry at most.
    pub(crate) fn reopen(&mut self) {
        self.extent.open = true;
        let (start, end) = (self.start(), self.end());
        let units = end.sequence.since(start.sequence);
        let entries =
            units * u32::from(self.units.medium.geometry().log_entries) + u32::from(end.index) - u32::from(start.index);
        self.serial = (self.serial + entries) % SERIALS;
    }

    /// Continues with a switch to a new log unit (step 6).
    pub(crate) fn finish_switch(&mut self) -> Result<(), StoreError<D::Error>> {
        for unit in self.units.table.all() {
            let unused = match self.units.table.role(unit) {
                Role::Log => unit != self.extent.unit,
                Role::Busy => true,
                Role::Free | Role::Data(_) | Role::Scratch | Role::ScratchInUse => false,
            };
            if unused && self.is_started_unit(unit)? {
                self.start_unit(unit, self.extent.sequence.next())?;
                break;
            }
        }
        Ok(())
    }

    /// Erases what a cut left neither free nor in use, and log units that are not needed (step 7).
    pub(crate) fn clear_leftovers(&mut self) -> Result<(), StoreError<D::Error>> {
        for unit in self.units.table.all() {
            match self.units.table.role(unit) {
                Role::Busy => self.erase_unit(unit)?,
                Role::Log if unit != self.extent.unit => self.erase_unit(unit)?,
                _ => {}
            }
        }
        self.extent.first = self.extent.sequence;
        Ok(())
    }
}

/// Whether one flipped bit makes the bytes an entry.
fn is_nearly_an_entry(bytes: [u8; ENTRY_BYTES as usize]) -> bool {
    (0..64).any(|bit| Entry::decode((u64::from_le_bytes(bytes) ^ 1 << bit).to_le_bytes()).is_some())
}
