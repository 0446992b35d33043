//! Blocks: what the head of each says, and their erases.
//!
//! Invariant: a block that is erased gets its identity at once, with a higher count of erases.

use norn_flash::{EraseUnit, Nor};

use super::cells::Cells;
use super::medium::Medium;
use crate::error::{MountError, Outcome};
use crate::fat_list::format::{
    ACTIVE_OFFSET, ERASE_COUNT_OFFSET, FILLING_BYTES, FILLING_OFFSET, Filling, IDENTITY_BYTES, Identity, VOID_OFFSET,
};
use crate::fat_list::layout::Layout;
use crate::fat_list::widths::Widths;

/// What a block's head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockState {
    pub identity: Option<Result<Identity, u8>>,
    pub is_void: bool,
    pub filling: Record,
    pub is_active: bool,
}

/// A record that may be torn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Erased,
    Torn,
    Whole(Filling),
}

impl BlockState {
    /// Erases that the block has sustained, if it has an identity.
    pub fn erase_count(&self) -> Option<u32> {
        self.identity.and_then(Result::ok).map(|identity| identity.erase_count)
    }

    /// Whether it has an identity, and says of its filling nothing or all.
    pub fn is_whole(&self) -> bool {
        self.erase_count().is_some() && self.filling != Record::Torn
    }

    /// Whether it says that it is spare.
    pub fn is_fresh(&self) -> bool {
        self.erase_count().is_some() && self.filling == Record::Erased && !self.is_active
    }
}

/// A block and the identity in it, or the number of another version.
type FoundIdentity = (EraseUnit, Result<Identity, u8>);

/// The first identity on a part.
pub(crate) fn first_identity<D: Nor>(medium: &mut Medium<D>) -> Result<FoundIdentity, MountError<D::Error>> {
    let part = *medium.part();
    for unit in (0..part.unit_count).map(EraseUnit) {
        let mut bytes = [0; IDENTITY_BYTES];
        medium.read(part.start_of(unit), &mut bytes).map_err(|error| error.in_mount(None))?;
        if let Some(identity) = Identity::decode(&bytes) {
            return Ok((unit, identity));
        }
    }
    Err(MountError::NotFormatted)
}

/// The blocks of a part.
#[derive(Clone, Debug)]
pub(crate) struct Blocks<D, W: Widths> {
    pub cells: Cells<D, W>,
}

impl<D: Nor, W: Widths> Blocks<D, W> {
    pub fn new(medium: Medium<D>, layout: Layout, widths: W) -> Self {
        Blocks { cells: Cells::new(medium, layout, widths) }
    }

    /// Says in a block that the whole part is void.
    pub fn make_void(&mut self, unit: EraseUnit) -> Outcome<(), D> {
        self.cells.medium.program(self.cells.layout().block(unit).offset(VOID_OFFSET), &[0; 4])
    }

    /// Formats a block: active, except the last one of a turnstile.
    pub fn lay_out(&mut self, unit: EraseUnit) -> Outcome<(), D> {
        let old = self.block_state(unit)?;
        let erase_count = old.erase_count().map_or(0, |count| count.saturating_add(1));
        if old.identity.is_some() {
            // A cut erase may set some bits of the void word and leave the rest: an old head must not count then.
            self.cells.medium.program(self.cells.layout().block(unit), &[0; IDENTITY_BYTES])?;
        }
        self.erase_block(unit, erase_count)?;
        let layout = self.cells.layout();
        let is_last = layout.units_of(layout.turnstile_of(unit)).last() == Some(unit);
        if !is_last {
            self.begin_filling(unit, Filling { from: unit.0, erase_count })?;
            self.activate(unit)?;
        }
        Ok(())
    }

    /// Whether `unit` counts: it is active, and no other block says that it is being moved there.
    pub fn is_current(&mut self, unit: EraseUnit) -> Outcome<bool, D> {
        let own = self.block_state(unit)?;
        if own.is_void || !own.is_active || own.erase_count().is_none() {
            return Ok(false);
        }
        let turnstile = self.cells.layout().turnstile_of(unit);
        for other in self.cells.layout().units_of(turnstile).filter(|&other| other != unit) {
            if let Record::Whole(filling) = self.filling(other)?
                && filling.from == unit.0
                && Some(filling.erase_count) == own.erase_count()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn block_state(&mut self, unit: EraseUnit) -> Outcome<BlockState, D> {
        let start = self.cells.layout().block(unit);
        let mut identity = [0; IDENTITY_BYTES];
        self.cells.medium.read(start, &mut identity)?;
        Ok(BlockState {
            identity: Identity::decode(&identity),
            is_void: self.is_void(unit)?,
            filling: self.filling(unit)?,
            is_active: self.cells.medium.read_u32(start.offset(ACTIVE_OFFSET))? == 0,
        })
    }

    /// Whether the void word of `unit` is zeros: a format has begun and not come to it, or its erase programmed zeros
    /// first and was cut.
    pub fn is_void(&mut self, unit: EraseUnit) -> Outcome<bool, D> {
        let address = self.cells.layout().block(unit).offset(VOID_OFFSET);
        Ok(self.cells.medium.read_u32(address)? == 0)
    }

    /// Which block is or was moved to `unit`.
    pub fn filling(&mut self, unit: EraseUnit) -> Outcome<Record, D> {
        let mut bytes = [0; FILLING_BYTES];
        self.cells.medium.read(self.cells.layout().block(unit).offset(FILLING_OFFSET), &mut bytes)?;
        Ok(match Filling::decode(&bytes) {
            Some(filling) => Record::Whole(filling),
            None if bytes == [0xFF; FILLING_BYTES] => Record::Erased,
            None => Record::Torn,
        })
    }

    pub fn is_spare(&mut self, unit: EraseUnit) -> Outcome<bool, D> {
        let address = self.cells.layout().block(unit).offset(ACTIVE_OFFSET);
        Ok(self.cells.medium.read_u32(address)? != 0)
    }

    pub fn erase_count(&mut self, unit: EraseUnit) -> Outcome<u32, D> {
        let address = self.cells.layout().block(unit).offset(ERASE_COUNT_OFFSET);
        self.cells.medium.read_u32(address)
    }

    fn identity(&self, erase_count: u32) -> Identity {
        let part = self.cells.medium.part();
        Identity {
            key_bytes: self.cells.widths().key_bytes() as u8,
            value_bytes: self.cells.widths().value_bytes() as u16,
            log_bytes: self.cells.widths().log_bytes(),
            settings: self.cells.layout().settings.to_bytes(),
            program_unit_bytes: part.program_unit_bytes,
            unit_count: part.unit_count,
            unit_size_bytes: part.unit_size_bytes,
            erase_count,
        }
    }

    /// Erases a block and makes it a spare block with the given erase count.
    pub fn erase_block(&mut self, unit: EraseUnit, erase_count: u32) -> Outcome<(), D> {
        self.cells.forget_records();
        self.cells.medium.erase(unit)?;
        let identity = self.identity(erase_count).encode();
        self.cells.medium.program(self.cells.layout().block(unit), &identity)
    }

    /// Says in a spare block which block is moved there.
    pub fn begin_filling(&mut self, unit: EraseUnit, filling: Filling) -> Outcome<(), D> {
        self.cells.medium.program(self.cells.layout().block(unit).offset(FILLING_OFFSET), &filling.encode())
    }

    /// Makes a block count.
    pub fn activate(&mut self, unit: EraseUnit) -> Outcome<(), D> {
        self.cells.medium.program(self.cells.layout().block(unit).offset(ACTIVE_OFFSET), &[0; 4])
    }
}
