//! Formatting and mounting: from whatever a power cut left to a store between two operations.
//!
//! Mounting:
//! 1. find the newest complete log unit (the highest sequence number with `Ready`) and read it;
//! 2. finish the last `Erase`, unless another entry follows it or the unit's identity says that it is complete;
//! 3. give every unit its role;
//! 4. resume or finish the last `Move`;
//! 5. redo the last commit, or repair the last link, when it is the log's last entry; or undo the open transaction;
//! 6. go on with a switch to a new log unit;
//! 7. erase units that a cut left neither free nor in use, and log units that are not needed;
//! 8. empty the notify tree, which is of no use to another run of the program;
//! 9. switch to a new log unit if the reserve of the log was used.
//!
//! Steps 1 to 3 and 5 append nothing before they are done, so that a cut during recovery finds the same last entry again.
//! Recovery as a table; of each group of rows, the first that fits applies (`docs/format/nor-store.md` has it with the causes):
//!
//! | last entries of the newest log unit | state on flash | action |
//! |---|---|---|
//! | none with `Ready` | formatting was cut | `NotFormatted` |
//! | none with `Ready` | units with sectors, and no log unit made void by formatting | `Corrupted` |
//! | `Erase(u, n)` is last | identity of `u` says n | none |
//! | `Erase(u, n)` is last | anything else | erase `u` again |
//! | `Move(v, t)` without `Erase(v)` | `t` not assigned | copy what is missing, assign, erase `v` |
//! | `Move(v, t)` without `Erase(v)` | `t` assigned | erase `v` |
//! | `Link(l, n)` is last | link of `l` leads to `n` | none |
//! | `Link(l, n)` is last | link of `l` erased or torn | free `n`; then undo the transaction if one is open |
//! | `Commit` is last | words open or sectors live | walk forwards again |
//! | `New`, `Swap`, `Release` since the last `Commit` or `Abort` | anything | walk backwards, `Abort` |
//! | a torn entry is last | | the next entry is programmed over it where it can be |
//! | a torn entry is not last | with error detection | `Corrupted` |
//! | anything | a unit holds the beginning of what the next log unit would | complete it |
//! | anything | a unit's assignment is torn, or it is a log unit that is not the newest | erase the unit |
//! | anything | tree 2 is not empty | empty it |

use core::marker::PhantomData;

use norn_flash::{EraseUnit, Nor};

use crate::error::{MountError, MountFault, MountRefusal, StoreError};
use crate::features::Features;
use crate::format::{
    ASSIGNMENT_OFFSET, ENTRY_BYTES, ERASE_COUNT_MAX, Entry, FORMAT_VERSION, Identity, Link, LogicalUnit, SectorPtr,
};
use crate::log::{Log, Position, Sequence, Slot};
use crate::medium::Medium;
use crate::sector::Census;
use crate::store::{Geometry, SERIALS, Settings, Store};
use crate::tree::{HEIGHT_MAX, TREES, TreeId, TreeRoot, TreeRoots};
use crate::units::{Role, UnitTable};

/// What reading the newest log unit tells beyond the store's own state.
#[derive(Clone, Copy, Debug, Default)]
struct Replay {
    /// Sequence number of the oldest unit that the transaction open at the unit's head needs.
    chain_first: Sequence,
    last: Option<Entry>,
    /// Whether any place is torn.
    torn: bool,
    /// Index behind the last `Commit` or `Abort`, and behind the one before it.
    closed: Option<u16>,
    closed_before: Option<u16>,
    /// Whether the last `Commit` stands twice.
    repeated: bool,
    /// The erase that the last entry announces. One that other entries follow is complete.
    erase: Option<(EraseUnit, u32)>,
    changed: bool,
}

impl<D: Nor, const UNITS: usize, F: Features> Store<D, UNITS, F> {
    /// A store that has not been mounted: every call but [`remount`](Self::remount) and [`reformat`](Self::reformat) says `Halted`.
    /// For places where a store is to stay, such as a static, without ever being on the stack.
    pub fn unmounted(device: D) -> Self {
        let medium = Medium::unused(device);
        Store {
            units: UnitTable::new(),
            log: Log::default(),
            trees: [TreeRoots::default(); TREES],
            filling: None,
            census: Census::default(),
            corruption: None,
            settings: Settings::default(),
            serial: 0,
            random: 1,
            geometry: Geometry::unknown(medium.part()),
            medium,
            code: PhantomData,
        }
    }

