//! Merging neighbours where there is no room: before a list says that it is full, and ahead of need.
//!
//! Removing keys leaves objects with few keys, and no cell dies as long as each of them has one. Two neighbours whose
//! keys fit into one object, with a slot to spare, are *sparse*. The first one takes the keys of the second, which is
//! taken out and leaves a dead cell:
//! 1. find the first two neighbours that are sparse;
//! 2. let every object in the block of the first one take the keys of those after it, as far as its free slots and the
//!    pools allow;
//! 3. if none could, move the block that prevents it, which drops slots and pointers that count no more.
//!
//! Invariant: where no cell is free or dead and no neighbours are sparse, each object and the one after it have
//! together as many keys as an object has slots. So a full list has at least half as many keys as slots, whatever was
//! removed from it ([`FatListOf::guaranteed_keys`]).

use norn_flash::{EraseUnit, Nor};

use crate::error::{IndexError, Outcome};
use crate::fat_list::batch::OBJECTS_OF_A_PUT;
use crate::fat_list::ground::cells::slots::Survey;
use crate::fat_list::layout::Cell;
use crate::fat_list::list::FatListOf;
use crate::fat_list::room::Room;
use crate::fat_list::search::Node;
use crate::fat_list::widths::Widths;

/// An object and the one after it.
type Neighbours<W> = (Node<<W as Widths>::Key>, Node<<W as Widths>::Key>);

impl<D: Nor, W: Widths> FatListOf<D, W> {
    /// Keys that fit whatever was inserted and removed before: with no more of them an insertion does not say `Full`.
    /// Ascending keys fit twice as often.
    ///
    /// ```
    /// # use norn_flash_sim::{NorSim, catalogue};
    /// # use norn_ordered_index::{FatList, OrderedIndex, Settings};
    /// # let part = NorSim::new(catalogue::limited_test_part(8, 4096, 2, norn_flash::Reprogramming::Unlimited));
    /// let settings = Settings { turnstile_blocks: 4, ..Settings::paper_2011() };
    /// let mut seen: FatList<_, 4, 2> = FatList::format(part, settings).unwrap();
    /// // A table that a program fills and clears: as many keys fit each time, whichever they are.
    /// let most = seen.guaranteed_keys();
    /// for round in 1..4_u32 {
    ///     for number in 0..most {
    ///         let key = (number * round).wrapping_mul(2_654_435_761);
    ///         seen.insert(&key.to_be_bytes(), &[0, 1]).unwrap(); // never `Full`
    ///     }
    ///     while seen.remove_below(&[0xFF; 4]).unwrap() > 0 {}
    /// }
    /// // Keys that ascend fit twice as often, without a guarantee.
    /// let ascending = (0..).take_while(|key: &u32| seen.insert(&key.to_be_bytes(), &[0, 1]).is_ok()).count();
    /// assert!(ascending as u32 > most * 3 / 2);
    /// ```
    ///
    /// Where values vary, this is of keys with the longest values;
    /// [`guaranteed_bytes`](crate::VaryingList::guaranteed_bytes) says how many bytes of records fit.
    pub fn guaranteed_keys(&self) -> u32 {
        self.guaranteed_pairs() * self.keys_of_pair()
    }

    /// Keys with which a batch of `puts` keys to put always finds room, whatever was inserted and removed before: with
    /// fewer of them [`apply`](crate::FatList::apply) does not say `Full`. That is a little less than
    /// [`guaranteed_keys`](Self::guaranteed_keys), since a batch has room for all of its changes before it makes the
    /// first one, and 0 where a part is too small for such batches.
    ///
    /// ```
    /// # use norn_flash_sim::{NorSim, catalogue};
    /// # use norn_ordered_index::{FatList, Settings};
    /// # let part = NorSim::new(catalogue::w25q());
    /// let list: FatList<_, 4, 2> = FatList::format(part, Settings::paper_2011()).unwrap();
    /// let slots = u32::from(list.settings().slots);
    /// assert!(list.guaranteed_keys_with_batch(10) >= list.guaranteed_keys() - 10 * slots);
    /// ```
    pub fn guaranteed_keys_with_batch(&self, puts: u32) -> u32 {
        // The batch is refused while no more cells than it has to have are free or dead; the head has one.
        let taken = puts.saturating_mul(OBJECTS_OF_A_PUT).saturating_add(1);
        self.cells_in_use_max().saturating_sub(taken) / 2 * self.keys_of_pair()
    }

