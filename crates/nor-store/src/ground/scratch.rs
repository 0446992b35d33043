//! Scratch bits: a field of bits on flash that are cleared one by one and forgotten with the next mount, for a client
//! that has no RAM for them (a collector's marks).
//!
//! The bits are in erase units of their own. A unit serves for several fields one after the other, until what is left
//! of it is too small; it is erased when somebody needs it. It replaces units that have to stay free, so that
//! scratch bits are to be had on a full device; only while a field is in use does it not.
//!
//! Invariants: nothing that outlives a mount is in a scratch unit; a field's bits are erased when it begins.

use norn_flash::{Address, EraseUnit, Nor};

use super::log::Log;
use super::table::Role;
use crate::entry::Entry;
use crate::error::StoreError;
use crate::features::Features;
use crate::format::{ENTRY_BYTES, HEADER_BYTES, LogicalUnit};
use crate::ground::table::UnitRows;

/// Most units of one field.
const UNITS_MAX: usize = 8;

/// A field of bits, all of them set at first. It ends with [`Scratch::end`].
#[derive(Debug)]
pub struct ScratchBits {
    units: [EraseUnit; UNITS_MAX],
    /// Where the field begins in the first unit; in the others it begins after the header.
    offset: u32,
    bits: u32,
}

impl ScratchBits {
    /// Number of bits.
    pub fn len(&self) -> u32 {
        self.bits
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bits == 0
    }
}

/// The calls on fields of scratch bits.
#[derive(Debug)]
pub struct Scratch<'a, D: Nor, M: UnitRows, F> {
    log: &'a mut Log<D, M, F>,
}

impl<'a, D: Nor, M: UnitRows, F: Features> Scratch<'a, D, M, F> {
    pub(crate) fn new(log: &'a mut Log<D, M, F>) -> Self {
        Scratch { log }
    }

    /// Begins a field of bits. Nothing else may be open: no transaction, and no other field.
    ///
    /// Cost: 2 words programmed for each new unit, and perhaps an erase; reads a used unit from its end to its last
    /// field.
    ///
    /// # Errors
    /// `Full` when there are not enough units; `Corrupted`, and the device's.
    pub fn begin(&mut self, bits: u32) -> Result<ScratchBits, StoreError<D::Error>> {
        let bytes = bits.div_ceil(32) * 4;
        let body = self.log.units.medium.geometry().part.unit_size_bytes - HEADER_BYTES;
        let count = bytes.div_ceil(body).max(1) as usize;
        if count > UNITS_MAX {
            return Err(StoreError::Full);
        }
        // What a fresh unit may cost of the log.
        self.log.ensure_room(count as u16)?;
        let mut scratch = ScratchBits { units: [EraseUnit(0); UNITS_MAX], offset: HEADER_BYTES, bits };
        match self.used_unit_with(bytes)? {
            Some((unit, offset)) if count == 1 => (scratch.units[0], scratch.offset) = (unit, offset),
            // One unit has to be left to reclaim into.
            _ if self.log.units.table.available() <= count as u32 => return Err(StoreError::Full),
            _ => {
                for place in 0..count {
                    let unit = self.log.take_free_unit()?;
                    self.log.units.assign(unit, Entry::DataUnit { logical: LogicalUnit(0), descriptors: 0 })?;
                    self.log.units.table.set_role(unit, Role::ScratchInUse);
                    scratch.units[place] = unit;
                }
            }
        }
        scratch.units[..count].iter().for_each(|&unit| self.log.units.table.set_role(unit, Role::ScratchInUse));
        Ok(scratch)
    }

    /// Ends a field; its units count as free again. Cost: none.
    pub fn end(&mut self, _: ScratchBits) {
        for unit in self.log.units.table.all() {
            if self.log.units.table.role(unit) == Role::ScratchInUse {
                self.log.units.table.set_role(unit, Role::Scratch);
            }
        }
    }

    /// Whether bit `index` is still set. Cost: 1 word read.
    ///
    /// # Errors
    /// The device's.
    pub fn bit(&mut self, scratch: &ScratchBits, index: u32) -> Result<bool, StoreError<D::Error>> {
        Ok(self.word(scratch, index)? >> (index % 32) & 1 == 1)
    }

    /// The word that bit `index` is in. Cost: 1 word read.
    ///
    /// # Errors
    /// The device's.
    pub fn word(&mut self, scratch: &ScratchBits, index: u32) -> Result<u32, StoreError<D::Error>> {
        let address = self.address(scratch, index);
        self.log.units.medium.read_word(address)
    }

    /// Clears bit `index`. Cost: 1 word read, 1 programmed.
    ///
    /// # Errors
    /// The device's.
    pub fn clear_bit(&mut self, scratch: &ScratchBits, index: u32) -> Result<(), StoreError<D::Error>> {
        let word = self.word(scratch, index)? & !(1 << (index % 32));
        let address = self.address(scratch, index);
        self.log.units.medium.program_word(address, word)
    }

    fn address(&self, scratch: &ScratchBits, index: u32) -> Address {
        assert!(index < scratch.bits, "bit {index} of a field of {}", scratch.bits);
        let body = self.log.units.medium.geometry().part.unit_size_bytes - HEADER_BYTES;
        let at = index / 32 * 4 + scratch.offset - HEADER_BYTES;
        let unit = scratch.units[(at / body) as usize];
        self.log.units.medium.geometry().part.start_of(unit).offset(HEADER_BYTES + at % body)
    }

    /// A scratch unit with room for another field after its last, and where.
    fn used_unit_with(&mut self, bytes: u32) -> Result<Option<(EraseUnit, u32)>, StoreError<D::Error>> {
        for unit in self.log.units.table.all() {
            if self.log.units.table.role(unit) != Role::Scratch {
                continue;
            }
            let start = self.log.units.medium.geometry().part.start_of(unit);
            let size = self.log.units.medium.geometry().part.unit_size_bytes;
            let mut end = size;
            while end > HEADER_BYTES && self.log.units.medium.read_word(start.offset(end - 4))? == u32::MAX {
                end -= 4;
            }
            if size - end >= bytes {
                return Ok(Some((unit, end)));
            }
        }
        Ok(None)
    }
}

const _: () = assert!(HEADER_BYTES.is_multiple_of(ENTRY_BYTES));
