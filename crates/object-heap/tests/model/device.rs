//! The device under a heap in tests: a simulated part, directly or, where words are limited, below a `Remap`.
//!
//! A part below a `Remap` is mounted by the first call after the power came back, so that a cut can hit that, too.

use std::ops::{Deref, DerefMut};

use norn_conformance::Powered;
use norn_flash::{Address, Collected, EraseUnit, Nor, NorPart, Reprogramming, Violation};
use norn_flash_sim::{NorSim, PartSpec, SimError, Tear, catalogue};
use norn_nor_remap::{Remap, RemapConfig, RemapError, RemapMountError};

#[derive(Clone, Debug)]
enum State {
    Direct(NorSim),
    Mounted(Box<Remap<NorSim, 64>>),
    Unmounted(NorSim),
}

/// A device for tests; it dereferences to the simulated part.
#[derive(Clone, Debug)]
pub struct TestDevice {
    state: State,
    part: NorPart,
}

impl TestDevice {
    /// An erased device; a part with limits below a `Remap` with one spare unit.
    pub fn new(spec: PartSpec) -> TestDevice {
        match spec.part.reprogramming {
            Reprogramming::Unlimited => TestDevice { part: spec.part, state: State::Direct(NorSim::new(spec)) },
            _ => TestDevice::with_spares(spec, 1),
        }
    }

    /// An erased part below a `Remap`.
    pub fn with_spares(spec: PartSpec, spare_units: u16) -> TestDevice {
        let remap = Remap::format(NorSim::new(spec), RemapConfig { spare_units }).unwrap();
        TestDevice { part: remap.part(), state: State::Mounted(Box::new(remap)) }
    }

    /// Turns the power on again: what is in RAM is lost.
    pub fn power_on(&mut self) {
        DerefMut::deref_mut(self).power_on();
        if let State::Mounted(remap) = &self.state {
            self.state = State::Unmounted(remap.device().clone());
        }
    }

    /// A copy that has lost its RAM.
    pub fn rebooted(&self) -> TestDevice {
        let mut device = self.clone();
        device.power_on();
        device
    }

    /// Units that the `Remap` has retired.
    pub fn retired_units(&self) -> usize {
        match &self.state {
            State::Mounted(remap) => remap.retired_units().count(),
            State::Direct(_) | State::Unmounted(_) => 0,
        }
    }

    /// What the checker of the `Remap` finds.
    pub fn violations(&mut self) -> Vec<Violation> {
        let mut collected: Collected = Collected::default();
        if let State::Mounted(remap) = &mut self.state {
            remap.audit(&mut collected).unwrap();
        }
        collected.violations
    }

    /// The device below a `Remap`, mounted.
    fn settle(&mut self) -> Result<(), SimError> {
        let State::Unmounted(sim) = &mut self.state else {
            return Ok(());
        };
        // The first mount recovers, or fails and leaves the part as it is then.
        match Remap::<_, 64>::mount(&mut *sim).map(|_| ()) {
            Ok(()) => {}
            Err(RemapMountError::Device(error)) => return Err(error),
            Err(error) => panic!("{error}"),
        }
        self.state = match Remap::mount(sim.clone()) {
            Ok(remap) => State::Mounted(Box::new(remap)),
            Err(RemapMountError::Device(error)) => return Err(error),
            Err(error) => panic!("{error}"),
        };
        Ok(())
    }
}

impl Deref for TestDevice {
    type Target = NorSim;

    fn deref(&self) -> &NorSim {
        match &self.state {
            State::Direct(sim) | State::Unmounted(sim) => sim,
            State::Mounted(remap) => remap.device(),
        }
    }
}

impl DerefMut for TestDevice {
    fn deref_mut(&mut self) -> &mut NorSim {
        match &mut self.state {
            State::Direct(sim) | State::Unmounted(sim) => sim,
            State::Mounted(remap) => remap.device_mut(),
        }
    }
}

/// The simulated part's error; what comes from the `Remap` itself has one that says the same.
fn inner(error: RemapError<SimError>, part: &NorPart) -> SimError {
    match error {
        RemapError::Device(error) => error,
        RemapError::Halted => SimError::PowerLost,
        RemapError::NoSpare => SimError::WornOut { unit: EraseUnit(0), erases: 0 },
        RemapError::Misused => SimError::OutOfRange { address: Address(0), len: 0, end: part.size_bytes() },
    }
}

impl Powered for TestDevice {
    fn cut_power_after(&mut self, operations: u64, tear: Tear) {
        NorSim::cut_power_after(self, operations, tear);
    }

    fn power_on(&mut self) {
        TestDevice::power_on(self);
    }

    fn operations(&self) -> u64 {
        NorSim::operations(self)
    }

    /// A `Remap` tries words that a cut may have used up, which the part refuses.
    fn refusals(&self) -> u64 {
        if matches!(self.state, State::Direct(_)) { NorSim::refusals(self) } else { 0 }
    }
}

impl Nor for TestDevice {
    type Error = SimError;

    fn part(&self) -> NorPart {
        self.part
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), SimError> {
        self.settle()?;
        match &mut self.state {
            State::Direct(sim) | State::Unmounted(sim) => sim.read(address, buffer),
            State::Mounted(remap) => remap.read(address, buffer).map_err(|error| inner(error, &self.part)),
        }
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), SimError> {
        self.settle()?;
        match &mut self.state {
            State::Direct(sim) | State::Unmounted(sim) => sim.program(address, bytes),
            State::Mounted(remap) => {
                let mut there = vec![0; bytes.len()];
                remap.device_mut().freeze_counters();
                let read = remap.read(address, &mut there);
                remap.device_mut().thaw_counters();
                let sets_bits = there.iter().zip(bytes).any(|(there, new)| new & !there != 0);
                assert!(read.is_err() || !sets_bits, "{bytes:02x?} over {there:02x?} at {address}");
                remap.program(address, bytes).map_err(|error| inner(error, &self.part))
            }
        }
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), SimError> {
        self.settle()?;
        match &mut self.state {
            State::Direct(sim) | State::Unmounted(sim) => sim.erase(unit),
            State::Mounted(remap) => remap.erase(unit).map_err(|error| inner(error, &self.part)),
        }
    }
}

/// Parts of every kind whose words are limited: `unit_count` virtual units of about `unit_bytes` below one spare.
pub fn limited_parts(unit_count: u16, unit_bytes: u32) -> [PartSpec; 4] {
    let part = |program_unit_bytes: u8, reprogramming| {
        let body = (2 * unit_bytes).next_multiple_of(64) + 32 * (1 + u32::from(program_unit_bytes) / 4);
        catalogue::limited_test_part(unit_count + 1, body, program_unit_bytes, reprogramming)
    };
    [
        part(8, Reprogramming::Once),
        part(16, Reprogramming::Once),
        part(32, Reprogramming::Once),
        part(4, Reprogramming::Times(2)),
    ]
}
