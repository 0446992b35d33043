//! The simulated part as all stores see it: one handle that can be cloned, with a limit on reading and a note of each
//! operation.
//!
//! The idea: a store owns its device, and the harness wants to count, cut and look at the same part meanwhile. Each
//! store's adapter to its own device trait is a few lines over [`Device`].
//!
//! Invariant: what a store reads, programs or erases passes through here, and nothing else changes the part's counters.

use std::cell::RefCell;
use std::rc::Rc;

use norn_flash::{Address, EraseUnit, Nor, NorPart};
use norn_flash_sim::{Counters, NorSim, SimError, Tear};

/// Failed calls in a row after which a store is taken to loop without end.
const FAILURES_MAX: u32 = 1_000_000;

/// What goes wrong on the device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The part refused, or its power is off.
    #[error(transparent)]
    Part(#[from] SimError),
    /// The store has read more words than it was allowed to.
    #[error("more words read than allowed: the store loops")]
    Exhausted,
}

/// One operation that a cut can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A word programmed at this address.
    Word(Address),
    /// This unit erased.
    Erase(EraseUnit),
}

#[derive(Debug)]
struct Shared {
    sim: NorSim,
    reads_left: u64,
    failures: u32,
    trace: Option<Vec<Operation>>,
}

/// A handle to one simulated part.
#[derive(Clone, Debug)]
pub struct Device(Rc<RefCell<Shared>>);

impl Device {
    /// A handle to `sim`.
    pub fn new(sim: NorSim) -> Self {
        Device(Rc::new(RefCell::new(Shared { sim, reads_left: u64::MAX, failures: 0, trace: None })))
    }

    /// What the part has done so far.
    pub fn counters(&self) -> Counters {
        self.0.borrow().sim.counters()
    }

    /// Simulated time that the part has been at work.
    pub fn elapsed_ns(&self) -> u64 {
        self.0.borrow().sim.elapsed_ns()
    }

    /// Erases of each unit.
    pub fn erase_counts(&self) -> Vec<u32> {
        self.0.borrow().sim.erase_counts().collect()
    }

    /// A copy of the part as it is.
    pub fn snapshot(&self) -> NorSim {
        self.0.borrow().sim.clone()
    }

    /// Calls of the store that the part's contract does not allow.
    pub fn refusals(&self) -> u64 {
        self.0.borrow().sim.refusals()
    }

    /// Makes every call fail once the store has read this number of further words.
    pub fn limit_reads(&self, words: u64) {
        self.0.borrow_mut().reads_left = words;
    }

    /// Notes every operation from now on.
    pub fn start_trace(&self) {
        self.0.borrow_mut().trace = Some(Vec::new());
    }

    /// The operations noted since the last call, or since tracing began.
    pub fn take_trace(&self) -> Vec<Operation> {
        self.0.borrow_mut().trace.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Plans a loss of power: this number of operations succeeds, the next one is torn.
    pub fn cut_power_after(&self, operations: u64, tear: Tear) {
        self.0.borrow_mut().sim.cut_power_after(operations, tear);
    }

    /// Whether a planned cut came and the power has not been turned on since.
    pub fn is_off(&self) -> bool {
        self.0.borrow_mut().sim.read(Address(0), &mut []) == Err(SimError::PowerLost)
    }

    /// Turns the power on again, and drops a cut that did not come.
    pub fn power_on(&self) {
        self.0.borrow_mut().sim.power_on();
    }

    /// Leaves a part of one unit, for stores that live as long as the program.
    pub fn discard(&self) {
        let mut shared = self.0.borrow_mut();
        let mut spec = shared.sim.spec().clone();
        spec.part.unit_count = 1;
        shared.sim = NorSim::new(spec);
        shared.trace = None;
    }

    /// Lets `look` work without being counted.
    pub fn uncounted<T>(&self, look: impl FnOnce() -> T) -> T {
        self.0.borrow_mut().sim.freeze_counters();
        let seen = look();
        self.0.borrow_mut().sim.thaw_counters();
        seen
    }

    /// As [`Nor::read`], on a shared handle.
    pub fn read_at(&self, address: u32, buffer: &mut [u8]) -> Result<(), DeviceError> {
        let mut shared = self.0.borrow_mut();
        let words = buffer.len() as u64 / 4 + 1;
        let result = match shared.reads_left.checked_sub(words) {
            Some(left) => {
                shared.reads_left = left;
                shared.sim.read(Address(address), buffer).map_err(DeviceError::Part)
            }
            None => Err(DeviceError::Exhausted),
        };
        shared.conclude(result)
    }

    /// As [`Nor::program`], on a shared handle.
    pub fn program_at(&self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        let mut shared = self.0.borrow_mut();
        if let Some(trace) = &mut shared.trace {
            trace.extend(words_of(address, bytes.len()).map(|word| Operation::Word(Address(word))));
        }
        let result = shared.sim.program(Address(address), bytes).map_err(DeviceError::Part);
        shared.conclude(result)
    }

    /// As [`Nor::erase`], on a shared handle.
    pub fn erase_unit(&self, unit: u16) -> Result<(), DeviceError> {
        let mut shared = self.0.borrow_mut();
        if let Some(trace) = &mut shared.trace {
            trace.push(Operation::Erase(EraseUnit(unit)));
        }
        let result = shared.sim.erase(EraseUnit(unit)).map_err(DeviceError::Part);
        shared.conclude(result)
    }
}

impl Shared {
    /// Stops a store that makes further calls without end after its device has failed.
    fn conclude<T>(&mut self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        self.failures = if result.is_ok() { 0 } else { self.failures + 1 };
        assert!(self.failures < FAILURES_MAX, "the store goes on although its device fails");
        result
    }
}

/// Addresses of the aligned words of at most 4 bytes that make up a range, as the simulated part splits it.
fn words_of(address: u32, len: usize) -> impl Iterator<Item = u32> {
    let (mut at, end) = (address, address + len as u32);
    std::iter::from_fn(move || {
        let left = end.checked_sub(at).filter(|&left| left > 0)?;
        let word = at;
        let aligned = 1 << at.trailing_zeros().min(2);
        at += u32::min(aligned, 1 << left.ilog2());
        Some(word)
    })
}

impl Nor for Device {
    type Error = DeviceError;

    fn part(&self) -> NorPart {
        self.0.borrow().sim.part()
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), DeviceError> {
        self.read_at(address.0, buffer)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), DeviceError> {
        self.program_at(address.0, bytes)
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), DeviceError> {
        self.erase_unit(unit.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use norn_flash_sim::catalogue;

    #[test]
    fn the_trace_has_an_operation_for_each_one_that_a_cut_can_hit() {
        let device = Device::new(NorSim::new(catalogue::tinystore()));
        device.start_trace();
        for (address, len) in [(0, 1), (5, 11), (31, 100), (8191, 3)] {
            device.program_at(address, &vec![0; len]).unwrap();
        }
        device.erase_unit(3).unwrap();
        assert_eq!(device.take_trace().len() as u64, device.snapshot().operations());
    }

    #[test]
    fn a_limit_on_reading_holds() {
        let device = Device::new(NorSim::new(catalogue::tinystore()));
        device.limit_reads(10);
        assert_eq!(device.read_at(0, &mut [0; 8]), Ok(()));
        assert_eq!(device.read_at(0, &mut [0; 40]), Err(DeviceError::Exhausted));
    }
}
