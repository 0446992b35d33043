//! A NOR part in RAM: a reset tears its programs and erases where it hits them.

use core::convert::Infallible;
use core::sync::atomic::{Ordering, compiler_fence};

use norn_embedded::flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};

/// A part in memory that is lent.
#[derive(Debug)]
pub struct RamNor {
    cells: &'static mut [u8],
    part: NorPart,
}

impl RamNor {
    /// Units of `unit_bytes`, whose words of `word_bytes` are programmed so often, as many as the memory has room for.
    pub fn new(cells: &'static mut [u8], unit_bytes: u32, word_bytes: u8, reprogramming: Reprogramming) -> Self {
        let part = NorPart {
            unit_count: (cells.len() as u32 / unit_bytes) as u16,
            unit_size_bytes: unit_bytes,
            program_unit_bytes: word_bytes,
            reprogramming,
            mapped: false,
            endurance_erases: None,
        };
        RamNor { cells, part }
    }

    /// What a call has changed is there before the next one changes something.
    fn done(&self) -> Result<(), Infallible> {
        compiler_fence(Ordering::SeqCst);
        Ok(())
    }
}

impl Nor for RamNor {
    type Error = Infallible;

    fn part(&self) -> NorPart {
        self.part
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Infallible> {
        let start = address.0 as usize;
        buffer.copy_from_slice(&self.cells[start..start + buffer.len()]);
        Ok(())
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Infallible> {
        let cells = &mut self.cells[address.0 as usize..][..bytes.len()];
        cells.iter_mut().zip(bytes).for_each(|(cell, byte)| *cell &= byte);
        self.done()
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), Infallible> {
        let start = self.part.start_of(unit).0 as usize;
        self.cells[start..start + self.part.unit_size_bytes as usize].fill(0xFF);
        self.done()
    }
}
