//! Formatting and mounting.
//!
//! Formatting:
//! 1. erase each unit that has no leaf of a map on this part, unless such a map has it as its next unit;
//! 2. write a leaf for all keys, without records. It is newer than all there are, so that they count no more.
//!
//! Mounting:
//! 1. find the newest leaf: it says which unit is next, and where the floor is;
//! 2. check the headers of all other units but the next one;
//! 3. take the floor from the end of the newest leaf, if one is there.
//!
//! Invariant: a mount programs and erases nothing.

use norn_flash::{EraseUnit, Nor};

use super::flash::Flash;
use super::format::{
    Common, FORMAT_VERSION, HEADER_BYTES_MAX, KEY_BYTES_MAX, Outline, SEAL_BYTES, check_header, floor_of, header_bytes,
    is_seal, outline, range_bytes, seal,
};
use super::layout::Layout;
use super::leaves::{Leaf, Leaves};
use super::map::LeafMap;
use super::write::{Fill, Plan};
use crate::error::{MountError, Outcome};

/// What a unit begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitState {
    /// Nothing.
    Erased,
    /// A leaf of some map on this part.
    Leaf(Common),
    /// A leaf without a whole seal.
    Unsealed(Common),
    /// A leaf of another version.
    OtherVersion(u8),
    /// Anything else.
    Other,
}

impl<D: Nor, const K: usize, const V: usize> LeafMap<D, K, V> {
    /// Lays out an empty map. What the part held is lost, except the erase counts of units of a leaf map.
    ///
    /// Cost: an erase of each unit that has no leaf, then a header programmed. A cut leaves the map that was there, if
    /// one was, or the new one, or none.
    ///
    /// # Errors
    /// When the part or the widths cannot be used, or the device fails: three units at least, each with room for eight
    /// records; keys of 1 to 64 bytes, 126 with the value.
    pub fn format(device: D) -> Result<Self, MountError<D::Error>> {
        let mut leaves = Leaves::unmounted(device)?;
        match leaves.lay_out() {
            Ok(()) => Ok(LeafMap { leaves, keys: Some(0) }),
            Err(error) => Err(error.in_mount(leaves.flash.corruption())),
        }
    }

    /// Mounts what the device holds.
    ///
    /// Cost: reads only, of each unit's header, and some records of one.
    ///
    /// # Errors
    /// Names what is wrong with the image or the part; see [`MountError`].
    pub fn mount(device: D) -> Result<Self, MountError<D::Error>> {
        let mut leaves = Leaves::unmounted(device)?;
        let newest = match leaves.find_newest() {
            Ok((Some(newest), _)) => newest,
            Ok((None, Some(found))) => return Err(crate::error::newer_version(FORMAT_VERSION)(found)),
            Ok((None, None)) => return Err(MountError::NotFormatted),
            Err(error) => return Err(error.in_mount(None)),
        };
        leaves.check_facts(&newest.1)?;
        match leaves.start(newest) {
            Ok(()) => Ok(LeafMap { leaves, keys: None }),
            Err(error) => Err(error.in_mount(leaves.flash.corruption())),
        }
    }
}

/// The newest leaf on a part, and the version of one that is not known.
type Newest = (Option<(EraseUnit, Common)>, Option<u8>);

impl<D: Nor, const K: usize, const V: usize> Leaves<D, K, V> {
    fn unmounted(device: D) -> Result<Self, MountError<D::Error>> {
        let flash = Flash::new(device)?;
        let layout = Layout::of(flash.part(), K, V).map_err(MountError::Unsuitable)?;
        Ok(Leaves::new(flash, layout))
    }

    /// What a unit begins with.
    pub fn state_of(&mut self, unit: EraseUnit) -> Outcome<UnitState, D> {
        let (mut seal, mut header) = ([0; SEAL_BYTES], [0xFF; HEADER_BYTES_MAX]);
        let room = self.facts().unit_size_bytes as usize - self.layout.seal_bytes();
        let header = &mut header[..room.min(HEADER_BYTES_MAX)];
        self.flash.read(self.layout.seal(unit), &mut seal)?;
        self.flash.read(self.layout.header(unit), header)?;
        let is_sealed = is_seal(&seal);
        Ok(match outline(header) {
            Outline::Known(key_bytes, _) if header_bytes(key_bytes.into()) <= header.len() => {
                match (check_header(header), is_sealed) {
                    (Some(common), true) => UnitState::Leaf(common),
                    (Some(common), false) => UnitState::Unsealed(common),
                    (None, _) => UnitState::Other,
                }
            }
            Outline::OtherVersion(version) if is_sealed => UnitState::OtherVersion(version),
            _ if seal == [0xFF; SEAL_BYTES] && header[..header_bytes(K)].iter().all(|&byte| byte == 0xFF) => {
                UnitState::Erased
            }
            _ => UnitState::Other,
        })
    }

    fn find_newest(&mut self) -> Outcome<Newest, D> {
        let (mut newest, mut version) = (None::<(EraseUnit, Common)>, None);
        for unit in self.layout.units() {
            match self.state_of(unit)? {
                UnitState::Leaf(common) if newest.is_none_or(|(_, found)| found.sequence < common.sequence) => {
                    newest = Some((unit, common));
                }
                UnitState::OtherVersion(found) => version = Some(found),
                _ => {}
            }
        }
        Ok((newest, version))
    }

