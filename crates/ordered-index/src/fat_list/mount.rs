//! Formatting and mounting.
//!
//! Formatting:
//! 1. mark every block void: from here on there is nothing to mount;
//! 2. erase every block and write its identity; all but one of each turnstile become active;
//! 3. write and seal the head.
//!
//! Mounting (section 0.4.3):
//! 1. take the settings from the first block that has an identity;
//! 2. look at cells by chance until there is an object, and climb from it to the head; after some tries, in order, from the last cell
//!    of every block on, where a format puts the head;
//! 3. if the head says that the list was stopped, and its block is not one that is being moved away, that is all;
//! 4. else recover (`recover.rs`).
//!
//! Invariant: nothing is programmed or erased in steps 1 to 3 of a mount.

use norn_flash::{EraseUnit, Nor};

use crate::error::{IndexError, MountError, newer_version};
use crate::fat_list::cells::Links;
use crate::fat_list::format::{FORMAT_VERSION, Filling, IDENTITY_BYTES, Identity, Kind, Stamp, VOID_OFFSET};
use crate::fat_list::layout::{Cell, Layout, Settings};
use crate::fat_list::list::{FatList, Outcome, Probes, Session};
use crate::fat_list::search::Node;
use crate::fat_list::turnstile::Record;
use crate::medium::Medium;

/// Cells that a mount looks at by chance before it looks at all.
pub(crate) const TRIES: usize = 64;

impl<D: Nor, const K: usize, const V: usize> FatList<D, K, V> {
    /// Lays out an empty list. What the part held is lost, but for the erase counts of blocks of a list.
    ///
    /// Cost: an erase and some 25 words programmed for each erase unit.
    ///
    /// # Errors
    /// When the part, the settings or the widths cannot be used, or the device fails.
    pub fn format(device: D, settings: Settings) -> Result<Self, MountError<D::Error>> {
        let mut list = Self::unmounted(device, settings)?;
        for unit in list.layout.units() {
            let void = list.layout.block(unit).offset(VOID_OFFSET);
            list.medium.program(void, &[0; 4])?;
        }
        for unit in list.layout.units() {
            list.lay_out(unit)?;
        }
        let stamp = Stamp { level: settings.levels - 1, kind: Kind::Head, settled: true, doomed: false };
        let mut draft = list.draft(list.head, stamp, None, Links::default())?;
        for level in 0..settings.levels {
            let itself = list.layout.column_of(list.head);
            list.draft_pointer(&mut draft, level, itself)?;
        }
        list.seal(draft)?;
        list.session = Session::Open;
        list.stop()?;
        Ok(list)
    }

    fn lay_out(&mut self, unit: EraseUnit) -> Outcome<(), D> {
        let erase_count = self.block_state(unit)?.erase_count().map_or(0, |count| count.saturating_add(1));
        self.erase_block(unit, erase_count)?;
        let is_last = self.layout.units_of(self.layout.turnstile_of(unit)).last() == Some(unit);
        if !is_last {
            self.begin_filling(unit, Filling { from: unit.0, erase_count })?;
            self.activate(unit)?;
        }
        Ok(())
    }

    /// Mounts what the device holds, completing what a power cut interrupted.
    ///
    /// Cost after a [`stop`](Self::stop): reads only, those of a climb to the head; of a list of few objects on a large part, up to a word
    /// for each cell besides ([`boot_bound`](Self::boot_bound)). After a cut: all block heads, a word of each cell, all slots in use and
    /// one walk along the list are read; at most one block's move, two erases and one structural change are completed
    /// ([`recovery_bound`](Self::recovery_bound)).
    ///
    /// # Errors
    /// Names what is wrong with the image or the part; see [`MountError`].
    pub fn mount(device: D) -> Result<Self, MountError<D::Error>> {
        let mut medium = Medium::new(device);
        let part = *medium.part();
        part.validate().map_err(MountError::Part)?;
        let mut found = None;
        for unit in (0..part.unit_count).map(EraseUnit) {
            let mut bytes = [0; IDENTITY_BYTES];
            medium.read(part.start_of(unit), &mut bytes)?;
            found = Identity::decode(&bytes).map(|identity| (unit, identity));
            if found.is_some() {
                break;
            }
        }
        let (unit, identity) = found.ok_or(MountError::NotFormatted)?;
        let identity = identity.map_err(newer_version(FORMAT_VERSION))?;
        check_geometry::<D, K, V>(&identity, &medium)?;
        let mut list = Self::unmounted(medium.into_device(), Settings::from_bytes(identity.settings))?;
        if list.is_void(unit)? {
            return Err(MountError::NotFormatted);
        }
        list.random ^= identity.erase_count;
        match list.boot()? {
            Session::Stopped => {}
            Session::Open => list.recover()?,
        }
        list.probes = Probes::default();
        Ok(list)
    }

