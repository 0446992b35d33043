//! Reclamation: the valid sectors of a victim move to the free unit, which takes over its logical number.
//!
//! 1. Append `Move` to the log.
//! 2. Copy each live sector: descriptors to the same index, so that logical pointers stay valid; the bytes compacted.
//! 3. Assign the target its logical number: one record that checks itself, the point from which the target is the unit.
//! 4. Append `Erase`, erase the victim, write its identity: it is the free unit now.
//!
//! A cut before 3 resumes at 2: the copy is deterministic, so that programming what differs completes it. A cut after 3
//! resumes at 4. The victim is marked from the beginning on, for clients that keep physical addresses (`marks.rs`).
//! Invariant: a victim is erased only when every live sector is in an assigned target.

use norn_flash::{EraseUnit, Nor};

use super::{Filling, Space};
use crate::entry::Entry;
use crate::error::{MountFault, StoreError};
use crate::features::Features;
use crate::format::{DESCRIPTOR_BYTES, Descriptor, HEADER_BYTES, LogicalUnit, SectorPtr};
use crate::ground::medium::Target;
use crate::ground::table::Role;
use crate::ground::table::UnitRows;

const CHUNK_BYTES: usize = 32;
/// Units whose obsolete space differs by less than this part of a unit are equally good victims.
const NEARLY_AS_MUCH: u32 = 16;

impl<D: Nor, M: UnitRows, F: Features> Space<D, M, F> {
    /// Does work ahead of time; [`Store::reclaim_step`](crate::Store::reclaim_step) has the contract.
    pub(crate) fn reclaim_step(&mut self, least_bytes: u32) -> Result<bool, StoreError<D::Error>> {
        if self.sectors.log.is_half_used() {
            self.sectors.log.start_next_unit()?;
            return Ok(true);
        }
        let (granules, table) = (self.sectors.geometry().granules(least_bytes).max(1), self.sectors.table());
        let most = table.data().map(|unit| table.obsolete_granules(unit)).max().unwrap_or(0);
        if most < granules {
            return Ok(false);
        }
        if !self.reclaim_for_wear()?
            && let Some(victim) = self.victim(1, 1)?
        {
            self.reclaim(victim)?;
        }
        Ok(true)
    }

    /// Reclaims the unit with the most obsolete space that would then have room, and fills it from there on.
    pub(super) fn reclaim_for(&mut self, granules: u32, sectors: u32) -> Result<(), StoreError<D::Error>> {
        self.reclaim_for_wear()?;
        for attempt in 0.. {
            // Normally the first victim has the room. Only a descriptor array of the largest length can make it fail.
            let victim = self.victim(granules, sectors)?.filter(|_| attempt < 3).ok_or(StoreError::Full)?;
            self.reclaim(victim)?;
            if self.filled_unit_fits(granules, sectors)? {
                return Ok(());
            }
        }
        unreachable!()
    }

    /// Among the units whose reclamation leaves room for the sectors, one with the most obsolete space; of those that
    /// have nearly as much, the least worn. Cost: 1 word read for each of the latter.
    fn victim(&mut self, granules: u32, sectors: u32) -> Result<Option<EraseUnit>, StoreError<D::Error>> {
        let fits = |space: &Self, unit: EraseUnit| {
            let table = space.sectors.table();
            let obsolete = table.obsolete_granules(unit);
            // A dead sector leaves its descriptor to the first new one.
            let room = table.gap_granules(unit) + obsolete > granules + sectors - 2;
            if obsolete > 0 && room { obsolete } else { 0 }
        };
        let most = self.sectors.table().data().map(|unit| fits(self, unit)).max().unwrap_or(0);
        let enough = most.saturating_sub(self.sectors.geometry().unit_granules / NEARLY_AS_MUCH).max(1);
        let mut least: Option<(u32, EraseUnit)> = None;
        for unit in self.sectors.table().all() {
            if matches!(self.sectors.table().role(unit), Role::Data(_)) && fits(self, unit) >= enough {
                let erase_count = self.sectors.log.units.erase_count(unit)?;
                if least.is_none_or(|(count, _)| erase_count < count) {
                    least = Some((erase_count, unit));
                }
            }
        }
        Ok(least.map(|(_, unit)| unit))
    }

