//! The part under a heap: a simulated one, directly or below a `Remap`.
//!
//! A part is below a `Remap` when a unit of it has a header that says so. One whose words may be programmed a limited
//! number of times is, too, unless it holds a log-structured heap, which needs none.

use std::ops::{Deref, DerefMut};

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
use norn_flash_sim::{NorSim, SimError};
use norn_nor_remap::{Remap, RemapError, RemapMountError};

/// Most erase units of a part: as many as every format can have. An ordered index has 255 turnstiles of 16 blocks.
pub const UNITS_MAX: usize = 255 * 16;

/// A simulated part below a `Remap`.
pub type Remapped<'a> = Remap<&'a mut NorSim, UNITS_MAX>;

/// What a heap is stored on; it dereferences to the simulated part.
#[derive(Debug)]
pub enum Part<'a> {
    /// The part itself.
    Direct(&'a mut NorSim),
    /// A part without limits above it.
    Remapped(Box<Remapped<'a>>),
}

/// Whether the heap on `device` is on a `Remap`.
///
/// # Errors
/// The device's.
pub fn is_remapped(device: &mut NorSim) -> Result<bool, SimError> {
    device.freeze_counters();
    let recognised = has_remap(device);
    device.thaw_counters();
    recognised
}

fn has_remap(device: &mut NorSim) -> Result<bool, SimError> {
    if norn_nor_remap::recognise(device)?.is_some() {
        return Ok(true);
    }
    let is_limited = device.spec().part.reprogramming != Reprogramming::Unlimited;
    Ok(is_limited && norn_log_heap::recognise(device)?.is_none())
}

impl<'a> Part<'a> {
    /// Mounts what is on `device` below a heap.
    ///
    /// # Errors
    /// When a `Remap` cannot be mounted.
    pub fn mount(device: &'a mut NorSim) -> Result<Part<'a>, RemapMountError<SimError>> {
        match is_remapped(device).map_err(RemapMountError::Device)? {
            false => Ok(Part::Direct(device)),
            true => Ok(Part::Remapped(Box::new(Remap::mount(device)?))),
        }
    }
}

impl Deref for Part<'_> {
    type Target = NorSim;

    fn deref(&self) -> &NorSim {
        match self {
            Part::Direct(device) => device,
            Part::Remapped(remap) => remap.device(),
        }
    }
}

impl DerefMut for Part<'_> {
    fn deref_mut(&mut self) -> &mut NorSim {
        match self {
            Part::Direct(device) => device,
            Part::Remapped(remap) => remap.device_mut(),
        }
    }
}

/// An error of a simulated part, or of a `Remap` above it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The simulated part's.
    #[error(transparent)]
    Device(#[from] SimError),
    /// The `Remap`'s own.
    #[error("{0}")]
    Remap(RemapError<SimError>),
}

impl From<RemapError<SimError>> for PartError {
    fn from(error: RemapError<SimError>) -> Self {
        match error {
            RemapError::Device(error) => PartError::Device(error),
            error => PartError::Remap(error),
        }
    }
}

impl Nor for Part<'_> {
    type Error = PartError;

    fn part(&self) -> NorPart {
        match self {
            Part::Direct(device) => device.part(),
            Part::Remapped(remap) => remap.part(),
        }
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), PartError> {
        match self {
            Part::Direct(device) => Ok(device.read(address, buffer)?),
            Part::Remapped(remap) => Ok(remap.read(address, buffer)?),
        }
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), PartError> {
        match self {
            Part::Direct(device) => Ok(device.program(address, bytes)?),
            Part::Remapped(remap) => Ok(remap.program(address, bytes)?),
        }
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), PartError> {
        match self {
            Part::Direct(device) => Ok(device.erase(unit)?),
            Part::Remapped(remap) => Ok(remap.erase(unit)?),
        }
    }
}
