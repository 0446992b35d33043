//! A simulated part for lists: itself where its words take any number of programs, else below a `Remap`.

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
use norn_flash_sim::{PartSpec, SimError, catalogue};
use norn_nor_remap::{Remap, RemapConfig, RemapError, RemapMountError};

/// Parts: classic NOR with units of 1, 2 and 4 bytes; words programmed once of 8, 16 and 32 bytes; words of 4 bytes
/// that are programmed twice.
pub fn parts() -> [PartSpec; 7] {
    let part = |unit_count, unit_size_bytes, program_unit_bytes, reprogramming| {
        catalogue::limited_test_part(unit_count, unit_size_bytes, program_unit_bytes, reprogramming)
    };
    [
        part(8, 2048, 1, Reprogramming::Unlimited),
        part(10, 8192, 8, Reprogramming::Once),
        part(8, 2048, 2, Reprogramming::Unlimited),
        part(10, 8192, 16, Reprogramming::Once),
        part(8, 2048, 4, Reprogramming::Unlimited),
        part(10, 16384, 32, Reprogramming::Once),
        part(10, 8192, 4, Reprogramming::Times(2)),
    ]
}

#[derive(Clone, Debug)]
pub enum AnyPart<D: Nor> {
    Direct(D),
    Remapped(Box<Remap<D, 16>>),
}

fn is_limited<D: Nor>(device: &D) -> bool {
    device.part().reprogramming != Reprogramming::Unlimited
}

impl<D: Nor<Error = SimError>> AnyPart<D> {
    pub fn format(device: D) -> Self {
        match is_limited(&device) {
            true => AnyPart::Remapped(Box::new(Remap::format(device, RemapConfig { spare_units: 2 }).unwrap())),
            false => AnyPart::Direct(device),
        }
    }

    pub fn mount(device: D) -> Result<Self, SimError> {
        if !is_limited(&device) {
            return Ok(AnyPart::Direct(device));
        }
        match Remap::mount(device) {
            Ok(remap) => Ok(AnyPart::Remapped(Box::new(remap))),
            Err(RemapMountError::Device(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }

    pub fn inner_mut(&mut self) -> &mut D {
        match self {
            AnyPart::Direct(device) => device,
            AnyPart::Remapped(remap) => remap.device_mut(),
        }
    }

    pub fn into_inner(self) -> D {
        match self {
            AnyPart::Direct(device) => device,
            AnyPart::Remapped(remap) => remap.into_device(),
        }
    }
}

fn plain(error: RemapError<SimError>) -> SimError {
    match error {
        RemapError::Device(error) => error,
        RemapError::Halted => SimError::PowerLost,
        RemapError::NoSpare | RemapError::Misused => panic!("{error}"),
    }
}

impl<D: Nor<Error = SimError>> Nor for AnyPart<D> {
    type Error = SimError;

    fn part(&self) -> NorPart {
        match self {
            AnyPart::Direct(device) => device.part(),
            AnyPart::Remapped(remap) => remap.part(),
        }
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), SimError> {
        match self {
            AnyPart::Direct(device) => device.read(address, buffer),
            AnyPart::Remapped(remap) => remap.read(address, buffer).map_err(plain),
        }
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        match self {
            AnyPart::Direct(device) => device.program(address, bytes),
            AnyPart::Remapped(remap) => remap.program(address, bytes).map_err(plain),
        }
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), SimError> {
        match self {
            AnyPart::Direct(device) => device.erase(unit),
            AnyPart::Remapped(remap) => remap.erase(unit).map_err(plain),
        }
    }
}