    fn unmounted(device: D, settings: Settings) -> Result<Self, MountError<D::Error>> {
        let medium = Medium::new(device);
        medium.part().validate().map_err(MountError::Part)?;
        let layout = Layout::of(medium.part(), settings, K, V).map_err(MountError::Unsuitable)?;
        Ok(FatList {
            medium,
            layout,
            head: Cell { unit: EraseUnit(0), index: layout.cells_per_block - 1 },
            session: Session::Open,
            roomy: None,
            random: 0x2011_0803,
            drawn_level: None,
            rewrites_left: 2 * settings.levels,
            reclaims: 0,
            probes: Probes::default(),
        })
    }

    /// Finds the head, and whether it says that nothing is under way. What is damaged is left to recovery to name.
    fn boot(&mut self) -> Outcome<Session, D> {
        let head = match self.find_head() {
            Err(IndexError::Corrupted(_)) => None,
            found => found?,
        };
        let Some(head) = head else {
            return Ok(Session::Open);
        };
        self.head = head;
        let is_stopped = self.stop_marks(head)?.cleared % 2 == 1;
        self.session = if is_stopped && self.is_current(head.unit)? { Session::Stopped } else { Session::Open };
        Ok(self.session)
    }

    fn find_head(&mut self) -> Outcome<Option<Cell>, D> {
        let (units, cells) = (u32::from(self.layout.unit_count), u32::from(self.layout.cells_per_block));
        for _ in 0..TRIES {
            let (unit, index) = (EraseUnit((self.draw() % units) as u16), (self.draw() % cells) as u16);
            if let Some(node) = self.node(Cell { unit, index })? {
                return self.head_from(node);
            }
        }
        for index in (0..self.layout.cells_per_block).rev() {
            for unit in self.layout.units() {
                if let Some(node) = self.node(Cell { unit, index })? {
                    return self.head_from(node);
                }
            }
        }
        Ok(None)
    }

    fn head_from(&mut self, node: Node<K>) -> Outcome<Option<Cell>, D> {
        match node.kind() {
            Kind::Head => Ok(Some(node.cell)),
            _ => self.climb(node),
        }
    }

    /// Whether `unit` counts: it is active, and no other block says that it is being moved there.
    fn is_current(&mut self, unit: EraseUnit) -> Outcome<bool, D> {
        let own = self.block_state(unit)?;
        if own.is_void || !own.is_active || own.erase_count().is_none() {
            return Ok(false);
        }
        for other in self.layout.units_of(self.layout.turnstile_of(unit)).filter(|&other| other != unit) {
            if let Record::Whole(filling) = self.filling(other)?
                && filling.from == unit.0
                && Some(filling.erase_count) == own.erase_count()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn check_geometry<D: Nor, const K: usize, const V: usize>(
    identity: &Identity,
    medium: &Medium<D>,
) -> Result<(), MountError<D::Error>> {
    let part = medium.part();
    let facts = [
        ("bytes in a key", u32::from(identity.key_bytes), K as u32),
        ("bytes in a value", u32::from(identity.value_bytes), V as u32),
        ("bytes in a program unit", identity.program_unit_bytes.into(), part.program_unit_bytes.into()),
        ("erase units", identity.unit_count.into(), part.unit_count.into()),
        ("bytes in an erase unit", identity.unit_size_bytes, part.unit_size_bytes),
    ];
    match facts.into_iter().find(|(_, image, expected)| image != expected) {
        Some((what, image, expected)) => Err(MountError::WrongGeometry { what, image, expected }),
        None => Ok(()),
    }
}