    /// Lays out an empty store. What the part held is lost, but for the erase counts of units that have one.
    ///
    /// Cost: an erase and 4 words for each unit, 18 words for the log's head.
    ///
    /// # Errors
    /// When the part cannot be used, or the device fails.
    pub fn format(device: D, settings: Settings) -> Result<Self, MountError<D::Error>> {
        let mut store = Self::unmounted(device);
        store.reformat(settings)?;
        Ok(store)
    }

    /// As [`format`](Self::format), in place.
    ///
    /// # Errors
    /// As `format`; the store is as [`unmounted`](Self::unmounted) then.
    pub fn reformat(&mut self, settings: Settings) -> Result<(), MountError<D::Error>> {
        self.start()?;
        self.settings = settings;
        if let Some(feature) = settings.lacks::<F>() {
            self.medium.halt();
            return Err(MountError::Refused(MountRefusal::MissingFeature(feature)));
        }
        let laid_out = match settings.validate().and_then(|()| self.geometry.suits(&settings)) {
            Ok(()) => self.lay_out().map_err(|error| MountFault::Store(error).explained(self.corruption)),
            Err(why) => Err(MountError::Unsuitable(why)),
        };
        laid_out.inspect_err(|_| self.medium.halt())
    }

    /// As [`mount`](Self::mount), in place: also for a store that an error of the device has halted.
    ///
    /// # Errors
    /// As `mount`; the store is as [`unmounted`](Self::unmounted) then.
    pub fn remount(&mut self) -> Result<(), MountError<D::Error>> {
        self.start()?;
        let recovered = self.recover().map_err(|fault| fault.explained(self.corruption));
        recovered.inspect_err(|_| self.medium.halt())
    }

    /// Forgets everything in RAM, and lets calls reach the device.
    fn start(&mut self) -> Result<(), MountError<D::Error>> {
        self.medium.halt();
        self.geometry = Geometry::of(self.medium.part(), UNITS)?;
        self.medium.restart().map_err(MountError::Device)?;
        self.units.reset(self.geometry.part.unit_count);
        (self.log, self.trees) = (Log::default(), [TreeRoots::default(); TREES]);
        (self.filling, self.census, self.corruption) = (None, Census::default(), None);
        Ok(())
    }

    fn lay_out(&mut self) -> Result<(), StoreError<D::Error>> {
        // An old log goes first, its oldest unit before the others, so that a cut leaves no store that looks whole and is not.
        for _ in self.units.all() {
            let Some(unit) = self.oldest_log_unit()? else {
                break;
            };
            let start = self.geometry.part.start_of(unit);
            self.medium.program(start.offset(ASSIGNMENT_OFFSET), &[0; 8])?;
        }
        // Its units last of all: as long as others are there, they tell that formatting was cut.
        for log_units in [false, true] {
            for unit in self.units.all() {
                let is_log = self.read_assignment_bytes(unit)? == [0; ENTRY_BYTES as usize];
                if self.units.role(unit) == Role::Busy && is_log == log_units {
                    let erase_count = self.read_identity(unit)?.map_or(0, |identity| identity.erase_count);
                    self.erase_logged(unit, (erase_count + 1).min(ERASE_COUNT_MAX))?;
                }
            }
        }
        let unit = self.take_free_unit()?;
        self.start_log_unit(unit, Sequence::new(1))?;
        self.seed_random();
        Ok(())
    }

    /// Mounts what the device holds, completing or undoing what a power cut interrupted.
    ///
    /// Cost: 6 words read a unit, 2 an entry of the log, 1 a sector; programs and erases only where a cut left work, or a running
    /// program pointers: 6 words and 1 a sector of the notify tree.
    ///
    /// # Errors
    /// Names what is wrong with the image or the part; see [`MountError`].
    pub fn mount(device: D) -> Result<Self, MountError<D::Error>> {
        let mut store = Self::unmounted(device);
        store.remount()?;
        Ok(store)
    }

