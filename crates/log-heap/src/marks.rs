//! Marks of a collection: two bits for each slot, *reached* and *traced*.
//!
//! Marks are in pages of 108 slots. The pages of 4,212 slots are in RAM, more than 448 KB have objects of 100 bytes; up
//! to there nothing is programmed. Where there are more slots, pages share the RAM. One that has to make room is
//! appended to a *scratch unit*, and found again by searching these units from the end.
//!
//! ```text
//! scratch unit ┌──────┬────────┬────────┬────────┬────────┬─────────┐
//!              │ head │ page 3 │ page 41│ page 3 │ page 7 │ erased  │   the last one of a page counts
//!              └──────┴────────┴────────┴────────┴────────┴─────────┘
//! page         number 2 │ its complement 2 │ two bits a slot, 27 bytes │ zeros in them 1
//! ```
//!
//! To the map a scratch unit holds nothing. So after a cut it is a free unit like any other.
//!
//! Nothing is programmed but marks while there are scratch units. Before anything is deleted, the marks of 4,096 slots
//! are read into RAM, and the scratch units given back; so that a collection needs no more room than deletions do. For
//! the next 4,096 slots everything is marked again.
//!
//! When no further unit may be taken, the pages in the oldest one that still count move to a new one.

use norn_flash::{EraseUnit, Nor};
use norn_heap::StoreError;

use crate::format::{Granule, MARK_BYTES, MARK_PAGE_BYTES, MarkPage, Stream};
use crate::space::Space;
use crate::units::{Role, UnitRows};

/// Slots of a page.
const SLOTS: u32 = 4 * MARK_BYTES as u32;
/// Pages in RAM.
const FRAMES: usize = 39;
/// Slots whose marks are in RAM together, wherever the first one is.
pub(crate) const WINDOW: u32 = 4096;
const _: () = assert!((FRAMES as u32 - 1) * SLOTS >= WINDOW);
/// Scratch units at most: those that hold all pages in the smallest units which can have so many slots, and two.
const UNITS_MAX: usize = 8;
/// The number of no page.
const NO_PAGE: u16 = u16::MAX;

/// What a collection knows of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing leads there so far.
    Unreached,
    /// It is in use, and what it refers to is not yet known.
    Reached,
    /// It is in use, and what it refers to is reached.
    Traced,
}

impl Mark {
    const fn from_bits(bits: u8) -> Mark {
        match bits & 0b11 {
            0b00 => Mark::Unreached,
            0b01 => Mark::Reached,
            _ => Mark::Traced,
        }
    }
}

/// A page in RAM.
#[derive(Clone, Copy, Debug)]
struct Frame {
    page: u16,
    /// Whether it has marks that no scratch unit has.
    is_dirty: bool,
    bits: [u8; MARK_BYTES],
}

/// The marks of a collection.
#[derive(Debug)]
pub(crate) struct Marks {
    frames: [Frame; FRAMES],
    /// The oldest first.
    units: [EraseUnit; UNITS_MAX],
    unit_count: usize,
    /// The next granule of the newest unit.
    end: Granule,
}

impl Marks {
    pub(crate) const fn new() -> Marks {
        let frame = Frame { page: NO_PAGE, is_dirty: false, bits: [0; MARK_BYTES] };
        Marks { frames: [frame; FRAMES], units: [EraseUnit(0); UNITS_MAX], unit_count: 0, end: Granule(0) }
    }

    /// The mark of a slot.
    ///
    /// # Errors
    /// `Full` where the scratch units have no room for a page that has to leave the RAM.
    pub(crate) fn get<D: Nor, M: UnitRows>(
        &mut self,
        space: &mut Space<D, M>,
        slot: u16,
    ) -> Result<Mark, StoreError<D::Error>> {
        let (page, at, shift) = place_of(slot);
        let frame = self.frame(space, page)?;
        Ok(Mark::from_bits(self.frames[frame].bits[at] >> shift))
    }

