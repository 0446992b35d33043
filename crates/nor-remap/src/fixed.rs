//! The layer that holds its table of homes itself, for parts of a number of erase units that is known when a program is
//! compiled.

use norn_flash::Nor;

use crate::error::RemapMountError;
use crate::homes::RemapRow;
use crate::remap::{RemapConfig, RemapIn};

/// A part without limits, on a NOR part of at most `UNITS` erase units: a [`RemapIn`] that holds its table of homes
/// itself.
///
/// RAM: four bytes for each of `UNITS`, and about 160 bytes besides the device.
pub type Remap<D, const UNITS: usize> = RemapIn<D, [RemapRow; UNITS]>;

impl<D: Nor, const UNITS: usize> Remap<D, UNITS> {
    /// Lays out an erased virtual part. What the part held is lost, except the erase counts of units that have one.
    ///
    /// Cost: an erase and 32 bytes programmed for each unit.
    ///
    /// # Errors
    /// When the part or the configuration cannot be used, too many units fail, or the device does not answer.
    pub fn format(device: D, config: RemapConfig) -> Result<Self, RemapMountError<D::Error>> {
        Self::format_in(device, [RemapRow::UNUSED; UNITS], config)
    }

    /// Mounts what the device holds, completing what a power cut interrupted.
    ///
    /// Cost: 64 bytes read a unit, the spare, and all tables of delta records; programs and erases only where a cut
    /// left work: one erase and two states, unless units fail.
    ///
    /// # Errors
    /// Names what is wrong with the image or the part; see [`RemapMountError`].
    pub fn mount(device: D) -> Result<Self, RemapMountError<D::Error>> {
        Self::mount_in(device, [RemapRow::UNUSED; UNITS])
    }
}