    fn recover(&mut self) -> Result<(), MountFault<D::Error>> {
        let newest = self.find_newest_log_unit()?;
        self.log.unit = newest;
        let replay = self.read_newest_log_unit()?;
        if let Some((unit, count)) = replay.erase {
            if unit == newest {
                return self.log_damage("a log entry that erases its own unit");
            }
            let complete = self.read_identity(unit)?.is_some_and(|identity| identity.erase_count == count);
            if !complete {
                self.erase_logged(unit, count)?;
            }
        }
        self.assign_roles()?;
        self.settle_move()?;
        self.settle_transaction(&replay)?;
        self.census = Census::default();
        for unit in self.units.all() {
            if let Role::Data(_) = self.units.role(unit) {
                self.tally(unit)?;
            }
        }
        self.settle_log()?;
        self.clear_leftovers()?;
        self.forget_pointers()?;
        self.ensure_log_room(0)?;
        self.seed_random();
        Ok(())
    }

    /// The log unit with the lowest sequence number, for formatting.
    fn oldest_log_unit(&mut self) -> Result<Option<EraseUnit>, StoreError<D::Error>> {
        let mut oldest: Option<(Sequence, EraseUnit)> = None;
        for unit in self.units.all() {
            if let Slot::Entry(Entry::LogUnit { sequence }) = self.read_assignment(unit)? {
                let sequence = Sequence::new(sequence);
                if oldest.is_none_or(|(lowest, _)| lowest.is_after(sequence)) {
                    oldest = Some((sequence, unit));
                }
            }
        }
        Ok(oldest.map(|(_, unit)| unit))
    }

    fn seed_random(&mut self) {
        self.random =
            self.log.sequence.bits().wrapping_mul(0x9E37_79B9) ^ self.serial.rotate_left(16) ^ u32::from(self.log.next);
    }

    /// Step 1, first half. Checks every identity on the way.
    fn find_newest_log_unit(&mut self) -> Result<EraseUnit, MountFault<D::Error>> {
        let mut newest: Option<(Sequence, EraseUnit)> = None;
        for unit in self.units.all() {
            let Some(identity) = self.read_identity(unit)? else {
                continue;
            };
            if identity.version > FORMAT_VERSION {
                return Err(MountError::OtherVersion {
                    found: u32::from(identity.version),
                    known: u32::from(FORMAT_VERSION),
                }
                .into());
            }
            let part = self.geometry.part;
            let Identity { unit_size_bytes, unit_count, .. } = identity;
            let size = ("bytes in an erase unit", unit_size_bytes, part.unit_size_bytes);
            let count = ("erase units", u64::from(unit_count), u32::from(part.unit_count));
            for (what, image, expected) in [size, count] {
                if image != u64::from(expected) {
                    let image = u32::try_from(image).unwrap_or(u32::MAX);
                    return Err(MountError::WrongGeometry { what, image, expected }.into());
                }
            }
            let Slot::Entry(Entry::LogUnit { sequence }) = self.read_assignment(unit)? else {
                continue;
            };
            let sequence = Sequence::new(sequence);
            if newest.is_none_or(|(highest, _)| sequence.is_after(highest)) && self.log_unit_is_ready(unit)? {
                newest = Some((sequence, unit));
            }
            self.units.set_role(unit, Role::Log);
        }
        let Some((sequence, unit)) = newest else {
            return self.expect_unformatted();
        };
        self.log.sequence = sequence;
        Ok(unit)
    }

    /// Says why there is no newest log unit: the part is not formatted, or a cut formatting has made its log void; or the log is
    /// damaged, where there are units with sectors.
    fn expect_unformatted(&mut self) -> Result<EraseUnit, MountFault<D::Error>> {
        let mut in_use = None;
        for unit in self.units.all() {
            match self.read_assignment(unit)? {
                Slot::Entry(Entry::DataUnit { .. }) => in_use = in_use.or(Some(unit)),
                Slot::Void => return Err(MountError::NotFormatted.into()),
                Slot::Torn if !is_nearly_an_entry(self.read_assignment_bytes(unit)?) => {
                    return Err(MountError::NotFormatted.into());
                }
                _ => {}
            }
        }
        match in_use {
            Some(unit) => {
                Ok(self
                    .corrupted(self.geometry.part.start_of(unit), "a unit in use, but no whole log unit on the part")?)
            }
            None => Err(MountError::NotFormatted.into()),
        }
    }