    /// Once per wear period reclaims a random unit, regardless of its contents, so that static data moves and all units
    /// wear alike. Not within a transaction, so that at most one of the reclamations of an operation is for wear.
    /// Returns whether it did.
    fn reclaim_for_wear(&mut self) -> Result<bool, StoreError<D::Error>> {
        let period = u32::from(self.sectors.log.config().wear_period);
        if period == 0 || self.sectors.log.is_open() || !self.next_random().is_multiple_of(period) {
            return Ok(false);
        }
        let count = self.sectors.table().data().count() as u32;
        let nth = self.next_random() % count.max(1);
        let unit = self.sectors.table().data().nth(nth as usize);
        if let Some(unit) = unit {
            self.reclaim(unit)?;
        }
        Ok(unit.is_some())
    }

    /// Begins another sequence of random numbers, which derives from the log's position.
    pub(crate) fn seed_random(&mut self) {
        self.random = self.sectors.log.seed();
    }

    /// The next of a seeded sequence of numbers (a 32-bit xorshift).
    fn next_random(&mut self) -> u32 {
        let mut x = self.random.max(1);
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.random = x;
        x
    }

    /// Reclaims `victim`; afterwards the target is the unit being filled.
    fn reclaim(&mut self, victim: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let Role::Data(logical) = self.sectors.table().role(victim) else {
            return Ok(());
        };
        self.sectors.table_mut().mark(victim);
        // The move, the victim's erase, and that of a scratch unit in its place.
        self.sectors.log.ensure_room(3)?;
        let target = self.sectors.log.take_free_unit()?;
        self.sectors.log.begin_move(victim, target)?;
        self.move_sectors(victim, target, logical, Target::Erased)
    }

    /// Finishes the move that a power cut interrupted (step 4 of mounting).
    pub(crate) fn settle_move(&mut self) -> Result<(), MountFault<D::Error>> {
        let Some((victim, target)) = self.sectors.log.pending_move() else {
            return Ok(());
        };
        let table = self.sectors.table_mut();
        match (table.role(victim), table.role(target)) {
            (Role::Data(logical), Role::Data(same)) if logical == same => {
                table.set_role(victim, Role::Busy);
                table.set_role(target, Role::Data(logical));
                self.sectors.log.finish_move(victim)?;
            }
            (Role::Data(logical), Role::Busy) => {
                table.set_role(target, Role::Busy);
                self.move_sectors(victim, target, logical, Target::Started)?;
            }
            _ => {
                let address = self.sectors.geometry().part.start_of(victim);
                let what = "a move between units that are not a victim and its target";
                return Ok(self.sectors.corrupted(address, what)?);
            }
        }
        // The table's row is tallied with all others.
        self.filling = None;
        let table = self.sectors.table_mut();
        if let Role::Data(logical) = table.role(target) {
            table.set_role(target, Role::Data(logical));
        }
        Ok(())
    }

    fn move_sectors(
        &mut self,
        victim: EraseUnit,
        target: EraseUnit,
        logical: LogicalUnit,
        state: Target,
    ) -> Result<(), StoreError<D::Error>> {
        let (descriptors, low) = self.copy_sectors(victim, target, state)?;
        self.sectors.log.units.assign(target, Entry::DataUnit { logical, descriptors })?;
        self.sectors.log.finish_move(victim)?;
        let gap = low - self.sectors.geometry().low_granules(u32::from(descriptors));
        let table = self.sectors.table_mut();
        table.set_role(target, Role::Data(logical));
        table.set_gap_granules(target, gap);
        self.filling = Some(Filling { unit: target, logical, scan: 0, descriptors, low });
        Ok(())
    }

