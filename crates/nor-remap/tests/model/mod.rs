//! A virtual part in plain memory, random calls on both, and the comparison of the two.

use norn_flash::{Address, Collected, EraseUnit, Nor, Reprogramming};
use norn_flash_sim::{NorSim, PartSpec, SimError, catalogue};
use norn_nor_remap::{Remap, RemapConfig, RemapError};

pub type TestRemap = Remap<NorSim, 32>;

/// One call of the contract.
#[derive(Clone, Debug)]
pub enum Op {
    Program { at: u32, bytes: Vec<u8> },
    Erase(EraseUnit),
}

/// The parts that tests run on.
pub fn parts() -> [PartSpec; 6] {
    let limited = catalogue::limited_test_part;
    [
        limited(6, 512, 8, Reprogramming::Once),
        limited(5, 1024, 16, Reprogramming::Once),
        limited(5, 1536, 32, Reprogramming::Once),
        limited(6, 512, 4, Reprogramming::Times(2)),
        limited(6, 256, 1, Reprogramming::Unlimited),
        limited(5, 512, 8, Reprogramming::Unlimited),
    ]
}

/// A part without limits and the bytes that it should hold.
#[derive(Clone)]
pub struct Pair {
    pub remap: TestRemap,
    pub bytes: Vec<u8>,
}

impl Pair {
    pub fn new(spec: PartSpec, spare_units: u16) -> Pair {
        let remap = TestRemap::format(NorSim::new(spec), RemapConfig { spare_units }).unwrap();
        let bytes = vec![0xFF; remap.part().size_bytes() as usize];
        Pair { remap, bytes }
    }

    /// A call that makes sense: programs of one to some program units, on few places so that they are changed again.
    pub fn draw(&self, random: &mut fastrand::Rng) -> Op {
        let part = self.remap.part();
        if random.u8(0..40) == 0 {
            return Op::Erase(EraseUnit(random.u16(0..part.unit_count)));
        }
        let cell = usize::from(part.program_unit_bytes);
        let cells = self.bytes.len() / cell;
        let count = if random.u8(0..4) == 0 { random.usize(1..40).min(cells) } else { 1 };
        let near = if random.bool() { (cells - count + 1).min(3) } else { cells - count + 1 };
        let at = random.usize(0..near) * cell;
        let sparse = random.bool();
        let byte = |random: &mut fastrand::Rng| match sparse {
            true => !(u8::from(random.u8(0..4) == 0) << random.u8(0..8)),
            false => random.u8(..) | random.u8(..),
        };
        let bytes = (0..count * cell).map(|offset| self.bytes[at + offset] & byte(random)).collect();
        Op::Program { at: at as u32, bytes }
    }

    /// What the part holds after `op`.
    pub fn after(&self, op: &Op) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        match op {
            Op::Program { at, bytes: new } => {
                bytes[*at as usize..].iter_mut().zip(new).for_each(|(byte, new)| *byte &= new);
            }
            Op::Erase(unit) => {
                let size = self.remap.part().unit_size_bytes as usize;
                bytes[usize::from(unit.0) * size..][..size].fill(0xFF);
            }
        }
        bytes
    }

    pub fn step(&mut self, op: &Op, context: &dyn Fn() -> String) {
        perform(&mut self.remap, op).unwrap_or_else(|error| panic!("{error} at {op:?} {}", context()));
        self.bytes = self.after(op);
    }
}

pub fn perform(remap: &mut TestRemap, op: &Op) -> Result<(), RemapError<SimError>> {
    match op {
        Op::Program { at, bytes } => remap.program(Address(*at), bytes),
        Op::Erase(unit) => remap.erase(*unit),
    }
}

/// All bytes, read in pieces of odd sizes.
pub fn read_all(remap: &mut TestRemap, piece: usize) -> Vec<u8> {
    let mut bytes = vec![0; remap.part().size_bytes() as usize];
    for (number, chunk) in bytes.chunks_mut(piece).enumerate() {
        remap.read(Address((number * piece) as u32), chunk).unwrap();
    }
    bytes
}

/// Asserts that the part holds `bytes`, and that the checker is silent.
pub fn check(remap: &mut TestRemap, bytes: &[u8], context: &dyn Fn() -> String) {
    remap.device_mut().freeze_counters();
    let found = read_all(remap, 61);
    if let Some(at) = (0..bytes.len()).find(|&at| found[at] != bytes[at]) {
        panic!("{:#04x} instead of {:#04x} at {at:#x} {}", found[at], bytes[at], context());
    }
    let mut found: Collected = Collected::default();
    remap.audit(&mut found).unwrap();
    assert!(found.violations.is_empty(), "{:?} {}", found.violations, context());
    remap.device_mut().thaw_counters();
}
