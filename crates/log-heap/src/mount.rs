//! Formatting and mounting: what a mount reads, and how it settles what a stop has left in doubt.
//!
//! A mount:
//! 1. reads the head of each unit, and the newest log that is complete;
//! 2. if the log does not end with `Quiet`, reads the path to the owner of its last intent, once: a place on it may
//!    read differently each time. From here on, what was read counts;
//! 3. walks the map and counts what is live in each unit;
//! 4. begins a new log, whose head holds what was read. From its `End` on the next mount sees the same;
//! 5. writes anew what was in doubt: the object whose tail was appended to, and the nodes above the owner. The new
//!    root's record settles it. Where hardly a unit is free, another unit is [merged](crate::merging) in the same step;
//! 6. if appends were recorded no more, seals each tail that was not known to be complete, leaf by leaf. The log says
//!    which leaf it is at; one in which a sweep was cut is written anew instead;
//! 7. undoes the transaction that was open;
//! 8. takes away arrays that were not yet, or no more there;
//! 9. appends `Quiet`.
//!
//! What a cut can have left, and what becomes of it:
//!
//! | in flight | what is in doubt | settled by |
//! |---|---|---|
//! | a record of the log | that record | the new log (4) |
//! | a log's head | whether the log counts | the new log: both views say the same, and erase units of the log only |
//! | a place of a tail | the object of the last `Append` | its new sector, as it was read (5) |
//! | the same, in a log that says `Tails` | any tail of the leaves that it names | seals, or new sectors (6) |
//! | a sector | nothing: no entry leads to it | – |
//! | a spare place of a node | the path to the owner of the last `Rewrite` | new nodes, as they were read (5) |
//! | an erase, a unit's head | nothing: nothing in it is live, and it is erased before it is used | – |

use norn_flash::{GuardError, MountError, Nor, NorPart};
use norn_heap::{Listener, StoreError};

use crate::format::{Class, Entry, ErrorDetection, FANOUT, Geometry, Granule, Owner, Stream};
use crate::log::{Doubt, Intent, LogEnd, Note};
use crate::log_record::Tails;
use crate::map::SLOTS_BY_TOP;
use crate::merging::Moves;
use crate::object::{SEALED_TAIL_MIN, Sector};
use crate::reclaim::{Leftover, Reclamation};
use crate::recognition::foreign_geometry;
use crate::units::UnitRows;

impl<D: Nor, M: UnitRows, L: Listener> Reclamation<D, M, L> {
    /// Erases the part and begins an image on it. An image that is there is replaced by its next log, which says that
    /// the map is empty: whatever a cut leaves is the one or the other.
    pub(crate) fn format(&mut self, detection: ErrorDetection) -> Result<(), MountError<D::Error>> {
        match self.mount() {
            Ok(()) => {
                let replaced = self.replace_image(detection);
                self.concluded(replaced)?;
                self.mount()
            }
            Err(MountError::Device(error)) => Err(MountError::Device(error)),
            Err(_) => {
                self.start()?;
                self.objects.map.medium().set_detection(detection);
                let begun = self.begin_image();
                self.concluded(begun)
            }
        }
    }

    /// Mounts the image on the part.
    pub(crate) fn mount(&mut self) -> Result<(), MountError<D::Error>> {
        self.start()?;
        match self.objects.map.space.log.mount() {
            Ok(Some(end)) => {
                let mounted = self.read_and_settle(end);
                self.concluded(mounted)
            }
            Ok(None) => match self.expect_no_sectors() {
                Ok(()) => {
                    let absent = self.absent();
                    self.objects.map.medium().halt();
                    Err(absent)
                }
                damaged => self.concluded(damaged),
            },
            Err(error) => self.concluded(Err(error)),
        }
    }

    /// Where units for sectors are there, but no log that counts, the log is damaged: not to be formatted away.
    fn expect_no_sectors(&mut self) -> Result<(), StoreError<D::Error>> {
        let units = &mut self.objects.map.space.log.units;
        for unit in units.all() {
            if units.head(unit)?.is_some_and(|head| head.stream != Stream::Log) {
                let start = units.geometry().start(unit);
                return Err(units.medium.corrupted(start, "a unit of a heap of which no log is whole"));
            }
        }
        Ok(())
    }

    /// Why there is no image: the part may hold one of another geometry.
    fn absent(&mut self) -> MountError<D::Error> {
        let own = self.objects.map.space.log.units.geometry();
        let image = match foreign_geometry(self.objects.map.medium().device_mut(), &own) {
            Ok(Some(image)) => image,
            Ok(None) => return MountError::NotFormatted,
            Err(error) => return MountError::Device(error),
        };
        let bytes = |geometry: &Geometry| geometry.unit_granules * geometry.granule_bytes;
        let differences = [
            ("bytes of an erase unit", bytes(&image), bytes(&own)),
            ("erase units", image.unit_count.into(), own.unit_count.into()),
        ];
        let differing = differences.into_iter().find(|(_, image, own)| image != own);
        let (what, image, expected) =
            differing.unwrap_or(("bytes of a granule", image.granule_bytes, own.granule_bytes));
        MountError::WrongGeometry { what, image, expected }
    }

