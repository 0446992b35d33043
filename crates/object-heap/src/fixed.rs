//! The heap that holds its unit table itself, for parts of a number of erase units that is known when a program is
//! compiled.

use norn_flash::Nor;
use norn_heap::Listener;
use norn_nor_store::{AllFeatures, Features, MountError, UnitRow};

use crate::config::Config;
use crate::heap::HeapIn;

/// Persistent objects and arrays on one NOR part of at most `UNITS` erase units: a [`HeapIn`] that holds its unit table
/// itself.
///
/// RAM: at most 1 KiB for 64 units besides the device, of which eight bytes per unit.
pub type Heap<D, const UNITS: usize, L = (), F = AllFeatures> = HeapIn<D, [UnitRow; UNITS], L, F>;

impl<D: Nor, const UNITS: usize> Heap<D, UNITS> {
    /// Lays out an empty heap. What the part held is lost; the image remembers `config`. Give `&mut device` to have the
    /// device back when this fails.
    ///
    /// Cost: an erase and 4 words programmed for each unit, 18 words for the log.
    ///
    /// # Errors
    /// When the part cannot be used or the configuration is impossible, or the device fails.
    pub fn format(device: D, config: Config) -> Result<Self, MountError<D::Error>> {
        Self::format_with(device, config, ())
    }

    /// Mounts the heap that the device holds, completing or undoing what a power cut interrupted. Give `&mut device` to
    /// have the device back when this fails.
    ///
    /// Cost: 14 words read a unit, 2 a log entry, 1 a sector; programs and erases only where a cut left work: at most
    /// one reclamation, two erases, and the undoing or completion of one transaction. Where pointers with notification
    /// were outstanding, 6 words programmed to forget them, and 1 for each unit into which they pointed.
    ///
    /// # Errors
    /// Names what is wrong with the image or the part; see [`MountError`].
    pub fn mount(device: D) -> Result<Self, MountError<D::Error>> {
        Self::mount_with(device, ())
    }
}

impl<D: Nor, const UNITS: usize, L: Listener, F: Features> Heap<D, UNITS, L, F> {
    /// As [`format`](Heap::format), with somebody to notify of pointers that are no longer valid.
    ///
    /// # Errors
    /// As `format`.
    pub fn format_with(device: D, config: Config, listener: L) -> Result<Self, MountError<D::Error>> {
        let mut heap = Self::unmounted(device, listener);
        heap.reformat(config)?;
        Ok(heap)
    }

    /// As [`mount`](Heap::mount), with somebody to notify of pointers that are no longer valid. Those of the time
    /// before are not: the listener is notified at once, of all.
    ///
    /// # Errors
    /// As `mount`.
    pub fn mount_with(device: D, listener: L) -> Result<Self, MountError<D::Error>> {
        let mut heap = Self::unmounted(device, listener);
        heap.remount()?;
        Ok(heap)
    }

    /// A heap that has not been mounted: every call but [`remount`](Self::remount) and [`reformat`](Self::reformat)
    /// returns `Halted`. To keep a heap in a `static`, create it with this and call `remount` at start-up: a value that
    /// `mount` returns is on the stack first, perhaps twice.
    pub fn unmounted(device: D, listener: L) -> Self {
        Self::unmounted_in(device, [UnitRow::UNUSED; UNITS], listener)
    }
}

/// A device of no size, to measure the heap without it.
struct NoDevice;

impl Nor for NoDevice {
    type Error = ();

    fn part(&self) -> norn_flash::NorPart {
        norn_flash::NorPart {
            unit_count: 0,
            unit_size_bytes: 0,
            program_unit_bytes: 1,
            reprogramming: norn_flash::Reprogramming::Once,
            mapped: false,
            endurance_erases: None,
        }
    }

    fn read(&mut self, _: norn_flash::Address, _: &mut [u8]) -> Result<(), ()> {
        Err(())
    }

    fn program(&mut self, _: norn_flash::Address, _: &[u8]) -> Result<(), ()> {
        Err(())
    }

    fn erase(&mut self, _: norn_flash::EraseUnit) -> Result<(), ()> {
        Err(())
    }
}

const _: () = assert!(core::mem::size_of::<Heap<NoDevice, 64>>() <= 1024, "the mounted heap takes at most 1 KiB");