    fn read_assignment_bytes(&mut self, unit: EraseUnit) -> Result<[u8; ENTRY_BYTES as usize], StoreError<D::Error>> {
        let mut bytes = [0; ENTRY_BYTES as usize];
        self.medium.read(self.geometry.part.start_of(unit).offset(ASSIGNMENT_OFFSET), &mut bytes)?;
        Ok(bytes)
    }

    fn log_unit_is_ready(&mut self, unit: EraseUnit) -> Result<bool, StoreError<D::Error>> {
        for index in 0..self.geometry.log_entries {
            match self.read_log(unit, index)? {
                Slot::Entry(Entry::Ready) => return Ok(true),
                Slot::Erased => return Ok(false),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Step 1, second half.
    fn read_newest_log_unit(&mut self) -> Result<Replay, MountFault<D::Error>> {
        let mut replay = Replay { chain_first: self.log.sequence, ..Replay::default() };
        let mut roots = [None; TREES];
        while self.log.next < self.geometry.log_entries {
            let slot = self.read_log(self.log.unit, self.log.next)?;
            match slot {
                Slot::Erased => break,
                // Recovery makes a torn place void before it goes on behind it.
                _ if self.log.torn && self.detects() => {
                    self.log.next -= 1;
                    return self.log_damage("a damaged log entry");
                }
                Slot::Torn | Slot::Void => {}
                Slot::Entry(Entry::Ready) if replay.torn => {
                    return self.log_damage("a damaged entry in the log's head");
                }
                Slot::Entry(entry) => self.replay_entry(entry, &mut replay, &mut roots)?,
            }
            self.log.torn = matches!(slot, Slot::Torn);
            replay.torn |= self.log.torn;
            self.log.next += 1;
        }
        self.log.next -= u16::from(self.log.torn);
        Ok(replay)
    }

    fn replay_entry(
        &mut self,
        entry: Entry,
        replay: &mut Replay,
        roots: &mut [Option<TreeRoot>; TREES],
    ) -> Result<(), MountFault<D::Error>> {
        replay.erase = None;
        match entry {
            Entry::Chain { first } => replay.chain_first = Sequence::new(first),
            Entry::Setting { key, value } => {
                self.settings.set(key, value).ok_or(MountError::Refused(MountRefusal::UnknownSettings))?;
                if let Some(feature) = self.settings.lacks::<F>() {
                    return Err(MountError::Refused(MountRefusal::MissingFeature(feature)).into());
                }
            }
            Entry::Serial { serial } => self.serial = serial,
            Entry::Root { tree, height, node } => {
                let place = roots.get_mut(usize::from(tree));
                match place.filter(|_| height <= HEIGHT_MAX && (height == 0) == node.is_none()) {
                    Some(place) => *place = Some(TreeRoot { node, height }),
                    None => return self.log_damage("a log entry with an impossible root"),
                }
            }
            Entry::Ready | Entry::Commit { .. } => self.take_roots(roots),
            Entry::Erase { unit, .. } if unit >= self.geometry.part.unit_count => {
                return self.log_damage("a log entry that names a unit beyond the part");
            }
            Entry::Erase { unit, count } => {
                replay.erase = Some((EraseUnit(unit), count));
                if self.log.pending_move.is_some_and(|(from, _)| from.0 == unit) {
                    self.log.pending_move = None;
                }
            }
            Entry::Move { from, to } if from.max(to) >= self.geometry.part.unit_count || from == to => {
                return self.log_damage("a log entry that names a unit beyond the part");
            }
            Entry::Move { from, to } => self.log.pending_move = Some((EraseUnit(from), EraseUnit(to))),
            Entry::New { .. } | Entry::Swap { .. } | Entry::Release { .. } | Entry::ReleaseTree { .. } => {
                replay.changed = true;
            }
            Entry::Abort { .. } | Entry::Link { .. } => {}
            Entry::LogUnit { .. } | Entry::DataUnit { .. } => {
                return self.log_damage("a unit's assignment inside the log");
            }
        }
        let is_commit = |entry| matches!(entry, Some(Entry::Commit { .. }));
        replay.repeated = is_commit(Some(entry)) && is_commit(replay.last);
        if replay.repeated {
            replay.closed = Some(self.log.next + 1);
        } else if let Entry::Commit { serial } | Entry::Abort { serial } = entry {
            self.serial = serial;
            *roots = [None; TREES];
            replay.changed = false;
            replay.closed_before = replay.closed;
            replay.closed = Some(self.log.next + 1);
        }
        replay.last = Some(entry);
        Ok(())
    }

    fn take_roots(&mut self, roots: &[Option<TreeRoot>; TREES]) {
        for (tree, root) in self.trees.iter_mut().zip(roots) {
            if let Some(root) = *root {
                *tree = TreeRoots { committed: root, open: root };
            }
        }
    }

    fn log_damage<T>(&mut self, what: &'static str) -> Result<T, MountFault<D::Error>> {
        let address = self.entry_address(self.log.unit, self.log.next);
        Ok(self.corrupted(address, what)?)
    }

    /// Step 3. The units of a pending move keep what they were: the victim its number, the target its number or `Busy`.
    fn assign_roles(&mut self) -> Result<(), MountFault<D::Error>> {
        for unit in self.units.all() {
            if unit == self.log.unit {
                continue;
            }
            let address = self.geometry.part.start_of(unit);
            if self.read_identity(unit)?.is_none() {
                let what = "a unit without an identity that no erase accounts for";
                return Ok(self.corrupted(address, what)?);
            }
            let in_move = self.log.pending_move.is_some_and(|(from, to)| unit == from || unit == to);
            match self.read_assignment(unit)? {
                Slot::Entry(Entry::DataUnit { logical: LogicalUnit(0), .. }) => {
                    self.units.set_role(unit, Role::Scratch)
                }
                Slot::Entry(Entry::DataUnit { logical, .. }) if logical.0 <= self.geometry.part.unit_count => {
                    if self.units.home(logical).is_some() && !in_move {
                        let what = "two units with one logical number";
                        return Ok(self.corrupted(address, what)?);
                    }
                    self.units.set_role(unit, Role::Data(logical));
                }
                Slot::Erased if !in_move => self.units.set_role(unit, Role::Free),
                Slot::Entry(Entry::LogUnit { sequence }) => {
                    if Sequence::new(sequence).is_after(self.log.sequence) {
                        self.expect_cut_head(unit)?;
                    }
                    self.units.set_role(unit, Role::Log);
                }
                Slot::Erased | Slot::Torn | Slot::Void => {
                    if !in_move {
                        self.expect_torn_assignment(unit)?;
                    }
                    self.units.set_role(unit, Role::Busy);
                }
                Slot::Entry(_) => {
                    let what = "a unit with an impossible assignment";
                    return Ok(self.corrupted(address, what)?);
                }
            }
        }
        Ok(())
    }

    /// Step 4.
    fn settle_move(&mut self) -> Result<(), MountFault<D::Error>> {
        let Some((victim, target)) = self.log.pending_move else {
            return Ok(());
        };
        let address = self.geometry.part.start_of(victim);
        match (self.units.role(victim), self.units.role(target)) {
            (Role::Data(logical), Role::Data(same)) if logical == same => {
                self.units.set_role(victim, Role::Busy);
                self.units.set_role(target, Role::Data(logical));
                self.finish_move(victim)?;
            }
            (Role::Data(logical), Role::Busy) => self.resume_move(victim, target, logical)?,
            _ => {
                let what = "a move between units that are not a victim and its target";
                return Ok(self.corrupted(address, what)?);
            }
        }
        // The table's row is tallied with all others.
        self.filling = None;
        if let Role::Data(logical) = self.units.role(target) {
            self.units.set_role(target, Role::Data(logical));
        }
        Ok(())
    }

    /// Step 5.
    fn settle_transaction(&mut self, replay: &Replay) -> Result<(), MountFault<D::Error>> {
        let last_is_commit = matches!(replay.last, Some(Entry::Commit { .. }));
        let closed = if last_is_commit { replay.closed_before } else { replay.closed };
        let chained = closed.is_none() && self.log.sequence.is_after(replay.chain_first);
        if chained {
            self.log.first = replay.chain_first;
            self.log.start = self.find_start_in_chain(replay.chain_first)?;
        } else {
            self.log.first = self.log.sequence;
            self.log.start = Position { sequence: self.log.sequence, index: closed.unwrap_or(0) };
        }
        if let Some(Entry::Link { last, new }) = replay.last {
            self.settle_link(last, new)?;
        }
        if last_is_commit {
            if self.detects() && !replay.repeated {
                self.append_reserved(Entry::Commit { serial: self.serial })?;
            }
            self.apply_commit()?;
        } else if replay.changed || chained {
            self.log.open = true;
            self.skip_serials();
            self.abort()?;
        }
        self.log.start = self.log.end();
        Ok(())
    }

    /// Passes over the serial numbers that an undone transaction may have given out, one an entry at most.
    fn skip_serials(&mut self) {
        let (start, end) = (self.log.start, self.log.end());
        let units = end.sequence.since(start.sequence);
        let entries = units * u32::from(self.geometry.log_entries) + u32::from(end.index) - u32::from(start.index);
        self.serial = (self.serial + entries) % SERIALS;
    }

    /// Where a transaction starts that was open when its log unit was full.
    fn find_start_in_chain(&mut self, first: Sequence) -> Result<Position, MountFault<D::Error>> {
        let unit = self.log_unit(first)?;
        let mut start = 0;
        for index in 0..self.geometry.log_entries {
            if let Slot::Entry(Entry::Commit { .. } | Entry::Abort { .. }) = self.read_log(unit, index)? {
                start = index + 1;
            }
        }
        Ok(Position { sequence: first, index: start })
    }

    fn settle_link(&mut self, last: SectorPtr, new: SectorPtr) -> Result<(), MountFault<D::Error>> {
        let Some(sector) = self.find_sector(last)? else {
            let (address, what) = (self.place_of(last), "a link from a sector that is not there");
            return Ok(self.corrupted(address, what)?);
        };
        let word = self.link_word(&sector)?;
        match Link::decode(word) {
            Link::To(pointer) if pointer == new => Ok(()),
            // A torn link is no link and stays none.
            Link::Erased | Link::Void => {
                if self.is_damaged_link(word) {
                    self.void_link(&sector, new)?;
                }
                Ok(self.void_or_free(new)?)
            }
            Link::To(_) => {
                let what = "a link to another sector than the log says";
                Ok(self.corrupted(sector.address, what)?)
            }
        }
    }

    /// Step 6.
    fn settle_log(&mut self) -> Result<(), MountFault<D::Error>> {
        for unit in self.units.all() {
            let unused = match self.units.role(unit) {
                Role::Log => unit != self.log.unit,
                Role::Busy => true,
                Role::Free | Role::Data(_) | Role::Scratch | Role::ScratchInUse => false,
            };
            if unused && self.is_started_log_unit(unit)? {
                self.start_log_unit(unit, self.log.sequence.next())?;
                break;
            }
        }
        Ok(())
    }

    /// Step 7.
    fn clear_leftovers(&mut self) -> Result<(), MountFault<D::Error>> {
        for unit in self.units.all() {
            match self.units.role(unit) {
                Role::Busy => self.erase_unit(unit)?,
                Role::Log if unit != self.log.unit => self.erase_unit(unit)?,
                _ => {}
            }
        }
        self.log.first = self.log.sequence;
        Ok(())
    }

    /// Step 8, a transaction like any other.
    fn forget_pointers(&mut self) -> Result<(), StoreError<D::Error>> {
        if self.tree(TreeId::Notify).node.is_none() {
            return Ok(());
        }
        self.release_tree(self.tree(TreeId::Notify))?;
        self.trees[TreeId::Notify as usize].open = TreeRoot::default();
        self.commit()
    }
}

/// Whether one flipped bit makes the bytes an entry.
fn is_nearly_an_entry(bytes: [u8; ENTRY_BYTES as usize]) -> bool {
    (0..64).any(|bit| Entry::decode((u64::from_le_bytes(bytes) ^ 1 << bit).to_le_bytes()).is_some())
}
