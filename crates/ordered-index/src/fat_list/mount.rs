//! Formatting and mounting.
//!
//! Formatting:
//! 1. mark every block void: from here on there is nothing to mount;
//! 2. erase every block and write its identity; all but one of each turnstile become active;
//! 3. write and seal the head.
//!
//! Mounting (section 0.4.3):
//! 1. take the settings from the first block that has an identity;
//! 2. look at random cells until there is an object, and climb from it to the head; after some tries, in order, from
//!    the last cell of every block on, where a format puts the head;
//! 3. if the head says that the list was stopped, and its block is not one that is being moved away, that is all;
//! 4. else recover (`recover.rs`).
//!
//! Invariant: nothing is programmed or erased in steps 1 to 3 of a mount.

use norn_flash::{EraseUnit, Nor};

use crate::error::{IndexError, MountError, Outcome, newer_version};
use crate::fat_list::format::{FORMAT_VERSION, Identity, Kind, Stamp};
use crate::fat_list::ground::block::first_identity;
use crate::fat_list::ground::cells::Links;
use crate::fat_list::ground::medium::Medium;
use crate::fat_list::layout::{Cell, Settings};
use crate::fat_list::list::FatListOf;
use crate::fat_list::recover::Recovered;
use crate::fat_list::search::{Node, Session};
use crate::fat_list::widths::Widths;

/// Random cells that a mount looks at before it looks at all cells.
pub(crate) const TRIES: usize = 64;

impl<D: Nor, W: Widths> FatListOf<D, W> {
    /// Lays out an empty list: [`FatList::format`](crate::FatList::format) has the contract.
    pub(crate) fn format_of(device: D, widths: W, settings: Settings) -> Result<Self, MountError<D::Error>> {
        widths.check::<D::Error>()?;
        let mut list = Self::unmounted(Medium::new(device)?, widths, settings)?;
        match list.lay_out() {
            Ok(()) => Ok(list),
            Err(error) => Err(error.in_mount(list.corruption())),
        }
    }

    /// Formatting.
    fn lay_out(&mut self) -> Outcome<(), D> {
        let units = self.layout().units();
        for unit in units.clone() {
            self.turnstiles().blocks.make_void(unit)?;
        }
        for unit in units {
            self.turnstiles().blocks.lay_out(unit)?;
        }
        self.write_head()?;
        self.skip_list().keys = Some(0);
        self.stop()
    }

    /// Step 3 of formatting.
    fn write_head(&mut self) -> Outcome<(), D> {
        let list = self.skip_list();
        let (head, levels) = (list.head(), list.layout().settings.levels);
        let itself = list.layout().column_of(head);
        let stamp = Stamp { level: levels - 1, kind: Kind::Head, settled: true, doomed: false };
        let mut draft = list.cells().draft(head, stamp, None, Links::default())?;
        for level in 0..levels {
            list.cells().draft_pointer(&mut draft, level, itself)?;
        }
        list.cells().seal(draft)
    }

    /// Mounts what the device holds: [`FatList::mount`](crate::FatList::mount) has the contract.
    pub(crate) fn mount_of(device: D, widths: W) -> Result<Self, MountError<D::Error>> {
        widths.check::<D::Error>()?;
        let mut medium = Medium::new(device)?;
        let (unit, identity) = first_identity(&mut medium)?;
        let identity = identity.map_err(newer_version(FORMAT_VERSION))?;
        check_geometry(&identity, &medium, &widths)?;
        let widths = widths.with_log_bytes(identity.log_bytes);
        let mut list = Self::unmounted(medium, widths, Settings::from_bytes(identity.settings))?;
        list.turnstiles().chance.stir(identity.erase_count);
        match list.start(unit) {
            Ok(true) => Ok(list),
            Ok(false) => Err(MountError::NotFormatted),
            Err(error) => Err(error.in_mount(list.corruption())),
        }
    }

    /// Steps 2 to 4 of mounting, with the first unit that has an identity. Whether there is a list.
    fn start(&mut self, unit: EraseUnit) -> Outcome<bool, D> {
        if self.turnstiles().is_void_by_format(unit)? {
            return Ok(false);
        }
        if self.boot()? == Session::Open {
            match self.shape().recover()? {
                Recovered::NoList => return Ok(false),
                Recovered::List { batch: Some(batch) } => self.finish_batch(batch)?,
                Recovered::List { batch: None } => {}
            }
        }
        self.skip_list().forget_probes();
        Ok(true)
    }

    /// Finds the head, and whether it says that nothing is under way. What is damaged is left to recovery to name.
    fn boot(&mut self) -> Outcome<Session, D> {
        let head = match self.find_head() {
            Err(IndexError::Corrupted) => None,
            found => found?,
        };
        let Some(head) = head else {
            return Ok(Session::Open);
        };
        self.skip_list().set_head(head);
        self.skip_list().read_session()
    }

    fn find_head(&mut self) -> Outcome<Option<Cell>, D> {
        let (count, units) = (u32::from(self.layout().unit_count), self.layout().units());
        let cells = self.layout().cells_per_block;
        for _ in 0..TRIES {
            let unit = EraseUnit((self.turnstiles().chance.draw() % count) as u16);
            let index = (self.turnstiles().chance.draw() % u32::from(cells)) as u16;
            if let Some(node) = self.skip_list().node(Cell { unit, index })? {
                return self.head_from(node);
            }
        }
        for index in (0..cells).rev() {
            for unit in units.clone() {
                if let Some(node) = self.skip_list().node(Cell { unit, index })? {
                    return self.head_from(node);
                }
            }
        }
        Ok(None)
    }

    fn head_from(&mut self, node: Node<W::Key>) -> Outcome<Option<Cell>, D> {
        match node.kind() {
            Kind::Head => Ok(Some(node.cell)),
            _ => self.skip_list().climb(node),
        }
    }
}

fn check_geometry<D: Nor, W: Widths>(
    identity: &Identity,
    medium: &Medium<D>,
    widths: &W,
) -> Result<(), MountError<D::Error>> {
    let part = medium.part();
    let facts = [
        ("values of varying length, 1 if so", u32::from(identity.log_bytes > 0), u32::from(W::VARIES)),
        ("bytes in a key", u32::from(identity.key_bytes), widths.key_bytes() as u32),
        ("bytes in a value", u32::from(identity.value_bytes), widths.value_bytes() as u32),
        ("bytes in a program unit", identity.program_unit_bytes.into(), part.program_unit_bytes.into()),
        ("erase units", identity.unit_count.into(), part.unit_count.into()),
        ("bytes in an erase unit", identity.unit_size_bytes, part.unit_size_bytes),
    ];
    match facts.into_iter().find(|(_, image, expected)| image != expected) {
        Some((what, image, expected)) => Err(MountError::WrongGeometry { what, image, expected }),
        None => Ok(()),
    }
}
