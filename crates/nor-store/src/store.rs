//! The store: what its client may ask of it as a whole, and the way to each of its layers.
//!
//! Invariant: everything in RAM can be rebuilt from flash by mounting; nothing in RAM is the only copy of anything
//! committed. Marks of units are in RAM alone: they concern a running program.

use norn_flash::{Address, EraseUnit, Nor, NorPart, Violation};

use crate::config::StoreConfig;
use crate::entry::Entry;
use crate::error::StoreError;
use crate::features::{AllFeatures, Features};
use crate::ground::log::Log;
use crate::ground::scratch::Scratch;
use crate::ground::sector::Sectors;
use crate::ground::space::Space;
use crate::ground::table::UnitRows;
use crate::ground::table::{Role, UnitRow, UnitTable};
use crate::pointer::SectorPtr;
use crate::roots::{TreeId, TreeRoot};
use crate::tree::Trees;
use crate::versions::Versions;

/// Sectors, a log and versioned trees on one NOR part. The unit table is in memory `M` that the caller gives: an array,
/// a slice or a `Vec` of at least as many rows as [`UnitRow::count_for`] returns. [`Store`] holds an array itself.
///
/// Every change belongs to a transaction: it is open from the first change to the next [`commit`](Store::commit) or
/// [`abort`](Store::abort), and what it changed is whole or absent after a power cut. What can be changed is in four
/// layers, each of which works through the one below it: [`trees`](Self::trees), [`versions`](Self::versions),
/// [`space`](Self::space) and [`sectors`](Self::sectors).
///
/// `F` lists the features that the program has [code](Features) for; images that need more are refused.
///
/// RAM: eight bytes for each erase unit, which are the caller's, and about 200 bytes.
#[derive(Clone, Debug)]
pub struct StoreIn<D: Nor, M: UnitRows, F = AllFeatures> {
    trees: Trees<D, M, F>,
}

/// A [`StoreIn`] that holds its unit table itself, with rows for a part of at most `UNITS` erase units: 8 bytes each.
pub type Store<D, const UNITS: usize, F = AllFeatures> = StoreIn<D, [UnitRow; UNITS], F>;

impl<D: Nor, const UNITS: usize, F: Features> Store<D, UNITS, F> {
    /// A store that has not been mounted: every call but [`remount`](Self::remount) and [`reformat`](Self::reformat)
    /// returns `Halted`. To keep a store in a `static`, create it there with this, so that it is never on the stack.
    pub fn unmounted(device: D) -> Self {
        Self::unmounted_in(device, [UnitRow::UNUSED; UNITS])
    }
}

impl<D: Nor, M: UnitRows, F: Features> StoreIn<D, M, F> {
    /// A store that has not been mounted, with the unit table in `rows`: every call but [`remount`](Self::remount) and
    /// [`reformat`](Self::reformat) returns `Halted`. These two refuse rows that are too few for the part.
    pub fn unmounted_in(device: D, rows: M) -> Self {
        StoreIn { trees: Trees::unused(device, rows) }
    }

    /// Trees: maps from small numbers to sectors.
    pub fn trees(&mut self) -> &mut Trees<D, M, F> {
        &mut self.trees
    }

    /// Deltas: new values of single items inside a sector.
    pub fn versions(&mut self) -> &mut Versions<D, M, F> {
        &mut self.trees.versions
    }

    /// Allocation of sectors, and their release.
    pub fn space(&mut self) -> &mut Space<D, M, F> {
        &mut self.trees.versions.space
    }

    /// Sectors: where they are, and what is in them.
    pub fn sectors(&mut self) -> &mut Sectors<D, M, F> {
        &mut self.trees.versions.space.sectors
    }