    /// Keys of two neighbours that are not sparse, at least.
    fn keys_of_pair(&self) -> u32 {
        let slots = u32::from(self.layout().settings.slots);
        let longest = u32::from(self.layout().slot_bytes);
        // They have more bytes than a log without the reserve, or no slot to spare.
        if W::VARIES { (u32::from(self.widths().log_bytes()) / longest).min(slots) } else { slots }
    }

    /// Neighbours that are not sparse, of which a full list has so many at least.
    pub(crate) fn guaranteed_pairs(&self) -> u32 {
        // The head has a cell, and a split that finds one cell only has no room.
        self.cells_in_use_max().saturating_sub(2) / 2
    }

    /// Cells of all blocks that are not spare.
    fn cells_in_use_max(&self) -> u32 {
        let layout = self.layout();
        let blocks = u32::from(layout.unit_count) - u32::from(layout.turnstiles);
        blocks * u32::from(layout.cells_per_block)
    }
}

impl<D: Nor, W: Widths> Room<D, W> {
    /// A step towards a dead cell where there is none.
    ///
    /// # Errors
    /// `Full` when no two neighbours are sparse.
    pub fn merge_sparse(&mut self) -> Outcome<(), D> {
        let Some((left, right)) = self.sparse_neighbours()? else {
            return Err(IndexError::Full);
        };
        if self.merge_into(left.cell.unit)? > 0 {
            return Ok(());
        }
        let path = self.list().path_before(right.low.as_ref())?;
        let starved = self.starved(&path, right.level + 1, None)?;
        self.list().rotate(starved.unwrap_or(left.cell).unit)
    }

    /// Whether the keys of two objects fit into one, with the reserve to spare for updates. Those of a soft list never
    /// do, even when one of them has just lost its key: an object of a soft list has no key but its low key.
    fn is_sparse(&mut self, left: &Survey<W>, right: &Survey<W>) -> bool {
        !self.layout().settings.is_soft() && self.cells().is_sparse(left, right)
    }

    /// The first two neighbours that are sparse. Cost: a walk along the lowest level, as for counting the keys.
    fn sparse_neighbours(&mut self) -> Outcome<Option<Neighbours<W>>, D> {
        let head = self.list().head_node();
        let Some(mut left) = self.list().successor(&head, 0)? else { return Ok(None) };
        let mut keys = self.cells().survey(left.cell)?;
        while let Some(right) = self.list().successor(&left, 0)? {
            let after = self.cells().survey(right.cell)?;
            if self.is_sparse(&keys, &after) {
                return Ok(Some((left, right)));
            }
            (left, keys) = (right, after);
        }
        Ok(None)
    }

    /// Lets the objects in `unit` take the keys of those after them; how many were taken out, no more than a block has
    /// cells.
    fn merge_into(&mut self, unit: EraseUnit) -> Outcome<u16, D> {
        let (cells, mut merged) = (self.layout().cells_per_block, 0);
        for index in 0..cells {
            let Some(node) = self.list().node(Cell { unit, index })?.filter(|node| node.low.is_some()) else {
                continue;
            };
            while merged < cells && self.merge_next_into(node)? {
                merged += 1;
            }
        }
        Ok(merged)
    }

    /// Shifts the keys of the object after `left` into it, if they fit; whether they did.
    fn merge_next_into(&mut self, left: Node<W::Key>) -> Outcome<bool, D> {
        let Some(right) = self.list().successor(&left, 0)? else { return Ok(false) };
        let (to, from) = (self.cells().survey(left.cell)?, self.cells().survey(right.cell)?);
        if !self.cells().has_slots(&to, &from) || !self.is_sparse(&to, &from) {
            return Ok(false);
        }
        let path = self.list().path_before(right.low.as_ref())?;
        if self.starved(&path, right.level + 1, None)?.is_some() {
            return Ok(false);
        }
        self.shift(right, &from, left, to.next())?;
        Ok(true)
    }
}