    /// Copies the live sectors; returns the length of the descriptor array and the lowest offset.
    fn copy_sectors(
        &mut self,
        victim: EraseUnit,
        target: EraseUnit,
        state: Target,
    ) -> Result<(u16, u32), StoreError<D::Error>> {
        let length = self.sectors.survey(victim)?.descriptors;
        let (mut descriptors, mut low) = (0, self.sectors.geometry().unit_granules);
        let mut copied = DescriptorRun { first: 0, bytes: [0xFF; CHUNK_BYTES], len: 0 };
        for index in 0..length {
            let address = self.sectors.geometry().descriptor_address(victim, index);
            let word = self.sectors.medium().read_word(address)?;
            let Descriptor::Sector { offset, granules, kind, live: true } = Descriptor::decode(word) else {
                continue;
            };
            let Some(to) = low
                .checked_sub(u32::from(granules))
                .filter(|&to| to >= self.sectors.geometry().low_granules(u32::from(index) + 1))
            else {
                let address = self.sectors.geometry().part.start_of(victim);
                return self.sectors.corrupted(address, "live sectors exceed their unit");
            };
            low = to;
            descriptors = index + 1;
            let copy = Descriptor::encode(low as u16, granules, kind);
            if !copied.takes(index) {
                self.copy_descriptors(target, &mut copied, state)?;
            }
            copied.put(index, copy);
            self.copy_bytes((victim, u32::from(offset)), (target, low), u32::from(granules), state)?;
        }
        self.copy_descriptors(target, &mut copied, state)?;
        self.sectors.discount_descriptors(u32::from(length - descriptors));
        Ok((descriptors, low))
    }

    fn copy_descriptors(
        &mut self,
        target: EraseUnit,
        copied: &mut DescriptorRun,
        state: Target,
    ) -> Result<(), StoreError<D::Error>> {
        let len = core::mem::take(&mut copied.len);
        let address = self.sectors.geometry().descriptor_address(target, copied.first);
        self.sectors.medium().program_new(address, &copied.bytes[..len], state)
    }

    fn copy_bytes(
        &mut self,
        from: (EraseUnit, u32),
        to: (EraseUnit, u32),
        granules: u32,
        state: Target,
    ) -> Result<(), StoreError<D::Error>> {
        let (part, granule_bytes) = (self.sectors.geometry().part, self.sectors.geometry().granule_bytes);
        let address = |(unit, granule): (EraseUnit, u32)| part.start_of(unit).offset(granule * granule_bytes);
        let (from, to, bytes) = (address(from), address(to), granules * granule_bytes);
        for start in (0..bytes).step_by(CHUNK_BYTES) {
            let mut buffer = [0; CHUNK_BYTES];
            let chunk = &mut buffer[..CHUNK_BYTES.min((bytes - start) as usize)];
            self.sectors.medium().read(from.offset(start), chunk)?;
            self.sectors.medium().program_new(to.offset(start), chunk, state)?;
        }
        Ok(())
    }
}

/// Descriptors that are copied together, because they share the largest program unit.
struct DescriptorRun {
    first: u16,
    bytes: [u8; CHUNK_BYTES],
    len: usize,
}

impl DescriptorRun {
    /// Whether the descriptor `index` can join those that are waiting.
    fn takes(&self, index: u16) -> bool {
        let block = |index: u16| (HEADER_BYTES + u32::from(index) * DESCRIPTOR_BYTES) / CHUNK_BYTES as u32;
        self.len == 0 || block(self.first) == block(index)
    }

    fn put(&mut self, index: u16, word: u32) {
        if self.len == 0 {
            (self.first, self.bytes) = (index, [0xFF; CHUNK_BYTES]);
        }
        let at = usize::from(index - self.first) * 4;
        self.bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        self.len = at + 4;
    }
}

const _: () = assert!(DESCRIPTOR_BYTES == 4 && CHUNK_BYTES.is_multiple_of(4));
const _: () = assert!(SectorPtr::SECTOR_MAX < u16::MAX, "a length of descriptors fits 16 bits");