    /// Checks the part and the memory, and restarts the device.
    fn start(&mut self) -> Result<(), MountError<D::Error>> {
        self.objects.map.listener.all_invalidated();
        let units = &mut self.objects.map.space.log.units;
        units.medium.halt();
        let part: NorPart = units.medium.device().part();
        part.validate().map_err(MountError::Part)?;
        let geometry = Geometry::of(&part).map_err(MountError::Unsuitable)?;
        let given = units.rows_given();
        if given < usize::from(part.unit_count) {
            let (needed, given) = (u32::from(part.unit_count), given as u32);
            return Err(MountError::TooSmall { what: "rows of the unit table", needed, given });
        }
        units.medium.restart(geometry).map_err(|error| match error {
            GuardError::Device(error) => MountError::Device(error),
            GuardError::Halted => MountError::NotFormatted,
        })?;
        units.clear(0);
        self.objects.map.space.close_all();
        self.objects.map.space.is_settling = false;
        self.leftover = Leftover::default();
        Ok(())
    }

    fn concluded(&mut self, result: Result<(), StoreError<D::Error>>) -> Result<(), MountError<D::Error>> {
        result.map_err(|error| {
            self.objects.map.medium().halt();
            match (error, self.objects.map.medium().corruption()) {
                (StoreError::Device(error), _) => MountError::Device(error),
                (StoreError::Corrupted, Some(violation)) => MountError::Corrupted(violation),
                (StoreError::Full, _) => MountError::Unsuitable("no free unit to settle in"),
                _ => MountError::NotFormatted,
            }
        })
    }

    /// Begins an empty log after that of a mounted image, then erases all other units.
    fn replace_image(&mut self, detection: ErrorDetection) -> Result<(), StoreError<D::Error>> {
        let log = &mut self.objects.map.space.log;
        log.begin_empty(detection)?;
        for unit in log.units.all() {
            if unit != log.unit() && log.units.head(unit)?.is_some() {
                log.units.medium.erase(unit)?;
            }
        }
        log.rest()
    }

    /// Begins an image on a part without one. What looks like a log goes first, the oldest before the others: an image
    /// that is damaged does not come back as it was once.
    fn begin_image(&mut self) -> Result<(), StoreError<D::Error>> {
        let units = &mut self.objects.map.space.log.units;
        while let Some(unit) = units.oldest_log()? {
            units.medium.erase(unit)?;
        }
        for unit in units.all() {
            if units.head(unit)?.is_some() {
                units.medium.erase(unit)?;
            }
        }
        self.objects.map.space.log.format()?;
        self.objects.map.space.log.rest()?;
        self.objects.map.find_top()
    }

    fn read_and_settle(&mut self, end: LogEnd) -> Result<(), StoreError<D::Error>> {
        self.objects.map.find_top()?;
        if end == LogEnd::InDoubt
            && self.objects.map.space.log.doubt().is_none()
            && let Some(intent) = self.objects.map.space.log.intent()
            && let Some(doubt) = self.objects.map.doubt_of(intent)?
        {
            self.objects.map.space.log.set_doubt(doubt);
        }
        self.count_live()?;
        if end == LogEnd::Quiet {
            return Ok(());
        }
        self.objects.map.space.is_settling = true;
        let log = &mut self.objects.map.space.log;
        let doubt = log.doubt().copied();
        if log.is_short_of(doubt.is_some().into()) && log.fits_beside_sectors()? {
            self.settle_in_log(doubt.as_ref())?;
        } else {
            log.turn()?;
            doubt.map_or(Ok(()), |doubt| self.settle(&doubt))?;
        }
        self.sweep()?;
        if self.objects.map.space.log.is_open() {
            self.undo()?;
            self.objects.map.space.is_settling = true;
        }
        match self.leftover.now.then(|| self.take_away()).transpose() {
            Ok(_) | Err(StoreError::Full) => {}
            Err(error) => return Err(error),
        }
        self.objects.map.space.is_settling = false;
        self.objects.map.space.log.rest()
    }

    /// Settles tails that may be in doubt without a record of it (step 6).
    ///
    /// Programs a record for each leaf, and a delta for each tail that has room.
    fn sweep(&mut self) -> Result<(), StoreError<D::Error>> {
        // Where a sweep was cut, its leaf may hold seals that are in doubt themselves.
        let (first, is_cut) = match self.objects.map.space.log.tails() {
            Tails::Named => return Ok(()),
            Tails::Any => (0, false),
            Tails::From(leaf) => (leaf, true),
        };
        for leaf in u32::from(first)..SLOTS_BY_TOP[usize::from(self.objects.map.top())] / FANOUT {
            let node = Owner { level: 1, index: leaf as u16 };
            let Entry::At(_) = self.objects.map.lookup(node)? else { continue };
            self.objects.map.space.log.set_tails(Tails::From(node.index))?;
            for digit in 0..FANOUT as u16 {
                let owner = Owner::object(node.index << 4 | digit);
                let Entry::At(at) = self.objects.map.lookup(owner)? else { continue };
                let sector = Sector { at, header: self.objects.map.stated_header(at)? };
                if sector.header.tail < SEALED_TAIL_MIN {
                    continue;
                }
                // Seals would be among what is undone.
                let is_copied = is_cut && node.index == first;
                let has_note = self.objects.map.space.log.note_of(owner.index)?.is_some();
                if is_copied || has_note || !self.objects.seal(&sector)? {
                    self.copy_in_place(sector)?;
                }
            }
        }
        self.objects.map.space.log.set_tails(Tails::Named)
    }