    /// Sets the mark of a slot.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(crate) fn set<D: Nor, M: UnitRows>(
        &mut self,
        space: &mut Space<D, M>,
        slot: u16,
        mark: Mark,
    ) -> Result<(), StoreError<D::Error>> {
        let (page, at, shift) = place_of(slot);
        let frame = self.frame(space, page)?;
        let frame = &mut self.frames[frame];
        frame.bits[at] = frame.bits[at] & !(0b11 << shift) | (mark as u8) << shift;
        frame.is_dirty = true;
        Ok(())
    }

    /// Keeps the marks of [`WINDOW`] slots from `first` on in RAM, and gives the scratch units back.
    pub(crate) fn keep<D: Nor, M: UnitRows>(
        &mut self,
        space: &mut Space<D, M>,
        first: u32,
    ) -> Result<(), StoreError<D::Error>> {
        let pages = (first / SLOTS) as u16..=((first + WINDOW - 1) / SLOTS) as u16;
        for frame in self.frames.iter_mut().filter(|frame| !pages.contains(&frame.page)) {
            frame.is_dirty = false;
        }
        let kept = pages.into_iter().try_for_each(|page| self.frame(space, page).map(drop));
        self.end(space);
        kept
    }

    /// Appends the page in a frame, unless a scratch unit has it.
    fn save<D: Nor, M: UnitRows>(
        &mut self,
        space: &mut Space<D, M>,
        number: usize,
    ) -> Result<(), StoreError<D::Error>> {
        if self.frames[number].is_dirty {
            let Frame { page, bits, .. } = self.frames[number];
            self.append(space, &MarkPage { page, bits })?;
            self.frames[number].is_dirty = false;
        }
        Ok(())
    }

    /// Gives the scratch units back.
    pub(crate) fn end<D: Nor, M: UnitRows>(&mut self, space: &mut Space<D, M>) {
        for &unit in &self.units[..self.unit_count] {
            space.log.units.set_role(unit, Role::Filled);
        }
        self.unit_count = 0;
    }

    /// The frame that has a page, which may have to be read.
    fn frame<D: Nor, M: UnitRows>(
        &mut self,
        space: &mut Space<D, M>,
        page: u16,
    ) -> Result<usize, StoreError<D::Error>> {
        let number = usize::from(page) % FRAMES;
        if self.frames[number].page == page {
            return Ok(number);
        }
        self.save(space, number)?;
        let bits = match self.find(space, page)? {
            Some(at) => read(space, at)?.bits,
            None => [0; MARK_BYTES],
        };
        self.frames[number] = Frame { page, is_dirty: false, bits };
        Ok(number)
    }

    /// Appends a page to the newest unit.
    fn append<D: Nor, M: UnitRows>(
        &mut self,
        space: &mut Space<D, M>,
        page: &MarkPage,
    ) -> Result<(), StoreError<D::Error>> {
        // Each attempt takes a unit, or cleans one.
        for _ in 0..2 * UNITS_MAX {
            if self.has_room(space) {
                return self.program(space, page);
            }
            self.take_unit(space)?;
        }
        Err(StoreError::Full)
    }

    fn has_room<D: Nor, M: UnitRows>(&self, space: &Space<D, M>) -> bool {
        let geometry = space.log.units.geometry();
        let Some(&newest) = self.units[..self.unit_count].last() else { return false };
        let end = geometry.start(newest).offset(geometry.unit_granules);
        self.end.offset(geometry.granules(MARK_PAGE_BYTES as u32)) <= end
    }

    fn program<D: Nor, M: UnitRows>(
        &mut self,
        space: &mut Space<D, M>,
        page: &MarkPage,
    ) -> Result<(), StoreError<D::Error>> {
        let granules = space.log.units.geometry().granules(MARK_PAGE_BYTES as u32);
        space.log.units.medium.program(self.end, &page.encode())?;
        self.end = self.end.offset(granules);
        Ok(())
    }

    /// Takes a further unit. Where there is only one left, the oldest one is cleaned for it.
    fn take_unit<D: Nor, M: UnitRows>(&mut self, space: &mut Space<D, M>) -> Result<(), StoreError<D::Error>> {
        let is_cleaning = self.unit_count > 0 && (space.log.units.free_count() < 2 || self.unit_count == UNITS_MAX);
        let oldest = self.units[0];
        if is_cleaning {
            self.units.copy_within(1..self.unit_count, 0);
            self.unit_count -= 1;
        }
        let unit = space.log.units.least_worn_free()?.ok_or(StoreError::Full)?;
        space.log.units.open(unit, Stream::Moved)?;
        space.log.units.set_role(unit, Role::Open);
        self.units[self.unit_count] = unit;
        self.unit_count += 1;
        let geometry = space.log.units.geometry();
        self.end = geometry.start(unit).offset(geometry.head());
        if is_cleaning {
            let moved = self.move_pages(space, oldest);
            space.log.units.set_role(oldest, Role::Filled);
            return moved;
        }
        Ok(())
    }

    /// Appends the pages of a unit that count.
    fn move_pages<D: Nor, M: UnitRows>(
        &mut self,
        space: &mut Space<D, M>,
        unit: EraseUnit,
    ) -> Result<(), StoreError<D::Error>> {
        for number in 0..pages_of(space) {
            let at = place_in(space, unit, number);
            let page = read(space, at)?;
            let is_last = self.find(space, page.page)?.is_none() && {
                let mut later = number + 1..pages_of(space);
                !later.try_fold(false, |found, number| {
                    let at = place_in(space, unit, number);
                    Ok::<bool, StoreError<D::Error>>(found || number_of(space, at)? == page.page)
                })?
            };
            if is_last {
                self.program(space, &page)?;
            }
        }
        Ok(())
    }

    /// Where a page was appended last.
    ///
    /// Reads a word for each page that is looked at.
    fn find<D: Nor, M: UnitRows>(
        &self,
        space: &mut Space<D, M>,
        page: u16,
    ) -> Result<Option<Granule>, StoreError<D::Error>> {
        for (nth, &unit) in self.units[..self.unit_count].iter().enumerate().rev() {
            let end = if nth + 1 == self.unit_count { self.end } else { place_in(space, unit, pages_of(space)) };
            for number in (0..pages_of(space)).rev() {
                let at = place_in(space, unit, number);
                if at < end && number_of(space, at)? == page {
                    return Ok(Some(at));
                }
            }
        }
        Ok(None)
    }
}