    /// Fields of scratch bits.
    pub fn scratch(&mut self) -> Scratch<'_, D, M, F> {
        Scratch::new(self.log_mut())
    }

    pub(crate) fn log(&self) -> &Log<D, M, F> {
        &self.trees.versions.space.sectors.log
    }

    pub(crate) fn log_mut(&mut self) -> &mut Log<D, M, F> {
        &mut self.trees.versions.space.sectors.log
    }

    pub(crate) fn table(&self) -> &UnitTable<M> {
        &self.log().units.table
    }

    pub(crate) fn table_mut(&mut self) -> &mut UnitTable<M> {
        &mut self.log_mut().units.table
    }

    /// The part.
    pub fn part(&self) -> &NorPart {
        &self.log().units.medium.geometry().part
    }

    /// The part's bytes, where the device is mapped into memory.
    pub fn mapped(&self) -> Option<&[u8]> {
        self.log().units.medium.mapped()
    }

    /// The device.
    pub fn device(&self) -> &D {
        self.log().units.medium.device()
    }

    /// The device, for what does not change the part's contents.
    pub fn device_mut(&mut self) -> &mut D {
        self.log_mut().units.medium.device_mut()
    }

    /// Returns the device. An open transaction is undone at the next mount.
    pub fn into_device(self) -> D {
        self.trees.versions.space.sectors.log.units.medium.into_device()
    }

    /// What the image was formatted with.
    pub fn config(&self) -> StoreConfig {
        *self.log().config()
    }

    /// Whether the device has failed: every call returns `Halted` until it is mounted again.
    pub fn is_halted(&self) -> bool {
        self.log().units.medium.is_halted()
    }

    /// Lets every call return `Halted`, as after a failure of the device.
    pub fn halt(&mut self) {
        self.log_mut().units.medium.halt();
    }

    /// What the last call that returned `Corrupted` found.
    pub fn corruption(&self) -> Option<Violation> {
        self.log().units.medium.corruption()
    }

    /// How many objects were ever created, by the client's count, modulo 256 × 65,535.
    pub fn serial(&self) -> u32 {
        self.log().serial()
    }

    /// What [`advance_serial`](Self::advance_serial) would make of it.
    pub fn next_serial(&self) -> u32 {
        self.log().next_serial()
    }

    /// Counts one more created object; durable with the next commit or abort. At most once for each entry of the open
    /// transaction, and after that entry: as many are passed over when the transaction is undone after a reboot.
    pub fn advance_serial(&mut self) {
        self.log_mut().advance_serial();
    }

    /// Makes `next` what [`next_serial`](Self::next_serial) returns; durable with the next commit.
    pub fn set_next_serial(&mut self, next: u32) {
        self.log_mut().set_next_serial(next);
    }

    /// The open version of one of the store's own trees.
    pub fn tree(&self, tree: TreeId) -> TreeRoot {
        self.log().root(tree)
    }

    /// The address to name in an error about `pointer`: its descriptor's, or the part's end when its unit is nowhere.
    pub fn place_of(&self, pointer: SectorPtr) -> Address {
        self.trees.versions.space.sectors.place_of(pointer)
    }

    /// Largest sector that can be allocated, in bytes.
    pub fn sector_bytes_max(&self) -> u32 {
        self.trees.versions.space.sector_bytes_max()
    }

    /// Bytes that live sectors and all descriptors take. Cost: RAM only.
    pub fn used_bytes(&self) -> u64 {
        self.trees.versions.space.used_bytes()
    }

    /// Bytes that allocations may still take at most, in how many pieces ever. Cost: RAM only.
    pub fn room_bytes(&self) -> u64 {
        self.trees.versions.space.room_bytes()
    }

    /// How many sixteenths of the part that is, rounded down, but at most `most`. Cost: RAM only.
    pub fn room_sixteenths(&self, most: u32) -> u32 {
        self.trees.versions.space.room_sixteenths(most)
    }

    /// Bytes that can be allocated before a unit has to be reclaimed, in how many pieces ever. Cost: RAM only.
    pub fn ready_bytes(&self) -> u64 {
        self.trees.versions.space.ready_bytes()
    }

    /// The role of a physical unit.
    pub fn role(&self, unit: EraseUnit) -> Role {
        self.table().role(unit)
    }

    /// Calls `visit` for every entry of the newest log unit, with its index; `None` for one torn or void. Cost: 2 words
    /// read an entry.
    ///
    /// # Errors
    /// The device's.
    pub fn visit_log(&mut self, visit: impl FnMut(u16, Option<Entry>)) -> Result<(), StoreError<D::Error>> {
        self.log_mut().visit(visit)
    }

    /// Makes sure that a transaction of a few entries does not need another log unit. Only outside a transaction. Cost:
    /// none, or a new log unit, 18 words programmed and an erase.
    ///
    /// # Errors
    /// The device's, and `Full`.
    pub fn make_log_room(&mut self) -> Result<(), StoreError<D::Error>> {
        self.log_mut().make_room()
    }

    /// Does work ahead of time: switches to a new log unit if less than half of this one is left; otherwise reclaims a
    /// unit if that wins at least `least_bytes`. Returns whether it did something. Only outside a transaction, where it
    /// is not done otherwise.
    ///
    /// Cost: reads the table in RAM. When it does something: a reclamation, which programs the live words of a unit at
    /// most and 10 more; or a new log unit, 18 words; an erase, and perhaps that of a scratch unit.
    ///
    /// # Errors
    /// The device's, and `Corrupted`.
    pub fn reclaim_step(&mut self, least_bytes: u32) -> Result<bool, StoreError<D::Error>> {
        self.log().units.medium.expect_answering()?;
        if self.log().is_open() {
            return Ok(false);
        }
        self.space().reclaim_step(least_bytes)
    }
}