    fn check_facts(&self, newest: &Common) -> Result<(), MountError<D::Error>> {
        let (image, own) = (&newest.facts, self.facts());
        let facts = [
            ("bytes in a key", u32::from(image.key_bytes), u32::from(own.key_bytes)),
            ("bytes in a value", image.value_bytes.into(), own.value_bytes.into()),
            ("bytes in a program unit", image.program_unit_bytes.into(), own.program_unit_bytes.into()),
            ("erase units", image.unit_count.into(), own.unit_count.into()),
            ("bytes in an erase unit", image.unit_size_bytes, own.unit_size_bytes),
        ];
        match facts.into_iter().find(|(_, image, expected)| image != expected) {
            Some((what, image, expected)) => Err(MountError::WrongGeometry { what, image, expected }),
            None => Ok(()),
        }
    }

    /// Whether the map's leaves are in the same places as those of a map whose leaf says this.
    fn has_places_of(&self, common: &Common) -> bool {
        let (image, own) = (&common.facts, self.facts());
        (image.program_unit_bytes, image.unit_count, image.unit_size_bytes)
            == (own.program_unit_bytes, own.unit_count, own.unit_size_bytes)
            && common.next < own.unit_count
    }

    /// Formatting.
    fn lay_out(&mut self) -> Outcome<(), D> {
        let old = self.find_newest()?.0.filter(|(_, common)| self.has_places_of(common));
        if let Some((unit, common)) = old {
            self.newest = (common.sequence, unit);
            (self.next, self.next_erases) = (EraseUnit(common.next), common.next_erases);
        }
        for unit in self.layout.units() {
            let is_leaf = matches!(self.state_of(unit)?, UnitState::Leaf(common) if self.has_places_of(&common));
            if !is_leaf && unit != self.next {
                self.flash.erase(unit)?;
            }
        }
        self.session = self.newest.0.wrapping_add(1);
        self.write_leaf(&Plan { low: [0; K], high: None, floor: None, fill: Fill::Empty, count: 1 })
    }

    /// Steps 2 and 3 of mounting.
    fn start(&mut self, (unit, common): (EraseUnit, Common)) -> Outcome<(), D> {
        self.newest = (common.sequence, unit);
        self.session = common.sequence.wrapping_add(1);
        (self.next, self.next_erases) = (EraseUnit(common.next), common.next_erases);
        if common.next >= self.facts().unit_count || self.next == unit {
            return Err(self.flash.damage(self.layout.header(unit), "a next unit that cannot be"));
        }
        for other in self.layout.units() {
            if let Some(what) = self.damage_of(other)? {
                return Err(self.flash.damage(self.layout.seal(other), what));
            }
        }
        let mut bytes = [0; range_bytes(KEY_BYTES_MAX) + KEY_BYTES_MAX];
        let bytes = &mut bytes[..range_bytes(K) + K];
        self.flash.read(self.layout.header(unit), bytes)?;
        (self.floor, self.count) = (floor_of(bytes), common.leaves);
        let shape = self.shape(&Leaf { unit, sequence: common.sequence, low: [0; K], high: None })?;
        if let Some(floor) = self.last_floor(unit, &shape)? {
            self.floor = Some(floor);
            self.count = self.count_leaves()?;
        }
        if self.count == 0 || self.count >= self.facts().unit_count {
            return Err(self.flash.damage(self.layout.header(unit), "a number of leaves that cannot be"));
        }
        Ok(())
    }

    /// What is wrong with what a unit begins with, if anything is.
    pub fn damage_of(&mut self, unit: EraseUnit) -> Outcome<Option<&'static str>, D> {
        if unit == self.next {
            return self.damage_of_next();
        }
        Ok(match self.state_of(unit)? {
            UnitState::Erased => None,
            UnitState::Leaf(common) if common.sequence < self.newest.0 || unit == self.newest.1 => None,
            UnitState::Leaf(_) => Some("a leaf with the number of another"),
            _ => Some("a unit whose seal or header is not whole"),
        })
    }

    /// Whether the next unit has a leaf that must have counted: what it says is not whole, but cannot be older than the
    /// newest leaf.
    fn damage_of_next(&mut self) -> Outcome<Option<&'static str>, D> {
        let (unit, sequence) = (self.next, self.newest.0.wrapping_add(1));
        let mut found = [0; SEAL_BYTES];
        self.flash.read(self.layout.seal(unit), &mut found)?;
        Ok(match self.state_of(unit)? {
            UnitState::Other | UnitState::OtherVersion(_) if found == seal(sequence) => {
                Some("a sealed leaf whose header is not whole")
            }
            UnitState::Unsealed(common)
                if common.sequence == sequence
                    && common.facts == *self.facts()
                    && self.has_records_after(unit, common.copied)? =>
            {
                Some("a leaf that has lost its seal")
            }
            _ => None,
        })
    }

    /// Whether a leaf has records that were written after it was sealed.
    fn has_records_after(&mut self, unit: EraseUnit, copied: u16) -> Outcome<bool, D> {
        Ok(copied < self.layout.places && !self.is_erased_at(unit, copied)?)
    }

    /// Counts the leaves that count.
    pub fn count_leaves(&mut self) -> Outcome<u16, D> {
        let (mut leaf, mut count) = (self.first_leaf()?, 1);
        while let Some(after) = self.leaf_after(&leaf)? {
            if count == self.facts().unit_count {
                return Err(self.flash.damage(self.layout.seal(leaf.unit), "leaves without an end"));
            }
            (leaf, count) = (after, count + 1);
        }
        Ok(count)
    }
}

impl<D: Nor, const K: usize, const V: usize> Leaves<D, K, V> {
    /// The error of a call that can only fail by damage.
    pub fn endless<T>(&mut self) -> Outcome<T, D> {
        Err(self.flash.damage(self.layout.seal(self.newest.1), "a map in which no step makes room"))
    }
}