    /// Writes an object anew as it is.
    fn copy_in_place(&mut self, sector: Sector) -> Result<(), StoreError<D::Error>> {
        self.make_room()?;
        let owner = sector.header.owner();
        if self.objects.map.lookup(owner)? != Entry::At(sector.at) {
            // Reclamation has copied what it has moved.
            return Ok(());
        }
        match self.objects.map.space.log.note_of(owner.index)? {
            Some(note) => self.move_noted(sector, note),
            None => self.move_sector(sector, owner),
        }
    }

    /// Writes anew what is in doubt (step 5), and where hardly a unit is free a unit with few live sectors, so that a
    /// supply which fails again and again does not use up the units.
    fn settle(&mut self, doubt: &Doubt) -> Result<(), StoreError<D::Error>> {
        let (mut moves, replaced) = self.copy_in_doubt(doubt)?;
        let joined = if self.free_count() <= self.reserve() / 2 { self.join(&mut moves)? } else { None };
        self.objects.map.lead_all(moves)?;
        self.remove_replaced(replaced);
        joined.into_iter().for_each(|joined| self.give_up(joined));
        Ok(())
    }

    /// Copies the object in doubt, if it is one. Returns where the map is to lead, and what is replaced.
    pub(crate) fn copy_in_doubt(&mut self, doubt: &Doubt) -> Result<(Moves, Option<Sector>), StoreError<D::Error>> {
        let owner = doubt.intent.owner();
        let entry = doubt.path[usize::from(owner.level)];
        let (mut moves, mut old) = (Moves::of(owner, entry), None);
        if let (Intent::Append(_), Entry::At(at)) = (doubt.intent, entry) {
            let sector = Sector { at, header: self.objects.map.stated_header(at)? };
            let copy = self.objects.copy(&sector, Stream::Updated)?;
            if let Some(note) = self.objects.map.space.log.note_of(owner.index)?
                && note.before == Some(entry)
            {
                self.objects.map.space.log.note_settled(Note { before: Some(Entry::At(copy)), ..note })?;
            }
            moves.set(owner, Entry::At(copy));
            old = Some(sector);
        }
        Ok((moves, old))
    }

    pub(crate) fn remove_replaced(&mut self, replaced: Option<Sector>) {
        let units = &mut self.objects.map.space.log.units;
        if let Some(Sector { at, header }) = replaced {
            units.remove_live(at, header.granules(&units.geometry()));
        }
    }

    /// Counts every sector that the map leads to (step 3).
    ///
    /// Reads each entry of the map, and the header of each sector.
    pub(crate) fn count_live(&mut self) -> Result<(), StoreError<D::Error>> {
        let top = self.objects.map.top();
        for level in (1..=top).rev() {
            for index in 0..FANOUT.pow(u32::from(top - level)) {
                let owner = Owner { level, index: index as u16 };
                if let Entry::At(node) = self.objects.map.lookup(owner)? {
                    self.count_node(node, owner)?;
                }
            }
        }
        let mut walk = self.objects.map.space.log.walk();
        while let Some(note) = self.objects.map.space.log.next_note(&mut walk)? {
            if let Some(sector) = self.replaced(note, &walk)? {
                self.count(sector.at, Owner::object(note.slot))?;
            }
        }
        Ok(())
    }

    fn count_node(&mut self, at: Granule, owner: Owner) -> Result<(), StoreError<D::Error>> {
        self.count(at, owner)?;
        if owner.level > 1 {
            return Ok(());
        }
        let entries = self.objects.map.node(at, owner)?.entries;
        for (digit, entry) in entries.into_iter().enumerate() {
            if let Entry::At(object) = entry {
                self.count(object, Owner::object(owner.index << 4 | digit as u16))?;
            }
        }
        Ok(())
    }

    /// Counts a sector, whose header has to name its owner.
    fn count(&mut self, at: Granule, owner: Owner) -> Result<(), StoreError<D::Error>> {
        let geometry = self.objects.map.space.log.units.geometry();
        let header = self.objects.map.stated_header(at)?;
        let units = &mut self.objects.map.space.log.units;
        let fits = |granules: u32| {
            at.0 % geometry.unit_granules + granules <= geometry.unit_granules
                && units.live_in(geometry.unit_of(at)) + granules <= geometry.room()
        };
        if header.owner() != owner || !fits(header.granules(&geometry)) {
            let what = "a map entry that leads to no sector of its owner";
            return Err(self.objects.map.medium().corrupted(at, what));
        }
        units.add_live(at, header.granules(&geometry));
        self.leftover.now |= header.class == Class::Split;
        Ok(())
    }
}