/// The page of a slot's mark, the byte in it, and the lower bit.
const fn place_of(slot: u16) -> (u16, usize, u32) {
    let in_page = slot as u32 % SLOTS;
    ((slot as u32 / SLOTS) as u16, (in_page / 4) as usize, 2 * (in_page % 4))
}

/// Pages of a scratch unit.
fn pages_of<D: Nor, M: UnitRows>(space: &Space<D, M>) -> u32 {
    let geometry = space.log.units.geometry();
    geometry.room() / geometry.granules(MARK_PAGE_BYTES as u32)
}

fn place_in<D: Nor, M: UnitRows>(space: &Space<D, M>, unit: EraseUnit, number: u32) -> Granule {
    let geometry = space.log.units.geometry();
    geometry.start(unit).offset(geometry.head() + number * geometry.granules(MARK_PAGE_BYTES as u32))
}

fn number_of<D: Nor, M: UnitRows>(space: &mut Space<D, M>, at: Granule) -> Result<u16, StoreError<D::Error>> {
    let mut bytes = [0; 4];
    space.log.units.medium.read(at, 0, &mut bytes)?;
    MarkPage::decode_number(bytes).ok_or_else(|| space.log.units.medium.corrupted(at, "a damaged mark of a collection"))
}

fn read<D: Nor, M: UnitRows>(space: &mut Space<D, M>, at: Granule) -> Result<MarkPage, StoreError<D::Error>> {
    let mut bytes = [0; MARK_PAGE_BYTES];
    space.log.units.medium.read(at, 0, &mut bytes)?;
    MarkPage::decode(&bytes).ok_or_else(|| space.log.units.medium.corrupted(at, "a damaged mark of a collection"))
}
