//! Recovery of blocks: from any state that a power cut left to a turnstile.
//!
//! Of the rows, the first that fits applies:
//!
//! | state on flash | cause | action |
//! |---|---|---|
//! | a block is void, and no row below says to erase it | formatting was cut | `NotFormatted` |
//! | an active block names another one with its erase count | the other's erase was cut, or not begun | erase it |
//! | a block names another one and is not active | the move was cut | complete the move |
//! | a block's naming of another one is torn | so was the move, before it began, or the erase of such a block | erase the block |
//! | one block has no identity, and there is no spare one | an erase was cut | erase it |
//! | one block is spare, the others are active | none of these | none |
//! | anything else | damage | `Corrupted` |
//!
//! A part may program a unit with zeros before it erases it, so that a block whose erase was cut may be void, too, or
//! read as active. Blocks that are erased outside of a format are those of three rows, no more than one in a turnstile;
//! a format that was cut leaves a void block that is none of them, or none with a head.
//!
//! Invariant: each step can be cut and done again.

use norn_flash::{EraseUnit, Nor};

use super::block::Record;
use super::turnstile::Turnstiles;
use crate::error::{IndexError, Outcome};
use crate::fat_list::widths::Widths;

impl<D: Nor, W: Widths> Turnstiles<D, W> {
    /// Whether formatting was cut.
    pub fn is_half_formatted(&mut self) -> Outcome<bool, D> {
        for unit in self.layout().units() {
            if self.is_void_by_format(unit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a format has begun and not come to `unit`: it is void, and is none of those of which an erase may have
    /// left that.
    pub fn is_void_by_format(&mut self, unit: EraseUnit) -> Outcome<bool, D> {
        if !self.blocks.is_void(unit)? {
            return Ok(false);
        }
        let turnstile = self.layout().turnstile_of(unit);
        if self.outlived(turnstile)?.is_some_and(|(outlived, _)| outlived == unit) {
            return Ok(false);
        }
        if self.blocks.block_state(unit)?.is_whole() {
            return Ok(true);
        }
        for other in self.layout().units_of(turnstile).filter(|&other| other != unit) {
            let block = self.blocks.block_state(other)?;
            if block.is_fresh() || !block.is_whole() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Completes or undoes what a cut left to blocks.
    pub fn recover(&mut self) -> Outcome<(), D> {
        for turnstile in 0..self.layout().turnstiles {
            self.settle(turnstile)?;
        }
        Ok(())
    }

    /// The block that an active one names with its present count of erases, and that count. What else it says may be
    /// torn.
    fn outlived(&mut self, turnstile: u8) -> Outcome<Option<(EraseUnit, u32)>, D> {
        for unit in self.layout().units_of(turnstile) {
            let block = self.blocks.block_state(unit)?;
            if let Record::Whole(record) = block.filling
                && record.from != unit.0
                && block.is_active
                && !block.is_void
                && block.erase_count().is_some()
            {
                let from = EraseUnit(record.from);
                if !self.layout().units_of(turnstile).any(|other| other == from) {
                    return Err(self.bad_block(unit, "a move from another turnstile"));
                }
                if self.blocks.block_state(from)?.erase_count() == Some(record.erase_count) {
                    return Ok(Some((from, record.erase_count)));
                }
            }
        }
        Ok(None)
    }

    /// Completes or undoes a move that was cut in a turnstile.
    fn settle(&mut self, turnstile: u8) -> Outcome<(), D> {
        if let Some((unit, erase_count)) = self.outlived(turnstile)? {
            return self.blocks.erase_block(unit, erase_count.saturating_add(1));
        }
        let (mut fresh, mut broken, mut torn, mut filling, mut count_max) = (0, None, None, None, 0);
        for unit in self.layout().units_of(turnstile) {
            let block = self.blocks.block_state(unit)?;
            fresh += u32::from(block.is_fresh());
            let Some(count) = block.erase_count() else {
                if broken.replace(unit).is_some() {
                    return Err(self.bad_block(unit, "a second block without an identity"));
                }
                continue;
            };
            count_max = count_max.max(count);
            match block.filling {
                Record::Whole(record) if record.from != unit.0 => {
                    let from = EraseUnit(record.from);
                    if !self.layout().units_of(turnstile).any(|other| other == from) {
                        return Err(self.bad_block(unit, "a move from another turnstile"));
                    }
                    let is_pending = self.blocks.block_state(from)?.erase_count() == Some(record.erase_count);
                    if !block.is_active {
                        filling = Some((unit, from, record.erase_count, is_pending));
                    }
                    count_max = count_max.max(record.erase_count);
                }
                Record::Whole(_) if block.is_active => {}
                Record::Erased if !block.is_active => {}
                Record::Torn if torn.replace(unit).is_none() => {}
                _ => return Err(self.bad_block(unit, "a block that is active and names no other")),
            }
        }
        match (filling, torn, broken) {
            (Some((unit, from, count, true)), None, None) if fresh == 0 => self.move_block(from, unit, count),
            (None, Some(unit), None) | (None, None, Some(unit)) if fresh == 0 => {
                self.blocks.erase_block(unit, count_max.saturating_add(1))
            }
            (None, None, None) if fresh == 1 => Ok(()),
            _ => {
                let unit = self.layout().units_of(turnstile).next().unwrap_or_default();
                Err(self.bad_block(unit, "a turnstile whose blocks contradict each other"))
            }
        }
    }

    fn bad_block(&mut self, unit: EraseUnit, what: &'static str) -> IndexError<D::Error> {
        self.cells().damaged_block(unit, what)
    }
}
